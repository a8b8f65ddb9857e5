//! Properties and comments of tables: ALTER TABLE SET/UNSET TBLPROPERTIES, COMMENT ON TABLE.

use deltaic_command::Profile;
use deltaic_log::Snapshot;
use deltaic_maintenance::alter::{self, TableChange, TableState, mapping};
use deltaic_maintenance::{properties, row_tracking};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::{PropertyRules, canonical_key, key};
use deltaic_sql::Name;

use crate::catalog::{CatalogObject, TableRecord};
use crate::context::Context;
use crate::errors;
use crate::resolve::{self, DeltaTable, Target};
use crate::result::SqlResult;

use super::{definitions, features, nested_not_null};

/// What the session allows among properties.
pub(super) fn rules(cx: &Context) -> PropertyRules {
    PropertyRules {
        allow_arbitrary: cx.conf.delta("allowArbitraryProperties.enabled"),
        enforce_retentions: cx.profile() != Profile::Delta40
            && cx
                .conf
                .delta("vacuum.enforceDeletedFileAndLogRetentionDurationCompatibility"),
    }
}

/// How many columns a table may be clustered by.
pub(super) fn max_clustering_columns(cx: &Context) -> usize {
    cx.conf
        .get("spark.databricks.delta.clusteredTable.numClusteringColumnsLimit")
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(4)
}

/// `ALTER TABLE … SET TBLPROPERTIES`.
pub(super) async fn set(
    cx: &Context,
    target: Target,
    pairs: &[(String, String)],
) -> Result<SqlResult> {
    match target {
        Target::Delta(table) => set_in_delta(cx, &table, pairs).await,
        Target::Parquet(table) => update_record(cx, table.record, |record| {
            for (key, value) in pairs {
                match key.as_str() {
                    "comment" => record.comment = Some(value.clone()),
                    _ => {
                        record.properties.insert(key.clone(), value.clone());
                    }
                }
            }
        }),
        Target::View(view) => Err(errors::alter_table_on_view(
            &resolve::view_qualifier(&view),
            "ALTER TABLE ... SET TBLPROPERTIES",
        )),
    }
}

async fn set_in_delta(
    cx: &Context,
    table: &DeltaTable,
    pairs: &[(String, String)],
) -> Result<SqlResult> {
    let clustering = |key: &str| key.eq_ignore_ascii_case("delta.feature.clustering");
    if pairs.iter().any(|(key, _)| clustering(key)) {
        return Err(
            DeltaError::new("DELTA_ALTER_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED")
                .param("tableFeature", "clustering"),
        );
    }
    let rules = rules(cx);
    let mut snapshot = table.snapshot(cx).await?;
    let context = cx.commit_context(Some(table.display()));
    let is_mode = |pair: &&(String, String)| canonical_key(&pair.0) == key::COLUMN_MAPPING_MODE;
    let gives_up = pairs
        .iter()
        .rfind(is_mode)
        .is_some_and(|(_, mode)| mode.eq_ignore_ascii_case("none"));
    if gives_up && may_give_up_mapping(cx, &snapshot) {
        let others: Vec<_> = pairs
            .iter()
            .filter(|pair| !is_mode(pair))
            .cloned()
            .collect();
        // What is wrong with the others is told before any file is written.
        properties::set(&TableState::of(&snapshot), &others, &rules)?;
        snapshot = features::give_up_mapping(cx, &snapshot, &context, true).await?;
        if others.is_empty() {
            return Ok(SqlResult::empty());
        }
    }
    let mut state = TableState::of(&snapshot);
    let mut decided = properties::set(&state, pairs, &rules)?;
    if row_tracking::switches_on(&state, &decided) {
        let mut done = Vec::new();
        let prepared =
            row_tracking::prepare(&snapshot, features::backfill_files(cx), &context, &mut done)
                .await;
        // What was done stands, also where something stood in the way of the rest.
        for result in &done {
            cx.committed(result);
        }
        snapshot = prepared?;
        state = TableState::of(&snapshot);
        decided = properties::set(&state, pairs, &rules)?;
        let fresh = || uuid::Uuid::new_v4().to_string();
        row_tracking::complete(&mut decided, pairs.len(), &fresh);
    }
    let result = alter::commit(&snapshot, decided, &context).await?;
    cx.committed(&result);
    Ok(SqlResult::empty())
}

