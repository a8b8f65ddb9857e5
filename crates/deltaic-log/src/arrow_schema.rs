//! Between Delta's schema and Arrow's (protocol sections "Schema Serialization Format" and "Column Mapping").
//!
//! [`to_arrow`] gives the logical schema, with the names that queries use and without metadata, so that schemas of equal
//! columns are equal. [`to_physical_arrow`] gives the schema of data files: physical names, and field ids where column
//! mapping assigns them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{
    DataType as ArrowType, Field, Fields, IntervalUnit, Schema, SchemaRef, TimeUnit,
};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, StructField, StructType};

#[cfg(test)]
mod tests;

/// The metadata key under which Parquet writers and readers find a field's id.
pub const PARQUET_FIELD_ID: &str = "PARQUET:field_id";
/// The zone of TIMESTAMP columns.
pub const UTC: &str = "UTC";

const NESTED_IDS: &str = "delta.columnMapping.nested.ids";

/// The logical Arrow schema.
pub fn to_arrow(schema: &StructType) -> SchemaRef {
    Arc::new(Schema::new(fields(schema, Names::Logical)))
}

/// The Arrow schema of data files under column mapping: physical names and field ids, as recorded in the schema. Without
/// column mapping the physical names are the logical ones and there are no ids.
pub fn to_physical_arrow(schema: &StructType) -> SchemaRef {
    Arc::new(Schema::new(fields(schema, Names::Physical)))
}

/// The Arrow type of a Delta type, logical names inside.
pub fn to_arrow_type(data_type: &DataType) -> ArrowType {
    arrow_type(data_type, Names::Logical, &Ids::none(""))
}

/// The Arrow field of a Delta field, logical names inside.
pub fn to_arrow_field(field: &StructField) -> Field {
    arrow_field(field, Names::Logical)
}

/// The Delta schema of an Arrow schema. Metadata is not carried over; unsigned integers become the next wider signed type.
///
/// # Errors
/// A type that Delta has no equal for.
pub fn from_arrow(schema: &Schema) -> Result<StructType> {
    schema
        .fields()
        .iter()
        .map(|f| from_arrow_field(f))
        .collect::<Result<Vec<_>>>()
        .map(StructType::new)
}

/// The Delta field of an Arrow field.
///
/// # Errors
/// A type that Delta has no equal for.
pub fn from_arrow_field(field: &Field) -> Result<StructField> {
    Ok(StructField::new(
        field.name(),
        from_arrow_type(field.data_type())?,
        field.is_nullable(),
    ))
}

/// The Delta type of an Arrow type.
///
/// # Errors
/// A type that Delta has no equal for.
pub fn from_arrow_type(data_type: &ArrowType) -> Result<DataType> {
    Ok(match data_type {
        ArrowType::Null => DataType::Void,
        ArrowType::Boolean => DataType::Boolean,
        ArrowType::Int8 => DataType::Byte,
        ArrowType::Int16 | ArrowType::UInt8 => DataType::Short,
        ArrowType::Int32 | ArrowType::UInt16 => DataType::Integer,
        ArrowType::Int64 | ArrowType::UInt32 => DataType::Long,
        ArrowType::UInt64 => DataType::Decimal {
            precision: 20,
            scale: 0,
        },
        ArrowType::Float16 | ArrowType::Float32 => DataType::Float,
        ArrowType::Float64 => DataType::Double,
        ArrowType::Decimal32(p, s) | ArrowType::Decimal64(p, s) | ArrowType::Decimal128(p, s)
            if *s >= 0 =>
        {
            DataType::Decimal {
                precision: *p,
                scale: s.unsigned_abs(),
            }
        }
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View => DataType::String,
        ArrowType::Binary
        | ArrowType::LargeBinary
        | ArrowType::BinaryView
        | ArrowType::FixedSizeBinary(_) => DataType::Binary,
        ArrowType::Date32 | ArrowType::Date64 => DataType::Date,
        ArrowType::Timestamp(_, Some(_)) => DataType::Timestamp,
        ArrowType::Timestamp(_, None) => DataType::TimestampNtz,
        ArrowType::Interval(IntervalUnit::MonthDayNano) => DataType::CalendarInterval,
        ArrowType::Interval(IntervalUnit::YearMonth) => {
            DataType::YearMonthInterval { start: 0, end: 1 }
        }
        ArrowType::Duration(_) | ArrowType::Interval(IntervalUnit::DayTime) => {
            DataType::DayTimeInterval { start: 0, end: 3 }
        }
        ArrowType::Dictionary(_, value) => from_arrow_type(value)?,
        ArrowType::RunEndEncoded(_, value) => from_arrow_type(value.data_type())?,
        ArrowType::Struct(inner) if is_variant(inner) => DataType::Variant,
        ArrowType::Struct(inner) => DataType::Struct(StructType::new(
            inner
                .iter()
                .map(|f| from_arrow_field(f))
                .collect::<Result<Vec<_>>>()?,
        )),
        ArrowType::List(item)
        | ArrowType::LargeList(item)
        | ArrowType::ListView(item)
        | ArrowType::LargeListView(item)
        | ArrowType::FixedSizeList(item, _) => {
            DataType::array(from_arrow_type(item.data_type())?, item.is_nullable())
        }
        ArrowType::Map(entries, _) => match entries.data_type() {
            ArrowType::Struct(pair) if pair.len() == 2 => DataType::map(
                from_arrow_type(pair[0].data_type())?,
                from_arrow_type(pair[1].data_type())?,
                pair[1].is_nullable(),
            ),
            _ => return Err(unsupported(data_type)),
        },
        _ => return Err(unsupported(data_type)),
    })
}

