//! VACUUM, RESTORE, DESCRIBE HISTORY, DESCRIBE DETAIL.

use deltaic_command::{DetailReport, HistoryRow, InventoryRow, TimeTravel};
use deltaic_log::Snapshot;
use deltaic_maintenance::restore::RestoreOptions;
use deltaic_maintenance::vacuum::{InventoryStream, VacuumOptions};
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::timestamp::format_java_timestamp;
use deltaic_sql::ast::{DescribeDetail, DescribeHistory, Inventory, Restore, Vacuum, VacuumMode};
use deltaic_sql::{Travel, literal};
use deltaic_storage::TableStore;
use futures::StreamExt;

use crate::analysis;
use crate::context::Context;
use crate::errors;
use crate::resolve::{self, Target};
use crate::result::{SqlResult, Value};
use crate::time_travel;

/// `VACUUM`: a dry run answers the files, a real one the table's path.
pub(super) async fn vacuum(cx: &Context, vacuum: &Vacuum) -> Result<SqlResult> {
    let (table, _) = resolve::delta_target(cx, &vacuum.table, "VACUUM").await?;
    let inventory = match &vacuum.inventory {
        Some(inventory) => Some(inventory_rows(cx, &table.store, inventory).await?),
        None => None,
    };
    let retain_hours = match &vacuum.retain_hours {
        Some(expr) => Some(literal::number(expr).ok_or_else(|| {
            DeltaError::unclassed(
                "java.lang.IllegalArgumentException",
                "RETAIN takes a number of hours",
            )
        })?),
        None => None,
    };
    let request = deltaic_command::Vacuum {
        target: deltaic_command::TableRef::Name(table.qualifier.clone()),
        mode: vacuum.mode.map(|mode| match mode {
            VacuumMode::Full => deltaic_command::VacuumMode::Full,
            VacuumMode::Lite => deltaic_command::VacuumMode::Lite,
        }),
        retain_hours,
        dry_run: vacuum.dry_run,
        inventory: None,
    };
    let options = VacuumOptions {
        profile: cx.profile(),
        retention_check: cx.conf.delta("retentionDurationCheck.enabled"),
        ignore_retention_window: cx.conf.delta("vacuum.retentionWindowIgnore.enabled"),
        logging: cx
            .conf
            .get("spark.databricks.delta.vacuum.logging.enabled")
            .map(|text| text.trim().eq_ignore_ascii_case("true")),
        lite_by_default: cx.conf.delta("vacuum.lite.enabled"),
        ..VacuumOptions::default()
    };
    let commit = cx.commit_context(Some(table.display()));
    let progress = cx.session.progress();
    let report = deltaic_maintenance::vacuum::run(
        &table.store,
        &request,
        inventory,
        &options,
        &commit,
        progress.as_deref(),
    )
    .await?;
    if let Some(version) = report.end_version {
        cx.committed_version(version);
    }
    for note in &report.notes {
        cx.note(note.clone());
    }
    if let Some(error) = not_deleted(&report) {
        return Err(error);
    }
    let paths = if report.dry_run {
        report.paths
    } else {
        vec![report.table]
    };
    let rows: Vec<Vec<Value>> = paths
        .into_iter()
        .map(|path| vec![Value::text(path)])
        .collect();
    SqlResult::from_rows(
        StructType::new([StructField::nullable("path", DataType::String)]),
        &rows,
    )
}

/// The error of a VACUUM that could not delete all that it should have deleted.
fn not_deleted(report: &deltaic_command::VacuumReport) -> Option<DeltaError> {
    let (path, reason) = report.failed.first()?;
    let more = match report.failed.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    Some(
        DeltaError::unclassed(
            "java.io.IOException",
            format!(
                "VACUUM of {} deleted {} of {} files and directories; {path} could not be deleted: {reason}{more}",
                report.table, report.deleted, report.candidates
            ),
        )
        .with_kind(ErrorKind::Storage)
        .with_path(&report.table)
        .with_hint("what is left is found again by the next VACUUM; no file that the table needs was touched"),
    )
}

/// What stands before the location of a manifest: ``USING INVENTORY s3_inventory.`s3://…/manifest.json` ``.
const S3_INVENTORY: &str = "s3_inventory";

