//! What kind of trouble an error is: decides the exit status of the command line and whether a caller may try again.

use super::ErrorClass;

/// The kinds that a caller would treat differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The text is not a statement.
    Parse,
    /// The statement does not fit the table, the session or itself.
    Analysis,
    /// A table, view, schema, version, column or file that is not there.
    NotFound,
    /// Neither wrong nor possible: a feature that is not supported, here or at all.
    Unsupported,
    /// Another writer won.
    Conflict,
    /// A value or a row is refused: overflow, malformed text, constraint.
    Data,
    /// Log or data are damaged or contradict themselves.
    Corrupt,
    /// The storage failed.
    Storage,
    /// More memory is needed than is allowed.
    Resources,
    /// Stopped from outside.
    Cancelled,
    /// A defect of this program.
    Internal,
}

impl ErrorKind {
    /// Exit status of the command line for an error of this kind.
    pub fn exit_code(self) -> u8 {
        match self {
            ErrorKind::Internal => 1,
            ErrorKind::Parse => 2,
            ErrorKind::Analysis => 3,
            ErrorKind::NotFound => 4,
            ErrorKind::Unsupported => 5,
            ErrorKind::Conflict => 6,
            ErrorKind::Data => 7,
            ErrorKind::Corrupt => 8,
            ErrorKind::Storage => 9,
            ErrorKind::Resources => 11,
            ErrorKind::Cancelled => 130,
        }
    }

    /// The kind by class: from exceptions of the rule first, then from the SQLSTATE.
    pub(super) fn of(class: &ErrorClass) -> ErrorKind {
        let name = class.name.as_str();
        let has = |part: &str| name.contains(part);
        if has("VERSIONS_NOT_CONTIGUOUS")
            || has("TRUNCATED_TRANSACTION_LOG")
            || has("STATE_RECOVER_ERROR")
            || has("LOG_FILE_NOT_FOUND")
            || has("DELETION_VECTOR_")
            || has("FAILED_INTEGRITY")
            || has("MISSING_PART_FILES")
            || has("FEATURES_PROTOCOL_METADATA_MISMATCH")
        {
            return ErrorKind::Corrupt;
        }
        // Of a statement, whatever its SQLSTATE says.
        if name == "ALL_PARTITION_COLUMNS_NOT_ALLOWED" {
            return ErrorKind::Analysis;
        }
        if has("UNSUPPORTED_FEATURES_FOR") || has("INVALID_PROTOCOL_VERSION") {
            return ErrorKind::Unsupported;
        }
        if class.java_class.ends_with(".ParseException") {
            return ErrorKind::Parse;
        }
        if has("NOT_FOUND")
            || has("NOT_EXIST")
            || has("UNRESOLVED_")
            || name == "DELTA_MISSING_DELTA_TABLE"
            || name == "DELTA_CANNOT_RESTORE_TABLE_VERSION"
        {
            return ErrorKind::NotFound;
        }
        match class.sql_state.unwrap_or_default() {
            "2D521" | "40000" => ErrorKind::Conflict,
            "58030" | "KD001" => ErrorKind::Storage,
            "57014" => ErrorKind::Cancelled,
            "53200" => ErrorKind::Resources,
            "42P01" | "42703" | "42704" | "42K03" => ErrorKind::NotFound,
            state if state.starts_with("0A") => ErrorKind::Unsupported,
            state if state.starts_with("22") && !class.java_class.contains("Analysis") => {
                ErrorKind::Data
            }
            state if state.starts_with("23") || state.starts_with("44") => ErrorKind::Data,
            state if state.starts_with("XXK") || state.starts_with("KD") => ErrorKind::Corrupt,
            state if state.starts_with("XX") => ErrorKind::Internal,
            _ if class.java_class.contains("InvariantViolation") => ErrorKind::Data,
            _ => ErrorKind::Analysis,
        }
    }

    /// The kind of an error without class, by its Java exception.
    pub(super) fn of_java(java: &str) -> ErrorKind {
        let has = |part: &str| java.contains(part);
        if has("FileNotFound") || has("NotFoundException") {
            ErrorKind::NotFound
        } else if has("IOException") {
            ErrorKind::Storage
        } else if has("ParseException") {
            ErrorKind::Parse
        } else if has("UnsupportedOperation") {
            ErrorKind::Unsupported
        } else if has("IllegalState") || has("Json") {
            ErrorKind::Corrupt
        } else if has("Arithmetic") || has("DateTime") || has("NumberFormat") {
            ErrorKind::Data
        } else {
            ErrorKind::Analysis
        }
    }
}
