//! Names that VACUUM never touches (spec: delta, section 2.3).

use deltaic_log::Snapshot;

/// The rule for one table.
#[derive(Debug, Clone)]
pub struct HiddenNames {
    /// `column=` of every partition column, logical names.
    partitions: Vec<String>,
    /// Iceberg metadata of the table lies in `metadata`.
    iceberg: bool,
}

impl HiddenNames {
    /// The rule for a table with these partition columns.
    pub fn new(partition_columns: &[String], iceberg: bool) -> HiddenNames {
        HiddenNames {
            partitions: partition_columns
                .iter()
                .map(|column| format!("{column}="))
                .collect(),
            iceberg,
        }
    }

    /// The rule for a version of a table.
    pub fn of(snapshot: &Snapshot) -> HiddenNames {
        let formats = snapshot
            .metadata()
            .configuration
            .get("delta.universalFormat.enabledFormats");
        let iceberg = formats
            .is_some_and(|formats| formats.split(',').any(|format| format.trim() == "iceberg"));
        HiddenNames::new(snapshot.partition_columns(), iceberg)
    }

    /// Whether a file or directory of this name, and all below it, is left alone.
    pub fn hides(&self, name: &str) -> bool {
        if name == "metadata" && self.iceberg {
            return true;
        }
        (name.starts_with('.') || name.starts_with('_'))
            && !name.starts_with("_delta_index")
            && !name.starts_with("_change_data")
            && !self
                .partitions
                .iter()
                .any(|partition| name.starts_with(partition.as_str()))
    }

    /// Whether any segment of a relative path is hidden.
    pub fn hides_path(&self, path: &str) -> bool {
        path.split('/').any(|name| self.hides(name))
    }
}
