//! What must hold before a table is made: a schema that a table can have, and, where a table stands at the place
//! already, that the statement does not contradict it.

use std::collections::{BTreeMap, BTreeSet};

use deltaic_log::Snapshot;
use deltaic_maintenance::clustering;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::PropertyChanges;
use deltaic_protocol::schema::{DataType, StructType, schema_differences};

use crate::catalog::Provider;
use crate::context::Context;

use super::new_table::NewTable;
use super::properties;

/// The columns of a new table; none were named where this is empty.
pub(super) fn writable_schema(new: &NewTable) -> Result<StructType> {
    let schema = new.schema.clone().unwrap_or_default();
    if new.schema.is_some() {
        names(&schema, &new.partition_by)?;
    }
    if new.provider == Provider::Delta {
        storable(&schema)?;
        deltaic_maintenance::identity::check_partitions(&schema, &new.partition_by)?;
    }
    for field in &schema.fields {
        if field.data_type == DataType::Void && new.input.is_some() {
            return Err(
                DeltaError::new("UNSUPPORTED_FEATURE.TABLE_OPERATION").with_text(format!(
                    "Column {} has no type; cast the NULL in the query to one",
                    field.name
                )),
            );
        }
    }
    Ok(schema)
}

/// Types that Delta tables do not store.
pub(super) fn storable(schema: &StructType) -> Result<()> {
    let mut found = Vec::new();
    for field in &schema.fields {
        unstorable(&field.name, &field.data_type, &mut found);
    }
    if found.is_empty() {
        return Ok(());
    }
    Err(DeltaError::new("DELTA_UNSUPPORTED_DATA_TYPES")
        .param("dataTypeList", found.join(", "))
        .param("config", "spark.databricks.delta.schema.typeCheck.enabled"))
}

fn unstorable(path: &str, data_type: &DataType, found: &mut Vec<String>) {
    match data_type {
        DataType::DayTimeInterval { .. } | DataType::YearMonthInterval { .. } => {
            found.push(format!("[{path}: {}]", data_type.sql()));
        }
        DataType::Struct(inner) => {
            for field in &inner.fields {
                unstorable(&format!("{path}.{}", field.name), &field.data_type, found);
            }
        }
        DataType::Array(inner) => {
            unstorable(&format!("{path}.element"), &inner.element_type, found);
        }
        DataType::Map(inner) => {
            unstorable(&format!("{path}.key"), &inner.key_type, found);
            unstorable(&format!("{path}.value"), &inner.value_type, found);
        }
        _ => {}
    }
}

/// Names of columns differ by more than case, and partition columns are some of them, not all.
fn names(schema: &StructType, partition_by: &[String]) -> Result<()> {
    let mut seen = BTreeSet::new();
    for field in &schema.fields {
        let name = field.name.to_lowercase();
        if seen.contains(&name) {
            return Err(DeltaError::new("COLUMN_ALREADY_EXISTS")
                .param("columnName", crate::errors::quoted(&[&name])));
        }
        seen.insert(name);
    }
    for name in partition_by {
        if !seen.contains(&name.to_lowercase()) {
            return Err(DeltaError::new("_LEGACY_ERROR_TEMP_3060")
                .param("i", name)
                .param("schema", schema.tree_string()));
        }
    }
    if !partition_by.is_empty() && partition_by.len() == schema.fields.len() {
        return Err(DeltaError::new("ALL_PARTITION_COLUMNS_NOT_ALLOWED"));
    }
    Ok(())
}

/// Column defaults need their table feature, and the statement has to name it.
pub(super) fn defaults(
    new: &NewTable,
    schema: &StructType,
    existing: Option<&Snapshot>,
) -> Result<()> {
    const FEATURE: &str = "allowColumnDefaults";
    let named = new
        .properties
        .iter()
        .any(|(key, _)| key.eq_ignore_ascii_case(&format!("delta.feature.{FEATURE}")))
        || new.features.iter().any(|feature| feature.name == FEATURE);
    let there = existing.is_some_and(|found| found.protocol().supports(FEATURE));
    let wanted = schema
        .fields
        .iter()
        .any(|field| field.current_default().is_some());
    if wanted && !named && !there {
        return Err(
            DeltaError::new("WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED")
                .param("commandType", "CREATE TABLE"),
        );
    }
    Ok(())
}

