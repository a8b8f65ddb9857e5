//! A version of a table: protocol, metadata and files, cheap to clone and to bring up to date.
//!
//! Loading reads the commits after the newest checkpoint and, of the checkpoint, everything but files; files are read when
//! asked for. [`Snapshot::update`] reads what was committed since and nothing else: its cost does not depend on how many
//! commits there were before.

mod load;
mod update;

#[cfg(test)]
mod tests;

pub(crate) use update::{anchor_holds, apply, first};

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deltaic_protocol::action::{
    Add, CommitInfo, DomainMetadata, Metadata, Protocol, Remove, SetTransaction,
};
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::file_name;
use deltaic_protocol::schema::StructType;
use deltaic_storage::{FileMeta, LOG_DIR, TableStore};
use futures::TryStreamExt;
use futures::stream::{self, BoxStream, StreamExt};
use tokio::sync::OnceCell;

use crate::Version;
use crate::checkpoint::{AddChunk, Named};
use crate::checksum;
use crate::commit::read_commit;
use crate::files::{FileStack, FileSummary, canonical_path};
use crate::reconcile::Header;

/// The domain that names the clustering columns.
const CLUSTERING_DOMAIN: &str = "delta.clustering";

/// The live files of a version, in the order of the log.
pub type Files = Arc<[Arc<Add>]>;

/// One version of a table. Clones share everything.
#[derive(Clone)]
pub struct Snapshot {
    inner: Arc<Inner>,
}

struct Inner {
    store: TableStore,
    version: Version,
    protocol: Arc<Protocol>,
    metadata: Arc<Metadata>,
    schema: Arc<StructType>,
    config: Arc<TableConfig>,
    header: Header,
    files: FileStack,
    /// The version of the checkpoint that the state was built on.
    checkpoint: Option<Version>,
    /// The entry of the file that vouches for this version.
    anchor: OnceCell<FileMeta>,
    /// When the log was last seen to be the one of this version.
    seen: Mutex<Instant>,
    commit_info: OnceCell<Option<Arc<CommitInfo>>>,
    live: OnceCell<Files>,
    summary: OnceCell<Arc<FileSummary>>,
}

impl Snapshot {
    /// Loads a version, or the newest.
    ///
    /// # Errors
    /// `DELTA_TABLE_NOT_FOUND`, `DELTA_VERSION_NOT_FOUND`, a damaged log, or a table that asks for features that are not
    /// supported here.
    pub async fn load(store: &TableStore, version: Option<Version>) -> Result<Self> {
        match load::load(store, version).await? {
            Some(snapshot) => Ok(snapshot),
            None => Err(table_not_found(store)),
        }
    }

    /// Loads the newest version; `None` where there is no log.
    ///
    /// # Errors
    /// As [`Snapshot::load`].
    pub async fn try_load(store: &TableStore) -> Result<Option<Self>> {
        load::load(store, None).await
    }

    /// The newest version, reading only what was committed since this one.
    ///
    /// # Errors
    /// As [`Snapshot::load`]; `DELTA_TABLE_NOT_FOUND` where the log has gone.
    pub async fn update(&self) -> Result<Self> {
        update::update(self).await
    }

    /// Another version of the same table, this one being the newest.
    ///
    /// # Errors
    /// As [`Snapshot::load`].
    pub async fn at_version(&self, version: Version) -> Result<Self> {
        if version == self.version() {
            Ok(self.clone())
        } else {
            Self::load(self.store(), Some(version)).await
        }
    }

    /// The table.
    pub fn store(&self) -> &TableStore {
        &self.inner.store
    }

    /// The version.
    pub fn version(&self) -> Version {
        self.inner.version
    }

    /// The protocol.
    pub fn protocol(&self) -> &Arc<Protocol> {
        &self.inner.protocol
    }

    /// The metadata.
    pub fn metadata(&self) -> &Arc<Metadata> {
        &self.inner.metadata
    }

    /// The logical schema.
    pub fn schema(&self) -> &Arc<StructType> {
        &self.inner.schema
    }

    /// Names of the partition columns, logical.
    pub fn partition_columns(&self) -> &[String] {
        &self.inner.metadata.partition_columns
    }

    /// The typed view of protocol and properties.
    pub fn config(&self) -> &Arc<TableConfig> {
        &self.inner.config
    }

    /// The newest transaction of an application.
    pub fn txn(&self, app_id: &str) -> Option<&SetTransaction> {
        self.inner.header.txns.get(app_id)
    }

