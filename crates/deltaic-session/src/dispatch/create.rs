//! CREATE TABLE, CREATE TABLE AS SELECT, CREATE OR REPLACE, REPLACE, LIKE; SHALLOW CLONE with `clone.rs`.

use std::collections::BTreeSet;

use deltaic_command::Profile;
use deltaic_datafusion::context::Rows;
use deltaic_datafusion::{CreateKind, create_table as write_table};
use deltaic_log::{CommitResult, Snapshot};
use deltaic_maintenance::identity;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::properties::PropertyChanges;
use deltaic_protocol::schema::{StructField, StructType, metadata};
use deltaic_sql::ast::{
    ColumnDefinition, CreateMode, CreateSource, CreateTable, Identity, PartitionField,
};
use deltaic_storage::cloud::is_cloud_option;

use crate::analysis;
use crate::catalog::{CatalogObject, ObjectKind, ObjectName, Provider, TableRecord};
use crate::context::Context;
use crate::errors;
use crate::names;
use crate::places::{self, NameLock};
use crate::resolve;
use crate::result::SqlResult;

use super::new_table::{NewTable, store_record};
use super::{
    clone, columns, constraints, create_checks, create_parquet, definitions, like, nested_not_null,
    properties, properties_of, table_properties_of,
};

/// `CREATE TABLE` in all its forms.
pub(super) async fn create_table(cx: &Context, create: &CreateTable) -> Result<SqlResult> {
    let parts = cx.texts(&create.name).await?;
    let path = match parts.as_slice() {
        [format, path]
            if Provider::parse(format).is_some()
                && (path.starts_with('/') || path.contains(':')) =>
        {
            Some((format.clone(), path.clone()))
        }
        _ => None,
    };
    let name = match &path {
        Some(_) => None,
        None => Some(resolve::object_name(cx, &parts, &cx.current)?),
    };
    if !create.constraints.is_empty() {
        return Err(no_constraints(cx, name.as_ref(), &parts));
    }
    definitions::defaults_of_table(cx, create)?;
    let mut registered = false;
    let mut _lock = None;
    if let Some(name) = &name {
        names::check(&name.name)?;
        if cx.catalog().schema(&name.schema_name())?.is_none() {
            return Err(errors::schema_not_found(&name.catalog, &name.schema));
        }
        _lock = Some(NameLock::take(cx.catalog(), &[name]).await?);
        let existing = cx.catalog().object(name)?;
        registered = existing.is_some();
        let written = (
            name.schema.as_str(),
            parts.last().map_or("", String::as_str),
        );
        if existing.is_none() {
            clone::check_missing(create, name)?;
        }
        if !may_go_on(create.mode, existing.as_ref(), name, written)? {
            return clone::nothing_done(create);
        }
    }
    let mut new = describe(cx, create, name, path).await?;
    new.registered = registered;
    match new.provider {
        Provider::Delta => make_delta(cx, new).await,
        Provider::Parquet => {
            definitions::no_delta_columns(&new)?;
            create_parquet::make(cx, new).await
        }
    }
}

/// Constraints come to a table that exists.
fn no_constraints(cx: &Context, name: Option<&ObjectName>, parts: &[String]) -> DeltaError {
    match name {
        Some(name) => constraints::unsupported(&name.parts()),
        None => {
            constraints::unsupported(&[std::slice::from_ref(&cx.current.catalog), parts].concat())
        }
    }
}

/// Whether the statement has work to do, seeing what stands under the name.
fn may_go_on(
    mode: CreateMode,
    existing: Option<&CatalogObject>,
    name: &ObjectName,
    written: (&str, &str),
) -> Result<bool> {
    match (mode, existing) {
        (CreateMode::Create, Some(_)) => Err(errors::already_exists(written.0, written.1)),
        (CreateMode::CreateIfNotExists, Some(_)) => Ok(false),
        (CreateMode::CreateOrReplace | CreateMode::Replace, Some(CatalogObject::View(_))) => {
            let operation = if mode == CreateMode::Replace {
                "REPLACE TABLE"
            } else {
                "CREATE OR REPLACE TABLE"
            };
            Err(errors::view_not_table(&name.parts(), operation))
        }
        (CreateMode::Replace, None) => Err(errors::not_found(&[written.0, written.1])),
        _ => Ok(true),
    }
}

