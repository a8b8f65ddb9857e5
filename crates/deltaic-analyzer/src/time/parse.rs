//! Text to DATE and TIMESTAMP, with every form that Spark's casts take: missing parts, zones, time without a date.

use chrono::{NaiveDate, NaiveTime};
use chrono_tz::Tz;

use super::{MICROS_PER_SECOND, days, from_wall, wall_of};

/// The parts of a timestamp text.
struct Parts<'a> {
    date: Option<NaiveDate>,
    time: NaiveTime,
    zone: Option<&'a str>,
}

/// `CAST(text AS DATE)`: `[+-]y*-[m]m-[d]d`, shorter forms, and anything after a blank or `T`.
pub fn date(text: &str) -> Option<i32> {
    let text = text.trim();
    let (date, rest) = leading_date(text)?;
    (rest.is_empty() || rest.starts_with([' ', 'T'])).then(|| days(date))
}

/// `CAST(text AS TIMESTAMP)`: microseconds since the epoch; a text without a zone is read in `zone`.
pub fn timestamp(text: &str, zone: Tz, today: i32) -> Option<i64> {
    let parts = parts(text.trim())?;
    let date = parts.date.or_else(|| super::date(today))?;
    let wall = wall_of(date, parts.time);
    match parts.zone {
        None => Some(from_wall(wall, zone)),
        Some(name) => match zone_of(name)? {
            Zone::Fixed(seconds) => Some(wall - i64::from(seconds) * MICROS_PER_SECOND),
            Zone::Named(tz) => Some(from_wall(wall, tz)),
        },
    }
}

/// `CAST(text AS TIMESTAMP_NTZ)`: a zone in the text is refused where `allow_zone` is off, else ignored.
pub fn timestamp_ntz(text: &str, allow_zone: bool) -> Option<i64> {
    let parts = parts(text.trim())?;
    if parts.zone.is_some() && !allow_zone {
        return None;
    }
    Some(wall_of(parts.date?, parts.time))
}

/// Does the text name a zone, as a TIMESTAMP literal that must then be an instant?
pub fn has_zone(text: &str) -> bool {
    parts(text.trim()).is_some_and(|p| p.zone.is_some())
}

fn parts(text: &str) -> Option<Parts<'_>> {
    if text.is_empty() {
        return None;
    }
    let midnight = NaiveTime::MIN;
    let time_only = text.strip_prefix('T').or_else(|| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        (digits <= 2 && text.as_bytes().get(digits) == Some(&b':')).then_some(text)
    });
    if let Some(rest) = time_only {
        let (time, zone) = leading_time(rest)?;
        return Some(Parts {
            date: None,
            time,
            zone,
        });
    }
    let (date, rest) = leading_date(text)?;
    if rest.is_empty() {
        return Some(Parts {
            date: Some(date),
            time: midnight,
            zone: None,
        });
    }
    let rest = rest.strip_prefix([' ', 'T'])?;
    if rest.trim().is_empty() {
        return None;
    }
    let (time, zone) = leading_time(rest)?;
    Some(Parts {
        date: Some(date),
        time,
        zone,
    })
}

fn digits(text: &str, least: usize, most: usize) -> Option<(i64, &str)> {
    let n = text.bytes().take_while(u8::is_ascii_digit).count();
    if n < least || n > most {
        return None;
    }
    Some((text[..n].parse().ok()?, &text[n..]))
}

fn leading_date(text: &str) -> Option<(NaiveDate, &str)> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (year, mut rest) = digits(rest, 4, 7)?;
    let (mut month, mut day) = (1, 1);
    if let Some(more) = rest.strip_prefix('-') {
        (month, rest) = digits(more, 1, 2)?;
        if let Some(more) = rest.strip_prefix('-') {
            (day, rest) = digits(more, 1, 2)?;
        }
    }
    let year = i32::try_from(sign * year).ok()?;
    Some((
        NaiveDate::from_ymd_opt(year, month as u32, day as u32)?,
        rest,
    ))
}

