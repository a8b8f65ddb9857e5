//! Nodes to DataFusion expressions. What DataFusion computes as Spark does stays native, so that pruning and
//! pushdown see it; the rest becomes kernels. Expressions that can fail are kept behind what guards them.

use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::common::{ScalarValue, Spans};
use datafusion::logical_expr::expr::{Exists, InList, InSubquery, Like};
use datafusion::logical_expr::{
    BinaryExpr, Case, Cast, Expr, LogicalPlan, LogicalPlanBuilder, Operator,
    Subquery as DfSubquery, lit,
};
use deltaic_protocol::Result;
use deltaic_protocol::schema::DataType;

use crate::error::{Ours, internal};
use crate::kernel::{Env, Kernel, Run};
use crate::kernels::{arithmetic, cast, lambda, misc, variant};
use crate::node::{CastMode, Imp, Kind, Node, Op, SubqueryKind};
use crate::types::{arrow_type, castable, is_float, is_integral};

/// The expression that DataFusion runs.
pub fn lower(node: &Node) -> Result<Expr> {
    Ok(match &node.kind {
        Kind::Literal(v) => literal(v, &node.ty)?,
        Kind::Attr(a) => Expr::Column(a.column.clone()),
        Kind::Outer(a) => {
            let field = Field::new(&a.column.name, arrow_type(&node.ty), true);
            Expr::OuterReferenceColumn(Arc::new(field), a.column.clone())
        }
        Kind::Field {
            base,
            name,
            ordinal,
        } => field(base, name, *ordinal, &node.ty)?,
        Kind::Cast {
            child, mode, env, ..
        } => lower_cast(child, &node.ty, *mode, env)?,
        Kind::Binary {
            op,
            left,
            right,
            env,
        } => binary(*op, left, right, &node.ty, env)?,
        Kind::Not(c) => negation(c)?,
        Kind::IsNull(c) => Expr::IsNull(Box::new(lower(c)?)),
        Kind::IsNotNull(c) => Expr::IsNotNull(Box::new(lower(c)?)),
        Kind::Case {
            branches,
            otherwise,
            ..
        } => lower_case(branches, otherwise.as_deref(), &node.ty)?,
        Kind::In { value, list } => {
            // Lists are searched by their bits, in which the zeros differ.
            let exact = !is_float(&value.ty) || list.iter().all(is_not_zero);
            let item = |node: &Node| {
                let expr = lower(node)?;
                Ok(if exact { expr } else { normalized(expr, node) })
            };
            let list = list.iter().map(item).collect::<Result<Vec<_>>>()?;
            Expr::InList(InList::new(Box::new(item(value)?), list, false))
        }
        Kind::Like {
            value,
            pattern,
            escape,
            insensitive,
        } => like(value, pattern, *escape, *insensitive)?,
        Kind::Call { args, imp, .. } => call(args, imp, &node.ty)?,
        Kind::Alias { child, .. } => lower(child)?,
        Kind::Subquery(s) => {
            let outer = s
                .outer
                .iter()
                .map(|(a, ty)| {
                    let field = Field::new(&a.column.name, arrow_type(ty), true);
                    Expr::OuterReferenceColumn(Arc::new(field), a.column.clone())
                })
                .collect();
            let plan = match &s.kind {
                SubqueryKind::In(value) if is_float(&value.ty) => {
                    Arc::new(one_zero(&s.plan, value)?)
                }
                _ => Arc::clone(&s.plan),
            };
            let subquery = DfSubquery {
                subquery: plan,
                outer_ref_columns: outer,
                spans: Spans::new(),
            };
            match &s.kind {
                SubqueryKind::Scalar => Expr::ScalarSubquery(subquery),
                SubqueryKind::Exists => Expr::Exists(Exists::new(subquery, false)),
                SubqueryKind::In(value) => {
                    let value = Box::new(normalized(lower(value)?, value));
                    Expr::InSubquery(InSubquery::new(value, subquery, false))
                }
            }
        }
        Kind::Aggregate(a) => {
            return Err(internal(format!(
                "the aggregate {} where none can stand",
                a.shown
            )));
        }
        Kind::Window(w) => {
            return Err(internal(format!(
                "the window function {} where none can stand",
                w.function.shown
            )));
        }
        Kind::Generator(g) => {
            return Err(internal(format!(
                "the generator {} where none can stand",
                g.shown
            )));
        }
        Kind::Lambda(_) => return Err(internal("a lambda where none can stand")),
        Kind::Default => return Err(internal("DEFAULT where no default can stand")),
    })
}