fn unsupported(data_type: &ArrowType) -> DeltaError {
    DeltaError::not_supported_yet(format!(
        "the Arrow type {data_type} as a column of a Delta table"
    ))
}

/// A variant travels as its two binary parts, `value` and `metadata`.
fn is_variant(fields: &Fields) -> bool {
    let binary = |name: &str| {
        fields.find(name).is_some_and(|(_, f)| {
            matches!(f.data_type(), ArrowType::Binary | ArrowType::BinaryView) && !f.is_nullable()
        })
    };
    fields.len() == 2 && binary("value") && binary("metadata")
}

#[derive(Clone, Copy, PartialEq)]
enum Names {
    Logical,
    Physical,
}

/// The ids of the elements, keys and values inside a field, by their path (`col.element`, `col.key`).
struct Ids<'a> {
    ids: Option<&'a serde_json::Map<String, serde_json::Value>>,
    path: String,
}

impl<'a> Ids<'a> {
    fn none(path: &str) -> Self {
        Self {
            ids: None,
            path: path.to_owned(),
        }
    }

    fn of(field: &'a StructField) -> Self {
        let ids = field
            .metadata
            .get(NESTED_IDS)
            .and_then(serde_json::Value::as_object);
        Self {
            ids,
            path: field.physical_name().to_owned(),
        }
    }

    fn child(&self, name: &str) -> Self {
        Self {
            ids: self.ids,
            path: format!("{}.{name}", self.path),
        }
    }

    fn field(&self, name: &str, data_type: ArrowType, nullable: bool) -> Field {
        let id = self
            .ids
            .and_then(|ids| ids.get(&self.child(name).path))
            .and_then(serde_json::Value::as_i64);
        with_id(Field::new(name, data_type, nullable), id)
    }
}

fn with_id(field: Field, id: Option<i64>) -> Field {
    match id {
        Some(id) => field.with_metadata(HashMap::from([(
            PARQUET_FIELD_ID.to_owned(),
            id.to_string(),
        )])),
        None => field,
    }
}

fn fields(schema: &StructType, names: Names) -> Vec<Field> {
    schema.iter().map(|f| arrow_field(f, names)).collect()
}

fn arrow_field(field: &StructField, names: Names) -> Field {
    match names {
        Names::Logical => Field::new(
            &field.name,
            arrow_type(&field.data_type, names, &Ids::none("")),
            field.nullable,
        ),
        Names::Physical => {
            let data_type = arrow_type(&field.data_type, names, &Ids::of(field));
            with_id(
                Field::new(field.physical_name(), data_type, field.nullable),
                field.column_mapping_id(),
            )
        }
    }
}

fn arrow_type(data_type: &DataType, names: Names, ids: &Ids<'_>) -> ArrowType {
    match data_type {
        DataType::Void => ArrowType::Null,
        DataType::Boolean => ArrowType::Boolean,
        DataType::Byte => ArrowType::Int8,
        DataType::Short => ArrowType::Int16,
        DataType::Integer => ArrowType::Int32,
        DataType::Long => ArrowType::Int64,
        DataType::Float => ArrowType::Float32,
        DataType::Double => ArrowType::Float64,
        DataType::Decimal { precision, scale } => {
            ArrowType::Decimal128(*precision, i8::try_from(*scale).unwrap_or(i8::MAX))
        }
        DataType::String => ArrowType::Utf8,
        DataType::Binary => ArrowType::Binary,
        DataType::Date => ArrowType::Date32,
        DataType::Timestamp => ArrowType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
        DataType::TimestampNtz => ArrowType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Variant => ArrowType::Struct(Fields::from(vec![
            Field::new("value", ArrowType::Binary, false),
            Field::new("metadata", ArrowType::Binary, false),
        ])),
        DataType::CalendarInterval => ArrowType::Interval(IntervalUnit::MonthDayNano),
        DataType::YearMonthInterval { .. } => ArrowType::Interval(IntervalUnit::YearMonth),
        DataType::DayTimeInterval { .. } => ArrowType::Duration(TimeUnit::Microsecond),
        DataType::Struct(inner) => ArrowType::Struct(fields(inner, names).into()),
        DataType::Array(array) => {
            let item = arrow_type(&array.element_type, names, &ids.child("element"));
            ArrowType::List(Arc::new(ids.field("element", item, array.contains_null)))
        }
        DataType::Map(map) => {
            let key = arrow_type(&map.key_type, names, &ids.child("key"));
            let value = arrow_type(&map.value_type, names, &ids.child("value"));
            let pair = vec![
                ids.field("key", key, false),
                ids.field("value", value, map.value_contains_null),
            ];
            ArrowType::Map(
                Arc::new(Field::new(
                    "key_value",
                    ArrowType::Struct(pair.into()),
                    false,
                )),
                false,
            )
        }
    }
}