/// Reads the statement.
async fn describe(
    cx: &Context,
    create: &CreateTable,
    name: Option<ObjectName>,
    path: Option<(String, String)>,
) -> Result<NewTable> {
    let clones = matches!(create.source, CreateSource::ShallowClone { .. });
    let source = match &path {
        Some((format, _)) => format.clone(),
        None if clones => "delta".to_owned(),
        None => match &create.using {
            Some(source) => source.clone(),
            None => cx
                .conf
                .get("spark.sql.sources.default")
                .unwrap_or_else(|| "delta".to_owned()),
        },
    };
    let Some(provider) = Provider::parse(&source) else {
        return Err(unknown_source(&source));
    };
    let written = match &create.location {
        Some(expr) => Some(analysis::location(cx, expr).await?),
        None => None,
    };
    let location = match (&path, written) {
        (Some((_, path)), None) => Some(path.clone()),
        (Some((_, path)), Some(location))
            if cx.display_path(path) != cx.display_path(&location) =>
        {
            if clones {
                return Err(DeltaError::new("DELTA_CLONE_AMBIGUOUS_TARGET")
                    .param("externalLocation", location)
                    .param("targetIdentifier", errors::quoted(&["delta", path])));
            }
            return Err(
                DeltaError::new("DELTA_CREATE_TABLE_IDENTIFIER_LOCATION_MISMATCH")
                    .param("identifier", format!("delta.`{path}`"))
                    .param("location", location),
            );
        }
        (_, location) => location,
    };
    let existing_location = match (&name, &location) {
        (Some(name), None) => match cx.catalog().object(name)? {
            Some(CatalogObject::Table(table)) => table.location,
            _ => None,
        },
        (Some(name), Some(location)) if clones => {
            clone::check_location(cx, name, location)?;
            None
        }
        _ => None,
    };
    let location = location.or(existing_location);
    let mut placed = None;
    let place = match (&name, &location) {
        (_, Some(location)) => location.clone(),
        (Some(name), None) => {
            placed = free_place(cx, name)?;
            match &placed {
                Some(place) => place.clone(),
                None => cx.catalog().default_table_path(name)?,
            }
        }
        (None, None) => return Err(DeltaError::internal("a table by path without its path")),
    };
    let mut pairs = table_properties_of(&create.properties)?;
    for (key, value) in properties_of(&create.options)? {
        // How a store is reached is no property of the table: it may be a secret, and everyone reads the log.
        let of_store = is_cloud_option(&key) || key.starts_with("fs.") || key.starts_with("dfs.");
        if !key.eq_ignore_ascii_case("path") && !of_store {
            pairs.push((format!("option.{key}"), value));
        }
    }
    let display = match (&name, &path) {
        (Some(name), _) => name.to_string(),
        (None, Some((format, path))) => format!("{format}.`{path}`"),
        (None, None) => place.clone(),
    };
    let mut new = NewTable {
        mode: create.mode,
        name,
        display,
        provider,
        location,
        placed,
        store: cx.store(&place)?,
        schema: match &create.columns {
            Some(columns) => Some(schema_of(columns)?),
            None => None,
        },
        partition_by: Vec::new(),
        cluster_by: cluster_by_of(create),
        properties: pairs,
        comment: create.comment.clone(),
        input: None,
        clone: None,
        features: Vec::new(),
        reads: BTreeSet::new(),
        registered: false,
    };
    add_source(cx, create, &mut new).await?;
    add_partitions(create, &mut new)?;
    Ok(new)
}

/// A place for a managed table whose usual one belongs to a table that was renamed: in an object store files stay where they are.
fn free_place(cx: &Context, name: &ObjectName) -> Result<Option<String>> {
    let usual = cx.catalog().default_table_path(name)?;
    let mut place = usual.clone();
    let mut number = 0_u32;
    while cx.catalog().is_place_of_another(&place, name)? {
        number += 1;
        place = format!("{usual}-{number}");
    }
    Ok((number > 0).then_some(place))
}

