//! Schemas: JSON, texts and walks.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn sample() -> StructType {
    StructType::new([
        StructField::new("id", DataType::Long, false).with_comment("the key's"),
        StructField::nullable(
            "s",
            DataType::structure([
                StructField::nullable("a b", DataType::Integer),
                StructField::nullable("d", DataType::decimal(10, 2)),
            ]),
        ),
        StructField::nullable(
            "l",
            DataType::array(DataType::array(DataType::Short, false), true),
        ),
        StructField::nullable(
            "m",
            DataType::map(
                DataType::String,
                DataType::structure([StructField::nullable("t", DataType::TimestampNtz)]),
                true,
            ),
        ),
        StructField::nullable("iv", DataType::DayTimeInterval { start: 0, end: 3 }),
    ])
}

fn check(actual: String, expected: Expect) {
    expected.assert_eq(&actual);
}

#[test]
fn types_print_as_in_a_results_header() {
    check(
        sample().simple_string(),
        expect![
            "struct<id:bigint,s:struct<a b:int,d:decimal(10,2)>,l:array<array<smallint>>,m:map<string,struct<t:timestamp_ntz>>,iv:interval day to second>"
        ],
    );
}

#[test]
fn types_print_as_sql() {
    check(
        sample().sql(),
        expect![[
            r"STRUCT<id: BIGINT NOT NULL COMMENT 'the key\'s', s: STRUCT<`a b`: INT, d: DECIMAL(10,2)>, l: ARRAY<ARRAY<SMALLINT>>, m: MAP<STRING, STRUCT<t: TIMESTAMP_NTZ>>, iv: INTERVAL DAY TO SECOND>"
        ]],
    );
}

#[test]
fn a_tree_shows_every_level() {
    check(
        sample().tree_string(),
        expect![[r#"
        root
         |-- id: long (nullable = false)
         |-- s: struct (nullable = true)
         |    |-- a b: integer (nullable = true)
         |    |-- d: decimal(10,2) (nullable = true)
         |-- l: array (nullable = true)
         |    |-- element: array (containsNull = true)
         |    |    |-- element: short (containsNull = false)
         |-- m: map (nullable = true)
         |    |-- key: string
         |    |-- value: struct (valueContainsNull = true)
         |    |    |-- t: timestamp_ntz (nullable = true)
         |-- iv: interval day to second (nullable = true)
    "#]],
    );
}

#[test]
fn json_is_what_spark_writes() {
    let schema =
        StructType::new([StructField::new("id", DataType::Long, true).with_metadata("k", 3)]);
    check(
        schema.to_json(),
        expect![[
            r#"{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{"k":3}}]}"#
        ]],
    );
}

#[test]
fn a_bare_decimal_has_ten_digits() {
    let schema = StructType::from_json(r#"{"type":"struct","fields":[{"name":"d","type":"decimal","nullable":true,"metadata":{}}]}"#).unwrap();
    assert_eq!(schema.fields[0].data_type, DataType::decimal(10, 0));
}

#[test]
fn an_unknown_type_is_refused_with_a_class() {
    let e = StructType::from_json(
        r#"{"type":"struct","fields":[{"name":"d","type":"decimal(50,2)"}]}"#,
    )
    .unwrap_err();
    assert_eq!(e.class(), Some("INVALID_JSON_DATA_TYPE"));
    assert!(StructType::from_json("{").is_err());
    assert!(StructType::from_json("\"long\"").is_err());
}

#[test]
fn names_are_found_whatever_their_case_and_an_exact_match_wins() {
    let schema = StructType::new([
        StructField::nullable("ID", DataType::Long),
        StructField::nullable("id", DataType::Long),
    ]);
    assert_eq!(schema.index_of("id"), Some(1));
    assert_eq!(schema.index_of("Id"), Some(0));
    assert_eq!(
        sample().field_at(&["S", "D"]).unwrap().data_type,
        DataType::decimal(10, 2)
    );
}

#[test]
fn leaves_open_structs_but_neither_arrays_nor_maps() {
    let schema = sample();
    let names: Vec<String> = schema
        .leaves()
        .iter()
        .map(|l| l.names().join("."))
        .collect();
    assert_eq!(names, ["id", "s.a b", "s.d", "l", "m", "iv"]);
}

#[test]
fn an_invariant_is_read_out_of_its_json() {
    let field = StructField::nullable("v", DataType::Long).with_metadata(
        metadata::INVARIANTS,
        r#"{"expression":{"expression":"v > 3"}}"#,
    );
    assert_eq!(field.invariant().as_deref(), Some("v > 3"));
}

fn data_type() -> impl Strategy<Value = DataType> {
    let leaf = prop_oneof![
        Just(DataType::Void),
        Just(DataType::Boolean),
        Just(DataType::Byte),
        Just(DataType::Long),
        Just(DataType::Double),
        Just(DataType::String),
        Just(DataType::Binary),
        Just(DataType::Date),
        Just(DataType::Timestamp),
        Just(DataType::Variant),
        (1u8..=38)
            .prop_flat_map(|p| (Just(p), 0..=p))
            .prop_map(|(p, s)| DataType::decimal(p, s)),
        (0u8..4)
            .prop_flat_map(|s| (Just(s), s..4))
            .prop_map(|(start, end)| DataType::DayTimeInterval { start, end }),
        Just(DataType::YearMonthInterval { start: 0, end: 1 }),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), any::<bool>()).prop_map(|(t, n)| DataType::array(t, n)),
            (inner.clone(), inner.clone(), any::<bool>())
                .prop_map(|(k, v, n)| DataType::map(k, v, n)),
            prop::collection::vec((".{0,6}", inner, any::<bool>(), ".{0,4}"), 0..4).prop_map(
                |fields| DataType::structure(fields.into_iter().map(|(name, t, n, comment)| {
                    StructField::new(name, t, n).with_comment(comment)
                }))
            ),
        ]
    })
}

proptest! {
    #[test]
    fn a_schema_survives_its_json(types in prop::collection::vec((".{1,5}", data_type(), any::<bool>()), 0..4)) {
        let schema = StructType::new(types.into_iter().map(|(n, t, null)| StructField::new(n, t, null)));
        prop_assert_eq!(StructType::from_json(&schema.to_json()).unwrap(), schema);
    }
}
