//! Literals: making them, and reading the text and number of one.

use sqlparser::ast::{Expr, UnaryOperator, Value, ValueWithSpan};
use sqlparser::tokenizer::Span;

/// A string literal.
pub fn string(text: impl Into<String>, span: Span) -> Expr {
    Expr::Value(ValueWithSpan {
        value: Value::SingleQuotedString(text.into()),
        span,
    })
}

/// An INT literal.
pub fn int(value: i32) -> Expr {
    number_literal(value.to_string(), false)
}

/// A BIGINT literal.
pub fn long(value: i64) -> Expr {
    number_literal(value.to_string(), true)
}

/// A DOUBLE literal; infinities and NaN become a cast of their name.
pub fn double(value: f64) -> Expr {
    if value.is_finite() {
        return number_literal(format!("{value:?}D"), false);
    }
    let name = match value {
        _ if value.is_nan() => "NaN",
        _ if value > 0.0 => "Infinity",
        _ => "-Infinity",
    };
    let data_type = sqlparser::ast::DataType::Double(sqlparser::ast::ExactNumberInfo::None);
    let expr = Box::new(string(name, Span::empty()));
    Expr::Cast {
        kind: sqlparser::ast::CastKind::Cast,
        expr,
        data_type,
        array: false,
        format: None,
    }
}

/// TRUE or FALSE.
pub fn boolean(value: bool) -> Expr {
    Expr::Value(ValueWithSpan {
        value: Value::Boolean(value),
        span: Span::empty(),
    })
}

/// NULL.
pub fn null() -> Expr {
    Expr::Value(ValueWithSpan {
        value: Value::Null,
        span: Span::empty(),
    })
}

fn number_literal(text: String, long: bool) -> Expr {
    Expr::Value(ValueWithSpan {
        value: Value::Number(text, long),
        span: Span::empty(),
    })
}

/// The text of a literal as Spark stores it in properties: strings without quotes, numbers as written, booleans in lower
/// case, NULL as nothing.
pub fn text_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(ValueWithSpan { value, .. }) => match value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => Some(text.clone()),
            Value::Number(digits, long) => Some(if *long {
                format!("{digits}L")
            } else {
                digits.clone()
            }),
            Value::Boolean(value) => Some(value.to_string()),
            _ => None,
        },
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => text_of(expr).map(|text| format!("-{text}")),
        Expr::UnaryOp {
            op: UnaryOperator::Plus,
            expr,
        }
        | Expr::Nested(expr) => text_of(expr),
        _ => None,
    }
}

/// The number of a literal (a string that holds one counts), suffixes allowed.
pub fn number(expr: &Expr) -> Option<f64> {
    let text = text_of(expr)?;
    let trimmed = text.trim();
    let (digits, _) = split_suffix(trimmed);
    digits.parse().ok()
}

/// The whole number of a literal.
pub fn integer(expr: &Expr) -> Option<i64> {
    let text = text_of(expr)?;
    let (digits, suffix) = split_suffix(text.trim());
    (!matches!(suffix, "F" | "D" | "BD")).then(|| digits.parse().ok())?
}

/// Digits and suffix (`L S Y F D BD`, in upper case; empty where there is none) of a number as written.
pub fn split_suffix(number: &str) -> (&str, &'static str) {
    let upper = number.to_ascii_uppercase();
    for suffix in ["BD", "L", "S", "Y", "F", "D"] {
        if upper.ends_with(suffix)
            && upper.starts_with(|c: char| c.is_ascii_digit() || ".+-".contains(c))
        {
            return (
                number
                    .get(..number.len() - suffix.len())
                    .unwrap_or_default(),
                suffix,
            );
        }
    }
    (number, "")
}
