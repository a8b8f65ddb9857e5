//! Functions that choose between values.

use deltaic_protocol::Result;
use deltaic_protocol::schema::DataType;

use super::call::{Call, Entry, MANY, Nulls, P, cast, entry};
use super::operator;
use crate::kernels::misc;
use crate::node::{Imp, Kind, Node, Op, Shown};

use DataType::{Boolean, Double};

/// The functions.
pub const TABLE: &[Entry] = &[
    entry("coalesce", 1, MANY, coalesce),
    entry("nvl", 2, 2, nvl),
    entry("ifnull", 2, 2, nvl),
    entry("nvl2", 3, 3, |c| {
        let by = operator::case(
            vec![(c.arg(0).is_not_null(), c.arg(1))],
            Some(c.arg(2)),
            true,
            &c.env,
            c.options,
        )?;
        Ok(c.replaced(by))
    }),
    entry("nullif", 2, 2, |c| {
        let equal = operator::comparison(Op::Equal, c.arg(0), c.arg(1), &c.env, c.options)?;
        let (value, ty) = (c.arg(0), c.args[0].ty.clone());
        let null = Node::literal(datafusion::common::ScalarValue::Null, ty);
        let by = operator::case(vec![(equal, null)], Some(value), true, &c.env, c.options)?;
        Ok(c.replaced(by))
    }),
    entry("nullifzero", 1, 1, |c| {
        let equal = operator::comparison(Op::Equal, c.arg(0), Node::int(0), &c.env, c.options)?;
        let null = Node::literal(datafusion::common::ScalarValue::Null, c.args[0].ty.clone());
        let by = operator::case(vec![(equal, null)], Some(c.arg(0)), true, &c.env, c.options)?;
        Ok(c.replaced(by))
    }),
    entry("zeroifnull", 1, 1, |c| {
        let by = nvl(c.inner("nvl", vec![c.arg(0), Node::int(0)]))?;
        Ok(c.replaced(by))
    }),
    entry("if", 3, 3, |c| {
        operator::case(
            vec![(c.arg(0), c.arg(1))],
            Some(c.arg(2)),
            true,
            &c.env,
            c.options,
        )
    }),
    entry("iff", 3, 3, |c| {
        operator::case(
            vec![(c.arg(0), c.arg(1))],
            Some(c.arg(2)),
            true,
            &c.env,
            c.options,
        )
    }),
    entry("isnull", 1, 1, |c| Ok(c.arg(0).is_null())),
    entry("isnotnull", 1, 1, |c| Ok(c.arg(0).is_not_null())),
    entry("not", 1, 1, |c| Ok(c.coerced(&[P::Bool])?.arg(0).negated())),
    entry("equal_null", 2, 2, |c| {
        let by = operator::comparison(Op::NullSafeEqual, c.arg(0), c.arg(1), &c.env, c.options)?;
        Ok(c.replaced(by))
    }),
    entry("between", 3, 3, |c| {
        let low = operator::comparison(Op::GreaterOrEqual, c.arg(0), c.arg(1), &c.env, c.options)?;
        let high = operator::comparison(Op::LessOrEqual, c.arg(0), c.arg(2), &c.env, c.options)?;
        let by = operator::logical(Op::And, low, high, &c.env, c.options)?;
        Ok(c.replaced(by))
    }),
    entry("greatest", 2, MANY, |c| {
        extreme(c, "greatest", misc::greatest)
    }),
    entry("least", 2, MANY, |c| extreme(c, "least", misc::least)),
    entry("isnan", 1, 1, |c| {
        let param = if c.args[0].ty == DataType::Float {
            P::Any
        } else {
            P::Double
        };
        Ok(c.coerced(&[param])?
            .kernel("is_nan", misc::is_nan, Boolean, Nulls::Never))
    }),
    entry("nanvl", 2, 2, |mut c| {
        let env = c.env.clone();
        let floats = c.args.iter().all(|a| a.ty == DataType::Float);
        let ty = if floats { DataType::Float } else { Double };
        let args = std::mem::take(&mut c.args);
        c.args = args.into_iter().map(|a| cast(a, &ty, &env)).collect();
        Ok(c.kernel("nanvl", misc::nanvl, ty, Nulls::Args))
    }),
];

/// `coalesce(a, b, …)`.
pub fn coalesce(c: Call<'_>) -> Result<Node> {
    let c = c.unified()?;
    let nullable = c.args.iter().all(|a| a.nullable);
    let ty = c.args[0].ty.clone();
    let shown = Shown::Call(c.name.to_owned());
    let imp = Imp::Native(|args| datafusion::functions::core::coalesce().call(args));
    Ok(Node::new(
        Kind::Call {
            shown,
            args: c.args,
            imp,
        },
        ty,
        nullable,
    ))
}

fn nvl(c: Call<'_>) -> Result<Node> {
    let by = coalesce(c.inner("coalesce", c.args.clone()))?;
    Ok(c.replaced(by))
}

fn extreme(c: Call<'_>, name: &'static str, run: crate::kernel::Run) -> Result<Node> {
    let c = c.unified()?;
    let ty = c.args[0].ty.clone();
    let all = c.args.iter().all(|a| a.nullable);
    Ok(c.kernel(
        name,
        run,
        ty,
        if all { Nulls::Always } else { Nulls::Never },
    ))
}
