//! Which rows of a data file are read: its deletion vector, and the rows that a DELETE or UPDATE picks out of it.
//!
//! The deletion vector is loaded when the file is opened, on the machine that reads it (protocol section "Deletion
//! Vectors").

use std::sync::Arc;

use deltaic_protocol::error::Result;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use roaring::RoaringTreemap;

use super::vector::VectorFile;

/// A restriction of a file's rows, attached to the file of a scan.
#[derive(Debug, Clone, Default)]
pub struct FileRows {
    /// The deletion vector, loaded when the file is opened.
    pub vector: Option<VectorFile>,
    /// Rows to leave out besides.
    pub without: Option<Arc<RoaringTreemap>>,
    /// If set, only these rows are read (and of them only those that are not deleted).
    pub only: Option<Arc<RoaringTreemap>>,
    /// If set, only the rows that this vector marks are read, under the same condition; it is loaded when the file is opened.
    pub marked: Option<VectorFile>,
}

impl FileRows {
    /// Whether all rows of the file are read.
    pub fn is_all(&self) -> bool {
        self.vector.is_none() && self.without.is_none() && !self.is_picked()
    }

    /// Whether rows are picked one by one.
    pub fn is_picked(&self) -> bool {
        self.only.is_some() || self.marked.is_some()
    }

    /// The selection over a file of `rows` rows.
    ///
    /// # Errors
    /// A vector cannot be read or is damaged. Rows that it names beyond the end of the file delete nothing, as in
    /// the reference.
    pub async fn selection(&self, rows: u64) -> Result<RowSelection> {
        let mut deleted = match &self.vector {
            Some(vector) => vector.load().await?,
            None => RoaringTreemap::new(),
        };
        if let Some(without) = &self.without {
            deleted |= without.as_ref();
        }
        let marked = match &self.marked {
            Some(vector) => Some(vector.load().await?),
            None => None,
        };
        Ok(match (&self.only, marked) {
            (None, None) => selected(&deleted, rows, true),
            (Some(only), None) => selected(&(only.as_ref() - &deleted), rows, false),
            (None, Some(marked)) => selected(&(marked - &deleted), rows, false),
            (Some(only), Some(marked)) => {
                selected(&((marked & only.as_ref()) - &deleted), rows, false)
            }
        })
    }
}

/// Runs of rows: those in `marked` are skipped or taken, all others the other way round.
fn selected(marked: &RoaringTreemap, rows: u64, skip_marked: bool) -> RowSelection {
    let mut runs: Vec<RowSelector> = Vec::new();
    let mut push = |count: u64, skip: bool| {
        if count > 0 {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            match runs.last_mut().filter(|last| last.skip == skip) {
                Some(last) => last.row_count += count,
                None => runs.push(RowSelector {
                    row_count: count,
                    skip,
                }),
            }
        }
    };
    let mut at = 0;
    for row in marked.iter().take_while(|row| *row < rows) {
        push(row - at, !skip_marked);
        push(1, skip_marked);
        at = row + 1;
    }
    push(rows - at, !skip_marked);
    RowSelection::from(runs)
}
