//! What a command is about: a table by name or path, and a moment of its history.

/// The table that a command is about, as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TableRef {
    /// A name of one to three parts, unquoted.
    Name(Vec<String>),
    /// A path or URL.
    Path(String),
}

/// A moment of a table's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeTravel {
    /// A version.
    Version(i64),
    /// A moment, with the text that it was written as.
    Timestamp {
        /// Microseconds since 1970-01-01 UTC.
        micros: i64,
        /// The user's text; stands in the history of RESTORE.
        text: String,
    },
}
