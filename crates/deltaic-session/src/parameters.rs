//! Values for the markers `:name` and `?` of a statement.

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_sql::Parameters;
use serde_json::Value as Json;
use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, ObjectName, UnaryOperator,
    Value,
};

/// Values of a statement's markers from JSON: an object for `:name`, an array for `?`. A whole number is INT where it
/// fits, else BIGINT; a fraction DOUBLE; an array `array(…)`, an object `map(…)`. Null and empty containers stand for no
/// values at all.
///
/// # Errors
/// Anything else.
pub fn parameters_from_json(json: &Json) -> Result<Parameters> {
    match json {
        Json::Null => Ok(Parameters::None),
        Json::Object(values) if values.is_empty() => Ok(Parameters::None),
        Json::Array(values) if values.is_empty() => Ok(Parameters::None),
        Json::Object(values) => {
            let named = values.iter().map(|(name, value)| Ok((name.clone(), literal(value)?)));
            named.collect::<Result<_>>().map(Parameters::Named)
        }
        Json::Array(values) => values.iter().map(literal).collect::<Result<_>>().map(Parameters::Positional),
        _ => Err(DeltaError::unclassed(
            "java.lang.IllegalArgumentException",
            "arguments are an object (for :name) or an array (for ?)",
        )),
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
                return Err(DeltaError::unclassed("java.lang.IllegalArgumentException", format!("{number} is out of range")));
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
    signed(number < 0, Value::Number(number.unsigned_abs().to_string(), long))
}

fn fraction_number(number: f64) -> Expr {
    signed(number < 0.0, Value::Number(format!("{:?}D", number.abs()), false))
}

fn signed(negative: bool, number: Value) -> Expr {
    let number = value(number);
    if negative { Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(number) } } else { number }
}

fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments.into_iter().map(|expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))).collect(),
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
        let Parameters::Positional(values) = parameters_from_json(&json).unwrap() else { panic!() };
        let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["1", "-7", "3000000000L", "0.5D", "'x'", "NULL", "array(true)"]);
    }

    #[test]
    fn empty_arguments_are_none() {
        assert_eq!(parameters_from_json(&serde_json::json!({})).unwrap(), Parameters::None);
        assert!(parameters_from_json(&serde_json::json!("x")).is_err());
    }
}
