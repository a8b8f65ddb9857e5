//! Version checksums: `N.crc`, the totals of a version in a small file beside its commit (protocol section "Version Checksum
//! File"). They are written once, after the commit, and never changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use deltaic_protocol::action::{Add, DomainMetadata, Metadata, Protocol, SetTransaction};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::file_name;
use deltaic_storage::{LOG_DIR, TableStore};
use serde::{Deserialize, Serialize};

use crate::Version;
use crate::files::{FileSummary, SizeHistogram};

/// A version with more live files does not list them in its checksum.
pub const MAX_FILES: usize = 50;
/// A version with more application transactions does not list them.
const MAX_TXNS: usize = 100;
/// A version with more domains does not list them.
const MAX_DOMAINS: usize = 10;

/// The content of a version checksum. An absent list was not recorded, an empty one has no entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionChecksum {
    /// The transaction that made the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub txn_id: Option<String>,
    /// Bytes of all live files.
    pub table_size_bytes: i64,
    /// Number of live files.
    pub num_files: i64,
    /// Rows that deletion vectors delete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_deleted_records_opt: Option<i64>,
    /// Files with a deletion vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_deletion_vectors_opt: Option<i64>,
    /// Always 1.
    pub num_metadata: i64,
    /// Always 1.
    pub num_protocol: i64,
    /// The in-commit timestamp, where the table keeps them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_commit_timestamp_opt: Option<i64>,
    /// Application transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_transactions: Option<Vec<SetTransaction>>,
    /// Domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_metadata: Option<Vec<DomainMetadata>>,
    /// The metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Files by size.
    #[serde(
        default,
        alias = "histogramOpt",
        skip_serializing_if = "Option::is_none"
    )]
    pub file_size_histogram: Option<RecordedHistogram>,
    /// Files by number of deleted rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_record_counts_histogram_opt: Option<DeletedHistogram>,
    /// The live files, if they are few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_files: Option<Vec<Add>>,
}

/// A histogram of file sizes in its recorded form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedHistogram {
    /// Lower bounds of the bins.
    pub sorted_bin_boundaries: Vec<i64>,
    /// Files per bin.
    pub file_counts: Vec<i64>,
    /// Bytes per bin.
    pub total_bytes: Vec<i64>,
}

/// A histogram of deleted rows in its recorded form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletedHistogram {
    /// Files per bin.
    pub deleted_record_counts: Vec<i64>,
}

/// What a checksum is made from.
#[derive(Debug)]
pub struct ChecksumInput<'a> {
    /// The transaction.
    pub txn_id: &'a str,
    /// Totals.
    pub summary: &'a FileSummary,
    /// The live files, if they are few enough to list.
    pub files: Option<&'a [Arc<Add>]>,
    /// The in-commit timestamp.
    pub in_commit_timestamp: Option<i64>,
    /// Application transactions.
    pub txns: &'a BTreeMap<String, SetTransaction>,
    /// Domains.
    pub domains: &'a BTreeMap<String, DomainMetadata>,
    /// The metadata.
    pub metadata: &'a Metadata,
    /// The protocol.
    pub protocol: &'a Protocol,
    /// The table supports deletion vectors.
    pub deletion_vectors: bool,
}

impl VersionChecksum {
    /// The checksum of a version.
    pub fn new(input: &ChecksumInput<'_>) -> Self {
        let summary = input.summary;
        let with_vectors = |value: i64| input.deletion_vectors.then_some(value);
        Self {
            txn_id: Some(input.txn_id.to_owned()),
            table_size_bytes: summary.size_in_bytes,
            num_files: summary.num_files,
            num_deleted_records_opt: with_vectors(summary.num_deleted_records),
            num_deletion_vectors_opt: with_vectors(summary.num_deletion_vectors),
            num_metadata: 1,
            num_protocol: 1,
            in_commit_timestamp_opt: input.in_commit_timestamp,
            set_transactions: (input.txns.len() <= MAX_TXNS)
                .then(|| input.txns.values().cloned().collect()),
            domain_metadata: (input.domains.len() <= MAX_DOMAINS)
                .then(|| input.domains.values().cloned().collect()),
            metadata: Some(input.metadata.clone()),
            protocol: Some(input.protocol.clone()),
            file_size_histogram: Some(RecordedHistogram {
                sorted_bin_boundaries: summary.histogram.bounds.to_vec(),
                file_counts: summary.histogram.counts.clone(),
                total_bytes: summary.histogram.bytes.clone(),
            }),
            deleted_record_counts_histogram_opt: input.deletion_vectors.then(|| DeletedHistogram {
                deleted_record_counts: summary.deleted_records.to_vec(),
            }),
            all_files: input
                .files
                .map(|files| files.iter().map(|add| listed(add)).collect()),
        }
    }