/// Whether the table maps its columns and the session lets a statement give that up.
fn may_give_up_mapping(cx: &Context, snapshot: &Snapshot) -> bool {
    mapping::is_enabled(&snapshot.metadata().configuration)
        && cx.conf.delta("columnMapping.allowRemoval")
}

async fn unset_in_delta(cx: &Context, table: &DeltaTable, keys: &[String]) -> Result<SqlResult> {
    let mut snapshot = table.snapshot(cx).await?;
    let context = cx.commit_context(Some(table.display()));
    let is_mode = |key: &String| canonical_key(key) == key::COLUMN_MAPPING_MODE;
    if keys.iter().any(is_mode) && may_give_up_mapping(cx, &snapshot) {
        snapshot = features::give_up_mapping(cx, &snapshot, &context, false).await?;
        if keys.iter().all(is_mode) {
            return Ok(SqlResult::empty());
        }
    }
    let decided = properties::unset(&TableState::of(&snapshot), keys)?;
    let result = alter::commit(&snapshot, decided, &context).await?;
    cx.committed(&result);
    Ok(SqlResult::empty())
}

/// `ALTER TABLE … UNSET TBLPROPERTIES`.
pub(super) async fn unset(cx: &Context, target: Target, keys: &[String]) -> Result<SqlResult> {
    match target {
        Target::Delta(table) => unset_in_delta(cx, &table, keys).await,
        Target::Parquet(table) => update_record(cx, table.record, |record| {
            for key in keys {
                record.properties.remove(key);
            }
        }),
        Target::View(view) => Err(errors::alter_table_on_view(
            &resolve::view_qualifier(&view),
            "ALTER TABLE ... UNSET TBLPROPERTIES",
        )),
    }
}

/// `COMMENT ON TABLE`.
pub(super) async fn comment_on_table(
    cx: &Context,
    name: &Name,
    comment: Option<&str>,
) -> Result<SqlResult> {
    match resolve::target(cx, name).await?.0 {
        Target::Delta(table) => {
            change(cx, &table, |state| {
                Ok(properties::set_comment(state, comment))
            })
            .await
        }
        Target::Parquet(table) => update_record(cx, table.record, |record| {
            record.comment = comment.map(str::to_owned)
        }),
        Target::View(view) => Err(errors::view_not_table(
            &resolve::view_qualifier(&view),
            "COMMENT ON TABLE",
        )),
    }
}

/// Decides a change on the newest version of a Delta table and commits it.
pub(super) async fn change(
    cx: &Context,
    table: &DeltaTable,
    decide: impl FnOnce(&TableState) -> Result<TableChange>,
) -> Result<SqlResult> {
    let snapshot = table.snapshot(cx).await?;
    let mut decided = decide(&TableState::of(&snapshot))?;
    if decided.metadata.schema_string != snapshot.metadata().schema_string {
        let schema = decided.metadata.schema()?;
        let schema = nested_not_null::checked(schema, nested_not_null::allowed(cx))?;
        definitions::generated(cx, &schema, Some(snapshot.schema())).await?;
        decided.metadata.schema_string = schema.to_json();
    }
    let result = alter::commit(
        &snapshot,
        decided,
        &cx.commit_context(Some(table.display())),
    )
    .await?;
    cx.committed(&result);
    Ok(SqlResult::empty())
}

/// Changes what the catalog keeps of a table.
pub(super) fn update_record(
    cx: &Context,
    record: Option<TableRecord>,
    edit: impl FnOnce(&mut TableRecord),
) -> Result<SqlResult> {
    let Some(mut record) = record else {
        return Err(DeltaError::not_supported_yet(
            "Changing a table by path that is not a Delta table",
        ));
    };
    edit(&mut record);
    cx.catalog().put_object(&CatalogObject::Table(record))?;
    Ok(SqlResult::empty())
}
