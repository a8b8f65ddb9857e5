//! From staged actions to the bytes of a commit, anew for each attempt: what depends on the version that the commit follows
//! (in-commit timestamp, row ids) is computed here.

use std::sync::Arc;

use bytes::Bytes;
use deltaic_protocol::Action;
use deltaic_protocol::action::{Metadata, Protocol};
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::feature::check_features_match;
use deltaic_protocol::properties::key;
use deltaic_protocol::statistics::check_stats_columns;
use deltaic_protocol::uniform;

use super::commit_info::{Attempt, commit_info, isolation_level};
use super::validate::validate;
use super::{CommitContext, IsolationLevel, Transaction, row_tracking};
use crate::Version;
use crate::changes::check_change_columns;
use crate::commit::commit_text;
use crate::manifest;
use crate::snapshot::Snapshot;

/// A commit that is ready to be put.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) version: Version,
    pub(super) actions: Vec<Action>,
    pub(super) bytes: Bytes,
    pub(super) in_commit_timestamp: Option<i64>,
    pub(super) isolation: IsolationLevel,
}

/// Prepares the commit that follows `base`.
pub(super) async fn prepare(
    transaction: &Transaction,
    base: Option<&Snapshot>,
    started: i64,
    txn_id: &str,
    context: &CommitContext,
) -> Result<Prepared> {
    let version = base.map_or(0, |s| s.version() + 1);
    let protocol = transaction
        .protocol
        .clone()
        .map(Arc::new)
        .or_else(|| base.map(|s| Arc::clone(s.protocol())));
    let metadata = transaction
        .metadata
        .clone()
        .map(Arc::new)
        .or_else(|| base.map(|s| Arc::clone(s.metadata())));
    let metadata = metadata.ok_or_else(|| {
        DeltaError::new("DELTA_METADATA_ABSENT").with_path(transaction.store.root().to_string())
    })?;
    let protocol = protocol.unwrap_or_else(|| Arc::new(Protocol::legacy(1, 2)));
    let unchanged =
        base.filter(|_| transaction.protocol.is_none() && transaction.metadata.is_none());
    let config = match unchanged {
        Some(base) => Arc::clone(base.config()),
        None => {
            check_features_match(&protocol, &metadata)?;
            let config = Arc::new(TableConfig::new(&metadata, &protocol));
            manifest::check_vectors(&config, base, &context.shown_name(&transaction.store)).await?;
            config
        }
    };
    let mut actions = transaction.actions.clone();
    if unchanged.is_none() {
        check_change_columns(base, &metadata)?;
    }
    if let Some(metadata) = &transaction.metadata {
        check_definition(metadata, base.map(|snapshot| snapshot.metadata().as_ref()))?;
    }
    validate(transaction.store.root(), &config, base, &actions)?;
    if config.assigns_row_ids()? {
        row_tracking::assign(&mut actions, base, version).await?;
    }
    let in_commit_timestamp = match config.in_commit_timestamps_enabled()? {
        false => None,
        true => Some(next_timestamp(base, context.clock.now_ms().max(started)).await?),
    };
    let table_level = config
        .get(key::ISOLATION_LEVEL)
        .and_then(IsolationLevel::parse)
        .unwrap_or(IsolationLevel::Serializable);
    let isolation = isolation_level(transaction, table_level);
    let attempt = Attempt {
        started,
        in_commit_timestamp,
        txn_id,
    };
    let mut all = vec![Action::CommitInfo(Box::new(commit_info(
        transaction,
        attempt,
        isolation,
        context,
    )))];
    if let Some(metadata) = &transaction.metadata {
        all.push(Action::Metadata(with_enablement(
            metadata,
            base,
            version,
            in_commit_timestamp,
        )?));
    }
    if transaction.protocol.is_some() || base.is_none() {
        all.push(Action::Protocol(protocol.as_ref().clone()));
    }
    all.extend(actions);
    let bytes = Bytes::from(commit_text(&all));
    Ok(Prepared {
        version,
        actions: all,
        bytes,
        in_commit_timestamp,
        isolation,
    })
}

/// What properties say of the schema and of each other; `before` is the metadata that the new one replaces.
///
/// # Errors
/// Columns that cannot have statistics, formats that the table is not written in.
pub fn check_definition(metadata: &Metadata, before: Option<&Metadata>) -> Result<()> {
    let schema = metadata.schema()?;
    if let Some(list) = metadata.configuration.get(key::DATA_SKIPPING_STATS_COLUMNS) {
        check_stats_columns(list, &schema, &metadata.partition_columns)?;
    }
    uniform::check(metadata, &schema, before)
}

/// The in-commit timestamp after `base`: now, but later than the version before.
async fn next_timestamp(base: Option<&Snapshot>, now: i64) -> Result<i64> {
    match base {
        None => Ok(now),
        Some(base) => Ok(now.max(base.commit_timestamp().await? + 1)),
    }
}

/// Records since when in-commit timestamps count, if this commit switches them on in a table that had none. Where they are on
/// already, metadata that replaces the old keeps that record: older versions have no such timestamps.
fn with_enablement(
    metadata: &Metadata,
    base: Option<&Snapshot>,
    version: Version,
    timestamp: Option<i64>,
) -> Result<Metadata> {
    let mut out = metadata.clone();
    let (Some(base), Some(timestamp)) = (base, timestamp) else {
        return Ok(out);
    };
    let since = if base.config().in_commit_timestamps_enabled()? {
        base.config().in_commit_timestamp_enablement()?
    } else {
        Some((version, timestamp))
    };
    let keys = [
        key::IN_COMMIT_TIMESTAMP_ENABLEMENT_VERSION,
        key::IN_COMMIT_TIMESTAMP_ENABLEMENT_TIMESTAMP,
    ];
    match since {
        Some((version, timestamp)) => {
            for (key, value) in keys.into_iter().zip([version, timestamp]) {
                out.configuration.insert(key.to_owned(), value.to_string());
            }
        }
        None => keys.iter().for_each(|key| {
            out.configuration.remove(*key);
        }),
    }
    Ok(out)
}