    /// The totals, if the checksum has all that is needed to carry them on.
    pub fn summary(&self) -> Option<FileSummary> {
        let histogram = self.file_size_histogram.as_ref()?;
        let bins = histogram.sorted_bin_boundaries.len();
        if bins == 0 || histogram.file_counts.len() != bins || histogram.total_bytes.len() != bins {
            return None;
        }
        let total = |bins: &[i64]| bins.iter().fold(0_i64, |sum, bin| sum.wrapping_add(*bin));
        if total(&histogram.file_counts) != self.num_files
            || total(&histogram.total_bytes) != self.table_size_bytes
        {
            return None;
        }
        let mut deleted = [0; 10];
        match &self.deleted_record_counts_histogram_opt {
            Some(recorded) if recorded.deleted_record_counts.len() == deleted.len() => {
                deleted.copy_from_slice(&recorded.deleted_record_counts);
            }
            Some(_) => return None,
            None if self.may_have_vectors() => return None,
            None => deleted[0] = self.num_files,
        }
        Some(FileSummary {
            num_files: self.num_files,
            size_in_bytes: self.table_size_bytes,
            num_deletion_vectors: self.num_deletion_vectors_opt.unwrap_or(0),
            num_deleted_records: self.num_deleted_records_opt.unwrap_or(0),
            histogram: SizeHistogram {
                bounds: histogram.sorted_bin_boundaries.clone().into(),
                counts: histogram.file_counts.clone(),
                bytes: histogram.total_bytes.clone(),
            },
            deleted_records: deleted,
        })
    }
}

impl VersionChecksum {
    /// The table supports deletion vectors and the checksum does not say that there are none.
    fn may_have_vectors(&self) -> bool {
        let features = self
            .protocol
            .as_ref()
            .and_then(|p| p.reader_features.as_ref());
        let supported = features.is_some_and(|f| f.iter().any(|name| name == "deletionVectors"));
        self.num_deletion_vectors_opt
            .map_or(supported, |vectors| vectors != 0)
    }
}

/// A file as state lists it: it changes no data.
fn listed(add: &Add) -> Add {
    Add {
        data_change: false,
        ..add.clone()
    }
}

/// The checksum of a version, if it is there and readable.
pub async fn read_checksum(store: &TableStore, version: Version) -> Option<VersionChecksum> {
    let bytes = store.log().read(&file_name::checksum(version)).await.ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// The version that a checksum is held against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Of<'a> {
    /// Its number.
    pub(crate) version: Version,
    /// Its metadata.
    pub(crate) metadata: &'a Metadata,
    /// Its protocol.
    pub(crate) protocol: &'a Protocol,
    /// The transaction that made it, where that is known.
    pub(crate) txn_id: Option<&'a str>,
}

/// The checksum of a version, if it was made for this commit of this table: what another commit left under the number, in a log that
/// was cut back or made anew, does not count.
pub(crate) async fn read_own(store: &TableStore, of: Of<'_>) -> Option<VersionChecksum> {
    let checksum = read_checksum(store, of.version).await?;
    let same_table = checksum
        .metadata
        .as_ref()
        .is_some_and(|recorded| recorded.id == of.metadata.id);
    let other_commit = match (&checksum.txn_id, of.txn_id) {
        (Some(recorded), Some(txn_id)) => recorded != txn_id,
        _ => false,
    };
    (same_table && !other_commit).then_some(checksum)
}

/// The totals that the checksum of a version records, if it agrees with the log in the rest.
pub(crate) async fn read_summary(store: &TableStore, of: Of<'_>) -> Option<FileSummary> {
    let checksum = read_own(store, of).await?;
    if checksum.header_differences(of).is_empty() {
        checksum.summary()
    } else {
        None
    }
}

impl VersionChecksum {
    /// What the checksum says differently about protocol and metadata, a line each.
    pub(crate) fn header_differences(&self, of: Of<'_>) -> Vec<String> {
        let mut out = Vec::new();
        let sorted = |protocol: &Protocol| {
            let mut protocol = protocol.clone();
            for list in [&mut protocol.reader_features, &mut protocol.writer_features] {
                list.iter_mut().for_each(|names| names.sort());
            }
            protocol
        };
        if let Some(recorded) = &self.protocol
            && sorted(recorded) != sorted(of.protocol)
        {
            out.push(format!(
                "Protocol - Expected: {recorded:?} Computed: {:?}",
                of.protocol
            ));
        }
        if let Some(recorded) = &self.metadata
            && recorded != of.metadata
        {
            out.push(format!(
                "Metadata - Expected: {recorded:?} Computed: {:?}",
                of.metadata
            ));
        }
        out
    }

    /// What the checksum says differently about the files, a line for each total.
    pub(crate) fn file_differences(&self, computed: &FileSummary) -> Option<String> {
        let recorded = FileSummary {
            num_files: self.num_files,
            size_in_bytes: self.table_size_bytes,
            num_deletion_vectors: self
                .num_deletion_vectors_opt
                .unwrap_or(computed.num_deletion_vectors),
            num_deleted_records: self
                .num_deleted_records_opt
                .unwrap_or(computed.num_deleted_records),
            ..FileSummary::default()
        };
        recorded.differences(computed)
    }
}

/// The error for a version whose checksum and log do not agree.
pub(crate) fn failed_integrity(store: &TableStore, version: Version, what: &str) -> DeltaError {
    DeltaError::new("DELTA_TXN_LOG_FAILED_INTEGRITY")
        .param("version", version)
        .param("mismatchStringOpt", what)
        .with_path(store.root().display(LOG_DIR))
        .with_version(version)
}

/// Writes the checksum of a version, unless there is one.
///
/// # Errors
/// The store fails.
pub async fn write_checksum(
    store: &TableStore,
    version: Version,
    checksum: &VersionChecksum,
) -> Result<()> {
    let mut text = serde_json::to_string(checksum).map_err(|e| {
        DeltaError::internal(format!("a version checksum could not be written: {e}"))
    })?;
    text.push('\n');
    store
        .log()
        .create(&file_name::checksum(version), Bytes::from(text))
        .await?;
    Ok(())
}
