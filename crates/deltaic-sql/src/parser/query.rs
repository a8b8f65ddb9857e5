//! Queries: CTEs, set operations, VALUES, TABLE, and what orders and limits the whole.

use deltaic_protocol::error::DeltaError;
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    Cte, Expr, LimitClause, Offset, OffsetRows, OrderBy, OrderByExpr, OrderByKind, Parens, Query,
    SetExpr, SetOperator, SetQuantifier, TableAlias, TableFactor, TableWithJoins, Values, With,
};

use super::select::{select, star};
use super::{Follow, Parsed, Parser};

/// ORDER BY and its kin behind a query.
#[derive(Default)]
struct Organization {
    order_by: Option<OrderBy>,
    cluster_by: Vec<Expr>,
    distribute_by: Vec<Expr>,
    sort_by: Vec<OrderByExpr>,
}

impl Organization {
    /// How many of the clauses that Spark does not combine are there.
    fn sorts(&self) -> usize {
        let found = [
            self.order_by.is_some(),
            !self.cluster_by.is_empty(),
            !self.sort_by.is_empty() || !self.distribute_by.is_empty(),
        ];
        found.into_iter().filter(|found| *found).count()
    }
}

impl Parser<'_> {
    /// A query could begin here.
    pub fn query_begins(&self) -> bool {
        self.query_begins_at(0)
    }

    pub fn query_begins_at(&self, mut ahead: usize) -> bool {
        while self.peek_at(ahead).is_symbol("(") {
            ahead += 1;
        }
        let token = self.peek_at(ahead);
        let word = ["SELECT", "WITH", "VALUES", "FROM", "TABLE"]
            .iter()
            .any(|word| token.is(word));
        let after = self.peek_at(ahead + 1);
        word && !self.ends_at(ahead + 1) && !after.is_symbol(".") && !after.is_symbol("=")
    }

    pub fn query(&mut self) -> Parsed<Query> {
        self.nested(Self::whole_query)
    }

    fn whole_query(&mut self) -> Parsed<Query> {
        let with = self.ctes()?;
        self.query_after(with)
    }

    /// The query behind its CTEs, which INSERT may put in front of itself.
    pub fn query_after(&mut self, with: Option<With>) -> Parsed<Query> {
        let body = self.union_term()?;
        self.organized(with, body)
    }

    /// `WITH [RECURSIVE] a [(cols)] AS (query), …`.
    pub fn ctes(&mut self) -> Parsed<Option<With>> {
        if !self.is("WITH") {
            return Ok(None);
        }
        let with_token = self.attached();
        self.at += 1;
        let recursive = self.is("RECURSIVE")
            && self.ident_of(self.peek_at(1)).is_some()
            && !self.peek_at(1).is("AS");
        self.at += usize::from(recursive);
        let cte_tables = self.comma_separated(Self::cte)?;
        Ok(Some(With {
            with_token,
            recursive,
            cte_tables,
        }))
    }

    fn cte(&mut self) -> Parsed<Cte> {
        let name = self.ident()?;
        let columns = if self.is_symbol("(") && !self.query_begins_at(1) {
            self.column_aliases()?
        } else {
            Vec::new()
        };
        self.eat("AS");
        self.expect_symbol("(", Follow::Other)?;
        let query = Box::new(self.query()?);
        let closing_paren_token = self.attached();
        self.expect_symbol(")", Follow::Other)?;
        let alias = TableAlias {
            explicit: true,
            name,
            columns,
            at: None,
        };
        Ok(Cte {
            alias,
            query,
            from: None,
            materialized: None,
            closing_paren_token,
        })
    }

    fn union_term(&mut self) -> Parsed<SetExpr> {
        let mut left = self.intersect_term()?;
        let mut length = 0;
        while !self.ends_at(1) {
            let op = match self.eat_any(&["UNION", "EXCEPT", "MINUS", "SETMINUS"]) {
                Some("UNION") => SetOperator::Union,
                Some("EXCEPT") => SetOperator::Except,
                Some(_) => SetOperator::Minus,
                None => break,
            };
            length += 1;
            self.check_length(length)?;
            let set_quantifier = self.set_quantifier();
            let right = self.intersect_term()?;
            left = SetExpr::SetOperation {
                left: Box::new(left),
                op,
                set_quantifier,
                right: Box::new(right),
            };
        }
        Ok(left)
    }

    fn intersect_term(&mut self) -> Parsed<SetExpr> {
        let mut left = self.query_primary()?;
        while self.is("INTERSECT") && !self.ends_at(1) {
            self.at += 1;
            let set_quantifier = self.set_quantifier();
            let right = self.query_primary()?;
            let op = SetOperator::Intersect;
            left = SetExpr::SetOperation {
                left: Box::new(left),
                op,
                set_quantifier,
                right: Box::new(right),
            };
        }
        Ok(left)
    }

    fn set_quantifier(&mut self) -> SetQuantifier {
        match self.eat_any(&["ALL", "DISTINCT"]) {
            Some("ALL") => SetQuantifier::All,
            Some(_) => SetQuantifier::Distinct,
            None => SetQuantifier::None,
        }
    }

    fn query_primary(&mut self) -> Parsed<SetExpr> {
        if self.is_symbol("(") {
            self.at += 1;
            let query = self.query()?;
            self.expect_symbol(")", Follow::Other)?;
            return Ok(SetExpr::Query(Box::new(query)));
        }
        if self.is("SELECT") || self.is("FROM") {
            return Ok(SetExpr::Select(Box::new(self.select()?)));
        }
        if self.is("VALUES") {
            return self.inline_table();
        }
        if self.eat("TABLE") {
            let name = self.object_name()?;
            let relation = self.table_factor(name, None, None);
            return Ok(all_of(relation));
        }
        self.fail()
    }

    /// `VALUES (1, 'a'), (2, 'b') [AS t(x, y)]`.
    fn inline_table(&mut self) -> Parsed<SetExpr> {
        let values = self.values()?;
        let alias = self.table_alias()?;
        if alias.is_none() {
            return Ok(SetExpr::Values(values));
        }
        let subquery = Box::new(query_of(SetExpr::Values(values)));
        Ok(all_of(TableFactor::Derived {
            lateral: false,
            subquery,
            alias,
            sample: None,
        }))
    }

    pub fn values(&mut self) -> Parsed<Values> {
        self.expect("VALUES", Follow::Expression)?;
        let rows = self.comma_separated(Self::expr)?.into_iter().map(|row| {
            Parens::with_empty_span(match row {
                Expr::Tuple(fields) => fields.into_iter().map(unnamed).collect(),
                Expr::Nested(only) => vec![*only],
                only => vec![only],
            })
        });
        Ok(Values {
            explicit_row: false,
            value_keyword: false,
            rows: rows.collect(),
        })
    }

    fn organized(&mut self, with: Option<With>, mut body: SetExpr) -> Parsed<Query> {
        let start = self.at;
        let mut organization = Organization::default();
        if self.eat_seq(&["ORDER", "BY"]) {
            organization.order_by = Some(self.order_by()?);
        }
        if self.eat_seq(&["CLUSTER", "BY"]) {
            organization.cluster_by = self.comma_separated(Self::expr)?;
        }
        if self.eat_seq(&["DISTRIBUTE", "BY"]) {
            organization.distribute_by = self.comma_separated(Self::expr)?;
        }
        if self.eat_seq(&["SORT", "BY"]) {
            organization.sort_by = self.comma_separated(Self::sort_item)?;
        }
        let windows = self.window_clause()?;
        if let SetExpr::Select(select) = &mut body {
            select.named_window.extend(windows);
        }
        let sorts = organization.sorts();
        let Organization {
            order_by,
            cluster_by,
            distribute_by,
            sort_by,
        } = organization;
        if !(cluster_by.is_empty() && distribute_by.is_empty() && sort_by.is_empty()) {
            if !matches!(body, SetExpr::Select(_)) {
                let subquery = Box::new(query_of(body));
                body = all_of(TableFactor::Derived {
                    lateral: false,
                    subquery,
                    alias: None,
                    sample: None,
                });
            }
            if let SetExpr::Select(select) = &mut body {
                select.cluster_by = cluster_by;
                select.distribute_by = distribute_by;
                select.sort_by = sort_by;
            }
        }
        let limit_clause = self.limit()?;
        if sorts > 1 {
            let error = DeltaError::new("UNSUPPORTED_FEATURE.COMBINATION_QUERY_RESULT_CLAUSES")
                .with_java_class("org.apache.spark.sql.catalyst.parser.ParseException")
                .with_context(self.fragment(start));
            self.late(error);
        }
        Ok(Query {
            with,
            order_by,
            limit_clause,
            ..query_of(body)
        })
    }

    fn order_by(&mut self) -> Parsed<OrderBy> {
        if self.is("ALL") && !self.peek_at(1).is_symbol(".") && !self.peek_at(1).is_symbol(",") {
            self.at += 1;
            return Ok(OrderBy {
                kind: OrderByKind::All(self.sort_options()?),
                interpolate: None,
            });
        }
        let items = self.comma_separated(Self::sort_item)?;
        Ok(OrderBy {
            kind: OrderByKind::Expressions(items),
            interpolate: None,
        })
    }

    fn limit(&mut self) -> Parsed<Option<LimitClause>> {
        let limited = self.eat("LIMIT");
        let limit = if limited && !self.eat("ALL") {
            Some(self.expr()?)
        } else {
            None
        };
        let offset = if self.eat("OFFSET") {
            Some(Offset {
                value: self.expr()?,
                rows: OffsetRows::None,
            })
        } else {
            None
        };
        if limit.is_none() && offset.is_none() {
            return Ok(None);
        }
        Ok(Some(LimitClause::LimitOffset {
            limit,
            offset,
            limit_by: Vec::new(),
        }))
    }
}

/// A query that is only its body.
pub(super) fn query_of(body: SetExpr) -> Query {
    Query {
        with: None,
        body: Box::new(body),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}

/// `SELECT * FROM relation`.
fn all_of(relation: TableFactor) -> SetExpr {
    let mut select = select(AttachedToken::empty(), vec![star()]);
    select.from = vec![TableWithJoins {
        relation,
        joins: Vec::new(),
    }];
    SetExpr::Select(Box::new(select))
}

fn unnamed(field: Expr) -> Expr {
    match field {
        Expr::Named { expr, .. } => *expr,
        other => other,
    }
}
