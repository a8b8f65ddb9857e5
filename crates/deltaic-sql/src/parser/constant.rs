//! Literals: numbers with their suffixes, typed strings, parameters.

use deltaic_protocol::error::DeltaError;
use sqlparser::ast::{DataType, Expr, TimezoneInfo, TypedString, Value, ValueWithSpan};

use super::{Parsed, Parser};

impl Parser<'_> {
    /// A number as written, with its suffix; L moves to the literal's flag. The sign belongs to it, as in Spark.
    pub fn number(&mut self, negative: bool) -> Parsed<Expr> {
        let token = self.next();
        let (digits, suffix) = crate::literal::split_suffix(&token.value);
        let long = suffix == "L";
        let text = if long { digits } else { &token.value };
        let text = if negative {
            format!("-{text}")
        } else {
            text.to_owned()
        };
        self.check_range(digits, suffix, negative);
        Ok(Expr::Value(ValueWithSpan {
            value: Value::Number(text, long),
            span: self.span_of(&token),
        }))
    }

    /// A literal with a suffix must fit its type: Spark says so while parsing.
    fn check_range(&mut self, digits: &str, suffix: &str, negative: bool) {
        let (name, limit): (_, i128) = match suffix {
            "Y" => ("tinyint", 1 << 7),
            "S" => ("smallint", 1 << 15),
            "L" => ("bigint", 1 << 63),
            _ => return,
        };
        let fits = digits.parse::<i128>().is_ok_and(|value| {
            if negative {
                value <= limit
            } else {
                value < limit
            }
        });
        if !fits {
            let sign = if negative { "-" } else { "" };
            let error = DeltaError::new("INVALID_NUMERIC_LITERAL_RANGE")
                .param("rawStrippedQualifier", format!("{sign}{digits}"))
                .param("minValue", -limit)
                .param("maxValue", limit - 1)
                .param("typeName", name)
                .with_context(self.fragment(self.at - 1 - usize::from(negative)));
            self.late(error);
        }
    }

    /// `:name` or `?`.
    pub fn parameter(&mut self) -> Option<Expr> {
        let token = self.peek().clone();
        let text = if token.is_symbol("?") {
            self.at += 1;
            "?".to_owned()
        } else if token.is_symbol(":") {
            let name = self.ident_of(self.peek_at(1))?;
            self.at += 2;
            format!(":{}", name.value)
        } else {
            return None;
        };
        let mut span = self.span_of(&token);
        span.end.column = span.start.column + text.chars().count() as u64;
        Some(Expr::Value(ValueWithSpan {
            value: Value::Placeholder(text),
            span,
        }))
    }

    /// `DATE '…'`, `TIMESTAMP '…'`, `X'…'`.
    pub fn typed_literal(&mut self, word: &str) -> Parsed<Expr> {
        let start = self.at;
        self.at += 1;
        let token = self.peek().clone();
        let text = self.string()?;
        let span = self.span_of(&token);
        let data_type = match word {
            "X" => {
                return Ok(Expr::Value(ValueWithSpan {
                    value: Value::HexStringLiteral(text),
                    span,
                }));
            }
            "DATE" => DataType::Date,
            "TIMESTAMP" => DataType::Timestamp(None, TimezoneInfo::None),
            "TIMESTAMP_LTZ" => DataType::Timestamp(None, TimezoneInfo::WithTimeZone),
            "TIMESTAMP_NTZ" => DataType::TimestampNtz(None),
            other => {
                let error = DeltaError::new("UNSUPPORTED_TYPED_LITERAL")
                    .param("unsupportedType", format!("\"{other}\""))
                    .param("supportedTypes", "\"DATE\", \"TIMESTAMP_NTZ\", \"TIMESTAMP_LTZ\", \"TIMESTAMP\", \"INTERVAL\", \"X\", \"TIME\"");
                let error = error.with_context(self.fragment(start));
                self.late(error);
                DataType::Unspecified
            }
        };
        let value = ValueWithSpan {
            value: Value::SingleQuotedString(text),
            span,
        };
        Ok(Expr::TypedString(TypedString {
            data_type,
            value,
            uses_odbc_syntax: false,
        }))
    }
}
