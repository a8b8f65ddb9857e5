//! CREATE TABLE, CREATE TABLE AS SELECT, and REPLACE: a new table, or a new definition for an old one.

use std::collections::{BTreeMap, BTreeSet};

use deltaic_log::Snapshot;
use deltaic_log::changes::check_change_columns;
use deltaic_log::transaction::{Operation, Transaction, check_definition};
use deltaic_maintenance::alter::mapping::{self, PhysicalName};
use deltaic_maintenance::clustering::{self, Asked, ClusteringColumn};
use deltaic_maintenance::{properties, row_tracking};
use deltaic_protocol::action::{Metadata, Protocol};
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::feature::{TableFeature, check_features_match, protocol_for_new_table};
use deltaic_protocol::properties::{PropertyChanges, canonical_key, key};
use deltaic_protocol::schema::{DataType, StructField, StructType, metadata as keys};
use deltaic_storage::TableStore;

use crate::context::{Prepared, Rows, WriteContext, WriteReport};
use crate::insert::record_output;
use crate::write::checks::WriteChecks;
use crate::write::job::commit_written;

/// Clustering columns, where the session does not say.
const DEFAULT_CLUSTERING_COLUMNS: usize = 4;
const DELETION_VECTORS: &str = "delta.enableDeletionVectors";

/// Which of the statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateKind {
    /// CREATE TABLE: there must be none.
    Create,
    /// CREATE OR REPLACE TABLE.
    CreateOrReplace,
    /// REPLACE TABLE: there must be one.
    Replace,
}

/// Makes or replaces a table.
#[derive(Debug, Clone)]
pub struct CreateTable {
    /// Which statement.
    pub kind: CreateKind,
    /// The columns, with comments and other metadata; column mapping is filled in here.
    pub schema: StructType,
    /// Partition columns, as named in the statement.
    pub partition_by: Vec<String>,
    /// CLUSTER BY: columns by their names from the top.
    pub cluster_by: Option<Vec<Vec<String>>>,
    /// How many clustering columns there may be.
    pub max_clustering_columns: usize,
    /// A table that is replaced keeps its switch of deletion vectors, unless the statement sets it; Delta 4.0 forgets it.
    pub keeps_deletion_vectors: bool,
    /// The checked TBLPROPERTIES.
    pub properties: PropertyChanges,
    /// The table's comment.
    pub comment: Option<String>,
    /// The catalog owns the files (`isManaged`).
    pub is_managed: bool,
    /// The rows of AS SELECT: the schema's columns in order.
    pub input: Option<Rows>,
    /// Conditions on the rows.
    pub checks: WriteChecks,
    /// Written by the first generation of the DataFrame writer (`isV1SaveAsTableOverwrite`, `canOverwriteSchema`).
    pub v1_save_as_table: bool,
}

impl CreateTable {
    /// A plain CREATE TABLE.
    pub fn new(schema: StructType) -> CreateTable {
        CreateTable {
            kind: CreateKind::Create,
            schema,
            partition_by: Vec::new(),
            cluster_by: None,
            max_clustering_columns: DEFAULT_CLUSTERING_COLUMNS,
            keeps_deletion_vectors: true,
            properties: PropertyChanges::default(),
            comment: None,
            is_managed: true,
            input: None,
            checks: WriteChecks::default(),
            v1_save_as_table: false,
        }
    }
}

