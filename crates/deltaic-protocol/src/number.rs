//! Numbers as Java prints them, and decimals without a detour over floating point.

/// `Double.toString`: `1.5`, `1.0E300`, `NaN`, `-Infinity`.
pub fn java_double(value: f64) -> String {
    java(
        value.is_nan(),
        value.is_infinite(),
        value.is_sign_negative(),
        value == 0.0,
        || format!("{:e}", value.abs()),
    )
}

/// `Float.toString`.
pub fn java_float(value: f32) -> String {
    java(
        value.is_nan(),
        value.is_infinite(),
        value.is_sign_negative(),
        value == 0.0,
        || format!("{:e}", value.abs()),
    )
}

fn java(
    nan: bool,
    infinite: bool,
    negative: bool,
    zero: bool,
    scientific: impl Fn() -> String,
) -> String {
    if nan {
        return "NaN".to_owned();
    }
    let sign = if negative { "-" } else { "" };
    if infinite {
        return format!("{sign}Infinity");
    }
    if zero {
        return format!("{sign}0.0");
    }
    // Rust's `{:e}` has the shortest digits that mean this number: `1.25e-7`.
    let text = scientific();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text.as_str(), "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if (-3..7).contains(&exponent) {
        format!("{sign}{}", plain(&digits, exponent))
    } else {
        let (first, rest) = digits.split_at_checked(1).unwrap_or(("0", ""));
        let rest = if rest.is_empty() { "0" } else { rest };
        format!("{sign}{first}.{rest}E{exponent}")
    }
}

fn plain(digits: &str, exponent: i32) -> String {
    let before = usize::try_from(exponent + 1).unwrap_or(0);
    if before == 0 {
        let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
        return format!("0.{}{digits}", "0".repeat(zeros));
    }
    if digits.len() <= before {
        return format!("{digits}{}.0", "0".repeat(before - digits.len()));
    }
    let (whole, fraction) = digits.split_at(before);
    format!("{whole}.{fraction}")
}

/// A decimal's text with exactly `scale` digits behind the point.
pub fn format_decimal(unscaled: i128, scale: u8) -> String {
    let digits = unscaled.unsigned_abs().to_string();
    let scale = usize::from(scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let filled = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = filled.split_at(filled.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

/// Reads a decimal number, also with an exponent, into units of 10^-scale. Further digits round half up. None if the text is no number
/// or needs more than `precision` digits.
pub fn parse_decimal(text: &str, precision: u8, scale: u8) -> Option<i128> {
    let text = text.trim();
    let (negative, body) = match (text.strip_prefix('-'), text.strip_prefix('+')) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => (false, text),
    };
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (body.get(..at)?, body.get(at + 1..)?.parse::<i32>().ok()?),
        None => (body, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    // Number of digits that stand before the wanted last one.
    let fraction_digits = i32::try_from(fraction.len()).ok()?;
    let shift = i32::from(scale)
        .checked_sub(fraction_digits)?
        .checked_add(exponent)?;
    let value = if digits.is_empty() {
        0
    } else if shift >= 0 {
        let wanted = digits.len() + usize::try_from(shift).ok()?;
        if wanted > 38 {
            return None;
        }
        format!("{digits:0<wanted$}").parse::<i128>().ok()?
    } else {
        let cut = usize::try_from(-shift).ok()?;
        let kept = digits.len().checked_sub(cut);
        let (head, tail) = match kept {
            Some(kept) => digits.split_at(kept),
            None => ("", "0"),
        };
        if head.len() > 38 {
            return None;
        }
        let head = if head.is_empty() {
            0
        } else {
            head.parse::<i128>().ok()?
        };
        head + i128::from(tail.as_bytes().first().is_some_and(|digit| *digit >= b'5'))
    };
    let limit = 10i128.checked_pow(u32::from(precision))?;
    let value = if negative { -value } else { value };
    (value.abs() < limit).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn doubles_print_as_in_java() {
        for (value, text) in [
            (1.5, "1.5"),
            (1e300, "1.0E300"),
            (f64::MAX, "1.7976931348623157E308"),
            (0.001, "0.001"),
            (1e-4, "1.0E-4"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (12_345.678, "12345.678"),
            (-0.0, "-0.0"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
            (100.0, "100.0"),
        ] {
            assert_eq!(java_double(value), text);
        }
        assert_eq!(java_float(3.4), "3.4");
        assert_eq!(java_float(1.0e10), "1.0E10");
    }

    #[test]
    fn decimals_keep_every_digit() {
        let text = "1234567890123456789012345678.0123456789";
        let unscaled = parse_decimal(text, 38, 10);
        assert_eq!(
            unscaled.map(|u| format_decimal(u, 10)).as_deref(),
            Some(text)
        );
        assert_eq!(parse_decimal("12.345", 5, 2), Some(1235));
        assert_eq!(parse_decimal("-1.5e2", 5, 2), Some(-15000));
        assert_eq!(parse_decimal("1e-3", 5, 2), Some(0));
        assert_eq!(parse_decimal("0.005", 5, 2), Some(1));
        assert_eq!(parse_decimal("1000", 5, 2), None);
        assert_eq!(parse_decimal("x", 5, 2), None);
        assert_eq!(parse_decimal("", 5, 2), None);
        assert_eq!(format_decimal(-5, 3), "-0.005");
        assert_eq!(format_decimal(7, 0), "7");
    }

    proptest! {
        #[test]
        fn doubles_are_read_back(value in any::<f64>().prop_filter("a number", |v| v.is_finite())) {
            prop_assert_eq!(java_double(value).parse::<f64>(), Ok(value));
        }

        #[test]
        fn decimals_are_read_back(value in -(10i128.pow(38) - 1)..10i128.pow(38), scale in 0u8..=38) {
            prop_assert_eq!(parse_decimal(&format_decimal(value, scale), 38, scale), Some(value));
        }

        #[test]
        fn no_text_panics(text in "[-+0-9.eE]{0,20}", scale in 0u8..=38) {
            let _ = parse_decimal(&text, 38, scale);
        }
    }
}