    /// The newest transaction of every application.
    pub fn txns(&self) -> &BTreeMap<String, SetTransaction> {
        &self.inner.header.txns
    }

    /// A domain that is not removed.
    pub fn domain(&self, name: &str) -> Option<&DomainMetadata> {
        self.inner.header.domains.get(name)
    }

    /// All domains that are not removed.
    pub fn domains(&self) -> &BTreeMap<String, DomainMetadata> {
        &self.inner.header.domains
    }

    /// The clustering columns, each by its physical names from the top; `None` for a table that is not clustered.
    pub fn clustering_columns(&self) -> Option<Vec<Vec<String>>> {
        let domain = self.domain(CLUSTERING_DOMAIN)?;
        let parsed: serde_json::Value = serde_json::from_str(&domain.configuration).ok()?;
        let columns = parsed.get("clusteringColumns")?.as_array()?.iter();
        let text = |v: &serde_json::Value| v.as_str().map(str::to_owned);
        // The reference nests the names of a column; a flat name is accepted too.
        Some(
            columns
                .filter_map(|c| {
                    c.as_array()
                        .map_or_else(|| Some(vec![text(c)?]), |n| n.iter().map(text).collect())
                })
                .collect(),
        )
    }

    /// The version of the checkpoint that this state was built on, if any.
    pub fn checkpoint_version(&self) -> Option<Version> {
        self.inner.checkpoint
    }

    /// The live files, in the order of the log. Read once, then shared by all clones.
    ///
    /// # Errors
    /// The checkpoint's files cannot be read.
    pub async fn files(&self) -> Result<Files> {
        let files = self.inner.live.get_or_try_init(|| async {
            let live = self.inner.files.live().await;
            Ok(match live {
                Ok(live) => live.into(),
                Err(e) => self
                    .without_checkpoint(e)
                    .await?
                    .file_state()
                    .live()
                    .await?
                    .into(),
            })
        });
        files.await.cloned()
    }

