//! `commitInfo` as the reference writes it (protocol section "Commit Provenance Information").

use deltaic_protocol::Action;
use deltaic_protocol::action::CommitInfo;
use serde_json::Map;

use super::{CommitContext, IsolationLevel, Operation, Transaction};

/// What the attempt adds to what the operation says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt<'a> {
    /// When the commit began, milliseconds.
    pub(super) started: i64,
    /// The in-commit timestamp, where the table keeps them.
    pub(super) in_commit_timestamp: Option<i64>,
    /// The transaction.
    pub(super) txn_id: &'a str,
}

pub(super) fn commit_info(
    transaction: &Transaction,
    attempt: Attempt<'_>,
    isolation: IsolationLevel,
    context: &CommitContext,
) -> CommitInfo {
    let operation: &Operation = &transaction.operation;
    let read_version = transaction.read.as_ref().map(|s| s.version());
    CommitInfo {
        in_commit_timestamp: attempt.in_commit_timestamp,
        timestamp: Some(attempt.in_commit_timestamp.unwrap_or(attempt.started)),
        operation: Some(operation.name.clone()),
        operation_parameters: Some(operation.parameters.iter().cloned().collect::<Map<_, _>>()),
        read_version: read_version.or(operation.large.then_some(-1)),
        isolation_level: Some(isolation.name().to_owned()),
        is_blind_append: Some(is_blind_append(transaction)),
        operation_metrics: Some(operation.metrics.clone()),
        user_metadata: context.user_metadata.clone(),
        tags: (!operation.tags.is_empty()).then(|| operation.tags.clone()),
        engine_info: Some(context.engine_info.clone()),
        txn_id: Some(attempt.txn_id.to_owned()),
        ..CommitInfo::default()
    }
}

/// All file actions are adds and nothing was read to decide on them.
fn is_blind_append(transaction: &Transaction) -> bool {
    let only_adds = !transaction
        .actions
        .iter()
        .any(|a| matches!(a, Action::Remove(_) | Action::Cdc(_)));
    only_adds && !transaction.scope.depends_on_files() && !transaction.operation.large
}

/// The level of a commit: one that changes no data is content with less than the table asks for.
pub(super) fn isolation_level(transaction: &Transaction, table: IsolationLevel) -> IsolationLevel {
    if transaction.operation.large
        || transaction.metadata.is_some()
        || transaction.protocol.is_some()
    {
        return table;
    }
    let changes_nothing = transaction.actions.iter().all(|action| match action {
        Action::Add(add) => !add.data_change,
        Action::Remove(remove) => !remove.data_change,
        Action::Cdc(cdc) => !cdc.data_change,
        Action::DomainMetadata(domain) => domain.domain == "delta.rowTracking",
        _ => false,
    });
    if changes_nothing {
        IsolationLevel::SnapshotIsolation
    } else {
        table
    }
}