fn unknown_source(source: &str) -> DeltaError {
    let known = [
        "csv", "json", "orc", "text", "avro", "jdbc", "hive", "iceberg",
    ];
    if known.contains(&source.to_lowercase().as_str()) {
        return DeltaError::not_supported_yet(format!("A table of format {source}"));
    }
    DeltaError::new("DATA_SOURCE_NOT_FOUND").param("provider", source)
}

/// Columns from a query or from another table.
async fn add_source(cx: &Context, create: &CreateTable, new: &mut NewTable) -> Result<()> {
    match &create.source {
        CreateSource::Columns => {}
        CreateSource::ShallowClone { source, travel } => {
            new.clone = Some(clone::source(cx, source, travel.as_ref()).await?);
        }
        CreateSource::Query(query) => {
            let planned = analysis::query(cx, query).await?;
            let mut seen = BTreeSet::new();
            for field in &planned.schema.fields {
                if !seen.insert(field.name.to_lowercase()) {
                    return Err(DeltaError::new("COLUMN_ALREADY_EXISTS")
                        .param("columnName", errors::quoted(&[field.name.to_lowercase()])));
                }
            }
            let schema = StructType::new(planned.schema.as_nullable().fields.into_iter().map(
                |mut field| {
                    field.metadata.retain(|key, _| {
                        key == metadata::COMMENT || key == metadata::CHAR_VARCHAR_TYPE
                    });
                    field
                },
            ));
            new.input = Some(planned.plan);
            new.reads = planned.reads;
            new.schema = Some(schema);
        }
        CreateSource::Like(source) => {
            like::describe(cx, source, create.using.is_some(), new).await?;
        }
    }
    Ok(())
}

fn schema_of(definitions: &[ColumnDefinition]) -> Result<StructType> {
    let fields: Vec<StructField> = definitions.iter().map(column_of).collect::<Result<_>>()?;
    Ok(StructType::new(fields))
}

fn column_of(definition: &ColumnDefinition) -> Result<StructField> {
    let mut field = columns::field_of(definition);
    if let Some(default) = &definition.default {
        field = field.with_metadata(metadata::CURRENT_DEFAULT, default.text.as_str());
    }
    if let Some(rule) = &definition.generated {
        field = field.with_metadata(
            metadata::GENERATION_EXPRESSION,
            deltaic_sql::render::expr(rule),
        );
    }
    match &definition.identity {
        None => Ok(field),
        Some(Identity {
            allow_explicit_insert,
            start,
            step,
        }) => identity::identity_column(field, *start, *step, *allow_explicit_insert),
    }
}

/// The columns of CLUSTER BY; `NONE` is as if it was not written.
fn cluster_by_of(create: &CreateTable) -> Option<Vec<Vec<String>>> {
    let columns = create.cluster_by.as_ref()?;
    let paths = columns
        .iter()
        .map(|path| path.iter().map(|part| part.value.clone()).collect());
    (!columns.is_empty()).then(|| paths.collect())
}

fn add_partitions(create: &CreateTable, new: &mut NewTable) -> Result<()> {
    for field in &create.partitioned_by {
        match field {
            PartitionField::Name(path) if path.len() == 1 => {
                new.partition_by.push(path[0].value.clone())
            }
            PartitionField::Column(definition) => {
                let column = column_of(definition)?;
                new.partition_by.push(column.name.clone());
                new.schema.get_or_insert_default().fields.push(column);
            }
            PartitionField::Name(_) | PartitionField::Transform(_) => {
                return Err(DeltaError::new("DELTA_OPERATION_NOT_ALLOWED")
                    .param("operation", "Partitioning by expressions"));
            }
        }
    }
    Ok(())
}

async fn make_delta(cx: &Context, new: NewTable) -> Result<SqlResult> {
    // A managed table begins in an empty place: whoever drops it would lose what was there before.
    if let Some(name) = new
        .name
        .as_ref()
        .filter(|_| new.is_managed() && !new.registered)
    {
        begin(cx, &new, name).await?;
        return clone::answer(&new);
    }
    let existing = cx.snapshot(&new.store).await?;
    if (new.input.is_some() || new.clone.is_some())
        && new.mode == CreateMode::Replace
        && existing.is_none()
        && new.name.is_none()
    {
        return Err(
            DeltaError::new("DELTA_CANNOT_REPLACE_MISSING_TABLE").param("tableName", &new.display)
        );
    }
    write_at(cx, &new, existing).await?;
    clone::answer(&new)
}

