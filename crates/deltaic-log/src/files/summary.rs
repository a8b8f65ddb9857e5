//! Counts and sizes of the live files, kept up to date commit by commit (protocol section "Version Checksum File").

use std::sync::Arc;

use deltaic_protocol::action::Add;

use super::stack::Known;
use super::{FileStack, FileState, Layer};
use crate::checkpoint::AddChunk;

const KIB: i64 = 1 << 10;
const MIB: i64 = 1 << 20;
const GIB: i64 = 1 << 30;

/// Number of bins of a file size histogram.
#[cfg(test)]
pub(crate) const SIZE_BINS: usize = 95;
/// Number of bins of a histogram of deleted rows per file.
pub(crate) const DELETED_BINS: usize = 10;

/// Lower bounds of the bins of the file size histogram, in bytes.
pub(crate) fn size_bounds() -> Vec<i64> {
    let mut bounds = vec![0];
    bounds.extend((0..10).map(|i| (8 * KIB) << i)); // 8 KiB … 4 MiB
    bounds.extend((2..=10).map(|i| i * 4 * MIB)); // 8 … 40 MiB
    bounds.extend([48, 56, 64, 72, 80, 88, 96, 104, 112, 120].map(|m| m * MIB));
    bounds.extend([124, 128, 132, 136, 140, 144].map(|m| m * MIB));
    bounds.extend((10..=36).map(|i| i * 16 * MIB)); // 160 … 576 MiB
    bounds.extend((10..=22).map(|i| i * 64 * MIB)); // 640 … 1408 MiB
    bounds.extend((12..=15).map(|i| i * 128 * MIB)); // 1536 … 1920 MiB
    bounds.extend((8..=16).map(|i| i * 256 * MIB)); // 2 … 4 GiB
    bounds.extend((1..=6).map(|i| (4 * GIB) << i)); // 8 … 256 GiB
    bounds
}

/// How many files of which size there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeHistogram {
    /// Lower bound of each bin, ascending, the first is 0.
    pub bounds: Arc<[i64]>,
    /// Files per bin.
    pub counts: Vec<i64>,
    /// Bytes per bin.
    pub bytes: Vec<i64>,
}

impl Default for SizeHistogram {
    fn default() -> Self {
        Self::with_bounds(size_bounds().into())
    }
}

impl SizeHistogram {
    /// An empty histogram with these bins.
    pub fn with_bounds(bounds: Arc<[i64]>) -> Self {
        let bins = bounds.len();
        Self {
            bounds,
            counts: vec![0; bins],
            bytes: vec![0; bins],
        }
    }

    fn change(&mut self, size: i64, sign: i64) {
        let bin = self
            .bounds
            .partition_point(|b| *b <= size)
            .saturating_sub(1);
        if let (Some(count), Some(bytes)) = (self.counts.get_mut(bin), self.bytes.get_mut(bin)) {
            *count += sign;
            *bytes = bytes.wrapping_add(sign.wrapping_mul(size));
        }
    }
}

/// Totals over the live files of a version.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileSummary {
    /// Live files.
    pub num_files: i64,
    /// Their sizes together, in bytes.
    pub size_in_bytes: i64,
    /// How many of them carry a deletion vector.
    pub num_deletion_vectors: i64,
    /// Rows that those vectors delete.
    pub num_deleted_records: i64,
    /// Files by size.
    pub histogram: SizeHistogram,
    /// Files by number of deleted rows: none, 1 to 9, 10 to 99, and so on.
    pub deleted_records: [i64; DELETED_BINS],
}