/// The parts of a conjunction.
pub fn conjuncts(node: &Node) -> Vec<&Node> {
    match &node.kind {
        Kind::Binary {
            op: Op::And,
            left,
            right,
            ..
        } => {
            let mut all = conjuncts(left);
            all.extend(conjuncts(right));
            all
        }
        _ => vec![node],
    }
}

pub fn as_int(e: Expr) -> Expr {
    Expr::Cast(Cast::new(Box::new(e), ArrowType::Int8))
}

/// A boolean that the optimizer cannot take apart: it would undo the order of evaluation.
pub fn truth(e: Expr) -> Expr {
    e.eq(lit(1_i8))
}

/// A constant as one of the right Arrow type.
pub fn literal(v: &ScalarValue, ty: &DataType) -> Result<Expr> {
    let v = if v.is_null() {
        ScalarValue::try_from(&arrow_type(ty)).ours()?
    } else {
        v.clone()
    };
    Ok(Expr::Literal(v, None))
}

/// Can a value make the expression fail?
pub fn is_fallible(node: &Node) -> bool {
    let own = match &node.kind {
        Kind::Cast { child, mode, .. } => {
            *mode != CastMode::Try && castable::can_fail(&child.ty, &node.ty)
        }
        Kind::Binary { op, right, .. } => match op {
            Op::Add | Op::Subtract | Op::Multiply => !is_float(&node.ty),
            Op::Divide | Op::IntegralDivide | Op::Remainder => !is_nonzero(right),
            _ => false,
        },
        Kind::Call {
            imp: Imp::Kernel { fallible, .. },
            ..
        } => *fallible,
        Kind::Subquery(s) => matches!(s.kind, SubqueryKind::Scalar),
        _ => false,
    };
    own || node.children().iter().any(|c| is_fallible(c))
}

fn is_nonzero(node: &Node) -> bool {
    match &node.kind {
        Kind::Literal(v) => {
            !v.is_null() && ScalarValue::new_zero(&v.data_type()).is_ok_and(|zero| zero != *v)
        }
        Kind::Cast { child, .. } => !castable::can_fail(&child.ty, &node.ty) && is_nonzero(child),
        _ => false,
    }
}

fn field(base: &Node, name: &str, ordinal: usize, ty: &DataType) -> Result<Expr> {
    let inner = lower(base)?;
    // Chains of fields of a column stay visible to the scan.
    fn is_path(n: &Node) -> bool {
        match &n.kind {
            Kind::Attr(_) => true,
            Kind::Field { base, .. } => is_path(base),
            _ => false,
        }
    }
    if is_path(base) {
        return Ok(datafusion::functions::core::get_field().call(vec![inner, lit(name)]));
    }
    let env = Env {
        salt: ordinal as u64,
        ..Env::default()
    };
    Ok(kernel(
        "struct_field",
        misc::struct_field,
        vec![inner],
        vec![base.ty.clone()],
        ty,
        &Arc::new(env),
    ))
}

fn kernel(
    name: &str,
    run: Run,
    args: Vec<Expr>,
    types: Vec<DataType>,
    ret: &DataType,
    env: &Arc<Env>,
) -> Expr {
    Kernel::call(name, run, args, types, ret.clone(), Arc::clone(env), false)
}

/// Types whose native cast is Spark's: no failure, no rounding, no zone.
fn native_cast(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    match (from, to) {
        (Boolean, _) => is_integral(to),
        _ if is_integral(from) && is_integral(to) => !castable::can_fail(from, to),
        _ if is_integral(from) => {
            is_float(to) || (matches!(to, Decimal { .. }) && !castable::can_fail(from, to))
        }
        (Float, Double) => true,
        (Decimal { .. }, Decimal { .. }) => !castable::can_fail(from, to),
        (Date, TimestampNtz) => true,
        (String, Binary) => true,
        _ => false,
    }
}

