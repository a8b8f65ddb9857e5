//! Kernels of mathematics: rounding with Spark's result types, and the functions of doubles.

use arrow::array::ArrayRef;
use arrow::datatypes::i256;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use super::arithmetic::overflow;
use super::decimal::{self, Rounding};
use super::values::{Number, number};
use crate::error::internal;
use crate::kernel::Batch;

macro_rules! doubles {
    ($($(#[$doc:meta])* $name:ident = $f:expr;)*) => {
        $($(#[$doc])* pub fn $name(b: &Batch<'_>) -> Result<ArrayRef> {
            let f: fn(f64) -> f64 = $f;
            b.rows(|r| Ok(Some(f(b.f64(0).value(r)))))
        })*
    };
}

doubles! {
    /// `sqrt`.
    sqrt = f64::sqrt;
    /// `cbrt`.
    cbrt = f64::cbrt;
    /// `exp`.
    exp = f64::exp;
    /// `expm1`.
    expm1 = f64::exp_m1;
    /// `sin`.
    sin = f64::sin;
    /// `cos`.
    cos = f64::cos;
    /// `tan`.
    tan = f64::tan;
    /// `cot`.
    cot = |v| 1.0 / v.tan();
    /// `sec`.
    sec = |v| 1.0 / v.cos();
    /// `csc`.
    csc = |v| 1.0 / v.sin();
    /// `asin`.
    asin = f64::asin;
    /// `acos`.
    acos = f64::acos;
    /// `atan`.
    atan = f64::atan;
    /// `sinh`.
    sinh = f64::sinh;
    /// `cosh`.
    cosh = f64::cosh;
    /// `tanh`.
    tanh = f64::tanh;
    /// `asinh`.
    asinh = f64::asinh;
    /// `acosh`.
    acosh = f64::acosh;
    /// `atanh`.
    atanh = f64::atanh;
    /// `degrees`.
    degrees = f64::to_degrees;
    /// `radians`.
    radians = f64::to_radians;
    /// `rint`.
    rint = f64::round_ties_even;
    /// `signum`.
    signum = |v| if v == 0.0 || v.is_nan() { v } else { v.signum() };
}

macro_rules! logarithms {
    ($($(#[$doc:meta])* $name:ident = $least:expr, $f:expr;)*) => {
        $($(#[$doc])* pub fn $name(b: &Batch<'_>) -> Result<ArrayRef> {
            let f: fn(f64) -> f64 = $f;
            b.rows(|r| {
                let v = b.f64(0).value(r);
                Ok(if v <= $least { None } else { Some(f(v)) })
            })
        })*
    };
}

logarithms! {
    /// `ln`: NULL up to zero.
    ln = 0.0, f64::ln;
    /// `log10`.
    log10 = 0.0, f64::log10;
    /// `log2`.
    log2 = 0.0, f64::log2;
    /// `log1p`: NULL up to -1.
    log1p = -1.0, f64::ln_1p;
}

/// `log(base, x)`.
pub fn log(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let (base, v) = (b.f64(0).value(r), b.f64(1).value(r));
        Ok(if base <= 0.0 || v <= 0.0 {
            None
        } else {
            Some(v.ln() / base.ln())
        })
    })
}

/// `pow`.
pub fn pow(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(Some(b.f64(0).value(r).powf(b.f64(1).value(r)))))
}
/// `atan2`.
pub fn atan2(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        Ok(Some(
            (b.f64(0).value(r) + 0.0).atan2(b.f64(1).value(r) + 0.0),
        ))
    })
}
/// `hypot`.
pub fn hypot(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(Some(b.f64(0).value(r).hypot(b.f64(1).value(r)))))
}

/// `factorial`: NULL outside 0 to 20.
pub fn factorial(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let n = b.i32(0).value(r);
        Ok((0..=20)
            .contains(&n)
            .then(|| (1..=i64::from(n)).product::<i64>()))
    })
}

/// `round(x, d)`.
pub fn round(b: &Batch<'_>) -> Result<ArrayRef> {
    round_to(b, Rounding::HalfUp)
}
/// `bround(x, d)`.
pub fn bround(b: &Batch<'_>) -> Result<ArrayRef> {
    round_to(b, Rounding::HalfEven)
}
/// `ceil(x[, d])`.
pub fn ceil(b: &Batch<'_>) -> Result<ArrayRef> {
    round_to(b, Rounding::Ceiling)
}
/// `floor(x[, d])`.
pub fn floor(b: &Batch<'_>) -> Result<ArrayRef> {
    round_to(b, Rounding::Floor)
}

