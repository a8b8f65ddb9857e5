//! Rows of a checkpoint to actions.

use arrow::array::{AsArray, RecordBatch, StructArray};
use deltaic_protocol::action::{
    Add, CheckpointMetadata, DomainMetadata, Format, Metadata, Protocol, Remove, SetTransaction,
    Sidecar, Tags,
};
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;

use super::Named;
use super::columns::{Columns, IntColumn, LongColumn, TextColumn};
use super::parsed_stats::StatsColumn;

/// The struct column of an action kind in a batch.
fn column<'a>(batch: &'a RecordBatch, name: &str) -> Option<(&'a StructArray, Columns<'a>)> {
    let rows = batch.column_by_name(name)?.as_struct_opt()?;
    Some((rows, Columns::new(rows)))
}

fn set_rows<'a>(rows: &'a StructArray, columns: Columns<'a>) -> impl Iterator<Item = usize> + 'a {
    use arrow::array::Array;
    (0..rows.len()).filter(move |row| columns.is_set(*row))
}

pub(super) struct VectorColumns<'a> {
    columns: Columns<'a>,
    storage: TextColumn,
    place: TextColumn,
    offset: IntColumn,
    size: IntColumn,
    cardinality: LongColumn,
}

impl<'a> VectorColumns<'a> {
    pub(super) fn new(parent: Columns<'a>) -> Option<Self> {
        let columns = parent.nested("deletionVector")?;
        Some(Self {
            columns,
            storage: columns.text("storageType"),
            place: columns.text("pathOrInlineDv"),
            offset: columns.int("offset"),
            size: columns.int("sizeInBytes"),
            cardinality: columns.long("cardinality"),
        })
    }

    pub(super) fn get(&self, row: usize) -> Option<DeletionVectorDescriptor> {
        if !self.columns.is_set(row) {
            return None;
        }
        Some(DeletionVectorDescriptor {
            storage_type: self.storage.get(row)?,
            path_or_inline_dv: self.place.get(row)?,
            offset: self.offset.get(row),
            size_in_bytes: self.size.get(row)?,
            cardinality: self.cardinality.get(row)?,
        })
    }
}

/// The `add` rows of a batch.
pub(super) fn adds(batch: &RecordBatch, out: &mut Vec<Add>) {
    if let Some((rows, _)) = column(batch, "add") {
        add_rows(rows, out);
    }
}

/// The rows of an `add` column.
pub(super) fn add_rows(rows: &StructArray, out: &mut Vec<Add>) {
    let columns = Columns::new(rows);
    let (path, partition, tags) = (
        columns.text("path"),
        columns.map("partitionValues"),
        columns.map("tags"),
    );
    let (size, modified, change) = (
        columns.long("size"),
        columns.long("modificationTime"),
        columns.flag("dataChange"),
    );
    let (stats, parsed) = (
        columns.text("stats"),
        columns.nested("stats_parsed").map(StatsColumn::new),
    );
    let (base, since) = (
        columns.long("baseRowId"),
        columns.long("defaultRowCommitVersion"),
    );
    let (provider, vector) = (
        columns.text("clusteringProvider"),
        VectorColumns::new(columns),
    );
    for row in set_rows(rows, columns) {
        let Some(path) = path.get(row) else { continue };
        out.push(Add {
            path,
            partition_values: partition.get(row).unwrap_or_default(),
            size: size.get(row).unwrap_or_default(),
            modification_time: modified.get(row).unwrap_or_default(),
            data_change: change.get(row).unwrap_or_default(),
            stats: stats
                .get(row)
                .or_else(|| parsed.as_ref().and_then(|p| p.json(row))),
            tags: tags.get(row).filter(|t| !t.is_empty()),
            deletion_vector: vector.as_ref().and_then(|v| v.get(row)),
            base_row_id: base.get(row),
            default_row_commit_version: since.get(row),
            clustering_provider: provider.get(row),
        });
    }
}

