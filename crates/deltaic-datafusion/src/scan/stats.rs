//! What DataFusion may know of a file's columns (protocol section "Per-file Statistics").
//!
//! Only what is exactly known is called exact, because DataFusion answers queries from exact statistics and replaces columns
//! by constants: strings are cut, instants lose their microseconds, floating-point bounds know nothing of NaN and the two
//! zeros, and bounds of a file with a deletion vector are wide.

use datafusion::common::ColumnStatistics;
use datafusion::common::stats::Precision;
use deltaic_protocol::action::Add;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::statistics::{Nulls, Statistics};

use crate::values::scalar_value;

/// The statistics of one file.
#[derive(Debug, Clone)]
pub(crate) struct FileStats {
    stats: Statistics,
    tight: bool,
}

impl FileStats {
    /// Of a file of the log; text that is not statistics counts as none.
    pub(crate) fn of(add: &Add) -> FileStats {
        let stats = add
            .stats
            .as_deref()
            .and_then(Statistics::from_json)
            .unwrap_or_default();
        let tight = stats.is_tight() && add.deletion_vector.is_none();
        FileStats { stats, tight }
    }

    /// Physical rows, deletion vectors not taken off.
    pub(crate) fn physical_rows(&self) -> Option<u64> {
        self.stats
            .num_records
            .and_then(|rows| u64::try_from(rows).ok())
    }

    /// A top-level column by its physical name. `rows` is the number of rows that a scan yields.
    pub(crate) fn column(
        &self,
        physical: &str,
        data_type: &DataType,
        rows: usize,
    ) -> ColumnStatistics {
        let mut out = ColumnStatistics::new_unknown();
        let path = [physical];
        let exact = self.tight && is_exact(data_type);
        let bound = |scalar| match scalar {
            Some(scalar) if exact => Precision::Exact(scalar_value(scalar)),
            Some(scalar) => Precision::Inexact(scalar_value(scalar)),
            None => Precision::Absent,
        };
        out.min_value = bound(self.stats.min(&path, data_type));
        out.max_value = bound(self.stats.max(&path, data_type));
        out.null_count = match self.stats.nulls(&path) {
            Nulls::None => Precision::Exact(0),
            Nulls::All => Precision::Exact(rows),
            Nulls::Some(nulls) if self.tight => {
                Precision::Exact(usize::try_from(nulls).unwrap_or(usize::MAX))
            }
            _ => Precision::Absent,
        };
        out
    }
}

/// Types whose statistics are written without loss and compared alike by every engine.
fn is_exact(data_type: &DataType) -> bool {
    data_type.is_integral() || *data_type == DataType::Date
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;

    fn stats(text: &str, deleted: bool) -> FileStats {
        let vector = deleted.then(DeletionVectorDescriptor::default);
        FileStats::of(&Add {
            stats: Some(text.to_string()),
            deletion_vector: vector,
            ..Add::default()
        })
    }

    #[test]
    fn with_a_deletion_vector_only_none_and_all_of_the_nulls_are_known() {
        let wide = stats(
            r#"{"numRecords":5,"nullCount":{"a":0,"b":2,"c":5},"tightBounds":true}"#,
            true,
        );
        assert_eq!(
            wide.column("a", &DataType::Long, 3).null_count,
            Precision::Exact(0)
        );
        assert_eq!(
            wide.column("b", &DataType::Long, 3).null_count,
            Precision::Absent
        );
        assert_eq!(
            wide.column("c", &DataType::Long, 3).null_count,
            Precision::Exact(3)
        );
    }

    #[test]
    fn cut_strings_floats_and_instants_are_never_exact() {
        let text = r#"{"numRecords":2,"minValues":{"s":"a","d":1.5,"n":1,"t":"1970-01-01T00:00:00.001Z"},
            "maxValues":{"s":"a","d":1.5,"n":1,"t":"1970-01-01T00:00:00.001Z"},"nullCount":{"s":0,"d":0,"n":0,"t":0}}"#;
        let read = stats(text, false);
        for (name, data_type) in [
            ("s", DataType::String),
            ("d", DataType::Double),
            ("t", DataType::Timestamp),
        ] {
            assert!(
                matches!(
                    read.column(name, &data_type, 2).max_value,
                    Precision::Inexact(_)
                ),
                "{name}"
            );
        }
        assert!(matches!(
            read.column("n", &DataType::Long, 2).max_value,
            Precision::Exact(_)
        ));
        assert!(matches!(
            stats(text, true).column("n", &DataType::Long, 1).max_value,
            Precision::Inexact(_)
        ));
    }
}
