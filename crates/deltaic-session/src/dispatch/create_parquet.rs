//! Tables of Parquet files without a log: making one, and INSERT.

use deltaic_datafusion::{ParquetTable as Files, ParquetWrite};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_sql::ast::{CreateMode, Insert, InsertMode};

use crate::catalog::{ObjectKind, Provider, TableRecord};
use crate::context::Context;
use crate::errors;
use crate::parquet;
use crate::places;
use crate::resolve::ParquetTable;
use crate::result::SqlResult;

use super::insert_rows::{self, Destination};
use super::new_table::{NewTable, store_record};

/// `CREATE TABLE … USING parquet`, with or without a query.
pub(super) async fn make(cx: &Context, new: NewTable) -> Result<SqlResult> {
    if matches!(new.mode, CreateMode::CreateOrReplace | CreateMode::Replace) {
        let name = new
            .name
            .as_ref()
            .map_or_else(|| new.display.clone(), |name| errors::quoted(&name.parts()));
        return Err(DeltaError::new("UNSUPPORTED_FEATURE.TABLE_OPERATION")
            .param("tableName", name)
            .param("operation", "REPLACE TABLE"));
    }
    let mut schema = new.schema.clone().unwrap_or_default();
    // As the reference does it, partition columns stand at the end.
    let (last, mut first): (Vec<_>, Vec<_>) = schema.fields.into_iter().partition(|field| {
        new.partition_by
            .iter()
            .any(|name| name.eq_ignore_ascii_case(&field.name))
    });
    first.extend(last);
    schema.fields = first;
    if let Some(missing) = new
        .partition_by
        .iter()
        .find(|name| schema.field(name).is_none())
    {
        return Err(DeltaError::new("COLUMN_NOT_FOUND")
            .param("colName", errors::quoted(&[missing]))
            .param("caseSensitiveConfig", "\"spark.sql.caseSensitive\""));
    }
    if new.schema.is_none() {
        let table = ParquetTable {
            store: new.store.clone(),
            record: None,
            qualifier: Vec::new(),
        };
        schema = parquet::schema_of(&table).await?;
    }
    let begins = new.is_managed() && !new.registered;
    if (begins || new.input.is_some()) && places::holds_files(&new.store).await? {
        return Err(DeltaError::new("LOCATION_ALREADY_EXISTS")
            .param("location", format!("'{}'", new.store.root()))
            .param(
                "identifier",
                new.name
                    .as_ref()
                    .map_or_else(|| new.display.clone(), |name| errors::quoted(&name.parts())),
            ));
    }
    if let Some(input) = &new.input {
        let planned = crate::analysis::reorder(input.clone(), &schema)?;
        let table = Files::new(
            new.store.clone(),
            schema.clone(),
            new.partition_by.clone(),
            cx.zone(),
        );
        parquet::write(cx, &table, planned.into(), &ParquetWrite::Append).await?;
    }
    let Some(name) = &new.name else {
        return Ok(SqlResult::empty());
    };
    let record = TableRecord {
        name: name.clone(),
        kind: if new.is_managed() {
            ObjectKind::Managed
        } else {
            ObjectKind::External
        },
        provider: Provider::Parquet,
        location: new.location.clone(),
        schema: Some(schema),
        partition_columns: new.partition_by.clone(),
        comment: new.comment.clone(),
        properties: new.properties.iter().cloned().collect(),
        created_ms: cx.now_us.div_euclid(1_000),
    };
    store_record(cx, new.mode, record)?;
    Ok(SqlResult::empty())
}

/// Delta has classes of its own for rows with too few or too many columns; other tables have Spark's.
async fn arity(cx: &Context, insert: &Insert, to: &Destination, error: DeltaError) -> DeltaError {
    let (class, reason) = match error.class() {
        Some("DELTA_INSERT_COLUMN_ARITY_MISMATCH") => (
            "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS",
            "not enough data columns",
        ),
        Some("DELTA_METADATA_MISMATCH") => (
            "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
            "too many data columns",
        ),
        _ => return error,
    };
    let Ok(query) = crate::analysis::query(cx, &insert.source).await else {
        return error;
    };
    let list = |names: Vec<&str>| {
        let quoted: Vec<String> = names.iter().map(|name| errors::quoted(&[name])).collect();
        quoted.join(", ")
    };
    let table = list(to.schema.names().collect());
    let data = list(query.schema.names().collect());
    let fixed: Vec<&str> = insert
        .partition
        .iter()
        .filter(|(_, value)| value.is_some())
        .map(|(column, _)| column.value.as_str())
        .collect();
    let name = errors::quoted(&to.qualifier);
    if fixed.is_empty() {
        return DeltaError::new(class)
            .param("tableName", name)
            .param("tableColumns", table)
            .param("dataColumns", data);
    }
    DeltaError::new("INSERT_PARTITION_COLUMN_ARITY_MISMATCH")
        .param("tableName", name)
        .param("reason", reason)
        .param("tableColumns", table)
        .param("staticPartCols", list(fixed))
        .param("dataColumns", data)
}

/// `INSERT` into a Parquet table.
pub(super) async fn insert(
    cx: &Context,
    insert: &Insert,
    table: &ParquetTable,
) -> Result<SqlResult> {
    let files = parquet::open(table, cx.zone()).await?;
    let destination = Destination {
        schema: files.schema.clone(),
        partition_columns: files.partition_columns.clone(),
        qualifier: table.qualifier.clone(),
        display: table.qualifier.join("."),
        id: String::new(),
        profile: cx.profile(),
        widen: false,
        grows: false,
        widening: None,
    };
    let shaped = match insert_rows::shape(cx, insert, &destination).await {
        Ok(shaped) => shaped,
        Err(error) => return Err(arity(cx, insert, &destination, error).await),
    };
    let dynamic = cx.dynamic_overwrite();
    let mode = match insert.mode {
        InsertMode::Into => ParquetWrite::Append,
        InsertMode::Overwrite
            if dynamic || insert.partition.iter().any(|(_, value)| value.is_some()) =>
        {
            ParquetWrite::OverwritePartitions
        }
        InsertMode::Overwrite => ParquetWrite::Overwrite,
        _ => {
            return Err(DeltaError::not_supported_yet(
                "REPLACE WHERE on a table that is not a Delta table",
            ));
        }
    };
    parquet::write(cx, &files, shaped.plan.into(), &mode).await?;
    Ok(SqlResult::empty())
}
