//! Operators: which types meet in them, what they give, and the errors of operands that do not fit.

use std::sync::Arc;

use datafusion::common::ScalarValue;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use super::call::{cast, decimal_parts};
use crate::error::quoted;
use crate::kernel::{Env, Run};
use crate::kernels::datetime;
use crate::names::{pretty, quoted_sql};
use crate::node::{Imp, Kind, Node, Op, Shown};
use crate::options::AnalyzerOptions;
use crate::types::{
    decimal, is_ansi_interval, is_datetime, is_decimal, is_float, is_integral, is_numeric,
    is_orderable, is_timestamp, same_type, shown, widen,
};

fn made(op: Op, left: Node, right: Node, ty: DataType, nullable: bool, env: &Arc<Env>) -> Node {
    Node::new(
        Kind::Binary {
            op,
            left: Box::new(left),
            right: Box::new(right),
            env: Arc::clone(env),
        },
        ty,
        nullable,
    )
}

fn text(op: Op, left: &Node, right: &Node, o: &AnalyzerOptions) -> String {
    quoted(format!(
        "({} {} {})",
        pretty(left, o.zone),
        op.symbol(),
        pretty(right, o.zone)
    ))
}

fn different(op: Op, left: &Node, right: &Node, o: &AnalyzerOptions) -> DeltaError {
    DeltaError::new("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES")
        .param("sqlExpr", text(op, left, right, o))
        .param("left", shown(&left.ty))
        .param("right", shown(&right.ty))
}

fn wrong(op: Op, left: &Node, right: &Node, input: &str, o: &AnalyzerOptions) -> DeltaError {
    DeltaError::new("DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE")
        .param("sqlExpr", text(op, left, right, o))
        .param("inputType", input)
        .param("actualDataType", shown(&left.ty))
}

/// AND and OR.
pub fn logical(
    op: Op,
    left: Node,
    right: Node,
    env: &Arc<Env>,
    o: &AnalyzerOptions,
) -> Result<Node> {
    let nullable = left.nullable || right.nullable;
    let boolean = |n: Node| match n.ty {
        DataType::Boolean => Some(n),
        DataType::Void | DataType::String => Some(cast(n, &DataType::Boolean, env)),
        _ => None,
    };
    match (boolean(left.clone()), boolean(right.clone())) {
        (Some(l), Some(r)) => Ok(made(op, l, r, DataType::Boolean, nullable, env)),
        _ if same_type(&left.ty, &right.ty) => Err(wrong(op, &left, &right, "\"BOOLEAN\"", o)),
        _ => Err(different(op, &left, &right, o)),
    }
}

fn char_length(node: &Node) -> Option<usize> {
    match &node.kind {
        Kind::Attr(attr) | Kind::Outer(attr) => attr.char_length,
        _ => None,
    }
}

/// A text constant filled up with spaces, as the values of a CHAR column are.
fn padded(node: Node, length: usize) -> Node {
    match &node.kind {
        Kind::Literal(ScalarValue::Utf8(Some(text))) if text.chars().count() < length => {
            Node::string(format!("{text:<length$}"))
        }
        _ => node,
    }
}

/// `=`, `<`, … and `<=>`.
pub fn comparison(
    op: Op,
    left: Node,
    right: Node,
    env: &Arc<Env>,
    o: &AnalyzerOptions,
) -> Result<Node> {
    let (left, right) = match (char_length(&left), char_length(&right)) {
        (Some(length), None) => (left, padded(right, length)),
        (None, Some(length)) => (padded(left, length), right),
        _ => (left, right),
    };
    let nullable = op != Op::NullSafeEqual && (left.nullable || right.nullable);
    let Some(common) = common_of(&left, &right) else {
        return Err(different(op, &left, &right, o));
    };
    let (l, r) = (cast(left, &common, env), cast(right, &common, env));
    let fits = if matches!(op, Op::Equal | Op::NullSafeEqual) {
        !matches!(common, DataType::Map(_) | DataType::Variant)
    } else {
        is_orderable(&common)
    };
    if !fits {
        return Err(DeltaError::new("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE")
            .param("sqlExpr", text(op, &l, &r, o))
            .param("functionName", format!("`{}`", op.symbol()))
            .param("dataType", shown(&common)));
    }
    Ok(made(op, l, r, DataType::Boolean, nullable, env))
}

