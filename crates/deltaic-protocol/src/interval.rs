//! Spark's interval texts (`interval 1 week 2 days`), the type that they mean, and how Spark prints it (`9 days`).

use crate::error::{DeltaError, Result};
use std::fmt::{self, Display};

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// Months, days and microseconds, kept apart as in Spark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct CalendarInterval {
    pub months: i32,
    pub days: i32,
    pub micros: i64,
}

impl CalendarInterval {
    /// An interval of whole days.
    pub const fn of_days(days: i32) -> Self {
        CalendarInterval {
            months: 0,
            days,
            micros: 0,
        }
    }

    /// Reads an interval text: optional word `interval`, then pairs of number and unit. Any case, fractions for seconds only.
    pub fn parse(text: &str) -> Option<CalendarInterval> {
        parse(text)
    }

    /// Reads the value of a table property. Blank is `DELTA_INVALID_CALENDAR_INTERVAL_EMPTY`, no interval
    /// `DELTA_INVALID_INTERVAL`.
    pub fn parse_property(text: &str) -> Result<CalendarInterval> {
        if text.trim().is_empty() {
            return Err(DeltaError::new("DELTA_INVALID_CALENDAR_INTERVAL_EMPTY"));
        }
        parse(text).ok_or_else(|| DeltaError::new("DELTA_INVALID_INTERVAL").param("interval", text))
    }

    /// Length with days of 24 hours; months are not counted.
    pub fn micros_without_months(&self) -> i64 {
        i64::from(self.days)
            .saturating_mul(MICROS_PER_DAY)
            .saturating_add(self.micros)
    }

    /// Length in whole milliseconds, months not counted.
    pub fn to_millis(&self) -> i64 {
        self.micros_without_months().div_euclid(1000)
    }

    /// Whether a retention can be so: no months, not negative.
    pub fn is_valid_retention(&self) -> bool {
        self.months == 0 && self.micros_without_months() >= 0
    }
}

fn unit(word: &str) -> Option<(&'static str, i64)> {
    let singular = word.strip_suffix('s').unwrap_or(word);
    Some(match singular {
        "year" => ("month", 12),
        "month" => ("month", 1),
        "week" => ("day", 7),
        "day" => ("day", 1),
        "hour" => ("micro", 3_600 * MICROS_PER_SECOND),
        "minute" => ("micro", 60 * MICROS_PER_SECOND),
        "second" => ("micro", MICROS_PER_SECOND),
        "millisecond" => ("micro", 1_000),
        "microsecond" => ("micro", 1),
        _ => return None,
    })
}

fn parse(text: &str) -> Option<CalendarInterval> {
    let lower = text.trim().to_ascii_lowercase();
    let body = match lower.strip_prefix("interval") {
        Some(rest) if rest.starts_with(char::is_whitespace) => rest,
        Some(_) => return None,
        None => lower.as_str(),
    };
    let mut words = body.split_whitespace().peekable();
    words.peek()?;
    let mut out = CalendarInterval::default();
    while let Some(word) = words.next() {
        // A sign may stand apart from its number.
        let (negative, number) = match word {
            "-" => (true, words.next()?),
            "+" => (false, words.next()?),
            _ => match (word.strip_prefix('-'), word.strip_prefix('+')) {
                (Some(rest), _) => (true, rest),
                (_, Some(rest)) => (false, rest),
                _ => (false, word),
            },
        };
        let unit_word = words.next()?;
        let (kind, factor) = unit(unit_word)?;
        let is_second = factor == MICROS_PER_SECOND;
        let (whole, micros) = amount(number, is_second)?;
        let value = whole.checked_mul(factor)?.checked_add(micros)?;
        let value = if negative {
            value.checked_neg()?
        } else {
            value
        };
        match kind {
            "month" => out.months = out.months.checked_add(i32::try_from(value).ok()?)?,
            "day" => out.days = out.days.checked_add(i32::try_from(value).ok()?)?,
            _ => out.micros = out.micros.checked_add(value)?,
        }
    }
    Some(out)
}

