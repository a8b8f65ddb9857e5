//! Partition values from the folders of a file (pure).

use deltaic_protocol::action::PartitionValues;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::partition::{DEFAULT_PARTITION, Scalar, unescape_path_name};

use super::FilesOptions;

const HINT: &str =
    "PARTITIONED BY (name type, …) names the partition columns in the order of the folders";

/// The values for the log: texts as the folders have them, null for Hive's name of it.
///
/// # Errors
/// The folders name other columns than the partition columns; a value is none of its column's type.
pub(super) fn values(path: &str, uri: &str, options: &FilesOptions) -> Result<PartitionValues> {
    let found = folders(path);
    let wanted = &options.partitions;
    if found.len() != wanted.len() {
        let parsed: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let expected: Vec<&str> = wanted.names().collect();
        return Err(
            DeltaError::new("DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME")
                .param("expectedColsSize", expected.len())
                .param("expectedCols", list(&expected))
                .param("parsedColsSize", parsed.len())
                .param("parsedCols", list(&parsed))
                .param("path", uri)
                .with_kind(ErrorKind::Analysis)
                .with_path(uri)
                .with_hint(HINT),
        );
    }
    if !options.ignore_cast_failure {
        for (field, (_, value)) in wanted.iter().zip(&found) {
            let Some(text) = value.as_deref() else {
                continue;
            };
            let none = Scalar::from_partition_text(Some(text), &field.data_type, &options.zone);
            // The empty text is null in the log, and a value of no type but these.
            let empty = text.is_empty() && !is_text(&field.data_type);
            if none.is_err() || empty {
                return Err(DeltaError::new("DELTA_FAILED_CAST_PARTITION_VALUE")
                    .param("value", text)
                    .param("dataType", field.data_type.class_text())
                    .with_path(uri));
            }
        }
    }
    for (field, (name, _)) in wanted.iter().zip(&found) {
        if !field.name.eq_ignore_ascii_case(name) {
            return Err(
                DeltaError::new("DELTA_UNEXPECTED_PARTITION_COLUMN_FROM_FILE_NAME")
                    .param("expectedCol", format!("`{}`", field.name))
                    .param("parsedCol", format!("`{name}`"))
                    .param("path", uri)
                    .with_kind(ErrorKind::Analysis)
                    .with_path(uri)
                    .with_hint(HINT),
            );
        }
    }
    Ok(wanted
        .iter()
        .zip(found)
        .map(|(field, (_, value))| (field.name.clone(), value))
        .collect())
}

fn is_text(data_type: &deltaic_protocol::schema::DataType) -> bool {
    use deltaic_protocol::schema::DataType::{Binary, String};
    matches!(data_type, String | Binary)
}

fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("[{}]", quoted.join(", "))
}

/// Names and values, outermost first: the run of `name=value` folders that is nearest to the file.
fn folders(path: &str) -> Vec<(String, Option<String>)> {
    let Some((folders, _)) = path.rsplit_once('/') else {
        return Vec::new();
    };
    let mut found: Vec<(String, Option<String>)> = folders
        .rsplit('/')
        .skip_while(|folder| !folder.contains('='))
        .map_while(|folder| folder.split_once('='))
        .map(|(name, value)| {
            let value = unescape_path_name(value);
            (
                unescape_path_name(name),
                (value != DEFAULT_PARTITION).then_some(value),
            )
        })
        .collect();
    found.reverse();
    found
}
