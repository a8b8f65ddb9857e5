//! Runs a plan and writes what it yields: one task for each partition of the plan.

use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use deltaic_log::transaction::{Commit, CommitContext, CommitResult, Transaction};
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_storage::{DataPath, TableStore};
use futures::StreamExt;
use tokio::task::JoinSet;

use super::checks::RowGuard;
use super::target::WriteTarget;
use super::task::{WriteTask, WrittenFile};
use crate::error::Classed;

/// What a write has made.
#[derive(Debug, Clone, Default)]
pub struct WriteOutput {
    /// The files in the order of tasks and partition values.
    pub files: Vec<WrittenFile>,
}

/// Commits. Files that this statement has written are removed again where the commit was refused for certain; after any
/// other failure they stay, because the commit may have come through.
///
/// # Errors
/// The commit's.
pub(crate) async fn commit_written(
    transaction: Transaction,
    context: &CommitContext,
    store: &TableStore,
    written: &[String],
) -> Result<CommitResult> {
    let outcome = transaction.commit(context).await;
    let refused = match &outcome {
        Ok(Commit::Committed(_)) => false,
        Ok(Commit::Conflict(_)) => true,
        // The table was dropped meanwhile: where there is no log at all, nothing can name the files.
        Err(error) => error.kind() == ErrorKind::NotFound && has_no_log(store).await,
    };
    if refused {
        for path in written {
            if let Ok(path) = store.resolve(path) {
                let _ = store.data().delete_file(path.as_str()).await;
            }
        }
    }
    outcome?.into_result()
}

/// Whether a listing shows that there is no file of a log; a listing that fails shows nothing.
async fn has_no_log(store: &TableStore) -> bool {
    store.log().list_from("").next().await.is_none()
}

impl WriteOutput {
    /// Paths of the files as the log has them.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.files
            .iter()
            .map(|file| file.add.path.clone())
            .collect()
    }

    /// All rows.
    pub fn rows(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum()
    }

    /// All bytes.
    pub fn bytes(&self) -> i64 {
        self.files.iter().map(|file| file.add.size).sum()
    }
}

/// Where errors of the input come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// Only literal rows: Spark evaluates them before it writes, so their errors stand for themselves.
    Local,
    /// Anything that reads: errors of its rows are failures of the writing task.
    Distributed,
}

/// Writes all rows of a plan whose columns are the table's, in order.
///
/// # Errors
/// The plan's own (as `TASK_WRITE_FAILED` where the reference does so), violated checks, failures of the store. Files that
/// were begun are removed again.
pub async fn write_plan(
    target: &Arc<WriteTarget>,
    guard: &Arc<RowGuard>,
    plan: Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    input: InputKind,
) -> Result<WriteOutput> {
    let partitions = plan.output_partitioning().partition_count();
    let mut tasks = JoinSet::new();
    let limit = std::thread::available_parallelism()
        .map_or(1, |n| n.get())
        .max(1);
    let mut next = 0;
    let mut results: Vec<Option<Vec<WrittenFile>>> = vec![None; partitions];
    let mut begun: Vec<DataPath> = Vec::new();
    let mut failure: Option<DeltaError> = None;
    while next < partitions || !tasks.is_empty() {
        while next < partitions && tasks.len() < limit && failure.is_none() {
            let (target, guard, plan, context) = (
                Arc::clone(target),
                Arc::clone(guard),
                Arc::clone(&plan),
                Arc::clone(&context),
            );
            let number = next;
            tasks.spawn(async move {
                let mut task = WriteTask::new(target, number)?;
                let outcome = run(&mut task, &guard, plan, context, number).await;
                Ok::<_, DeltaError>((number, task.begun().to_vec(), outcome))
            });
            next += 1;
        }
        match tasks.join_next().await {
            None => break,
            Some(Ok(Ok((number, paths, outcome)))) => {
                begun.extend(paths);
                match outcome {
                    Ok(files) => results[number] = Some(files),
                    Err(error) => keep_first(&mut failure, error),
                }
            }
            Some(Ok(Err(error))) => keep_first(&mut failure, error),
            Some(Err(panicked)) => keep_first(
                &mut failure,
                DeltaError::internal(format!("a writing task ended without a result: {panicked}")),
            ),
        }
        if failure.is_some() {
            next = partitions;
        }
    }
    match failure {
        None => Ok(WriteOutput {
            files: results.into_iter().flatten().flatten().collect(),
        }),
        Some(error) => {
            for path in begun {
                // The failure is what counts; what stays behind is not in the log and falls to VACUUM.
                let _ = target.store.data().delete_file(path.as_str()).await;
            }
            Err(present(error, target, input))
        }
    }
}

fn keep_first(slot: &mut Option<DeltaError>, error: DeltaError) {
    slot.get_or_insert(error);
}

async fn run(
    task: &mut WriteTask,
    guard: &RowGuard,
    plan: Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    number: usize,
) -> Result<Vec<WrittenFile>> {
    let mut batches = plan.execute(number, context).classed()?;
    while let Some(batch) = batches.next().await {
        for batch in cut(batch.classed()?) {
            let batch = guard.fit(task.shaper().conform(&batch)?)?;
            guard.check(&batch)?;
            task.write(batch).await?;
        }
    }
    task.finish().await
}

/// Very long batches are written in pieces, so that row groups can be closed in time.
fn cut(batch: RecordBatch) -> Vec<RecordBatch> {
    const ROWS: usize = 65_536;
    if batch.num_rows() <= ROWS {
        return vec![batch];
    }
    (0..batch.num_rows())
        .step_by(ROWS)
        .map(|at| batch.slice(at, ROWS.min(batch.num_rows() - at)))
        .collect()
}

/// Violated checks come out as they are, and so do errors of literal rows; anything else is the failure of a task.
fn present(error: DeltaError, target: &WriteTarget, input: InputKind) -> DeltaError {
    let invariant = error
        .java_class()
        .ends_with("DeltaInvariantViolationException");
    let kind = error.kind();
    let own =
        kind == ErrorKind::Cancelled || (input == InputKind::Local && kind != ErrorKind::Storage);
    // A subquery in place of a value is run before the tasks are.
    let before = matches!(
        error.class(),
        Some("TASK_WRITE_FAILED" | "SCALAR_SUBQUERY_TOO_MANY_ROWS")
    );
    if invariant || own || before {
        return error;
    }
    let root = target.store.root().to_string();
    let hint = error.hint().map(str::to_string);
    let failed = DeltaError::new("TASK_WRITE_FAILED")
        .param("path", &root)
        .with_kind(kind)
        .with_path(root)
        .with_source(error);
    match hint {
        Some(hint) => failed.with_hint(hint),
        None => failed,
    }
}
