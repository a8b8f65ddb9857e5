//! Clustered tables: the columns by which OPTIMIZE lays rows out (protocol section "Clustered Table").

use std::collections::BTreeSet;

use deltaic_log::{CommitContext, CommitResult, Operation, Snapshot, Transaction};
use deltaic_protocol::action::DomainMetadata;
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::feature::{ProtocolUpgrade, TableFeature, upgraded_protocol};
use deltaic_protocol::schema::{DataType, StructField, StructType, quote_if_needed};
use deltaic_protocol::statistics::{StatisticsColumns, has_bounds};
use serde_json::json;

/// The table feature.
pub const FEATURE: &str = "clustering";
/// The domain that names the columns.
const DOMAIN: &str = "delta.clustering";

/// A clustering column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusteringColumn {
    /// Its names from the top, as the schema spells them.
    pub names: Vec<String>,
    /// Its names in files.
    pub physical: Vec<String>,
}

impl ClusteringColumn {
    /// As an identifier: `s.c`.
    pub fn identifier(&self) -> String {
        let names: Vec<String> = self
            .names
            .iter()
            .map(|name| quote_if_needed(name))
            .collect();
        names.join(".")
    }
}

/// Which statement asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// CREATE or REPLACE TABLE.
    Create,
    /// ALTER TABLE.
    Alter,
}

/// The columns of a CLUSTER BY clause. `config` tells which columns have statistics, `limit` how many there may be.
///
/// # Errors
/// Unknown columns, one column twice, too many, a type without an order, columns without statistics.
pub fn resolve(
    columns: &[Vec<String>],
    schema: &StructType,
    config: &TableConfig,
    limit: usize,
    asked: Asked,
) -> Result<Vec<ClusteringColumn>> {
    let mut out: Vec<ClusteringColumn> = Vec::new();
    let mut types = Vec::new();
    for path in columns {
        let (column, field) = find(schema, path).ok_or_else(|| unknown(path, schema, asked))?;
        if out.iter().any(|known| known.names == column.names) {
            return Err(twice(&column, asked));
        }
        types.push(field.data_type.clone());
        out.push(column);
    }
    if out.len() > limit {
        return Err(DeltaError::new("DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS")
            .param("numColumnsLimit", limit)
            .param("actualNumColumns", out.len()));
    }
    let unordered: Vec<String> = out
        .iter()
        .zip(&types)
        .filter(|(_, data_type)| {
            !matches!(data_type, DataType::Struct(_)) && !has_bounds(data_type)
        })
        .map(|(column, data_type)| format!("{} : {}", column.identifier(), data_type.sql()))
        .collect();
    if !unordered.is_empty() {
        return Err(
            DeltaError::new("DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED")
                .param("columnsWithDataTypes", unordered.join(", ")),
        );
    }
    check_statistics(&out, schema, config)?;
    Ok(out)
}

fn check_statistics(
    columns: &[ClusteringColumn],
    schema: &StructType,
    config: &TableConfig,
) -> Result<()> {
    let chosen: BTreeSet<Vec<String>> = StatisticsColumns::new(config)?
        .select(schema, &[])
        .iter()
        .map(|leaf| leaf.names().into_iter().map(str::to_owned).collect())
        .collect();
    let missing: Vec<String> = columns
        .iter()
        .filter(|column| !chosen.contains(&column.names))
        .map(ClusteringColumn::identifier)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(DeltaError::new("DELTA_CLUSTERING_COLUMN_MISSING_STATS")
        .param("columns", missing.join(", "))
        .param(
            "schema",
            only(schema, &mut Vec::new(), &chosen).tree_string(),
        ))
}

/// The schema with the chosen leaves alone.
fn only(
    schema: &StructType,
    above: &mut Vec<String>,
    chosen: &BTreeSet<Vec<String>>,
) -> StructType {
    let mut fields = Vec::new();
    for field in schema {
        above.push(field.name.clone());
        match &field.data_type {
            DataType::Struct(inner) => {
                let inner = only(inner, above, chosen);
                if !inner.is_empty() {
                    fields.push(StructField {
                        data_type: DataType::Struct(inner),
                        ..field.clone()
                    });
                }
            }
            _ if chosen.contains(above.as_slice()) => fields.push(field.clone()),
            _ => {}
        }
        above.pop();
    }
    StructType::new(fields)
}

