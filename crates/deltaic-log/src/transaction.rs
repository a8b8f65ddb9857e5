//! Committing: staged actions become the next version, or a conflict says why not (protocol section "Appendix: Optimistic
//! Concurrency", and the reference's rules).
//!
//! A transaction begins on a snapshot (or on a place without a table), collects actions and what it has read, and is then
//! committed once. Losing a race is not an error: the winners are read, [`conflict::check`] decides, and the commit is tried
//! again on top of them or ends as [`Commit::Conflict`].

pub mod conflict;

mod commit_info;
mod context;
mod later;
mod operation;
mod post_commit;
mod prepare;
mod retry;
mod row_tracking;
mod scope;
mod validate;

#[cfg(test)]
mod tests;

use deltaic_protocol::Action;
use deltaic_protocol::action::{
    Add, AddCdcFile, DomainMetadata, Metadata, Protocol, Remove, SetTransaction,
};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_storage::TableStore;

use crate::Version;
use crate::skipping::Predicate;
use crate::snapshot::Snapshot;

pub use crate::ids::{Ids, RandomIds};
pub use conflict::{CommitConflict, ConflictKind};
pub use context::{CommitContext, Committer, PutIfAbsent};
pub use later::Later;
pub use operation::Operation;
pub use prepare::check_definition;
pub use scope::{IsolationLevel, ReadScope};

/// Staged changes to a table.
#[derive(Debug, Clone)]
pub struct Transaction {
    pub(crate) store: TableStore,
    pub(crate) read: Option<Snapshot>,
    pub(crate) operation: Operation,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) actions: Vec<Action>,
    pub(crate) scope: ReadScope,
}

/// What became of a commit.
#[derive(Debug, Clone)]
pub enum Commit {
    /// The version exists.
    Committed(CommitResult),
    /// Another writer was first with something that does not go together with this.
    Conflict(Box<CommitConflict>),
}

/// A commit that succeeded.
#[derive(Debug, Clone)]
pub struct CommitResult {
    /// The version; where an empty commit was left out, the version that was read.
    pub version: Version,
    /// The table at that version.
    pub snapshot: Snapshot,
    /// Nothing was staged and the operation does not record that.
    pub skipped: bool,
    /// How many times the commit was tried.
    pub attempts: u32,
    /// What went wrong after the commit (checksum, checkpoint, cleanup). The commit stands all the same.
    pub warnings: Vec<String>,
}

impl CommitResult {
    /// What a statement answers that found nothing to commit.
    pub fn unchanged(read: &Snapshot) -> Self {
        Self {
            version: read.version(),
            snapshot: read.clone(),
            skipped: true,
            attempts: 0,
            warnings: Vec::new(),
        }
    }
}

impl Commit {
    /// The result, a conflict as the error that the reference raises.
    ///
    /// # Errors
    /// The conflict.
    pub fn into_result(self) -> Result<CommitResult> {
        match self {
            Self::Committed(result) => Ok(result),
            Self::Conflict(conflict) => Err(DeltaError::from(*conflict)),
        }
    }
}

impl Transaction {
    /// A transaction that changes the table at this version.
    pub fn begin(snapshot: &Snapshot, operation: Operation) -> Self {
        Self::start(snapshot.store().clone(), Some(snapshot.clone()), operation)
    }

    /// A transaction that makes a new table; metadata and protocol must be staged.
    pub fn create(store: &TableStore, operation: Operation) -> Self {
        Self::start(store.clone(), None, operation)
    }

    fn start(store: TableStore, read: Option<Snapshot>, operation: Operation) -> Self {
        Self {
            store,
            read,
            operation,
            protocol: None,
            metadata: None,
            actions: Vec::new(),
            scope: ReadScope::default(),
        }
    }

    /// The snapshot that the transaction began on; `None` for a new table.
    pub fn read_snapshot(&self) -> Option<&Snapshot> {
        self.read.as_ref()
    }

    /// The metadata as it will be: the staged one, else that of the snapshot.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.metadata
            .as_ref()
            .or_else(|| self.read.as_ref().map(|s| s.metadata().as_ref()))
    }

    /// The protocol as it will be: the staged one, else that of the snapshot.
    pub fn protocol(&self) -> Option<&Protocol> {
        self.protocol
            .as_ref()
            .or_else(|| self.read.as_ref().map(|s| s.protocol().as_ref()))
    }

    /// The operation, for metrics that are known only at the end.
    pub fn operation_mut(&mut self) -> &mut Operation {
        &mut self.operation
    }

    /// Stages new metadata, which replaces all of the old.
    pub fn set_metadata(&mut self, metadata: Metadata) {
        self.metadata = Some(metadata);
    }

    /// Stages a new protocol.
    pub fn set_protocol(&mut self, protocol: Protocol) {
        self.protocol = Some(protocol);
    }

    /// Stages a file.
    pub fn add(&mut self, add: Add) {
        self.actions.push(Action::Add(add));
    }

    /// Stages the removal of a file.
    pub fn remove(&mut self, remove: Remove) {
        self.actions.push(Action::Remove(remove));
    }

    /// Stages a file of changes.
    pub fn cdc(&mut self, cdc: AddCdcFile) {
        self.actions.push(Action::Cdc(cdc));
    }

    /// Stages an application transaction; its application counts as read.
    pub fn txn(&mut self, txn: SetTransaction) {
        self.scope.app_ids.insert(txn.app_id.clone());
        self.actions.push(Action::Txn(txn));
    }

    /// Stages a domain.
    pub fn domain(&mut self, domain: DomainMetadata) {
        self.actions.push(Action::DomainMetadata(domain));
    }

    /// Stages any action; protocol and metadata replace what was staged before.
    pub fn stage(&mut self, action: Action) {
        match action {
            Action::Protocol(protocol) => self.set_protocol(protocol),
            Action::Metadata(metadata) => self.set_metadata(metadata),
            Action::Txn(txn) => self.txn(txn),
            other => self.actions.push(other),
        }
    }

    /// Stages several actions.
    pub fn stage_all(&mut self, actions: impl IntoIterator<Item = Action>) {
        for action in actions {
            self.stage(action);
        }
    }

    /// Whether anything is staged.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty() && self.metadata.is_none() && self.protocol.is_none()
    }

    /// Declares that the outcome depends on every file of the table.
    pub fn read_whole_table(&mut self) {
        self.scope.whole_table = true;
    }

    /// Declares that the outcome depends on the files that may match a predicate. Only partition columns narrow the scope, as in
    /// the reference.
    pub fn read_where(&mut self, predicate: Predicate) {
        self.scope.predicates.push(predicate);
    }

    /// Declares that these files were read.
    pub fn read_files<'a>(&mut self, files: impl IntoIterator<Item = &'a Add>) {
        let root = self.store.root();
        let paths = files
            .into_iter()
            .map(|add| crate::files::canonical_path(root, &add.path));
        self.scope.files.extend(paths);
    }

    /// Declares that the progress of an application was read.
    pub fn read_txn(&mut self, app_id: &str) {
        self.scope.app_ids.insert(app_id.to_owned());
    }

    /// Commits.
    ///
    /// # Errors
    /// The staged actions are not allowed, or the store failed. A conflict with another writer is no error.
    pub async fn commit(self, context: &CommitContext) -> Result<Commit> {
        retry::commit(self, context).await
    }
}
