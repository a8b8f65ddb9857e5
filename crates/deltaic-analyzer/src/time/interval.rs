//! Intervals: their units, the text forms of literals, and how Spark prints the two ANSI kinds.

use super::{MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND};

/// Fields of a year-month interval: 0 YEAR, 1 MONTH. Of a day-time interval: 0 DAY, 1 HOUR, 2 MINUTE, 3 SECOND.
pub type Field = u8;

/// An amount of calendar time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Whole months.
    pub months: i64,
    /// Whole days.
    pub days: i64,
    /// Microseconds.
    pub micros: i64,
}

/// A unit of a literal such as `INTERVAL 3 WEEKS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Twelve months.
    Year,
    /// Three months.
    Quarter,
    /// One month.
    Month,
    /// Seven days.
    Week,
    /// One day.
    Day,
    /// Sixty minutes.
    Hour,
    /// Sixty seconds.
    Minute,
    /// A second.
    Second,
    /// A thousandth of a second.
    Millisecond,
    /// A millionth of a second.
    Microsecond,
}

/// The unit of a word, singular or plural, in any case.
pub fn unit(word: &str) -> Option<Unit> {
    let lower = word.to_ascii_lowercase();
    Some(match lower.strip_suffix('s').unwrap_or(&lower) {
        "year" => Unit::Year,
        "quarter" => Unit::Quarter,
        "month" => Unit::Month,
        "week" => Unit::Week,
        "day" => Unit::Day,
        "hour" => Unit::Hour,
        "minute" => Unit::Minute,
        "second" => Unit::Second,
        "millisecond" => Unit::Millisecond,
        "microsecond" => Unit::Microsecond,
        _ => return None,
    })
}

impl Unit {
    /// Microseconds of a unit of fixed length.
    pub fn micros(self) -> Option<i64> {
        Some(match self {
            Unit::Week => 7 * MICROS_PER_DAY,
            Unit::Day => MICROS_PER_DAY,
            Unit::Hour => MICROS_PER_HOUR,
            Unit::Minute => MICROS_PER_MINUTE,
            Unit::Second => MICROS_PER_SECOND,
            Unit::Millisecond => 1_000,
            Unit::Microsecond => 1,
            _ => return None,
        })
    }

    /// Months of a unit that is counted in months.
    pub fn months(self) -> Option<i64> {
        Some(match self {
            Unit::Year => 12,
            Unit::Quarter => 3,
            Unit::Month => 1,
            _ => return None,
        })
    }

    /// The field of the ANSI interval that the unit makes: `(is year-month, field)`.
    pub fn field(self) -> Option<(bool, Field)> {
        Some(match self {
            Unit::Year => (true, 0),
            Unit::Month => (true, 1),
            Unit::Day => (false, 0),
            Unit::Hour => (false, 1),
            Unit::Minute => (false, 2),
            Unit::Second => (false, 3),
            _ => return None,
        })
    }
}

/// A number with up to six decimals in microseconds of `unit`.
pub fn scaled(text: &str, unit: Unit) -> Option<Amount> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.strip_prefix('+').unwrap_or(text).trim_start()),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if (whole.is_empty() && fraction.is_empty())
        || !whole
            .bytes()
            .chain(fraction.bytes())
            .all(|b| b.is_ascii_digit())
    {
        return None;
    }
    let whole: i64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let sign = if negative { -1 } else { 1 };
    if let Some(months) = unit.months() {
        if !fraction.is_empty() {
            return None;
        }
        return Some(Amount {
            months: whole.checked_mul(months)? * sign,
            ..Amount::default()
        });
    }
    let micros = unit.micros()?;
    if !fraction.is_empty() && unit != Unit::Second {
        return None;
    }
    let mut total = whole.checked_mul(micros)?;
    if !fraction.is_empty() {
        let kept = &fraction[..fraction.len().min(6)];
        total = total.checked_add(format!("{kept:0<6}").parse().ok()?)?;
    }
    match unit {
        Unit::Week => Some(Amount {
            days: whole.checked_mul(7)? * sign,
            ..Amount::default()
        }),
        Unit::Day => Some(Amount {
            days: whole * sign,
            ..Amount::default()
        }),
        _ => Some(Amount {
            micros: total * sign,
            ..Amount::default()
        }),
    }
}

/// `1 day 2 hours`, with or without the word INTERVAL in front.
pub fn parse_units(text: &str) -> Option<Amount> {
    let mut words = text.split_whitespace().peekable();
    if words
        .peek()
        .is_some_and(|w| w.eq_ignore_ascii_case("interval"))
    {
        words.next();
    }
    let mut total = Amount::default();
    let mut any = false;
    while let Some(number) = words.next() {
        let mut number = number.to_owned();
        if matches!(number.as_str(), "+" | "-") {
            number.push_str(words.next()?);
        }
        let part = scaled(&number, unit(words.next()?)?)?;
        total.months = total.months.checked_add(part.months)?;
        total.days = total.days.checked_add(part.days)?;
        total.micros = total.micros.checked_add(part.micros)?;
        any = true;
    }
    any.then_some(total)
}