/// The whole part, and the fraction of a second in microseconds (digits past the sixth are cut, more than nine are refused).
fn amount(number: &str, fraction_allowed: bool) -> Option<(i64, i64)> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match number.split_once('.') {
        None if digits(number) => Some((number.parse().ok()?, 0)),
        Some((whole, fraction)) if fraction_allowed => {
            if !(whole.is_empty() || digits(whole)) || fraction.len() > 9 {
                return None;
            }
            if !(fraction.is_empty() || digits(fraction)) || whole.len() + fraction.len() == 0 {
                return None;
            }
            let whole = if whole.is_empty() {
                0
            } else {
                whole.parse().ok()?
            };
            let six: String = fraction.chars().chain("000000".chars()).take(6).collect();
            Some((whole, six.parse().ok()?))
        }
        _ => None,
    }
}

impl Display for CalendarInterval {
    /// As Spark prints it: units that are zero left out, each with its plural `s`; `0 seconds` for nothing at all.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == CalendarInterval::default() {
            return f.write_str("0 seconds");
        }
        let mut parts = Vec::new();
        let mut put = |value: i64, unit: &str| {
            if value != 0 {
                parts.push(format!("{value} {unit}"));
            }
        };
        put(i64::from(self.months / 12), "years");
        put(i64::from(self.months % 12), "months");
        put(i64::from(self.days), "days");
        let rest = self.micros;
        put(rest / (3_600 * MICROS_PER_SECOND), "hours");
        put(rest / (60 * MICROS_PER_SECOND) % 60, "minutes");
        let seconds = rest % (60 * MICROS_PER_SECOND);
        if seconds != 0 {
            let sign = if seconds < 0 { "-" } else { "" };
            let (whole, fraction) = (
                (seconds / MICROS_PER_SECOND).abs(),
                (seconds % MICROS_PER_SECOND).abs(),
            );
            let fraction = format!("{fraction:06}");
            let fraction = fraction.trim_end_matches('0');
            let dot = if fraction.is_empty() { "" } else { "." };
            parts.push(format!("{sign}{whole}{dot}{fraction} seconds"));
        }
        f.write_str(&parts.join(" "))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> Option<String> {
        CalendarInterval::parse(text).map(|interval| interval.to_string())
    }

    #[test]
    fn texts_of_every_form_are_read() {
        for (text, expected) in [
            ("interval 30 days", "30 days"),
            ("INTERVAL 14 DAYS", "14 days"),
            ("1 week", "7 days"),
            ("  interval   1 week 2 days ", "9 days"),
            ("interval 36 hours", "36 hours"),
            ("interval 90 minutes", "1 hours 30 minutes"),
            ("2 hours 30 minutes", "2 hours 30 minutes"),
            ("interval 0 hours", "0 seconds"),
            ("interval 1.5 seconds", "1.5 seconds"),
            ("interval -1.25 second", "-1.25 seconds"),
            ("interval -1 days", "-1 days"),
            ("interval - 1 day", "-1 days"),
            ("1 year 1 month", "1 years 1 months"),
            ("720 hours", "720 hours"),
            ("5 milliseconds", "0.005 seconds"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn texts_that_are_no_interval_are_refused() {
        for text in [
            "",
            "interval",
            "30",
            "bananas",
            "1.5 days",
            "days 30",
            "interval30 days",
            "1 fortnight",
            "1 day 2",
            "99999999999 days",
            "1.1234567890 seconds",
            "one day",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
        let e = CalendarInterval::parse_property("  ").unwrap_err();
        assert_eq!(e.class(), Some("DELTA_INVALID_CALENDAR_INTERVAL_EMPTY"));
    }

    #[test]
    fn months_and_negative_lengths_are_no_retention() {
        let valid = |text| CalendarInterval::parse(text).unwrap().is_valid_retention();
        assert!(valid("0 hours") && valid("1 day -3 hours"));
        assert!(!valid("1 month") && !valid("-1 days") && !valid("1 hour -1 day"));
        assert_eq!(
            CalendarInterval::parse("1 day 1 second")
                .unwrap()
                .to_millis(),
            86_401_000
        );
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(months in -500i32..500, days in -999i32..999, micros in -99_999_999_999i64..99_999_999_999) {
            let interval = CalendarInterval { months, days, micros };
            prop_assert_eq!(CalendarInterval::parse(&interval.to_string()), Some(interval));
        }

        #[test]
        fn no_text_panics(text in ".{0,30}") {
            let _ = CalendarInterval::parse(&text);
        }
    }
}
