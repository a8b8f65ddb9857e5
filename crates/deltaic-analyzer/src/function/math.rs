//! Functions of numbers.

use deltaic_protocol::Result;
use deltaic_protocol::schema::DataType;

use super::call::{Call, Entry, Nulls, P, capital, cast, entry};
use super::operator;
use crate::kernel::Run;
use crate::kernels::{arithmetic, math};
use crate::node::{Node, Op};
use crate::types::{is_ansi_interval, is_decimal, is_float, is_integral};

use DataType::{Byte, Decimal, Double, Integer, Long, Short};

fn double(c: Call<'_>, name: &'static str, run: Run) -> Result<Node> {
    Ok(capital(c.coerced(&[P::Double])?.kernel(
        name,
        run,
        Double,
        Nulls::Args,
    )))
}

fn logarithm(c: Call<'_>, name: &'static str, run: Run) -> Result<Node> {
    Ok(c.coerced(&[P::Double])?
        .kernel(name, run, Double, Nulls::Always))
}

/// The functions.
pub const TABLE: &[Entry] = &[
    entry("abs", 1, 1, |c| unary(c, "abs", arithmetic::abs)),
    entry("negative", 1, 1, |c| unary(c, "negate", arithmetic::negate)),
    entry("positive", 1, 1, |c| {
        let c = c.coerced(&[P::Num])?;
        let by = c.arg(0);
        Ok(super::call::shown_as(
            c.replaced(by),
            crate::node::Shown::Template("(+ {0})"),
        ))
    }),
    entry("round", 1, 2, |c| round(c, "round", math::round)),
    entry("bround", 1, 2, |c| round(c, "bround", math::bround)),
    entry("ceil", 1, 2, |c| Ok(capital(ceil(c, "ceil", math::ceil)?))),
    entry("ceiling", 1, 2, |c| ceil(c, "ceil", math::ceil)),
    entry("floor", 1, 2, |c| {
        Ok(capital(ceil(c, "floor", math::floor)?))
    }),
    entry("sqrt", 1, 1, |c| double(c, "sqrt", math::sqrt)),
    entry("cbrt", 1, 1, |c| double(c, "cbrt", math::cbrt)),
    entry("exp", 1, 1, |c| double(c, "exp", math::exp)),
    entry("expm1", 1, 1, |c| double(c, "expm1", math::expm1)),
    entry("sin", 1, 1, |c| double(c, "sin", math::sin)),
    entry("cos", 1, 1, |c| double(c, "cos", math::cos)),
    entry("tan", 1, 1, |c| double(c, "tan", math::tan)),
    entry("cot", 1, 1, |c| double(c, "cot", math::cot)),
    entry("sec", 1, 1, |c| double(c, "sec", math::sec)),
    entry("csc", 1, 1, |c| double(c, "csc", math::csc)),
    entry("asin", 1, 1, |c| double(c, "asin", math::asin)),
    entry("acos", 1, 1, |c| double(c, "acos", math::acos)),
    entry("atan", 1, 1, |c| double(c, "atan", math::atan)),
    entry("sinh", 1, 1, |c| double(c, "sinh", math::sinh)),
    entry("cosh", 1, 1, |c| double(c, "cosh", math::cosh)),
    entry("tanh", 1, 1, |c| double(c, "tanh", math::tanh)),
    entry("asinh", 1, 1, |c| double(c, "asinh", math::asinh)),
    entry("acosh", 1, 1, |c| double(c, "acosh", math::acosh)),
    entry("atanh", 1, 1, |c| double(c, "atanh", math::atanh)),
    entry("degrees", 1, 1, |c| double(c, "degrees", math::degrees)),
    entry("radians", 1, 1, |c| double(c, "radians", math::radians)),
    entry("signum", 1, 1, |c| double(c, "signum", math::signum)),
    entry("sign", 1, 1, |c| {
        Ok(c.coerced(&[P::Double])?
            .kernel("signum", math::signum, Double, Nulls::Args))
    }),
    entry("rint", 1, 1, |c| {
        Ok(c.coerced(&[P::Double])?
            .kernel("rint", math::rint, Double, Nulls::Args))
    }),
    entry("atan2", 2, 2, |c| double(c, "atan2", math::atan2)),
    entry("hypot", 2, 2, |c| double(c, "hypot", math::hypot)),
    entry("power", 2, 2, |c| double(c, "pow", math::pow)),
    entry("pow", 2, 2, |c| {
        Ok(c.coerced(&[P::Double])?
            .kernel("pow", math::pow, Double, Nulls::Args))
    }),
    entry("ln", 1, 1, |c| logarithm(c, "ln", math::ln)),
    entry("log10", 1, 1, |c| {
        Ok(capital(logarithm(c, "log10", math::log10)?))
    }),
    entry("log2", 1, 1, |c| {
        Ok(capital(logarithm(c, "log2", math::log2)?))
    }),
    entry("log1p", 1, 1, |c| {
        Ok(capital(logarithm(c, "log1p", math::log1p)?))
    }),
    entry("log", 1, 2, |c| {
        if c.args.len() == 1 {
            return logarithm(c.inner("ln", c.args.clone()), "ln", math::ln);
        }
        Ok(capital(logarithm(c, "log", math::log)?))
    }),
    entry("pi", 0, 0, |c| {
        Ok(capital(constant(c, std::f64::consts::PI)))
    }),
    entry("e", 0, 0, |c| Ok(capital(constant(c, std::f64::consts::E)))),
    entry("factorial", 1, 1, |c| {
        Ok(c.coerced(&[P::Int])?
            .kernel("factorial", math::factorial, Long, Nulls::Always))
    }),
    entry("mod", 2, 2, |c| {
        operator::arithmetic(Op::Remainder, c.arg(0), c.arg(1), &c.env, c.options)
    }),
    entry("div", 2, 2, |c| {
        operator::arithmetic(Op::IntegralDivide, c.arg(0), c.arg(1), &c.env, c.options)
    }),
    entry("pmod", 2, 2, |c| {
        let plain = operator::arithmetic(Op::Remainder, c.arg(0), c.arg(1), &c.env, c.options)?;
        let crate::node::Kind::Binary { left, right, .. } = plain.kind else {
            return Err(crate::error::internal("a remainder that is none"));
        };
        let c = c.inner("pmod", vec![*left, *right]);
        Ok(c.fallible("pmod", arithmetic::positive_modulo, plain.ty, Nulls::Args))
    }),
    entry("try_add", 2, 2, |c| {
        tried(c, Op::Add, "try_add", arithmetic::try_add)
    }),
    entry("try_subtract", 2, 2, |c| {
        tried(c, Op::Subtract, "try_subtract", arithmetic::try_subtract)
    }),
    entry("try_multiply", 2, 2, |c| {
        tried(c, Op::Multiply, "try_multiply", arithmetic::try_multiply)
    }),
    entry("try_divide", 2, 2, |c| {
        tried(c, Op::Divide, "try_divide", arithmetic::try_divide)
    }),
    entry("try_mod", 2, 2, |c| {
        tried(c, Op::Remainder, "try_mod", arithmetic::try_remainder)
    }),
    entry("width_bucket", 4, 4, |c| {
        let c = c.coerced(&[P::Double, P::Double, P::Double, P::Long])?;
        Ok(c.kernel("width_bucket", math::width_bucket, Long, Nulls::Always))
    }),
    entry("bit_count", 1, 1, |c| {
        Ok(c.kernel("bit_count", math::bit_count, Integer, Nulls::Args))
    }),
    entry("bit_get", 2, 2, bit_get),
    entry("getbit", 2, 2, bit_get),
    entry("shiftleft", 2, 2, |c| {
        shift(c, "shift_left", arithmetic::shift_left)
    }),
    entry("shiftright", 2, 2, |c| {
        shift(c, "shift_right", arithmetic::shift_right)
    }),
    entry("shiftrightunsigned", 2, 2, |c| {
        shift(c, "shift_right_unsigned", arithmetic::shift_right_unsigned)
    }),
];