/// The rows of `USING INVENTORY`, whose first four columns have fixed names and types.
async fn inventory_rows(
    cx: &Context,
    table: &TableStore,
    inventory: &Inventory,
) -> Result<InventoryStream> {
    let planned = match inventory {
        Inventory::Query(query) => analysis::query(cx, query).await?,
        Inventory::Table(name) => {
            let parts = cx.idents(name).await?;
            let texts: Vec<String> = parts.iter().map(|part| part.value.clone()).collect();
            if let [format, manifest] = texts.as_slice()
                && format.eq_ignore_ascii_case(S3_INVENTORY)
                && manifest.contains('/')
            {
                let snapshot = Snapshot::load(table, None).await?;
                let storage = cx.session.storage();
                return deltaic_maintenance::inventory::rows(&storage, manifest, &snapshot).await;
            }
            // The reference looks for a Delta table here and says so where there is none.
            match resolve::lookup(cx, &texts).await? {
                Some(Target::Delta(_) | Target::View(_) | Target::Parquet(_)) => {
                    analysis::table(cx, &parts).await?
                }
                None => return Err(errors::delta_only("VACUUM")),
            }
        }
    };
    let wanted = inventory_schema();
    let fits = planned.schema.fields.len() >= wanted.fields.len()
        && wanted.fields.iter().all(|field| {
            planned
                .schema
                .fields
                .iter()
                .any(|own| same_column(own, field))
        })
        && wanted
            .fields
            .iter()
            .zip(&planned.schema.fields)
            .all(|(field, own)| same_column(own, field));
    if !fits {
        return Err(DeltaError::new("DELTA_INVALID_INVENTORY_SCHEMA")
            .param("expectedSchema", wanted.tree_string()));
    }
    let schema = planned.schema.clone();
    let batches = analysis::stream(cx, planned).await?;
    let rows = batches.map(move |batch| {
        let answer = SqlResult {
            schema: schema.clone(),
            batches: vec![batch?],
            ..SqlResult::empty()
        };
        Ok::<_, DeltaError>(
            answer
                .rows()
                .into_iter()
                .filter_map(inventory_row)
                .map(Ok)
                .collect::<Vec<_>>(),
        )
    });
    Ok(rows
        .flat_map(|rows| match rows {
            Ok(rows) => futures::stream::iter(rows).boxed(),
            Err(error) => futures::stream::iter([Err(error)]).boxed(),
        })
        .boxed())
}

fn same_column(own: &StructField, wanted: &StructField) -> bool {
    own.name == wanted.name && own.data_type == wanted.data_type
}

fn inventory_schema() -> StructType {
    StructType::new([
        StructField::nullable("path", DataType::String),
        StructField::nullable("length", DataType::Long),
        StructField::nullable("isDir", DataType::Boolean),
        StructField::nullable("modificationTime", DataType::Long),
    ])
}

/// Rows without a path say nothing.
fn inventory_row(row: Vec<Value>) -> Option<InventoryRow> {
    let mut values = row.into_iter();
    let Some(Value::String(path)) = values.next() else {
        return None;
    };
    let number = |value: Option<Value>| {
        if let Some(Value::Long(number)) = value {
            number
        } else {
            0
        }
    };
    let length = number(values.next());
    let is_dir = matches!(values.next(), Some(Value::Boolean(true)));
    Some(InventoryRow {
        path,
        length,
        is_dir,
        modification_time: number(values.next()),
    })
}

