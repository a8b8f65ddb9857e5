//! Time zones: named ones of the IANA database, and fixed offsets in the forms that Java accepts.

use super::MICROS_PER_SECOND;
use chrono::{DateTime, NaiveDateTime, Offset, TimeDelta, TimeZone};
use chrono_tz::Tz;
use std::fmt::{self, Display};

/// A time zone by the name the user gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    name: String,
    rule: Rule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Seconds east of Greenwich.
    Fixed(i32),
    Named(Tz),
}

impl Default for Zone {
    fn default() -> Self {
        Zone::utc()
    }
}

impl Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Zone {
    /// UTC.
    pub fn utc() -> Self {
        Zone {
            name: "UTC".to_owned(),
            rule: Rule::Fixed(0),
        }
    }

    /// Reads `Europe/Amsterdam`, `UTC`, `Z`, `+01:00`, `-8`, `GMT+1`, `UTC+08:30`, and Java's three-letter names.
    pub fn parse(text: &str) -> Option<Zone> {
        let name = text.trim();
        let rule = rule(name)?;
        Some(Zone {
            name: name.to_owned(),
            rule,
        })
    }

    /// The name as given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Seconds east of Greenwich at that instant.
    pub fn offset_at(&self, micros: i64) -> i32 {
        match self.rule {
            Rule::Fixed(seconds) => seconds,
            Rule::Named(zone) => match naive(micros) {
                Some(utc) => zone.offset_from_utc_datetime(&utc).fix().local_minus_utc(),
                None => 0,
            },
        }
    }

    /// The local time of an instant, as microseconds counted as if they were UTC.
    pub fn to_local(&self, micros: i64) -> i64 {
        micros.saturating_add(i64::from(self.offset_at(micros)) * MICROS_PER_SECOND)
    }

    /// The instant of a local time. A time that a clock change skips moves on by the gap; of two instants the earlier is taken.
    pub fn to_instant(&self, local_micros: i64) -> i64 {
        let offset = match self.rule {
            Rule::Fixed(seconds) => seconds,
            Rule::Named(zone) => local_offset(zone, local_micros).unwrap_or(0),
        };
        local_micros.saturating_sub(i64::from(offset) * MICROS_PER_SECOND)
    }
}

fn naive(micros: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp_micros(micros).map(|instant| instant.naive_utc())
}

fn local_offset(zone: Tz, local_micros: i64) -> Option<i32> {
    let mut local = naive(local_micros)?;
    // In a gap, go back to a time that exists: Java counts on with the offset from before the gap.
    for _ in 0..200 {
        let offset = match zone.offset_from_local_datetime(&local) {
            chrono::LocalResult::Single(offset) => Some(offset),
            chrono::LocalResult::Ambiguous(first, second) => {
                // The earlier instant is the one with the larger offset.
                let larger = first.fix().local_minus_utc() >= second.fix().local_minus_utc();
                Some(if larger { first } else { second })
            }
            chrono::LocalResult::None => None,
        };
        match offset {
            Some(offset) => return Some(offset.fix().local_minus_utc()),
            None => local = local.checked_sub_signed(TimeDelta::minutes(15))?,
        }
    }
    None
}

fn rule(name: &str) -> Option<Rule> {
    match name {
        "Z" | "UTC" | "GMT" | "UT" => return Some(Rule::Fixed(0)),
        _ => {}
    }
    if let Some(seconds) = offset(name) {
        return Some(Rule::Fixed(seconds));
    }
    for prefix in ["UTC", "GMT", "UT"] {
        if let Some(seconds) = name.strip_prefix(prefix).and_then(offset) {
            return Some(Rule::Fixed(seconds));
        }
    }
    if let Some((_, full)) = SHORT_NAMES.iter().find(|(short, _)| *short == name) {
        return rule(full);
    }
    name.parse::<Tz>().ok().map(Rule::Named)
}

/// `+h`, `+hh`, `+hh:mm`, `+h:mm`, `+hhmm`, `+hh:mm:ss`, `+hhmmss`; at most 18 hours.
fn offset(text: &str) -> Option<i32> {
    let (sign, rest) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
        (Some(rest), _) => (1, rest),
        (_, Some(rest)) => (-1, rest),
        _ => return None,
    };
    if !rest.bytes().all(|b| b.is_ascii_digit() || b == b':') {
        return None;
    }
    let parts: Vec<&str> = rest.split(':').collect();
    let (hours, minutes, seconds) = match parts.as_slice() {
        [h] if (1..=2).contains(&h.len()) => (*h, "0", "0"),
        [all] if all.len() == 4 => (all.get(..2)?, all.get(2..)?, "0"),
        [all] if all.len() == 6 => (all.get(..2)?, all.get(2..4)?, all.get(4..)?),
        [h, m] if (1..=2).contains(&h.len()) && (1..=2).contains(&m.len()) => (*h, *m, "0"),
        [h, m, s] if h.len() == 2 && m.len() == 2 && s.len() == 2 => (*h, *m, *s),
        _ => return None,
    };
    let number = |text: &str| text.parse::<i32>().ok();
    let (h, m, s) = (number(hours)?, number(minutes)?, number(seconds)?);
    let total = h * 3600 + m * 60 + s;
    (m < 60 && s < 60 && total <= 18 * 3600).then_some(sign * total)
}

/// Java's `ZoneId.SHORT_IDS`.
const SHORT_NAMES: [(&str, &str); 28] = [
    ("ACT", "Australia/Darwin"),
    ("AET", "Australia/Sydney"),
    ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"),
    ("AST", "America/Anchorage"),
    ("BET", "America/Sao_Paulo"),
    ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"),
    ("CNT", "America/St_Johns"),
    ("CST", "America/Chicago"),
    ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"),
    ("ECT", "Europe/Paris"),
    ("EST", "-05:00"),
    ("HST", "-10:00"),
    ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MIT", "Pacific/Apia"),
    ("MST", "-07:00"),
    ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"),
    ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"),
    ("PST", "America/Los_Angeles"),
    ("SST", "Pacific/Guadalcanal"),
    ("VST", "Asia/Ho_Chi_Minh"),
];