fn constant(c: Call<'_>, v: f64) -> Node {
    c.replaced(Node::literal(
        datafusion::common::ScalarValue::Float64(Some(v)),
        Double,
    ))
}

fn unary(c: Call<'_>, name: &'static str, run: Run) -> Result<Node> {
    let c = if is_ansi_interval(&c.args[0].ty) {
        c
    } else {
        c.coerced(&[P::Num])?
    };
    let ty = c.args[0].ty.clone();
    let safe = is_float(&ty) || is_decimal(&ty);
    Ok(if safe {
        c.kernel(name, run, ty, Nulls::Args)
    } else {
        c.fallible(name, run, ty, Nulls::Args)
    })
}

fn tried(c: Call<'_>, op: Op, name: &'static str, run: Run) -> Result<Node> {
    let plain = operator::arithmetic(op, c.arg(0), c.arg(1), &c.env, c.options)?;
    let crate::node::Kind::Binary { left, right, .. } = plain.kind else {
        return Ok(c.replaced(plain));
    };
    let c = c.inner(name, vec![*left, *right]);
    Ok(c.kernel(name, run, plain.ty, Nulls::Always))
}

fn scale_argument(c: &Call<'_>) -> i32 {
    c.args
        .get(1)
        .and_then(|a| crate::fold::evaluate(a).ok())
        .and_then(|v| crate::fold::whole(&v))
        .map_or(0, |v| v as i32)
}

