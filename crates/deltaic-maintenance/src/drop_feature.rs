//! ALTER TABLE … DROP FEATURE (spec: delta, section 1.14).
//!
//! A feature goes in two steps: its traces leave the newest version, then its name leaves the protocol. Old versions may
//! still need a feature that readers must know. Either checkpoints stand between them and the downgrade and are protected
//! from then on, or (`TRUNCATE HISTORY`) the downgrade waits until those versions have gone.

mod check;
mod cleanup;
mod history;
mod tombstones;
mod traces;

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use deltaic_command::DropFeature;
use deltaic_log::commit::read_commit;
use deltaic_log::{
    Commit, CommitConflict, CommitContext, CommitResult, Operation, Snapshot, Transaction,
};
use deltaic_protocol::Action;
use deltaic_protocol::action::Metadata;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::feature::TableFeature;
use deltaic_protocol::properties::key;
use serde_json::Value;

pub use check::removable;

use crate::alter::TableChange;

/// Checkpoints between the last version that used a feature and the downgrade. Readers that try older checkpoints when one
/// fails give up before they come to versions that they do not understand.
const BARRIER_CHECKPOINTS: usize = 3;

/// What the session decides about DROP FEATURE.
#[derive(Debug, Clone, Copy)]
pub struct DropFeatureOptions {
    /// `tableFeatures.fastDropFeature.enabled`: protect the history in place of waiting for its end.
    pub fast_drop: bool,
    /// `tableFeatures.fastDropFeature.generateDVTombstones.enabled`.
    pub vector_tombstones: bool,
    /// `rowTracking.backfill.maxNumFiles`: files in one commit.
    pub backfill_files: usize,
}

impl Default for DropFeatureOptions {
    fn default() -> Self {
        DropFeatureOptions {
            fast_drop: true,
            vector_tombstones: true,
            backfill_files: 22_000,
        }
    }
}

/// Which files a feature asks to be written anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewrite {
    /// Those with a deletion vector (operation `REORG`).
    DeletionVectors,
    /// Those whose columns have an older type (operation `REORG`).
    WidenedTypes,
    /// All, under logical names; mapping leaves the metadata in the same commit (operation `REMOVE COLUMN MAPPING`).
    ColumnMapping,
}

/// Writes files of a table anew; needs a query engine, so it comes from above.
#[async_trait]
pub trait Rewriter: Send + Sync {
    /// Writes the files anew and commits; `None` where there was nothing to do.
    ///
    /// # Errors
    /// Reading and writing, conflicts with other writers.
    async fn rewrite(&self, snapshot: &Snapshot, what: Rewrite) -> Result<Option<CommitResult>>;
}

/// Drops a feature. `done` gets every commit that was made, also where the statement fails after it.
///
/// # Errors
/// What [`removable`] refuses; traces that the user must remove; history that is not gone yet; concurrent changes.
pub async fn run(
    snapshot: &Snapshot,
    request: &DropFeature,
    options: &DropFeatureOptions,
    rewriter: &dyn Rewriter,
    context: &CommitContext,
    done: &mut Vec<CommitResult>,
) -> Result<()> {
    let feature = removable(snapshot.protocol(), request)?;
    let mut drop = Drop {
        request,
        feature,
        options,
        rewriter,
        context,
        snapshot: snapshot.clone(),
        done,
    };
    if request.truncate_history || !options.fast_drop {
        drop.after_history().await
    } else {
        drop.beside_history().await
    }
}

/// One run of the statement.
struct Drop<'a> {
    request: &'a DropFeature,
    feature: &'static TableFeature,
    options: &'a DropFeatureOptions,
    rewriter: &'a dyn Rewriter,
    context: &'a CommitContext,
    /// The newest version that is known.
    snapshot: Snapshot,
    done: &'a mut Vec<CommitResult>,
}