impl FileSummary {
    /// The totals over these files.
    pub fn of<'a>(files: impl IntoIterator<Item = &'a Arc<Add>>) -> Self {
        let mut out = Self::default();
        for add in files {
            out.count(add, 1);
        }
        out
    }

    /// The totals after a commit, `before` being the files it was applied to; `None` where memory cannot tell.
    pub(crate) fn after(&self, before: &FileStack, commit: &Layer) -> Option<Self> {
        let mut out = self.clone();
        for (key, entry) in &commit.entries {
            match (&entry.state, before.known(key)) {
                (FileState::Live(add), Known::Live(old)) => {
                    out.count(old, -1);
                    out.count(add, 1);
                }
                (FileState::Live(add), Known::Gone) => out.count(add, 1),
                (FileState::Removed(_), Known::Live(old)) => out.count(old, -1),
                (FileState::Removed(_), Known::Gone) => {}
                // A writer gives each new data file a new name, so a file that brings data was not there before; a file
                // that only rearranges may be one that is listed anew.
                (FileState::Live(add), Known::Unknown) if add.data_change => out.count(add, 1),
                (FileState::Removed(remove), Known::Unknown) if remove.data_change => {
                    let deleted = remove.deletion_vector.as_ref().map(|v| v.cardinality);
                    out.change(remove.size?, deleted, -1);
                }
                (_, Known::Unknown) => return None,
            }
        }
        Some(out)
    }

    /// Counts files in.
    pub(crate) fn include_all(&mut self, chunk: &AddChunk) {
        match chunk {
            AddChunk::Files(adds) => adds.iter().for_each(|add| self.count(add, 1)),
            AddChunk::Rows(rows) => {
                rows.for_each_size(|size, deleted| self.change(size, deleted, 1));
            }
        }
    }

    /// What another count of the same files says differently, a line for each total; `None` where both agree.
    pub(crate) fn differences(&self, computed: &Self) -> Option<String> {
        let totals = [
            (
                "Table size (bytes)",
                self.size_in_bytes,
                computed.size_in_bytes,
            ),
            ("Number of files", self.num_files, computed.num_files),
            (
                "Number of deletion vectors",
                self.num_deletion_vectors,
                computed.num_deletion_vectors,
            ),
            (
                "Number of deleted records",
                self.num_deleted_records,
                computed.num_deleted_records,
            ),
        ];
        let lines: Vec<String> = totals
            .into_iter()
            .filter(|(_, expected, found)| expected != found)
            .map(|(what, expected, found)| {
                format!("{what} - Expected: {expected} Computed: {found}")
            })
            .collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn count(&mut self, add: &Add, sign: i64) {
        self.change(
            add.size,
            add.deletion_vector.as_ref().map(|v| v.cardinality),
            sign,
        );
    }

    /// Sizes that a damaged log claims may leave the range of a number. Sums wrap then, so that what goes takes away what it
    /// brought.
    fn change(&mut self, size: i64, deleted: Option<i64>, sign: i64) {
        self.num_files += sign;
        self.size_in_bytes = self.size_in_bytes.wrapping_add(sign.wrapping_mul(size));
        self.histogram.change(size, sign);
        self.num_deletion_vectors += if deleted.is_some() { sign } else { 0 };
        let deleted = deleted.unwrap_or(0);
        self.num_deleted_records = self
            .num_deleted_records
            .wrapping_add(sign.wrapping_mul(deleted));
        self.deleted_records[deleted_bin(deleted)] += sign;
    }
}

/// The bin of a number of deleted rows: 0, then one bin for each power of ten, the last from `i32::MAX` on.
fn deleted_bin(rows: i64) -> usize {
    match rows {
        ..=0 => 0,
        rows if rows >= i64::from(i32::MAX) => DELETED_BINS - 1,
        rows => (rows.ilog10() as usize + 1).min(DELETED_BINS - 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bins_are_those_of_the_reference() {
        let bounds = size_bounds();
        assert_eq!(bounds.len(), SIZE_BINS);
        assert!(bounds.is_sorted());
        for known in [
            8192,
            4_194_304,
            12_582_912,
            41_943_040,
            50_331_648,
            125_829_120,
            130_023_424,
            150_994_944,
            603_979_776,
            671_088_640,
            1_140_850_688,
            1_610_612_736,
            1_744_830_464,
            1_879_048_192,
            2_013_265_920,
            4_294_967_296,
            274_877_906_944i64,
        ] {
            assert!(bounds.contains(&known), "{known}");
        }
    }

    #[test]
    fn deleted_rows_fall_into_decades() {
        let bins = [
            0,
            1,
            9,
            10,
            9_999_999,
            10_000_000,
            2_147_483_646,
            2_147_483_647,
        ]
        .map(deleted_bin);
        assert_eq!(bins, [0, 1, 1, 2, 7, 8, 8, 9]);
    }
}