/// Digits to keep come as the second argument; none means 0. The result type says the rest.
fn round_to(b: &Batch<'_>, rounding: Rounding) -> Result<ArrayRef> {
    let digits = |r: usize| {
        if b.args.len() > 1 {
            b.i32(1).value(r)
        } else {
            0
        }
    };
    let source = &b.types[0];
    match b.ret {
        DataType::Decimal { precision, scale } => b.rows(|r| {
            let Some(n) = number(&b.args[0], r, source) else {
                return Ok(None);
            };
            let (v, from) = match n {
                Number::Decimal(v, s) => (i256::from_i128(v), i32::from(s)),
                Number::Whole(v) => (i256::from_i128(i128::from(v)), 0),
                Number::Float(v) => decimal::parse(&format!("{v:e}")).unwrap_or((i256::ZERO, 0)),
                Number::Double(v) => decimal::parse(&format!("{v:e}")).unwrap_or((i256::ZERO, 0)),
            };
            let d = digits(r);
            // Round where asked, then bring it to the scale of the type.
            let rounded = if d < from {
                decimal::rescale(v, from, d.max(-38), rounding)
            } else {
                v
            };
            let at = if d < from { d.max(-38) } else { from };
            let out = decimal::rescale(rounded, at, i32::from(*scale), Rounding::HalfUp);
            match decimal::fit(out, *precision) {
                Some(v) => Ok(Some(v)),
                None if !b.env.ansi => Ok(None),
                None => Err(decimal::out_of_range(
                    &decimal::show(rounded, at.max(0)),
                    *precision,
                    *scale,
                )),
            }
        }),
        DataType::Double => {
            b.rows(|r| Ok(Some(round_float(b.f64(0).value(r), digits(r), rounding))))
        }
        DataType::Float => b.rows(|r| {
            let v = b.f32(0).value(r);
            Ok(Some(if v.is_finite() {
                decimal_of(&format!("{v:e}"), digits(r), rounding)
                    .and_then(|t| t.parse().ok())
                    .unwrap_or(v)
            } else {
                v
            }))
        }),
        DataType::Long if matches!(source, DataType::Double) => b.rows(|r| {
            let v = b.f64(0).value(r);
            Ok(Some(if rounding == Rounding::Ceiling {
                v.ceil()
            } else {
                v.floor()
            } as i64))
        }),
        DataType::Long if matches!(source, DataType::Float) => b.rows(|r| {
            let v = b.f32(0).value(r);
            Ok(Some(if rounding == Rounding::Ceiling {
                v.ceil()
            } else {
                v.floor()
            } as i64))
        }),
        DataType::Byte | DataType::Short | DataType::Integer | DataType::Long => {
            let whole = |r: usize| -> Result<Option<i64>> {
                let Some(Number::Whole(v)) = number(&b.args[0], r, source) else {
                    return Ok(None);
                };
                let d = digits(r);
                if d >= 0 {
                    return Ok(Some(v));
                }
                let n = i256::from_i128(i128::from(v));
                let out = decimal::rescale(
                    decimal::rescale(n, 0, d.max(-38), rounding),
                    d.max(-38),
                    0,
                    rounding,
                );
                let exact = out.to_i128();
                let fits = match b.ret {
                    DataType::Byte => exact.and_then(|v| i8::try_from(v).ok()).map(i64::from),
                    DataType::Short => exact.and_then(|v| i16::try_from(v).ok()).map(i64::from),
                    DataType::Integer => exact.and_then(|v| i32::try_from(v).ok()).map(i64::from),
                    _ => exact.and_then(|v| i64::try_from(v).ok()),
                };
                match fits {
                    Some(v) => Ok(Some(v)),
                    None if !b.env.ansi => Ok(exact.map(|v| v as i64)),
                    None => Err(overflow(b.ret, "")),
                }
            };
            match b.ret {
                DataType::Byte => b.rows(|r| Ok(whole(r)?.map(|v| v as i8))),
                DataType::Short => b.rows(|r| Ok(whole(r)?.map(|v| v as i16))),
                DataType::Integer => b.rows(|r| Ok(whole(r)?.map(|v| v as i32))),
                _ => b.rows(whole),
            }
        }
        other => Err(internal(format!("no rounding for {}", other.sql()))),
    }
}

fn round_float(v: f64, digits: i32, rounding: Rounding) -> f64 {
    if !v.is_finite() {
        return v;
    }
    decimal_of(&format!("{v:e}"), digits, rounding)
        .and_then(|t| t.parse().ok())
        .unwrap_or(v)
}

/// A number in decimal notation, rounded, as text; None where it has too many digits to matter.
fn decimal_of(text: &str, digits: i32, rounding: Rounding) -> Option<String> {
    let (v, scale) = decimal::parse(text)?;
    if digits >= scale {
        return None;
    }
    if scale - digits > 76 {
        return Some("0".to_owned());
    }
    let rounded = decimal::rescale(v, scale, digits, rounding);
    Some(format!("{rounded}e{}", -digits))
}

/// `width_bucket(v, min, max, n)`.
pub fn width_bucket(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let (v, low, high, n) = (
            b.f64(0).value(r),
            b.f64(1).value(r),
            b.f64(2).value(r),
            b.i64(3).value(r),
        );
        if n <= 0 || low == high || v.is_nan() || !low.is_finite() || !high.is_finite() {
            return Ok(None);
        }
        let (below, above) = if low < high {
            (v < low, v >= high)
        } else {
            (v > low, v <= high)
        };
        Ok(Some(if below {
            0
        } else if above {
            n + 1
        } else {
            ((v - low) / (high - low) * n as f64) as i64 + 1
        }))
    })
}

/// `bit_count(x)`.
pub fn bit_count(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        Ok(match &b.types[0] {
            DataType::Boolean => Some(i32::from(b.bool(0).value(r))),
            ty => match number(&b.args[0], r, ty) {
                Some(Number::Whole(v)) => Some(v.count_ones() as i32),
                _ => None,
            },
        })
    })
}

/// `bit_get(x, n)`.
pub fn bit_get(b: &Batch<'_>) -> Result<ArrayRef> {
    let width = match &b.types[0] {
        DataType::Byte => 8,
        DataType::Short => 16,
        DataType::Integer => 32,
        _ => 64,
    };
    b.rows(|r| {
        let n = b.i32(1).value(r);
        if n < 0 || n >= width {
            return Err(
                DeltaError::new("INVALID_PARAMETER_VALUE.BIT_POSITION_RANGE")
                    .param("functionName", "`bit_get`")
                    .param("parameter", "`pos`")
                    .param("upper", width)
                    .param("invalidValue", n),
            );
        }
        Ok(match number(&b.args[0], r, &b.types[0]) {
            Some(Number::Whole(v)) => Some(((v >> n) & 1) as i8),
            _ => None,
        })
    })
}