/// The type in which two operands meet; a whole constant beside a decimal takes as few digits as it has.
fn common_of(left: &Node, right: &Node) -> Option<DataType> {
    if is_decimal(&left.ty) != is_decimal(&right.ty)
        && is_numeric(&left.ty)
        && is_numeric(&right.ty)
        && !is_float(&left.ty)
        && !is_float(&right.ty)
    {
        return Some(decimal::wider(decimal_parts(left)?, decimal_parts(right)?));
    }
    widen::wider(&left.ty, &right.ty)
}

/// `+ - * / div %`.
pub fn arithmetic(
    op: Op,
    left: Node,
    right: Node,
    env: &Arc<Env>,
    o: &AnalyzerOptions,
) -> Result<Node> {
    if let Some(node) = with_time(op, &left, &right, env, o)? {
        return Ok(node);
    }
    let nullable = left.nullable || right.nullable || !env.ansi;
    // A string takes the type of the other side, NULL too.
    let (mut l, mut r) = (left.clone(), right.clone());
    if l.ty == DataType::Void && r.ty == DataType::Void {
        (l, r) = (
            cast(l, &DataType::Double, env),
            cast(r, &DataType::Double, env),
        );
    }
    if l.ty == DataType::Void {
        l = cast(l, &r.ty.clone(), env);
    }
    if r.ty == DataType::Void {
        r = cast(r, &l.ty.clone(), env);
    }
    if l.ty == DataType::String || r.ty == DataType::String {
        let both = l.ty == r.ty;
        let common = if both {
            Some(DataType::Double)
        } else {
            widen::with_string(&l.ty, &r.ty)
        };
        let Some(common) = common.filter(is_numeric) else {
            return Err(different(op, &left, &right, o));
        };
        if l.ty == DataType::String {
            l = cast(l, &common, env);
        }
        if r.ty == DataType::String {
            r = cast(r, &common, env);
        }
    }
    if !is_numeric(&l.ty) || !is_numeric(&r.ty) {
        if same_type(&l.ty, &r.ty) {
            return Err(wrong(op, &left, &right, wanted(op), o));
        }
        return Err(different(op, &left, &right, o));
    }
    if op == Op::IntegralDivide {
        return Ok(integral(l, r, nullable, env));
    }
    if is_decimal(&l.ty) || is_decimal(&r.ty) {
        return Ok(decimals(op, l, r, nullable, env));
    }
    let ty = if op == Op::Divide {
        DataType::Double
    } else {
        widen::tightest(&l.ty, &r.ty).unwrap_or(DataType::Double)
    };
    Ok(made(
        op,
        cast(l, &ty, env),
        cast(r, &ty, env),
        ty,
        nullable,
        env,
    ))
}

fn wanted(op: Op) -> &'static str {
    match op {
        Op::Add | Op::Subtract => {
            "(\"NUMERIC\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\" or \"INTERVAL\")"
        }
        Op::Divide => "(\"DOUBLE\" or \"DECIMAL\")",
        Op::IntegralDivide => {
            "(\"BIGINT\" or \"DECIMAL\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\")"
        }
        _ => "\"NUMERIC\"",
    }
}

