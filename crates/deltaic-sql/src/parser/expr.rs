//! Expressions: NOT, AND, OR, then the operators between values by Spark's order of precedence.

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

use super::{Parsed, Parser};
use crate::lexer::Kind;

/// How tight a binary operator binds; 1 is a comparison.
const COMPARISON: u8 = 1;
const TIGHTEST: u8 = 7;

impl Parser<'_> {
    /// Any expression.
    pub fn expr(&mut self) -> Parsed<Expr> {
        self.nested(Self::or_expr)
    }

    fn or_expr(&mut self) -> Parsed<Expr> {
        let mut terms = vec![self.and_expr()?];
        while self.is("OR") && !self.ends_at(1) {
            self.at += 1;
            terms.push(self.and_expr()?);
        }
        balanced(terms, &BinaryOperator::Or).map_or_else(|| self.fail(), Ok)
    }

    fn and_expr(&mut self) -> Parsed<Expr> {
        let mut terms = vec![self.not_expr()?];
        while self.is("AND") && !self.ends_at(1) {
            self.at += 1;
            terms.push(self.not_expr()?);
        }
        balanced(terms, &BinaryOperator::And).map_or_else(|| self.fail(), Ok)
    }

    fn not_expr(&mut self) -> Parsed<Expr> {
        let not = self.is("NOT") && !self.ends_at(1) && !self.peek_at(1).is_symbol(".");
        if not || self.is_symbol("!") {
            self.at += 1;
            let expr = Box::new(self.nested(Self::not_expr)?);
            return Ok(Expr::UnaryOp {
                op: UnaryOperator::Not,
                expr,
            });
        }
        let value = self.value_expr()?;
        self.predicate(value)
    }

    /// The text ends `ahead` tokens from here, or a list item or group does: a keyword before that is a name.
    pub fn ends_at(&self, ahead: usize) -> bool {
        let token = self.peek_at(ahead);
        token.kind == Kind::End || [")", ",", ";"].iter().any(|symbol| token.is_symbol(symbol))
    }

    /// Operators between values, without NOT, AND, OR and predicates.
    pub fn value_expr(&mut self) -> Parsed<Expr> {
        self.nested(|p| p.binary_expr(COMPARISON))
    }

    fn binary_expr(&mut self, lowest: u8) -> Parsed<Expr> {
        let mut left = self.unary_expr()?;
        let mut length = 0;
        while let Some((op, binds)) = self.binary_operator() {
            if binds < lowest {
                break;
            }
            length += 1;
            self.check_length(length)?;
            self.at += 1;
            let right = if binds == TIGHTEST {
                self.unary_expr()?
            } else {
                self.binary_expr(binds + 1)?
            };
            left = binary(left, op, right);
        }
        Ok(left)
    }

    fn binary_operator(&self) -> Option<(BinaryOperator, u8)> {
        use BinaryOperator as Op;
        let token = self.peek();
        if token.is("DIV") && !self.ends_at(1) {
            return Some((Op::MyIntegerDivide, 7));
        }
        if token.kind != Kind::Symbol {
            return None;
        }
        Some(match token.value.as_str() {
            "*" => (Op::Multiply, 7),
            "/" => (Op::Divide, 7),
            "%" => (Op::Modulo, 7),
            "+" => (Op::Plus, 6),
            "-" => (Op::Minus, 6),
            "||" => (Op::StringConcat, 6),
            "<<" => (Op::PGBitwiseShiftLeft, 5),
            ">>" => (Op::PGBitwiseShiftRight, 5),
            ">>>" => (Op::Custom(">>>".to_owned()), 5),
            "&" => (Op::BitwiseAnd, 4),
            "^" => (Op::BitwiseXor, 3),
            "|" => (Op::BitwiseOr, 2),
            "=" | "==" => (Op::Eq, COMPARISON),
            "<=>" => (Op::Spaceship, COMPARISON),
            "<>" | "!=" => (Op::NotEq, COMPARISON),
            "<" => (Op::Lt, COMPARISON),
            "<=" | "!>" => (Op::LtEq, COMPARISON),
            ">" => (Op::Gt, COMPARISON),
            ">=" | "!<" => (Op::GtEq, COMPARISON),
            _ => return None,
        })
    }

    fn unary_expr(&mut self) -> Parsed<Expr> {
        let op = match self.peek() {
            token
                if token.is_symbol("-")
                    && matches!(self.peek_at(1).kind, Kind::Integer | Kind::Number) =>
            {
                return self.primary();
            }
            token if token.is_symbol("-") => UnaryOperator::Minus,
            token if token.is_symbol("+") => UnaryOperator::Plus,
            token if token.is_symbol("~") => UnaryOperator::BitwiseNot,
            _ => return self.primary(),
        };
        self.at += 1;
        let expr = Box::new(self.nested(Self::unary_expr)?);
        Ok(Expr::UnaryOp { op, expr })
    }
}

/// Many terms of AND or OR as a tree that is no deeper than it must be, shaped as Spark's: the first half has the odd one.
fn balanced(mut terms: Vec<Expr>, op: &BinaryOperator) -> Option<Expr> {
    if terms.len() < 2 {
        return terms.pop();
    }
    let second = terms.split_off(terms.len().div_ceil(2));
    Some(binary(
        balanced(terms, op)?,
        op.clone(),
        balanced(second, op)?,
    ))
}

pub(super) fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left),
        op,
        right: Box::new(right),
    }
}
