//! INSERT: appending rows, and overwriting a table, some of its partitions, or the rows that satisfy a condition
//! (operation `WRITE`).

mod matching;

use std::sync::Arc;

use datafusion::common::TableReference;
use datafusion::logical_expr::Expr;
use deltaic_log::Snapshot;
use deltaic_log::changes::check_change_columns;
use deltaic_log::skipping::{Column, Predicate};
use deltaic_log::transaction::{Operation, Transaction, check_definition};
use deltaic_maintenance::clustering;
use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, Metadata, Protocol};
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::StructType;
use deltaic_storage::TableStore;

use crate::context::{Prepared, Rows, WriteContext, WriteReport};
use crate::dml::changes::{ChangedTable, write_insertions};
use crate::dml::delete::{Deletion, deletion};
use crate::dml::target::DmlTarget;
use crate::error::Classed;
use crate::provider::{DeltaTableProvider, mapping_mode};
use crate::scan::build::partition_values;
use crate::scan::predicate::value_of;
use crate::write::checks::{Check, WriteChecks};
use crate::write::identity::{IdentityColumn, with_marks};
use crate::write::job::{WriteOutput, commit_written};

use matching::NewRows;

/// The table as it will be, where a write changes its schema or properties.
#[derive(Debug, Clone)]
pub struct NewTable {
    /// The new metadata.
    pub metadata: Metadata,
    /// The new protocol, where it changes.
    pub protocol: Option<Protocol>,
}

/// Appends rows.
#[derive(Debug, Clone)]
pub struct Append {
    /// The rows: the table's columns in order.
    pub input: Rows,
    /// CHECK constraints, column invariants and generated columns. NOT NULL and lengths come from the schema.
    pub checks: WriteChecks,
    /// The widened schema, where the statement may widen it.
    pub table: Option<NewTable>,
    /// The statement may widen the schema (`canMergeSchema`).
    pub merge_schema: bool,
    /// The input reads the table itself, so the append is not blind.
    pub reads_target: bool,
    /// The identity columns whose values the input makes.
    pub identities: Vec<IdentityColumn>,
}

impl Append {
    /// A plain append.
    pub fn new(input: impl Into<Rows>) -> Append {
        Append {
            input: input.into(),
            checks: WriteChecks::default(),
            table: None,
            merge_schema: false,
            reads_target: false,
            identities: Vec::new(),
        }
    }
}

/// What an overwrite replaces.
#[derive(Debug, Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one of them in a statement"
)]
pub enum OverwriteScope {
    /// The whole table.
    Table,
    /// The partitions in which there are new rows.
    DynamicPartitions,
    /// The rows that satisfy a condition; new rows must satisfy it too.
    Where(ReplaceWhere),
    /// The rows that are equal to a new row in all of these columns, named as in the schema. Null equals nothing.
    Using(Vec<String>),
}

/// The condition of a partial overwrite.
#[derive(Debug, Clone)]
pub struct ReplaceWhere {
    /// The condition over the table's columns.
    pub predicate: Expr,
    /// The name under which the condition knows the table.
    pub qualifier: Option<TableReference>,
    /// Its text as `operationParameters.predicate` shows it: SQL, not JSON.
    pub text: String,
    /// Its text in the error for a row that does not satisfy it.
    pub sql: String,
    /// The constraint's name in that error, such as `EXPRESSION(('p = 2))`.
    pub check_name: String,
}

/// Replaces rows.
#[derive(Debug, Clone)]
pub struct Overwrite {
    /// The rows: the table's columns in order.
    pub input: Rows,
    /// CHECK constraints, column invariants and generated columns.
    pub checks: WriteChecks,
    /// What is replaced.
    pub scope: OverwriteScope,
    /// The changed table, where the statement may change it.
    pub table: Option<NewTable>,
    /// The statement may widen the schema (`canMergeSchema`).
    pub merge_schema: bool,
    /// The statement may replace the schema (`canOverwriteSchema`).
    pub overwrite_schema: bool,
    /// The identity columns whose values the input makes.
    pub identities: Vec<IdentityColumn>,
}

impl Overwrite {
    /// An overwrite with the table's own schema.
    pub fn new(input: impl Into<Rows>, scope: OverwriteScope) -> Overwrite {
        Overwrite {
            input: input.into(),
            checks: WriteChecks::default(),
            scope,
            table: None,
            merge_schema: false,
            overwrite_schema: false,
            identities: Vec::new(),
        }
    }
}