fn integral(l: Node, r: Node, nullable: bool, env: &Arc<Env>) -> Node {
    if is_decimal(&l.ty) || is_decimal(&r.ty) {
        let parts = (
            decimal_parts(&l).unwrap_or((38, 18)),
            decimal_parts(&r).unwrap_or((38, 18)),
        );
        let as_decimal = |n: Node, (precision, scale): (u8, u8)| {
            cast(n, &DataType::Decimal { precision, scale }, env)
        };
        return made(
            Op::IntegralDivide,
            as_decimal(l, parts.0),
            as_decimal(r, parts.1),
            DataType::Long,
            nullable,
            env,
        );
    }
    made(
        Op::IntegralDivide,
        cast(l, &DataType::Long, env),
        cast(r, &DataType::Long, env),
        DataType::Long,
        nullable,
        env,
    )
}

fn decimals(op: Op, l: Node, r: Node, nullable: bool, env: &Arc<Env>) -> Node {
    if is_float(&l.ty) || is_float(&r.ty) {
        let ty = DataType::Double;
        return made(op, cast(l, &ty, env), cast(r, &ty, env), ty, nullable, env);
    }
    let (a, b) = (
        decimal_parts(&l).unwrap_or((38, 18)),
        decimal_parts(&r).unwrap_or((38, 18)),
    );
    let ty = match op {
        Op::Multiply => decimal::product(a, b),
        Op::Divide => decimal::quotient(a, b),
        Op::Remainder => decimal::remainder(a, b),
        _ => decimal::sum(a, b),
    };
    let as_decimal = |n: Node, (precision, scale): (u8, u8)| {
        cast(n, &DataType::Decimal { precision, scale }, env)
    };
    made(op, as_decimal(l, a), as_decimal(r, b), ty, nullable, env)
}

fn kernel(
    name: &'static str,
    run: Run,
    args: Vec<Node>,
    ret: DataType,
    template: &'static str,
    salt: u64,
    env: &Arc<Env>,
) -> Node {
    let nullable = args.iter().any(|a| a.nullable);
    let env = Arc::new(Env {
        salt,
        ..env.as_ref().clone()
    });
    let imp = Imp::Kernel {
        name,
        run,
        fallible: true,
        volatile: false,
        env,
    };
    Node::new(
        Kind::Call {
            shown: Shown::Template(template),
            args,
            imp,
        },
        ret,
        nullable,
    )
}

fn negative(interval: Node, env: &Arc<Env>) -> Node {
    let ty = interval.ty.clone();
    kernel(
        "negate",
        crate::kernels::arithmetic::negate,
        vec![interval],
        ty,
        "(- {0})",
        0,
        env,
    )
}

