//! What must hold of a table after whatever happened: it opens anew, its log has no gap, and VACUUM takes what nobody
//! needs and nothing else.

use std::collections::BTreeSet;

use crate::support::{Held, Place, commits, data_files};

/// Turns the check of VACUUM's retention off, for one session.
pub const UNCHECKED: &str = "SET spark.databricks.delta.retentionDurationCheck.enabled = false";

/// The ids in a table.
pub fn ids(session: &mut Held, table: &str) -> BTreeSet<i64> {
    let rows = session.rows(&format!("SELECT id FROM {table}"));
    let ids: BTreeSet<i64> = rows.iter().map(|row| row[0].as_i64().unwrap()).collect();
    assert_eq!(ids.len(), rows.len(), "rows came twice: {rows:?}");
    ids
}

/// The log of the table is whole: commits without a gap, as many as the history shows.
pub fn check_log(place: &Place, session: &mut Held, table: &str) {
    let versions = commits(&place.table(table));
    let expected: Vec<u64> = (0..versions.len() as u64).collect();
    assert_eq!(versions, expected, "commits");
    let history = session.rows(&format!("DESCRIBE HISTORY {table}"));
    assert_eq!(history.len(), versions.len(), "history");
}

/// VACUUM now: afterwards the data files on the disk are those that the newest version names, and the rows are the same.
pub fn vacuum_leaves_what_is_live(place: &Place, session: &mut Held, table: &str) {
    let before = ids(session, table);
    session.rows(UNCHECKED);
    session.rows(&format!("VACUUM {table} RETAIN 0 HOURS"));
    session.refresh();
    assert_eq!(ids(session, table), before, "VACUUM changed the rows");
    let detail = session.ask(&format!("DESCRIBE DETAIL {table}"));
    let column = |name: &str| {
        let columns = detail["columns"].as_array().unwrap();
        let at = columns.iter().position(|column| column[0] == name).unwrap();
        detail["rows"][0][at].as_u64().unwrap()
    };
    let files = data_files(&place.table(table));
    let parquet = files
        .iter()
        .filter(|name| name.ends_with(".parquet"))
        .count();
    assert_eq!(parquet as u64, column("numFiles"), "{files:?}");
    for name in &files {
        // What is left beside the data are vectors; nothing half-written.
        assert!(
            name.ends_with(".parquet") || name.ends_with(".bin"),
            "{files:?}"
        );
    }
}