fn lower_cast(child: &Node, to: &DataType, mode: CastMode, env: &Arc<Env>) -> Result<Expr> {
    let from = &child.ty;
    if let Some(v) = child.as_literal()
        && v.is_null()
    {
        return literal(&ScalarValue::Null, to);
    }
    let inner = lower(child)?;
    if arrow_type(from) == arrow_type(to)
        && !matches!(
            from,
            DataType::YearMonthInterval { .. } | DataType::DayTimeInterval { .. }
        )
    {
        return Ok(inner);
    }
    if native_cast(from, to) {
        return Ok(Expr::Cast(Cast::new(Box::new(inner), arrow_type(to))));
    }
    let (name, run): (_, Run) = match mode {
        _ if *to == DataType::Variant => ("to_variant", variant::to_variant),
        CastMode::Try if *from == DataType::Variant => ("try_variant_cast", variant::try_cast),
        _ if *from == DataType::Variant => ("variant_cast", variant::cast),
        CastMode::Ansi => ("cast", cast::ansi),
        CastMode::Try => ("try_cast", cast::try_cast),
        CastMode::Insert => ("insert_cast", cast::insert),
    };
    Ok(kernel(name, run, vec![inner], vec![from.clone()], to, env))
}

/// `-0.0` equals `0.0` for Spark but not for Arrow.
pub fn normalized(e: Expr, node: &Node) -> Expr {
    match &node.ty {
        DataType::Double => e + lit(0.0_f64),
        DataType::Float => e + lit(0.0_f32),
        _ => e,
    }
}

/// The one column of a query, in which the zeros are the same.
fn one_zero(plan: &LogicalPlan, value: &Node) -> Result<LogicalPlan> {
    let columns = plan.schema().columns();
    let values = columns.into_iter().map(|column| {
        let name = column.name.clone();
        normalized(Expr::Column(column), value).alias(name)
    });
    LogicalPlanBuilder::from(plan.clone())
        .project(values)
        .and_then(|plan| plan.build())
        .ours()
}

/// A constant other than zero.
fn is_not_zero(node: &Node) -> bool {
    match node.as_literal() {
        Some(ScalarValue::Float64(value)) => *value != Some(0.0),
        Some(ScalarValue::Float32(value)) => *value != Some(0.0),
        Some(value) => value.is_null(),
        None => false,
    }
}

fn is_plain_number(node: &Node) -> bool {
    match node.as_literal() {
        Some(ScalarValue::Float64(Some(v))) => *v != 0.0 && !v.is_nan(),
        Some(ScalarValue::Float32(Some(v))) => *v != 0.0 && !v.is_nan(),
        _ => false,
    }
}

fn binary(op: Op, left: &Node, right: &Node, ty: &DataType, env: &Arc<Env>) -> Result<Expr> {
    let (l, r) = (lower(left)?, lower(right)?);
    let native = |l: Expr, op: Operator, r: Expr| {
        Expr::BinaryExpr(BinaryExpr::new(Box::new(l), op, Box::new(r)))
    };
    let types = || vec![left.ty.clone(), right.ty.clone()];
    let ours =
        |name: &str, run: Run, l: Expr, r: Expr| kernel(name, run, vec![l, r], types(), ty, env);
    Ok(match op {
        Op::And if is_fallible(right) => truth(Expr::Case(Case::new(
            None,
            vec![(
                Box::new(Expr::IsFalse(Box::new(l.clone()))),
                Box::new(lit(0_i8)),
            )],
            Some(Box::new(as_int(l.and(r)))),
        ))),
        Op::Or if is_fallible(right) => truth(Expr::Case(Case::new(
            None,
            vec![(
                Box::new(Expr::IsTrue(Box::new(l.clone()))),
                Box::new(lit(1_i8)),
            )],
            Some(Box::new(as_int(l.or(r)))),
        ))),
        Op::And => native(l, Operator::And, r),
        Op::Or => native(l, Operator::Or, r),
        _ if op.is_comparison() => {
            let (l, r) = if is_float(&left.ty) && !is_plain_number(left) && !is_plain_number(right)
            {
                (normalized(l, left), normalized(r, right))
            } else {
                (l, r)
            };
            let operator = match op {
                Op::Equal => Operator::Eq,
                Op::NullSafeEqual => Operator::IsNotDistinctFrom,
                Op::Less => Operator::Lt,
                Op::LessOrEqual => Operator::LtEq,
                Op::Greater => Operator::Gt,
                _ => Operator::GtEq,
            };
            native(l, operator, r)
        }
        Op::Add if is_float(ty) => native(l, Operator::Plus, r),
        Op::Subtract if is_float(ty) => native(l, Operator::Minus, r),
        Op::Multiply if is_float(ty) => native(l, Operator::Multiply, r),
        Op::Divide if is_float(ty) && is_nonzero(right) => native(l, Operator::Divide, r),
        Op::Add => ours("add", arithmetic::add, l, r),
        Op::Subtract => ours("subtract", arithmetic::subtract, l, r),
        Op::Multiply => ours("multiply", arithmetic::multiply, l, r),
        Op::Divide => ours("divide", arithmetic::divide, l, r),
        Op::IntegralDivide => ours("integral_divide", arithmetic::integral_divide, l, r),
        Op::Remainder if is_integral(ty) && is_nonzero(right) && !is_minus_one(right) => {
            native(l, Operator::Modulo, r)
        }
        Op::Remainder => ours("remainder", arithmetic::remainder, l, r),
        Op::BitAnd => ours("bit_and", arithmetic::bit_and, l, r),
        Op::BitOr => ours("bit_or", arithmetic::bit_or, l, r),
        _ => ours("bit_xor", arithmetic::bit_xor, l, r),
    })
}