/// Arithmetic of dates, timestamps and intervals; None where both sides are something else.
fn with_time(
    op: Op,
    left: &Node,
    right: &Node,
    env: &Arc<Env>,
    o: &AnalyzerOptions,
) -> Result<Option<Node>> {
    use DataType::*;
    let interval = |t: &DataType| is_ansi_interval(t) || *t == CalendarInterval;
    let special = |t: &DataType| is_datetime(t) || interval(t);
    if !special(&left.ty) && !special(&right.ty) {
        return Ok(None);
    }
    let day_time = DayTimeInterval { start: 0, end: 3 };
    let (l, r) = (left.clone(), right.clone());
    Ok(Some(match (op, &l.ty, &r.ty) {
        (Op::Add | Op::Subtract, a, b) if is_ansi_interval(a) && is_ansi_interval(b) => {
            let Some(ty) = widen::tightest(a, b) else {
                return Err(different(op, left, right, o));
            };
            let salt = u64::from(op == Op::Subtract);
            let template = if op == Op::Add {
                "({0} + {1})"
            } else {
                "({0} - {1})"
            };
            let args = vec![cast(l, &ty, env), cast(r, &ty, env)];
            kernel(
                "add_intervals",
                datetime::add_intervals,
                args,
                ty,
                template,
                salt,
                env,
            )
        }
        (Op::Multiply, a, b) if is_ansi_interval(a) && (is_numeric(b) || *b == String) => {
            let r = if *b == String {
                cast(r, &Double, env)
            } else {
                r
            };
            let ty = whole_interval(a);
            kernel(
                "scale_interval",
                datetime::scale_interval,
                vec![l, r],
                ty,
                "({0} * {1})",
                0,
                env,
            )
        }
        (Op::Multiply, a, b) if is_ansi_interval(b) && is_numeric(a) => {
            let ty = whole_interval(b);
            kernel(
                "scale_interval",
                datetime::scale_interval,
                vec![r, l],
                ty,
                "({1} * {0})",
                0,
                env,
            )
        }
        (Op::Divide, a, b) if is_ansi_interval(a) && is_numeric(b) => {
            let ty = whole_interval(a);
            kernel(
                "scale_interval",
                datetime::scale_interval,
                vec![l, r],
                ty,
                "({0} / {1})",
                1,
                env,
            )
        }
        (Op::IntegralDivide, a, b) if is_ansi_interval(a) && is_ansi_interval(b) => {
            made(op, l, r, Long, left.nullable || right.nullable, env)
        }
        // An interval on the left of + is one on the right.
        (Op::Add, a, b) if interval(a) && !interval(b) => {
            let swapped = with_time(Op::Add, right, left, env, o)?;
            return Ok(swapped.map(|mut n| {
                n.kind = match n.kind {
                    Kind::Call {
                        shown: Shown::Template("{0} + {1}"),
                        args,
                        imp,
                    } => Kind::Call {
                        shown: Shown::Template("{1} + {0}"),
                        args,
                        imp,
                    },
                    kind => kind,
                };
                n
            }));
        }
        (Op::Add | Op::Subtract, a, b) if interval(b) => {
            let template = if op == Op::Add {
                "{0} + {1}"
            } else {
                "{0} - {1}"
            };
            let text_form = *a == String;
            let l = match a {
                String | Void => cast(l, &Timestamp, env),
                _ if is_datetime(a) => l,
                _ => return Err(different(op, left, right, o)),
            };
            let from = l.ty.clone();
            let shift = if op == Op::Subtract && is_ansi_interval(b) {
                negative(r.clone(), env)
            } else {
                r.clone()
            };
            let by = match (&from, b) {
                (Date, YearMonthInterval { .. }) => kernel(
                    "add_months",
                    datetime::add_months,
                    vec![l, shift],
                    Date,
                    template,
                    0,
                    env,
                ),
                (Date, DayTimeInterval { end: 0, .. }) => {
                    let days = cast(shift, &Integer, env);
                    kernel(
                        "add_days",
                        datetime::add_days,
                        vec![l, days],
                        Date,
                        "date_add({0}, {1})",
                        0,
                        env,
                    )
                }
                (Date, DayTimeInterval { .. }) => kernel(
                    "add_time",
                    datetime::add_time,
                    vec![cast(l, &Timestamp, env), shift],
                    Timestamp,
                    template,
                    0,
                    env,
                ),
                (_, YearMonthInterval { .. }) => kernel(
                    "add_months_to_time",
                    datetime::add_months_to_time,
                    vec![l, shift],
                    from,
                    template,
                    0,
                    env,
                ),
                (_, DayTimeInterval { .. }) => kernel(
                    "add_time",
                    datetime::add_time,
                    vec![l, shift],
                    from,
                    template,
                    0,
                    env,
                ),
                _ => {
                    let shift = if op == Op::Subtract {
                        return Err(different(op, left, right, o));
                    } else {
                        shift
                    };
                    kernel(
                        "add_calendar",
                        datetime::add_calendar,
                        vec![l, shift],
                        from,
                        template,
                        0,
                        env,
                    )
                }
            };
            let by = if text_form {
                cast(by, &String, env)
            } else {
                by
            };
            let (ty, nullable) = (by.ty.clone(), by.nullable);
            let imp = Imp::Replace(Box::new(by));
            Node::new(
                Kind::Call {
                    shown: Shown::Template(template),
                    args: vec![left.clone(), right.clone()],
                    imp,
                },
                ty,
                nullable,
            )
        }
        (Op::Subtract, Date, Date) => {
            let ty = DayTimeInterval { start: 0, end: 0 };
            kernel(
                "subtract_dates",
                datetime::subtract_dates,
                vec![l, r],
                ty,
                "({0} - {1})",
                0,
                env,
            )
        }
        (Op::Subtract, a, b)
            if (is_timestamp(a) || is_timestamp(b))
                && (is_datetime(a) || *a == String)
                && (is_datetime(b) || *b == String) =>
        {
            let common = if *a == TimestampNtz && *b == TimestampNtz {
                TimestampNtz
            } else {
                Timestamp
            };
            let args = vec![cast(l, &common, env), cast(r, &common, env)];
            kernel(
                "subtract_times",
                datetime::subtract_times,
                args,
                day_time,
                "({0} - {1})",
                0,
                env,
            )
        }
        (Op::Subtract, Date, String) | (Op::Subtract, String, Date) => {
            let ty = DayTimeInterval { start: 0, end: 0 };
            let args = vec![cast(l, &Date, env), cast(r, &Date, env)];
            kernel(
                "subtract_dates",
                datetime::subtract_dates,
                args,
                ty,
                "({0} - {1})",
                0,
                env,
            )
        }
        (Op::Add | Op::Subtract, Date, b) if is_integral(b) && *b != Long => {
            let days = cast(r, &Integer, env);
            let salt = u64::from(op == Op::Subtract);
            let template = if op == Op::Add {
                "date_add({0}, {1})"
            } else {
                "date_sub({0}, {1})"
            };
            kernel(
                "add_days",
                datetime::add_days,
                vec![l, days],
                Date,
                template,
                salt,
                env,
            )
        }
        (Op::Add, a, Date) if is_integral(a) && *a != Long => {
            let days = cast(l, &Integer, env);
            kernel(
                "add_days",
                datetime::add_days,
                vec![r, days],
                Date,
                "date_add({0}, {1})",
                0,
                env,
            )
        }
        _ => return Err(different(op, left, right, o)),
    }))
}

