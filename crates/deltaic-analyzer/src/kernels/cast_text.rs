//! Casts from STRING: what Spark accepts for each type, blanks around it ignored.

use arrow::array::{ArrayRef, AsArray};
use deltaic_protocol::Result;
use deltaic_protocol::schema::DataType;

use super::cast_context::Context;
use super::decimal;
use crate::error::internal;
use crate::time::{
    self, MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND, interval,
};

/// Texts into another type.
pub fn from_string(c: &Context<'_>, array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let texts = array.as_string::<i32>();
    let invalid = |row: usize| c.invalid(array, row, &DataType::String, to);
    let (zone, today) = (c.env.zone, time::day_of(c.env.now_us, c.env.zone));
    macro_rules! parsed {
        ($f:expr) => {
            c.rows(array, to, |row| {
                $f(texts.value(row)).map(Some).ok_or_else(|| invalid(row))
            })
        };
    }
    match to {
        DataType::Binary => c.rows(array, to, |row| {
            Ok(Some(texts.value(row).as_bytes().to_vec()))
        }),
        DataType::Boolean => parsed!(boolean),
        DataType::Byte => parsed!(|t| integer(t).and_then(|v| i8::try_from(v).ok())),
        DataType::Short => parsed!(|t| integer(t).and_then(|v| i16::try_from(v).ok())),
        DataType::Integer => parsed!(|t| integer(t).and_then(|v| i32::try_from(v).ok())),
        DataType::Long => parsed!(integer),
        DataType::Float => {
            parsed!(|t: &str| double(t, |t| t.parse::<f32>().ok(), f32::NAN, f32::INFINITY))
        }
        DataType::Double => {
            parsed!(|t: &str| double(t, |t| t.parse::<f64>().ok(), f64::NAN, f64::INFINITY))
        }
        DataType::Decimal { precision, scale } => c.rows(array, to, |row| {
            match decimal::read(texts.value(row), *precision, *scale)? {
                Some(v) => Ok(Some(v)),
                None => Err(invalid(row)),
            }
        }),
        DataType::Date => parsed!(time::parse::date),
        DataType::Timestamp => parsed!(|t: &str| time::parse::timestamp(t, zone, today)),
        DataType::TimestampNtz => parsed!(|t: &str| time::parse::timestamp_ntz(t, true)),
        DataType::YearMonthInterval { start, end } => {
            parsed!(|t: &str| year_month(t, *start, *end).and_then(|m| i32::try_from(m).ok()))
        }
        DataType::DayTimeInterval { start, end } => parsed!(|t: &str| day_time(t, *start, *end)),
        _ => Err(internal(format!("no cast from STRING to {}", to.sql()))),
    }
}

/// Spark trims every character up to the blank.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}

fn boolean(text: &str) -> Option<bool> {
    match trim(text).to_ascii_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "1" => Some(true),
        "f" | "false" | "n" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// A whole number, with a sign perhaps.
pub fn integer(text: &str) -> Option<i64> {
    let text = trim(text);
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(())?;
    text.parse().ok()
}

fn double<F: Copy + std::ops::Neg<Output = F>>(
    text: &str,
    parse: impl Fn(&str) -> Option<F>,
    nan: F,
    infinity: F,
) -> Option<F> {
    let text = trim(text);
    match text.to_ascii_lowercase().as_str() {
        "nan" => return Some(nan),
        "inf" | "+inf" | "infinity" | "+infinity" => return Some(infinity),
        "-inf" | "-infinity" => return Some(-infinity),
        _ => {}
    }
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    number
        .ends_with(|c: char| c.is_ascii_digit() || c == '.')
        .then(|| parse(number))
        .flatten()
}

fn year_month(text: &str, start: u8, end: u8) -> Option<i64> {
    let inner = literal_value(text).unwrap_or(text).trim();
    match (start, end) {
        (0, 0) => interval::scaled(inner, interval::Unit::Year).map(|a| a.months),
        (1, 1) => interval::scaled(inner, interval::Unit::Month).map(|a| a.months),
        _ => interval::parse_year_month(inner),
    }
}

fn day_time(text: &str, start: u8, end: u8) -> Option<i64> {
    interval::parse_day_time(literal_value(text).unwrap_or(text).trim(), start, end)
}

/// The quoted part of `INTERVAL '…' UNIT`.
fn literal_value(text: &str) -> Option<&str> {
    let text = text.trim();
    text.get(..8)
        .filter(|w| w.eq_ignore_ascii_case("interval"))?;
    let open = text.find('\'')?;
    let close = text.rfind('\'')?;
    text.get(open + 1..close)
}

/// Microseconds of a field of a day-time interval.
pub fn day_time_unit(field: u8) -> i64 {
    match field {
        0 => MICROS_PER_DAY,
        1 => MICROS_PER_HOUR,
        2 => MICROS_PER_MINUTE,
        _ => MICROS_PER_SECOND,
    }
}
