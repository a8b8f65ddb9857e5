//! The value and the type of an interval literal, as Spark reads it: years and months make a year-month interval, everything
//! from weeks to microseconds a day-time interval; both in one literal are refused.

#[cfg(test)]
mod tests;

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::DataType;
use sqlparser::ast::{DateTimeField, Expr, Interval, UnaryOperator};

const SECOND: i128 = 1_000_000;

/// What an interval literal stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntervalValue {
    /// Months; the fields are 0 year, 1 month.
    YearMonth { months: i32, start: u8, end: u8 },
    /// Microseconds; the fields are 0 day, 1 hour, 2 minute, 3 second.
    DayTime { micros: i64, start: u8, end: u8 },
}

impl IntervalValue {
    /// The literal's type.
    pub fn data_type(&self) -> DataType {
        match *self {
            Self::YearMonth { start, end, .. } => DataType::YearMonthInterval { start, end },
            Self::DayTime { start, end, .. } => DataType::DayTimeInterval { start, end },
        }
    }
}

/// The value of an interval literal.
///
/// # Errors
/// `INVALID_INTERVAL_FORMAT` for text that is no interval, `_LEGACY_ERROR_TEMP_0029` for one that mixes both kinds.
pub fn value(interval: &Interval) -> Result<IntervalValue> {
    let text = signed_text(&interval.value)
        .ok_or_else(|| invalid(&interval.value.to_string(), "UNKNOWN_PARSING_ERROR"))?;
    match (&interval.leading_field, &interval.last_field) {
        (Some(from), Some(to)) => unit_to_unit(&text, from, to),
        (Some(unit), None) => {
            let unit = unit_name(unit);
            sum(&text, &[(text.trim().to_owned(), unit)])
        }
        (None, _) => parse(&text),
    }
}

/// The value of an interval's text, such as `1 day -2 hours` or `interval 3 months`.
///
/// # Errors
/// As [`value`].
pub fn parse(text: &str) -> Result<IntervalValue> {
    let lower = text.trim().to_lowercase();
    let body = lower
        .strip_prefix("interval")
        .filter(|rest| rest.starts_with(char::is_whitespace))
        .unwrap_or(&lower)
        .trim();
    if body.is_empty() {
        return Err(invalid(text, "INPUT_IS_EMPTY"));
    }
    let mut parts = Vec::new();
    let mut words = body.split_whitespace();
    while let Some(word) = words.next() {
        // A sign may stand apart from its number.
        let number = match word {
            "+" | "-" => format!("{word}{}", words.next().unwrap_or_default()),
            _ => word.to_owned(),
        };
        let unit = words
            .next()
            .ok_or_else(|| invalid(text, "MISSING_UNIT").param("word", &number))?;
        let unit = unit.strip_suffix('s').unwrap_or(unit).to_owned();
        parts.push((number, unit));
    }
    sum(text, &parts)
}

/// The text of an interval's value with its sign.
fn signed_text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => {
            let text = signed_text(expr)?;
            let trimmed = text.trim();
            Some(
                trimmed
                    .strip_prefix('-')
                    .map_or_else(|| format!("-{trimmed}"), str::to_owned),
            )
        }
        other => crate::literal::text_of(other),
    }
}

fn unit_name(unit: &DateTimeField) -> String {
    let name = unit.to_string().to_lowercase();
    name.strip_suffix('s').unwrap_or(&name).to_owned()
}

/// Adds up numbers with their units (lower case, singular).
fn sum(text: &str, parts: &[(String, String)]) -> Result<IntervalValue> {
    let mut months = 0i128;
    let mut micros = 0i128;
    let (mut year_month, mut day_time) = (Vec::new(), Vec::new());
    for (number, unit) in parts {
        let (field, scale) = match unit.as_str() {
            "year" => (Err(0), 12),
            "month" => (Err(1), 1),
            "week" => (Ok(0), 7 * 86_400 * SECOND),
            "day" => (Ok(0), 86_400 * SECOND),
            "hour" => (Ok(1), 3_600 * SECOND),
            "minute" => (Ok(2), 60 * SECOND),
            "second" => (Ok(3), SECOND),
            "millisecond" => (Ok(3), 1_000),
            "microsecond" => (Ok(3), 1),
            _ => return Err(invalid(text, "INVALID_UNIT").param("unit", format!("'{unit}'"))),
        };
        let amount = amount(text, number, unit, scale)?;
        match field {
            Ok(field) => {
                micros += amount;
                day_time.push(field);
            }
            Err(field) => {
                months += amount;
                year_month.push(field);
            }
        }
    }
    let range = |fields: &[u8]| {
        (
            fields.iter().copied().min().unwrap_or(0),
            fields.iter().copied().max().unwrap_or(0),
        )
    };
    let overflow = |_| invalid(text, "ARITHMETIC_EXCEPTION");
    match (year_month.is_empty(), day_time.is_empty()) {
        (false, false) => Err(DeltaError::new("_LEGACY_ERROR_TEMP_0029").param("literal", text)),
        (false, true) => {
            let (start, end) = range(&year_month);
            Ok(IntervalValue::YearMonth {
                months: i32::try_from(months).map_err(overflow)?,
                start,
                end,
            })
        }
        _ => {
            let (start, end) = range(&day_time);
            Ok(IntervalValue::DayTime {
                micros: i64::try_from(micros).map_err(overflow)?,
                start,
                end,
            })
        }
    }
}

