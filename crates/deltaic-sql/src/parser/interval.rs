//! Interval literals: `INTERVAL 12 HOURS`, `INTERVAL '1' DAY`, `INTERVAL 1 DAY 2 HOURS`, `INTERVAL '1 2:3:4' DAY TO SECOND`,
//! `INTERVAL '1 day'`. Several units become one string such as `1 day 2 hours`; [`crate::interval`] gives the value.

use sqlparser::ast::{DateTimeField, Expr, Interval, UnaryOperator};
use sqlparser::tokenizer::Span;

use super::{Parsed, Parser};
use crate::lexer::Kind;

impl Parser<'_> {
    /// The word INTERVAL starts a literal here, not a column.
    pub fn interval_begins(&self) -> bool {
        let after = self.peek_at(1);
        match after.kind {
            Kind::Text | Kind::Integer | Kind::Number => true,
            Kind::Symbol => match after.value.as_str() {
                "+" | "-" => {
                    matches!(
                        self.peek_at(2).kind,
                        Kind::Text | Kind::Integer | Kind::Number
                    ) && unit(&self.peek_at(3).value).is_some()
                }
                "?" => unit(&self.peek_at(2).value).is_some(),
                ":" => unit(&self.peek_at(3).value).is_some(),
                _ => false,
            },
            _ => false,
        }
    }

    pub fn interval(&mut self) -> Parsed<Expr> {
        self.at += 1;
        let value = self.interval_value()?;
        let Some(leading) = self.unit() else {
            // `INTERVAL '1 day'`: the units stand in the text.
            return match crate::literal::text_of(&value) {
                Some(_) if self.token(self.at - 1).kind == Kind::Text => {
                    Ok(interval(value, None, None))
                }
                _ => self.fail(),
            };
        };
        if self.is("TO") && unit(&self.peek_at(1).value).is_some() {
            self.at += 1;
            let last = self.unit();
            return Ok(interval(value, Some(leading), last));
        }
        if !self.another_unit() {
            return Ok(interval(value, Some(leading), None));
        }
        let mut parts = vec![part(&value, &leading)];
        while self.another_unit() {
            let value = self.interval_value()?;
            match self.unit() {
                Some(unit) => parts.push(part(&value, &unit)),
                None => return self.fail(),
            }
        }
        Ok(interval(
            crate::literal::string(parts.join(" "), Span::empty()),
            None,
            None,
        ))
    }

    /// A signed number or string (or a parameter) and a unit follow.
    fn another_unit(&self) -> bool {
        let signed = usize::from(self.is_symbol("-") || self.is_symbol("+"));
        let value = self.peek_at(signed);
        matches!(value.kind, Kind::Text | Kind::Integer | Kind::Number)
            && unit(&self.peek_at(signed + 1).value).is_some()
    }

    fn interval_value(&mut self) -> Parsed<Expr> {
        let negative = self.is_symbol("-");
        if negative || self.is_symbol("+") {
            self.at += 1;
        }
        let token = self.peek().clone();
        let value = match token.kind {
            Kind::Text => {
                let text = self.string()?;
                crate::literal::string(text, self.span_of(&token))
            }
            Kind::Integer | Kind::Number => self.primary()?,
            _ => match self.parameter() {
                Some(parameter) => parameter,
                None => return self.fail(),
            },
        };
        Ok(match negative {
            true => Expr::UnaryOp {
                op: UnaryOperator::Minus,
                expr: Box::new(value),
            },
            false => value,
        })
    }

    fn unit(&mut self) -> Option<DateTimeField> {
        let found = unit(&self.peek().value)?;
        if self.peek().kind != Kind::Word {
            return None;
        }
        self.at += 1;
        Some(found)
    }
}

fn interval(
    value: Expr,
    leading_field: Option<DateTimeField>,
    last_field: Option<DateTimeField>,
) -> Expr {
    let value = Box::new(value);
    Expr::Interval(Interval {
        value,
        leading_field,
        leading_precision: None,
        last_field,
        fractional_seconds_precision: None,
    })
}

fn part(value: &Expr, unit: &DateTimeField) -> String {
    format!(
        "{} {}",
        crate::literal::text_of(value).unwrap_or_default(),
        unit.to_string().to_lowercase()
    )
}

/// The unit of an interval, singular or plural.
fn unit(word: &str) -> Option<DateTimeField> {
    use DateTimeField as F;
    let upper = word.to_ascii_uppercase();
    Some(match upper.strip_suffix('S').unwrap_or(&upper) {
        "YEAR" => F::Year,
        "MONTH" => F::Month,
        "WEEK" => F::Week(None),
        "DAY" => F::Day,
        "HOUR" => F::Hour,
        "MINUTE" => F::Minute,
        "SECOND" => F::Second,
        "MILLISECOND" => F::Millisecond,
        "MICROSECOND" => F::Microsecond,
        "NANOSECOND" => F::Nanosecond,
        _ => return None,
    })
}