fn whole_interval(ty: &DataType) -> DataType {
    match ty {
        DataType::YearMonthInterval { .. } => DataType::YearMonthInterval { start: 0, end: 1 },
        _ => DataType::DayTimeInterval { start: 0, end: 3 },
    }
}

/// `& | ^`.
pub fn bits(op: Op, left: Node, right: Node, env: &Arc<Env>, o: &AnalyzerOptions) -> Result<Node> {
    let nullable = left.nullable || right.nullable;
    let number = |n: &Node, other: &Node| match &n.ty {
        DataType::String => Some(DataType::Long),
        DataType::Void => Some(other.ty.clone()),
        t if is_integral(t) => Some(t.clone()),
        _ => None,
    };
    match (number(&left, &right), number(&right, &left)) {
        (Some(a), Some(b)) => {
            let ty = widen::tightest(&a, &b).unwrap_or(DataType::Long);
            Ok(made(
                op,
                cast(left, &ty, env),
                cast(right, &ty, env),
                ty,
                nullable,
                env,
            ))
        }
        _ if same_type(&left.ty, &right.ty) => Err(wrong(op, &left, &right, "\"INTEGRAL\"", o)),
        _ => Err(different(op, &left, &right, o)),
    }
}

/// `x IN (a, b)`.
pub fn in_list(value: Node, list: Vec<Node>, env: &Arc<Env>, o: &AnalyzerOptions) -> Result<Node> {
    let nullable = value.nullable || list.iter().any(|n| n.nullable);
    let types = std::iter::once(&value.ty).chain(list.iter().map(|n| &n.ty));
    let Some(mut common) = widen::common(types) else {
        let all: Vec<String> = std::iter::once(&value)
            .chain(&list)
            .map(|n| shown(&n.ty))
            .collect();
        let items: Vec<String> = list.iter().map(|n| pretty(n, o.zone)).collect();
        return Err(DeltaError::new("DATATYPE_MISMATCH.DATA_DIFF_TYPES")
            .param(
                "sqlExpr",
                quoted(format!(
                    "({} IN ({}))",
                    pretty(&value, o.zone),
                    items.join(", ")
                )),
            )
            .param("functionName", "`in`")
            .param("dataType", format!("[{}]", all.join(", "))));
    };
    // Whole constants beside decimals take as few digits as they have.
    if is_decimal(&common) {
        let parts: Option<Vec<(u8, u8)>> = std::iter::once(&value)
            .chain(&list)
            .filter(|n| n.ty != DataType::Void)
            .map(decimal_parts)
            .collect();
        if let Some(parts) = parts {
            common = parts.into_iter().fold(
                DataType::Decimal {
                    precision: 1,
                    scale: 0,
                },
                |acc, p| decimal::wider(decimal::for_type(&acc).unwrap_or((1, 0)), p),
            );
        }
    }
    let declared = char_length(&value);
    let value = Box::new(cast(value, &common, env));
    let list = list
        .into_iter()
        .map(|n| match declared {
            Some(length) => padded(n, length),
            None => n,
        })
        .map(|n| cast(n, &common, env))
        .collect();
    Ok(Node::new(
        Kind::In { value, list },
        DataType::Boolean,
        nullable,
    ))
}

