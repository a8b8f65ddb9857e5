//! sqlparser's types, as this parser writes them, to Spark's.

use deltaic_protocol::schema::{DataType, Lengths, StructField};
use sqlparser::ast::{
    ArrayElemTypeDef, CharacterLength, DataType as Sql, ExactNumberInfo, Expr, IntervalFields,
    SqlOption, Value,
};

/// Key of the option that carries a field's comment.
pub(crate) const COMMENT: &str = "COMMENT";
/// Key of the option that says a field is NOT NULL.
pub(crate) const NOT_NULL: &str = "NOT NULL";

/// Spark's type; `None` for types that Spark does not have. CHAR and VARCHAR are STRING here, see [`char_type`].
pub fn to_spark(sql: &Sql) -> Option<DataType> {
    Some(match sql {
        Sql::Boolean | Sql::Bool => DataType::Boolean,
        Sql::TinyInt(_) => DataType::Byte,
        Sql::SmallInt(_) => DataType::Short,
        Sql::Int(_) | Sql::Integer(_) => DataType::Integer,
        Sql::BigInt(_) => DataType::Long,
        Sql::Float(_) | Sql::Real => DataType::Float,
        Sql::Double(_) | Sql::DoublePrecision => DataType::Double,
        Sql::Date => DataType::Date,
        Sql::Timestamp(..) => DataType::Timestamp,
        Sql::TimestampNtz(_) => DataType::TimestampNtz,
        Sql::String(_) | Sql::Varchar(_) | Sql::Char(_) | Sql::Text => DataType::String,
        Sql::Binary(_) => DataType::Binary,
        Sql::Decimal(info) | Sql::Dec(info) | Sql::Numeric(info) => decimal(info)?,
        Sql::Interval { fields, .. } => interval(fields.as_ref()),
        Sql::Array(ArrayElemTypeDef::AngleBracket(element)) => {
            DataType::array(to_spark(element)?, true)
        }
        Sql::Map(key, value) => DataType::map(to_spark(key)?, to_spark(value)?, true),
        Sql::Struct(fields, _) => {
            DataType::structure(fields.iter().map(field).collect::<Option<Vec<_>>>()?)
        }
        Sql::Custom(name, _) => match name.to_string().as_str() {
            "VOID" => DataType::Void,
            "VARIANT" => DataType::Variant,
            _ => return None,
        },
        _ => return None,
    })
}

fn field(field: &sqlparser::ast::StructField) -> Option<StructField> {
    let name = field.field_name.as_ref()?.value.clone();
    let nullable = !not_null(field.options.as_ref());
    let out = StructField::new(name, to_spark(&field.field_type)?, nullable);
    Some(match comment_of(field.options.as_ref()) {
        Some(comment) => out.with_comment(comment),
        None => out,
    })
}

/// `varchar(10)` or `array<char(3)>`: what Spark keeps in the metadata of the top-level column.
pub fn char_type(sql: &Sql) -> Option<String> {
    let lengths = lengths(sql);
    match lengths.is_any() {
        true => None,
        false => Some(lengths.simple_string(&to_spark(sql)?)),
    }
}

fn lengths(sql: &Sql) -> Lengths {
    let of = |length: &Option<CharacterLength>, kind: fn(usize) -> Lengths| match length {
        Some(CharacterLength::IntegerLength { length, .. }) => {
            usize::try_from(*length).map_or(Lengths::Any, kind)
        }
        _ => Lengths::Any,
    };
    match sql {
        Sql::Varchar(length) => of(length, Lengths::VarChar),
        Sql::Char(length) => of(length, Lengths::Char),
        Sql::Array(ArrayElemTypeDef::AngleBracket(element)) => {
            Lengths::Array(Box::new(lengths(element)))
        }
        Sql::Map(key, value) => Lengths::Map(Box::new(lengths(key)), Box::new(lengths(value))),
        Sql::Struct(fields, _) => Lengths::Struct(
            fields
                .iter()
                .filter_map(|field| {
                    let name = field.field_name.as_ref()?.value.clone();
                    Some((name, lengths(&field.field_type)))
                })
                .collect(),
        ),
        _ => Lengths::Any,
    }
}

fn decimal(info: &ExactNumberInfo) -> Option<DataType> {
    let (precision, scale) = match info {
        ExactNumberInfo::None => (10, 0),
        ExactNumberInfo::Precision(precision) => (*precision, 0),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => (*precision, *scale),
    };
    DataType::try_decimal(u32::try_from(precision).ok()?, u32::try_from(scale).ok()?)
}

fn interval(fields: Option<&IntervalFields>) -> DataType {
    use IntervalFields as F;
    let day_time = |start, end| DataType::DayTimeInterval { start, end };
    let year_month = |start, end| DataType::YearMonthInterval { start, end };
    match fields {
        None => DataType::CalendarInterval,
        Some(F::Year) => year_month(0, 0),
        Some(F::Month) => year_month(1, 1),
        Some(F::YearToMonth) => year_month(0, 1),
        Some(F::Day) => day_time(0, 0),
        Some(F::Hour) => day_time(1, 1),
        Some(F::Minute) => day_time(2, 2),
        Some(F::Second) => day_time(3, 3),
        Some(F::DayToHour) => day_time(0, 1),
        Some(F::DayToMinute) => day_time(0, 2),
        Some(F::DayToSecond) => day_time(0, 3),
        Some(F::HourToMinute) => day_time(1, 2),
        Some(F::HourToSecond) => day_time(1, 3),
        Some(F::MinuteToSecond) => day_time(2, 3),
    }
}

/// The comment among a struct field's options.
fn comment_of(options: Option<&Vec<SqlOption>>) -> Option<String> {
    options?.iter().find_map(|option| match option {
        SqlOption::KeyValue {
            key,
            value: Expr::Value(value),
        } if key.value == COMMENT => match &value.value {
            Value::SingleQuotedString(text) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    })
}

/// Whether a struct field's options hold NOT NULL.
fn not_null(options: Option<&Vec<SqlOption>>) -> bool {
    options.is_some_and(|options| {
        options
            .iter()
            .any(|option| matches!(option, SqlOption::Ident(ident) if ident.value == NOT_NULL))
    })
}
