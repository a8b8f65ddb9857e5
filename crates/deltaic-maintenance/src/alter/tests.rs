//! Unit tests of changes of columns.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use deltaic_command::{ColumnChange, ColumnPosition, NewColumn};
use deltaic_protocol::schema::{DataType, Lengths, StructField, StructType};

use super::*;

fn state(configuration: &[(&str, &str)]) -> TableState {
    let inner = DataType::structure([
        StructField::nullable("a", DataType::Integer),
        StructField::nullable("b", DataType::String),
    ]);
    let list = DataType::array(
        DataType::structure([StructField::nullable("x", DataType::Long)]),
        true,
    );
    let schema = StructType::new([
        StructField::new("id", DataType::Integer, false),
        StructField::nullable("s", inner),
        StructField::nullable("l", list),
        StructField::nullable("p", DataType::String),
    ]);
    let mut metadata = Metadata::new("t", &schema);
    metadata.partition_columns = vec!["p".to_string()];
    metadata.configuration = configuration
        .iter()
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect();
    TableState {
        metadata,
        protocol: Protocol::legacy(1, 2),
        schema,
        clustering_columns: vec!["s.a".to_string()],
    }
}

fn mapped() -> TableState {
    let mut state = state(&[
        ("delta.columnMapping.mode", "name"),
        ("delta.columnMapping.maxColumnId", "6"),
    ]);
    mapping::assign(&mut state.schema, 0, mapping::PhysicalName::Logical);
    state.metadata.schema_string = state.schema.to_json();
    state
}

fn path(dotted: &str) -> Vec<String> {
    dotted.split('.').map(ToString::to_string).collect()
}

fn column(name: &str, data_type: DataType, position: Option<ColumnPosition>) -> NewColumn {
    NewColumn {
        path: path(name),
        data_type,
        lengths: Lengths::Any,
        nullable: true,
        comment: None,
        position,
    }
}

fn fresh() -> String {
    "fresh".to_string()
}

fn names(change: &TableChange) -> Vec<String> {
    change
        .metadata
        .schema()
        .unwrap()
        .fields
        .iter()
        .map(|field| field.name.clone())
        .collect()
}

fn parameter<'a>(change: &'a TableChange, name: &str) -> &'a str {
    change
        .operation
        .parameters
        .iter()
        .find(|(key, _)| key == name)
        .unwrap()
        .1
        .as_str()
        .unwrap()
}

#[test]
fn columns_are_added_where_they_are_to_stand() {
    let struct_type = DataType::structure([StructField::nullable("q", DataType::Integer)]);
    let columns = [
        column(
            "n",
            struct_type,
            Some(ColumnPosition::After("ID".to_string())),
        ),
        column(
            "m",
            DataType::map(DataType::String, DataType::Integer, true),
            None,
        ),
        column("f", DataType::Double, Some(ColumnPosition::First)),
        column("s.c", DataType::Double, None),
    ];
    let change = add_columns(&state(&[]), &columns, &fresh).unwrap();
    assert_eq!(names(&change), ["f", "id", "n", "s", "l", "p", "m"]);
    assert_eq!(
        change
            .metadata
            .schema()
            .unwrap()
            .field_at(&path("s.c"))
            .unwrap()
            .data_type,
        DataType::Double
    );
    assert_eq!(
        parameter(&change, "columns"),
        "[{\"column\":{\"name\":\"n\",\"type\":\"struct\",\"nullable\":true,\"metadata\":{}},\"position\":\"AFTER ID\"},\
         {\"column\":{\"name\":\"m\",\"type\":\"map\",\"nullable\":true,\"metadata\":{}}},\
         {\"column\":{\"name\":\"f\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}},\"position\":\"FIRST\"},\
         {\"column\":{\"name\":\"s.c\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}}}]"
    );
}

#[test]
fn columns_inside_of_lists_are_reached_through_element() {
    let change = add_columns(
        &state(&[]),
        &[column("l.element.y", DataType::Long, None)],
        &fresh,
    )
    .unwrap();
    assert!(change.metadata.schema_string.contains("\"y\""));
    let error =
        add_columns(&state(&[]), &[column("id.x", DataType::Long, None)], &fresh).unwrap_err();
    assert_eq!(error.class(), Some("DELTA_ADD_COLUMN_PARENT_NOT_STRUCT"));
}

#[test]
fn a_name_that_is_taken_is_refused_in_any_case() {
    let error =
        add_columns(&state(&[]), &[column("ID", DataType::String, None)], &fresh).unwrap_err();
    assert_eq!(
        error.text(),
        "Cannot add column, because `ID` already exists in \"STRUCT<id: INT NOT NULL, s: STRUCT<a: INT, b: STRING>, l: \
         ARRAY<STRUCT<x: BIGINT>>, p: STRING>\"."
    );
    let twice = [
        column("n", DataType::Long, None),
        column("N", DataType::Long, None),
    ];
    assert_eq!(
        add_columns(&state(&[]), &twice, &fresh)
            .unwrap_err()
            .class(),
        Some("COLUMN_ALREADY_EXISTS")
    );
}

