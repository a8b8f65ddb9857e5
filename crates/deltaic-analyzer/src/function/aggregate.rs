//! Aggregate and ranking functions: what they take and give. How DataFusion computes them is the planner's business.

use std::sync::Arc;

use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use super::call::{Call, MANY, P, cast, wrong_arguments};
use crate::error::quoted;
use crate::kernel::Env;
use crate::names::quoted_sql;
use crate::node::{Aggregate, Kind, Node, SortKey};
use crate::options::AnalyzerOptions;
use crate::types::{
    array_of, decimal, is_ansi_interval, is_decimal, is_integral, is_numeric, is_orderable, shown,
};

use DataType::{Boolean, Double, Integer, Long, String as Str};

/// What the clause of a call adds to its arguments.
#[derive(Default)]
pub struct Clauses {
    /// `DISTINCT`.
    pub distinct: bool,
    /// `FILTER (WHERE …)`.
    pub filter: Option<Node>,
    /// `IGNORE NULLS`.
    pub ignore_nulls: bool,
    /// `WITHIN GROUP (ORDER BY …)`.
    pub order: Vec<SortKey>,
}

struct Spec {
    name: &'static str,
    /// The implementation; several names share one.
    function: &'static str,
    /// Printed in its place; empty for the name as called.
    shown: &'static str,
    least: usize,
    most: usize,
    params: &'static [P],
    kind: Type,
}

#[derive(Clone, Copy, PartialEq)]
enum Type {
    Fixed(Fixed),
    /// The type of the first argument.
    Same,
    Sum,
    Average,
    List,
    Percentile,
}

#[derive(Clone, Copy, PartialEq)]
enum Fixed {
    Double,
    Boolean,
    String,
    Integer,
    /// BIGINT that is never NULL.
    Count,
}

const fn s(
    name: &'static str,
    function: &'static str,
    least: usize,
    most: usize,
    params: &'static [P],
    kind: Type,
) -> Spec {
    Spec {
        name,
        function,
        shown: "",
        least,
        most,
        params,
        kind,
    }
}

use Type::{Average, Fixed as F, List, Percentile, Same, Sum};

const TABLE: &[Spec] = &[
    s("count", "count", 1, MANY, &[P::Any], F(Fixed::Count)),
    s("count_if", "count_if", 1, 1, &[P::Bool], F(Fixed::Count)),
    s("sum", "sum", 1, 1, &[P::Any], Sum),
    s("try_sum", "try_sum", 1, 1, &[P::Any], Sum),
    s("avg", "avg", 1, 1, &[P::Any], Average),
    s("mean", "avg", 1, 1, &[P::Any], Average),
    s("try_avg", "avg", 1, 1, &[P::Any], Average),
    s("min", "min", 1, 1, &[P::Any], Same),
    s("max", "max", 1, 1, &[P::Any], Same),
    s("first", "first", 1, 2, &[P::Any, P::Bool], Same),
    s("first_value", "first", 1, 2, &[P::Any, P::Bool], Same),
    s("any_value", "first", 1, 2, &[P::Any, P::Bool], Same),
    s("last", "last", 1, 2, &[P::Any, P::Bool], Same),
    s("last_value", "last", 1, 2, &[P::Any, P::Bool], Same),
    s("collect_list", "collect_list", 1, 1, &[P::Any], List),
    Spec {
        name: "array_agg",
        function: "collect_list",
        shown: "collect_list",
        least: 1,
        most: 1,
        params: &[P::Any],
        kind: List,
    },
    s("collect_set", "collect_set", 1, 1, &[P::Any], List),
    s(
        "approx_count_distinct",
        "approx_count_distinct",
        1,
        2,
        &[P::Any, P::Double],
        F(Fixed::Count),
    ),
    s("stddev", "stddev", 1, 1, &[P::Double], F(Fixed::Double)),
    s("std", "stddev", 1, 1, &[P::Double], F(Fixed::Double)),
    s(
        "stddev_samp",
        "stddev",
        1,
        1,
        &[P::Double],
        F(Fixed::Double),
    ),
    s(
        "stddev_pop",
        "stddev_pop",
        1,
        1,
        &[P::Double],
        F(Fixed::Double),
    ),
    s("variance", "variance", 1, 1, &[P::Double], F(Fixed::Double)),
    s("var_samp", "variance", 1, 1, &[P::Double], F(Fixed::Double)),
    s("var_pop", "var_pop", 1, 1, &[P::Double], F(Fixed::Double)),
    s("corr", "corr", 2, 2, &[P::Double], F(Fixed::Double)),
    s(
        "covar_samp",
        "covar_samp",
        2,
        2,
        &[P::Double],
        F(Fixed::Double),
    ),
    s(
        "covar_pop",
        "covar_pop",
        2,
        2,
        &[P::Double],
        F(Fixed::Double),
    ),
    s("bool_and", "bool_and", 1, 1, &[P::Bool], F(Fixed::Boolean)),
    s("every", "bool_and", 1, 1, &[P::Bool], F(Fixed::Boolean)),
    s("bool_or", "bool_or", 1, 1, &[P::Bool], F(Fixed::Boolean)),
    s("some", "bool_or", 1, 1, &[P::Bool], F(Fixed::Boolean)),
    s("any", "bool_or", 1, 1, &[P::Bool], F(Fixed::Boolean)),
    s("bit_and", "bit_and", 1, 1, &[P::Integral], Same),
    s("bit_or", "bit_or", 1, 1, &[P::Integral], Same),
    s("bit_xor", "bit_xor", 1, 1, &[P::Integral], Same),
    s("max_by", "max_by", 2, 2, &[P::Any, P::Any], Same),
    s("min_by", "min_by", 2, 2, &[P::Any, P::Any], Same),
    s("median", "median", 1, 1, &[P::Double], F(Fixed::Double)),
    s(
        "percentile",
        "percentile",
        2,
        2,
        &[P::Double, P::Double],
        Percentile,
    ),
    s(
        "percentile_approx",
        "percentile_approx",
        2,
        3,
        &[P::Num, P::Double, P::Int],
        Same,
    ),
    s(
        "approx_percentile",
        "percentile_approx",
        2,
        3,
        &[P::Num, P::Double, P::Int],
        Same,
    ),
    s(
        "listagg",
        "string_agg",
        1,
        2,
        &[P::Str, P::Str],
        F(Fixed::String),
    ),
    s(
        "string_agg",
        "string_agg",
        1,
        2,
        &[P::Str, P::Str],
        F(Fixed::String),
    ),
    s("grouping", "grouping", 1, 1, &[P::Any], F(Fixed::Integer)),
    s(
        "grouping_id",
        "grouping_id",
        0,
        MANY,
        &[P::Any],
        F(Fixed::Count),
    ),
];

