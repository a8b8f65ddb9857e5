//! Statistics that a checkpoint holds as columns (`stats_parsed`) to the JSON text that an `add` carries.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float64Type, Int64Type, TimeUnit,
    TimestampMicrosecondType,
};
use serde_json::{Map, Value};

use super::columns::Columns;

/// The `stats_parsed` column of an `add`.
pub(super) struct StatsColumn<'a> {
    columns: Columns<'a>,
}

impl<'a> StatsColumn<'a> {
    pub(super) fn new(columns: Columns<'a>) -> Self {
        Self { columns }
    }

    /// The statistics of a row as JSON text.
    pub(super) fn json(&self, row: usize) -> Option<String> {
        if !self.columns.is_set(row) {
            return None;
        }
        match value(&self.columns.as_array(), row)? {
            Value::Object(map) => Some(Value::Object(map).to_string()),
            _ => None,
        }
    }
}

/// One cell as JSON; `None` for NULL and for types that statistics do not have.
fn value(column: &ArrayRef, row: usize) -> Option<Value> {
    if column.is_null(row) {
        return None;
    }
    match column.data_type() {
        DataType::Struct(fields) => {
            let rows = column.as_struct();
            let entries = fields
                .iter()
                .zip(rows.columns())
                .filter_map(|(f, c)| Some((f.name().clone(), value(c, row)?)));
            Some(Value::Object(entries.collect::<Map<_, _>>()))
        }
        DataType::Boolean => Some(Value::Bool(column.as_boolean().value(row))),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            let wide = arrow::compute::cast(&column.slice(row, 1), &DataType::Int64).ok()?;
            Some(Value::from(wide.as_primitive::<Int64Type>().value(0)))
        }
        DataType::Float32 | DataType::Float64 => {
            let wide = arrow::compute::cast(&column.slice(row, 1), &DataType::Float64).ok()?;
            let number = wide.as_primitive::<Float64Type>().value(0);
            Some(
                serde_json::Number::from_f64(number)
                    .map_or_else(|| Value::String(special(number)), Value::Number),
            )
        }
        DataType::Decimal128(_, _) => {
            let text = column.as_primitive::<Decimal128Type>().value_as_string(row);
            serde_json::from_str(&text).ok()
        }
        DataType::Utf8 => Some(Value::String(
            column.as_string::<i32>().value(row).to_owned(),
        )),
        DataType::Date32 => {
            let date = column.as_primitive::<Date32Type>().value_as_date(row)?;
            Some(Value::String(date.format("%Y-%m-%d").to_string()))
        }
        DataType::Timestamp(_, zone) => {
            let unit = DataType::Timestamp(TimeUnit::Microsecond, zone.clone());
            let micros = arrow::compute::cast(&column.slice(row, 1), &unit).ok()?;
            let time = micros
                .as_primitive::<TimestampMicrosecondType>()
                .value_as_datetime(0)?;
            let end = if zone.is_some() { "Z" } else { "" };
            Some(Value::String(format!(
                "{}{end}",
                time.format("%Y-%m-%dT%H:%M:%S%.6f")
            )))
        }
        _ => None,
    }
}

/// NaN and the infinities as Spark writes them into statistics.
fn special(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number > 0.0 {
        "Infinity".to_owned()
    } else {
        "-Infinity".to_owned()
    }
}
