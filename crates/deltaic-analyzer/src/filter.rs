//! Conditions of filters: WHERE, HAVING, and the conditions of DELETE and UPDATE.

use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{Expr, lit};
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use crate::lower::{as_int, conjuncts, is_fallible, lower, truth};
use crate::node::{Kind, Node, SubqueryKind};
use crate::value::value;

/// A condition of WHERE: NULL counts as false, and what can fail only sees rows that the rest has let through.
pub fn lower_filter(node: &Node) -> Result<Vec<Expr>> {
    let mut plain = Vec::new();
    let mut guarded = Vec::new();
    for part in conjuncts(node) {
        if is_fallible(part) {
            guarded.push(part)
        } else {
            plain.push(part)
        }
    }
    let mut out = plain
        .iter()
        .map(|p| filter_part(p))
        .collect::<Result<Vec<_>>>()?;
    let mut before = out.clone();
    for part in guarded {
        let condition = filter_part(part)?;
        let guard = before.iter().cloned().reduce(Expr::and);
        out.push(match guard {
            None => condition.clone(),
            Some(guard) => truth(Expr::Case(Case::new(
                None,
                vec![(
                    Box::new(Expr::IsTrue(Box::new(guard))),
                    Box::new(as_int(condition.clone())),
                )],
                Some(Box::new(lit(0_i8))),
            ))),
        });
        before.push(condition);
    }
    Ok(out)
}

/// A part of a filter's conjunction. DataFusion joins with what EXISTS and IN ask for, but there IN knows only true and
/// false: where its NULL matters it is computed as a value.
///
/// # Errors
/// IN over several columns where its NULL matters.
pub fn filter_part(node: &Node) -> Result<Expr> {
    let (inner, negated) = match &node.unaliased().kind {
        Kind::Not(child) => (child.unaliased(), true),
        _ => (node.unaliased(), false),
    };
    if let Kind::Subquery(s) = &inner.kind
        && let SubqueryKind::In(sought) = &s.kind
    {
        let DataType::Struct(fields) = &sought.ty else {
            // Joined with a null-aware join, which takes one column: what the subquery takes from around it is another.
            return match negated && !s.outer.is_empty() {
                true => value(node),
                false => lower(node),
            };
        };
        if negated {
            return Err(several_columns());
        }
        // A NULL field equals no other.
        let whole = lower(sought)?;
        let known = fields.fields.iter().map(|field| {
            datafusion::functions::core::get_field()
                .call(vec![whole.clone(), lit(field.name.clone())])
                .is_not_null()
        });
        return Ok(known.fold(lower(node)?, Expr::and));
    }
    match nested_in(node) {
        None => lower(node),
        Some(true) => Err(several_columns()),
        Some(false) => value(node),
    }
}

fn several_columns() -> DeltaError {
    DeltaError::not_supported_yet("IN over several columns, negated or inside another condition,")
}

/// Whether IN over a subquery stands somewhere inside, and whether one of them is over several columns.
fn nested_in(node: &Node) -> Option<bool> {
    let own = match &node.kind {
        Kind::Subquery(s) => match &s.kind {
            SubqueryKind::In(value) => Some(matches!(value.ty, DataType::Struct(_))),
            _ => None,
        },
        _ => None,
    };
    let inside = node.children().into_iter().filter_map(nested_in);
    own.into_iter().chain(inside).reduce(|a, b| a || b)
}

/// Whether IN over several columns of a subquery stands anywhere.
pub fn has_several_columns(node: &Node) -> bool {
    nested_in(node) == Some(true)
}