impl Drop<'_> {
    /// The history stays, behind protected checkpoints.
    async fn beside_history(&mut self) -> Result<()> {
        self.clear().await?;
        let protect = check::needs_history(self.feature);
        if protect {
            for _ in 0..BARRIER_CHECKPOINTS {
                self.barrier().await?;
            }
        }
        self.downgrade(protect).await?;
        if protect {
            self.checkpoint().await?;
        }
        Ok(())
    }

    /// The downgrade waits until no version uses the feature.
    async fn after_history(&mut self) -> Result<()> {
        let metadata = std::sync::Arc::clone(self.snapshot.metadata());
        let changed = self.clear().await?;
        if check::needs_history(self.feature) {
            self.barrier().await?;
            if changed {
                return Err(history::wait(self.name(), &metadata));
            }
            history::truncate(self).await?;
            if traces::history_uses(&self.snapshot, self.feature.name).await? {
                return Err(history::still_there(self.name(), &metadata));
            }
        }
        self.downgrade(false).await
    }

    /// The name as the statement has it.
    fn name(&self) -> &str {
        &self.request.feature
    }

    /// Takes the feature out of the protocol. A commit that came in between is looked through; if it does not touch the
    /// feature, the downgrade follows it.
    async fn downgrade(&mut self, protect: bool) -> Result<()> {
        loop {
            if !traces::is_clean(&self.snapshot, self.feature.name).await? {
                return Err(revalidation(None));
            }
            let conflict = match self
                .downgrade_transaction(protect)?
                .commit(self.context)
                .await?
            {
                Commit::Committed(result) => {
                    self.took(result);
                    return Ok(());
                }
                Commit::Conflict(conflict) => conflict,
            };
            let newest = self.snapshot.update().await?;
            for version in self.snapshot.version() + 1..=newest.version() {
                for action in read_commit(newest.store(), version).await? {
                    if traces::brings_back(self.feature.name, &action)? {
                        return Err(revalidation(Some(&conflict)));
                    }
                }
            }
            if newest.version() == self.snapshot.version() {
                return Err(revalidation(Some(&conflict)));
            }
            self.snapshot = newest;
        }
    }

    fn downgrade_transaction(&self, protect: bool) -> Result<Transaction> {
        let snapshot = &self.snapshot;
        let mut operation = Operation::new("DROP FEATURE")
            .text_parameter("featureName", self.name())
            .parameter("truncateHistory", self.request.truncate_history);
        operation.alone = true;
        let mut metadata: Metadata = snapshot.metadata().as_ref().clone();
        let mut transaction = Transaction::begin(snapshot, operation);
        cleanup::at_downgrade(self.feature.name, snapshot, &mut metadata, &mut transaction);
        if protect {
            metadata.configuration.insert(
                key::REQUIRE_CHECKPOINT_PROTECTION_BEFORE_VERSION.to_owned(),
                (snapshot.version() + 1).to_string(),
            );
        }
        transaction.set_metadata(metadata);
        transaction.set_protocol(check::downgraded(
            snapshot.protocol(),
            self.feature,
            protect,
        ));
        Ok(transaction)
    }

    /// An empty commit, and a checkpoint on it that knows nothing of the feature any more.
    async fn barrier(&mut self) -> Result<()> {
        let empty = Transaction::begin(&self.snapshot, Operation::new("Empty Commit"));
        self.commit(empty).await?;
        self.checkpoint().await
    }

    async fn checkpoint(&mut self) -> Result<()> {
        let now = self.context.clock.now_ms();
        deltaic_log::maintain::checkpoint(&self.snapshot, now, self.context.ids.as_ref())
            .await
            .map_err(|error| {
                DeltaError::new("DELTA_FEATURE_DROP_CHECKPOINT_FAILED")
                    .param("featureName", self.feature.name)
                    .with_source(error)
            })?;
        deltaic_log::maintain::clean(&self.snapshot, now).await?;
        Ok(())
    }

    /// Commits a change of the metadata.
    async fn change(&mut self, change: TableChange) -> Result<()> {
        let result = crate::alter::commit(&self.snapshot, change, self.context).await?;
        self.took(result);
        Ok(())
    }

    async fn commit(&mut self, transaction: Transaction) -> Result<()> {
        let result = transaction.commit(self.context).await?.into_result()?;
        self.took(result);
        Ok(())
    }

    fn took(&mut self, result: CommitResult) {
        self.snapshot = result.snapshot.clone();
        self.done.push(result);
    }
}

/// Somebody else's commit stands in the way of the downgrade.
fn revalidation(conflict: Option<&CommitConflict>) -> DeltaError {
    let info = conflict.and_then(|conflict| conflict.commit_info.as_ref());
    let text = info.map_or_else(String::new, |info| {
        format!("Conflicting commit: {}", Value::Object(info.to_map()))
    });
    DeltaError::new("DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL")
        .param("concurrentCommit", text)
        .with_kind(ErrorKind::Conflict)
}

/// The actions of a commit that only lists files anew.
fn relisted(files: impl IntoIterator<Item = deltaic_protocol::action::Add>) -> Vec<Action> {
    files
        .into_iter()
        .map(|mut add| {
            add.data_change = false;
            Action::Add(add)
        })
        .collect()
}
