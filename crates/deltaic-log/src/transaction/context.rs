//! What a commit needs from outside: time, names and chance, and the place where a version is claimed.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_protocol::clock::{Clock, SystemClock};
use deltaic_protocol::error::Result;
use deltaic_protocol::file_name;
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::{PutOutcome, TableStore};

use super::Later;
use crate::Version;
use crate::ids::{Ids, RandomIds};

/// Where versions are claimed. Of several writers putting one version exactly one sees [`PutOutcome::Created`].
#[async_trait]
pub trait Committer: Debug + Send + Sync {
    /// Writes a commit if its version is free.
    ///
    /// # Errors
    /// The store failed; whether the commit is there is then not known.
    async fn put(&self, store: &TableStore, version: Version, content: Bytes)
    -> Result<PutOutcome>;
}

/// Claims a version by creating its file in the log folder.
#[derive(Debug, Clone, Copy, Default)]
pub struct PutIfAbsent;

#[async_trait]
impl Committer for PutIfAbsent {
    async fn put(
        &self,
        store: &TableStore,
        version: Version,
        content: Bytes,
    ) -> Result<PutOutcome> {
        store
            .log()
            .create(&file_name::commit(version), content)
            .await
    }
}

/// The surroundings of a commit.
#[derive(Debug, Clone)]
pub struct CommitContext {
    /// The present.
    pub clock: Arc<dyn Clock>,
    /// Names and chance.
    pub ids: Arc<dyn Ids>,
    /// Where versions are claimed.
    pub committer: Arc<dyn Committer>,
    /// Who writes, as `commitInfo.engineInfo`.
    pub engine_info: String,
    /// The user's note on the commit.
    pub user_metadata: Option<String>,
    /// The zone in which partition timestamps without a zone are read.
    pub zone: Zone,
    /// The name of the table in error texts; its path if `None`.
    pub table_name: Option<String>,
    /// After so many lost races the commit fails.
    pub max_attempts: u32,
    /// Write a version checksum after the commit.
    pub write_checksum: bool,
    /// Where the writing of a checksum goes on behind the commit's back, on object stores; the commit waits for it if `None`.
    pub later: Option<Later>,
    /// Write a checkpoint and clean the log when it is time.
    pub write_checkpoint: bool,
    /// No checkpoint of a version whose files are not those that its checksum counted.
    pub checksum_mismatch_is_fatal: bool,
}

impl CommitContext {
    /// The table's name in error texts.
    pub(crate) fn shown_name(&self, store: &TableStore) -> String {
        self.table_name
            .clone()
            .unwrap_or_else(|| format!("delta.`{}`", store.root()))
    }
}

impl Default for CommitContext {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            committer: Arc::new(PutIfAbsent),
            engine_info: concat!("Deltaic/", env!("CARGO_PKG_VERSION")).to_owned(),
            user_metadata: None,
            zone: Zone::utc(),
            table_name: None,
            max_attempts: 10_000_000,
            write_checksum: true,
            later: None,
            write_checkpoint: true,
            checksum_mismatch_is_fatal: true,
        }
    }
}
