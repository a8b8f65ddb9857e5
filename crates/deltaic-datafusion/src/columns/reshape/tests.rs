//! Conversions of nested columns.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use arrow::array::{Int32Array, Int64Array, StringArray};
use arrow::datatypes::Field;

use super::*;

fn map(name: &str, physical: &str, children: Vec<FieldMap>) -> FieldMap {
    FieldMap {
        name: name.into(),
        physical: physical.into(),
        id: None,
        children,
    }
}

#[test]
fn fields_are_renamed_widened_reordered_and_filled_with_null() {
    let have = Fields::from(vec![
        Field::new("p2", DataType::Utf8, true),
        Field::new("p1", DataType::Int32, true),
    ]);
    let want = Fields::from(vec![
        Field::new("a", DataType::Int64, true),
        Field::new("b", DataType::Utf8, true),
        Field::new("c", DataType::Date32, true),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(vec![Some("x"), None])),
        Arc::new(Int32Array::from(vec![1, 2])),
    ];
    let array: ArrayRef = Arc::new(StructArray::new(
        have.clone(),
        columns,
        Some(vec![true, false].into()),
    ));
    let fields = map(
        "s",
        "s",
        vec![
            map("a", "p1", vec![]),
            map("b", "p2", vec![]),
            map("c", "p3", vec![]),
        ],
    );
    let shape = Reshape::plan(
        MappingMode::Name,
        &fields,
        &DataType::Struct(want),
        &DataType::Struct(have),
        "s",
    )
    .unwrap();
    let out = shape.apply(&array).unwrap();
    let out = out.as_any().downcast_ref::<StructArray>().unwrap();
    assert_eq!(
        out.column(0).as_ref(),
        &Int64Array::from(vec![1, 2]) as &dyn Array
    );
    assert_eq!(
        out.column(1).as_ref(),
        &StringArray::from(vec![Some("x"), None]) as &dyn Array
    );
    assert_eq!((out.column(2).null_count(), out.is_null(1)), (2, true));
}

#[test]
fn equal_types_are_kept_unless_names_are_mapped_elsewhere() {
    let both = DataType::Struct(Fields::from(vec![
        Field::new("a", DataType::Int64, true),
        Field::new("b", DataType::Int64, true),
    ]));
    let same = map("s", "s", vec![map("a", "a", vec![]), map("b", "b", vec![])]);
    let swapped = map("s", "s", vec![map("a", "b", vec![]), map("b", "a", vec![])]);
    assert_eq!(
        Reshape::plan(MappingMode::Name, &same, &both, &both, "s").unwrap(),
        Reshape::Keep
    );
    assert!(matches!(
        Reshape::plan(MappingMode::Name, &swapped, &both, &both, "s").unwrap(),
        Reshape::Struct(..)
    ));
}

#[test]
fn a_type_that_spark_would_not_read_is_refused_by_name() {
    let leaf = map("x", "x", vec![]);
    for (logical, physical) in [
        (DataType::Int32, DataType::Int64),
        (DataType::Int64, DataType::Utf8),
        (DataType::Float32, DataType::Float64),
    ] {
        let error =
            Reshape::plan(MappingMode::None, &leaf, &logical, &physical, "s.x").unwrap_err();
        assert!(error.to_string().contains("column s.x"), "{error}");
    }
}
