//! Errors on the terminal: the line, then where, why, and what to do.

use std::error::Error as _;
use std::fmt::Write as _;

use deltaic_protocol::error::{DeltaError, ErrorKind};

/// Why a command ends early.
pub enum Failed {
    /// Not printed yet.
    Error(DeltaError),
    /// Printed already; the exit status.
    Printed(u8),
    /// The command line asks for something that can not be.
    Usage(String),
}

impl From<DeltaError> for Failed {
    fn from(error: DeltaError) -> Self {
        Failed::Error(error)
    }
}

/// Exit status of a run whose expected error did not come.
pub const EXPECTED_ERROR_MISSING: u8 = 10;

/// The lines for people.
pub fn text(error: &DeltaError) -> String {
    let mut out = format!("error: {error}\n");
    let mut place: Vec<String> = Vec::new();
    place.extend(error.table().map(|table| format!("table {table}")));
    place.extend(error.path().map(|path| format!("path {path}")));
    place.extend(error.version().map(|version| format!("version {version}")));
    if !place.is_empty() {
        let _ = writeln!(out, "   at: {}", place.join(", "));
    }
    for cause in causes(error) {
        let _ = writeln!(out, "cause: {cause}");
    }
    let _ = writeln!(out, " hint: {}", hint_of(error));
    out
}

/// The texts of what an error came from, each that says more than the one before.
pub fn causes(error: &DeltaError) -> Vec<String> {
    let mut out = Vec::new();
    let mut cause = error.source();
    let mut said = error.to_string();
    while let Some(inner) = cause {
        let text = inner.to_string();
        // Wrappers repeat what they wrap.
        if !said.contains(&text) {
            out.push(text.clone());
            said = text;
        }
        cause = inner.source();
    }
    out
}

/// What to do about an error.
pub fn hint_of(error: &DeltaError) -> &str {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(hint) = error.hint() {
            return hint;
        }
        cause = error.source().and_then(|inner| inner.downcast_ref());
    }
    hint(error)
}

/// What helps with errors of a class or a kind, where the error itself does not say it.
fn hint(error: &DeltaError) -> &'static str {
    match error.class().unwrap_or_default() {
        "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT" => {
            "keep the default, or SET spark.databricks.delta.retentionDurationCheck.enabled = false if no reader and no writer is at work"
        }
        "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION" => {
            "raise delta.deletedFileRetentionDuration before the next VACUUM; versions that it has reached are gone"
        }
        "FAILED_READ_FILE.FILE_NOT_EXIST" => {
            "VACUUM takes files of versions that are no longer current, and DESCRIBE HISTORY shows whether it ran; if the current version lacks them, FSCK REPAIR TABLE … DRY RUN lists what is missing"
        }
        "TABLE_OR_VIEW_NOT_FOUND" => {
            "SHOW TABLES lists the names; a table by path is delta.`/path`"
        }
        "SCHEMA_NOT_FOUND" => "SHOW SCHEMAS lists the names; CREATE SCHEMA makes one",
        "DELTA_TIMESTAMP_GREATER_THAN_COMMIT" | "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION" => {
            "DESCRIBE HISTORY shows the times of the commits"
        }
        "DELTA_VERSION_NOT_FOUND" => "DESCRIBE HISTORY shows the versions",
        "UNBOUND_SQL_PARAMETER" => "give it a value with --param NAME=VALUE",
        _ => kind_hint(error.kind()),
    }
}

fn kind_hint(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Parse => {
            "deltaic sql --help shows examples; names with special characters stand in backticks"
        }
        ErrorKind::Analysis => {
            "DESCRIBE shows the columns of a table, SET the settings of the session"
        }
        ErrorKind::NotFound => "SHOW TABLES, DESCRIBE and DESCRIBE HISTORY show what is there",
        ErrorKind::Unsupported => "README.md lists what is supported",
        ErrorKind::Conflict => "another writer was faster: run the statement again",
        ErrorKind::Data => {
            "look at the value that the message names; try_cast and its kind answer NULL instead"
        }
        ErrorKind::Corrupt => "do not write to the table; RESTORE or a copy of the log may help",
        ErrorKind::Storage => {
            "check that the place can be reached, that you may do this there, and that it has room"
        }
        ErrorKind::Resources => {
            "a higher --memory-limit, or a statement over fewer rows; nothing was committed unless DESCRIBE HISTORY shows it"
        }
        ErrorKind::Cancelled => {
            "nothing of the statement was committed unless DESCRIBE HISTORY shows it"
        }
        ErrorKind::Internal => "this is a defect: please report the statement and this text",
    }
}

#[cfg(test)]
mod tests {
    use deltaic_protocol::error::DeltaError;

    use super::text;

    #[test]
    fn the_hint_of_a_cause_is_that_of_the_error() {
        let cause = DeltaError::unclassed("java.io.IOException", "refused").with_hint("ask again");
        let error = DeltaError::new("TASK_WRITE_FAILED").with_source(cause);
        assert_eq!(super::hint_of(&error), "ask again");
    }

    #[test]
    fn place_cause_and_hint_stand_under_the_error() {
        let error = DeltaError::unclassed("java.io.IOException", "cannot read the log")
            .with_path("file:/lake/t")
            .with_version(3)
            .with_source(std::io::Error::other("device gone"))
            .with_hint("plug it in");
        let expected = "error: cannot read the log\n   at: path file:/lake/t, version 3\ncause: device gone\n hint: plug it in\n";
        assert_eq!(text(&error), expected);
    }
}