/// Appends rows to a table.
///
/// # Errors
/// Those of the input, violated checks, conflicts with other writers.
pub async fn append(
    ctx: &WriteContext<'_>,
    snapshot: &Snapshot,
    request: Append,
) -> Result<WriteReport> {
    if ctx.options.is_done(snapshot) {
        return Ok(WriteReport::already_done(snapshot));
    }
    let (config, schema, partitions) = shape_of(snapshot, request.table.as_ref())?;
    let prepared = Prepared::new(
        ctx,
        snapshot.store(),
        &config,
        &schema,
        &partitions,
        clustering::columns(snapshot),
        &request.checks,
    )?;
    let output = prepared.write(ctx, &request.input).await?;
    let mut operation = write_operation("Append");
    if request.merge_schema {
        operation = operation.parameter("canMergeSchema", true);
    }
    let mut transaction = Transaction::begin(snapshot, operation.skip_empty());
    ctx.options.stage(&mut transaction, ctx.now_ms());
    stage_table(&mut transaction, request.table);
    stage_marks(&mut transaction, &request.identities)?;
    if request.reads_target {
        transaction.read_whole_table();
    }
    finish(ctx, snapshot.store(), transaction, output, Removal::None).await
}

/// Replaces the rows of a table, of some partitions, or under a condition.
///
/// # Errors
/// Those of the input, violated checks, `DELTA_REPLACE_WHERE_MISMATCH`, conflicts with other writers.
pub async fn overwrite(
    ctx: &WriteContext<'_>,
    snapshot: &Snapshot,
    request: Overwrite,
) -> Result<WriteReport> {
    if ctx.options.is_done(snapshot) {
        return Ok(WriteReport::already_done(snapshot));
    }
    let (config, schema, partitions) = shape_of(snapshot, request.table.as_ref())?;
    let mut checks = request.checks.clone();
    if let OverwriteScope::Where(condition) = &request.scope {
        checks.checks.push(Check {
            name: condition.check_name.clone(),
            sql: condition.sql.clone(),
            condition: condition.predicate.clone(),
        });
    }
    let prepared = Prepared::new(
        ctx,
        snapshot.store(),
        &config,
        &schema,
        &partitions,
        clustering::columns(snapshot),
        &checks,
    )?;
    let output = prepared
        .write(ctx, &request.input)
        .await
        .map_err(|error| mismatch(error, &request.scope))?;
    let mut operation = write_operation("Overwrite");
    match &request.scope {
        OverwriteScope::Where(condition) => {
            operation = operation.text_parameter("predicate", &condition.text)
        }
        OverwriteScope::Using(columns) => {
            operation = operation.text_parameter("replaceUsingCols", columns.join(","));
        }
        OverwriteScope::DynamicPartitions
            if !partitions.is_empty() && ctx.tells_dynamic_overwrite =>
        {
            operation = operation.parameter("isDynamicPartitionOverwrite", true);
        }
        _ => {}
    }
    if request.overwrite_schema {
        operation = operation.parameter("canOverwriteSchema", true);
    }
    if request.merge_schema {
        operation = operation.parameter("canMergeSchema", true);
    }
    let mut transaction = Transaction::begin(snapshot, operation.skip_empty());
    ctx.options.stage(&mut transaction, ctx.now_ms());
    stage_table(&mut transaction, request.table);
    stage_marks(&mut transaction, &request.identities)?;
    match request.scope {
        OverwriteScope::DynamicPartitions if !partitions.is_empty() => {
            let removed = partitions_of(ctx, snapshot, &output, &mut transaction).await?;
            finish(
                ctx,
                snapshot.store(),
                transaction,
                output,
                Removal::Files(removed),
            )
            .await
        }
        OverwriteScope::Table | OverwriteScope::DynamicPartitions => {
            transaction.read_whole_table();
            let removed = snapshot.files().await?.to_vec();
            finish(
                ctx,
                snapshot.store(),
                transaction,
                output,
                Removal::Files(removed),
            )
            .await
        }
        OverwriteScope::Where(condition) => {
            let target = DmlTarget::new(ctx, snapshot, condition.qualifier.clone())?;
            let new = new_rows(ctx, snapshot, &schema, &partitions, &output)?;
            let predicate = &condition.predicate;
            let taken = taken(ctx, &target, &config, predicate, new, &mut transaction).await?;
            replace_rows(ctx, &target, taken, transaction, output).await
        }
        OverwriteScope::Using(columns) => {
            let target = DmlTarget::new(ctx, snapshot, None)?;
            let new = new_rows(ctx, snapshot, &schema, &partitions, &output)?;
            let agreeing = matching::equal_to_new(&new, &columns)?;
            let taken = taken(ctx, &target, &config, &agreeing, new, &mut transaction).await?;
            replace_rows(ctx, &target, taken, transaction, output).await
        }
    }
}