/// `number` times `scale`; only seconds may have a fraction, of up to nine digits.
fn amount(text: &str, number: &str, unit: &str, scale: i128) -> Result<i128> {
    let (negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !plain(whole) || !plain(fraction) || whole.is_empty() && fraction.is_empty() {
        return Err(invalid(text, "UNRECOGNIZED_NUMBER").param("number", format!("'{number}'")));
    }
    if !fraction.is_empty() && unit != "second" {
        return Err(invalid(text, "INVALID_FRACTION").param("unit", format!("'{unit}'")));
    }
    if fraction.len() > 9 {
        return Err(invalid(text, "INVALID_PRECISION").param("value", format!("'{number}'")));
    }
    let overflow = || invalid(text, "ARITHMETIC_EXCEPTION");
    let whole: i128 = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| overflow())?
    };
    let micros: i128 = format!("{fraction:0<6}")
        .get(..6)
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0);
    let value = whole
        .checked_mul(scale)
        .and_then(|value| value.checked_add(micros))
        .ok_or_else(overflow)?;
    Ok(if negative { -value } else { value })
}

/// `'1 2:3:4' DAY TO SECOND`, `'1-2' YEAR TO MONTH`.
fn unit_to_unit(text: &str, from: &DateTimeField, to: &DateTimeField) -> Result<IntervalValue> {
    const FIELDS: [&str; 4] = ["day", "hour", "minute", "second"];
    let (from, to) = (unit_name(from), unit_name(to));
    let trimmed = text.trim();
    let (sign, body) = match trimmed.strip_prefix('-') {
        Some(body) => ("-", body),
        None => ("", trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let part = |number: &str, unit: &str| (format!("{sign}{}", number.trim()), unit.to_owned());
    if (from.as_str(), to.as_str()) == ("year", "month") {
        let Some((years, months)) = body.split_once('-') else {
            return Err(mismatch(text, &from, &to));
        };
        return sum(text, &[part(years, "year"), part(months, "month")]);
    }
    let index = |unit: &str| FIELDS.iter().position(|field| *field == unit);
    let (Some(first), Some(last)) = (index(&from), index(&to)) else {
        return Err(mismatch(text, &from, &to));
    };
    let wanted = FIELDS.get(first..=last).unwrap_or_default();
    let (days, clock) = match (first, body.split_once(' ')) {
        (0, Some((days, clock))) => (Some(days), clock),
        (0, None) => return Err(mismatch(text, &from, &to)),
        (_, _) => (None, body),
    };
    let numbers: Vec<&str> = days.into_iter().chain(clock.split(':')).collect();
    if wanted.len() < 2 || numbers.len() != wanted.len() {
        return Err(mismatch(text, &from, &to));
    }
    let parts: Vec<_> = numbers
        .iter()
        .zip(wanted)
        .map(|(number, unit)| part(number, unit))
        .collect();
    sum(text, &parts)
}

fn mismatch(text: &str, from: &str, to: &str) -> DeltaError {
    let range = format!("{from} to {to}");
    invalid(text, "INVALID_VALUE").param("value", format!("'{text}' for {range}"))
}

fn invalid(text: &str, sub: &'static str) -> DeltaError {
    let class = match sub {
        "ARITHMETIC_EXCEPTION" => "INVALID_INTERVAL_FORMAT.ARITHMETIC_EXCEPTION",
        "INPUT_IS_EMPTY" => "INVALID_INTERVAL_FORMAT.INPUT_IS_EMPTY",
        "INVALID_FRACTION" => "INVALID_INTERVAL_FORMAT.INVALID_FRACTION",
        "INVALID_PRECISION" => "INVALID_INTERVAL_FORMAT.INVALID_PRECISION",
        "INVALID_UNIT" => "INVALID_INTERVAL_FORMAT.INVALID_UNIT",
        "INVALID_VALUE" => "INVALID_INTERVAL_FORMAT.INVALID_VALUE",
        "MISSING_UNIT" => "INVALID_INTERVAL_FORMAT.MISSING_UNIT",
        "UNRECOGNIZED_NUMBER" => "INVALID_INTERVAL_FORMAT.UNRECOGNIZED_NUMBER",
        _ => "INVALID_INTERVAL_FORMAT.UNKNOWN_PARSING_ERROR",
    };
    DeltaError::new(class).param("input", text)
}
