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
    connection: Mutex<Option<Open>>,
}

/// An open database.
struct Open {
    connection: Connection,
    /// Why it can only be read, if so.
    read_only: Option<String>,
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
        self.with(|open| read(&open.connection).map_err(|error| self.failure(&error)))
    }

    /// Runs a change in one transaction; an error undoes it.
    pub(super) fn write<T>(&self, change: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        self.with(|open| {
            if let Some(why) = &open.read_only {
                return Err(self.unusable(why));
            }
            let transaction = open
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(|error| self.failure(&error))?;
            let value = change(&transaction)?;
            transaction.commit().map_err(|error| self.failure(&error))?;
            Ok(value)
        })
    }

    /// An error of SQLite as ours, naming the file.
    pub(super) fn failure(&self, error: &rusqlite::Error) -> DeltaError {
        self.unusable(&error.to_string())
    }

    fn unusable(&self, why: &str) -> DeltaError {
        DeltaError::unclassed(
            "java.io.IOException",
            format!("The catalog {} cannot be used: {why}", self.file.display()),
        )
        .with_path(self.file.display().to_string())
    }

    fn with<T>(&self, run: impl FnOnce(&mut Open) -> Result<T>) -> Result<T> {
        let mut guard = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if guard.is_none() {
            *guard = Some(self.open()?);
        }
        match guard.as_mut() {
            Some(open) => run(open),
            None => Err(DeltaError::unclassed(
                "java.lang.IllegalStateException",
                "the catalog is closed",
            )),
        }
    }

    /// Opens the database for reading and writing; where that cannot be (a read-only place, a full disk), for reading,
    /// and where there is none and none can be made, as an empty one, so that tables by path can still be read.
    fn open(&self) -> Result<Open> {
        let made = match self.file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => std::fs::create_dir_all(folder),
            _ => Ok(()),
        };
        let why = match made {
            Ok(()) => match self.open_for_writing().and_then(|mut connection| {
                let migrated = migrations::migrate(&mut connection)?;
                Ok((connection, migrated))
            }) {
                Ok((connection, migrated)) => {
                    self.known_layout(&migrated)?;
                    return Ok(Open {
                        connection,
                        read_only: None,
                    });
                }
                Err(error) if is_of_the_place(&error) => error.to_string(),
                Err(error) => return Err(self.failure(&error)),
            },
            Err(error) => error.to_string(),
        };
        let mut connection = if self.file.exists() {
            self.open_for_reading()
                .map_err(|error| self.failure(&error))?
        } else {
            Connection::open_in_memory().map_err(|error| self.failure(&error))?
        };
        let migrated =
            migrations::migrate(&mut connection).map_err(|error| self.failure(&error))?;
        self.known_layout(&migrated)?;
        Ok(Open {
            connection,
            read_only: Some(why),
        })
    }

    fn known_layout(&self, migrated: &Migration) -> Result<()> {
        match migrated {
            Migration::Done => Ok(()),
            Migration::TooNew(found) => Err(DeltaError::unclassed(
                "java.lang.IllegalStateException",
                format!(
                    "The catalog {} was written by a later release (layout {found}); use that release.",
                    self.file.display()
                ),
            )
            .with_path(self.file.display().to_string())),
        }
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

    /// Read-only. A write-ahead log wants files beside the database; where they cannot be made, the log is read without
    /// them, and where there is no log, the database is taken as one that nobody changes.
    fn open_for_reading(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let plain = Connection::open_with_flags(&self.file, flags).and_then(readable);
        if plain.is_ok() {
            return plain;
        }
        let log = log_of(&self.file);
        if std::fs::metadata(&log).map_or(0, |found| found.len()) == 0 {
            let address = format!(
                "file:{}?immutable=1",
                deltaic_storage::encode_uri_path(&self.file.to_string_lossy())
            );
            return Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI)
                .and_then(readable);
        }
        let alone = Connection::open(&self.file)?;
        alone.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        readable(alone)
    }
}

/// The connection, if it answers.
fn readable(connection: Connection) -> rusqlite::Result<Connection> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| {
        row.get::<_, i64>(0)
    })?;
    Ok(connection)
}

/// The write-ahead log of a database.
fn log_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
    )
}

/// Whether the place of the database is the trouble, not the database.
fn is_of_the_place(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode;
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::SystemIoFailure
                | ErrorCode::DiskFull
                | ErrorCode::PermissionDenied
        )
    )
}
