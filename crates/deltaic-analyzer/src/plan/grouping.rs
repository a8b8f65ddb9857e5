//! GROUP BY: keys by position, alias or expression, ALL, and the sets of ROLLUP, CUBE and GROUPING SETS.

use chrono_tz::Tz;
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{Expr, GroupByExpr, GroupByWithModifier};

use super::order::position;
use super::stars::Item;
use crate::binder::{Binder, Cx};
use crate::error::quoted;
use crate::names::pretty;
use crate::node::{Imp, Kind, Node, Shown};
use crate::types::{has_variant, shown};

/// The keys of a GROUP BY.
#[derive(Clone, Debug, Default)]
pub struct Grouping {
    /// All keys, each once.
    pub keys: Vec<Node>,
    /// Which keys each set groups by; None for one set of all.
    pub sets: Option<Vec<Vec<usize>>>,
}

impl Binder<'_> {
    /// The keys of a GROUP BY.
    pub fn grouping(&self, by: &GroupByExpr, items: &[Item], cx: &Cx<'_>) -> Result<Grouping> {
        let mut out = Grouping::default();
        let (exprs, modifiers) = match by {
            GroupByExpr::All(_) => {
                for item in items {
                    if !item.node.has_aggregate() && !item.node.is_foldable() {
                        out.add(item.node.clone());
                    }
                }
                return Ok(out);
            }
            GroupByExpr::Expressions(exprs, modifiers) => (exprs, modifiers),
        };
        // Each element gives sets of keys; the whole is their product.
        let mut parts: Vec<Vec<Vec<usize>>> = Vec::new();
        for e in exprs {
            parts.push(match e {
                Expr::Rollup(groups) => rollup(&self.key_groups(groups, items, cx, &mut out)?),
                Expr::Cube(groups) => cube(&self.key_groups(groups, items, cx, &mut out)?),
                Expr::GroupingSets(groups) => self.key_groups(groups, items, cx, &mut out)?,
                e => {
                    let node = self.key(e, items, cx)?;
                    vec![vec![out.add(node)]]
                }
            });
        }
        let plain = parts.iter().all(|p| p.len() == 1);
        let mut sets = product(&parts);
        for m in modifiers {
            let all: Vec<Vec<usize>> = parts.iter().flatten().cloned().collect();
            match m {
                GroupByWithModifier::Rollup => sets = rollup(&all),
                GroupByWithModifier::Cube => sets = cube(&all),
                GroupByWithModifier::GroupingSets(Expr::GroupingSets(groups)) => {
                    sets = self.key_groups(groups, items, cx, &mut out)?;
                }
                other => return Err(crate::error::unsupported(format!("GROUP BY … {other}"))),
            }
        }
        if !plain || !modifiers.is_empty() {
            out.sets = Some(sets);
        }
        Ok(out)
    }

    fn key_groups(
        &self,
        groups: &[Vec<Expr>],
        items: &[Item],
        cx: &Cx<'_>,
        out: &mut Grouping,
    ) -> Result<Vec<Vec<usize>>> {
        groups
            .iter()
            .map(|g| {
                g.iter()
                    .map(|e| Ok(out.add(self.key(e, items, cx)?)))
                    .collect::<Result<Vec<_>>>()
            })
            .collect()
    }

    fn key(&self, e: &Expr, items: &[Item], cx: &Cx<'_>) -> Result<Node> {
        let zone = self.options.zone;
        if let Some(n) = position(e).filter(|_| self.options.ordinals) {
            let item = usize::try_from(n - 1).ok().and_then(|n| items.get(n));
            let Some(item) = item else {
                return Err(DeltaError::new("GROUP_BY_POS_OUT_OF_RANGE")
                    .param("index", n)
                    .param("size", items.len()));
            };
            if item.node.has_aggregate() {
                return Err(DeltaError::new("GROUP_BY_POS_AGGREGATE")
                    .param("index", n)
                    .param("aggExpr", pretty(&item.node, zone)));
            }
            return comparable(item.node.clone(), zone);
        }
        let node = dereferenced(self.expr(e, cx)?);
        if node.has_aggregate() {
            return Err(
                DeltaError::new("GROUP_BY_AGGREGATE").param("sqlExpr", quoted(pretty(&node, zone)))
            );
        }
        comparable(node, zone)
    }
}

/// A key if its values can be told equal: two variants that are may differ in their bytes.
fn comparable(node: Node, zone: Tz) -> Result<Node> {
    if has_variant(&node.ty) {
        return Err(DeltaError::new("GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE")
            .param("sqlExpr", quoted(pretty(&node, zone)))
            .param("dataType", shown(&node.ty)));
    }
    Ok(node)
}

impl Grouping {
    fn add(&mut self, node: Node) -> usize {
        match self.keys.iter().position(|k| *k == node) {
            Some(n) => n,
            None => {
                self.keys.push(node);
                self.keys.len() - 1
            }
        }
    }
}

/// What an alias of the list stands for.
pub fn dereferenced(node: Node) -> Node {
    match node.kind {
        Kind::Call {
            shown: Shown::Text(ref text),
            imp: Imp::Replace(inner),
            ..
        } if text.starts_with("lateralAliasReference(") => *inner,
        kind => Node {
            kind,
            ty: node.ty,
            nullable: node.nullable,
        },
    }
}

fn rollup(groups: &[Vec<usize>]) -> Vec<Vec<usize>> {
    (0..=groups.len())
        .rev()
        .map(|n| groups[..n].concat())
        .collect()
}

fn cube(groups: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let n = groups.len().min(16);
    let mut sets: Vec<Vec<usize>> = (0..1usize << n)
        .map(|mask| {
            (0..n)
                .filter(|i| mask & (1 << (n - 1 - i)) != 0)
                .flat_map(|i| groups[i].clone())
                .collect()
        })
        .collect();
    sets.reverse();
    sets
}

fn product(parts: &[Vec<Vec<usize>>]) -> Vec<Vec<usize>> {
    parts.iter().fold(vec![vec![]], |so_far, next| {
        so_far
            .iter()
            .flat_map(|a| {
                next.iter()
                    .map(move |b| [a.as_slice(), b.as_slice()].concat())
            })
            .collect()
    })
}
