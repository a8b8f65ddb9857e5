//! Decimals as unscaled 128-bit integers: scaling, rounding, reading, and the check against a type's bounds.

use arrow::datatypes::i256;
use deltaic_protocol::DeltaError;

use crate::error::ANSI_CONFIG;
use crate::text;

/// How a digit too many is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Away from zero from the half on.
    HalfUp,
    /// To the even neighbour at the half.
    HalfEven,
    /// Toward zero.
    Down,
    /// Toward positive infinity.
    Ceiling,
    /// Toward negative infinity.
    Floor,
}

/// `10^n`.
pub fn power(n: u32) -> i256 {
    let mut out = i256::ONE;
    let ten = i256::from_i128(10);
    for _ in 0..n.min(76) {
        out = out.wrapping_mul(ten);
    }
    out
}

/// Divide with rounding; the divisor is positive.
pub fn divide(value: i256, divisor: i256, rounding: Rounding) -> i256 {
    let quotient = value.wrapping_div(divisor);
    let rest = value.wrapping_rem(divisor);
    if rest == i256::ZERO {
        return quotient;
    }
    let negative = rest.is_negative();
    let away = if negative { i256::MINUS_ONE } else { i256::ONE };
    let double = rest.wrapping_abs().wrapping_mul(i256::from_i128(2));
    let up = match rounding {
        Rounding::Down => false,
        Rounding::Ceiling => !negative,
        Rounding::Floor => negative,
        Rounding::HalfUp => double >= divisor,
        Rounding::HalfEven => {
            double > divisor
                || (double == divisor && quotient.wrapping_rem(i256::from_i128(2)) != i256::ZERO)
        }
    };
    if up {
        quotient.wrapping_add(away)
    } else {
        quotient
    }
}

/// The same value at another scale.
pub fn rescale(value: i256, from: i32, to: i32, rounding: Rounding) -> i256 {
    if to >= from {
        value.wrapping_mul(power((to - from) as u32))
    } else {
        divide(value, power((from - to) as u32), rounding)
    }
}

/// The value where the precision holds it.
pub fn fit(value: i256, precision: u8) -> Option<i128> {
    (value.wrapping_abs() < power(u32::from(precision)))
        .then(|| value.to_i128())
        .flatten()
}

/// `NUMERIC_VALUE_OUT_OF_RANGE` for a value in text form.
pub fn out_of_range(value: &str, precision: u8, scale: u8) -> DeltaError {
    DeltaError::new("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION")
        .param("value", value)
        .param("precision", precision)
        .param("scale", scale)
        .param("config", ANSI_CONFIG)
}

/// The value as digits with a point, whatever its size.
pub fn show(value: i256, scale: i32) -> String {
    match (value.to_i128(), u8::try_from(scale)) {
        (Some(v), Ok(s)) => text::decimal(v, s),
        _ => value.to_string(),
    }
}

/// A number as text: unscaled value and scale. None where it is no number, or has too many digits to hold.
pub fn parse(text: &str) -> Option<(i256, i32)> {
    let text = text.trim();
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = i256::ZERO;
    let mut significant = 0;
    for b in whole.bytes().chain(fraction.bytes()) {
        if !b.is_ascii_digit() {
            return None;
        }
        if significant > 0 || b != b'0' {
            significant += 1;
        }
        if significant > 75 {
            return None;
        }
        value = value
            .wrapping_mul(i256::from_i128(10))
            .wrapping_add(i256::from_i128(i128::from(b - b'0')));
    }
    if negative {
        value = value.wrapping_neg();
    }
    let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    if scale >= 0 {
        return Some((value, scale));
    }
    if significant - scale > 75 {
        return None;
    }
    Some((value.wrapping_mul(power(scale.unsigned_abs())), 0))
}

/// A text as a value of DECIMAL(p, s): `Ok(None)` where it is no number, `Err` with the text where it is too large.
pub fn read(text: &str, precision: u8, scale: u8) -> Result<Option<i128>, DeltaError> {
    let Some((value, from)) = parse(text) else {
        return Ok(None);
    };
    if from - i32::from(scale) > 76 {
        return Ok(Some(0));
    }
    let scaled = rescale(value, from, i32::from(scale), Rounding::HalfUp);
    match fit(scaled, precision) {
        Some(v) => Ok(Some(v)),
        None => Err(out_of_range(&show(value, from), precision, scale)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_at_the_scale_of_the_type() {
        assert_eq!(read("12.345", 10, 2).ok().flatten(), Some(1235));
        assert_eq!(read("-1e2", 10, 1).ok().flatten(), Some(-1000));
        assert_eq!(read(" .5 ", 3, 1).ok().flatten(), Some(5));
        assert!(matches!(read("x", 3, 1), Ok(None)));
        assert!(read("1000", 3, 1).is_err());
    }

    #[test]
    fn halves_round_away_from_zero_or_to_even() {
        let r = |v: i128, rounding| rescale(i256::from_i128(v), 1, 0, rounding).to_i128();
        assert_eq!(r(25, Rounding::HalfUp), Some(3));
        assert_eq!(r(-25, Rounding::HalfUp), Some(-3));
        assert_eq!(r(25, Rounding::HalfEven), Some(2));
        assert_eq!(r(-21, Rounding::Floor), Some(-3));
        assert_eq!(r(-21, Rounding::Ceiling), Some(-2));
    }
}
