//! Spark's types as the analyser reasons about them: families, precedence, the Arrow type behind each.

pub mod castable;
pub mod decimal;
pub mod widen;

use arrow::datatypes::DataType as ArrowType;
use deltaic_log::arrow_schema;
use deltaic_protocol::schema::{ArrayType, DataType, MapType, StructField, StructType};

/// The Arrow type whose arrays hold values of `ty`.
pub fn arrow_type(ty: &DataType) -> ArrowType {
    arrow_schema::to_arrow_type(ty)
}

/// BYTE to LONG.
pub fn is_integral(ty: &DataType) -> bool {
    matches!(
        ty,
        DataType::Byte | DataType::Short | DataType::Integer | DataType::Long
    )
}

/// FLOAT or DOUBLE.
pub fn is_float(ty: &DataType) -> bool {
    matches!(ty, DataType::Float | DataType::Double)
}

/// FLOAT, DOUBLE or DECIMAL.
pub fn is_fractional(ty: &DataType) -> bool {
    is_float(ty) || is_decimal(ty)
}

/// DECIMAL of any precision.
pub fn is_decimal(ty: &DataType) -> bool {
    matches!(ty, DataType::Decimal { .. })
}

/// Any number.
pub fn is_numeric(ty: &DataType) -> bool {
    is_integral(ty) || is_fractional(ty)
}

/// DATE, TIMESTAMP or TIMESTAMP_NTZ.
pub fn is_datetime(ty: &DataType) -> bool {
    matches!(ty, DataType::Date) || is_timestamp(ty)
}

/// TIMESTAMP or TIMESTAMP_NTZ.
pub fn is_timestamp(ty: &DataType) -> bool {
    matches!(ty, DataType::Timestamp | DataType::TimestampNtz)
}

/// YEAR TO MONTH or DAY TO SECOND intervals.
pub fn is_ansi_interval(ty: &DataType) -> bool {
    matches!(
        ty,
        DataType::YearMonthInterval { .. } | DataType::DayTimeInterval { .. }
    )
}

/// Not a struct, array or map.
pub fn is_atomic(ty: &DataType) -> bool {
    !matches!(
        ty,
        DataType::Struct(_)
            | DataType::Array(_)
            | DataType::Map(_)
            | DataType::Void
            | DataType::Variant
    )
}

/// Can values be ordered: all but maps and variants, and what holds them.
pub fn is_orderable(ty: &DataType) -> bool {
    match ty {
        DataType::Map(_) | DataType::Variant => false,
        DataType::Array(a) => is_orderable(&a.element_type),
        DataType::Struct(s) => s.fields.iter().all(|f| is_orderable(&f.data_type)),
        _ => true,
    }
}

/// Whether a type is VARIANT or holds it.
pub fn has_variant(ty: &DataType) -> bool {
    match ty {
        DataType::Variant => true,
        DataType::Array(a) => has_variant(&a.element_type),
        DataType::Map(m) => has_variant(&m.key_type) || has_variant(&m.value_type),
        DataType::Struct(s) => s.fields.iter().any(|f| has_variant(&f.data_type)),
        _ => false,
    }
}

/// Position in the order BYTE < SHORT < INT < BIGINT < FLOAT < DOUBLE; None for other types.
pub fn precedence(ty: &DataType) -> Option<usize> {
    const ORDER: [DataType; 6] = [
        DataType::Byte,
        DataType::Short,
        DataType::Integer,
        DataType::Long,
        DataType::Float,
        DataType::Double,
    ];
    ORDER.iter().position(|t| t == ty)
}

/// An array type.
pub fn array_of(element: DataType, contains_null: bool) -> DataType {
    DataType::Array(Box::new(ArrayType {
        element_type: element,
        contains_null,
    }))
}

/// A map type.
pub fn map_of(key: DataType, value: DataType, value_contains_null: bool) -> DataType {
    DataType::Map(Box::new(MapType {
        key_type: key,
        value_type: value,
        value_contains_null,
    }))
}

/// A struct type of nullable or non-nullable fields.
pub fn struct_of<S: Into<String>>(fields: Vec<(S, DataType, bool)>) -> DataType {
    DataType::Struct(StructType {
        fields: fields
            .into_iter()
            .map(|(name, ty, nullable)| field(name, ty, nullable))
            .collect(),
    })
}

/// A field without metadata.
pub fn field(name: impl Into<String>, data_type: DataType, nullable: bool) -> StructField {
    StructField {
        name: name.into(),
        data_type,
        nullable,
        metadata: Default::default(),
    }
}

/// The type as error texts show it: `"BIGINT"`.
pub fn shown(ty: &DataType) -> String {
    format!("\"{}\"", ty.sql())
}

/// The same shape with every nullable mark set, as a cast's target is.
pub fn as_nullable(ty: &DataType) -> DataType {
    match ty {
        DataType::Array(a) => array_of(as_nullable(&a.element_type), true),
        DataType::Map(m) => map_of(as_nullable(&m.key_type), as_nullable(&m.value_type), true),
        DataType::Struct(s) => DataType::Struct(StructType {
            fields: s
                .fields
                .iter()
                .map(|f| StructField {
                    name: f.name.clone(),
                    data_type: as_nullable(&f.data_type),
                    nullable: true,
                    metadata: f.metadata.clone(),
                })
                .collect(),
        }),
        other => other.clone(),
    }
}

/// Equal but for nullable marks and metadata.
pub fn same_type(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::Array(x), DataType::Array(y)) => same_type(&x.element_type, &y.element_type),
        (DataType::Map(x), DataType::Map(y)) => {
            same_type(&x.key_type, &y.key_type) && same_type(&x.value_type, &y.value_type)
        }
        (DataType::Struct(x), DataType::Struct(y)) => {
            x.fields.len() == y.fields.len()
                && x.fields
                    .iter()
                    .zip(&y.fields)
                    .all(|(f, g)| f.name == g.name && same_type(&f.data_type, &g.data_type))
        }
        _ => a == b,
    }
}