fn find<'a>(
    schema: &'a StructType,
    path: &[String],
) -> Option<(ClusteringColumn, &'a StructField)> {
    let mut fields = schema;
    let mut column = ClusteringColumn {
        names: Vec::new(),
        physical: Vec::new(),
    };
    let (last, parents) = path.split_last()?;
    for name in parents {
        let field = fields.field(name)?;
        column.names.push(field.name.clone());
        column.physical.push(field.physical_name().to_owned());
        match &field.data_type {
            DataType::Struct(inner) => fields = inner,
            _ => return None,
        }
    }
    let field = fields.field(last)?;
    column.names.push(field.name.clone());
    column.physical.push(field.physical_name().to_owned());
    Some((column, field))
}

fn unknown(path: &[String], schema: &StructType, asked: Asked) -> DeltaError {
    let name = path.join(".");
    match asked {
        Asked::Create => DeltaError::new("_LEGACY_ERROR_TEMP_3060")
            .param("i", name)
            .param("schema", schema.tree_string()),
        Asked::Alter => DeltaError::new("DELTA_COLUMN_NOT_FOUND_IN_SCHEMA")
            .param("columnName", name)
            .param("tableSchema", schema.tree_string()),
    }
}

fn twice(column: &ClusteringColumn, asked: Asked) -> DeltaError {
    match asked {
        Asked::Create => DeltaError::new("COLUMN_ALREADY_EXISTS").param(
            "columnName",
            format!("`{}`", column.names.join(".").to_lowercase()),
        ),
        Asked::Alter => DeltaError::new("DELTA_DUPLICATE_COLUMNS_FOUND.CLUSTER_BY")
            .param("duplicateCols", column.identifier()),
    }
}

/// The domain for these columns.
pub fn domain(columns: &[ClusteringColumn]) -> DomainMetadata {
    let physical: Vec<&Vec<String>> = columns.iter().map(|column| &column.physical).collect();
    DomainMetadata {
        domain: DOMAIN.to_owned(),
        configuration: json!({"clusteringColumns": physical, "domainName": DOMAIN}).to_string(),
        removed: false,
    }
}

/// The domain of a table that is replaced by one with these columns; none where neither is clustered.
pub fn replaced_domain(
    existing: Option<&Snapshot>,
    columns: Option<&[ClusteringColumn]>,
) -> Option<DomainMetadata> {
    let was_clustered = existing.is_some_and(|snapshot| snapshot.domain(DOMAIN).is_some());
    match columns {
        Some(columns) => Some(domain(columns)),
        None => was_clustered.then(|| domain(&[])),
    }
}

/// The columns by which a table is clustered, logical names from the top.
pub fn columns(snapshot: &Snapshot) -> Vec<Vec<String>> {
    let physical = snapshot.clustering_columns().unwrap_or_default();
    let leaves = snapshot.schema().leaves();
    physical
        .iter()
        .filter_map(|path| {
            let leaf = leaves.iter().find(|leaf| leaf.physical_names() == *path)?;
            Some(leaf.names().into_iter().map(str::to_owned).collect())
        })
        .collect()
}

/// ALTER TABLE … CLUSTER BY; no columns for `NONE`, which does nothing to a table that is not clustered.
///
/// # Errors
/// A partitioned table, those of [`resolve`], conflicts with other writers.
pub async fn alter(
    snapshot: &Snapshot,
    wanted: &[Vec<String>],
    limit: usize,
    context: &CommitContext,
) -> Result<Option<CommitResult>> {
    if !snapshot.partition_columns().is_empty() {
        return Err(DeltaError::new(
            "DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED",
        ));
    }
    let clustered = snapshot.protocol().supports(FEATURE);
    if wanted.is_empty() && !clustered {
        return Ok(None);
    }
    let new = resolve(
        wanted,
        snapshot.schema(),
        snapshot.config(),
        limit,
        Asked::Alter,
    )?;
    let names: Vec<String> = new.iter().map(ClusteringColumn::identifier).collect();
    let operation = Operation::new("CLUSTER BY")
        .text_parameter(
            "oldClusteringColumns",
            crate::facts::clustering_columns(snapshot).join(","),
        )
        .text_parameter("newClusteringColumns", names.join(","));
    let mut transaction = Transaction::begin(snapshot, operation);
    if !clustered {
        let metadata = snapshot.metadata().as_ref().clone();
        let upgrade = ProtocolUpgrade {
            features: TableFeature::find(FEATURE).into_iter().collect(),
            ..ProtocolUpgrade::default()
        };
        if let Some(protocol) = upgraded_protocol(snapshot.protocol(), &metadata, &upgrade)? {
            transaction.set_protocol(protocol);
        }
        transaction.set_metadata(metadata);
    }
    transaction.domain(domain(&new));
    transaction.commit(context).await?.into_result().map(Some)
}
