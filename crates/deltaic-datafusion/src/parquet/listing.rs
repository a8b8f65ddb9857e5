//! The files of a Parquet table, by Spark's rules: names that begin with `_` or `.` are passed over unless they are
//! partition folders.

use std::sync::Arc;

use deltaic_protocol::action::{Add, PartitionValues};
use deltaic_protocol::error::Result;
use deltaic_protocol::partition::{DEFAULT_PARTITION, unescape_path_name};
use deltaic_storage::{FileStream, TableStore, encode_uri_path};
use futures::StreamExt;

/// All data files, by path; those behind symbolic links too.
pub(super) async fn data_files(store: &TableStore) -> Result<Vec<Add>> {
    let enter = Arc::new(|path: &str| !is_hidden(last(path)));
    listed(store.data().list_through_links("", Some(enter))).await
}

/// All data files that lie in the table's own folders, by path: what may be deleted.
pub(super) async fn own_files(store: &TableStore) -> Result<Vec<Add>> {
    let enter = Arc::new(|path: &str| !is_hidden(last(path)));
    listed(store.data().list("", Some(enter))).await
}

async fn listed(mut listing: FileStream) -> Result<Vec<Add>> {
    let mut out = Vec::new();
    while let Some(entry) = listing.next().await {
        let entry = entry?;
        let hidden = entry.path.split('/').any(is_hidden);
        if entry.is_dir || hidden || entry.size == 0 {
            continue;
        }
        out.push(Add {
            path: encode_uri_path(&entry.path),
            partition_values: values(&entry.path),
            size: i64::try_from(entry.size).unwrap_or(i64::MAX),
            modification_time: entry.modified_ms,
            ..Add::default()
        });
    }
    out.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(out)
}

/// The names and values in the folders of a path, in their order.
pub(super) fn folders(path: &str) -> Vec<(String, Option<String>)> {
    let Some((folder, _)) = path.rsplit_once('/') else {
        return Vec::new();
    };
    let pair = |segment: &str| {
        let (name, value) = segment.split_once('=')?;
        let value = unescape_path_name(value);
        Some((
            unescape_path_name(name),
            (value != DEFAULT_PARTITION).then_some(value),
        ))
    };
    folder.split('/').filter_map(pair).collect()
}

fn values(path: &str) -> PartitionValues {
    folders(path).into_iter().collect()
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_hidden(name: &str) -> bool {
    let marked = name.starts_with('.') || name.starts_with('_');
    marked && !(name.starts_with('_') && name.contains('='))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn folders_give_names_and_values_and_null() {
        let found = folders("p=a%3Ab/_q=__HIVE_DEFAULT_PARTITION__/part-0.parquet");
        assert_eq!(
            found,
            [
                ("p".to_string(), Some("a:b".to_string())),
                ("_q".to_string(), None)
            ]
        );
        assert!(folders("part-0.parquet").is_empty());
    }

    #[test]
    fn marked_names_are_hidden_but_partition_folders_are_not() {
        assert!(is_hidden("_SUCCESS") && is_hidden(".part.crc") && is_hidden("_delta_log"));
        assert!(!is_hidden("_p=1") && !is_hidden("part-0.parquet"));
    }
}
