//! Does a commit that was first go together with ours? Pure rules, in the reference's order: protocol, metadata, domains,
//! application transactions, appends, deletes against reads, deletes against deletes.

mod error;
mod metadata;
#[cfg(test)]
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, CommitInfo, Metadata, PartitionValues, Protocol, Remove};
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::TableRoot;

use self::metadata::is_tolerated;
use super::{IsolationLevel, ReadScope};
use crate::Version;
use crate::files::canonical_path;
use crate::skipping::{Column, Predicate, StatisticsFacts, partition_values};

/// Domains that several writers may change, since their content is merged on retry.
const MERGED_DOMAINS: [&str; 1] = ["delta.rowTracking"];

/// The side that lost the race.
#[derive(Debug)]
pub struct Ours<'a> {
    /// The table.
    pub root: &'a TableRoot,
    /// What was read.
    pub scope: &'a ReadScope,
    /// The staged actions, without protocol and metadata.
    pub actions: &'a [Action],
    /// A protocol is staged, or the table is new.
    pub changes_protocol: bool,
    /// Metadata is staged.
    pub changes_metadata: bool,
    /// The level of this commit.
    pub isolation: IsolationLevel,
    /// The metadata that was read; `None` for a new table.
    pub metadata: Option<&'a Metadata>,
    /// The protocol that was read; `None` for a new table.
    pub protocol: Option<&'a Protocol>,
    /// Logical name and physical column of each partition column.
    pub partition_columns: &'a [(String, Column)],
    /// The zone in which partition timestamps without a zone are read.
    pub zone: &'a Zone,
}

/// The commit that was first.
#[derive(Debug)]
pub struct Winner<'a> {
    /// Its version.
    pub version: Version,
    /// Its actions.
    pub actions: &'a [Action],
}

/// Which rule a commit broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictKind {
    /// A commit that admits no other beside it met one.
    ConcurrentWrite,
    /// The protocol changed, or the table came into being.
    ProtocolChanged,
    /// The metadata changed.
    MetadataChanged,
    /// The same application, or the same domain, made progress.
    ConcurrentTransaction,
    /// Files came that should have been read.
    ConcurrentAppend,
    /// Files went that were read.
    ConcurrentDeleteRead,
    /// The same files went twice.
    ConcurrentDeleteDelete,
}

/// Why a commit cannot follow another.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitConflict {
    /// The rule.
    pub kind: ConflictKind,
    /// The version of the commit that was first.
    pub version: Version,
    /// What that commit says about itself.
    pub commit_info: Option<CommitInfo>,
    /// The partition of the file in question, as `[p=1, q=x]`.
    pub partition: Option<String>,
    /// The table, as error texts name it.
    pub table: String,
}

/// The first rule that the winner breaks, if any.
pub fn check(ours: &Ours<'_>, winner: &Winner<'_>) -> Option<CommitConflict> {
    let summary = Summary::of(winner);
    let conflict = |kind: ConflictKind, partition: Option<&PartitionValues>| {
        Some(CommitConflict {
            kind,
            version: winner.version,
            commit_info: summary.commit_info.cloned(),
            partition: partition.and_then(|values| partition_text(ours.partition_columns, values)),
            table: String::new(),
        })
    };
    if let Some(theirs) = summary.protocol {
        // What was written may lean on a feature that the table no longer has.
        let drops = ours.protocol.is_some_and(|read| !theirs.covers(read));
        if ours.changes_protocol || drops {
            return conflict(ConflictKind::ProtocolChanged, None);
        }
    }
    if let Some(theirs) = summary.metadata
        && (ours.changes_metadata || !ours.metadata.is_some_and(|read| is_tolerated(read, theirs)))
    {
        return conflict(ConflictKind::MetadataChanged, None);
    }
    if domains(ours.actions).any(|d| summary.domains.contains(d) && !MERGED_DOMAINS.contains(&d)) {
        return conflict(ConflictKind::ConcurrentTransaction, None);
    }
    if ours
        .scope
        .app_ids
        .iter()
        .any(|app| summary.app_ids.contains(app.as_str()))
    {
        return conflict(ConflictKind::ConcurrentTransaction, None);
    }
    if let Some(add) = appended(ours, &summary) {
        return conflict(ConflictKind::ConcurrentAppend, Some(&add.partition_values));
    }
    let read = |r: &&Remove| {
        ours.scope
            .files
            .contains(&canonical_path(ours.root, &r.path))
    };
    let gone = summary.removes.iter().copied().find(read).or(summary
        .removes
        .first()
        .copied()
        .filter(|_| ours.scope.whole_table));
    if let Some(remove) = gone {
        return conflict(
            ConflictKind::ConcurrentDeleteRead,
            remove.partition_values.as_ref(),
        );
    }
    let mine: BTreeSet<String> = ours
        .actions
        .iter()
        .filter_map(|a| match a {
            Action::Remove(remove) => Some(canonical_path(ours.root, &remove.path)),
            _ => None,
        })
        .collect();
    if let Some(remove) = summary
        .removes
        .iter()
        .find(|r| mine.contains(&canonical_path(ours.root, &r.path)))
    {
        return conflict(
            ConflictKind::ConcurrentDeleteDelete,
            remove.partition_values.as_ref(),
        );
    }
    None
}