/// `RESTORE`: six numbers, or nothing where the table stands at the target already.
pub(super) async fn restore(cx: &Context, restore: &Restore) -> Result<SqlResult> {
    let (table, _) = resolve::delta_target(cx, &restore.table, "RESTORE").await?;
    if table.travel.is_some() {
        return Err(DeltaError::new(
            "DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS",
        ));
    }
    let to = restore_moment(cx, &restore.travel).await?;
    let request = deltaic_command::Restore {
        target: deltaic_command::TableRef::Name(table.qualifier.clone()),
        to,
    };
    let mut options = RestoreOptions::new(time_travel::options(cx));
    options.ignore_missing_files = cx.conf.flag("spark.sql.files.ignoreMissingFiles");
    options.protocol_downgrade = cx.conf.delta("restore.protocolDowngradeAllowed");
    let commit = cx.commit_context(Some(table.display()));
    let report =
        deltaic_maintenance::restore::run(&table.store, &request, &options, &commit).await?;
    let Some(version) = report.version else {
        return Ok(SqlResult::empty());
    };
    cx.committed_version(version);
    let numbers = [
        ("table_size_after_restore", report.table_size_after_restore),
        (
            "num_of_files_after_restore",
            report.num_of_files_after_restore,
        ),
        ("num_removed_files", report.num_removed_files),
        ("num_restored_files", report.num_restored_files),
        ("removed_files_size", report.removed_files_size),
        ("restored_files_size", report.restored_files_size),
    ];
    let schema = StructType::new(
        numbers
            .iter()
            .map(|(name, _)| StructField::nullable(*name, DataType::Long)),
    );
    SqlResult::from_rows(
        schema,
        &[numbers
            .iter()
            .map(|(_, number)| Value::Long(*number))
            .collect()],
    )
}

async fn restore_moment(cx: &Context, travel: &Travel) -> Result<TimeTravel> {
    match travel {
        Travel::Timestamp(expr) => {
            let invalid = || {
                DeltaError::new("DELTA_TIMESTAMP_INVALID")
                    .param("expr", deltaic_sql::render::expr(expr))
            };
            let micros = analysis::timestamp(cx, expr)
                .await
                .map_err(|_| invalid())?
                .ok_or_else(invalid)?;
            let text = format_java_timestamp(micros.div_euclid(1_000), &cx.zone());
            Ok(TimeTravel::Timestamp { micros, text })
        }
        other => analysis::moment(cx, other).await,
    }
}

/// `DESCRIBE HISTORY`.
pub(super) async fn history(cx: &Context, describe: &DescribeHistory) -> Result<SqlResult> {
    let (_, snapshot) = resolve::delta_target(cx, &describe.table, "DESCRIBE HISTORY").await?;
    let limit = match &describe.limit {
        Some(expr) => Some(limit_of(cx, expr).await?),
        None => None,
    };
    let rows = deltaic_maintenance::history::rows(&snapshot, limit).await?;
    let rows: Vec<Vec<Value>> = rows.into_iter().map(history_values).collect();
    SqlResult::from_rows(history_schema(), &rows)
}

async fn limit_of(cx: &Context, expr: &deltaic_sql::ast::Expr) -> Result<usize> {
    let number = match literal::integer(expr) {
        Some(number) => number,
        None => match analysis::constant(cx, expr).await? {
            Value::Long(number) => number,
            _ => -1,
        },
    };
    if number > i64::from(i32::MAX) - 8 {
        return Err(DeltaError::new("DELTA_MAX_ARRAY_SIZE_EXCEEDED"));
    }
    usize::try_from(number).map_err(|_| {
        DeltaError::new("INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE")
            .param("name", "limit")
            .param("expr", format!("\"{}\"", deltaic_sql::render::expr(expr)))
            .param("v", number)
    })
}

fn text_map() -> DataType {
    DataType::map(DataType::String, DataType::String, true)
}

fn history_schema() -> StructType {
    let text = |name: &str| StructField::nullable(name, DataType::String);
    let job = [
        "jobId",
        "jobName",
        "jobRunId",
        "runId",
        "jobOwnerId",
        "triggerType",
    ];
    StructType::new([
        StructField::nullable("version", DataType::Long),
        StructField::nullable("timestamp", DataType::Timestamp),
        text("userId"),
        text("userName"),
        text("operation"),
        StructField::nullable("operationParameters", text_map()),
        StructField::nullable("job", DataType::structure(job.map(text))),
        StructField::nullable("notebook", DataType::structure([text("notebookId")])),
        text("clusterId"),
        StructField::nullable("readVersion", DataType::Long),
        text("isolationLevel"),
        StructField::nullable("isBlindAppend", DataType::Boolean),
        StructField::nullable("operationMetrics", text_map()),
        text("userMetadata"),
        text("engineInfo"),
    ])
}

