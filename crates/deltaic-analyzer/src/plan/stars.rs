//! The list of a SELECT: stars expanded, each item an expression with the name of its column.

use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{SelectItem, SelectItemQualifiedWildcardKind, WildcardAdditionalOptions};

use crate::binder::{Binder, Cx};
use crate::error::{quoted, unsupported};
use crate::names::column_name;
use crate::node::{Kind, Node};
use crate::scope::ScopeColumn;

/// An item of the list.
#[derive(Clone, Debug)]
pub struct Item {
    /// The name of its column.
    pub name: String,
    /// What it computes.
    pub node: Node,
    /// The column that it is, unchanged, with its qualifier.
    pub source: Option<ScopeColumn>,
    /// Names of a generator's columns.
    pub names: Vec<String>,
}

impl Binder<'_> {
    /// The items of a SELECT.
    pub fn items(&self, list: &[SelectItem], cx: &Cx<'_>) -> Result<Vec<Item>> {
        let mut out = Vec::new();
        for item in list {
            match item {
                SelectItem::UnnamedExpr(e) => {
                    let node = self.expr(e, cx)?;
                    // The spelling of a nested field is the statement's.
                    let name = match (e, &node.kind) {
                        (sqlparser::ast::Expr::CompoundIdentifier(parts), Kind::Field { .. }) => {
                            parts.last().map_or_else(String::new, |p| p.value.clone())
                        }
                        _ => column_name(&node, self.options.zone),
                    };
                    out.push(self.item_of(name, node, cx, false));
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let node = self.expr(expr, cx)?;
                    cx.aliases
                        .borrow_mut()
                        .push((alias.value.clone(), node.clone()));
                    let mut item = self.item_of(alias.value.clone(), node, cx, true);
                    item.names = vec![alias.value.clone()];
                    out.push(item);
                }
                SelectItem::ExprWithAliases { expr, aliases } => {
                    let node = self.expr(expr, cx)?;
                    let mut item = self.item_of(String::new(), node, cx, true);
                    item.names = aliases.iter().map(|a| a.value.clone()).collect();
                    if !matches!(item.node.kind, Kind::Generator(_)) {
                        return Err(DeltaError::new("MULTI_ALIAS_WITHOUT_GENERATOR")
                            .param("expr", quoted(expr))
                            .param("names", item.names.join(", ")));
                    }
                    out.push(item);
                }
                SelectItem::Wildcard(options) => {
                    let columns: Vec<&ScopeColumn> = cx.scope.visible().collect();
                    if columns.is_empty() && cx.scope.columns.is_empty() {
                        return Err(DeltaError::new("INVALID_USAGE_OF_STAR_OR_REGEX")
                            .param("elem", "'*'")
                            .param("prettyName", "expression `Project`"));
                    }
                    out.extend(self.starred(columns, options)?);
                }
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    options,
                ) => {
                    let parts: Vec<String> = name
                        .0
                        .iter()
                        .filter_map(|p| p.as_ident().map(|i| i.value.clone()))
                        .collect();
                    let texts: Vec<&str> = parts.iter().map(String::as_str).collect();
                    match cx.scope.under(&texts, self.options.case_sensitive) {
                        Some(columns) => out.extend(self.starred(columns, options)?),
                        None => out.extend(self.fields_of(&texts, cx)?),
                    }
                }
                other => return Err(unsupported(format!("the item {other}"))),
            }
        }
        Ok(out)
    }

    fn item_of(&self, name: String, node: Node, cx: &Cx<'_>, aliased: bool) -> Item {
        let source = match &node.kind {
            Kind::Attr(a) if !aliased => cx.scope.columns.iter().find(|c| c.attr == *a).cloned(),
            _ => None,
        };
        Item {
            name,
            node,
            source,
            names: vec![],
        }
    }

    fn starred(
        &self,
        columns: Vec<&ScopeColumn>,
        options: &WildcardAdditionalOptions,
    ) -> Result<Vec<Item>> {
        let mut dropped: Vec<String> = Vec::new();
        if let Some(except) = &options.opt_except {
            for name in std::iter::once(&except.first_element).chain(&except.additional_elements) {
                if !columns
                    .iter()
                    .any(|c| c.attr.name.eq_ignore_ascii_case(&name.value))
                {
                    let all: Vec<String> = columns
                        .iter()
                        .map(|c| format!("`{}`", c.attr.name))
                        .collect();
                    return Err(DeltaError::new("UNRESOLVED_COLUMN.WITH_SUGGESTION")
                        .param("objectName", format!("`{}`", name.value))
                        .param("proposal", all.join(", ")));
                }
                dropped.push(name.value.to_lowercase());
            }
        }
        Ok(columns
            .into_iter()
            .filter(|c| !dropped.contains(&c.attr.name.to_lowercase()))
            .map(|c| Item {
                name: c.attr.name.clone(),
                node: c.node(&c.attr.name),
                source: Some(c.clone()),
                names: vec![],
            })
            .collect())
    }

    /// `s.*` of a struct.
    fn fields_of(&self, parts: &[&str], cx: &Cx<'_>) -> Result<Vec<Item>> {
        let Some(node) = self.find(parts, cx)? else {
            let mut qualifiers: Vec<String> = Vec::new();
            for c in &cx.scope.columns {
                if !qualifiers.contains(&c.attr.name) {
                    qualifiers.push(c.attr.name.clone());
                }
            }
            return Err(DeltaError::new("CANNOT_RESOLVE_STAR_EXPAND")
                .param("targetString", crate::error::backticked(parts))
                .param(
                    "columns",
                    qualifiers
                        .iter()
                        .map(|q| format!("`{q}`"))
                        .collect::<Vec<_>>()
                        .join(", "),
                ));
        };
        let DataType::Struct(s) = node.ty.clone() else {
            return Err(DeltaError::new("CANNOT_RESOLVE_STAR_EXPAND")
                .param("targetString", crate::error::backticked(parts))
                .param("columns", ""));
        };
        s.fields
            .iter()
            .map(|f| {
                let field = self.field(node.clone(), &f.name)?;
                Ok(Item {
                    name: f.name.clone(),
                    node: field,
                    source: None,
                    names: vec![],
                })
            })
            .collect()
    }
}
