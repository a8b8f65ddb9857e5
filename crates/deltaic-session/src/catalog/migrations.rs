//! Layout of the catalog database and how an older one becomes the present one.
//!
//! `PRAGMA user_version` holds the number of the last step that ran. A newer number than this program knows is
//! refused: it belongs to a later release.

use rusqlite::{Connection, TransactionBehavior};

/// Steps in order; step `n` (from 1) leaves `user_version = n`.
const STEPS: [&str; 2] = [
    "
CREATE TABLE catalogs (
    name TEXT PRIMARY KEY NOT NULL,
    comment TEXT
);
CREATE TABLE schemas (
    catalog TEXT NOT NULL REFERENCES catalogs(name),
    name TEXT NOT NULL,
    comment TEXT,
    location TEXT,
    properties TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (catalog, name)
);
CREATE TABLE objects (
    catalog TEXT NOT NULL,
    schema TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('MANAGED', 'EXTERNAL', 'VIEW')),
    provider TEXT,
    location TEXT,
    columns TEXT,
    partition_columns TEXT NOT NULL DEFAULT '[]',
    comment TEXT,
    properties TEXT NOT NULL DEFAULT '{}',
    created_ms INTEGER NOT NULL,
    view_text TEXT,
    view_catalog TEXT,
    view_schema TEXT,
    PRIMARY KEY (catalog, schema, name),
    FOREIGN KEY (catalog, schema) REFERENCES schemas(catalog, name)
);
",
    "
CREATE TABLE unfinished (
    work TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL
);
",
];

/// What [`migrate`] can answer besides success.
pub(super) enum Migration {
    Done,
    /// The database was written by a later release; holds its number.
    TooNew(i64),
}

/// Brings the database up to date. Safe to run from several processes at once: the first one works, the others
/// wait and find nothing to do.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<Migration> {
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let known = STEPS.len() as i64;
    if found == known {
        return Ok(Migration::Done);
    }
    if found > known {
        return Ok(Migration::TooNew(found));
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    for (number, step) in STEPS.iter().enumerate().skip(found.max(0) as usize) {
        transaction.execute_batch(step)?;
        if number == 0 {
            first_rows(&transaction)?;
        }
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(Migration::Done)
}

fn first_rows(connection: &Connection) -> rusqlite::Result<()> {
    for catalog in super::FIRST_CATALOGS {
        connection.execute("INSERT INTO catalogs (name) VALUES (?1)", [catalog])?;
        connection.execute(
            "INSERT INTO schemas (catalog, name, comment) VALUES (?1, ?2, 'default database')",
            [catalog, super::DEFAULT_SCHEMA],
        )?;
    }
    Ok(())
}
