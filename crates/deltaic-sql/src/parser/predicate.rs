//! What may follow a value once: BETWEEN, IN, LIKE and its kin, IS. Most of these keywords could be an alias too, so each is
//! taken only where the word after it cannot be read otherwise; that also decides where Spark reports an error.

use sqlparser::ast::{Expr, Value, ValueWithSpan};

use super::{Follow, Parsed, Parser};

impl Parser<'_> {
    /// `left`, with the predicate behind it if there is one.
    pub fn predicate(&mut self, left: Expr) -> Parsed<Expr> {
        let negated = self.is("NOT");
        let keyword = usize::from(negated);
        let found = ["BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP"]
            .into_iter()
            .find(|word| self.peek_at(keyword).is(word));
        if !negated && self.is("IS") {
            return self.is_predicate(left);
        }
        let Some(found) = found else { return Ok(left) };
        if self.ends_at(keyword + 1) || found == "IN" && !self.peek_at(keyword + 1).is_symbol("(") {
            return Ok(left);
        }
        self.at += keyword + 1;
        let expr = Box::new(left);
        match found {
            "BETWEEN" => {
                let low = Box::new(self.value_expr()?);
                self.expect("AND", Follow::Expression)?;
                let high = Box::new(self.value_expr()?);
                Ok(Expr::Between {
                    expr,
                    negated,
                    low,
                    high,
                })
            }
            "IN" => self.in_predicate(expr, negated),
            "RLIKE" | "REGEXP" => {
                let pattern = Box::new(self.value_expr()?);
                Ok(Expr::RLike {
                    negated,
                    expr,
                    pattern,
                    regexp: found == "REGEXP",
                })
            }
            _ => self.like(expr, negated, found == "ILIKE"),
        }
    }

    fn in_predicate(&mut self, expr: Box<Expr>, negated: bool) -> Parsed<Expr> {
        self.expect_symbol("(", Follow::Other)?;
        if self.query_begins() {
            let start = self.at;
            let query = self.attempt(|p| {
                let query = p.query()?;
                p.expect_symbol(")", Follow::Other)?;
                Ok(query)
            });
            match query {
                Ok(subquery) => {
                    return Ok(Expr::InSubquery {
                        expr,
                        subquery: Box::new(subquery),
                        negated,
                    });
                }
                Err(stop) if stop.at > start + 1 => return Err(stop),
                Err(_) => {}
            }
        }
        let list = self.comma_separated(Self::expr)?;
        self.expect_symbol(")", Follow::Other)?;
        Ok(Expr::InList {
            expr,
            list,
            negated,
        })
    }

    fn like(&mut self, expr: Box<Expr>, negated: bool, insensitive: bool) -> Parsed<Expr> {
        let quantified = self.is_any(&["ANY", "SOME", "ALL"]) && self.peek_at(1).is_symbol("(");
        if quantified {
            return self.quantified_like(*expr, negated, insensitive);
        }
        let pattern = Box::new(self.value_expr()?);
        let escape_char = if self.eat("ESCAPE") {
            let token = self.peek().clone();
            let value = Value::SingleQuotedString(self.string()?);
            Some(ValueWithSpan {
                value,
                span: self.span_of(&token),
            })
        } else {
            None
        };
        Ok(if insensitive {
            Expr::ILike {
                negated,
                any: false,
                expr,
                pattern,
                escape_char,
            }
        } else {
            Expr::Like {
                negated,
                any: false,
                expr,
                pattern,
                escape_char,
            }
        })
    }

    /// `LIKE ANY (a, b)` is an OR of LIKEs, `LIKE ALL` an AND; with NOT each part is negated.
    fn quantified_like(&mut self, expr: Expr, negated: bool, insensitive: bool) -> Parsed<Expr> {
        use sqlparser::ast::BinaryOperator as Op;
        let op = if self.expect_any(&["ANY", "SOME", "ALL"])? == "ALL" {
            Op::And
        } else {
            Op::Or
        };
        let patterns = self.parenthesized(Self::expr)?;
        let parts = patterns.into_iter().map(|pattern| {
            let (expr, pattern) = (Box::new(expr.clone()), Box::new(pattern));
            if insensitive {
                Expr::ILike {
                    negated,
                    any: false,
                    expr,
                    pattern,
                    escape_char: None,
                }
            } else {
                Expr::Like {
                    negated,
                    any: false,
                    expr,
                    pattern,
                    escape_char: None,
                }
            }
        });
        let joined = parts.reduce(|left, right| super::expr::binary(left, op.clone(), right));
        match joined {
            Some(expr) => Ok(Expr::Nested(Box::new(expr))),
            None => self.fail(),
        }
    }

    fn is_predicate(&mut self, left: Expr) -> Parsed<Expr> {
        let after = self.peek_at(1);
        let known = ["NOT", "NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT"]
            .iter()
            .any(|word| after.is(word));
        if !known {
            return Ok(left);
        }
        self.at += 1;
        let negated = self.eat("NOT");
        let expr = Box::new(left);
        if self.eat("DISTINCT") {
            self.expect("FROM", Follow::Expression)?;
            let right = Box::new(self.value_expr()?);
            return Ok(match negated {
                true => Expr::IsNotDistinctFrom(expr, right),
                false => Expr::IsDistinctFrom(expr, right),
            });
        }
        Ok(
            match (
                self.expect_any(&["NULL", "TRUE", "FALSE", "UNKNOWN"])?,
                negated,
            ) {
                ("NULL", false) => Expr::IsNull(expr),
                ("NULL", true) => Expr::IsNotNull(expr),
                ("TRUE", false) => Expr::IsTrue(expr),
                ("TRUE", true) => Expr::IsNotTrue(expr),
                ("FALSE", false) => Expr::IsFalse(expr),
                ("FALSE", true) => Expr::IsNotFalse(expr),
                (_, false) => Expr::IsUnknown(expr),
                (_, true) => Expr::IsNotUnknown(expr),
            },
        )
    }
}
