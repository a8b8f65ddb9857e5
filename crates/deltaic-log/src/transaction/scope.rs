//! What a transaction has read, and how strictly that counts.

use std::collections::BTreeSet;

use crate::skipping::Predicate;

/// What the outcome of a transaction depends on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadScope {
    /// Every file.
    pub whole_table: bool,
    /// Files that may match one of these.
    pub predicates: Vec<Predicate>,
    /// Canonical paths of files that were read.
    pub files: BTreeSet<String>,
    /// Applications whose progress was read.
    pub app_ids: BTreeSet<String>,
}

impl ReadScope {
    /// Whether the outcome depends on files at all.
    pub fn depends_on_files(&self) -> bool {
        self.whole_table || !self.predicates.is_empty() || !self.files.is_empty()
    }
}

/// How strictly concurrent commits are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsolationLevel {
    /// As if all commits came one after the other; the reference's default.
    Serializable,
    /// Blind appends of others may be ordered after this commit.
    WriteSerializable,
    /// Appends of others do not matter; for commits that change no data.
    SnapshotIsolation,
}

impl IsolationLevel {
    /// The name in `commitInfo` and in the table property.
    pub fn name(self) -> &'static str {
        match self {
            Self::Serializable => "Serializable",
            Self::WriteSerializable => "WriteSerializable",
            Self::SnapshotIsolation => "SnapshotIsolation",
        }
    }

    /// The level of a name, in any case.
    pub fn parse(name: &str) -> Option<Self> {
        [
            Self::Serializable,
            Self::WriteSerializable,
            Self::SnapshotIsolation,
        ]
        .into_iter()
        .find(|level| level.name().eq_ignore_ascii_case(name))
    }
}
