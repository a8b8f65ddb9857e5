//! Numbers and dates as text, as Java and Python print them.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, Timelike};

/// `Double.toString` of Java: at least one digit after the point, exponent form from 10^7 on and below 10^-3.
pub fn java_double(value: f64) -> String {
    java_text(value, &format!("{value:e}"))
}

/// `Float.toString` of Java.
pub fn java_float(value: f32) -> String {
    java_text(f64::from(value), &format!("{value:e}"))
}

/// `shortest` is the shortest exponent form of the value, as Rust prints it ("-1.25e-7").
fn java_text(value: f64, shortest: &str) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if value == 0.0 {
        return if value.is_sign_negative() {
            "-0.0"
        } else {
            "0.0"
        }
        .to_owned();
    }
    let (sign, rest) = shortest
        .strip_prefix('-')
        .map_or(("", shortest), |rest| ("-", rest));
    let (mantissa, exponent) = rest.split_once('e').unwrap_or((rest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if (-3..7).contains(&exponent) {
        format!("{sign}{}", plain(&digits, exponent))
    } else {
        let (first, tail) = digits.split_at(1);
        format!(
            "{sign}{first}.{}E{exponent}",
            if tail.is_empty() { "0" } else { tail }
        )
    }
}

/// Digits with the point after digit `exponent`, at least one digit on each side.
fn plain(digits: &str, exponent: i32) -> String {
    if exponent < 0 {
        return format!("0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        format!("{digits}{}.0", "0".repeat(whole - digits.len()))
    } else {
        format!("{}.{}", &digits[..whole], &digits[whole..])
    }
}

/// A decimal in plain notation, with all digits of its scale.
pub fn plain_decimal(unscaled: i128, scale: i8) -> String {
    let digits = unscaled.unsigned_abs().to_string();
    let sign = if unscaled < 0 { "-" } else { "" };
    if scale <= 0 {
        let zeros = if unscaled == 0 {
            0
        } else {
            usize::from(scale.unsigned_abs())
        };
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    }
    let scale = scale as usize;
    let padded = if digits.len() <= scale {
        format!("{}{digits}", "0".repeat(scale + 1 - digits.len()))
    } else {
        digits
    };
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

/// A decimal as Python prints it: exponent form for very small values and for negative scales.
pub fn python_decimal(unscaled: i128, scale: i8) -> String {
    let digits = unscaled.unsigned_abs().to_string();
    let exponent = -i32::from(scale);
    let left = exponent + digits.len() as i32;
    if exponent <= 0 && left > -6 {
        return plain_decimal(unscaled, scale);
    }
    let sign = if unscaled < 0 { "-" } else { "" };
    let (first, tail) = digits.split_at(1);
    let point = if tail.is_empty() { "" } else { "." };
    let power = left - 1;
    if power == 0 {
        format!("{sign}{first}{point}{tail}")
    } else {
        format!("{sign}{first}{point}{tail}E{power:+}")
    }
}

/// `yyyy-MM-dd`; years past 9999 have a plus sign, as in Java.
pub fn date_text(days: i32) -> String {
    match NaiveDate::from_num_days_from_ce_opt(days.saturating_add(719_163)) {
        Some(date) => day_text(date),
        None => format!("{days} days"),
    }
}

fn day_text(date: NaiveDate) -> String {
    let year = date.year();
    let sign = if year > 9999 { "+" } else { "" };
    let year = if year < 0 {
        format!("-{:04}", -year)
    } else {
        format!("{sign}{year:04}")
    };
    format!("{year}-{:02}-{:02}", date.month(), date.day())
}

/// `yyyy-MM-dd HH:mm:ss` with as many digits of the fraction as it needs.
pub fn date_time_text(time: NaiveDateTime) -> String {
    let micros = time.nanosecond() / 1_000;
    let base = format!(
        "{} {:02}:{:02}:{:02}",
        day_text(time.date()),
        time.hour(),
        time.minute(),
        time.second()
    );
    if micros == 0 {
        base
    } else {
        format!("{base}.{}", format!("{micros:06}").trim_end_matches('0'))
    }
}

/// The moment without a zone; years out of chrono's range answer nothing.
pub fn naive(micros: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp_micros(micros).map(|time| time.naive_utc())
}

/// ISO text with a `T`, six digits of fraction where it is not zero (Python's `isoformat`); `between` is `T` or a
/// space.
pub fn iso_text(micros: i64, between: char) -> String {
    let Some(time) = naive(micros) else {
        return format!("{micros} us");
    };
    let fraction = time.nanosecond() / 1_000;
    let base = format!(
        "{}{between}{:02}:{:02}:{:02}",
        day_text(time.date()),
        time.hour(),
        time.minute(),
        time.second()
    );
    if fraction == 0 {
        base
    } else {
        format!("{base}.{fraction:06}")
    }
}