const RANKING: &[Spec] = &[
    s("row_number", "row_number", 0, 0, &[], F(Fixed::Integer)),
    Spec {
        name: "rank",
        function: "rank",
        shown: "RANK",
        least: 0,
        most: MANY,
        params: &[P::Any],
        kind: F(Fixed::Integer),
    },
    Spec {
        name: "dense_rank",
        function: "dense_rank",
        shown: "DENSE_RANK",
        least: 0,
        most: MANY,
        params: &[P::Any],
        kind: F(Fixed::Integer),
    },
    Spec {
        name: "percent_rank",
        function: "percent_rank",
        shown: "PERCENT_RANK",
        least: 0,
        most: MANY,
        params: &[P::Any],
        kind: F(Fixed::Double),
    },
    s("cume_dist", "cume_dist", 0, 0, &[], F(Fixed::Double)),
    s("ntile", "ntile", 0, 1, &[P::Int], F(Fixed::Integer)),
    s("lag", "lag", 1, 3, &[P::Any, P::Int, P::Any], Same),
    s("lead", "lead", 1, 3, &[P::Any, P::Int, P::Any], Same),
    s("nth_value", "nth_value", 2, 2, &[P::Any, P::Int], Same),
];

/// Is there an aggregate function of this name?
pub fn is_aggregate(name: &str) -> bool {
    TABLE.iter().any(|e| e.name == name)
}

/// Is there a function of this name that only a window makes sense of?
pub fn is_ranking(name: &str) -> bool {
    RANKING.iter().any(|e| e.name == name)
}

/// The call of an aggregate function.
pub fn aggregate(c: Call<'_>, clauses: Clauses) -> Result<Node> {
    let Some(spec) = TABLE.iter().find(|e| e.name == c.name) else {
        return Err(crate::error::internal("no such aggregate"));
    };
    made(spec, c, clauses)
}

/// The call of a ranking function.
pub fn ranking(c: Call<'_>, clauses: Clauses) -> Result<Node> {
    let Some(spec) = RANKING.iter().find(|e| e.name == c.name) else {
        return Err(crate::error::internal("no such function"));
    };
    made(spec, c, clauses)
}

