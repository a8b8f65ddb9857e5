//! Values for the markers `:name` and `?` of a statement.

use deltaic_protocol::error::{DeltaError, Result};
use serde_json::Value as Json;
use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName, UnaryOperator, Value,
};

/// The values of a statement's markers, as SQL literals or constructor calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Parameters {
    /// None were given.
    #[default]
    None,
    /// For `:name`.
    Named(Vec<(String, Expr)>),
    /// For `?`, in order.
    Positional(Vec<Expr>),
}

impl Parameters {
    /// From JSON: an object for `:name`, an array for `?`. A whole number is INT where it fits, else BIGINT; a fraction
    /// DOUBLE; an array `array(…)`, an object `map(…)`. Null and empty containers stand for no values at all.
    ///
    /// # Errors
    /// Anything else.
    pub fn from_json(json: &Json) -> Result<Self> {
        match json {
            Json::Null => Ok(Parameters::None),
            Json::Object(values) if values.is_empty() => Ok(Parameters::None),
            Json::Array(values) if values.is_empty() => Ok(Parameters::None),
            Json::Object(values) => {
                let named = values
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), literal(value)?)));
                named.collect::<Result<_>>().map(Parameters::Named)
            }
            Json::Array(values) => values
                .iter()
                .map(literal)
                .collect::<Result<_>>()
                .map(Parameters::Positional),
            _ => Err(DeltaError::unclassed(
                "java.lang.IllegalArgumentException",
                "arguments are an object (for :name) or an array (for ?)",
            )),
        }
    }
}

impl From<Parameters> for deltaic_sql::Parameters {
    fn from(parameters: Parameters) -> Self {
        match parameters {
            Parameters::None => deltaic_sql::Parameters::None,
            Parameters::Named(values) => deltaic_sql::Parameters::Named(values),
            Parameters::Positional(values) => deltaic_sql::Parameters::Positional(values),
        }
    }
}

/// A JSON value as a SQL literal.
fn literal(json: &Json) -> Result<Expr> {
    Ok(match json {
        Json::Null => value(Value::Null),
        Json::Bool(flag) => value(Value::Boolean(*flag)),
        Json::String(text) => value(Value::SingleQuotedString(text.clone())),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole_number(whole),
            (None, Some(fraction)) => fraction_number(fraction),
            (None, None) => {
                return Err(DeltaError::unclassed(
                    "java.lang.IllegalArgumentException",
                    format!("{number} is out of range"),
                ));
            }
        },
        Json::Array(items) => call("array", items.iter().map(literal).collect::<Result<_>>()?),
        Json::Object(entries) => {
            let mut arguments = Vec::new();
            for (key, entry) in entries {
                arguments.push(value(Value::SingleQuotedString(key.clone())));
                arguments.push(literal(entry)?);
            }
            call("map", arguments)
        }
    })
}

fn value(value: Value) -> Expr {
    Expr::Value(value.into())
}

fn whole_number(number: i64) -> Expr {
    let long = i32::try_from(number).is_err();
    signed(
        number < 0,
        Value::Number(number.unsigned_abs().to_string(), long),
    )
}

fn fraction_number(number: f64) -> Expr {
    signed(
        number < 0.0,
        Value::Number(format!("{:?}D", number.abs()), false),
    )
}

fn signed(negative: bool, number: Value) -> Expr {
    let number = value(number);
    if negative {
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr: Box::new(number),
        }
    } else {
        number
    }
}

fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments
                .into_iter()
                .map(|expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)))
                .collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn numbers_are_int_where_they_fit() {
        let json = serde_json::json!([1, -7, 3_000_000_000i64, 0.5, "x", null, [true]]);
        let Parameters::Positional(values) = Parameters::from_json(&json).unwrap() else {
            panic!()
        };
        let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "1",
                "-7",
                "3000000000L",
                "0.5D",
                "'x'",
                "NULL",
                "array(true)"
            ]
        );
    }

    #[test]
    fn empty_arguments_are_none() {
        assert_eq!(
            Parameters::from_json(&serde_json::json!({})).unwrap(),
            Parameters::None
        );
        assert!(Parameters::from_json(&serde_json::json!("x")).is_err());
    }
}
