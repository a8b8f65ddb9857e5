//! Names: columns, fields inside them, aliases, parameters of lambdas, columns of the query around.

use deltaic_protocol::Result;
use sqlparser::ast::Ident;

use crate::binder::{Binder, Cx, as_outer};
use crate::node::{Imp, Kind, Node, Shown};

impl Binder<'_> {
    /// `a`, `t.a`, `a.b.c`.
    pub fn name(&self, parts: &[Ident], cx: &Cx<'_>) -> Result<Node> {
        let texts: Vec<&str> = parts.iter().map(|p| p.value.as_str()).collect();
        if let Some(node) = self.find(&texts, cx)? {
            return Ok(node);
        }
        if let [only] = parts
            && only.quote_style.is_none()
            && only.value.eq_ignore_ascii_case("default")
        {
            return Ok(Node::new(
                Kind::Default,
                deltaic_protocol::schema::DataType::Void,
                true,
            ));
        }
        Err(cx.scope.unresolved(&texts))
    }

    fn same(&self, a: &str, b: &str) -> bool {
        if self.options.case_sensitive {
            a == b
        } else {
            a.to_lowercase() == b.to_lowercase()
        }
    }

    /// The expression of a name; None where nothing has it.
    pub fn find(&self, parts: &[&str], cx: &Cx<'_>) -> Result<Option<Node>> {
        let Some(first) = parts.first() else {
            return Ok(None);
        };
        let lambda = cx
            .lambdas
            .borrow()
            .iter()
            .rev()
            .find(|(n, _)| self.same(n, first))
            .map(|(_, node)| node.clone());
        if let Some(node) = lambda {
            return self.fields(node, &parts[1..]).map(Some);
        }
        if let Some((column, used)) = cx.scope.find(parts, self.options.case_sensitive)? {
            let node = column.node(parts[used - 1]);
            return self.fields(node, &parts[used..]).map(Some);
        }
        let alias = cx
            .aliases
            .borrow()
            .iter()
            .rev()
            .find(|(n, _)| self.same(n, first))
            .map(|(_, node)| node.clone());
        if let Some(node) = alias {
            let (ty, nullable) = (node.ty.clone(), node.nullable);
            let shown = Shown::Text(format!("lateralAliasReference({first})"));
            let kind = Kind::Call {
                shown,
                args: vec![],
                imp: Imp::Replace(Box::new(node)),
            };
            return self
                .fields(Node::new(kind, ty, nullable), &parts[1..])
                .map(Some);
        }
        if let Some(around) = cx.around
            && let Some(node) = self.find(parts, around.cx)?
        {
            let mut used = around.used.borrow_mut();
            for child in leaves(&node) {
                if let Kind::Attr(a) | Kind::Outer(a) = &child.kind
                    && !used.iter().any(|(u, _)| u == a)
                {
                    used.push((a.clone(), child.ty.clone()));
                }
            }
            return Ok(Some(as_outer(node)));
        }
        Ok(None)
    }

    fn fields(&self, node: Node, names: &[&str]) -> Result<Node> {
        names
            .iter()
            .try_fold(node, |node, name| self.field(node, name))
    }
}

fn leaves(node: &Node) -> Vec<&Node> {
    let children = node.children();
    if children.is_empty() {
        return vec![node];
    }
    children.into_iter().flat_map(leaves).collect()
}
