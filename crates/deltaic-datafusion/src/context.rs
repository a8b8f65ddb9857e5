//! What a statement that writes needs from its session, and what it answers.

use std::sync::Arc;
use std::time::Instant;

use datafusion::catalog::Session;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use deltaic_log::transaction::{CommitContext, CommitResult};
use deltaic_log::{REFERENCE_VERSION, Snapshot};
use deltaic_maintenance::clustering;
use deltaic_protocol::config::{ColumnMappingMode, TableConfig};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::StructType;
use deltaic_protocol::statistics::{DEFAULT_STRING_PREFIX, StatisticsColumns};
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::TableStore;

use crate::error::Classed;
use crate::options::WriterOptions;
use crate::tracking::RowTracking;
use crate::write::checks::{RowGuard, WriteChecks};
use crate::write::collector::StatsPlan;
use crate::write::job::{InputKind, WriteOutput, write_plan};
use crate::write::shape::{Shaper, file_schema};
use crate::write::target::{FileKind, PartitionColumn, WriteTarget};

/// The surroundings of a statement that writes.
#[derive(Clone)]
pub struct WriteContext<'a> {
    /// Plans and runs queries.
    pub session: &'a dyn Session,
    /// Clock, ids, engine name, user metadata.
    pub commit: &'a CommitContext,
    /// The session's zone: statistics and folder names of instants.
    pub zone: Zone,
    /// A data file of this size is closed and another one begun (bytes).
    pub max_file_bytes: usize,
    /// Whether the history tells that an overwrite chose its partitions by the new rows; Delta 4.0 does not.
    pub tells_dynamic_overwrite: bool,
    /// What the session asks of its writes.
    pub options: WriterOptions,
}

/// Letters of the random folders that stand in for partition folders under column mapping.
const DEFAULT_RANDOM_PREFIX: usize = 2;
/// The size at which a data file is closed.
pub const DEFAULT_MAX_FILE_BYTES: usize = 256 << 20;

impl<'a> WriteContext<'a> {
    /// A context with UTC, the default file size and the options that are set in the session.
    pub fn new(session: &'a dyn Session, commit: &'a CommitContext) -> WriteContext<'a> {
        WriteContext {
            session,
            commit,
            zone: Zone::utc(),
            max_file_bytes: DEFAULT_MAX_FILE_BYTES,
            tells_dynamic_overwrite: true,
            options: WriterOptions::of_session(session),
        }
    }

    /// Now, milliseconds since 1970-01-01 UTC.
    pub(crate) fn now_ms(&self) -> i64 {
        self.commit.clock.now_ms()
    }
}

impl std::fmt::Debug for WriteContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteContext")
            .field("commit", &self.commit)
            .field("zone", &self.zone)
            .finish_non_exhaustive()
    }
}

/// What a statement that writes rows has done.
#[derive(Debug, Clone)]
pub struct WriteReport {
    /// The commit; where nothing was to be done, the version that was read.
    pub commit: CommitResult,
    /// Rows that were written.
    pub rows: u64,
    /// Files that were written.
    pub files: usize,
    /// Files that were removed.
    pub removed_files: usize,
    /// The table had recorded the write already, so nothing was done.
    pub already_done: bool,
}

impl WriteReport {
    /// The report of a write that the table has recorded already.
    pub(crate) fn already_done(snapshot: &Snapshot) -> WriteReport {
        WriteReport {
            commit: CommitResult::unchanged(snapshot),
            rows: 0,
            files: 0,
            removed_files: 0,
            already_done: true,
        }
    }
}

/// What DELETE, UPDATE or TRUNCATE has done.
#[derive(Debug, Clone)]
pub struct DmlReport {
    /// Rows that were deleted or updated.
    pub affected_rows: u64,
    /// The commit; none where no row matched.
    pub commit: Option<CommitResult>,
    /// The table had recorded the statement already, so nothing was done.
    pub already_done: bool,
}

impl DmlReport {
    /// The report of a statement that changed rows.
    pub(crate) fn committed(affected_rows: u64, commit: CommitResult) -> DmlReport {
        DmlReport {
            affected_rows,
            commit: Some(commit),
            already_done: false,
        }
    }

    /// The report of a statement that found nothing to change.
    pub(crate) fn nothing() -> DmlReport {
        DmlReport {
            affected_rows: 0,
            commit: None,
            already_done: false,
        }
    }

    /// The report of a statement that the table has recorded already.
    pub(crate) fn already_done() -> DmlReport {
        DmlReport {
            already_done: true,
            ..DmlReport::nothing()
        }
    }
}

/// A table that is about to be written, with everything that its rows must satisfy.
pub(crate) struct Prepared {
    target: Arc<WriteTarget>,
    guard: Arc<RowGuard>,
}

