//! `+ - * / div %` and unary minus with ANSI's errors: overflow, division by zero.

use std::sync::Arc;

use arrow::array::{ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use arrow::datatypes::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, i256,
};
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use super::decimal::{self, Rounding};
use super::values::sql_value;
use crate::error::{ANSI_CONFIG, internal};
use crate::kernel::{Batch, Cell};

/// The kernel of `+`.
pub fn add(b: &Batch<'_>) -> Result<ArrayRef> {
    checked(
        b,
        "+",
        "try_add",
        &Ops {
            int: i128::checked_add,
            float: |x, y| x + y,
        },
    )
}

/// The kernel of `-`.
pub fn subtract(b: &Batch<'_>) -> Result<ArrayRef> {
    checked(
        b,
        "-",
        "try_subtract",
        &Ops {
            int: i128::checked_sub,
            float: |x, y| x - y,
        },
    )
}

/// The kernel of `*`.
pub fn multiply(b: &Batch<'_>) -> Result<ArrayRef> {
    checked(
        b,
        "*",
        "try_multiply",
        &Ops {
            int: i128::checked_mul,
            float: |x, y| x * y,
        },
    )
}

/// `try_add`, `try_subtract`, `try_multiply`: NULL in place of the error.
pub fn try_add(b: &Batch<'_>) -> Result<ArrayRef> {
    tried(b, add)
}
/// See [`try_add`].
pub fn try_subtract(b: &Batch<'_>) -> Result<ArrayRef> {
    tried(b, subtract)
}
/// See [`try_add`].
pub fn try_multiply(b: &Batch<'_>) -> Result<ArrayRef> {
    tried(b, multiply)
}
/// See [`try_add`].
pub fn try_divide(b: &Batch<'_>) -> Result<ArrayRef> {
    tried(b, divide)
}
/// See [`try_add`].
pub fn try_remainder(b: &Batch<'_>) -> Result<ArrayRef> {
    tried(b, remainder)
}

fn tried(b: &Batch<'_>, run: fn(&Batch<'_>) -> Result<ArrayRef>) -> Result<ArrayRef> {
    let env = crate::kernel::Env {
        ansi: false,
        tried: true,
        ..b.env.clone()
    };
    run(&Batch { env: &env, ..*b })
}

struct Ops {
    int: fn(i128, i128) -> Option<i128>,
    float: fn(f64, f64) -> f64,
}

fn checked(b: &Batch<'_>, symbol: &str, hint: &str, ops: &Ops) -> Result<ArrayRef> {
    match b.ret {
        DataType::Byte => ints::<Int8Type, i8>(b, symbol, hint, ops),
        DataType::Short => ints::<Int16Type, i16>(b, symbol, hint, ops),
        DataType::Integer => ints::<Int32Type, i32>(b, symbol, hint, ops),
        DataType::Long => ints::<Int64Type, i64>(b, symbol, hint, ops),
        DataType::Float => {
            let (x, y) = (b.f32(0), b.f32(1));
            b.rows(|r| {
                Ok(Some(
                    (ops.float)(f64::from(x.value(r)), f64::from(y.value(r))) as f32,
                ))
            })
        }
        DataType::Double => {
            let (x, y) = (b.f64(0), b.f64(1));
            b.rows(|r| Ok(Some((ops.float)(x.value(r), y.value(r)))))
        }
        DataType::Decimal { precision, scale } => decimals(b, symbol, *precision, *scale),
        _ => Err(internal(format!("no {symbol} for {}", b.ret.sql()))),
    }
}

