//! The values of the pipe protocol: one line of JSON per answer.
//!
//! Integers and booleans as JSON; DECIMAL as a string; FLOAT widened to DOUBLE; NaN and infinities as text; dates and
//! timestamps as ISO text, instants in UTC; BINARY as `{"base64": …}`; STRUCT as an object, ARRAY as an array, MAP as
//! an object whose keys are the key's text as Python prints it.

use base64::Engine;
use deltaic_protocol::error::DeltaError;
use deltaic_protocol::schema::StructType;
use serde_json::{Map, Value as Json, json};

use super::numbers;
use super::{SqlResult, Value};

impl SqlResult {
    /// `{"columns": [[name, type, nullable]], "rows": [[…]]}`, with `"notes"` where there are any.
    pub fn to_json_pipe(&self) -> Json {
        let rows: Vec<Json> = self
            .rows()
            .iter()
            .map(|row| Json::Array(row.iter().map(cell_json).collect()))
            .collect();
        let mut answer = Map::new();
        answer.insert("columns".to_owned(), columns_json(&self.schema));
        answer.insert("rows".to_owned(), Json::Array(rows));
        if !self.notes.is_empty() {
            answer.insert("notes".to_owned(), json!(self.notes));
        }
        Json::Object(answer)
    }
}

/// `[[name, type, nullable]]`.
fn columns_json(schema: &StructType) -> Json {
    let columns = schema
        .fields
        .iter()
        .map(|field| json!([field.name, field.data_type.simple_string(), field.nullable]));
    Json::Array(columns.collect())
}

/// `{"error": {"condition", "sqlState", "message", "parameters"}}`; an error without a class has a null condition.
pub fn error_json(error: &DeltaError) -> Json {
    let parameters: Map<String, Json> = error
        .parameters()
        .iter()
        .map(|(name, value)| (name.to_string(), Json::from(value.as_str())))
        .collect();
    let mut out = json!({
        "condition": error.class(),
        "sqlState": error.sql_state(),
        "message": error.to_string(),
        "parameters": parameters,
        "javaClass": error.java_class(),
    });
    if let Some(path) = error.path() {
        out["path"] = json!(path);
    }
    if let Some(version) = error.version() {
        out["version"] = json!(version);
    }
    json!({"error": out})
}

/// A value in the pipe's form.
pub(crate) fn cell_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Boolean(value) => json!(value),
        Value::Long(value) => json!(value),
        Value::Float(value) => double_json(f64::from(*value)),
        Value::Double(value) => double_json(*value),
        Value::Decimal(unscaled, scale) => json!(numbers::python_decimal(*unscaled, *scale)),
        Value::String(text) | Value::Variant(text) => json!(text),
        Value::Binary(bytes) => {
            json!({"base64": base64::engine::general_purpose::STANDARD.encode(bytes)})
        }
        Value::Date(days) => json!(numbers::date_text(*days)),
        Value::Timestamp(micros) | Value::TimestampNtz(micros) => {
            json!(numbers::iso_text(*micros, 'T'))
        }
        Value::YearMonth(_) => json!(super::text::cell_text(
            value,
            &deltaic_protocol::timestamp::Zone::utc()
        )),
        Value::DayTime(micros) => json!(timedelta_text(*micros)),
        Value::Struct(fields) => Json::Object(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), cell_json(value)))
                .collect(),
        ),
        Value::Array(items) => Json::Array(items.iter().map(cell_json).collect()),
        Value::Map(pairs) => Json::Object(
            pairs
                .iter()
                .map(|(key, value)| (key_text(key), cell_json(value)))
                .collect(),
        ),
    }
}

fn double_json(value: f64) -> Json {
    if value.is_nan() {
        json!("nan")
    } else if value.is_infinite() {
        json!(if value > 0.0 { "inf" } else { "-inf" })
    } else {
        json!(value)
    }
}

/// Python's `str()` of a map key.
fn key_text(key: &Value) -> String {
    match key {
        Value::Null => "None".to_owned(),
        Value::Boolean(value) => if *value { "True" } else { "False" }.to_owned(),
        Value::Timestamp(micros) | Value::TimestampNtz(micros) => numbers::iso_text(*micros, ' '),
        Value::Float(value) => python_double(f64::from(*value)),
        Value::Double(value) => python_double(*value),
        other => match cell_json(other) {
            Json::String(text) => text,
            json => json.to_string(),
        },
    }
}

/// Python's `repr` of a float: exponent form from 10^16 on and below 10^-4.
fn python_double(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    format!("{value:?}")
}

/// Python's `str()` of a `timedelta`.
fn timedelta_text(micros: i64) -> String {
    let days = micros.div_euclid(86_400_000_000);
    let rest = micros.rem_euclid(86_400_000_000);
    let seconds = rest / 1_000_000;
    let fraction = rest % 1_000_000;
    let clock = format!(
        "{}:{:02}:{:02}",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60
    );
    let clock = if fraction == 0 {
        clock
    } else {
        format!("{clock}.{fraction:06}")
    };
    match days {
        0 => clock,
        1 | -1 => format!("{days} day, {clock}"),
        _ => format!("{days} days, {clock}"),
    }
}
