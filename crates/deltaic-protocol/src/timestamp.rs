//! Dates and timestamps as Spark reads and prints them: proleptic Gregorian calendar, microseconds since the epoch, zones by name
//! or offset. A local timestamp (`timestamp_ntz`) is counted as if it were UTC.

pub mod civil;
mod format;
mod parse;
#[cfg(test)]
mod tests;
mod zone;

pub use format::{
    format_date, format_iso_utc, format_java_timestamp, format_java_timestamp_short,
    format_statistics, format_statistics_ntz, format_timestamp, format_timestamp_ntz,
};
pub use parse::{parse_compact, parse_date, parse_timestamp, parse_timestamp_ntz};
pub use zone::Zone;

/// Microseconds of a second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;
/// Microseconds of a day of 24 hours.
pub const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