/// `1-2` as YEAR TO MONTH: months.
pub fn parse_year_month(text: &str) -> Option<i64> {
    let (sign, rest) = signed(text.trim());
    let (years, months) = rest.split_once('-')?;
    let months: i64 = months.parse().ok()?;
    (months < 12).then_some(())?;
    Some(
        sign * (years
            .parse::<i64>()
            .ok()?
            .checked_mul(12)?
            .checked_add(months)?),
    )
}

/// `1 02:03:04.5` between two fields of a day-time interval: microseconds.
pub fn parse_day_time(text: &str, from: Field, to: Field) -> Option<i64> {
    let (sign, rest) = signed(text.trim());
    let mut total: i64 = 0;
    let (mut at, mut rest) = (from, rest);
    loop {
        let stop = match at {
            0 => ' ',
            _ => ':',
        };
        let (part, more) = if at == to {
            (rest, "")
        } else {
            rest.split_once(stop)?
        };
        let amount = match at {
            3 => scaled(part, Unit::Second)?.micros,
            2 => part
                .trim()
                .parse::<i64>()
                .ok()?
                .checked_mul(MICROS_PER_MINUTE)?,
            1 => part
                .trim()
                .parse::<i64>()
                .ok()?
                .checked_mul(MICROS_PER_HOUR)?,
            _ => part
                .trim()
                .parse::<i64>()
                .ok()?
                .checked_mul(MICROS_PER_DAY)?,
        };
        total = total.checked_add(amount)?;
        if at == to {
            return Some(sign * total);
        }
        (at, rest) = (at + 1, more);
    }
}

fn signed(text: &str) -> (i64, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// `INTERVAL '1-2' YEAR TO MONTH`.
pub fn year_month_text(months: i64, start: Field, end: Field) -> String {
    let sign = if months < 0 { "-" } else { "" };
    let m = months.unsigned_abs();
    match (start, end) {
        (0, 0) => format!("INTERVAL '{sign}{}' YEAR", m / 12),
        (1, 1) => format!("INTERVAL '{sign}{m}' MONTH"),
        _ => format!("INTERVAL '{sign}{}-{}' YEAR TO MONTH", m / 12, m % 12),
    }
}

/// `INTERVAL '1 02:03:04.5' DAY TO SECOND`, between the fields of the type.
pub fn day_time_text(micros: i64, start: Field, end: Field) -> String {
    const NAMES: [&str; 4] = ["DAY", "HOUR", "MINUTE", "SECOND"];
    const SIZES: [u64; 4] = [
        MICROS_PER_DAY as u64,
        MICROS_PER_HOUR as u64,
        MICROS_PER_MINUTE as u64,
        MICROS_PER_SECOND as u64,
    ];
    let sign = if micros < 0 { "-" } else { "" };
    let mut rest = micros.unsigned_abs();
    let mut text = String::new();
    for field in start..=end {
        let size = SIZES[usize::from(field.min(3))];
        let (whole, left) = (rest / size, rest % size);
        rest = left;
        if field == start {
            // Days are a bare number, the first of the others has two digits.
            text.push_str(&if field == 0 {
                whole.to_string()
            } else {
                format!("{whole:02}")
            });
        } else {
            text.push(if field == 1 { ' ' } else { ':' });
            text.push_str(&format!("{whole:02}"));
        }
        if field == 3 && rest != 0 {
            text.push_str(format!(".{rest:06}").trim_end_matches('0'));
        }
    }
    let (from, to) = (
        NAMES[usize::from(start.min(3))],
        NAMES[usize::from(end.min(3))],
    );
    if start == end {
        format!("INTERVAL '{sign}{text}' {from}")
    } else {
        format!("INTERVAL '{sign}{text}' {from} TO {to}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_time_intervals_print_between_their_fields() {
        assert_eq!(day_time_text(MICROS_PER_DAY, 0, 0), "INTERVAL '1' DAY");
        assert_eq!(
            day_time_text(12 * MICROS_PER_HOUR, 1, 1),
            "INTERVAL '12' HOUR"
        );
        assert_eq!(
            day_time_text(-93_784_500_000, 0, 3),
            "INTERVAL '-1 02:03:04.5' DAY TO SECOND"
        );
        assert_eq!(year_month_text(14, 0, 1), "INTERVAL '1-2' YEAR TO MONTH");
    }

    #[test]
    fn interval_texts_are_read() {
        assert_eq!(parse_day_time("1 02:03:04.5", 0, 3), Some(93_784_500_000));
        assert_eq!(parse_day_time("-10:30", 1, 2), Some(-37_800_000_000));
        assert_eq!(parse_year_month("1-2"), Some(14));
        assert_eq!(
            parse_units("interval 1 month 2 days -3 hours"),
            Some(Amount {
                months: 1,
                days: 2,
                micros: -3 * MICROS_PER_HOUR
            })
        );
        assert_eq!(parse_units("3 bananas"), None);
    }
}
