//! Constants computed while analysing, and the simplifications that Catalyst makes before an expression is written
//! into the log.

use std::sync::Arc;

use arrow::datatypes::Schema;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::physical_expr::create_physical_expr;
use deltaic_protocol::Result;
use deltaic_protocol::schema::DataType;

use crate::error::{Ours, internal};
use crate::kernel::Env;
use crate::lower::lower;
use crate::node::{CastMode, Imp, Kind, Node, Op, Shown};
use crate::types::{castable, is_integral, same_type};

/// The value of an expression that depends on nothing.
pub fn evaluate(node: &Node) -> Result<ScalarValue> {
    if let Kind::Literal(v) = &node.kind {
        return Ok(v.clone());
    }
    let expr = lower(node)?;
    let physical = create_physical_expr(
        &expr,
        &DFSchema::empty(),
        &ExecutionProps::new(),
        &PhysicalPlanningContext::default(),
    )
    .ours()?;
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let batch =
        RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).ours()?;
    let array = physical.evaluate(&batch).ours()?.into_array(1).ours()?;
    if array.is_empty() {
        return Err(internal("a constant without a value"));
    }
    ScalarValue::try_from_array(&array, 0).ours()
}

/// A whole number out of a value.
pub fn whole(v: &ScalarValue) -> Option<i64> {
    match v {
        ScalarValue::Int8(Some(v)) => Some((*v).into()),
        ScalarValue::Int16(Some(v)) => Some((*v).into()),
        ScalarValue::Int32(Some(v)) => Some((*v).into()),
        ScalarValue::Int64(Some(v)) => Some(*v),
        _ => None,
    }
}

/// The expression after the rules of Catalyst's optimizer that concern one expression on its own.
pub fn optimized(node: Node) -> Node {
    let mut node = node;
    for _ in 0..8 {
        let next = node.clone().transform_up(&mut rewrite);
        if next == node {
            break;
        }
        node = next;
    }
    node
}

fn rewrite(node: Node) -> Node {
    let node = match node {
        Node {
            kind:
                Kind::Call {
                    imp: Imp::Replace(inner),
                    ..
                },
            ..
        } => *inner,
        Node {
            kind: Kind::Alias { child, .. },
            ..
        } => *child,
        other => other,
    };
    let node = folded(node);
    let node = booleans(node);
    let node = unwrapped_cast(node);
    let node = likes(node);
    lists(node)
}

/// Constants become literals; what fails stays, to fail when it runs.
fn folded(node: Node) -> Node {
    if matches!(node.kind, Kind::Literal(_))
        || !node.is_foldable()
        || node.children().is_empty() && !is_constant_call(&node)
    {
        return node;
    }
    match evaluate(&node) {
        Ok(v) => Node::literal(v, node.ty),
        Err(_) => node,
    }
}

fn is_constant_call(node: &Node) -> bool {
    matches!(node.kind, Kind::Call { .. })
}

fn truth(node: &Node) -> Option<Option<bool>> {
    match node.as_literal()? {
        ScalarValue::Boolean(v) => Some(*v),
        ScalarValue::Null => Some(None),
        _ => None,
    }
}

fn booleans(node: Node) -> Node {
    let (ty, nullable) = (node.ty.clone(), node.nullable);
    let rebuilt = |kind: Kind| Node::new(kind, ty.clone(), nullable);
    match node.kind {
        Kind::Binary {
            op: Op::And,
            left,
            right,
            env,
        } => match (truth(&left), truth(&right)) {
            (Some(Some(true)), _) => *right,
            (_, Some(Some(true))) => *left,
            (Some(Some(false)), _) | (_, Some(Some(false))) => Node::boolean(false),
            _ if left == right => *left,
            _ => rebuilt(Kind::Binary {
                op: Op::And,
                left,
                right,
                env,
            }),
        },
        Kind::Binary {
            op: Op::Or,
            left,
            right,
            env,
        } => match (truth(&left), truth(&right)) {
            (Some(Some(false)), _) => *right,
            (_, Some(Some(false))) => *left,
            (Some(Some(true)), _) | (_, Some(Some(true))) => Node::boolean(true),
            _ if left == right => *left,
            _ => rebuilt(Kind::Binary {
                op: Op::Or,
                left,
                right,
                env,
            }),
        },
        Kind::Not(inner) => negated(*inner, rebuilt),
        Kind::IsNull(inner) if !inner.nullable => Node::boolean(false),
        Kind::IsNotNull(inner) if !inner.nullable => Node::boolean(true),
        // A comparison with NULL is NULL.
        Kind::Binary {
            op,
            left,
            right,
            env,
        } if op.is_comparison() && op != Op::NullSafeEqual => {
            if left.as_literal().is_some_and(ScalarValue::is_null)
                || right.as_literal().is_some_and(ScalarValue::is_null)
            {
                Node::literal(ScalarValue::Boolean(None), DataType::Boolean)
            } else if op == Op::Equal
                && left.ty == DataType::Boolean
                && truth(&right) == Some(Some(true))
            {
                *left
            } else if op == Op::Equal
                && left.ty == DataType::Boolean
                && truth(&left) == Some(Some(true))
            {
                *right
            } else {
                rebuilt(Kind::Binary {
                    op,
                    left,
                    right,
                    env,
                })
            }
        }
        Kind::Case {
            branches,
            otherwise,
            if_form,
        } => conditional(branches, otherwise, if_form, &ty, nullable),
        kind => rebuilt(kind),
    }
}

