//! What a session or an application asks of every statement that writes: the writer options of the reference.

use std::num::NonZeroU64;

use datafusion::catalog::Session;
use deltaic_log::Snapshot;
use deltaic_log::transaction::Transaction;
use deltaic_protocol::action::SetTransaction;

/// A write that an application may repeat without knowing whether it was done (`txnAppId` and `txnVersion`): the commit records
/// the version, and a table that has recorded this version of the application, or a later one, is left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppTransaction {
    /// The application.
    pub app_id: String,
    /// Its own count of what it writes; it only grows.
    pub version: i64,
}

/// Options of the statements that write. A DataFusion application sets them for all of its statements as an extension of its
/// `SessionConfig`, else in [`crate::WriteContext::options`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriterOptions {
    /// The write of an application that INSERT, DELETE, UPDATE or AS SELECT stands for.
    pub transaction: Option<AppTransaction>,
    /// So many rows a data file takes at most; any number if `None`.
    pub max_records_per_file: Option<NonZeroU64>,
    /// DELETE writes deletion vectors where the table allows them; files are written anew if not.
    pub delete_with_vectors: bool,
    /// The same of UPDATE.
    pub update_with_vectors: bool,
}

impl Default for WriterOptions {
    fn default() -> WriterOptions {
        WriterOptions {
            transaction: None,
            max_records_per_file: None,
            delete_with_vectors: true,
            update_with_vectors: true,
        }
    }
}

impl WriterOptions {
    /// The options of a DataFusion session: its extension of this type, else the defaults.
    pub fn of_session(session: &dyn Session) -> WriterOptions {
        session
            .config()
            .get_extension::<WriterOptions>()
            .map_or_else(WriterOptions::default, |options| options.as_ref().clone())
    }

    /// Whether the table has recorded the write already. What has no record counts as version -1, as in the reference.
    pub(crate) fn is_done(&self, snapshot: &Snapshot) -> bool {
        self.transaction.as_ref().is_some_and(|wanted| {
            let recorded = snapshot.txn(&wanted.app_id).map_or(-1, |txn| txn.version);
            recorded >= wanted.version
        })
    }

    /// Records the write in its commit. Another commit of the same application since the snapshot is then a conflict.
    pub(crate) fn stage(&self, transaction: &mut Transaction, now_ms: i64) {
        if let Some(wanted) = &self.transaction {
            transaction.txn(SetTransaction {
                app_id: wanted.app_id.clone(),
                version: wanted.version,
                last_updated: Some(now_ms),
            });
        }
    }
}