impl Prepared {
    /// For a table as it will be after the commit. `clustered` are the columns that have statistics in any case.
    pub(crate) fn new(
        ctx: &WriteContext<'_>,
        store: &TableStore,
        config: &TableConfig,
        schema: &StructType,
        partition_columns: &[String],
        clustered: Vec<Vec<String>>,
        checks: &WriteChecks,
    ) -> Result<Prepared> {
        let hidden = Hidden {
            clustered,
            tracking: None,
        };
        let target = table_target(ctx, store, config, schema, partition_columns, hidden)?;
        Prepared::with_target(ctx, target, checks)
    }

    /// For rows of the table, some of them changed: the table's columns and, where it tracks rows, the hidden ones.
    ///
    /// # Errors
    /// The table cannot be written, a check names a column that it does not have.
    pub(crate) fn rewriting(
        ctx: &WriteContext<'_>,
        snapshot: &Snapshot,
        checks: &WriteChecks,
    ) -> Result<Prepared> {
        let target = copy_target(ctx, snapshot, snapshot.config(), snapshot.schema())?;
        Prepared::with_target(ctx, target, checks)
    }

    /// For a target that is put together already.
    pub(crate) fn with_target(
        ctx: &WriteContext<'_>,
        target: WriteTarget,
        checks: &WriteChecks,
    ) -> Result<Prepared> {
        needs_data_columns(&target)?;
        let guard = RowGuard::new(
            ctx.session,
            &target.schema,
            target.shaper.logical(),
            checks,
            ctx.zone.clone(),
        )?
        .partitioned_by(&target.partitions);
        Ok(Prepared {
            target: Arc::new(target),
            guard: Arc::new(guard),
        })
    }

    /// For rows that are copied from the table itself: nothing is checked again.
    ///
    /// # Errors
    /// The table cannot be written.
    pub(crate) fn copying(ctx: &WriteContext<'_>, snapshot: &Snapshot) -> Result<Prepared> {
        Prepared::copying_as(ctx, snapshot, snapshot.config(), snapshot.schema())
    }

    /// For rows that are copied from the table itself into files of another schema with the same columns.
    ///
    /// # Errors
    /// The table cannot be written.
    pub(crate) fn copying_as(
        ctx: &WriteContext<'_>,
        snapshot: &Snapshot,
        config: &TableConfig,
        schema: &StructType,
    ) -> Result<Prepared> {
        Prepared::unchecked(copy_target(ctx, snapshot, config, schema)?)
    }

    /// For changes of a table's rows, which are not checked; `schema` holds the kind of change too.
    ///
    /// # Errors
    /// The table cannot be written.
    pub(crate) fn changes(
        ctx: &WriteContext<'_>,
        store: &TableStore,
        config: &TableConfig,
        schema: &StructType,
        partition_columns: &[String],
    ) -> Result<Prepared> {
        let mut target = table_target(
            ctx,
            store,
            config,
            schema,
            partition_columns,
            Hidden::default(),
        )?;
        target.kind = FileKind::Change;
        target.stats = None;
        Prepared::unchecked(target)
    }

    fn unchecked(target: WriteTarget) -> Result<Prepared> {
        needs_data_columns(&target)?;
        Ok(Prepared {
            target: Arc::new(target),
            guard: Arc::new(RowGuard::none()),
        })
    }

    /// Writes rows.
    pub(crate) async fn write(&self, ctx: &WriteContext<'_>, input: &Rows) -> Result<WriteOutput> {
        let (kind, plan) = match input {
            Rows::Query(query) => {
                let kind = if is_local(query) {
                    InputKind::Local
                } else {
                    InputKind::Distributed
                };
                (
                    kind,
                    ctx.session.create_physical_plan(query).await.classed()?,
                )
            }
            Rows::Plan(plan) => (InputKind::Distributed, Arc::clone(plan)),
        };
        write_plan(
            &self.target,
            &self.guard,
            plan,
            ctx.session.task_ctx(),
            kind,
        )
        .await
    }
}

/// A file of no columns would not say how many rows it has.
fn needs_data_columns(target: &WriteTarget) -> Result<()> {
    if target.partitions.is_empty() || !target.shaper.physical().fields().is_empty() {
        return Ok(());
    }
    Err(DeltaError::new(
        "DELTA_NON_PARTITION_COLUMN_ABSENT.ALL_PARTITION_COLUMNS",
    ))
}

/// The rows of a statement.
#[derive(Debug, Clone)]
pub enum Rows {
    /// A query, planned by the session when it is run.
    Query(LogicalPlan),
    /// A plan.
    Plan(Arc<dyn ExecutionPlan>),
}