    /// The same version from older checkpoints and commits, where the files in its checkpoint are damaged or missing. Fails with
    /// the error that told so if nothing can stand in.
    async fn without_checkpoint(&self, error: DeltaError) -> Result<Self> {
        let damaged = matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::NotFound);
        let mut checkpoint = self.inner.checkpoint.filter(|_| damaged);
        while let Some(newest) = checkpoint {
            let instead = load::load_below(self.store(), self.version(), newest).await;
            let Some(instead) = instead.ok().flatten() else {
                break;
            };
            let same = instead.metadata().id == self.metadata().id;
            if same && instead.file_state().live().await.is_ok() {
                return Ok(instead);
            }
            checkpoint = instead.checkpoint_version();
        }
        Err(error)
    }

    /// The live files, some at a time. Where nobody has asked for all of them, they go by without being held.
    pub(crate) fn file_chunks(&self) -> BoxStream<'static, Result<AddChunk>> {
        match self.inner.live.get() {
            Some(files) => stream::iter([Ok(AddChunk::Files(files.to_vec()))]).boxed(),
            None => self.inner.files.live_chunks(),
        }
    }

    /// The paths of the live files, some at a time in the order of the log: decoded, relative to the table, absolute where a file
    /// lies outside of it. Of a checkpoint nothing but paths is read, and nothing is held.
    /// A checkpoint that is damaged ends the stream with an error; [`Snapshot::files`] looks for what can stand in.
    pub fn file_paths(&self) -> BoxStream<'static, Result<Vec<Arc<str>>>> {
        let root = self.store().root().clone();
        self.file_names(move |(path, _)| Arc::from(canonical_path(&root, path)))
    }

    /// What `take` makes of path and deletion vector of each live file, as the log has them, some at a time in the order of the log.
    /// Nothing else of a checkpoint is read, and nothing is held. A damaged checkpoint ends the stream, as that of
    /// [`Snapshot::file_paths`].
    pub fn file_names<T: Send + 'static>(
        &self,
        take: impl Fn(Named<'_>) -> T + Clone + Send + 'static,
    ) -> BoxStream<'static, Result<Vec<T>>> {
        self.inner.files.live_named(take)
    }

    /// The tombstones as [`Snapshot::tombstones`] gives them, some at a time; those of a checkpoint are not held. A damaged checkpoint ends
    /// the stream.
    pub fn tombstone_chunks(&self) -> BoxStream<'static, Result<Vec<Arc<Remove>>>> {
        self.inner.files.tombstone_chunks()
    }

    /// The live files as a stream.
    pub fn file_stream(&self) -> BoxStream<'static, Result<Arc<Add>>> {
        let snapshot = self.clone();
        let all = stream::once(async move { snapshot.files().await });
        all.flat_map(|files| match files {
            Ok(files) => {
                stream::iter((0..files.len()).map(move |i| Ok(Arc::clone(&files[i])))).boxed()
            }
            Err(e) => stream::iter([Err(e)]).boxed(),
        })
        .boxed()
    }

    /// All tombstones that the log still knows, expired ones too.
    ///
    /// # Errors
    /// The checkpoint's files cannot be read.
    pub async fn tombstones(&self) -> Result<Vec<Arc<Remove>>> {
        match self.inner.files.tombstones().await {
            Err(e) => {
                let instead = self.without_checkpoint(e).await?;
                instead.file_state().tombstones().await
            }
            tombstones => tombstones,
        }
    }

    /// The tombstones that the table's retention still protects at `now_ms`: deleted at or after now less the retention (VACUUM
    /// keeps files by the same rule, so a checkpoint never forgets a file that VACUUM must keep).
    ///
    /// # Errors
    /// The checkpoint's files cannot be read.
    pub async fn live_tombstones(&self, now_ms: i64) -> Result<Vec<Arc<Remove>>> {
        let since = now_ms.saturating_sub(self.config().deleted_file_retention()?.to_millis());
        let live = |remove: &Arc<Remove>| remove.deletion_timestamp.unwrap_or(0) >= since;
        let mut chunks = self.tombstone_chunks();
        let mut out = Vec::new();
        loop {
            match chunks.try_next().await {
                Ok(Some(chunk)) => out.extend(chunk.into_iter().filter(live)),
                Ok(None) => return Ok(out),
                Err(e) => {
                    let instead = self.without_checkpoint(e).await?;
                    let all = instead.file_state().tombstones().await?;
                    return Ok(all.into_iter().filter(live).collect());
                }
            }
        }
    }

    /// Counts and sizes of the live files. Known from memory or the version's checksum where possible.
    ///
    /// # Errors
    /// The files had to be read and could not.
    pub async fn summary(&self) -> Result<Arc<FileSummary>> {
        let summary = self.inner.summary.get_or_try_init(|| async {
            if self.inner.live.get().is_none()
                && let Some(recorded) = checksum::read_summary(self.store(), self.checked()).await
            {
                return Ok(Arc::new(recorded));
            }
            Ok(Arc::new(FileSummary::of(self.files().await?.iter())))
        });
        summary.await.cloned()
    }

    /// Holds the version's checksum, if it has one, against the state that the log gives: protocol, metadata, number and size of the
    /// files, deletion vectors. Reads all files.
    ///
    /// # Errors
    /// `DELTA_TXN_LOG_FAILED_INTEGRITY` where they disagree; the files cannot be read.
    pub async fn verify_checksum(&self) -> Result<()> {
        let Some(checksum) = checksum::read_own(self.store(), self.checked()).await else {
            return Ok(());
        };
        let mut lines = checksum.header_differences(self.checked());
        let computed = FileSummary::of(self.files().await?.iter());
        lines.extend(checksum.file_differences(&computed));
        if lines.is_empty() {
            return Ok(());
        }
        let what = lines.join("\n");
        Err(checksum::failed_integrity(
            self.store(),
            self.version(),
            &what,
        ))
    }

    /// What a checksum of this version must fit.
    fn checked(&self) -> checksum::Of<'_> {
        let info = self.inner.header.commit_info.as_ref();
        let own = info.filter(|(version, _)| *version == self.version());
        checksum::Of {
            version: self.version(),
            metadata: self.metadata(),
            protocol: self.protocol(),
            txn_id: own.and_then(|(_, info)| info.txn_id.as_deref()),
        }
    }

    /// What the commit of this version says about itself, if its file is still there.
    ///
    /// # Errors
    /// The commit cannot be read.
    pub async fn commit_info(&self) -> Result<Option<Arc<CommitInfo>>> {
        let info = self.inner.commit_info.get_or_try_init(|| async {
            match &self.inner.header.commit_info {
                Some((version, info)) if *version == self.version() => {
                    return Ok(Some(Arc::clone(info)));
                }
                _ => {}
            }
            let actions = match read_commit(self.store(), self.version()).await {
                Ok(actions) => actions,
                Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
                Err(e) => return Err(e),
            };
            Ok(actions.into_iter().find_map(|a| match a {
                deltaic_protocol::Action::CommitInfo(info) => Some(Arc::from(info)),
                _ => None,
            }))
        });
        info.await.cloned()
    }

    /// When the version was committed, milliseconds since 1970-01-01 UTC: its in-commit timestamp where the table keeps them,
    /// else the modification time of its file.
    ///
    /// # Errors
    /// The file is gone, or the in-commit timestamp is missing.
    pub async fn commit_timestamp(&self) -> Result<i64> {
        match self.in_commit_timestamp().await? {
            Some(timestamp) => Ok(timestamp),
            None => Ok(self.anchor().await?.map_or(0, |file| file.modified_ms)),
        }
    }

    /// When the file of this version's commit was written, whatever time is in it; milliseconds, 0 where the commit is gone.
    ///
    /// # Errors
    /// The store fails.
    pub async fn modified_ms(&self) -> Result<i64> {
        Ok(self.anchor().await?.map_or(0, |file| file.modified_ms))
    }

    /// The in-commit timestamp of this version, where the table keeps them.
    ///
    /// # Errors
    /// The table keeps them and this commit has none.
    pub async fn in_commit_timestamp(&self) -> Result<Option<i64>> {
        if !self.config().in_commit_timestamps_enabled()? {
            return Ok(None);
        }
        let feature = |class: &'static str| {
            DeltaError::new(class)
                .param("featureName", "inCommitTimestamp")
                .param("version", self.version())
                .with_path(
                    self.store()
                        .root()
                        .display(&format!("{LOG_DIR}/{}", file_name::commit(self.version()))),
                )
                .with_version(self.version())
        };
        match self.commit_info().await? {
            None => Err(feature("DELTA_MISSING_COMMIT_INFO")),
            Some(info) => match info.in_commit_timestamp {
                Some(timestamp) => Ok(Some(timestamp)),
                None => Err(feature("DELTA_MISSING_COMMIT_TIMESTAMP")),
            },
        }
    }

    /// The entry of the file that vouches for this version; `None` if it has gone.
    async fn anchor(&self) -> Result<Option<FileMeta>> {
        if let Some(anchor) = self.inner.anchor.get() {
            return Ok(Some(anchor.clone()));
        }
        let found = self
            .store()
            .log()
            .stat(&file_name::commit(self.version()))
            .await?;
        if let Some(file) = &found {
            // A second caller may have set it meanwhile, to the same entry.
            let _ = self.inner.anchor.set(file.clone());
        }
        Ok(found)
    }

    /// The entry that vouches for this version, where it has been looked at.
    fn known_anchor(&self) -> Option<&FileMeta> {
        self.inner.anchor.get()
    }

    /// Notes that the log was the one of this version at a moment.
    fn note_seen(&self, moment: Instant) {
        *self
            .inner
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = moment;
    }

    /// Whether the log was seen to be the one of this version this short a time ago.
    pub(crate) fn was_seen_within(&self, time: Duration) -> bool {
        let seen = self
            .inner
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        seen.elapsed() < time
    }

    /// Remembers the entry that vouches for this version, if none is known yet.
    fn note_anchor(&self, file: &FileMeta) {
        let _ = self.inner.anchor.set(file.clone());
    }

    pub(crate) fn header(&self) -> &Header {
        &self.inner.header
    }

    pub(crate) fn file_state(&self) -> &FileStack {
        &self.inner.files
    }

    /// Takes the totals from the version's checksum, if memory does not have them and the checksum does, so that the next version's
    /// can follow from them.
    pub(crate) async fn recall_summary(&self) {
        if self.known_summary().is_none()
            && let Some(recorded) = checksum::read_summary(self.store(), self.checked()).await
        {
            // A second caller may have set them meanwhile, to the same totals.
            let _ = self.inner.summary.set(Arc::new(recorded));
        }
    }

    /// The totals if memory has them.
    pub(crate) fn known_summary(&self) -> Option<&Arc<FileSummary>> {
        self.inner.summary.get()
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Snapshot({}, version {})",
            self.store().root(),
            self.version()
        )
    }
}

/// The error for a place without a Delta log.
pub fn table_not_found(store: &TableStore) -> DeltaError {
    let root = store.root();
    DeltaError::new("DELTA_TABLE_NOT_FOUND")
        .param("tableName", format!("`{}`", root.path()))
        .with_path(root.to_string())
}
