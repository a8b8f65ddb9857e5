//! SELECT: hints, the list, WHERE, GROUP BY, HAVING.

use deltaic_protocol::error::{DeltaError, SqlContext};
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, GroupByWithModifier, Ident, LateralView, OptimizerHint,
    OptimizerHintStyle, Select, SelectFlavor, SelectItem, SelectItemQualifiedWildcardKind,
    WildcardAdditionalOptions,
};

use super::{Follow, Parsed, Parser};
use crate::lexer::Kind;

impl Parser<'_> {
    /// `SELECT …` or `FROM … [SELECT …]`.
    pub fn select(&mut self) -> Parsed<Select> {
        if self.is("FROM") {
            let (from, lateral_views) = self.relations_clause()?;
            // Alone it is the relation as it is: clauses of a query block need their SELECT.
            if !self.is("SELECT") {
                return Ok(Select {
                    flavor: SelectFlavor::FromFirstNoSelect,
                    from,
                    lateral_views,
                    ..select(AttachedToken::empty(), vec![star()])
                });
            }
            let mut found = self.select_list()?;
            if found.flavor == SelectFlavor::Standard {
                found.flavor = SelectFlavor::FromFirst;
            }
            found.from = from;
            found.lateral_views = lateral_views;
            found.lateral_views.extend(self.lateral_views()?);
            return self.after_from(found);
        }
        let mut found = self.select_list()?;
        if self.is("FROM") && !self.ends_at(1) {
            let (from, lateral_views) = self.relations_clause()?;
            found.from = from;
            found.lateral_views = lateral_views;
        } else {
            found.lateral_views = self.lateral_views()?;
        }
        self.after_from(found)
    }

    fn select_list(&mut self) -> Parsed<Select> {
        let select_token = self.attached();
        self.expect("SELECT", Follow::Expression)?;
        let mut optimizer_hints = Vec::new();
        while self.is_symbol("/*+") {
            optimizer_hints.push(self.hint()?);
        }
        let distinct = if self.ends_at(1) || self.peek_at(1).is_symbol(".") {
            None
        } else {
            match self.eat_any(&["DISTINCT", "ALL"]) {
                Some("DISTINCT") => Some(Distinct::Distinct),
                Some(_) => Some(Distinct::All),
                None => None,
            }
        };
        let projection = self.comma_separated(Self::select_item)?;
        Ok(Select {
            optimizer_hints,
            distinct,
            ..select(select_token, projection)
        })
    }

    /// `/*+ NAME(args), … */`: checked here, kept as text; [`crate::hints`] reads it.
    fn hint(&mut self) -> Parsed<OptimizerHint> {
        self.at += 1;
        let from = self.at;
        while !self.is_symbol("*/") {
            self.ident()?;
            if self.eat_symbol("(") {
                self.comma_separated(Self::primary)?;
                self.expect_symbol(")", Follow::Other)?;
            }
            self.eat_symbol(",");
        }
        let text = self.text_from(from).to_owned();
        self.at += 1;
        Ok(OptimizerHint {
            prefix: String::new(),
            text,
            style: OptimizerHintStyle::MultiLine,
        })
    }

    fn select_item(&mut self) -> Parsed<SelectItem> {
        let start = self.at;
        if let Some((name, mut options)) = self.wildcard()? {
            if self.eat("AS") || self.alias_follows() {
                options.opt_alias = Some(self.ident()?);
                let place = self.token(start);
                let context = SqlContext::Analysis {
                    line: place.line,
                    pos: place.column,
                };
                let error = DeltaError::new("INVALID_USAGE_OF_STAR_OR_REGEX")
                    .param("elem", "'*'")
                    .param("prettyName", "expression `alias`");
                self.late(error.with_context(context));
            }
            return Ok(match name {
                Some(name) => SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    options,
                ),
                None => SelectItem::Wildcard(options),
            });
        }
        let expr = self.expr()?;
        if self.eat("AS") {
            if self.is_symbol("(") {
                let aliases = self.parenthesized(Self::ident)?;
                return Ok(SelectItem::ExprWithAliases { expr, aliases });
            }
            return Ok(SelectItem::ExprWithAlias {
                expr,
                alias: self.ident()?,
            });
        }
        if self.alias_follows() {
            return Ok(SelectItem::ExprWithAlias {
                expr,
                alias: self.ident()?,
            });
        }
        Ok(SelectItem::UnnamedExpr(expr))
    }

    /// The next token is an alias without AS: a name, and not the keyword of a clause that goes on.
    pub fn alias_follows(&self) -> bool {
        match self.peek().kind {
            Kind::Quoted => true,
            Kind::Word => !self.clause_begins(),
            _ => false,
        }
    }

    /// A keyword of a clause, with what must follow it.
    fn clause_begins(&self) -> bool {
        let by = self.peek_at(1).is("BY");
        match self.peek().value.to_ascii_uppercase().as_str() {
            "FROM" | "WHERE" | "HAVING" | "LIMIT" | "OFFSET" | "UNION" | "EXCEPT" | "INTERSECT"
            | "MINUS" | "SETMINUS" => !self.ends_at(1),
            "GROUP" | "ORDER" | "SORT" | "CLUSTER" | "DISTRIBUTE" => by,
            "LATERAL" => self.peek_at(1).is("VIEW"),
            "WINDOW" => self.peek_at(2).is("AS"),
            "TABLESAMPLE" | "PIVOT" | "UNPIVOT" => self.peek_at(1).is_symbol("("),
            "SELECT" => !self.ends_at(1),
            _ => false,
        }
    }

    fn after_from(&mut self, mut found: Select) -> Parsed<Select> {
        if self.eat("WHERE") {
            found.selection = Some(self.expr()?);
        }
        if self.eat_seq(&["GROUP", "BY"]) {
            found.group_by = self.group_by()?;
        }
        if self.eat("HAVING") {
            found.having = Some(self.expr()?);
        }
        found.named_window = self.window_clause()?;
        Ok(found)
    }

    fn group_by(&mut self) -> Parsed<GroupByExpr> {
        if self.is("ALL") && !self.peek_at(1).is_symbol(".") && !self.peek_at(1).is_symbol(",") {
            self.at += 1;
            return Ok(GroupByExpr::All(Vec::new()));
        }
        let keys = self.comma_separated(Self::group_key)?;
        let mut modifiers = Vec::new();
        if self.eat_seq(&["WITH", "ROLLUP"]) {
            modifiers.push(GroupByWithModifier::Rollup);
        } else if self.eat_seq(&["WITH", "CUBE"]) {
            modifiers.push(GroupByWithModifier::Cube);
        } else if self.is_seq(&["GROUPING", "SETS"]) {
            modifiers.push(GroupByWithModifier::GroupingSets(self.group_key()?));
        }
        Ok(GroupByExpr::Expressions(keys, modifiers))
    }

    fn group_key(&mut self) -> Parsed<Expr> {
        if self.eat_seq(&["GROUPING", "SETS"]) {
            return Ok(Expr::GroupingSets(self.parenthesized(Self::grouping_set)?));
        }
        let called = self.peek_at(1).is_symbol("(");
        if called && self.is("ROLLUP") {
            self.at += 1;
            return Ok(Expr::Rollup(self.parenthesized(Self::grouping_set)?));
        }
        if called && self.is("CUBE") {
            self.at += 1;
            return Ok(Expr::Cube(self.parenthesized(Self::grouping_set)?));
        }
        self.expr()
    }

    fn grouping_set(&mut self) -> Parsed<Vec<Expr>> {
        if self.is_symbol("(") && self.peek_at(1).is_symbol(")") {
            self.at += 2;
            return Ok(Vec::new());
        }
        Ok(match self.expr()? {
            Expr::Tuple(keys) => keys,
            Expr::Nested(key) => vec![*key],
            key => vec![key],
        })
    }

    /// `LATERAL VIEW [OUTER] f(x) t [AS] a, b`.
    pub fn lateral_views(&mut self) -> Parsed<Vec<LateralView>> {
        let mut views = Vec::new();
        while self.eat_seq(&["LATERAL", "VIEW"]) {
            let outer = self.is("OUTER") && self.ident_of(self.peek_at(1)).is_some();
            self.at += usize::from(outer);
            let name = self.object_name()?;
            let lateral_view = self.call(name)?;
            let lateral_view_name = if self.is("AS") || !self.alias_follows() {
                Vec::<Ident>::new()
            } else {
                vec![self.ident()?]
            }
            .into();
            let aliased = self.eat("AS") || self.alias_follows();
            let lateral_col_alias = if aliased {
                self.comma_separated(Self::ident)?
            } else {
                Vec::new()
            };
            views.push(LateralView {
                lateral_view,
                lateral_view_name,
                lateral_col_alias,
                outer,
            });
        }
        Ok(views)
    }
}

/// A SELECT of its list alone.
pub(super) fn select(select_token: AttachedToken, projection: Vec<SelectItem>) -> Select {
    Select {
        select_token,
        optimizer_hints: Vec::new(),
        distinct: None,
        select_modifiers: None,
        top: None,
        top_before_distinct: false,
        projection,
        exclude: None,
        into: None,
        from: Vec::new(),
        lateral_views: Vec::new(),
        prewhere: None,
        selection: None,
        connect_by: Vec::new(),
        group_by: GroupByExpr::Expressions(Vec::new(), Vec::new()),
        cluster_by: Vec::new(),
        distribute_by: Vec::new(),
        sort_by: Vec::new(),
        having: None,
        named_window: Vec::new(),
        qualify: None,
        window_before_qualify: false,
        value_table_mode: None,
        flavor: SelectFlavor::Standard,
    }
}

/// `*`
pub(super) fn star() -> SelectItem {
    SelectItem::Wildcard(WildcardAdditionalOptions::default())
}