impl From<LogicalPlan> for Rows {
    fn from(query: LogicalPlan) -> Rows {
        Rows::Query(query)
    }
}

impl From<Arc<dyn ExecutionPlan>> for Rows {
    fn from(plan: Arc<dyn ExecutionPlan>) -> Rows {
        Rows::Plan(plan)
    }
}

impl WriteTarget {
    /// A target without statistics and with partition folders.
    pub(crate) fn plain(
        store: &TableStore,
        schema: &StructType,
        partition_columns: &[String],
        shaper: Arc<Shaper>,
        ctx: &WriteContext<'_>,
    ) -> WriteTarget {
        let partitions = partition_columns
            .iter()
            .filter_map(|name| {
                let at = schema.index_of(name)?;
                let field = &schema.fields[at];
                Some(PartitionColumn {
                    at,
                    physical: field.physical_name().to_string(),
                    data_type: field.data_type.clone(),
                })
            })
            .collect();
        WriteTarget {
            store: store.clone(),
            schema: schema.clone(),
            partitions,
            kind: FileKind::Data,
            shaper,
            stats: None,
            random_prefix: None,
            zone: ctx.zone.clone(),
            max_file_bytes: ctx.max_file_bytes,
            max_file_rows: ctx.options.max_records_per_file,
            ids: Arc::clone(&ctx.commit.ids),
        }
    }
}

/// Where and how files with rows of the table itself are written: with their ids, where they have some.
fn copy_target(
    ctx: &WriteContext<'_>,
    snapshot: &Snapshot,
    config: &TableConfig,
    schema: &StructType,
) -> Result<WriteTarget> {
    let hidden = Hidden {
        clustered: clustering::columns(snapshot),
        tracking: RowTracking::of(snapshot)?,
    };
    table_target(
        ctx,
        snapshot.store(),
        config,
        schema,
        snapshot.partition_columns(),
        hidden,
    )
}

/// What a table's properties and schema do not tell of its files.
#[derive(Default)]
struct Hidden {
    /// Columns that have statistics in any case, by their names from the top.
    clustered: Vec<Vec<String>>,
    /// Columns that the schema does not name; they have no statistics.
    tracking: Option<RowTracking>,
}

/// Where and how the files of a Delta table are written.
fn table_target(
    ctx: &WriteContext<'_>,
    store: &TableStore,
    config: &TableConfig,
    schema: &StructType,
    partition_columns: &[String],
    hidden: Hidden,
) -> Result<WriteTarget> {
    config.check_writable(store.root().path(), REFERENCE_VERSION)?;
    let columns = match &hidden.tracking {
        Some(tracking) => tracking.with_columns(schema),
        None => schema.clone(),
    };
    let shaper = Arc::new(Shaper::new(&columns, partition_columns)?);
    let files = file_schema(&columns, partition_columns);
    let selected = StatisticsColumns::new(config)?
        .with_always(hidden.clustered)
        .select(schema, partition_columns)
        .iter()
        .map(|leaf| leaf.names().into_iter().map(str::to_string).collect())
        .collect();
    let stats = StatsPlan::new(
        &files,
        &selected,
        config.supports("deletionVectors"),
        config
            .string_prefix_length()?
            .unwrap_or(DEFAULT_STRING_PREFIX),
        ctx.zone.clone(),
    );
    let mapped = config.column_mapping_mode()? != ColumnMappingMode::None;
    let random_prefix = config
        .random_prefix_length()?
        .or(mapped.then_some(DEFAULT_RANDOM_PREFIX));
    let mut target = WriteTarget::plain(store, &columns, partition_columns, shaper, ctx);
    target.stats = Some(Arc::new(stats));
    target.random_prefix = random_prefix;
    Ok(target)
}

/// Whether a plan reads nothing: all its rows are literals of the statement.
fn is_local(plan: &LogicalPlan) -> bool {
    let inputs = plan.inputs();
    if inputs.is_empty() {
        return matches!(plan, LogicalPlan::Values(_) | LogicalPlan::EmptyRelation(_));
    }
    inputs.into_iter().all(is_local)
}

/// Milliseconds of the phases of a statement, as its metrics tell them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch {
    begun: Instant,
    lap: Instant,
}

impl Stopwatch {
    /// Starts.
    pub(crate) fn start() -> Stopwatch {
        let now = Instant::now();
        Stopwatch {
            begun: now,
            lap: now,
        }
    }

    /// Milliseconds since the last lap.
    pub(crate) fn lap_ms(&mut self) -> u128 {
        let now = Instant::now();
        let out = now.duration_since(self.lap).as_millis();
        self.lap = now;
        out
    }

    /// Milliseconds since the start.
    pub(crate) fn total_ms(&self) -> u128 {
        self.begun.elapsed().as_millis()
    }
}
