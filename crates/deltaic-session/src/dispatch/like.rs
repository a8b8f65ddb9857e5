//! CREATE TABLE LIKE: a table of the shape of another one. A Delta table gives a Delta table its columns with all that they
//! are defined by, its partitioning, properties with the constraints among them, comment and table features.

use deltaic_log::Snapshot;
use deltaic_maintenance::identity;
use deltaic_protocol::error::Result;
use deltaic_protocol::feature::TableFeature;
use deltaic_protocol::properties::{canonical_key, key};
use deltaic_protocol::schema::{StructType, metadata};
use deltaic_sql::Name;

use crate::catalog::Provider;
use crate::context::Context;
use crate::resolve::{self, Target};

use super::new_table::NewTable;
use super::show;

/// Properties that speak of one table's files and history.
const OF_ONE_TABLE: &[&str] = &[
    key::COLUMN_MAPPING_MAX_ID,
    key::ROW_TRACKING_ID_COLUMN,
    key::ROW_TRACKING_COMMIT_VERSION_COLUMN,
    key::IN_COMMIT_TIMESTAMP_ENABLEMENT_VERSION,
    key::IN_COMMIT_TIMESTAMP_ENABLEMENT_TIMESTAMP,
    key::REQUIRE_CHECKPOINT_PROTECTION_BEFORE_VERSION,
];

/// Features that go with them, with clustering columns, which the new table has none of, or with who commits.
const FEATURES_OF_ONE_TABLE: &[&str] = &[
    "catalogManaged",
    "checkpointProtection",
    "clustering",
    "coordinatedCommits-preview",
];

/// Reads the table that the new one is to be like. `named` says whether the statement names a format.
pub(super) async fn describe(
    cx: &Context,
    source: &Name,
    named: bool,
    new: &mut NewTable,
) -> Result<()> {
    let (target, _) = resolve::target(cx, source).await?;
    match &target {
        Target::Delta(table) => {
            let snapshot = table.snapshot(cx).await?;
            new.partition_by = snapshot.partition_columns().to_vec();
            new.schema = Some(identity::without_marks(&without_mapping(snapshot.schema())));
            if !named {
                new.provider = Provider::Delta;
            }
            if new.provider == Provider::Delta {
                copy_definition(&snapshot, new);
            }
        }
        Target::Parquet(_) | Target::View(_) => {
            new.schema = Some(show::schema_of(cx, &target).await?);
        }
    }
    if new.provider == Provider::Parquet {
        for field in new.schema.iter_mut().flat_map(|schema| &mut schema.fields) {
            let plain =
                |key: &String| key == metadata::COMMENT || key == metadata::CHAR_VARCHAR_TYPE;
            field.metadata.retain(|key, _| plain(key));
        }
    }
    if let Target::Parquet(table) = &target
        && let Some(record) = &table.record
    {
        new.partition_by = record.partition_columns.clone();
    }
    Ok(())
}

/// What the statement says goes before what the source has.
fn copy_definition(source: &Snapshot, new: &mut NewTable) {
    let defined = source.metadata();
    let given: Vec<String> = new
        .properties
        .iter()
        .map(|(key, _)| canonical_key(key).to_lowercase())
        .collect();
    let copied = defined.configuration.iter().filter(|(key, _)| {
        !OF_ONE_TABLE.contains(&key.as_str())
            && !key.starts_with("delta.coordinatedCommits.")
            && !given.contains(&key.to_lowercase())
    });
    let copied = copied.map(|(key, value)| (key.clone(), value.clone()));
    new.properties.splice(0..0, copied);
    if new.comment.is_none() {
        new.comment = defined.description.clone();
    }
    let features = source.protocol().writer_features.iter().flatten();
    new.features = features
        .filter(|name| !FEATURES_OF_ONE_TABLE.contains(&name.as_str()))
        .filter_map(|name| TableFeature::find(name))
        .collect();
}

/// A schema whose columns carry no ids of another table.
fn without_mapping(schema: &StructType) -> StructType {
    StructType::new(schema.fields.iter().map(|field| {
        let mut field = field.clone();
        field
            .metadata
            .retain(|key, _| !key.starts_with("delta.columnMapping."));
        field
    }))
}