fn history_values(row: HistoryRow) -> Vec<Value> {
    let job = row.job.map_or(Value::Null, |job| {
        let parts = [
            ("jobId", job.job_id),
            ("jobName", job.job_name),
            ("jobRunId", job.job_run_id),
            ("runId", job.run_id),
            ("jobOwnerId", job.job_owner_id),
            ("triggerType", job.trigger_type),
        ];
        Value::Struct(
            parts
                .into_iter()
                .map(|(name, value)| (name.to_owned(), Value::optional(value)))
                .collect(),
        )
    });
    let notebook = row.notebook_id.map_or(Value::Null, |id| {
        Value::Struct(vec![("notebookId".to_owned(), Value::optional(id))])
    });
    vec![
        Value::Long(row.version),
        Value::Timestamp(row.timestamp_ms.saturating_mul(1_000)),
        Value::optional(row.user_id),
        Value::optional(row.user_name),
        Value::optional(row.operation),
        row.operation_parameters
            .map_or(Value::Null, Value::text_map),
        job,
        notebook,
        Value::optional(row.cluster_id),
        row.read_version.map_or(Value::Null, Value::Long),
        Value::optional(row.isolation_level),
        row.is_blind_append.map_or(Value::Null, Value::Boolean),
        row.operation_metrics.map_or(Value::Null, Value::text_map),
        Value::optional(row.user_metadata),
        Value::optional(row.engine_info),
    ]
}

/// `DESCRIBE DETAIL`.
pub(super) async fn detail(cx: &Context, describe: &DescribeDetail) -> Result<SqlResult> {
    let (target, _) = resolve::target(cx, &describe.table).await?;
    let report = match target {
        Target::View(view) => {
            return Err(errors::view_not_table(
                &resolve::view_qualifier(&view),
                "DESCRIBE DETAIL",
            ));
        }
        Target::Parquet(table) => DetailReport {
            format: "parquet".to_owned(),
            name: table.record.as_ref().map(|record| record.name.to_string()),
            location: table.store.root().to_string(),
            partition_columns: table
                .record
                .map(|record| record.partition_columns)
                .unwrap_or_default(),
            ..DetailReport::default()
        },
        Target::Delta(table) => {
            let snapshot = table.snapshot(cx).await?;
            deltaic_maintenance::detail::report(&snapshot, table.catalog_name()).await?
        }
    };
    SqlResult::from_rows(detail_schema(), &[detail_values(report)])
}

fn detail_schema() -> StructType {
    let field = |name: &str, data_type: DataType| StructField::nullable(name, data_type);
    let texts = || DataType::array(DataType::String, true);
    StructType::new([
        field("format", DataType::String),
        field("id", DataType::String),
        field("name", DataType::String),
        field("description", DataType::String),
        field("location", DataType::String),
        field("createdAt", DataType::Timestamp),
        field("lastModified", DataType::Timestamp),
        field("partitionColumns", texts()),
        field("clusteringColumns", texts()),
        field("numFiles", DataType::Long),
        field("sizeInBytes", DataType::Long),
        field("properties", text_map()),
        field("minReaderVersion", DataType::Integer),
        field("minWriterVersion", DataType::Integer),
        field("tableFeatures", texts()),
    ])
}

fn detail_values(report: DetailReport) -> Vec<Value> {
    let time =
        |ms: Option<i64>| ms.map_or(Value::Null, |ms| Value::Timestamp(ms.saturating_mul(1_000)));
    let texts = |texts: Vec<String>| Value::Array(texts.into_iter().map(Value::String).collect());
    let number = |number: Option<i64>| number.map_or(Value::Null, Value::Long);
    vec![
        Value::text(report.format),
        Value::optional(report.id),
        Value::optional(report.name),
        Value::optional(report.description),
        Value::text(report.location),
        time(report.created_at_ms),
        time(report.last_modified_ms),
        texts(report.partition_columns),
        texts(report.clustering_columns),
        number(report.num_files),
        number(report.size_in_bytes),
        Value::text_map(
            report
                .properties
                .into_iter()
                .map(|(key, value)| (key, Some(value))),
        ),
        number(report.min_reader_version.map(i64::from)),
        number(report.min_writer_version.map(i64::from)),
        texts(report.table_features),
    ]
}
