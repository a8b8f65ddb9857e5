//! May this project read, may it write? Refusals name the table and the features, in the reference's classes.

use super::{Enablement, FEATURES, MAX_READER_VERSION, MAX_WRITER_VERSION, Support, TableFeature};
use crate::action::{Metadata, Protocol};
use crate::error::{DeltaError, Result};

fn versions(highest: i32) -> String {
    let all: Vec<String> = (1..=highest).map(|version| version.to_string()).collect();
    all.join(", ")
}

fn too_new(protocol: &Protocol, table: &str, delta_version: &str) -> DeltaError {
    DeltaError::new("DELTA_INVALID_PROTOCOL_VERSION")
        .param("tableNameOrPath", table)
        .param("readerRequired", protocol.min_reader_version)
        .param("writerRequired", protocol.min_writer_version)
        .param("deltaVersion", delta_version)
        .param("supportedReaders", versions(MAX_READER_VERSION))
        .param("supportedWriters", versions(MAX_WRITER_VERSION))
        .with_table(table)
}

fn unsupported(names: &[String], able: impl Fn(Support) -> bool) -> Vec<String> {
    let mut out: Vec<String> = names
        .iter()
        .filter(|name| !TableFeature::find(name).is_some_and(|feature| able(feature.support)))
        .cloned()
        .collect();
    out.sort();
    out.dedup();
    out
}

fn refusal(class: &'static str, table: &str, delta_version: &str, names: &[String]) -> DeltaError {
    DeltaError::new(class)
        .param("tableNameOrPath", table)
        .param("deltaVersion", delta_version)
        .param("unsupported", names.join(", "))
        .with_table(table)
}

/// Whether a table of this protocol can be read. `table` is its name or path, `delta_version` the release whose answers are given.
/// Fails with `DELTA_INVALID_PROTOCOL_VERSION` or `DELTA_UNSUPPORTED_FEATURES_FOR_READ`.
pub fn check_readable(protocol: &Protocol, table: &str, delta_version: &str) -> Result<()> {
    if !(0..=MAX_READER_VERSION).contains(&protocol.min_reader_version) {
        return Err(too_new(protocol, table, delta_version));
    }
    let listed: Vec<String> = protocol.reader_features.iter().flatten().cloned().collect();
    let missing = unsupported(&listed, |support| support.read);
    if missing.is_empty() {
        return Ok(());
    }
    let class = "DELTA_UNSUPPORTED_FEATURES_FOR_READ";
    Err(refusal(class, table, delta_version, &missing))
}

/// Whether a table of this protocol can be written; what cannot be read cannot be written either. Fails with
/// `DELTA_INVALID_PROTOCOL_VERSION`, `DELTA_UNSUPPORTED_FEATURES_FOR_READ` or `DELTA_UNSUPPORTED_FEATURES_FOR_WRITE`.
pub fn check_writable(protocol: &Protocol, table: &str, delta_version: &str) -> Result<()> {
    check_readable(protocol, table, delta_version)?;
    if !(0..=MAX_WRITER_VERSION).contains(&protocol.min_writer_version) {
        return Err(too_new(protocol, table, delta_version));
    }
    let missing = unsupported(&protocol.supported_features(), |support| support.write);
    if missing.is_empty() {
        return Ok(());
    }
    let class = "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE";
    Err(refusal(class, table, delta_version, &missing))
}

/// Whether every feature that metadata switches on stands in the protocol. Fails with
/// `DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH`. Features that old versions imply are not held against old tables.
pub fn check_features_match(protocol: &Protocol, metadata: &Metadata) -> Result<()> {
    if !protocol.has_feature_lists() {
        return Ok(());
    }
    let schema = metadata.schema()?;
    let enablement = Enablement {
        metadata,
        schema: &schema,
    };
    let missing: Vec<&str> = FEATURES
        .iter()
        .filter(|feature| feature.name != "invariants" && feature.is_enabled_by(&enablement))
        .filter(|feature| !stands_in(protocol, feature))
        .map(|feature| feature.name)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(DeltaError::new("DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH")
        .param("features", missing.join(", ")))
}

/// A preview of a feature stands for the feature, and the other way round.
fn stands_in(protocol: &Protocol, feature: &TableFeature) -> bool {
    protocol.supports(feature.name) || protocol.supports(&twin(feature.name))
}

/// The name of a feature's preview; of a preview, that of the feature.
pub(super) fn twin(name: &str) -> String {
    match name.strip_suffix("-preview") {
        Some(name) => name.to_owned(),
        None => format!("{name}-preview"),
    }
}