fn is_minus_one(node: &Node) -> bool {
    match &node.kind {
        Kind::Literal(v) => {
            matches!(
                v,
                ScalarValue::Int8(Some(-1))
                    | ScalarValue::Int16(Some(-1))
                    | ScalarValue::Int32(Some(-1))
                    | ScalarValue::Int64(Some(-1))
            )
        }
        Kind::Cast { child, .. } => is_minus_one(child),
        _ => false,
    }
}

fn negation(child: &Node) -> Result<Expr> {
    Ok(match &child.kind {
        Kind::Binary {
            op: Op::Equal,
            left,
            right,
            env,
        } => match binary(Op::Equal, left, right, &DataType::Boolean, env)? {
            Expr::BinaryExpr(b) => {
                Expr::BinaryExpr(BinaryExpr::new(b.left, Operator::NotEq, b.right))
            }
            other => Expr::Not(Box::new(other)),
        },
        Kind::In { .. } | Kind::Like { .. } | Kind::Subquery(_) => match lower(child)? {
            Expr::InList(list) => Expr::InList(InList::new(list.expr, list.list, !list.negated)),
            Expr::Like(l) => Expr::Like(Like {
                negated: !l.negated,
                ..l
            }),
            Expr::InSubquery(s) => {
                Expr::InSubquery(InSubquery::new(s.expr, s.subquery, !s.negated))
            }
            Expr::Exists(e) => Expr::Exists(Exists::new(e.subquery, !e.negated)),
            other => Expr::Not(Box::new(other)),
        },
        _ => Expr::Not(Box::new(lower(child)?)),
    })
}

fn lower_case(branches: &[(Node, Node)], otherwise: Option<&Node>, ty: &DataType) -> Result<Expr> {
    let guarded = *ty == DataType::Boolean
        && (branches
            .iter()
            .any(|(w, t)| is_fallible(w) || is_fallible(t))
            || otherwise.is_some_and(is_fallible));
    let shield = |e: Expr| if guarded { as_int(e) } else { e };
    let branches = branches
        .iter()
        .map(|(w, t)| Ok((Box::new(lower(w)?), Box::new(shield(lower(t)?)))))
        .collect::<Result<Vec<_>>>()?;
    let otherwise = match otherwise {
        Some(n) => Some(Box::new(shield(lower(n)?))),
        None => None,
    };
    let case = Expr::Case(Case::new(None, branches, otherwise));
    Ok(if guarded { truth(case) } else { case })
}