/// Makes or replaces the table at a place. `existing` is its newest version, if there is one. AS SELECT that an application's
/// transaction stands for does nothing where the table has recorded that.
///
/// # Errors
/// A schema that no table can have, those of the input, conflicts with other writers.
pub async fn create_table(
    ctx: &WriteContext<'_>,
    store: &TableStore,
    existing: Option<&Snapshot>,
    request: CreateTable,
) -> Result<WriteReport> {
    if let Some(snapshot) = existing
        && request.input.is_some()
        && ctx.options.is_done(snapshot)
    {
        return Ok(WriteReport::already_done(snapshot));
    }
    let (metadata, protocol) = define(ctx, existing, &request)?;
    let config = TableConfig::new(&metadata, &protocol);
    let schema = metadata.schema()?;
    let clustering = clustering_of(existing, &request, &schema, &config)?;
    let mut output = None;
    if let Some(input) = &request.input {
        let prepared = Prepared::new(
            ctx,
            store,
            &config,
            &schema,
            &metadata.partition_columns,
            request.cluster_by.clone().unwrap_or_default(),
            &request.checks,
        )?;
        output = Some(prepared.write(ctx, input).await?);
    }
    let operation = operation(
        &request,
        &metadata,
        clustering.as_deref().unwrap_or_default(),
    );
    let mut transaction = match existing {
        Some(snapshot) => Transaction::begin(snapshot, operation),
        None => Transaction::create(store, operation),
    };
    let changed = existing.is_none_or(|snapshot| snapshot.protocol().as_ref() != &protocol);
    transaction.set_metadata(metadata);
    if changed {
        transaction.set_protocol(protocol);
    }
    // As the reference, where a table could have been replaced, even if there was none.
    let replaces = existing.is_some() || request.kind != CreateKind::Create;
    if replaces && output.is_some() {
        transaction.read_whole_table();
    }
    let mut removed = Vec::new();
    if let Some(snapshot) = existing {
        transaction.read_whole_table();
        removed = snapshot.files().await?.to_vec();
    }
    let (mut rows, mut files, mut written) = (0, 0, Vec::new());
    if let Some(output) = output {
        (rows, files) = (output.rows(), output.files.len());
        written = output.paths();
        ctx.options.stage(&mut transaction, ctx.now_ms());
        record_output(transaction.operation_mut(), &output);
        if replaces {
            let operation = transaction.operation_mut();
            operation.set_metric("numRemovedFiles", removed.len());
            operation.set_metric(
                "numRemovedBytes",
                removed.iter().map(|add| add.size).sum::<i64>(),
            );
        }
        for file in output.files {
            transaction.add(file.add);
        }
    }
    if let Some(domain) = clustering::replaced_domain(existing, clustering.as_deref()) {
        transaction.domain(domain);
    }
    let now = ctx.now_ms();
    for add in &removed {
        transaction.remove(add.to_remove(now, true));
    }
    let commit = commit_written(transaction, ctx.commit, store, &written).await?;
    Ok(WriteReport {
        commit,
        rows,
        files,
        removed_files: removed.len(),
        already_done: false,
    })
}

/// Metadata and protocol of the new definition.
///
/// # Errors
/// Names or types that a table cannot have, unknown partition columns, features that do not go together.
pub fn define(
    ctx: &WriteContext<'_>,
    existing: Option<&Snapshot>,
    request: &CreateTable,
) -> Result<(Metadata, Protocol)> {
    let mut configuration: BTreeMap<String, String> = request.properties.stored.clone();
    if let Some(snapshot) = existing.filter(|_| request.keeps_deletion_vectors)
        && let Some(kept) = snapshot.metadata().configuration.get(DELETION_VECTORS)
    {
        configuration
            .entry(DELETION_VECTORS.to_string())
            .or_insert_with(|| kept.clone());
    }
    let mapped = mapping::is_enabled(&configuration);
    check_names(&request.schema, mapped)?;
    let partition_columns = partition_columns(&request.schema, &request.partition_by)?;
    let old = existing
        .filter(|snapshot| mapped && mapping::is_enabled(&snapshot.metadata().configuration));
    let mut schema = unmapped(
        &request.schema,
        old.map(|snapshot| snapshot.schema().as_ref()),
    );
    if mapped {
        let highest = match old {
            Some(snapshot) => snapshot.config().column_mapping_max_id()?,
            None => 0,
        };
        let fresh = || ctx.commit.ids.uuid();
        let highest = mapping::assign(&mut schema, highest, PhysicalName::Fresh(&fresh));
        configuration.insert(mapping::MAX_COLUMN_ID.to_string(), highest.to_string());
    }
    if let Some(snapshot) = existing
        && let Some(version) = snapshot
            .metadata()
            .configuration
            .get(key::REQUIRE_CHECKPOINT_PROTECTION_BEFORE_VERSION)
    {
        // It speaks of the table's history, not of its definition.
        configuration.insert(
            key::REQUIRE_CHECKPOINT_PROTECTION_BEFORE_VERSION.to_owned(),
            version.clone(),
        );
    }
    if let Some(snapshot) = existing.filter(|_| row_tracking::is_enabled(&configuration)) {
        // The hidden columns of a table that is replaced keep their names.
        for key in [
            key::ROW_TRACKING_ID_COLUMN,
            key::ROW_TRACKING_COMMIT_VERSION_COLUMN,
        ] {
            if let Some(name) = snapshot.metadata().configuration.get(key) {
                configuration.insert(key.to_owned(), name.clone());
            }
        }
    }
    row_tracking::check(&configuration)?;
    row_tracking::name_columns(&mut configuration, &|| ctx.commit.ids.uuid());
    let id = match existing {
        Some(snapshot) => snapshot.metadata().id.clone(),
        None => ctx.commit.ids.uuid(),
    };
    let mut metadata = Metadata::new(id, &schema);
    metadata.description = request
        .comment
        .clone()
        .or_else(|| request.properties.comment.clone());
    metadata.partition_columns = partition_columns;
    metadata.configuration = configuration;
    metadata.created_time = Some(ctx.now_ms());
    let mut upgrade = request.properties.protocol.clone();
    if request.cluster_by.is_some() {
        upgrade
            .features
            .extend(TableFeature::find(clustering::FEATURE));
    }
    let fresh = protocol_for_new_table(&metadata, &upgrade)?;
    let protocol = match existing {
        // A protocol never gets weaker: older versions must stay readable.
        Some(snapshot) if snapshot.protocol().covers(&fresh) => {
            snapshot.protocol().as_ref().clone()
        }
        Some(snapshot) => snapshot.protocol().merge(&fresh),
        None => fresh,
    };
    check_features_match(&protocol, &metadata)?;
    // Before any row is written.
    check_change_columns(existing, &metadata)?;
    check_definition(
        &metadata,
        existing.map(|snapshot| snapshot.metadata().as_ref()),
    )?;
    Ok((metadata, protocol))
}