/// A table at a place that the statement or the catalog names.
async fn write_at(cx: &Context, new: &NewTable, existing: Option<Snapshot>) -> Result<()> {
    let replaces = matches!(new.mode, CreateMode::CreateOrReplace | CreateMode::Replace);
    match (&existing, replaces) {
        (Some(_), false) if new.mode == CreateMode::CreateIfNotExists && new.name.is_none() => {
            return Ok(());
        }
        (Some(snapshot), false) => {
            if new.input.is_some() || new.clone.is_some() {
                return Err(create_checks::taken(new));
            }
            // The table is there already: the statement only gives it a name, if it says nothing else about it.
            create_checks::matches_existing(cx, new, snapshot)?;
            places::keep(&new.store).await?;
        }
        (None, _) if new.location.is_some() && places::holds_files(&new.store).await? => {
            return match made_since(cx, new).await? {
                Some(winner) => Box::pin(write_at(cx, new, Some(winner))).await,
                None => Err(create_checks::not_empty(new)),
            };
        }
        (None, false) => match write(cx, new, None).await {
            // Another has made a table here first: a statement that would then have had nothing to write goes on as if it had
            // come a moment later.
            Err(error) if error.kind() == ErrorKind::Conflict && !needs_its_rows(new) => {
                return match made_since(cx, new).await? {
                    Some(winner) => Box::pin(write_at(cx, new, Some(winner))).await,
                    None => Err(error),
                };
            }
            written => written?,
        },
        _ => write(cx, new, existing.as_ref()).await?,
    }
    register(cx, new)
}

/// Whether the statement fails where its rows are not those of the table.
fn needs_its_rows(new: &NewTable) -> bool {
    let has_rows = new.input.is_some() || new.clone.is_some();
    has_rows && !(new.mode == CreateMode::CreateIfNotExists && new.name.is_none())
}

/// The table that has come to be at the place since the statement looked for one.
async fn made_since(cx: &Context, new: &NewTable) -> Result<Option<Snapshot>> {
    cx.unpin(&new.store);
    cx.session.cache().forget(&new.store.root().to_string());
    cx.snapshot(&new.store).await
}

/// A managed table under a new name.
async fn begin(cx: &Context, new: &NewTable, name: &ObjectName) -> Result<()> {
    if !places::claim(cx.catalog(), name, &new.store).await? {
        return Err(create_checks::not_empty(new));
    }
    // What a dead process left of a table of this name is replaced.
    cx.unpin(&new.store);
    cx.session.cache().forget(&new.store.root().to_string());
    let mut existing = cx.snapshot(&new.store).await?;
    if existing.is_some() && new.clone.is_some() && places::forget_clone(&new.store).await? {
        // A clone is no replacement of what is there.
        cx.unpin(&new.store);
        cx.session.cache().forget(&new.store.root().to_string());
        existing = None;
    }
    match write(cx, new, existing.as_ref()).await {
        Ok(()) => {
            register(cx, new)?;
            // The table is there; a marker that may not be deleted says nothing any more.
            if let Err(error) = places::done(cx.catalog(), name, &new.store).await {
                cx.note(format!(
                    "a file that marked the place of {name} is left: {error}"
                ));
            }
            Ok(())
        }
        Err(error) => {
            // What the statement failed of is what counts.
            if let Err(left) = places::abandon(cx.catalog(), name, &new.store).await {
                cx.note(format!("what was begun of {name} is left: {left}"));
            }
            Err(error)
        }
    }
}

/// Whether the storage refused the first file of a log, for another reason than a full disk.
fn no_place(error: &DeltaError) -> bool {
    error.kind() == ErrorKind::Storage
        && error.class().is_none()
        && error
            .path()
            .is_some_and(|path| path.contains("/_delta_log/"))
        && !error.text().contains("No space left")
}

