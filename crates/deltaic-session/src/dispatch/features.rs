//! ALTER TABLE … DROP FEATURE.

use async_trait::async_trait;
use deltaic_command::{DropFeature, TableRef};
use deltaic_datafusion::rewrite;
use deltaic_log::Snapshot;
use deltaic_log::transaction::{CommitContext, CommitResult};
use deltaic_maintenance::drop_feature::{self, DropFeatureOptions, Rewrite, Rewriter};
use deltaic_protocol::error::Result;

use crate::context::Context;
use crate::errors;
use crate::resolve::{self, Target};
use crate::result::SqlResult;

/// `DROP FEATURE name [TRUNCATE HISTORY]`.
pub(super) async fn drop(
    cx: &Context,
    target: Target,
    feature: &str,
    truncate_history: bool,
) -> Result<SqlResult> {
    let table = match target {
        Target::Delta(table) => table,
        Target::Parquet(_) => return Err(errors::delta_only("ALTER TABLE ... DROP FEATURE")),
        Target::View(view) => {
            return Err(errors::view_not_table(
                &resolve::view_qualifier(&view),
                "ALTER TABLE ... DROP FEATURE",
            ));
        }
    };
    let snapshot = table.snapshot(cx).await?;
    let request = DropFeature {
        target: TableRef::Name(table.qualifier.clone()),
        feature: feature.to_owned(),
        truncate_history,
    };
    let options = DropFeatureOptions {
        fast_drop: cx.conf.delta("tableFeatures.fastDropFeature.enabled"),
        vector_tombstones: cx
            .conf
            .delta("tableFeatures.fastDropFeature.generateDVTombstones.enabled"),
        backfill_files: backfill_files(cx),
    };
    let commit = cx.commit_context(Some(table.display()));
    let engine = Engine {
        cx,
        commit: &commit,
    };
    let mut done = Vec::new();
    let outcome =
        drop_feature::run(&snapshot, &request, &options, &engine, &commit, &mut done).await;
    // Part of it may have been done before something stood in the way.
    for result in &done {
        cx.committed(result);
    }
    outcome?;
    Ok(SqlResult::empty())
}

/// Files in one commit that gives row ids to a table's files, or takes them away.
pub(super) fn backfill_files(cx: &Context) -> usize {
    cx.conf
        .get("spark.databricks.delta.rowTracking.backfill.maxNumFiles")
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(22_000)
}

/// Gives up column mapping where a statement sets its mode to `none` or takes the property away; the version after that.
pub(super) async fn give_up_mapping(
    cx: &Context,
    snapshot: &Snapshot,
    commit: &CommitContext,
    says_none: bool,
) -> Result<Snapshot> {
    let state = cx.session.engine().state();
    let writer = cx.write_context(&state, commit);
    match rewrite::remove_mapping(&writer, snapshot, says_none).await? {
        Some(result) => {
            cx.committed(&result);
            Ok(result.snapshot)
        }
        None => Ok(snapshot.clone()),
    }
}

/// Writes files anew with the session's engine.
struct Engine<'a> {
    cx: &'a Context,
    commit: &'a CommitContext,
}

#[async_trait]
impl Rewriter for Engine<'_> {
    async fn rewrite(&self, snapshot: &Snapshot, what: Rewrite) -> Result<Option<CommitResult>> {
        let state = self.cx.session.engine().state();
        let writer = self.cx.write_context(&state, self.commit);
        match what {
            Rewrite::DeletionVectors => rewrite::purge_vectors(&writer, snapshot).await,
            Rewrite::WidenedTypes => rewrite::widen_files(&writer, snapshot).await,
            Rewrite::ColumnMapping => rewrite::remove_mapping(&writer, snapshot, false).await,
        }
    }
}
