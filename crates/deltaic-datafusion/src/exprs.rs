//! Small questions about DataFusion's expressions.

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Expr;
use deltaic_protocol::error::Result;

use crate::error::Classed;

/// An expression whose columns name no table.
pub(crate) fn unqualified(expr: Expr) -> Result<Expr> {
    expr.transform(|node| match node {
        Expr::Column(mut column) if column.relation.is_some() => {
            column.relation = None;
            Ok(Transformed::yes(Expr::Column(column)))
        }
        other => Ok(Transformed::no(other)),
    })
    .map(|done| done.data)
    .classed()
}

/// The columns of an expression, each once, in the order of appearance; a struct's field by its path.
pub(crate) fn referenced(expr: &Expr) -> Vec<Vec<String>> {
    let mut out: Vec<Vec<String>> = Vec::new();
    collect(expr, &mut out);
    out
}

fn collect(expr: &Expr, out: &mut Vec<Vec<String>>) {
    let walked = expr.apply(|node| {
        if let Some(path) = path_of(node) {
            if !out.contains(&path) {
                out.push(path);
            }
            return Ok(TreeNodeRecursion::Jump);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    debug_assert!(walked.is_ok());
}

fn path_of(expr: &Expr) -> Option<Vec<String>> {
    match expr {
        Expr::Column(column) => Some(vec![column.name.clone()]),
        Expr::ScalarFunction(call) if call.name() == "get_field" => {
            let (base, keys) = call.args.split_first()?;
            let mut path = path_of(base)?;
            for key in keys {
                match key {
                    Expr::Literal(value, _) => path.push(value.try_as_str().flatten()?.to_string()),
                    _ => return None,
                }
            }
            Some(path)
        }
        _ => None,
    }
}