fn negated(inner: Node, rebuilt: impl Fn(Kind) -> Node) -> Node {
    let (ty, nullable) = (inner.ty.clone(), inner.nullable);
    let again = |kind: Kind| rebuilt(Kind::Not(Box::new(Node::new(kind, ty.clone(), nullable))));
    match inner.kind {
        Kind::Literal(ScalarValue::Boolean(Some(v))) => Node::boolean(!v),
        Kind::Not(twice) => *twice,
        Kind::IsNull(c) => c.is_not_null(),
        Kind::IsNotNull(c) => c.is_null(),
        Kind::Binary {
            op,
            left,
            right,
            env,
        } => {
            let flipped = match op {
                Op::Less => Op::GreaterOrEqual,
                Op::LessOrEqual => Op::Greater,
                Op::Greater => Op::LessOrEqual,
                Op::GreaterOrEqual => Op::Less,
                Op::And | Op::Or => {
                    let other = if op == Op::And { Op::Or } else { Op::And };
                    let (left, right) = (Box::new((*left).negated()), Box::new((*right).negated()));
                    return rebuilt(Kind::Binary {
                        op: other,
                        left,
                        right,
                        env,
                    });
                }
                _ => {
                    return again(Kind::Binary {
                        op,
                        left,
                        right,
                        env,
                    });
                }
            };
            rebuilt(Kind::Binary {
                op: flipped,
                left,
                right,
                env,
            })
        }
        kind => again(kind),
    }
}

fn conditional(
    branches: Vec<(Node, Node)>,
    otherwise: Option<Box<Node>>,
    if_form: bool,
    ty: &DataType,
    nullable: bool,
) -> Node {
    let mut kept = Vec::new();
    let mut last = otherwise;
    for (when, then) in branches {
        match truth(&when) {
            Some(Some(false) | None) => {}
            Some(Some(true)) => {
                last = Some(Box::new(then));
                break;
            }
            None => kept.push((when, then)),
        }
    }
    if kept.is_empty() {
        return last.map_or_else(|| Node::literal(ScalarValue::Null, ty.clone()), |n| *n);
    }
    Node::new(
        Kind::Case {
            branches: kept,
            otherwise: last,
            if_form,
        },
        ty.clone(),
        nullable,
    )
}

/// `cast(x as bigint) = 5` becomes `x = 5` where x holds 5.
fn unwrapped_cast(node: Node) -> Node {
    let Kind::Binary {
        op,
        left,
        right,
        env,
    } = node.kind
    else {
        return node;
    };
    let rebuilt = |left: Box<Node>, right: Box<Node>| {
        Node::new(
            Kind::Binary {
                op,
                left,
                right,
                env: Arc::clone(&env),
            },
            node.ty.clone(),
            node.nullable,
        )
    };
    if !op.is_comparison() {
        return rebuilt(left, right);
    }
    if let (Kind::Cast { child, .. }, Some(v)) = (&left.kind, right.as_literal())
        && let Some(v) = narrowed(v, &right.ty, &child.ty)
    {
        return rebuilt(child.clone(), Box::new(Node::literal(v, child.ty.clone())));
    }
    if let (Some(v), Kind::Cast { child, .. }) = (left.as_literal(), &right.kind)
        && let Some(v) = narrowed(v, &left.ty, &child.ty)
    {
        return rebuilt(Box::new(Node::literal(v, child.ty.clone())), child.clone());
    }
    rebuilt(left, right)
}

