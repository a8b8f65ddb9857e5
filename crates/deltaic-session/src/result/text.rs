//! A value as the text that Spark shows for it: a cast to STRING with the differences of `show` (NULL in capitals,
//! bytes as hexadecimal, decimals in plain notation).

use deltaic_protocol::timestamp::Zone;

use super::numbers;
use super::value::Value;

/// Text of a cell; instants in the given zone.
pub(crate) fn cell_text(value: &Value, zone: &Zone) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Boolean(value) => value.to_string(),
        Value::Long(value) => value.to_string(),
        Value::Float(value) => numbers::java_float(*value),
        Value::Double(value) => numbers::java_double(*value),
        Value::Decimal(unscaled, scale) => numbers::plain_decimal(*unscaled, *scale),
        Value::String(text) | Value::Variant(text) => text.clone(),
        Value::Binary(bytes) => {
            let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            format!("[{}]", hex.join(" "))
        }
        Value::Date(days) => numbers::date_text(*days),
        Value::Timestamp(micros) => instant_text(*micros, zone),
        Value::TimestampNtz(micros) => {
            numbers::naive(*micros).map_or_else(|| format!("{micros} us"), numbers::date_time_text)
        }
        Value::YearMonth(months) => year_month_text(*months),
        Value::DayTime(micros) => day_time_text(*micros),
        Value::Struct(fields) => {
            let inner: Vec<String> = fields
                .iter()
                .map(|(_, value)| cell_text(value, zone))
                .collect();
            format!("{{{}}}", inner.join(", "))
        }
        Value::Array(items) => {
            let inner: Vec<String> = items.iter().map(|value| cell_text(value, zone)).collect();
            format!("[{}]", inner.join(", "))
        }
        Value::Map(pairs) => {
            let inner: Vec<String> = pairs
                .iter()
                .map(|(key, value)| {
                    format!("{} -> {}", cell_text(key, zone), cell_text(value, zone))
                })
                .collect();
            format!("{{{}}}", inner.join(", "))
        }
    }
}

fn instant_text(micros: i64, zone: &Zone) -> String {
    match numbers::naive(zone.to_local(micros)) {
        Some(local) => numbers::date_time_text(local),
        None => format!("{micros} us"),
    }
}

fn year_month_text(months: i32) -> String {
    let sign = if months < 0 { "-" } else { "" };
    let months = months.unsigned_abs();
    format!(
        "INTERVAL '{sign}{}-{}' YEAR TO MONTH",
        months / 12,
        months % 12
    )
}

fn day_time_text(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let rest = micros.unsigned_abs();
    let seconds = rest / 1_000_000;
    let fraction = rest % 1_000_000;
    let fraction = if fraction == 0 {
        String::new()
    } else {
        format!(".{}", format!("{fraction:06}").trim_end_matches('0'))
    };
    format!(
        "INTERVAL '{sign}{} {:02}:{:02}:{:02}{fraction}' DAY TO SECOND",
        seconds / 86_400,
        seconds / 3_600 % 24,
        seconds / 60 % 60,
        seconds % 60
    )
}