/// `round` keeps the type of whole numbers and doubles; decimals lose digits.
fn round(c: Call<'_>, name: &'static str, run: Run) -> Result<Node> {
    let c = c
        .or_default(2, || Node::int(0))
        .coerced(&[P::Num, P::Int])?;
    let digits = scale_argument(&c);
    let ty = match &c.args[0].ty {
        Decimal { precision, scale } => {
            let (p, s) = (i32::from(*precision), i32::from(*scale));
            let whole = p - s + 1;
            if digits < 0 {
                Decimal {
                    precision: whole.max(-digits + 1).min(38) as u8,
                    scale: 0,
                }
            } else {
                let s = s.min(digits);
                Decimal {
                    precision: (whole + s).min(38) as u8,
                    scale: s as u8,
                }
            }
        }
        other => other.clone(),
    };
    Ok(c.fallible(name, run, ty, Nulls::Args))
}

/// `ceil(x)` gives BIGINT of doubles and a scale of 0 of decimals; with digits, a decimal.
fn ceil(c: Call<'_>, name: &'static str, run: Run) -> Result<Node> {
    if c.args.len() == 2 {
        let mut c = c.coerced(&[P::Num, P::Int])?;
        let digits = scale_argument(&c);
        let (p, s) = crate::types::decimal::for_type(&c.args[0].ty).unwrap_or((30, 15));
        let env = c.env.clone();
        let first = c.args.remove(0);
        c.args.insert(
            0,
            cast(
                first,
                &Decimal {
                    precision: p,
                    scale: s,
                },
                &env,
            ),
        );
        let whole = i32::from(p) - i32::from(s) + 1;
        let ty = if digits < 0 {
            Decimal {
                precision: whole.max(-digits + 1).min(38) as u8,
                scale: 0,
            }
        } else {
            let scale = i32::from(s).min(digits);
            Decimal {
                precision: (whole + scale).min(38) as u8,
                scale: scale as u8,
            }
        };
        return Ok(c.fallible(name, run, ty, Nulls::Args));
    }
    let c = c.coerced(&[P::Num])?;
    let ty = match &c.args[0].ty {
        Decimal { precision, scale } if *scale == 0 => Decimal {
            precision: *precision,
            scale: 0,
        },
        Decimal { precision, scale } => Decimal {
            precision: precision - scale + 1,
            scale: 0,
        },
        _ => Long,
    };
    let mut c = c;
    if is_integral(&c.args[0].ty) {
        let env = c.env.clone();
        let first = c.args.remove(0);
        c.args.insert(0, cast(first, &Long, &env));
    }
    Ok(c.kernel(name, run, ty, Nulls::Args))
}

fn bit_get(c: Call<'_>) -> Result<Node> {
    Ok(c.coerced(&[P::Integral, P::Int])?
        .fallible("bit_get", math::bit_get, Byte, Nulls::Args))
}

fn shift(mut c: Call<'_>, name: &'static str, run: Run) -> Result<Node> {
    if matches!(c.args[0].ty, Byte | Short) {
        let env = c.env.clone();
        let first = c.args.remove(0);
        c.args.insert(0, cast(first, &Integer, &env));
    }
    let c = c.coerced(&[P::Integral, P::Int])?;
    let ty = c.args[0].ty.clone();
    Ok(c.kernel(name, run, ty, Nulls::Args))
}
