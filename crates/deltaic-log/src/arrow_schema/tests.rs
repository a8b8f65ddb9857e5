//! Schemas to Arrow and back.
#![allow(clippy::unwrap_used)]
use super::*;
use serde_json::json;

fn mapped(name: &str, physical: &str, id: i64, data_type: DataType) -> StructField {
    StructField::nullable(name, data_type)
        .with_metadata("delta.columnMapping.id", json!(id))
        .with_metadata("delta.columnMapping.physicalName", json!(physical))
}

fn all_types() -> StructType {
    StructType::new([
        StructField::new("b", DataType::Boolean, false),
        StructField::nullable("i8", DataType::Byte),
        StructField::nullable("i64", DataType::Long),
        StructField::nullable(
            "d",
            DataType::Decimal {
                precision: 38,
                scale: 10,
            },
        ),
        StructField::nullable("ts", DataType::Timestamp),
        StructField::nullable("tn", DataType::TimestampNtz),
        StructField::nullable("v", DataType::Variant),
        StructField::nullable(
            "a",
            DataType::array(
                DataType::map(DataType::String, DataType::Double, false),
                true,
            ),
        ),
        StructField::nullable(
            "s",
            DataType::structure([StructField::new("x", DataType::Date, false)]),
        ),
    ])
}

#[test]
fn every_type_survives_the_way_to_arrow_and_back() {
    let schema = all_types();
    assert_eq!(from_arrow(&to_arrow(&schema)).unwrap(), schema);
}

#[test]
fn logical_fields_carry_no_metadata() {
    let schema = StructType::new([mapped("a", "col-1", 1, DataType::Long).with_comment("said")]);
    let arrow = to_arrow(&schema);
    assert_eq!(arrow.field(0).name(), "a");
    assert!(arrow.field(0).metadata().is_empty());
}

#[test]
fn physical_fields_carry_physical_names_and_ids_at_every_level() {
    let inner = DataType::structure([mapped("x", "col-3", 3, DataType::Long)]);
    let mut outer = mapped("s", "col-2", 2, DataType::array(inner, true));
    outer.metadata.insert(
        "delta.columnMapping.nested.ids".into(),
        json!({"col-2.element": 4}),
    );
    let arrow = to_physical_arrow(&StructType::new([outer]));
    let field = arrow.field(0);
    assert_eq!(
        (
            field.name().as_str(),
            field.metadata()[PARQUET_FIELD_ID].as_str()
        ),
        ("col-2", "2")
    );
    let ArrowType::List(item) = field.data_type() else {
        unreachable!("a list")
    };
    assert_eq!(item.metadata()[PARQUET_FIELD_ID], "4");
    let ArrowType::Struct(leaves) = item.data_type() else {
        unreachable!("a struct")
    };
    assert_eq!(
        (
            leaves[0].name().as_str(),
            leaves[0].metadata()[PARQUET_FIELD_ID].as_str()
        ),
        ("col-3", "3")
    );
}

#[test]
fn a_type_without_an_equal_is_refused() {
    let odd = Schema::new(vec![Field::new(
        "t",
        ArrowType::Time64(TimeUnit::Nanosecond),
        true,
    )]);
    assert!(from_arrow(&odd).is_err());
}
