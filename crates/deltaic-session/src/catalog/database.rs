//! The connection to the catalog database.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use deltaic_protocol::error::{DeltaError, Result};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::layout::Warehouse;
use super::migrations::{self, Migration};

/// How long a writer waits for another process.
const PATIENCE: Duration = Duration::from_secs(60);

/// The catalog of a warehouse. Opened at first use, so that statements about paths need no catalog at all.
///
/// Every change is one transaction that takes the write lock at its start; readers never wait (write-ahead log).
/// Calls block for as long as SQLite does, which is short.
pub struct Catalog {
    file: PathBuf,
    warehouse: Warehouse,
    connection: Mutex<Option<Connection>>,
}

impl Catalog {
    /// A catalog in the given file; nothing is opened yet.
    pub fn new(file: impl Into<PathBuf>, warehouse: Warehouse) -> Self {
        Catalog {
            file: file.into(),
            warehouse,
            connection: Mutex::new(None),
        }
    }

    /// The database file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The warehouse whose tables are listed.
    pub fn warehouse(&self) -> &Warehouse {
        &self.warehouse
    }

    /// Runs a read.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.with(|connection| read(connection).map_err(|error| self.failure(&error)))
    }

    /// Runs a change in one transaction; an error undoes it.
    pub(super) fn write<T>(&self, change: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        self.with(|connection| {
            let transaction = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(|error| self.failure(&error))?;
            let value = change(&transaction)?;
            transaction.commit().map_err(|error| self.failure(&error))?;
            Ok(value)
        })
    }

    /// An error of SQLite as ours, naming the file.
    pub(super) fn failure(&self, error: &rusqlite::Error) -> DeltaError {
        DeltaError::unclassed(
            "java.io.IOException",
            format!(
                "The catalog {} cannot be used: {error}",
                self.file.display()
            ),
        )
        .with_path(self.file.display().to_string())
    }

    fn with<T>(&self, run: impl FnOnce(&mut Connection) -> Result<T>) -> Result<T> {
        let mut guard = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if guard.is_none() {
            *guard = Some(self.open()?);
        }
        match guard.as_mut() {
            Some(connection) => run(connection),
            None => Err(DeltaError::unclassed(
                "java.lang.IllegalStateException",
                "the catalog is closed",
            )),
        }
    }

    fn open(&self) -> Result<Connection> {
        if let Some(folder) = self
            .file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            std::fs::create_dir_all(folder).map_err(|error| {
                DeltaError::unclassed(
                    "java.io.IOException",
                    format!(
                        "The folder {} for the catalog cannot be made: {error}",
                        folder.display()
                    ),
                )
                .with_path(folder.display().to_string())
            })?;
        }
        match self.open_for_writing() {
            Ok(connection) => Ok(connection),
            Err(error) if is_read_only(&error) => self.open_for_reading(),
            Err(error) => Err(self.failure(&error)),
        }
        .and_then(|mut connection| match migrations::migrate(&mut connection) {
            Ok(Migration::Done) => Ok(connection),
            Ok(Migration::TooNew(found)) => Err(DeltaError::unclassed(
                "java.lang.IllegalStateException",
                format!(
                    "The catalog {} was written by a later release (layout {found}); use that release.",
                    self.file.display()
                ),
            )
            .with_path(self.file.display().to_string())),
            Err(error) => Err(self.failure(&error)),
        })
    }

    fn open_for_writing(&self) -> rusqlite::Result<Connection> {
        let connection = Connection::open(&self.file)?;
        connection.busy_timeout(PATIENCE)?;
        // Switching to the write-ahead log needs the file alone for a moment; SQLite does not wait for that by itself.
        let until = Instant::now() + PATIENCE;
        loop {
            let mode = connection.query_row("PRAGMA journal_mode = WAL", [], |row| {
                row.get::<_, String>(0)
            });
            match mode {
                Ok(_) => break,
                Err(error) if is_busy(&error) && Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(5))
                }
                Err(error) => return Err(error),
            }
        }
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", "ON")?;
        Ok(connection)
    }

    fn open_for_reading(&self) -> Result<Connection> {
        Connection::open_with_flags(
            &self.file,
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )
        .map_err(|error| self.failure(&error))
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
    )
}

fn is_read_only(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::ReadOnly)
    )
}