fn new_rows<'a>(
    ctx: &'a WriteContext<'_>,
    snapshot: &'a Snapshot,
    schema: &'a StructType,
    partition_columns: &'a [String],
    output: &'a WriteOutput,
) -> Result<NewRows<'a>> {
    Ok(NewRows {
        store: snapshot.store(),
        schema,
        partition_columns,
        mode: mapping_mode(snapshot)?,
        zone: &ctx.zone,
        files: &output.files,
    })
}

/// Takes the rows of a condition away. Where that leaves files of changes, the new rows must be among the changes too: the
/// version is read from those files alone.
async fn taken(
    ctx: &WriteContext<'_>,
    target: &DmlTarget,
    config: &TableConfig,
    predicate: &Expr,
    new: NewRows<'_>,
    transaction: &mut Transaction,
) -> Result<Deletion> {
    let mut taken = deletion(ctx, target, Some(predicate), transaction).await?;
    let has_changes = taken.actions.iter().any(|a| matches!(a, Action::Cdc(_)));
    if has_changes && !new.files.is_empty() {
        let table = ChangedTable {
            store: new.store,
            config,
            schema: new.schema,
            partition_columns: new.partition_columns,
        };
        let inserted = write_insertions(ctx, &table, new.files).await?;
        taken.actions.extend(inserted);
    }
    Ok(taken)
}

/// Commits the new rows with what was taken away for them.
async fn replace_rows(
    ctx: &WriteContext<'_>,
    target: &DmlTarget,
    taken: Deletion,
    mut transaction: Transaction,
    output: WriteOutput,
) -> Result<WriteReport> {
    let replaced = Replaced {
        deleted_rows: taken.deleted_rows,
        copied_rows: taken.copied_rows,
        change_files: taken
            .actions
            .iter()
            .filter(|action| matches!(action, Action::Cdc(_)))
            .count(),
    };
    let removed = taken.removed_files;
    let operation = transaction.operation_mut();
    operation.set_metric("numRemovedFiles", removed);
    operation.set_metric("numRemovedBytes", taken.removed_bytes);
    transaction.stage_all(taken.actions);
    let store = target.snapshot.store();
    let report = finish(ctx, store, transaction, output, Removal::Rows(replaced)).await?;
    Ok(WriteReport {
        removed_files: removed,
        ..report
    })
}

struct Replaced {
    deleted_rows: u64,
    copied_rows: u64,
    change_files: usize,
}

fn write_operation(mode: &str) -> Operation {
    Operation::new("WRITE")
        .text_parameter("mode", mode)
        .text_parameter("partitionBy", "[]")
}

/// The table as it will be: configuration, schema and partition columns.
fn shape_of(
    snapshot: &Snapshot,
    table: Option<&NewTable>,
) -> Result<(Arc<TableConfig>, StructType, Vec<String>)> {
    let Some(table) = table else {
        return Ok((
            Arc::clone(snapshot.config()),
            snapshot.schema().as_ref().clone(),
            snapshot.partition_columns().to_vec(),
        ));
    };
    check_change_columns(Some(snapshot), &table.metadata)?;
    check_definition(&table.metadata, Some(snapshot.metadata()))?;
    let protocol = table
        .protocol
        .clone()
        .unwrap_or_else(|| snapshot.protocol().as_ref().clone());
    let config = TableConfig::new(&table.metadata, &protocol);
    let schema = table.metadata.schema()?;
    Ok((
        Arc::new(config),
        schema,
        table.metadata.partition_columns.clone(),
    ))
}

fn stage_table(transaction: &mut Transaction, table: Option<NewTable>) {
    if let Some(table) = table {
        if transaction.metadata() != Some(&table.metadata) {
            transaction.set_metadata(table.metadata);
        }
        if let Some(protocol) = table.protocol {
            transaction.set_protocol(protocol);
        }
    }
}