#[test]
fn a_sibling_or_parent_that_is_missing_is_named_with_proposals() {
    let after = Some(ColumnPosition::After("idd".to_string()));
    let error =
        add_columns(&state(&[]), &[column("n", DataType::Long, after)], &fresh).unwrap_err();
    assert_eq!(error.class(), Some("UNRESOLVED_COLUMN.WITH_SUGGESTION"));
    assert!(
        error.text().contains("`idd`") && error.text().contains("[`id`"),
        "{}",
        error.text()
    );
}

#[test]
fn mapped_tables_give_new_columns_a_name_of_their_own() {
    let change = add_columns(&mapped(), &[column("a b", DataType::Long, None)], &fresh).unwrap();
    let schema = change.metadata.schema().unwrap();
    let field = schema.field("a b").unwrap();
    assert_eq!(
        (field.physical_name(), field.column_mapping_id()),
        ("col-fresh", Some(8))
    );
    assert_eq!(
        change.metadata.configuration["delta.columnMapping.maxColumnId"],
        "8"
    );
    let error =
        add_columns(&state(&[]), &[column("a b", DataType::Long, None)], &fresh).unwrap_err();
    assert_eq!(
        error.class(),
        Some("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES")
    );
}

#[test]
fn nullability_loosens_but_does_not_tighten() {
    let change = change_column(&state(&[]), &path("ID"), &ColumnChange::DropNotNull).unwrap();
    assert!(change.metadata.schema().unwrap().fields[0].nullable);
    assert_eq!(
        parameter(&change, "column"),
        r#"{"name":"id","type":"integer","nullable":true,"metadata":{}}"#
    );
    let error = change_column(&state(&[]), &path("s.a"), &ColumnChange::SetNotNull).unwrap_err();
    assert_eq!(
        error.text(),
        "Cannot change nullable column to non-nullable: s.a."
    );
    assert!(change_column(&state(&[]), &path("id"), &ColumnChange::SetNotNull).is_ok());
}

#[test]
fn a_column_moves_among_its_siblings() {
    let moved =
        |to| names(&change_column(&state(&[]), &path("l"), &ColumnChange::Position(to)).unwrap());
    assert_eq!(moved(ColumnPosition::First), ["l", "id", "s", "p"]);
    assert_eq!(
        moved(ColumnPosition::After("p".to_string())),
        ["id", "s", "p", "l"]
    );
    assert_eq!(
        moved(ColumnPosition::After("l".to_string())),
        ["id", "s", "l", "p"]
    );
    let change = change_column(
        &state(&[]),
        &path("s.b"),
        &ColumnChange::Position(ColumnPosition::First),
    )
    .unwrap();
    assert_eq!(parameter(&change, "position"), "FIRST");
    assert_eq!(
        parameter(&change, "column"),
        r#"{"name":"s.b","type":"string","nullable":true,"metadata":{}}"#
    );
}

#[test]
fn types_are_widened_where_the_table_allows_it() {
    let refused = change_column(
        &state(&[]),
        &path("id"),
        &ColumnChange::Type(DataType::Long),
    )
    .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "[DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP] ALTER TABLE CHANGE COLUMN is not supported for changing column id from \
         INT to BIGINT"
    );
    let open = state(&[("delta.enableTypeWidening", "true")]);
    let change = change_column(&open, &path("id"), &ColumnChange::Type(DataType::Long)).unwrap();
    let schema = change.metadata.schema().unwrap();
    assert_eq!(schema.fields[0].data_type, DataType::Long);
    assert_eq!(
        schema.fields[0].metadata["delta.typeChanges"].to_string(),
        r#"[{"toType":"long","fromType":"integer"}]"#
    );
    assert_eq!(
        parameter(&change, "column"),
        r#"{"name":"id","type":"long","nullable":false,"metadata":{}}"#
    );
    assert!(change_column(&open, &path("id"), &ColumnChange::Type(DataType::String)).is_err());
}

#[test]
fn widening_never_loses_a_value() {
    let decimal = DataType::decimal;
    for (from, to) in [
        (DataType::Byte, DataType::Long),
        (DataType::Float, DataType::Double),
        (DataType::Integer, DataType::Double),
        (DataType::Date, DataType::TimestampNtz),
        (DataType::Integer, decimal(10, 0)),
        (decimal(5, 2), decimal(7, 4)),
    ] {
        assert!(is_widening(&from, &to), "{from:?} to {to:?}");
    }
    for (from, to) in [
        (DataType::Long, DataType::Integer),
        (DataType::Long, DataType::Double),
        (DataType::Integer, decimal(9, 0)),
        (decimal(5, 2), decimal(6, 4)),
        (decimal(5, 2), decimal(5, 2)),
        (DataType::String, DataType::Integer),
    ] {
        assert!(!is_widening(&from, &to), "{from:?} to {to:?}");
    }
}