fn like(value: &Node, pattern: &Node, escape: char, insensitive: bool) -> Result<Expr> {
    let (v, p) = (lower(value)?, lower(pattern)?);
    if escape == '\\' {
        return Ok(Expr::Like(Like::new(
            false,
            Box::new(v),
            Box::new(p),
            None,
            insensitive,
        )));
    }
    if let Some(text) = pattern.as_str() {
        let p = lit(backslashed(text, escape));
        return Ok(Expr::Like(Like::new(
            false,
            Box::new(v),
            Box::new(p),
            None,
            insensitive,
        )));
    }
    let env = Arc::new(Env {
        salt: u64::from(u32::from(escape)) << 1 | u64::from(insensitive),
        ..Env::default()
    });
    let types = vec![DataType::String, DataType::String];
    Ok(kernel(
        "like",
        misc::like,
        vec![v, p],
        types,
        &DataType::Boolean,
        &env,
    ))
}

/// A LIKE pattern with another escape character, rewritten for the backslash.
fn backslashed(pattern: &str, escape: char) -> String {
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c == escape {
            out.push('\\');
            out.extend(chars.next());
        } else {
            if c == '\\' {
                out.push('\\');
            }
            out.push(c);
        }
    }
    out
}

fn call(args: &[Node], imp: &Imp, ty: &DataType) -> Result<Expr> {
    Ok(match imp {
        Imp::Replace(inner) => lower(inner)?,
        Imp::Native(f) => f(args.iter().map(lower).collect::<Result<Vec<_>>>()?),
        Imp::Kernel { name, volatile, .. }
            if args.iter().any(|a| matches!(a.kind, Kind::Lambda(_))) =>
        {
            return higher_order(name, args, ty, *volatile);
        }
        Imp::Kernel {
            name,
            run,
            volatile,
            env,
            ..
        } => {
            let types = args.iter().map(|a| a.ty.clone()).collect();
            let args = args.iter().map(lower).collect::<Result<Vec<_>>>()?;
            Kernel::call(
                name,
                *run,
                args,
                types,
                ty.clone(),
                Arc::clone(env),
                *volatile,
            )
        }
    })
}

/// A function that takes lambdas: their bodies become expressions over the parameters and what they capture.
fn higher_order(name: &'static str, args: &[Node], ty: &DataType, volatile: bool) -> Result<Expr> {
    let mut plain = Vec::new();
    let mut types = Vec::new();
    let mut lambdas = Vec::new();
    let mut captured: Vec<(crate::node::Attr, DataType, bool)> = Vec::new();
    for arg in args {
        let Kind::Lambda(l) = &arg.kind else {
            types.push(arg.ty.clone());
            plain.push(lower(arg)?);
            continue;
        };
        collect_captured(&l.body, &l.params, &mut captured);
        lambdas.push(lambda::Body {
            params: l
                .params
                .iter()
                .map(|(a, t)| (a.column.name.clone(), arrow_type(t)))
                .collect(),
            body: lower(&l.body)?,
            ret: arrow_type(&l.body.ty),
        });
    }
    let captures = captured
        .iter()
        .map(|(a, t, _)| (a.column.clone(), arrow_type(t)))
        .collect();
    for (a, t, outer) in captured {
        types.push(t.clone());
        let kind = if outer { Kind::Outer(a) } else { Kind::Attr(a) };
        plain.push(lower(&Node::new(kind, t, true))?);
    }
    Ok(lambda::call(
        name, plain, types, lambdas, captures, ty, volatile,
    ))
}

fn collect_captured(
    body: &Node,
    params: &[(crate::node::Attr, DataType)],
    out: &mut Vec<(crate::node::Attr, DataType, bool)>,
) {
    let mut inner: Vec<(crate::node::Attr, DataType)> = params.to_vec();
    fn walk(
        n: &Node,
        bound: &mut Vec<(crate::node::Attr, DataType)>,
        out: &mut Vec<(crate::node::Attr, DataType, bool)>,
    ) {
        match &n.kind {
            Kind::Attr(a) | Kind::Outer(a) => {
                if !bound.iter().any(|(p, _)| p == a) && !out.iter().any(|(p, ..)| p == a) {
                    out.push((a.clone(), n.ty.clone(), matches!(n.kind, Kind::Outer(_))));
                }
            }
            Kind::Lambda(l) => {
                let len = bound.len();
                bound.extend(l.params.iter().cloned());
                walk(&l.body, bound, out);
                bound.truncate(len);
            }
            _ => {
                for c in n.children() {
                    walk(c, bound, out);
                }
            }
        }
    }
    walk(body, &mut inner, out);
}