/// `CASE WHEN`, also IF.
pub fn case(
    branches: Vec<(Node, Node)>,
    otherwise: Option<Node>,
    if_form: bool,
    env: &Arc<Env>,
    o: &AnalyzerOptions,
) -> Result<Node> {
    let types = branches
        .iter()
        .map(|(_, t)| &t.ty)
        .chain(otherwise.iter().map(|n| &n.ty));
    let Some(common) = widen::common(types) else {
        let plain = Kind::Case {
            branches: branches.clone(),
            otherwise: otherwise.clone().map(Box::new),
            if_form,
        };
        let whole = Node::new(plain, DataType::Void, true);
        let all: Vec<String> = branches
            .iter()
            .map(|(_, t)| t)
            .chain(otherwise.iter())
            .map(|n| shown(&n.ty))
            .collect();
        let name = if if_form { "`if`" } else { "`casewhen`" };
        return Err(DeltaError::new("DATATYPE_MISMATCH.DATA_DIFF_TYPES")
            .param("sqlExpr", quoted_sql(&whole, o.zone))
            .param("functionName", name)
            .param("dataType", format!("[{}]", all.join(", "))));
    };
    let nullable =
        otherwise.as_ref().is_none_or(|n| n.nullable) || branches.iter().any(|(_, t)| t.nullable);
    let mut done = Vec::new();
    for (n, (when, then)) in branches.into_iter().enumerate() {
        let when = match when.ty {
            DataType::Boolean => when,
            DataType::Void | DataType::String => cast(when, &DataType::Boolean, env),
            _ => {
                let whole = Node::new(
                    Kind::Case {
                        branches: vec![(when.clone(), then)],
                        otherwise: None,
                        if_form: false,
                    },
                    common,
                    true,
                );
                return Err(DeltaError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
                    .param("sqlExpr", quoted_sql(&whole, o.zone))
                    .param("paramIndex", super::call::ordinal(n))
                    .param("requiredType", "\"BOOLEAN\"")
                    .param("inputSql", quoted_sql(&when, o.zone))
                    .param("inputType", shown(&when.ty)));
            }
        };
        done.push((when, cast(then, &common, env)));
    }
    let otherwise = otherwise.map(|n| Box::new(cast(n, &common, env)));
    Ok(Node::new(
        Kind::Case {
            branches: done,
            otherwise,
            if_form,
        },
        common,
        nullable,
    ))
}