#[test]
fn dropping_and_renaming_need_column_mapping() {
    let advice = "\nPlease enable Column Mapping on your Delta table with mapping mode 'name'.\nYou can use one of the following \
                  commands.\n\nALTER TABLE table_name SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')\n\nNote, if your \
                  table is not on the required protocol version it will be upgraded.\nColumn mapping requires at least protocol \
                  (2, 5)\n";
    let dropped = drop_columns(&state(&[]), &[path("l")], false).unwrap_err();
    assert_eq!(
        dropped.text(),
        format!("DROP COLUMN is not supported for your Delta table. {advice}")
    );
    let renamed = rename_column(&state(&[]), &path("l"), "m").unwrap_err();
    assert_eq!(
        renamed.text(),
        format!("Column rename is not supported for your Delta table. {advice}")
    );
}

#[test]
fn columns_with_a_role_are_not_dropped() {
    let class = |state: &TableState, dotted: &str| {
        drop_columns(state, &[path(dotted)], false)
            .unwrap_err()
            .class()
            .map(ToString::to_string)
    };
    assert_eq!(
        class(&mapped(), "P").as_deref(),
        Some("DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN")
    );
    assert_eq!(
        class(&mapped(), "s").as_deref(),
        Some("DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN")
    );
    assert_eq!(
        class(&mapped(), "l.element.x").as_deref(),
        Some("DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA")
    );
    let mut constrained = mapped();
    constrained.metadata.configuration.insert(
        "delta.constraints.c".to_string(),
        "`ID` > 0 AND p <> 'l'".to_string(),
    );
    assert_eq!(
        class(&constrained, "id").as_deref(),
        Some("DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE")
    );
    let change = drop_columns(&constrained, &[path("l")], false)
        .unwrap()
        .unwrap();
    assert_eq!(parameter(&change, "columns"), r#"["l"]"#);
}

#[test]
fn dropping_what_is_not_there_may_be_allowed() {
    assert!(
        drop_columns(&mapped(), &[path("nothing")], true)
            .unwrap()
            .is_none()
    );
    assert!(drop_columns(&mapped(), &[path("nothing")], false).is_err());
}

#[test]
fn a_renamed_partition_column_keeps_its_name_in_files() {
    let change = rename_column(&mapped(), &path("P"), "q").unwrap();
    assert_eq!(change.metadata.partition_columns, ["q"]);
    assert_eq!(
        change
            .metadata
            .schema()
            .unwrap()
            .field("q")
            .unwrap()
            .physical_name(),
        "p"
    );
    assert_eq!(
        (
            parameter(&change, "oldColumnPath"),
            parameter(&change, "newColumnPath")
        ),
        ("P", "q")
    );
    assert!(rename_column(&mapped(), &path("p"), "ID").is_err());
    assert!(rename_column(&mapped(), &path("p"), "P").is_ok());
}

#[test]
fn constraints_come_and_go_with_their_text() {
    use crate::constraints::{add_constraint, drop_constraint};
    let added = add_constraint(&state(&[]), "Positive", "amount > 0").unwrap();
    assert_eq!(
        added.metadata.configuration["delta.constraints.positive"],
        "amount > 0"
    );
    assert_eq!(added.protocol, Some(Protocol::legacy(1, 3)));
    let with = state(&[("delta.constraints.positive", "amount > 0")]);
    assert_eq!(
        add_constraint(&with, "positive", "x").unwrap_err().class(),
        Some("DELTA_CONSTRAINT_ALREADY_EXISTS")
    );
    let dropped = drop_constraint(&with, "positive", false, "`default`.`t`").unwrap();
    assert_eq!(
        (parameter(&dropped, "expr"), parameter(&dropped, "existed")),
        ("amount > 0", "true")
    );
    let error = drop_constraint(&with, "nothing", false, "`default`.`t`").unwrap_err();
    assert_eq!(
        error.to_string(),
        "[DELTA_CONSTRAINT_DOES_NOT_EXIST] Cannot drop nonexistent constraint nothing from table `default`.`t`. To avoid \
         throwing an error, provide the parameter IF EXISTS or set the SQL session configuration \
         spark.databricks.delta.constraints.assumesDropIfExists.enabled to true."
    );
    assert_eq!(
        parameter(
            &drop_constraint(&with, "nothing", true, "t").unwrap(),
            "existed"
        ),
        "false"
    );
}

#[test]
fn a_new_column_must_be_nullable_through_and_through() {
    let strict = NewColumn {
        nullable: false,
        ..column("n", DataType::Long, None)
    };
    let inner = DataType::structure([StructField::new("x", DataType::Long, false)]);
    for column in [strict, column("n", inner, None)] {
        let error = add_columns(&state(&[]), &[column], &fresh).unwrap_err();
        assert_eq!(
            error.to_string(),
            "[DELTA_OPERATION_NOT_ALLOWED] Operation not allowed: `NOT NULL in ALTER TABLE ADD COLUMNS` is not supported for \
             Delta tables"
        );
    }
}