/// The value in the type before the cast, where nothing is lost on the way there and back.
fn narrowed(v: &ScalarValue, from: &DataType, to: &DataType) -> Option<ScalarValue> {
    let numbers = |t: &DataType| {
        is_integral(t)
            || matches!(
                t,
                DataType::Decimal { .. } | DataType::Float | DataType::Double
            )
    };
    if v.is_null()
        || !numbers(from)
        || !numbers(to)
        || castable::can_fail(to, from)
        || matches!(to, DataType::Float)
    {
        return None;
    }
    let env = Arc::new(Env::default());
    let cast = |node: Node, ty: &DataType| {
        Node::new(
            Kind::Cast {
                child: Box::new(node),
                mode: CastMode::Try,
                explicit: false,
                env: Arc::clone(&env),
            },
            ty.clone(),
            true,
        )
    };
    let there = evaluate(&cast(Node::literal(v.clone(), from.clone()), to))
        .ok()
        .filter(|v| !v.is_null())?;
    let back = evaluate(&cast(Node::literal(there.clone(), to.clone()), from)).ok()?;
    (back == *v).then_some(there)
}

/// LIKE with nothing but text and `%` at the ends is a test of that text.
fn likes(node: Node) -> Node {
    let Kind::Like {
        value,
        pattern,
        escape,
        insensitive: false,
    } = &node.kind
    else {
        return node;
    };
    let Some(text) = pattern.as_str() else {
        return node;
    };
    if text.contains('_') || text.contains(*escape) {
        return node;
    }
    let (front, back) = (text.starts_with('%'), text.len() > 1 && text.ends_with('%'));
    let inner = text.trim_start_matches('%').trim_end_matches('%');
    if inner.contains('%') || inner.is_empty() {
        return node;
    }
    let template = match (front, back) {
        (false, false) => {
            let kind = Kind::Binary {
                op: Op::Equal,
                left: value.clone(),
                right: Box::new(Node::string(inner)),
                env: Arc::new(Env::default()),
            };
            return Node::new(kind, DataType::Boolean, node.nullable);
        }
        (false, true) => "StartsWith({0}, {1})",
        (true, false) => "EndsWith({0}, {1})",
        (true, true) => "Contains({0}, {1})",
    };
    let args = vec![value.as_ref().clone(), Node::string(inner)];
    let shown = Shown::Template(template);
    Node::new(
        Kind::Call {
            shown,
            args,
            imp: Imp::Native(first),
        },
        DataType::Boolean,
        node.nullable,
    )
}

/// Printed only; never run.
fn first(args: Vec<datafusion::logical_expr::Expr>) -> datafusion::logical_expr::Expr {
    args.into_iter()
        .next()
        .unwrap_or_else(|| datafusion::logical_expr::lit(true))
}

/// `x IN (1)` is `x = 1`; doubles go.
fn lists(node: Node) -> Node {
    let Kind::In { value, list } = node.kind else {
        return node;
    };
    let mut kept: Vec<Node> = Vec::new();
    for item in list {
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    if kept.len() == 1 && kept.iter().all(|k| k.as_literal().is_some()) {
        let right = Box::new(kept.remove(0));
        let env = Arc::new(Env::default());
        return Node::new(
            Kind::Binary {
                op: Op::Equal,
                left: value,
                right,
                env,
            },
            node.ty,
            node.nullable,
        );
    }
    if let Kind::Cast { child, .. } = &value.kind
        && !kept.is_empty()
    {
        let narrow: Option<Vec<Node>> = kept
            .iter()
            .map(|k| {
                Some(Node::literal(
                    narrowed(k.as_literal()?, &k.ty, &child.ty)?,
                    child.ty.clone(),
                ))
            })
            .collect();
        if let Some(list) = narrow {
            return Node::new(
                Kind::In {
                    value: child.clone(),
                    list,
                },
                node.ty,
                node.nullable,
            );
        }
    }
    Node::new(Kind::In { value, list: kept }, node.ty, node.nullable)
}

/// The node cast to a type, folded where it is a constant; for values that must have that type.
pub fn cast_constant(node: Node, to: &DataType, env: &Arc<Env>) -> Result<ScalarValue> {
    if same_type(&node.ty, to) {
        return evaluate(&node);
    }
    let nullable = node.nullable;
    let kind = Kind::Cast {
        child: Box::new(node),
        mode: CastMode::Ansi,
        explicit: false,
        env: Arc::clone(env),
    };
    evaluate(&Node::new(kind, to.clone(), nullable))
}

/// A cast of a literal that cannot fail, computed; anything else as it is.
pub fn folded_literal(node: Node) -> Node {
    match &node.kind {
        Kind::Cast { child, .. }
            if matches!(child.kind, Kind::Literal(_))
                && !castable::can_fail(&child.ty, &node.ty) =>
        {
            match evaluate(&node) {
                Ok(v) => Node::literal(v, node.ty),
                Err(_) => node,
            }
        }
        _ => node,
    }
}
