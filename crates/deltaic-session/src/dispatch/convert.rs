//! `CONVERT TO DELTA`, and Parquet tables as the source of a clone.

use deltaic_datafusion::collect_statistics;
use deltaic_maintenance::clone::CloneSource;
use deltaic_maintenance::convert;
use deltaic_maintenance::parquet_files::{self, FilesOptions, ParquetFiles};
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::properties::PropertyChanges;
use deltaic_protocol::schema::StructType;
use deltaic_sql::ast::Convert;
use deltaic_storage::TableStore;

use crate::catalog::{CatalogObject, Provider, TableRecord};
use crate::context::Context;
use crate::errors;
use crate::places::NameLock;
use crate::resolve::{self, ParquetTable, Target};
use crate::result::SqlResult;

use super::{columns, properties};

/// `CONVERT TO DELTA`. What is a Delta table already stays as it is.
pub(super) async fn convert(cx: &Context, convert: &Convert) -> Result<SqlResult> {
    let parts = cx.texts(&convert.table).await?;
    check_format(&parts)?;
    let named = resolve::object_name(cx, &parts, &cx.current).ok();
    let _lock = match &named {
        Some(name) if cx.catalog().object(name)?.is_some() => {
            Some(NameLock::take(cx.catalog(), &[name]).await?)
        }
        _ => None,
    };
    match resolve::target(cx, &convert.table).await?.0 {
        Target::Delta(_) => cx.note("The table is a Delta table already"),
        Target::Parquet(table) => convert_files(cx, convert, &table).await?,
        Target::View(view) => {
            return Err(DeltaError::new("DELTA_OPERATION_NOT_ALLOWED_DETAIL")
                .param("operation", "Converting a view to a Delta table")
                .param("tableName", resolve::view_qualifier(&view).join(".")));
        }
    }
    Ok(SqlResult::empty())
}

/// A path says of which format its files are.
fn check_format(parts: &[String]) -> Result<()> {
    match parts {
        [path] if path.starts_with('/') || path.contains("://") => {
            Err(DeltaError::new("DELTA_MISSING_PROVIDER_FOR_CONVERT").param("path", path))
        }
        [format, path]
            if Provider::parse(format).is_none()
                && (path.starts_with('/') || path.contains("://")) =>
        {
            Err(DeltaError::new("DELTA_CONVERT_NON_PARQUET_TABLE")
                .param("sourceName", format.to_lowercase())
                .param("tableId", errors::quoted(parts)))
        }
        _ => Ok(()),
    }
}

async fn convert_files(cx: &Context, statement: &Convert, table: &ParquetTable) -> Result<()> {
    let declared = statement
        .partitioned_by
        .as_ref()
        .map(|definitions| StructType::new(definitions.iter().map(columns::field_of)));
    let mut seen = std::collections::BTreeSet::new();
    for name in declared.iter().flat_map(StructType::names) {
        let name = name.to_lowercase();
        if seen.contains(&name) {
            return Err(DeltaError::new("COLUMN_ALREADY_EXISTS")
                .param("columnName", errors::quoted(&[&name])));
        }
        seen.insert(name);
    }
    if table.record.is_none() {
        check_there(&table.store).await?;
    }
    let options = options(cx, table, declared.as_ref())?;
    let request = deltaic_command::Convert {
        partitioned_by: declared
            .iter()
            .flat_map(|schema| schema.names().map(str::to_owned))
            .collect(),
        collect_statistics: statement.collect_statistics && cx.conf.delta("stats.collect"),
        catalog_table: table
            .record
            .as_ref()
            .map(|record| errors::quoted(&record.name.parts())),
    };
    let commit = cx.commit_context(Some(table.qualifier.join(".")));
    if let Some(snapshot) = cx.snapshot(&table.store).await? {
        let Some(record) = &table.record else {
            cx.note("The table is a Delta table already");
            return Ok(());
        };
        let given = given_properties(cx, Some(record), false)?;
        let check = cx.conf.delta("convert.metadataCheck.enabled");
        if let Some(done) = convert::adopt(&snapshot, &request, &given, check, &commit).await? {
            cx.committed(&done);
        }
        return rename_format(cx, record);
    }
    let given = given_properties(cx, table.record.as_ref(), true)?;
    let mut files = parquet_files::read(&table.store, &options)
        .await
        .map_err(|error| no_partitions(error, table))?;
    let comment = table
        .record
        .as_ref()
        .and_then(|record| record.comment.as_deref());
    let (metadata, protocol) = convert::define(&files, &given, comment, &commit)?;
    if request.collect_statistics {
        let config = TableConfig::new(&metadata, &protocol);
        files.files = statistics(cx, &table.store, &config, &mut files).await?;
    }
    let defined = (metadata, protocol);
    let done = convert::run(&table.store, &request, defined, files.files, &commit).await?;
    cx.committed(&done);
    match &table.record {
        Some(record) => rename_format(cx, record),
        None => Ok(()),
    }
}