/// The clustering columns of the new definition; none where it is not clustered.
fn clustering_of(
    existing: Option<&Snapshot>,
    request: &CreateTable,
    schema: &StructType,
    config: &TableConfig,
) -> Result<Option<Vec<ClusteringColumn>>> {
    let was_clustered =
        existing.is_some_and(|snapshot| snapshot.protocol().supports(clustering::FEATURE));
    if was_clustered && !request.partition_by.is_empty() {
        return Err(DeltaError::new(
            "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE",
        ));
    }
    let Some(columns) = &request.cluster_by else {
        return Ok(None);
    };
    let limit = request.max_clustering_columns;
    clustering::resolve(columns, schema, config, limit, Asked::Create).map(Some)
}

fn operation(
    request: &CreateTable,
    metadata: &Metadata,
    clustering: &[ClusteringColumn],
) -> Operation {
    let name = match (request.kind, request.input.is_some()) {
        (CreateKind::Create, false) => "CREATE TABLE",
        (CreateKind::Create, true) => "CREATE TABLE AS SELECT",
        (CreateKind::CreateOrReplace, false) => "CREATE OR REPLACE TABLE",
        (CreateKind::CreateOrReplace, true) => "CREATE OR REPLACE TABLE AS SELECT",
        (CreateKind::Replace, false) => "REPLACE TABLE",
        (CreateKind::Replace, true) => "REPLACE TABLE AS SELECT",
    };
    let mut out = Operation::new(name)
        .text_parameter(
            "partitionBy",
            serde_json::Value::from(metadata.partition_columns.clone()).to_string(),
        )
        .text_parameter(
            "clusterBy",
            clustering
                .iter()
                .map(|column| serde_json::Value::from(column.identifier()))
                .collect::<serde_json::Value>()
                .to_string(),
        )
        .parameter("description", metadata.description.clone())
        .text_parameter("isManaged", request.is_managed.to_string())
        .text_parameter("properties", properties_text(request, metadata));
    if request.v1_save_as_table {
        out = out
            .parameter("canOverwriteSchema", true)
            .parameter("isV1SaveAsTableOverwrite", true);
    }
    out
}

/// The stored properties as JSON, in the order in which they were given.
fn properties_text(request: &CreateTable, metadata: &Metadata) -> String {
    let mut out = serde_json::Map::new();
    let given = request
        .properties
        .recorded
        .iter()
        .map(|(key, _)| canonical_key(key));
    for key in given.chain(metadata.configuration.keys().map(String::as_str)) {
        if let Some(value) = metadata.configuration.get(key) {
            out.entry(key)
                .or_insert_with(|| serde_json::Value::from(properties::shown(key, value)));
        }
    }
    serde_json::Value::Object(out).to_string()
}