/// The schema remembers the last values of its identity columns; of two writers that made some, only one can commit.
fn stage_marks(transaction: &mut Transaction, columns: &[IdentityColumn]) -> Result<()> {
    let Some(metadata) = transaction.metadata() else {
        return Ok(());
    };
    if let Some(marked) = with_marks(metadata, columns)? {
        transaction.set_metadata(marked);
    }
    Ok(())
}

/// The live files in the partitions of the written files.
async fn partitions_of(
    ctx: &WriteContext<'_>,
    snapshot: &Snapshot,
    output: &WriteOutput,
    transaction: &mut Transaction,
) -> Result<Vec<Arc<Add>>> {
    let provider = DeltaTableProvider::try_new(snapshot.clone())?.with_zone(ctx.zone.clone());
    let layout = provider.layout();
    let typed = |add: &Add| partition_values(layout, add, &ctx.zone).classed();
    let mut wanted = Vec::new();
    for file in &output.files {
        let values = typed(&file.add)?;
        if !wanted.contains(&values) {
            wanted.push(values);
        }
    }
    for values in &wanted {
        let parts = values
            .iter()
            .zip(layout.partition_keys.iter().zip(&layout.partition_types))
            .map(|(value, (key, data_type))| {
                let column = Column::new(key, data_type.clone());
                match value_of(value) {
                    Some(value) if !value_is_null(&value) => {
                        Predicate::NullSafeEqual(column, value)
                    }
                    Some(_) => Predicate::IsNull(column),
                    None => Predicate::Unknown,
                }
            });
        transaction.read_where(Predicate::And(parts.collect()));
    }
    let mut out = Vec::new();
    for add in snapshot.files().await?.iter() {
        if wanted.contains(&typed(add)?) {
            out.push(Arc::clone(add));
        }
    }
    Ok(out)
}

fn value_is_null(value: &deltaic_log::skipping::Value) -> bool {
    matches!(value, deltaic_log::skipping::Value::Null)
}

/// What goes away.
enum Removal {
    None,
    Files(Vec<Arc<Add>>),
    /// Staged already.
    Rows(Replaced),
}

/// Stages adds and removes, fills the metrics and commits.
async fn finish(
    ctx: &WriteContext<'_>,
    store: &TableStore,
    mut transaction: Transaction,
    output: WriteOutput,
    removal: Removal,
) -> Result<WriteReport> {
    let now = ctx.now_ms();
    let (rows, files) = (output.rows(), output.files.len());
    let written = output.paths();
    record_output(transaction.operation_mut(), &output);
    for file in output.files {
        transaction.add(file.add);
    }
    let mut removed_files = 0;
    match removal {
        Removal::None => {}
        Removal::Files(removed) => {
            removed_files = removed.len();
            let operation = transaction.operation_mut();
            operation.set_metric("numRemovedFiles", removed.len());
            operation.set_metric(
                "numRemovedBytes",
                removed.iter().map(|add| add.size).sum::<i64>(),
            );
            transaction.read_files(removed.iter().map(AsRef::as_ref));
            for add in &removed {
                transaction.remove(add.to_remove(now, true));
            }
        }
        Removal::Rows(replaced) => {
            let operation = transaction.operation_mut();
            operation.set_metric("numDeletedRows", replaced.deleted_rows);
            operation.set_metric("numCopiedRows", replaced.copied_rows);
            operation.set_metric("numAddedChangeFiles", replaced.change_files);
        }
    }
    let commit = commit_written(transaction, ctx.commit, store, &written).await?;
    Ok(WriteReport {
        commit,
        rows,
        files,
        removed_files,
        already_done: false,
    })
}

/// The metrics of written files.
pub(crate) fn record_output(operation: &mut Operation, output: &WriteOutput) {
    operation.set_metric("numFiles", output.files.len());
    operation.set_metric("numOutputRows", output.rows());
    operation.set_metric("numOutputBytes", output.bytes());
}

/// A row that does not satisfy the condition of a partial overwrite.
fn mismatch(error: DeltaError, scope: &OverwriteScope) -> DeltaError {
    let OverwriteScope::Where(condition) = scope else {
        return error;
    };
    let ours = error.class() == Some("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES")
        && error
            .parameters()
            .iter()
            .any(|(key, value)| key == "constraintName" && *value == condition.check_name);
    if !ours {
        return error;
    }
    DeltaError::new("DELTA_REPLACE_WHERE_MISMATCH")
        .param("replaceWhere", &condition.sql)
        .param("message", &error)
        .with_source(error)
}
