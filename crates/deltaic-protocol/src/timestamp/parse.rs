//! Text to dates and timestamps, as Spark's CAST reads it.

use super::civil::days_from_date;
use super::{MICROS_PER_DAY, MICROS_PER_SECOND, Zone};

/// What a text says: a date, a time of day in microseconds, and a zone; each may be missing.
struct Parts {
    days: Option<i64>,
    time: i64,
    zone: Option<Zone>,
}

/// `CAST(text AS DATE)`: days since the epoch. What follows the day after a space or `T` is ignored.
pub fn parse_date(text: &str) -> Option<i32> {
    let text = trim(text);
    let end = text.find([' ', 'T']).unwrap_or(text.len());
    let (date, rest) = text.split_at_checked(end)?;
    let (days, complete) = date_part(date)?;
    if !rest.is_empty() && !complete {
        return None;
    }
    i32::try_from(days).ok()
}

/// `CAST(text AS TIMESTAMP)`: microseconds. A text without zone is read in `zone`. `now_micros` gives the day to a text that is only
/// a time of day; without it such a text is refused.
pub fn parse_timestamp(text: &str, zone: &Zone, now_micros: Option<i64>) -> Option<i64> {
    let parts = parts(text)?;
    let zone = parts.zone.as_ref().unwrap_or(zone);
    let days = match parts.days {
        Some(days) => days,
        None => zone.to_local(now_micros?).div_euclid(MICROS_PER_DAY),
    };
    let local = days.checked_mul(MICROS_PER_DAY)?.checked_add(parts.time)?;
    Some(zone.to_instant(local))
}

/// `CAST(text AS TIMESTAMP_NTZ)`: microseconds as if UTC. A zone in the text is read and dropped.
pub fn parse_timestamp_ntz(text: &str) -> Option<i64> {
    let parts = parts(text)?;
    parts
        .days?
        .checked_mul(MICROS_PER_DAY)?
        .checked_add(parts.time)
}

/// `yyyyMMddHHmmssSSS` of `table@20260101000000000`: microseconds, in `zone`.
pub fn parse_compact(text: &str, zone: &Zone) -> Option<i64> {
    if text.len() != 17 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u32>().ok();
    let days = days_from_date(i64::from(number(0, 4)?), number(4, 6)?, number(6, 8)?)?;
    let (h, m, s) = (number(8, 10)?, number(10, 12)?, number(12, 14)?);
    if h > 23 || m > 59 || s > 59 {
        return None;
    }
    let seconds = i64::from(h * 3600 + m * 60 + s);
    let micros = seconds * MICROS_PER_SECOND + i64::from(number(14, 17)?) * 1000;
    Some(zone.to_instant(days * MICROS_PER_DAY + micros))
}

/// Spark trims spaces and control characters.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ' || c == '\u{7f}')
}

fn digits(text: &str, least: usize, most: usize) -> Option<u32> {
    let fits = (least..=most).contains(&text.len());
    let all = text.bytes().all(|byte| byte.is_ascii_digit());
    if fits && all { text.parse().ok() } else { None }
}

/// `[+-]yyyy[-[m]m[-[d]d]]`: days, and whether a day was given.
fn date_part(text: &str) -> Option<(i64, bool)> {
    let (sign, body) = match (text.strip_prefix('-'), text.strip_prefix('+')) {
        (Some(rest), _) => (-1, rest),
        (_, Some(rest)) => (1, rest),
        _ => (1, text),
    };
    let mut fields = body.split('-');
    let year = sign * i64::from(digits(fields.next()?, 4, 6)?);
    let month = fields.next().map(|field| digits(field, 1, 2));
    let day = fields.next().map(|field| digits(field, 1, 2));
    if fields.next().is_some() {
        return None;
    }
    let days = days_from_date(year, or_one(month)?, or_one(day)?)?;
    Some((days, day.is_some()))
}

fn or_one(field: Option<Option<u32>>) -> Option<u32> {
    match field {
        None => Some(1),
        Some(value) => value,
    }
}

fn parts(text: &str) -> Option<Parts> {
    let text = trim(text);
    if text.is_empty() {
        return None;
    }
    let (days, clock) = match text.find([' ', 'T']) {
        // `T10:00` and `10:00:00 Europe/Paris` have no date.
        Some(at) if !text.get(..at)?.contains(':') => {
            let (date, rest) = text.split_at_checked(at)?;
            let rest = rest.get(1..)?;
            if date.is_empty() {
                (None, Some(rest))
            } else {
                let (days, complete) = date_part(date)?;
                if !complete {
                    return None;
                }
                (Some(days), Some(rest).filter(|rest| !rest.is_empty()))
            }
        }
        _ if text.contains(':') => (None, Some(text)),
        _ => (Some(date_part(text)?.0), None),
    };
    let Some(clock) = clock else {
        return Some(Parts {
            days,
            time: 0,
            zone: None,
        });
    };
    let end = clock
        .find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.'))
        .unwrap_or(clock.len());
    let (time, zone) = clock.split_at_checked(end)?;
    let zone = match zone.trim_start_matches(' ') {
        "" if zone.is_empty() => None,
        "" => return None,
        zone => Some(Zone::parse(zone)?),
    };
    Some(Parts {
        days,
        time: time_part(time)?,
        zone,
    })
}

/// `[h]h:[m]m[:[s]s[.fraction]]`, or an hour alone; microseconds of the day. Digits past the sixth are cut.
fn time_part(text: &str) -> Option<i64> {
    let mut fields = text.split(':');
    let hour = digits(fields.next()?, 1, 2)?;
    let minute = match fields.next() {
        Some(field) => digits(field, 1, 2)?,
        None => return None,
    };
    let (second, micros) = match fields.next() {
        None => (0, 0),
        Some(field) => {
            let (whole, fraction) = field.split_once('.').unwrap_or((field, ""));
            let all = fraction.bytes().all(|byte| byte.is_ascii_digit());
            if !all || fraction.contains('.') {
                return None;
            }
            let six: String = fraction.chars().chain("000000".chars()).take(6).collect();
            (digits(whole, 1, 2)?, six.parse::<i64>().ok()?)
        }
    };
    if fields.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = i64::from(hour * 3600 + minute * 60 + second);
    Some(seconds * MICROS_PER_SECOND + micros)
}