/// The partition columns in the schema's spelling.
fn partition_columns(schema: &StructType, wanted: &[String]) -> Result<Vec<String>> {
    let mut out: Vec<String> = Vec::new();
    for name in wanted {
        let field = schema.field(name).ok_or_else(|| {
            DeltaError::new("DELTA_INVALID_PARTITION_COLUMN")
                .param("columnName", name)
                .param("schemaMap", schema.tree_string())
                .with_text(format!(
                    "Partition column {name} not found in schema {}",
                    schema.simple_string()
                ))
        })?;
        let partitionable = field.data_type.is_primitive()
            && !matches!(
                field.data_type,
                DataType::Variant | DataType::Void | DataType::CalendarInterval
            );
        if !partitionable {
            return Err(DeltaError::new("DELTA_INVALID_PARTITION_COLUMN_TYPE")
                .param("name", &field.name)
                .param("dataType", field.data_type.sql()));
        }
        if out.contains(&field.name) {
            return Err(DeltaError::new("COLUMN_ALREADY_EXISTS")
                .param("columnName", format!("`{}`", name.to_lowercase())));
        }
        out.push(field.name.clone());
    }
    if !out.is_empty() && out.len() == schema.len() {
        return Err(DeltaError::new(
            "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION",
        ));
    }
    Ok(out)
}

/// Names of columns must differ by more than case; without column mapping Parquet's special characters are refused.
fn check_names(schema: &StructType, mapped: bool) -> Result<()> {
    duplicates(schema)?;
    if mapped {
        return Ok(());
    }
    let mut invalid: Vec<String> = Vec::new();
    schema.for_each_field(&mut |field| {
        if field
            .name
            .contains([' ', ',', ';', '{', '}', '(', ')', '\n', '\t', '='])
            && !invalid.contains(&field.name)
        {
            invalid.push(field.name.clone());
        }
    });
    if invalid.is_empty() {
        return Ok(());
    }
    Err(DeltaError::new("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES")
        .param("invalidColumnNames", invalid.join(", ")))
}

fn duplicates(schema: &StructType) -> Result<()> {
    let mut seen = BTreeSet::new();
    for field in schema {
        if !seen.insert(field.name.to_lowercase()) {
            return Err(DeltaError::new("DELTA_DUPLICATE_COLUMNS_FOUND")
                .param("coltype", "in the table definition")
                .param("duplicateCols", field.name.to_lowercase()));
        }
        if let DataType::Struct(inner) = &field.data_type {
            duplicates(inner)?;
        }
    }
    Ok(())
}

/// The columns without ids and physical names of another table; where a mapped table is replaced, columns of the same name
/// keep theirs, so that no id ever means two columns.
fn unmapped(schema: &StructType, old: Option<&StructType>) -> StructType {
    StructType::new(schema.iter().map(|field| {
        let known = old.and_then(|old| old.field(&field.name));
        let mut out = StructField {
            data_type: unmapped_type(&field.data_type, known.map(|field| &field.data_type)),
            ..field.clone()
        };
        for key in [keys::COLUMN_MAPPING_ID, keys::COLUMN_MAPPING_PHYSICAL_NAME] {
            out.metadata.remove(key);
            if let Some(value) = known.and_then(|field| field.metadata.get(key)) {
                out.metadata.insert(key.to_string(), value.clone());
            }
        }
        out
    }))
}

fn unmapped_type(data_type: &DataType, old: Option<&DataType>) -> DataType {
    match (data_type, old) {
        (DataType::Struct(inner), Some(DataType::Struct(old))) => {
            DataType::Struct(unmapped(inner, Some(old)))
        }
        (DataType::Struct(inner), _) => DataType::Struct(unmapped(inner, None)),
        (DataType::Array(array), _) => DataType::array(
            unmapped_type(&array.element_type, None),
            array.contains_null,
        ),
        (DataType::Map(map), _) => {
            let (key, value) = (
                unmapped_type(&map.key_type, None),
                unmapped_type(&map.value_type, None),
            );
            DataType::map(key, value, map.value_contains_null)
        }
        (other, _) => other.clone(),
    }
}
