//! The files of changes as scans: one of the files that say themselves what happened to their rows, one of those of which the
//! log says it. Version, time and (of the latter) kind of change are partition values, so that filters on them leave out
//! files, and with them commits, like filters on any partition column.

use std::ops::Range;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::union::UnionExec;
use deltaic_log::changes::{
    CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, ChangeFeed, ChangeKind, CommitChanges,
};
use deltaic_log::history::CommitTime;
use deltaic_protocol::action::Add;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::timestamp::{Zone, format_iso_utc};
use deltaic_storage::TableStore;

use crate::columns::mapping::MappingMode;
use crate::layout::TableLayout;
use crate::scan::build::ScanFile;
use crate::scan::pinned::PinnedTable;
use crate::scan::prune::{is_partition_only, matches};
use crate::scan::rows::FileRows;
use crate::scan::vector::VectorFile;

/// The files that hold the changes of some versions: [`DeltaChanges`](super::DeltaChanges) with its commits read.
#[derive(Debug, Clone)]
pub struct ChangedFiles {
    recorded: PinnedTable,
    rows: PinnedTable,
}

impl ChangedFiles {
    /// Of a table of added and removed files, and files that say themselves what happened to their rows.
    pub(crate) fn from_rows(rows: PinnedTable, recorded: Vec<ScanFile>) -> ChangedFiles {
        let mut partition_columns = rows.partition_columns.clone();
        partition_columns.retain(|name| name != CHANGE_TYPE);
        let recorded = PinnedTable::new(
            rows.store.clone(),
            rows.schema.clone(),
            partition_columns,
            rows.mode,
            rows.zone.clone(),
            recorded,
        );
        ChangedFiles { recorded, rows }
    }

    pub(super) fn with_files(&self, recorded: Vec<ScanFile>, rows: Vec<ScanFile>) -> ChangedFiles {
        let mut out = self.clone();
        out.recorded.files = Arc::new(recorded);
        out.rows.files = Arc::new(rows);
        out
    }

    pub(super) fn with_zone(&self, zone: &Zone) -> ChangedFiles {
        let mut out = self.clone();
        out.recorded.zone = zone.clone();
        out.rows.zone = zone.clone();
        out
    }

    /// Files that say themselves what happened to their rows.
    pub(crate) fn recorded(&self) -> &PinnedTable {
        &self.recorded
    }

    /// Added and removed files.
    pub(crate) fn rows(&self) -> &PinnedTable {
        &self.rows
    }
}

#[async_trait]
impl TableProvider for ChangedFiles {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (recorded, rows) = (
            self.recorded.pruned(session, filters)?,
            self.rows.pruned(session, filters)?,
        );
        let scan = |table: &PinnedTable, files: &[ScanFile]| {
            table.scan_files(session, projection, limit, files)
        };
        match (recorded.is_empty(), rows.is_empty()) {
            (true, _) => scan(&self.rows, &rows),
            (false, true) => scan(&self.recorded, &recorded),
            (false, false) => UnionExec::try_new(vec![
                scan(&self.recorded, &recorded)?,
                scan(&self.rows, &rows)?,
            ]),
        }
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        // What is a partition value of the files of changes is one of the others too.
        self.recorded.supports_filters_pushdown(filters)
    }
}

/// Sorts the files of a commit.
pub(super) fn collect(
    store: &TableStore,
    commit: CommitChanges,
    recorded: &mut Vec<ScanFile>,
    rows: &mut Vec<ScanFile>,
) {
    let version = commit.version.to_string();
    let timestamp = format_iso_utc(commit.timestamp.saturating_mul(1000));
    for changed in commit.files {
        let mut add = changed.file;
        let mut set = |name: &str, value: &str| {
            add.partition_values
                .insert(name.to_string(), Some(value.to_string()));
        };
        set(COMMIT_VERSION, &version);
        set(COMMIT_TIMESTAMP, &timestamp);
        let list = match changed.kind {
            ChangeKind::Recorded => &mut *recorded,
            ChangeKind::Insert => {
                set(CHANGE_TYPE, "insert");
                &mut *rows
            }
            ChangeKind::Delete => {
                set(CHANGE_TYPE, "delete");
                &mut *rows
            }
        };
        list.push(ScanFile {
            add: Arc::new(add),
            rows: FileRows {
                marked: changed.marked.map(|vector| VectorFile::new(store, vector)),
                ..FileRows::default()
            },
        });
    }
}

/// The commits, from the first to the last one, that filters on version and time leave. Times that only the commits
/// themselves know are not looked at.
///
/// # Errors
/// A filter fails.
pub(super) fn asked_for<'a>(
    session: &dyn Session,
    feed: &ChangeFeed,
    zone: &Zone,
    times: &'a [CommitTime],
    filters: &[Expr],
) -> Result<&'a [CommitTime]> {
    let mut known = vec![StructField::nullable(COMMIT_VERSION, DataType::Long)];
    if !feed.has_recorded_times() {
        known.push(StructField::nullable(COMMIT_TIMESTAMP, DataType::Timestamp));
    }
    let schema = StructType::new(known);
    let names: Vec<String> = schema.names().map(str::to_string).collect();
    let layout = TableLayout::new(&schema, &names, MappingMode::None);
    let deciding: Vec<&Expr> = filters
        .iter()
        .filter(|filter| is_partition_only(&layout, filter))
        .collect();
    if deciding.is_empty() {
        return Ok(times);
    }
    let commits: Vec<ScanFile> = times.iter().map(as_file).collect();
    let keep = matches(session, &layout, zone, &commits, &deciding)?;
    Ok(times.get(span(&keep)).unwrap_or_default())
}

fn as_file(time: &CommitTime) -> ScanFile {
    let mut add = Add::default();
    let timestamp = format_iso_utc(time.timestamp.saturating_mul(1000));
    add.partition_values
        .insert(COMMIT_VERSION.to_string(), Some(time.version.to_string()));
    add.partition_values
        .insert(COMMIT_TIMESTAMP.to_string(), Some(timestamp));
    ScanFile::whole(Arc::new(add))
}

/// From the first place that is set to behind the last one.
fn span(keep: &[bool]) -> Range<usize> {
    match (
        keep.iter().position(|keep| *keep),
        keep.iter().rposition(|keep| *keep),
    ) {
        (Some(first), Some(last)) => first..last + 1,
        _ => 0..0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_reaches_from_the_first_to_the_last() {
        assert_eq!(span(&[false, true, false, true, false]), 1..4);
        assert_eq!(span(&[true]), 0..1);
        assert_eq!(span(&[false, false]), 0..0);
        assert_eq!(span(&[]), 0..0);
    }
}