/// Writes the table's first version, or the one that replaces what is there.
async fn write(cx: &Context, new: &NewTable, existing: Option<&Snapshot>) -> Result<()> {
    let written = match &new.clone {
        Some(source) => clone::write(cx, new, source, existing).await,
        None => write_rows(cx, new, existing).await,
    };
    let committed = written.map_err(|error| match existing {
        None if !new.store.root().scheme().is_cloud() && no_place(&error) => {
            DeltaError::new("DELTA_CANNOT_CREATE_LOG_PATH")
                .param("path", format!("{}/_delta_log", new.store.root()))
                .with_kind(ErrorKind::Storage)
                .with_path(new.store.root().to_string())
                .with_source(error)
        }
        _ => error,
    })?;
    cx.committed(&committed);
    Ok(())
}

async fn write_rows(
    cx: &Context,
    new: &NewTable,
    existing: Option<&Snapshot>,
) -> Result<CommitResult> {
    let schema = create_checks::writable_schema(new)?;
    let schema = nested_not_null::checked(schema, nested_not_null::allowed(cx))?;
    create_checks::no_clustering_feature(new)?;
    definitions::generated(cx, &schema, None).await?;
    create_checks::defaults(new, &schema, existing)?;
    let defaults = cx.conf.table_defaults();
    let defaults: Vec<(String, &str)> = defaults
        .iter()
        .map(|(key, value)| (format!("delta.{key}"), value.as_str()))
        .collect();
    let mut changes = PropertyChanges::for_create(
        defaults.iter().map(|(key, value)| (key.as_str(), *value)),
        new.properties
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str())),
        &properties::rules(cx),
    )?;
    changes.protocol.features.extend(&new.features);
    definitions::constraints_of_table(cx, &schema, &changes.stored).await?;
    let checks = constraints::checks_of(cx, &schema, &changes.stored).await?;
    let kind = match (new.mode, existing) {
        (CreateMode::Replace, _) => CreateKind::Replace,
        (CreateMode::CreateOrReplace, _) | (_, Some(_)) => CreateKind::CreateOrReplace,
        (_, None) => CreateKind::Create,
    };
    let request = deltaic_datafusion::CreateTable {
        kind,
        partition_by: new.partition_by.clone(),
        cluster_by: new.cluster_by.clone(),
        max_clustering_columns: properties::max_clustering_columns(cx),
        keeps_deletion_vectors: cx.profile() != Profile::Delta40,
        properties: changes,
        comment: new.comment.clone(),
        is_managed: new.is_managed(),
        input: new.input.clone().map(Rows::from),
        checks,
        ..deltaic_datafusion::CreateTable::new(schema)
    };
    let commit = cx.commit_context(Some(new.display.clone()));
    let state = cx.session.engine().state();
    let selects = request.input.is_some();
    let writer = match selects {
        true => cx.repeatable_write_context(&state, &commit)?,
        false => cx.write_context(&state, &commit),
    };
    let report = write_table(&writer, &new.store, existing, request).await?;
    if selects {
        cx.repeatable_write_is_done();
    }
    Ok(report.commit)
}

/// Gives the table its name.
fn register(cx: &Context, new: &NewTable) -> Result<()> {
    let Some(name) = &new.name else { return Ok(()) };
    let record = TableRecord {
        name: name.clone(),
        kind: if new.is_managed() {
            ObjectKind::Managed
        } else {
            ObjectKind::External
        },
        provider: new.provider,
        location: new.location.clone().or_else(|| new.placed.clone()),
        schema: (new.provider == Provider::Parquet).then(|| new.schema.clone().unwrap_or_default()),
        partition_columns: if new.provider == Provider::Parquet {
            new.partition_by.clone()
        } else {
            Vec::new()
        },
        comment: if new.provider == Provider::Parquet {
            new.comment.clone()
        } else {
            None
        },
        properties: if new.provider == Provider::Parquet {
            new.properties.iter().cloned().collect()
        } else {
            Default::default()
        },
        created_ms: cx.now_us.div_euclid(1_000),
    };
    store_record(cx, new.mode, record)
}