async fn statistics(
    cx: &Context,
    store: &TableStore,
    config: &TableConfig,
    files: &mut ParquetFiles,
) -> Result<Vec<deltaic_protocol::action::Add>> {
    let commit = cx.commit_context(None);
    let state = cx.session.engine().state();
    let writer = cx.write_context(&state, &commit);
    let adds = std::mem::take(&mut files.files);
    collect_statistics(
        &writer,
        store,
        config,
        &files.schema,
        &files.partition_columns,
        adds,
    )
    .await
}

/// A partitioned table of the catalog without files has no partitions either.
fn no_partitions(error: DeltaError, table: &ParquetTable) -> DeltaError {
    match &table.record {
        Some(record)
            if error.class() == Some("DELTA_EMPTY_DIRECTORY")
                && !record.partition_columns.is_empty() =>
        {
            DeltaError::new("DELTA_CONVERSION_NO_PARTITION_FOUND")
                .param("tableName", &record.name)
                .with_path(table.store.root().to_string())
        }
        _ => error,
    }
}

async fn check_there(store: &TableStore) -> Result<()> {
    if store.data().exists("").await? {
        return Ok(());
    }
    let place = store.root().to_string();
    Err(DeltaError::unclassed(
        "java.io.FileNotFoundException",
        format!("{place} doesn't exist"),
    )
    .with_kind(ErrorKind::NotFound)
    .with_path(place))
}

/// What the catalog and the statement say of the table; where both name partition columns, they must agree.
fn options(
    cx: &Context,
    table: &ParquetTable,
    declared: Option<&StructType>,
) -> Result<FilesOptions> {
    let folder = match &table.record {
        Some(_) => table.store.root().to_string(),
        None => table.qualifier.last().cloned().unwrap_or_default(),
    };
    let mut options = FilesOptions {
        zone: cx.zone(),
        ignore_cast_failure: cx.conf.delta("convert.partitionValues.ignoreCastFailure"),
        ..FilesOptions::new(folder)
    };
    if let Some(record) = &table.record {
        let schema = record.schema.clone().unwrap_or_default();
        let of_catalog = StructType::new(
            record
                .partition_columns
                .iter()
                .filter_map(|name| schema.field(name).cloned()),
        );
        if let Some(declared) = declared
            && *declared != of_catalog
        {
            return Err(
                DeltaError::new("DELTA_UNEXPECTED_PARTITION_SCHEMA_FROM_USER")
                    .with_kind(ErrorKind::Analysis)
                    .param("catalogPartitionSchema", of_catalog.to_json())
                    .param("userPartitionSchema", declared.to_json()),
            );
        }
        options.partitions = of_catalog;
        let of_catalog = cx.conf.delta("convert.useCatalogSchema");
        options.schema = (of_catalog && !schema.is_empty()).then_some(schema);
    } else if let Some(declared) = declared {
        options.partitions = declared.clone();
    }
    Ok(options)
}

/// The catalog's properties, on top of the session's defaults for new tables.
fn given_properties(
    cx: &Context,
    record: Option<&TableRecord>,
    with_defaults: bool,
) -> Result<PropertyChanges> {
    let defaults = match with_defaults {
        true => cx.conf.table_defaults(),
        false => Default::default(),
    };
    let defaults: Vec<(String, String)> = defaults
        .into_iter()
        .map(|(key, value)| (format!("delta.{key}"), value))
        .collect();
    PropertyChanges::for_create(
        defaults.iter().map(|(k, v)| (k.as_str(), v.as_str())),
        record
            .iter()
            .flat_map(|record| &record.properties)
            .map(|(k, v)| (k.as_str(), v.as_str())),
        &properties::rules(cx),
    )
}

/// From here on the log says what the catalog said.
fn rename_format(cx: &Context, record: &TableRecord) -> Result<()> {
    cx.catalog().put_object(&CatalogObject::Table(TableRecord {
        provider: Provider::Delta,
        schema: None,
        partition_columns: Vec::new(),
        comment: None,
        properties: Default::default(),
        ..record.clone()
    }))
}

/// A Parquet table as the source of a clone: its files as they are now, without statistics.
pub(super) async fn clone_source(cx: &Context, table: &ParquetTable) -> Result<CloneSource> {
    if table.record.is_none() && !table.store.data().exists("").await? {
        let path = table.qualifier.last().map_or("", String::as_str);
        return Err(errors::path_not_found(path));
    }
    let mut options = options(cx, table, None)?;
    options.may_be_empty = options.partitions.is_empty();
    let files = parquet_files::read(&table.store, &options)
        .await
        .map_err(|error| no_partitions(error, table))?;
    let given = given_properties(cx, table.record.as_ref(), false)?;
    let commit = cx.commit_context(None);
    let (metadata, protocol) = convert::define(&files, &given, None, &commit)?;
    Ok(CloneSource {
        name: match &table.record {
            Some(record) => record.name.to_string(),
            None => format!("parquet.`{}`", table.store.root()),
        },
        version: -1,
        store: table.store.clone(),
        protocol,
        metadata,
        domains: Default::default(),
        files: files.files.into_iter().map(std::sync::Arc::new).collect(),
    })
}
