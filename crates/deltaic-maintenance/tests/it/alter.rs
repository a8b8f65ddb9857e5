//! Columns, properties and comments on a table in memory.

use deltaic_command::{ColumnChange, NewColumn};
use deltaic_maintenance::alter::{self, TableChange, TableState};
use deltaic_maintenance::{detail, properties};
use deltaic_protocol::error::Result;
use deltaic_protocol::properties::PropertyRules;
use deltaic_protocol::schema::{DataType, Lengths};

use crate::kit::Kit;

async fn apply(kit: &Kit, change: impl FnOnce(&TableState) -> Result<TableChange>) -> Result<i64> {
    let snapshot = kit.snapshot().await;
    let change = change(&TableState::of(&snapshot))?;
    Ok(alter::commit(&snapshot, change, &kit.context)
        .await?
        .version)
}

fn set(key: &str, value: &str) -> impl FnOnce(&TableState) -> Result<TableChange> {
    let properties = vec![(key.to_string(), value.to_string())];
    move |state| properties::set(state, &properties, &PropertyRules::default())
}

fn column(path: &[&str], data_type: DataType) -> NewColumn {
    let path = path.iter().map(ToString::to_string).collect();
    NewColumn {
        path,
        data_type,
        lengths: Lengths::Any,
        nullable: true,
        comment: None,
        position: None,
    }
}

fn path(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn columns_are_added_renamed_and_dropped() {
    let kit = Kit::new(true, &[]).await;
    let fresh = || "fresh".to_string();
    apply(&kit, |state| {
        alter::add_columns(state, &[column(&["a"], DataType::Long)], &fresh)
    })
    .await
    .unwrap();
    let error = apply(&kit, |state| {
        alter::rename_column(state, &path(&["a"]), "b")
    })
    .await
    .unwrap_err();
    assert_eq!(error.class(), Some("DELTA_UNSUPPORTED_RENAME_COLUMN"));
    apply(&kit, set("delta.columnMapping.mode", "name"))
        .await
        .unwrap();
    apply(&kit, |state| {
        alter::add_columns(state, &[column(&["n w"], DataType::Long)], &fresh)
    })
    .await
    .unwrap();
    apply(&kit, |state| {
        alter::rename_column(state, &path(&["A"]), "b")
    })
    .await
    .unwrap();
    apply(&kit, |state| {
        alter::rename_column(state, &path(&["p"]), "q")
    })
    .await
    .unwrap();
    apply(&kit, |state| {
        Ok(alter::drop_columns(state, &[path(&["id"])], false)?.unwrap())
    })
    .await
    .unwrap();

    let snapshot = kit.snapshot().await;
    let names: Vec<_> = snapshot
        .schema()
        .fields
        .iter()
        .map(|field| (field.name.as_str(), field.physical_name()))
        .collect();
    assert_eq!(names, [("q", "p"), ("b", "a"), ("n w", "col-fresh")]);
    assert_eq!(snapshot.partition_columns(), ["q"]);
    assert_eq!(
        snapshot.metadata().configuration["delta.columnMapping.maxColumnId"],
        "4"
    );
    assert!(snapshot.protocol().supports("columnMapping"));
}

#[tokio::test]
async fn a_column_gets_a_comment_and_the_history_tells() {
    let kit = Kit::new(false, &[]).await;
    let version = apply(&kit, |state| {
        alter::change_column(
            state,
            &path(&["ID"]),
            &ColumnChange::Comment("the key".to_string()),
        )
    })
    .await
    .unwrap();
    let rows = deltaic_maintenance::history::rows(&kit.snapshot().await, Some(1))
        .await
        .unwrap();
    assert_eq!(
        (rows[0].version, rows[0].operation.as_deref()),
        (version, Some("CHANGE COLUMN"))
    );
    assert_eq!(
        rows[0].operation_parameters.clone().unwrap(),
        [(
            "column".to_string(),
            Some(
                r#"{"name":"id","type":"long","nullable":true,"metadata":{"comment":"the key"}}"#
                    .to_string()
            )
        )]
    );
    assert_eq!(rows[0].is_blind_append, Some(true));
}

#[tokio::test]
async fn detail_tells_files_features_and_properties() {
    let mut kit = Kit::new(true, &[("my.own", "1")]).await;
    kit.append(&[Some("a"), Some("b")]).await;
    let report = detail::report(
        &kit.snapshot().await,
        Some("spark_catalog.default.t".to_string()),
    )
    .await
    .unwrap();
    assert_eq!(
        (report.num_files, report.size_in_bytes),
        (Some(2), Some(44))
    );
    assert_eq!(report.location, "memory:/w/t");
    assert_eq!(report.partition_columns, ["p"]);
    assert_eq!(report.properties, [("my.own".to_string(), "1".to_string())]);
    assert_eq!(
        report.table_features,
        ["appendOnly", "deletionVectors", "invariants"]
    );
    assert_eq!(report.last_modified_ms, Some(kit.now()));
}