/// Paths and deletion vectors of the live files of a batch, all that they are known by.
pub(super) fn named<T>(batch: &RecordBatch, name: impl Fn(Named<'_>) -> Option<T>) -> Vec<T> {
    let mut out = Vec::new();
    if let Some((rows, columns)) = column(batch, "add") {
        let (path, vector) = (columns.text("path"), VectorColumns::new(columns));
        for row in set_rows(rows, columns) {
            if let Some(path) = path.value(row) {
                let vector = vector.as_ref().and_then(|v| v.get(row));
                out.extend(name((path, vector.as_ref())));
            }
        }
    }
    out
}

/// The `remove` rows of a batch.
pub(super) fn removes(batch: &RecordBatch, out: &mut Vec<Remove>) {
    let Some((rows, columns)) = column(batch, "remove") else {
        return;
    };
    let (path, deleted, change) = (
        columns.text("path"),
        columns.long("deletionTimestamp"),
        columns.flag("dataChange"),
    );
    let (extended, partition) = (
        columns.flag("extendedFileMetadata"),
        columns.map("partitionValues"),
    );
    let (size, tags, vector) = (
        columns.long("size"),
        columns.map("tags"),
        VectorColumns::new(columns),
    );
    let (base, since) = (
        columns.long("baseRowId"),
        columns.long("defaultRowCommitVersion"),
    );
    for row in set_rows(rows, columns) {
        let Some(path) = path.get(row) else { continue };
        out.push(Remove {
            path,
            deletion_timestamp: deleted.get(row),
            data_change: change.get(row).unwrap_or_default(),
            extended_file_metadata: extended.get(row),
            partition_values: partition.get(row),
            size: size.get(row),
            tags: tags.get(row),
            deletion_vector: vector.as_ref().and_then(|v| v.get(row)),
            base_row_id: base.get(row),
            default_row_commit_version: since.get(row),
            stats: None,
        });
    }
}

/// The `protocol` of a batch.
pub(super) fn protocol(batch: &RecordBatch) -> Option<Protocol> {
    let (rows, columns) = column(batch, "protocol")?;
    let row = set_rows(rows, columns).next()?;
    Some(Protocol {
        min_reader_version: columns.int("minReaderVersion").get(row)?,
        min_writer_version: columns.int("minWriterVersion").get(row)?,
        reader_features: columns.list("readerFeatures").get(row),
        writer_features: columns.list("writerFeatures").get(row),
    })
}

/// The `metaData` of a batch.
pub(super) fn metadata(batch: &RecordBatch) -> Option<Metadata> {
    let (rows, columns) = column(batch, "metaData")?;
    let row = set_rows(rows, columns).next()?;
    let format = columns
        .nested("format")
        .filter(|f| f.is_set(row))
        .map(|f| Format {
            provider: f
                .text("provider")
                .get(row)
                .unwrap_or_else(|| "parquet".to_owned()),
            options: f.map("options").get_text(row).unwrap_or_default(),
        });
    Some(Metadata {
        id: columns.text("id").get(row)?,
        name: columns.text("name").get(row),
        description: columns.text("description").get(row),
        format: format.unwrap_or_default(),
        schema_string: columns.text("schemaString").get(row).unwrap_or_default(),
        partition_columns: columns
            .list("partitionColumns")
            .get(row)
            .unwrap_or_default(),
        configuration: columns
            .map("configuration")
            .get_text(row)
            .unwrap_or_default(),
        created_time: columns.long("createdTime").get(row),
        extra: serde_json::Map::new(),
    })
}

/// The `txn` rows of a batch.
pub(super) fn txns(batch: &RecordBatch, out: &mut Vec<SetTransaction>) {
    let Some((rows, columns)) = column(batch, "txn") else {
        return;
    };
    let (app, version, updated) = (
        columns.text("appId"),
        columns.long("version"),
        columns.long("lastUpdated"),
    );
    for row in set_rows(rows, columns) {
        if let (Some(app_id), Some(version)) = (app.get(row), version.get(row)) {
            out.push(SetTransaction {
                app_id,
                version,
                last_updated: updated.get(row),
            });
        }
    }
}

/// The `domainMetadata` rows of a batch.
pub(super) fn domains(batch: &RecordBatch, out: &mut Vec<DomainMetadata>) {
    let Some((rows, columns)) = column(batch, "domainMetadata") else {
        return;
    };
    let (domain, configuration, removed) = (
        columns.text("domain"),
        columns.text("configuration"),
        columns.flag("removed"),
    );
    for row in set_rows(rows, columns) {
        if let Some(domain) = domain.get(row) {
            out.push(DomainMetadata {
                domain,
                configuration: configuration.get(row).unwrap_or_default(),
                removed: removed.get(row).unwrap_or_default(),
            });
        }
    }
}

/// The `sidecar` rows of a batch.
pub(super) fn sidecars(batch: &RecordBatch, out: &mut Vec<Sidecar>) {
    let Some((rows, columns)) = column(batch, "sidecar") else {
        return;
    };
    let (path, size, modified) = (
        columns.text("path"),
        columns.long("sizeInBytes"),
        columns.long("modificationTime"),
    );
    let tags = columns.map("tags");
    for row in set_rows(rows, columns) {
        if let Some(path) = path.get(row) {
            out.push(Sidecar {
                path,
                size_in_bytes: size.get(row).unwrap_or_default(),
                modification_time: modified.get(row).unwrap_or_default(),
                tags: tags.get(row),
            });
        }
    }
}

/// The `checkpointMetadata` of a batch.
pub(super) fn checkpoint_metadata(batch: &RecordBatch) -> Option<CheckpointMetadata> {
    let (rows, columns) = column(batch, "checkpointMetadata")?;
    let row = set_rows(rows, columns).next()?;
    let tags: Option<Tags> = columns.map("tags").get(row);
    Some(CheckpointMetadata {
        version: columns.long("version").get(row)?,
        tags,
    })
}