fn ints<P, N>(b: &Batch<'_>, symbol: &str, hint: &str, ops: &Ops) -> Result<ArrayRef>
where
    P: ArrowPrimitiveType<Native = N>,
    N: Copy + Into<i128> + TryFrom<i128> + Cell,
{
    let (x, y) = (b.args[0].as_primitive::<P>(), b.args[1].as_primitive::<P>());
    b.rows(|r| {
        let exact = (ops.int)(x.value(r).into(), y.value(r).into());
        match exact.and_then(|v| N::try_from(v).ok()) {
            Some(v) => Ok(Some(v)),
            None if b.env.tried => Ok(None),
            // As Java's arithmetic does it.
            None if !b.env.ansi => Ok(exact.and_then(wrapped::<N>)),
            None => Err(match b.ret {
                DataType::Byte | DataType::Short => DeltaError::new("BINARY_ARITHMETIC_OVERFLOW")
                    .param("value1", sql_value(&b.args[0], r, b.ret, b.env.zone))
                    .param("symbol", symbol)
                    .param("value2", sql_value(&b.args[1], r, b.ret, b.env.zone))
                    .param("functionName", format!("`{hint}`")),
                _ => overflow(b.ret, hint),
            }),
        }
    })
}

/// `ARITHMETIC_OVERFLOW` of a type, with the function that tolerates it.
pub fn overflow(ty: &DataType, hint: &str) -> DeltaError {
    let word = match ty {
        DataType::Integer => "integer overflow",
        DataType::Long => "long overflow",
        _ => "Overflow",
    };
    let alternative = if hint.is_empty() {
        String::new()
    } else {
        format!(" Use '{hint}' to tolerate overflow and return NULL instead.")
    };
    DeltaError::new("ARITHMETIC_OVERFLOW")
        .param("message", word)
        .param("alternative", alternative)
        .param("config", ANSI_CONFIG)
}

fn scale_of(ty: &DataType) -> i32 {
    match ty {
        DataType::Decimal { scale, .. } => i32::from(*scale),
        _ => 0,
    }
}

fn decimals(b: &Batch<'_>, symbol: &str, precision: u8, scale: u8) -> Result<ArrayRef> {
    let (x, y) = (b.dec(0), b.dec(1));
    let (s1, s2, to) = (
        scale_of(&b.types[0]),
        scale_of(&b.types[1]),
        i32::from(scale),
    );
    b.rows(|r| {
        let (v, w) = (i256::from_i128(x.value(r)), i256::from_i128(y.value(r)));
        let (value, from) = match symbol {
            "*" => (v.wrapping_mul(w), s1 + s2),
            _ => {
                let common = s1.max(s2);
                let v = decimal::rescale(v, s1, common, Rounding::HalfUp);
                let w = decimal::rescale(w, s2, common, Rounding::HalfUp);
                (
                    if symbol == "+" {
                        v.wrapping_add(w)
                    } else {
                        v.wrapping_sub(w)
                    },
                    common,
                )
            }
        };
        fit_decimal(b, value, from, precision, to)
    })
}

/// The lowest bits of a number, as many as the type has.
fn wrapped<N: TryFrom<i128>>(exact: i128) -> Option<N> {
    let unused = i128::BITS - 8 * size_of::<N>() as u32;
    N::try_from((exact << unused) >> unused).ok()
}

fn fit_decimal(
    b: &Batch<'_>,
    value: i256,
    from: i32,
    precision: u8,
    to: i32,
) -> Result<Option<i128>> {
    let scaled = decimal::rescale(value, from, to, Rounding::HalfUp);
    match decimal::fit(scaled, precision) {
        Some(v) => Ok(Some(v)),
        None if !b.env.ansi => Ok(None),
        None => Err(decimal::out_of_range(
            &decimal::show(value, from),
            precision,
            to as u8,
        )),
    }
}

fn zero(b: &Batch<'_>, class: &'static str) -> Result<()> {
    if b.env.ansi {
        Err(DeltaError::new(class).param("config", ANSI_CONFIG))
    } else {
        Ok(())
    }
}

/// The kernel of `/`: DOUBLE or DECIMAL.
pub fn divide(b: &Batch<'_>) -> Result<ArrayRef> {
    match b.ret {
        DataType::Double => {
            let (x, y) = (b.f64(0), b.f64(1));
            b.rows(|r| {
                if y.value(r) == 0.0 {
                    zero(b, "DIVIDE_BY_ZERO")?;
                    return Ok(None);
                }
                Ok(Some(x.value(r) / y.value(r)))
            })
        }
        DataType::Decimal { precision, scale } => {
            let (x, y) = (b.dec(0), b.dec(1));
            let (s1, s2, to) = (
                scale_of(&b.types[0]),
                scale_of(&b.types[1]),
                i32::from(*scale),
            );
            b.rows(|r| {
                if y.value(r) == 0 {
                    zero(b, "DIVIDE_BY_ZERO")?;
                    return Ok(None);
                }
                let (v, w) = (i256::from_i128(x.value(r)), i256::from_i128(y.value(r)));
                // v / 10^s1 over w / 10^s2 at scale `to`: multiply by what is missing, then round once.
                let shift = to - s1 + s2;
                let (v, w) = if shift >= 0 {
                    (v.wrapping_mul(decimal::power(shift as u32)), w)
                } else {
                    (v, w.wrapping_mul(decimal::power(shift.unsigned_abs())))
                };
                let (v, w) = if w.is_negative() {
                    (v.wrapping_neg(), w.wrapping_neg())
                } else {
                    (v, w)
                };
                fit_decimal(
                    b,
                    decimal::divide(v, w, Rounding::HalfUp),
                    to,
                    *precision,
                    to,
                )
            })
        }
        _ => Err(internal(format!("no / for {}", b.ret.sql()))),
    }
}

/// The kernel of `div`: BIGINT.
pub fn integral_divide(b: &Batch<'_>) -> Result<ArrayRef> {
    let overflowed = || {
        if b.env.ansi {
            Err(div_overflow())
        } else {
            Ok(None)
        }
    };
    match &b.types[0] {
        DataType::Decimal { .. } => {
            let (x, y) = (b.dec(0), b.dec(1));
            let (s1, s2) = (scale_of(&b.types[0]), scale_of(&b.types[1]));
            b.rows(|r| {
                if y.value(r) == 0 {
                    zero(b, "DIVIDE_BY_ZERO")?;
                    return Ok(None);
                }
                let common = s1.max(s2);
                let v = decimal::rescale(i256::from_i128(x.value(r)), s1, common, Rounding::Down);
                let w = decimal::rescale(i256::from_i128(y.value(r)), s2, common, Rounding::Down);
                match v
                    .wrapping_div(w)
                    .to_i128()
                    .and_then(|v| i64::try_from(v).ok())
                {
                    Some(v) => Ok(Some(v)),
                    None => overflowed(),
                }
            })
        }
        DataType::DayTimeInterval { .. } => {
            let (x, y) = (b.day_time(0), b.day_time(1));
            divide_longs(b, |r| x.value(r), |r| y.value(r), overflowed)
        }
        DataType::YearMonthInterval { .. } => {
            let (x, y) = (b.year_month(0), b.year_month(1));
            divide_longs(b, |r| x.value(r).into(), |r| y.value(r).into(), overflowed)
        }
        _ => {
            let (x, y) = (b.i64(0), b.i64(1));
            divide_longs(b, |r| x.value(r), |r| y.value(r), overflowed)
        }
    }
}

fn divide_longs(
    b: &Batch<'_>,
    x: impl Fn(usize) -> i64,
    y: impl Fn(usize) -> i64,
    overflowed: impl Fn() -> Result<Option<i64>>,
) -> Result<ArrayRef> {
    b.rows(|r| {
        if y(r) == 0 {
            zero(b, "DIVIDE_BY_ZERO")?;
            return Ok(None);
        }
        match x(r).checked_div(y(r)) {
            Some(v) => Ok(Some(v)),
            None => overflowed(),
        }
    })
}

/// `div` names its own overflow.
fn div_overflow() -> DeltaError {
    DeltaError::new("ARITHMETIC_OVERFLOW")
        .param("message", "Overflow in integral divide")
        .param(
            "alternative",
            " Use 'try_divide' to tolerate overflow and return NULL instead.",
        )
        .param("config", ANSI_CONFIG)
}

/// The kernel of `%`.
pub fn remainder(b: &Batch<'_>) -> Result<ArrayRef> {
    modulo(b, false)
}

/// The kernel of `pmod`: the remainder made positive.
pub fn positive_modulo(b: &Batch<'_>) -> Result<ArrayRef> {
    modulo(b, true)
}

fn modulo(b: &Batch<'_>, positive: bool) -> Result<ArrayRef> {
    fn whole<P, N>(b: &Batch<'_>, positive: bool) -> Result<ArrayRef>
    where
        P: ArrowPrimitiveType<Native = N>,
        N: Copy + Into<i128> + TryFrom<i128> + Cell,
    {
        let (x, y) = (b.args[0].as_primitive::<P>(), b.args[1].as_primitive::<P>());
        b.rows(|r| {
            let (v, w): (i128, i128) = (x.value(r).into(), y.value(r).into());
            if w == 0 {
                zero(b, "REMAINDER_BY_ZERO")?;
                return Ok(None);
            }
            let rest = v % w;
            let rest = if positive && rest < 0 {
                (rest + w) % w
            } else {
                rest
            };
            Ok(N::try_from(rest).ok())
        })
    }
    fn float(v: f64, w: f64, positive: bool) -> f64 {
        let rest = v % w;
        if positive && rest < 0.0 {
            (rest + w) % w
        } else {
            rest
        }
    }
    match b.ret {
        DataType::Byte => whole::<Int8Type, i8>(b, positive),
        DataType::Short => whole::<Int16Type, i16>(b, positive),
        DataType::Integer => whole::<Int32Type, i32>(b, positive),
        DataType::Long => whole::<Int64Type, i64>(b, positive),
        DataType::Float => {
            let (x, y) = (b.f32(0), b.f32(1));
            b.rows(|r| {
                if y.value(r) == 0.0 {
                    zero(b, "REMAINDER_BY_ZERO")?;
                    return Ok(None);
                }
                Ok(Some(
                    float(f64::from(x.value(r)), f64::from(y.value(r)), positive) as f32,
                ))
            })
        }
        DataType::Double => {
            let (x, y) = (b.f64(0), b.f64(1));
            b.rows(|r| {
                if y.value(r) == 0.0 {
                    zero(b, "REMAINDER_BY_ZERO")?;
                    return Ok(None);
                }
                Ok(Some(float(x.value(r), y.value(r), positive)))
            })
        }
        DataType::Decimal { precision, scale } => {
            let (x, y) = (b.dec(0), b.dec(1));
            let (s1, s2) = (scale_of(&b.types[0]), scale_of(&b.types[1]));
            b.rows(|r| {
                if y.value(r) == 0 {
                    zero(b, "REMAINDER_BY_ZERO")?;
                    return Ok(None);
                }
                let common = s1.max(s2);
                let v = decimal::rescale(i256::from_i128(x.value(r)), s1, common, Rounding::HalfUp);
                let w = decimal::rescale(i256::from_i128(y.value(r)), s2, common, Rounding::HalfUp);
                let mut rest = v.wrapping_rem(w);
                if positive && rest.is_negative() {
                    rest = rest.wrapping_add(w).wrapping_rem(w);
                }
                fit_decimal(b, rest, common, *precision, i32::from(*scale))
            })
        }
        _ => Err(internal(format!("no % for {}", b.ret.sql()))),
    }
}

/// The kernel of unary minus and `negative`.
pub fn negate(b: &Batch<'_>) -> Result<ArrayRef> {
    fn whole<P, N>(b: &Batch<'_>) -> Result<ArrayRef>
    where
        P: ArrowPrimitiveType<Native = N>,
        N: Copy + Into<i128> + TryFrom<i128> + Cell,
    {
        let x = b.args[0].as_primitive::<P>();
        b.rows(|r| match N::try_from(-x.value(r).into()) {
            Ok(v) => Ok(Some(v)),
            Err(_) if !b.env.ansi => Ok(Some(x.value(r))),
            Err(_) => Err(overflow(b.ret, "")),
        })
    }
    match b.ret {
        DataType::Byte => whole::<Int8Type, i8>(b),
        DataType::Short => whole::<Int16Type, i16>(b),
        DataType::Integer => whole::<Int32Type, i32>(b),
        DataType::Long => whole::<Int64Type, i64>(b),
        DataType::Float => Ok(unary::<Float32Type>(&b.args[0], |v| -v)),
        DataType::Double => Ok(unary::<Float64Type>(&b.args[0], |v| -v)),
        DataType::Decimal { .. } => b.rows(|r| Ok(Some(-b.dec(0).value(r)))),
        DataType::YearMonthInterval { .. } => {
            b.rows(|r| Ok(b.year_month(0).value(r).checked_neg()))
        }
        DataType::DayTimeInterval { .. } => b.rows(|r| Ok(b.day_time(0).value(r).checked_neg())),
        _ => Err(internal(format!("no minus for {}", b.ret.sql()))),
    }
}

fn unary<P: ArrowPrimitiveType>(array: &ArrayRef, f: impl Fn(P::Native) -> P::Native) -> ArrayRef {
    let out: PrimitiveArray<P> = array.as_primitive::<P>().unary(f);
    Arc::new(out)
}

/// The kernel of `abs`.
pub fn abs(b: &Batch<'_>) -> Result<ArrayRef> {
    fn whole<P, N>(b: &Batch<'_>) -> Result<ArrayRef>
    where
        P: ArrowPrimitiveType<Native = N>,
        N: Copy + Into<i128> + TryFrom<i128> + Cell,
    {
        let x = b.args[0].as_primitive::<P>();
        b.rows(|r| match N::try_from(x.value(r).into().abs()) {
            Ok(v) => Ok(Some(v)),
            Err(_) if !b.env.ansi => Ok(Some(x.value(r))),
            Err(_) => Err(overflow(b.ret, "")),
        })
    }
    match b.ret {
        DataType::Byte => whole::<Int8Type, i8>(b),
        DataType::Short => whole::<Int16Type, i16>(b),
        DataType::Integer => whole::<Int32Type, i32>(b),
        DataType::Long => whole::<Int64Type, i64>(b),
        DataType::Float => Ok(unary::<Float32Type>(&b.args[0], f32::abs)),
        DataType::Double => Ok(unary::<Float64Type>(&b.args[0], f64::abs)),
        DataType::Decimal { .. } => Ok(unary::<Decimal128Type>(&b.args[0], i128::abs)),
        DataType::YearMonthInterval { .. } => {
            b.rows(|r| Ok(b.year_month(0).value(r).checked_abs()))
        }
        DataType::DayTimeInterval { .. } => b.rows(|r| Ok(b.day_time(0).value(r).checked_abs())),
        _ => Err(internal(format!("no abs for {}", b.ret.sql()))),
    }
}

/// The kernel of a sum that was computed in DECIMAL and must fit BIGINT.
pub fn sum_to_long(b: &Batch<'_>) -> Result<ArrayRef> {
    let x = b.dec(0);
    b.rows(|r| match i64::try_from(x.value(r)) {
        Ok(v) => Ok(Some(v)),
        Err(_) if !b.env.ansi => Ok(Some(x.value(r) as i64)),
        Err(_) => Err(overflow(&DataType::Long, "try_sum")),
    })
}

/// The kernel of a sum of decimals that must fit its type.
pub fn sum_to_decimal(b: &Batch<'_>) -> Result<ArrayRef> {
    let DataType::Decimal { precision, scale } = b.ret else {
        return Err(internal("a sum that is no decimal"));
    };
    let x = b.dec(0);
    b.rows(|r| {
        fit_decimal(
            b,
            i256::from_i128(x.value(r)),
            i32::from(*scale),
            *precision,
            i32::from(*scale),
        )
    })
}

/// `& | ^`.
pub fn bit_and(b: &Batch<'_>) -> Result<ArrayRef> {
    bits(b, |x, y| x & y)
}
/// See [`bit_and`].
pub fn bit_or(b: &Batch<'_>) -> Result<ArrayRef> {
    bits(b, |x, y| x | y)
}
/// See [`bit_and`].
pub fn bit_xor(b: &Batch<'_>) -> Result<ArrayRef> {
    bits(b, |x, y| x ^ y)
}
/// `~`.
pub fn bit_not(b: &Batch<'_>) -> Result<ArrayRef> {
    match b.ret {
        DataType::Byte => Ok(unary::<Int8Type>(&b.args[0], |v| !v)),
        DataType::Short => Ok(unary::<Int16Type>(&b.args[0], |v| !v)),
        DataType::Integer => Ok(unary::<Int32Type>(&b.args[0], |v| !v)),
        _ => Ok(unary::<Int64Type>(&b.args[0], |v| !v)),
    }
}

fn bits(b: &Batch<'_>, f: fn(i64, i64) -> i64) -> Result<ArrayRef> {
    match b.ret {
        DataType::Byte => b.rows(|r| {
            Ok(Some(
                f(b.i8(0).value(r).into(), b.i8(1).value(r).into()) as i8
            ))
        }),
        DataType::Short => b.rows(|r| {
            Ok(Some(
                f(b.i16(0).value(r).into(), b.i16(1).value(r).into()) as i16
            ))
        }),
        DataType::Integer => b.rows(|r| {
            Ok(Some(
                f(b.i32(0).value(r).into(), b.i32(1).value(r).into()) as i32
            ))
        }),
        _ => b.rows(|r| Ok(Some(f(b.i64(0).value(r), b.i64(1).value(r))))),
    }
}

/// `shiftleft`, `shiftright`, `shiftrightunsigned`.
pub fn shift_left(b: &Batch<'_>) -> Result<ArrayRef> {
    shift(b, |v, n| v.wrapping_shl(n), |v, n| v.wrapping_shl(n))
}
/// See [`shift_left`].
pub fn shift_right(b: &Batch<'_>) -> Result<ArrayRef> {
    shift(b, |v, n| v.wrapping_shr(n), |v, n| v.wrapping_shr(n))
}
/// See [`shift_left`].
pub fn shift_right_unsigned(b: &Batch<'_>) -> Result<ArrayRef> {
    shift(
        b,
        |v, n| (v as u32).wrapping_shr(n) as i32,
        |v, n| (v as u64).wrapping_shr(n) as i64,
    )
}

fn shift(b: &Batch<'_>, int: fn(i32, u32) -> i32, long: fn(i64, u32) -> i64) -> Result<ArrayRef> {
    let n = b.i32(1);
    match b.ret {
        DataType::Long => b.rows(|r| Ok(Some(long(b.i64(0).value(r), n.value(r) as u32)))),
        _ => b.rows(|r| Ok(Some(int(b.i32(0).value(r), n.value(r) as u32)))),
    }
}