/// The first file of the winner that this transaction should have read.
fn appended<'a>(ours: &Ours<'_>, winner: &Summary<'a>) -> Option<&'a Add> {
    let counts = match ours.isolation {
        IsolationLevel::SnapshotIsolation => false,
        IsolationLevel::Serializable => true,
        IsolationLevel::WriteSerializable => ours.changes_metadata || !winner.is_blind_append,
    };
    if !counts {
        return None;
    }
    winner
        .adds
        .iter()
        .copied()
        .find(|add| ours.scope.whole_table || may_match(ours, add))
}

fn may_match(ours: &Ours<'_>, add: &Add) -> bool {
    if ours.scope.predicates.is_empty() {
        return false;
    }
    let columns: Vec<Column> = ours
        .partition_columns
        .iter()
        .map(|(_, column)| column.clone())
        .collect();
    // Only partition values: what statistics say is not looked at, as in the reference.
    let facts = StatisticsFacts::new(
        None,
        partition_values(&add.partition_values, &columns, ours.zone),
    );
    ours.scope
        .predicates
        .iter()
        .any(|p: &Predicate| p.may_match(&facts))
}

struct Summary<'a> {
    commit_info: Option<&'a CommitInfo>,
    protocol: Option<&'a Protocol>,
    metadata: Option<&'a Metadata>,
    domains: BTreeSet<&'a str>,
    app_ids: BTreeSet<&'a str>,
    adds: Vec<&'a Add>,
    removes: Vec<&'a Remove>,
    is_blind_append: bool,
}

impl<'a> Summary<'a> {
    fn of(winner: &Winner<'a>) -> Self {
        let mut out = Self {
            commit_info: None,
            protocol: None,
            metadata: None,
            domains: domains(winner.actions).collect(),
            app_ids: BTreeSet::new(),
            adds: Vec::new(),
            removes: Vec::new(),
            is_blind_append: false,
        };
        for action in winner.actions {
            match action {
                Action::CommitInfo(info) => {
                    out.is_blind_append = info.is_blind_append.unwrap_or(false);
                    out.commit_info = Some(info);
                }
                Action::Protocol(protocol) => out.protocol = Some(protocol),
                Action::Metadata(metadata) => out.metadata = Some(metadata),
                Action::Txn(txn) => {
                    out.app_ids.insert(&txn.app_id);
                }
                Action::Add(add) => out.adds.push(add),
                Action::Remove(remove) => out.removes.push(remove),
                _ => {}
            }
        }
        out
    }
}

fn domains(actions: &[Action]) -> impl Iterator<Item = &str> {
    actions.iter().filter_map(|a| match a {
        Action::DomainMetadata(domain) => Some(domain.domain.as_str()),
        _ => None,
    })
}

/// `[p=1, q=x]`, with logical names; `None` for a table without partitions.
fn partition_text(columns: &[(String, Column)], values: &PartitionValues) -> Option<String> {
    if columns.is_empty() {
        return None;
    }
    let parts: Vec<String> = columns
        .iter()
        .map(|(logical, column)| {
            let value = column
                .path
                .first()
                .and_then(|physical| values.get(physical))
                .cloned()
                .flatten();
            format!("{logical}={}", value.as_deref().unwrap_or("null"))
        })
        .collect();
    Some(format!("[{}]", parts.join(", ")))
}
