//! Windows: OVER, WINDOW and frames; and the sort items they share with ORDER BY.

use sqlparser::ast::{
    Expr, Ident, NamedWindowDefinition, NamedWindowExpr, OrderByExpr, OrderByOptions, WindowFrame,
    WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType,
};

use super::{Follow, Parsed, Parser};

impl Parser<'_> {
    /// What follows OVER: a name, `(name)`, or a specification.
    pub fn window_reference(&mut self) -> Parsed<WindowType> {
        if !self.is_symbol("(") {
            return Ok(WindowType::NamedWindow(self.ident()?));
        }
        if self.ident_of(self.peek_at(1)).is_some() && self.peek_at(2).is_symbol(")") {
            self.at += 1;
            let name = self.ident()?;
            self.at += 1;
            return Ok(WindowType::NamedWindow(name));
        }
        Ok(WindowType::WindowSpec(self.window_spec()?))
    }

    fn window_spec(&mut self) -> Parsed<WindowSpec> {
        self.expect_symbol("(", Follow::Other)?;
        let mut spec = WindowSpec {
            window_name: None,
            partition_by: Vec::new(),
            order_by: Vec::new(),
            window_frame: None,
        };
        if self.eat_seq(&["CLUSTER", "BY"]) {
            spec.partition_by = self.comma_separated(Self::expr)?;
            spec.order_by = spec.partition_by.iter().cloned().map(ascending).collect();
        } else {
            if self.eat_seq(&["PARTITION", "BY"]) || self.eat_seq(&["DISTRIBUTE", "BY"]) {
                spec.partition_by = self.comma_separated(Self::expr)?;
            }
            if self.eat_seq(&["ORDER", "BY"]) || self.eat_seq(&["SORT", "BY"]) {
                spec.order_by = self.comma_separated(Self::sort_item)?;
            }
        }
        spec.window_frame = self.frame()?;
        self.expect_symbol(")", Follow::Other)?;
        Ok(spec)
    }

    fn frame(&mut self) -> Parsed<Option<WindowFrame>> {
        let units = match self.eat_any(&["RANGE", "ROWS"]) {
            Some("RANGE") => WindowFrameUnits::Range,
            Some(_) => WindowFrameUnits::Rows,
            None => return Ok(None),
        };
        let between = self.eat("BETWEEN");
        let start_bound = self.bound()?;
        let end_bound = if between {
            self.expect("AND", Follow::Expression)?;
            Some(self.bound()?)
        } else {
            None
        };
        Ok(Some(WindowFrame {
            units,
            start_bound,
            end_bound,
        }))
    }

    fn bound(&mut self) -> Parsed<WindowFrameBound> {
        if self.eat_seq(&["CURRENT", "ROW"]) {
            return Ok(WindowFrameBound::CurrentRow);
        }
        let distance = if self.eat("UNBOUNDED") {
            None
        } else {
            Some(Box::new(self.expr()?))
        };
        Ok(match self.expect_any(&["PRECEDING", "FOLLOWING"])? {
            "PRECEDING" => WindowFrameBound::Preceding(distance),
            _ => WindowFrameBound::Following(distance),
        })
    }

    /// `WINDOW w AS (…), v AS w`.
    pub fn window_clause(&mut self) -> Parsed<Vec<NamedWindowDefinition>> {
        if !(self.is("WINDOW") && self.peek_at(2).is("AS")) {
            return Ok(Vec::new());
        }
        self.at += 1;
        self.comma_separated(|p| {
            let name: Ident = p.ident()?;
            p.expect("AS", Follow::Other)?;
            Ok(NamedWindowDefinition(
                name,
                match p.window_reference()? {
                    WindowType::NamedWindow(other) => NamedWindowExpr::NamedWindow(other),
                    WindowType::WindowSpec(spec) => NamedWindowExpr::WindowSpec(spec),
                },
            ))
        })
    }

    /// `expr [ASC | DESC] [NULLS FIRST | LAST]`.
    pub fn sort_item(&mut self) -> Parsed<OrderByExpr> {
        let expr = self.expr()?;
        let options = self.sort_options()?;
        Ok(OrderByExpr {
            expr,
            options,
            with_fill: None,
        })
    }

    pub fn sort_options(&mut self) -> Parsed<OrderByOptions> {
        let asc = self.eat_any(&["ASC", "DESC"]).map(|word| word == "ASC");
        let nulls_first = if self.eat("NULLS") {
            Some(self.expect_any(&["FIRST", "LAST"])? == "FIRST")
        } else {
            None
        };
        Ok(OrderByOptions { asc, nulls_first })
    }
}

fn ascending(expr: Expr) -> OrderByExpr {
    OrderByExpr {
        expr,
        options: OrderByOptions {
            asc: None,
            nulls_first: None,
        },
        with_fill: None,
    }
}
