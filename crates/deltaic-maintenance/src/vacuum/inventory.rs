//! Candidates from an inventory: rows of a table or query instead of a listing (spec: delta, section 2.5).

use std::collections::BTreeSet;

use deltaic_command::InventoryRow;
use deltaic_protocol::error::Result;
use deltaic_storage::{FileMeta, TableStore};
use futures::TryStreamExt;

use super::candidates::{Candidates, Found, nested_table_of, without_links, without_tables_below};
use super::{HiddenNames, InventoryStream, Keep};

/// A row that may name a candidate; there may be millions.
struct Row {
    path: Box<str>,
    modified_ms: i64,
    size: u64,
    is_dir: bool,
}

/// Takes the rows that lie below the table; of several rows for one path the newest counts. Tables below this one are
/// known by their logs, as in a listing. What the table has is not held.
///
/// # Errors
/// The rows cannot be read to their end.
pub(super) async fn find(
    table: &TableStore,
    mut rows: InventoryStream,
    hidden: &HiddenNames,
    cutoff_ms: i64,
    keep: &Keep,
) -> Result<Found> {
    let mut candidates = Candidates::new(keep, cutoff_ms);
    let mut found: Vec<Row> = Vec::new();
    let mut nested_tables = BTreeSet::new();
    while let Some(row) = rows.try_next().await? {
        let Some(entry) = entry(table, &row) else {
            continue;
        };
        if let Some(nested) = nested_table_of(&entry.path) {
            nested_tables.insert(nested.to_owned());
        }
        if hidden.hides(&entry.path) {
            continue;
        }
        if !entry.is_dir && keep.has_file(&entry.path) {
            candidates.push(entry);
            continue;
        }
        found.push(Row {
            path: entry.path.into_boxed_str(),
            modified_ms: entry.modified_ms,
            size: entry.size,
            is_dir: entry.is_dir,
        });
    }
    for folder in &nested_tables {
        candidates.nested_table(folder);
    }
    found.sort_unstable_by(|a, b| {
        let newest_first = b.modified_ms.cmp(&a.modified_ms);
        a.path.cmp(&b.path).then(newest_first)
    });
    found.dedup_by(|next, first| next.path == first.path);
    for row in found {
        candidates.push(FileMeta {
            path: row.path.into_string(),
            size: row.size,
            modified_ms: row.modified_ms,
            is_dir: row.is_dir,
            e_tag: None,
        });
    }
    without_tables_below(table, without_links(table, candidates.finish()).await?).await
}

/// The entry of a row, relative to the table; none for rows elsewhere.
fn entry(table: &TableStore, row: &InventoryRow) -> Option<FileMeta> {
    let below = row.path.strip_prefix(&format!("{}/", table.root()))?;
    let place = table.data_path(below).ok()?;
    let path = place.relative()?.to_string();
    if path.is_empty() {
        return None;
    }
    Some(FileMeta {
        path,
        size: u64::try_from(row.length).unwrap_or(0),
        modified_ms: row.modification_time,
        is_dir: row.is_dir,
        e_tag: None,
    })
}
