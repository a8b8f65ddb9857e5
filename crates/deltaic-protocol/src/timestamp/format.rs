//! Dates and timestamps to text.

use super::civil::date_from_days;
use super::{MICROS_PER_DAY, MICROS_PER_SECOND, Zone};

/// `yyyy-MM-dd`; a sign where the year has more than four digits or is before 0.
pub fn format_date(days: i32) -> String {
    date(i64::from(days))
}

fn date(days: i64) -> String {
    let (year, month, day) = date_from_days(days);
    let year = match year {
        0..=9999 => format!("{year:04}"),
        10_000.. => format!("+{year}"),
        _ => format!("-{:04}", -year),
    };
    format!("{year}-{month:02}-{day:02}")
}

/// Date, `separator`, `HH:mm:ss`; the microseconds of the second beside it.
fn seconds(local_micros: i64, separator: char) -> (String, i64) {
    let days = local_micros.div_euclid(MICROS_PER_DAY);
    let rest = local_micros.rem_euclid(MICROS_PER_DAY);
    let second = rest / MICROS_PER_SECOND;
    let (h, m, s) = (second / 3600, second / 60 % 60, second % 60);
    let text = format!("{}{separator}{h:02}:{m:02}:{s:02}", date(days));
    (text, rest % MICROS_PER_SECOND)
}

/// `yyyy-MM-dd HH:mm:ss[.ffffff]`, the fraction without trailing zeros: CAST of a TIMESTAMP_NTZ to STRING.
pub fn format_timestamp_ntz(micros: i64) -> String {
    let (text, fraction) = seconds(micros, ' ');
    if fraction == 0 {
        return text;
    }
    let fraction = format!("{fraction:06}");
    format!("{text}.{}", fraction.trim_end_matches('0'))
}

/// The same in a zone: CAST of a TIMESTAMP to STRING.
pub fn format_timestamp(micros: i64, zone: &Zone) -> String {
    format_timestamp_ntz(zone.to_local(micros))
}

/// `yyyy-MM-ddTHH:mm:ss.ffffffZ`: partition values of type timestamp.
pub fn format_iso_utc(micros: i64) -> String {
    let (text, fraction) = seconds(micros, 'T');
    format!("{text}.{fraction:06}Z")
}

/// `java.sql.Timestamp.toString`: at least one digit of fraction.
pub fn format_java_timestamp(millis: i64, zone: &Zone) -> String {
    let text = format_timestamp(millis.saturating_mul(1000), zone);
    if text.contains('.') {
        text
    } else {
        format!("{text}.0")
    }
}

/// `yyyy-MM-dd HH:mm:ss` of a time in milliseconds, the fraction cut off.
pub fn format_java_timestamp_short(millis: i64, zone: &Zone) -> String {
    seconds(zone.to_local(millis.saturating_mul(1000)), ' ').0
}

/// `yyyy-MM-ddTHH:mm:ss.SSS` with the zone's offset (`Z` for none): statistics of type timestamp, cut to milliseconds.
pub fn format_statistics(micros: i64, zone: &Zone) -> String {
    let offset = zone.offset_at(micros);
    let text = format_statistics_ntz(zone.to_local(micros));
    if offset == 0 {
        return format!("{text}Z");
    }
    let sign = if offset < 0 { '-' } else { '+' };
    let offset = offset.abs();
    let (h, m, s) = (offset / 3600, offset / 60 % 60, offset % 60);
    if s == 0 {
        format!("{text}{sign}{h:02}:{m:02}")
    } else {
        format!("{text}{sign}{h:02}:{m:02}:{s:02}")
    }
}

/// `yyyy-MM-ddTHH:mm:ss.SSS`: statistics of type timestamp_ntz, cut to milliseconds.
pub fn format_statistics_ntz(micros: i64) -> String {
    let (text, fraction) = seconds(micros, 'T');
    format!("{text}.{:03}", fraction / 1000)
}