/// A table is clustered by CLUSTER BY, not by its properties.
pub(super) fn no_clustering_feature(new: &NewTable) -> Result<()> {
    let named = |key: &str| key.eq_ignore_ascii_case("delta.feature.clustering");
    if new.properties.iter().any(|(key, _)| named(key)) {
        return Err(
            DeltaError::new("DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED")
                .param("tableFeature", clustering::FEATURE),
        );
    }
    Ok(())
}

/// The place holds something, so no table can begin there.
pub(super) fn not_empty(new: &NewTable) -> DeltaError {
    DeltaError::new("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION")
        .param("tableId", table_id(new))
        .param("tableLocation", new.store.root())
        .with_path(new.store.root().to_string())
}

/// A table is at the place already, and the statement brings rows of its own. One that names the table by its path means that
/// very table; another finds no empty place for a new one.
pub(super) fn taken(new: &NewTable) -> DeltaError {
    match &new.name {
        None if new.input.is_some() => {
            crate::errors::already_exists("delta", new.location.as_deref().unwrap_or_default())
        }
        _ => not_empty(new),
    }
}

/// `` `schema`.`table` `` as Spark prints a table identifier.
fn table_id(new: &NewTable) -> String {
    match &new.name {
        Some(name) => crate::errors::quoted(&[&name.schema, &name.name]),
        None => new.display.clone(),
    }
}

/// Columns, partitioning and properties, where the statement names them, must be those of the table that is there.
pub(super) fn matches_existing(cx: &Context, new: &NewTable, existing: &Snapshot) -> Result<()> {
    let path = existing.store().root().to_string();
    if let Some(schema) = &new.schema
        && !schema.fields.is_empty()
    {
        let differences = schema_differences(existing.schema(), schema);
        if !differences.is_empty() {
            return Err(DeltaError::new("DELTA_CREATE_TABLE_SCHEME_MISMATCH")
                .param("path", &path)
                .param("specifiedSchema", schema.tree_string())
                .param("existingSchema", existing.schema().tree_string())
                .param("schemaDifferences", differences.join("\n"))
                .with_path(&path));
        }
        let lower = |names: &[String]| {
            names
                .iter()
                .map(|name| name.to_lowercase())
                .collect::<Vec<_>>()
        };
        if lower(&new.partition_by) != lower(existing.partition_columns()) {
            return Err(
                DeltaError::new("DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING")
                    .param("path", &path)
                    .param("specifiedColumns", new.partition_by.join(", "))
                    .param("existingColumns", existing.partition_columns().join(", "))
                    .with_path(&path),
            );
        }
    }
    if let Some(wanted) = &new.cluster_by {
        let found = clustering::columns(existing);
        let lower = |columns: &[Vec<String>]| {
            let names = columns.iter().map(|path| path.join(".").to_lowercase());
            names.collect::<Vec<_>>()
        };
        if lower(wanted) != lower(&found) {
            let shown = |columns: &[Vec<String>]| {
                let names = columns.iter().map(|path| path.join("."));
                names.collect::<Vec<_>>().join(", ")
            };
            return Err(
                DeltaError::new("DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING")
                    .param("path", &path)
                    .param("specifiedColumns", shown(wanted))
                    .param("existingColumns", shown(&found))
                    .with_path(&path),
            );
        }
    }
    if !new.properties.is_empty() {
        let given = new
            .properties
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()));
        let changes = PropertyChanges::for_create([], given, &properties::rules(cx))?;
        let stored = &existing.metadata().configuration;
        if &changes.stored != stored {
            return Err(
                DeltaError::new("DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY")
                    .param("path", &path)
                    .param("specifiedProperties", lines(&changes.stored))
                    .param("existingProperties", lines(stored))
                    .with_path(&path),
            );
        }
    }
    Ok(())
}

fn lines(properties: &BTreeMap<String, String>) -> String {
    let lines: Vec<String> = properties
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    lines.join("\n")
}