fn leading_time(text: &str) -> Option<(NaiveTime, Option<&str>)> {
    let (hour, rest) = digits(text, 1, 2)?;
    let rest = rest.strip_prefix(':')?;
    let (minute, mut rest) = digits(rest, 1, 2)?;
    let (mut second, mut micro) = (0, 0);
    if let Some(more) = rest.strip_prefix(':') {
        (second, rest) = digits(more, 1, 2)?;
        if let Some(more) = rest.strip_prefix('.') {
            let n = more.bytes().take_while(u8::is_ascii_digit).count();
            let kept = &more[..n.min(6)];
            micro = format!("{kept:0<6}").parse().ok()?;
            rest = &more[n..];
        }
    }
    let time = NaiveTime::from_hms_micro_opt(hour as u32, minute as u32, second as u32, micro)?;
    let zone = rest.trim();
    Some((time, (!zone.is_empty()).then_some(zone)))
}

/// A zone as a text names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// Seconds ahead of UTC.
    Fixed(i32),
    /// By its region.
    Named(Tz),
}

/// The zone of a name: `Z`, `+9`, `+09:30`, `UTC+1`, `Asia/Tokyo`.
pub fn zone_of(name: &str) -> Option<Zone> {
    if name == "Z" || name == "z" {
        return Some(Zone::Fixed(0));
    }
    let offset = name
        .strip_prefix("UTC")
        .or_else(|| name.strip_prefix("GMT"))
        .or_else(|| name.strip_prefix("UT"))
        .unwrap_or(name);
    if offset.is_empty() {
        return Some(Zone::Fixed(0));
    }
    if let Some(sign) = offset.chars().next().filter(|c| matches!(c, '+' | '-')) {
        let seconds = offset_seconds(&offset[1..])?;
        return Some(Zone::Fixed(if sign == '-' { -seconds } else { seconds }));
    }
    name.parse::<Tz>().ok().map(Zone::Named)
}

fn offset_seconds(text: &str) -> Option<i32> {
    let (hours, rest) = if text.contains(':') || text.len() <= 2 {
        digits(text, 1, 2)?
    } else {
        (text.get(..2)?.parse().ok()?, &text[2..])
    };
    let (mut minutes, mut seconds) = (0, 0);
    let mut rest = rest.strip_prefix(':').unwrap_or(rest);
    if !rest.is_empty() {
        minutes = rest.get(..rest.len().min(2))?.parse::<i64>().ok()?;
        rest = &rest[rest.len().min(2)..];
        rest = rest.strip_prefix(':').unwrap_or(rest);
        if !rest.is_empty() {
            seconds = rest.parse::<i64>().ok()?;
        }
    }
    (hours <= 18 && minutes < 60 && seconds < 60)
        .then_some((hours * 3600 + minutes * 60 + seconds) as i32)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::time::format_timestamp;

    fn utc(text: &str) -> Option<String> {
        timestamp(text, Tz::UTC, 0).map(|t| format_timestamp(t, Tz::UTC))
    }

    #[test]
    fn every_form_of_a_timestamp_is_read() {
        for (text, want) in [
            ("2026", "2026-01-01 00:00:00"),
            ("2026-5", "2026-05-01 00:00:00"),
            ("2026-05-01", "2026-05-01 00:00:00"),
            ("2026-05-01 1:2:3", "2026-05-01 01:02:03"),
            (
                "2026-05-01T10:00:00.123456789",
                "2026-05-01 10:00:00.123456",
            ),
            ("2026-01-02T12:00:00Z", "2026-01-02 12:00:00"),
            ("2026-01-02 12:00:00+02:00", "2026-01-02 10:00:00"),
            ("2026-01-02 12:00:00 Asia/Tokyo", "2026-01-02 03:00:00"),
            ("2026-01-02 12:00:00 UTC-3", "2026-01-02 15:00:00"),
            ("10:30", "1970-01-01 10:30:00"),
        ] {
            assert_eq!(utc(text).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn what_is_no_timestamp_is_refused() {
        for text in [
            "",
            "not a time",
            "2026-13-01",
            "2026-02-30",
            "2026-05-01 25:00:00",
            "26-05-01",
            "2026-05-01x",
            "2026-05-01 ",
        ] {
            if text == "2026-05-01 " {
                assert!(utc(text).is_some());
                continue;
            }
            assert_eq!(utc(text), None, "{text}");
        }
    }

    #[test]
    fn a_gap_in_local_time_moves_forward() {
        let zone: Tz = "America/Los_Angeles".parse().unwrap();
        let at = timestamp("2026-03-08 02:30:00", zone, 0).unwrap();
        assert_eq!(format_timestamp(at, zone), "2026-03-08 03:30:00");
    }
}
