//! Table features (protocol: "Table Features", "Valid Feature Names in Table Features"): one table of all, with kind, the legacy
//! versions that imply them, what they require, how metadata switches them on, and whether this project can read and write them.

mod check;
mod list;
mod protocol;
#[cfg(test)]
mod tests;

pub use check::{check_features_match, check_readable, check_writable};
pub use list::FEATURES;
pub use protocol::{ProtocolUpgrade, protocol_for_new_table, upgraded_protocol};

use crate::action::Metadata;
use crate::schema::StructType;

/// Highest reader version of this project: the one with feature lists.
pub const MAX_READER_VERSION: i32 = 3;
/// Highest writer version of this project: the one with feature lists.
pub const MAX_WRITER_VERSION: i32 = 7;
/// Property keys that list a feature begin so.
pub const FEATURE_PREFIX: &str = "delta.feature.";

/// Who must understand a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeatureKind {
    /// Only writers.
    Writer,
    /// Readers and writers.
    ReaderWriter,
}

/// What this project can do with a table that lists the feature. Flags of one table, so that they are changed in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Support {
    pub read: bool,
    /// Writing rows is possible; an operation that the feature makes special still checks for itself.
    pub write: bool,
}

/// One feature.
#[derive(Debug, Clone, Copy)]
pub struct TableFeature {
    /// As in the protocol's lists; keys compare it without regard to case.
    pub name: &'static str,
    pub kind: FeatureKind,
    /// The lowest reader and writer version that imply it; none for features that only lists can name.
    pub legacy: Option<(i32, i32)>,
    /// Features that must come with it.
    pub requires: &'static [&'static str],
    /// Whether metadata makes it necessary; none for features that only `delta.feature.x` or a command switches on.
    pub enabled_by: Option<fn(&Enablement<'_>) -> bool>,
    /// Whether metadata adds it to the protocol of a table that exists, or the user must do so first.
    pub updates_existing: bool,
    /// Whether `ALTER TABLE … DROP FEATURE` knows how to remove it.
    pub removable: bool,
    pub support: Support,
}

/// What decides whether a feature is switched on.
#[derive(Debug, Clone, Copy)]
pub struct Enablement<'a> {
    pub metadata: &'a Metadata,
    pub schema: &'a StructType,
}

impl Enablement<'_> {
    /// The text of a property.
    pub fn property(&self, key: &str) -> Option<&str> {
        self.metadata.configuration.get(key).map(String::as_str)
    }

    /// Whether a boolean property is true.
    pub fn is_true(&self, key: &str) -> bool {
        self.property(key)
            .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
    }
}

impl TableFeature {
    /// The feature of that name, whatever its case.
    pub fn find(name: &str) -> Option<&'static TableFeature> {
        FEATURES
            .iter()
            .find(|feature| feature.name.eq_ignore_ascii_case(name))
    }

    /// Whether readers must understand it.
    pub fn is_reader_writer(&self) -> bool {
        self.kind == FeatureKind::ReaderWriter
    }

    /// Whether this metadata needs it.
    pub fn is_enabled_by(&self, enablement: &Enablement<'_>) -> bool {
        self.enabled_by.is_some_and(|enabled| enabled(enablement))
    }

    /// Its key in table properties.
    pub fn property_key(&self) -> String {
        format!("{FEATURE_PREFIX}{}", self.name)
    }
}
