//! Days, microseconds and zones: the calendar arithmetic behind Spark's datetime values.

pub mod interval;
pub mod parse;
pub mod pattern;

use chrono::{
    DateTime, Datelike, Duration, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeZone, Timelike,
};
use chrono_tz::Tz;

/// Microseconds of a second, a minute and so on.
pub const MICROS_PER_SECOND: i64 = 1_000_000;
/// See [`MICROS_PER_SECOND`].
pub const MICROS_PER_MINUTE: i64 = 60 * MICROS_PER_SECOND;
/// See [`MICROS_PER_SECOND`].
pub const MICROS_PER_HOUR: i64 = 60 * MICROS_PER_MINUTE;
/// See [`MICROS_PER_SECOND`].
pub const MICROS_PER_DAY: i64 = 24 * MICROS_PER_HOUR;

/// The date `days` after 1970-01-01; None beyond what can be counted.
pub fn date(days: i32) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(1970, 1, 1)?.checked_add_signed(Duration::days(i64::from(days)))
}

/// Days from 1970-01-01 to a date.
pub fn days(date: NaiveDate) -> i32 {
    date.num_days_from_ce() - 719_163
}

/// Date and time of day of microseconds that are counted without a zone.
pub fn wall(micros: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp_micros(micros).map(|t| t.naive_utc())
}

/// The reverse of [`wall`].
pub fn micros_of_wall(at: NaiveDateTime) -> i64 {
    at.and_utc().timestamp_micros()
}

/// Seconds that `zone` is ahead of UTC at an instant.
pub fn offset_at(micros: i64, zone: Tz) -> i32 {
    wall(micros).map_or(0, |utc| {
        zone.offset_from_utc_datetime(&utc).fix().local_minus_utc()
    })
}

/// An instant as the clock on the wall shows it in `zone`, in microseconds without a zone.
pub fn to_wall(micros: i64, zone: Tz) -> i64 {
    micros + i64::from(offset_at(micros, zone)) * MICROS_PER_SECOND
}

/// The instant of a time on the wall. Of two, the earlier; of none (a gap), as if the clock had not been put forward.
pub fn from_wall(micros: i64, zone: Tz) -> i64 {
    let Some(local) = wall(micros) else {
        return micros;
    };
    let offset = match zone.offset_from_local_datetime(&local) {
        chrono::LocalResult::Single(o) | chrono::LocalResult::Ambiguous(o, _) => {
            o.fix().local_minus_utc()
        }
        chrono::LocalResult::None => offset_at(micros - MICROS_PER_DAY, zone),
    };
    micros - i64::from(offset) * MICROS_PER_SECOND
}

/// The day on which an instant falls in `zone`.
pub fn day_of(micros: i64, zone: Tz) -> i32 {
    to_wall(micros, zone).div_euclid(MICROS_PER_DAY) as i32
}

/// Midnight of a day in `zone`.
pub fn start_of_day(day: i32, zone: Tz) -> i64 {
    from_wall(i64::from(day) * MICROS_PER_DAY, zone)
}

/// `2026-05-01`; years beyond 9999 with a sign.
pub fn format_date(day: i32) -> String {
    date(day).map_or_else(String::new, civil)
}

fn civil(date: NaiveDate) -> String {
    let (y, m, d) = (date.year(), date.month(), date.day());
    if y > 9999 {
        format!("+{y}-{m:02}-{d:02}")
    } else if y < 0 {
        format!("-{:04}-{m:02}-{d:02}", -y)
    } else {
        format!("{y:04}-{m:02}-{d:02}")
    }
}

/// `2026-05-01 10:00:00.5`: the fraction without trailing zeros.
pub fn format_wall(micros: i64) -> String {
    let Some(at) = wall(micros) else {
        return String::new();
    };
    let (h, m, s) = (at.hour(), at.minute(), at.second());
    let fraction = micros.rem_euclid(MICROS_PER_SECOND);
    let mut text = format!("{} {h:02}:{m:02}:{s:02}", civil(at.date()));
    if fraction != 0 {
        text.push_str(format!(".{fraction:06}").trim_end_matches('0'));
    }
    text
}

/// An instant as Spark casts it to text in the session's zone.
pub fn format_timestamp(micros: i64, zone: Tz) -> String {
    format_wall(to_wall(micros, zone))
}

/// A date some months on; a day that the month lacks becomes its last.
pub fn add_months(day: i32, months: i64) -> Option<i32> {
    let at = date(day)?;
    let month0 = i64::from(at.year()) * 12 + i64::from(at.month0()) + months;
    let (year, month) = (
        i32::try_from(month0.div_euclid(12)).ok()?,
        month0.rem_euclid(12) as u32 + 1,
    );
    let last = last_day(NaiveDate::from_ymd_opt(year, month, 1)?)?;
    Some(days(NaiveDate::from_ymd_opt(
        year,
        month,
        at.day().min(last.day()),
    )?))
}

/// The last day of a date's month.
pub fn last_day(at: NaiveDate) -> Option<NaiveDate> {
    let (year, month) = if at.month() == 12 {
        (at.year() + 1, 1)
    } else {
        (at.year(), at.month() + 1)
    };
    NaiveDate::from_ymd_opt(year, month, 1)?.pred_opt()
}

/// A wall time some months on.
pub fn add_months_to_wall(micros: i64, months: i64) -> Option<i64> {
    let day = micros.div_euclid(MICROS_PER_DAY) as i32;
    Some(i64::from(add_months(day, months)?) * MICROS_PER_DAY + micros.rem_euclid(MICROS_PER_DAY))
}

/// The wall time at the start of the unit that holds it; None for an unknown unit.
pub fn truncate(micros: i64, unit: &str) -> Option<i64> {
    let step = match unit.to_ascii_uppercase().as_str() {
        "MICROSECOND" => return Some(micros),
        "MILLISECOND" => 1_000,
        "SECOND" => MICROS_PER_SECOND,
        "MINUTE" => MICROS_PER_MINUTE,
        "HOUR" => MICROS_PER_HOUR,
        "DAY" | "DD" => MICROS_PER_DAY,
        _ => {
            let day = truncate_day(micros.div_euclid(MICROS_PER_DAY) as i32, unit)?;
            return Some(i64::from(day) * MICROS_PER_DAY);
        }
    };
    Some(micros.div_euclid(step) * step)
}

/// The first day of the week, month, quarter or year that holds `day`.
pub fn truncate_day(day: i32, unit: &str) -> Option<i32> {
    let at = date(day)?;
    let first = match unit.to_ascii_uppercase().as_str() {
        "WEEK" => at - Duration::days(i64::from(at.weekday().num_days_from_monday())),
        "MON" | "MONTH" | "MM" => at.with_day(1)?,
        "QUARTER" => NaiveDate::from_ymd_opt(at.year(), at.month0() / 3 * 3 + 1, 1)?,
        "YEAR" | "YYYY" | "YY" => NaiveDate::from_ymd_opt(at.year(), 1, 1)?,
        _ => return None,
    };
    Some(days(first))
}

/// A wall time from its parts.
pub fn wall_of(date: NaiveDate, time: NaiveTime) -> i64 {
    micros_of_wall(date.and_time(time))
}
