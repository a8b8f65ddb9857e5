//! SHALLOW CLONE: a table of its own whose first version names the files of another table where they are (spec: delta,
//! section 7.1).
//!
//! The clone owns no file of its source: they stand in its log by absolute paths, which lie outside of its folder, where
//! VACUUM never looks.

mod plan;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_command::CloneReport;
use deltaic_log::{CommitContext, CommitResult, Operation, Snapshot, Transaction};
use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, DomainMetadata, Metadata, Protocol};
use deltaic_protocol::error::Result;
use deltaic_protocol::properties::PropertyChanges;
use deltaic_storage::TableStore;

pub use plan::{ClonePlan, TargetState, plan};

/// What is cloned: one version of a Delta table, or the files of a Parquet table.
#[derive(Debug, Clone)]
pub struct CloneSource {
    /// As the history tells it: `catalog.schema.table`, or ``delta.`file:/path` ``.
    pub name: String,
    /// The version; -1 for a table that has none.
    pub version: i64,
    /// Where the source is; paths of its files are relative to it.
    pub store: TableStore,
    /// Its protocol.
    pub protocol: Protocol,
    /// Its metadata.
    pub metadata: Metadata,
    /// Its domains.
    pub domains: BTreeMap<String, DomainMetadata>,
    /// Its files, in the order of the log.
    pub files: Vec<Arc<Add>>,
}

impl CloneSource {
    /// A version of a Delta table.
    ///
    /// # Errors
    /// The version cannot be read.
    pub async fn of(name: impl Into<String>, snapshot: &Snapshot) -> Result<CloneSource> {
        Ok(CloneSource {
            name: name.into(),
            version: snapshot.version(),
            store: snapshot.store().clone(),
            protocol: snapshot.protocol().as_ref().clone(),
            metadata: snapshot.metadata().as_ref().clone(),
            domains: snapshot.domains().clone(),
            files: snapshot.files().await?.to_vec(),
        })
    }

    /// The numbers of a clone of it.
    pub fn report(&self) -> CloneReport {
        CloneReport {
            source_table_size: crate::facts::total(self.files.iter().map(|add| add.size)),
            source_num_of_files: i64::try_from(self.files.len()).unwrap_or(i64::MAX),
            ..CloneReport::default()
        }
    }
}

/// What the user and the session decide about a clone.
#[derive(Debug, Clone, Default)]
pub struct CloneOptions {
    /// The checked TBLPROPERTIES; they override those of the source.
    pub properties: PropertyChanges,
    /// `spark.databricks.delta.restore.protocolDowngradeAllowed`: a table that is replaced need not keep its protocol.
    pub protocol_downgrade: bool,
}

/// Makes the clone at a place where no table is, or where one without files is (`existing`).
///
/// # Errors
/// A table with files, files in another store or inside of the clone, properties that a clone cannot have, another writer at
/// the same place.
pub async fn run(
    source: &CloneSource,
    target: &TableStore,
    existing: Option<&Snapshot>,
    options: &CloneOptions,
    context: &CommitContext,
) -> Result<CommitResult> {
    let state = match existing {
        Some(snapshot) => Some(TargetState {
            protocol: snapshot.protocol().as_ref().clone(),
            metadata: snapshot.metadata().as_ref().clone(),
            domains: snapshot.domains().clone(),
            files: snapshot.files().await?.len(),
        }),
        None => None,
    };
    let fresh = || context.ids.uuid();
    let plan = plan(source, target, state.as_ref(), options, &fresh)?;
    let operation = operation(source);
    let mut transaction = match existing {
        Some(snapshot) => Transaction::begin(snapshot, operation),
        None => Transaction::create(target, operation),
    };
    transaction.read_whole_table();
    transaction.set_metadata(plan.metadata);
    transaction.set_protocol(plan.protocol);
    transaction.stage_all(plan.adds.into_iter().map(Action::Add));
    transaction.stage_all(plan.domains.into_iter().map(Action::DomainMetadata));
    transaction.commit(context).await?.into_result()
}

fn operation(source: &CloneSource) -> Operation {
    let report = source.report();
    let mut operation = Operation::new("CLONE")
        .text_parameter("source", &source.name)
        .parameter("sourceVersion", source.version)
        .metric("sourceTableSize", report.source_table_size)
        .metric("sourceNumOfFiles", report.source_num_of_files)
        .metric("numRemovedFiles", report.num_removed_files)
        .metric("numCopiedFiles", report.num_copied_files)
        .metric("removedFilesSize", report.removed_files_size)
        .metric("copiedFilesSize", report.copied_files_size);
    operation.large = true;
    operation
}
