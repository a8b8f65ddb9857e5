//! Statistics against what Spark writes for the same rows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use arrow::array::{BooleanArray, Float64Array, Int32Array, StringArray};
use arrow::datatypes::{DataType as Arrow, Field, Fields};

use super::*;
use deltaic_protocol::schema::StructField;

fn plan(schema: &StructType, tight: bool) -> Arc<StatsPlan> {
    let all = schema
        .leaves()
        .iter()
        .map(|leaf| leaf.names().into_iter().map(str::to_string).collect())
        .collect();
    Arc::new(StatsPlan::new(schema, &all, tight, 32, Zone::utc()))
}

#[test]
fn nulls_are_left_out_but_their_struct_stays() {
    let inner = StructType::new([StructField::nullable("c", DataType::String)]);
    let st = StructType::new([
        StructField::nullable("a", DataType::Integer),
        StructField::nullable("b", DataType::Struct(inner)),
    ]);
    let schema = StructType::new([
        StructField::nullable("i", DataType::Integer),
        StructField::nullable("ok", DataType::Boolean),
        StructField::nullable("st", DataType::Struct(st)),
    ]);
    let c_fields = Fields::from(vec![Field::new("c", Arrow::Utf8, true)]);
    let b = StructArray::new(
        c_fields.clone(),
        vec![Arc::new(StringArray::from(vec![Some("hidden")]))],
        Some(vec![false].into()),
    );
    let st_fields = Fields::from(vec![
        Field::new("a", Arrow::Int32, true),
        Field::new("b", Arrow::Struct(c_fields), true),
    ]);
    let st = StructArray::new(
        st_fields,
        vec![Arc::new(Int32Array::from(vec![None])), Arc::new(b)],
        None,
    );
    let mut stats = plan(&schema, false).collector();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![7])),
        Arc::new(BooleanArray::from(vec![true])),
        Arc::new(st),
    ];
    stats.update(&columns, 1).unwrap();
    assert_eq!(
        stats.finish(),
        r#"{"numRecords":1,"minValues":{"i":7,"st":{"b":{}}},"maxValues":{"i":7,"st":{"b":{}}},"nullCount":{"i":0,"ok":0,"st":{"a":1,"b":{"c":1}}}}"#
    );
}

#[test]
fn nan_is_the_greatest_number() {
    let schema = StructType::new([StructField::nullable("d", DataType::Double)]);
    let mut stats = plan(&schema, false).collector();
    stats
        .update(
            &[Arc::new(Float64Array::from(vec![1.5, f64::NAN])) as ArrayRef],
            2,
        )
        .unwrap();
    stats
        .update(
            &[Arc::new(Float64Array::from(vec![f64::INFINITY])) as ArrayRef],
            1,
        )
        .unwrap();
    assert_eq!(
        stats.finish(),
        r#"{"numRecords":3,"minValues":{"d":1.5},"maxValues":{"d":"NaN"},"nullCount":{"d":0}}"#
    );
}

#[test]
fn a_file_without_eligible_columns_has_empty_ranges() {
    let schema = StructType::new([StructField::nullable("ok", DataType::Boolean)]);
    let mut stats = plan(&schema, true).collector();
    stats
        .update(
            &[Arc::new(BooleanArray::from(vec![None, Some(true)])) as ArrayRef],
            2,
        )
        .unwrap();
    assert_eq!(
        stats.finish(),
        r#"{"numRecords":2,"minValues":{},"maxValues":{},"nullCount":{"ok":1},"tightBounds":true}"#
    );
}