fn made(spec: &'static Spec, c: Call<'_>, clauses: Clauses) -> Result<Node> {
    let (name, given) = (c.name.to_owned(), c.args.len());
    if given < spec.least || given > spec.most {
        return Err(wrong_arguments(&name, spec.least, spec.most, given));
    }
    let env = Arc::clone(&c.env);
    let options = c.options;
    let mut c = c.coerced(spec.params)?;
    let first = c.args.first().map_or(DataType::Void, |a| a.ty.clone());
    let mut ignore_nulls = clauses.ignore_nulls;
    let mut shown_args = given;
    match spec.function {
        "sum" | "try_sum" | "avg" => numeric_argument(&mut c, spec, &env, options)?,
        "min" | "max" if !is_orderable(&first) => return Err(unordered(&c, &first)),
        "max_by" | "min_by" if !is_orderable(&c.args[1].ty) => {
            return Err(unordered(&c, &c.args[1].ty.clone()));
        }
        "first" | "last" if given == 2 => {
            let flag = c.args.remove(1);
            ignore_nulls |= matches!(
                crate::fold::evaluate(&flag)?,
                datafusion::common::ScalarValue::Boolean(Some(true))
            );
            shown_args = 1;
        }
        "lag" | "lead" => {
            c = c.or_default(2, || Node::int(1));
            let null = Node::null();
            c = c.or_default(3, || null);
            let value = c.args.remove(2);
            let ty = c.args[0].ty.clone();
            c.args.push(cast(value, &ty, &env));
            shown_args = 3;
        }
        "string_agg" => {
            c = c.or_default(2, || {
                Node::literal(datafusion::common::ScalarValue::Utf8(None), Str)
            });
            shown_args = 2;
        }
        "percentile" => shown_args = c.args.len(),
        "rank" | "dense_rank" | "percent_rank" => shown_args = 0,
        _ => {}
    }
    let (ty, nullable) = result(spec, &c, &first);
    let shown = if spec.shown.is_empty() {
        name
    } else {
        spec.shown.to_owned()
    };
    let aggregate = Aggregate {
        function: spec.function,
        shown,
        shown_args: shown_args.min(c.args.len()),
        args: c.args,
        distinct: clauses.distinct,
        filter: clauses.filter.map(Box::new),
        ignore_nulls,
        order: clauses.order,
    };
    Ok(Node::new(
        Kind::Aggregate(Box::new(aggregate)),
        ty,
        nullable,
    ))
}

fn unordered(c: &Call<'_>, ty: &DataType) -> DeltaError {
    DeltaError::new("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE")
        .param("sqlExpr", quoted(c.printed()))
        .param("functionName", format!("`{}`", c.name))
        .param("dataType", shown(ty))
}

fn numeric_argument(
    c: &mut Call<'_>,
    spec: &Spec,
    env: &Arc<Env>,
    o: &AnalyzerOptions,
) -> Result<()> {
    let first = c.args.remove(0);
    let arg = match &first.ty {
        DataType::String | DataType::Void => cast(first, &Double, env),
        t if is_numeric(t) || is_ansi_interval(t) => first,
        _ => {
            let printed = format!("{}({})", c.name, crate::names::pretty(&first, o.zone));
            return Err(DeltaError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
                .param("sqlExpr", quoted(printed))
                .param("paramIndex", "first")
                .param("requiredType", "\"NUMERIC\" or \"ANSI INTERVAL\"")
                .param("inputSql", quoted_sql(&first, o.zone))
                .param("inputType", shown(&first.ty)));
        }
    };
    let _ = spec;
    c.args.insert(0, arg);
    Ok(())
}

fn result(spec: &Spec, c: &Call<'_>, first: &DataType) -> (DataType, bool) {
    match spec.kind {
        Type::Fixed(Fixed::Count) => (Long, false),
        Type::Fixed(Fixed::Double) => (
            Double,
            !matches!(spec.function, "percent_rank" | "cume_dist"),
        ),
        Type::Fixed(Fixed::Boolean) => (Boolean, true),
        Type::Fixed(Fixed::String) => (Str, true),
        Type::Fixed(Fixed::Integer) if spec.function == "grouping" => (DataType::Byte, false),
        Type::Fixed(Fixed::Integer) => (Integer, false),
        Type::Same if matches!(spec.function, "first" | "last") => (first.clone(), true),
        Type::Same => (
            c.args
                .first()
                .map_or_else(|| first.clone(), |a| a.ty.clone()),
            true,
        ),
        Type::Sum => (sum_type(&c.args[0].ty), true),
        Type::Average => (average_type(&c.args[0].ty), true),
        Type::List => (array_of(first.clone(), false), false),
        Type::Percentile => match &c.args[1].ty {
            DataType::Array(_) => (array_of(Double, false), true),
            _ => (Double, true),
        },
    }
}

fn sum_type(ty: &DataType) -> DataType {
    match ty {
        DataType::Decimal { precision, scale } => {
            decimal::bounded(i32::from(*precision) + 10, i32::from(*scale))
        }
        t if is_integral(t) => Long,
        DataType::YearMonthInterval { .. } => DataType::YearMonthInterval { start: 0, end: 1 },
        DataType::DayTimeInterval { .. } => DataType::DayTimeInterval { start: 0, end: 3 },
        _ => Double,
    }
}

fn average_type(ty: &DataType) -> DataType {
    match ty {
        DataType::Decimal { precision, scale } => {
            decimal::adjusted(i32::from(*precision) + 4, i32::from(*scale) + 4)
        }
        t if is_decimal(t) => t.clone(),
        _ => Double,
    }
}
