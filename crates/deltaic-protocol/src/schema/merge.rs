//! One schema out of two, by the reference's rules for files that are taken into one table: columns meet by name in any
//! case, new ones come last, and types must be the same but for the integers that Parquet stores alike.

use super::{DataType, StructField, StructType};
use crate::error::{DeltaError, Result};

impl StructType {
    /// The columns of both; names, order and metadata of `self` come first.
    ///
    /// # Errors
    /// `DELTA_FAILED_TO_MERGE_FIELDS` for two columns of one name whose types do not go together, with the reason as its source.
    pub fn merged_with(&self, update: &StructType) -> Result<StructType> {
        let mut fields = Vec::with_capacity(self.len().max(update.len()));
        for field in self {
            let merged = match update.field(&field.name) {
                None => field.clone(),
                Some(other) => StructField {
                    data_type: merged_types(&field.data_type, &other.data_type).map_err(
                        |error| {
                            DeltaError::new("DELTA_FAILED_TO_MERGE_FIELDS")
                                .param("currentField", &field.name)
                                .param("updateField", &other.name)
                                .with_source(error)
                        },
                    )?,
                    nullable: field.nullable || other.nullable,
                    ..field.clone()
                },
            };
            fields.push(merged);
        }
        let new = update
            .iter()
            .filter(|field| self.field(&field.name).is_none());
        fields.extend(new.cloned());
        Ok(StructType::new(fields))
    }
}

fn merged_types(current: &DataType, update: &DataType) -> Result<DataType> {
    use DataType::{Byte, Integer, Short, Void};
    Ok(match (current, update) {
        (DataType::Struct(a), DataType::Struct(b)) => DataType::Struct(a.merged_with(b)?),
        (DataType::Array(a), DataType::Array(b)) => DataType::array(
            merged_types(&a.element_type, &b.element_type)?,
            a.contains_null || b.contains_null,
        ),
        (DataType::Map(a), DataType::Map(b)) => DataType::map(
            merged_types(&a.key_type, &b.key_type)?,
            merged_types(&a.value_type, &b.value_type)?,
            a.value_contains_null || b.value_contains_null,
        ),
        (
            DataType::Decimal {
                precision: p,
                scale: s,
            },
            DataType::Decimal {
                precision: q,
                scale: t,
            },
        ) if (p, s) != (q, t) => {
            return Err(DeltaError::new("DELTA_MERGE_INCOMPATIBLE_DECIMAL_TYPE")
                .param("decimalRanges", decimal_ranges((*p, *s), (*q, *t))));
        }
        (a, b) if a == b => a.clone(),
        (Void, other) | (other, Void) => other.clone(),
        (Byte, Short) | (Short, Byte) => Short,
        (Byte | Short, Integer) | (Integer, Byte | Short) => Integer,
        (a, b) => {
            return Err(DeltaError::new("DELTA_MERGE_INCOMPATIBLE_DATATYPE")
                .param("currentDataType", a.class_text())
                .param("updateDataType", b.class_text()));
        }
    })
}

fn decimal_ranges((p, s): (u8, u8), (q, t): (u8, u8)) -> String {
    match (p == q, s == t) {
        (false, false) => format!("precision {p} and {q} & scale {s} and {t}"),
        (false, true) => format!("precision {p} and {q}"),
        _ => format!("scale {s} and {t}"),
    }
}

impl DataType {
    /// The type as Spark's classes print themselves: `LongType`, `ArrayType(StringType,true)`.
    pub fn class_text(&self) -> String {
        let word = match self {
            DataType::Void => "NullType",
            DataType::Boolean => "BooleanType",
            DataType::Byte => "ByteType",
            DataType::Short => "ShortType",
            DataType::Integer => "IntegerType",
            DataType::Long => "LongType",
            DataType::Float => "FloatType",
            DataType::Double => "DoubleType",
            DataType::String => "StringType",
            DataType::Binary => "BinaryType",
            DataType::Date => "DateType",
            DataType::Timestamp => "TimestampType",
            DataType::TimestampNtz => "TimestampNTZType",
            DataType::Variant => "VariantType",
            DataType::CalendarInterval => "CalendarIntervalType",
            DataType::DayTimeInterval { start, end } => {
                return format!("DayTimeIntervalType({start},{end})");
            }
            DataType::YearMonthInterval { start, end } => {
                return format!("YearMonthIntervalType({start},{end})");
            }
            DataType::Decimal { precision, scale } => {
                return format!("DecimalType({precision},{scale})");
            }
            DataType::Array(array) => {
                let element = array.element_type.class_text();
                return format!("ArrayType({element},{})", array.contains_null);
            }
            DataType::Map(map) => {
                let (key, value) = (map.key_type.class_text(), map.value_type.class_text());
                return format!("MapType({key},{value},{})", map.value_contains_null);
            }
            DataType::Struct(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|field| {
                        let data_type = field.data_type.class_text();
                        format!("StructField({},{data_type},{})", field.name, field.nullable)
                    })
                    .collect();
                return format!("StructType({})", fields.join(","));
            }
        };
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn schema(fields: &[(&str, DataType)]) -> StructType {
        StructType::new(
            fields
                .iter()
                .map(|(name, data_type)| StructField::nullable(*name, data_type.clone())),
        )
    }

    #[test]
    fn columns_meet_by_name_and_new_ones_come_last() {
        let inner = |name: &str| DataType::structure([StructField::nullable(name, DataType::Long)]);
        let one = schema(&[("a", DataType::Short), ("s", inner("x"))]);
        let two = schema(&[
            ("n", DataType::String),
            ("A", DataType::Integer),
            ("s", inner("y")),
        ]);
        let merged = one.merged_with(&two).unwrap();
        assert_eq!(
            merged.simple_string(),
            "struct<a:int,s:struct<x:bigint,y:bigint>,n:string>"
        );
    }

    #[test]
    fn other_types_do_not_go_together() {
        let reason = |a: DataType, b: DataType| {
            let error = schema(&[("a", a)])
                .merged_with(&schema(&[("a", b)]))
                .unwrap_err();
            assert_eq!(error.class(), Some("DELTA_FAILED_TO_MERGE_FIELDS"));
            std::error::Error::source(&error).unwrap().to_string()
        };
        assert_eq!(
            reason(DataType::Long, DataType::String),
            "[DELTA_MERGE_INCOMPATIBLE_DATATYPE] Failed to merge incompatible data types LongType and StringType"
        );
        assert!(reason(DataType::Integer, DataType::Long).contains("IntegerType and LongType"));
        assert!(
            reason(DataType::decimal(10, 2), DataType::decimal(12, 2))
                .ends_with("precision 10 and 12")
        );
    }
}
