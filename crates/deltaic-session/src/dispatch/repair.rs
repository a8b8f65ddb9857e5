//! `FSCK REPAIR TABLE` and `GENERATE`: what stands in the log is held against, or written for, the files.

use deltaic_command::MissingFile;
use deltaic_log::manifest;
use deltaic_maintenance::repair::{self, RepairOptions};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_sql::ast::{Generate, Repair};

use crate::context::Context;
use crate::resolve;
use crate::result::{SqlResult, Value};

const MANIFEST_MODE: &str = "symlink_format_manifest";

/// Rows of a dry run, unless `spark.databricks.delta.fsck.maxNumEntriesInResult` says otherwise.
const SHOWN: usize = 1_000;

/// `GENERATE symlink_format_manifest FOR TABLE t`.
pub(super) async fn generate(cx: &Context, generate: &Generate) -> Result<SqlResult> {
    if !generate.mode.eq_ignore_ascii_case(MANIFEST_MODE) {
        return Err(DeltaError::new("DELTA_MODE_NOT_SUPPORTED")
            .param("mode", &generate.mode)
            .param("supportedModes", MANIFEST_MODE));
    }
    let (_, snapshot) = resolve::delta_target(cx, &generate.table, "GENERATE").await?;
    manifest::write(&snapshot, None).await?;
    Ok(SqlResult::empty())
}

/// `FSCK REPAIR TABLE t [DRY RUN]`: a row for each file of which something is missing.
pub(super) async fn repair(cx: &Context, repair: &Repair) -> Result<SqlResult> {
    let (table, snapshot) = resolve::delta_target(cx, &repair.table, "FSCK REPAIR TABLE").await?;
    let options = RepairOptions {
        dry_run: repair.dry_run,
        parallelism: 16,
    };
    let commit = cx.commit_context(Some(table.display()));
    let report = repair::run(&snapshot, &options, &commit).await?;
    if let Some(version) = report.version {
        cx.unpin(&table.store);
        cx.committed_version(version);
    }
    let limit = cx
        .conf
        .get("spark.databricks.delta.fsck.maxNumEntriesInResult")
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(SHOWN);
    let shown = if repair.dry_run { limit } else { usize::MAX };
    let rows: Vec<Vec<Value>> = report.missing.into_iter().take(shown).map(row).collect();
    SqlResult::from_rows(schema(), &rows)
}

fn schema() -> StructType {
    StructType::new([
        StructField::new("dataFilePath", DataType::String, false),
        StructField::new("dataFileMissing", DataType::Boolean, false),
        StructField::nullable("deletionVectorPath", DataType::String),
        StructField::new("deletionVectorFileMissing", DataType::Boolean, false),
    ])
}

fn row(missing: MissingFile) -> Vec<Value> {
    vec![
        Value::text(missing.data_file_path),
        Value::Boolean(missing.data_file_missing),
        Value::optional(missing.deletion_vector_path),
        Value::Boolean(missing.deletion_vector_file_missing),
    ]
}
