//! JSON text as Python's `json.dumps(…, sort_keys=True, ensure_ascii=False)` writes it: recordings and digests are made
//! of such text, so ours must equal it byte for byte.

use serde_json::Value;

/// The text of a value; objects in the order of their keys.
pub fn dumps(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => {
            let text = number.to_string();
            match is_float(&text).then(|| text.parse::<f64>()) {
                Some(Ok(float)) => out.push_str(&float_repr(float)),
                _ => out.push_str(&text),
            }
        }
        Value::String(text) => out.push_str(&Value::from(text.as_str()).to_string()),
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push_str(", ");
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|a, b| a.0.cmp(b.0));
            out.push('{');
            for (n, (key, item)) in entries.into_iter().enumerate() {
                if n > 0 {
                    out.push_str(", ");
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push_str(": ");
                write(item, out);
            }
            out.push('}');
        }
    }
}

/// Does JSON's text of a number mean a float to Python?
pub fn is_float(text: &str) -> bool {
    text.contains(['.', 'e', 'E'])
}

/// Python's `repr` of a float.
pub fn float_repr(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "nan"
        } else if value > 0.0 {
            "inf"
        } else {
            "-inf"
        }
        .to_owned();
    }
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return if plain.contains('.') {
            plain
        } else {
            format!("{plain}.0")
        };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// A float rounded to 15 significant digits.
pub fn fifteen_digits(value: f64) -> f64 {
    format!("{value:.14e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::{dumps, fifteen_digits, float_repr};
    use serde_json::json;

    #[test]
    fn floats_print_as_in_python() {
        let cases = [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e16, "1e+16"),
            (123456.75, "123456.75"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
        ];
        for (value, text) in cases {
            assert_eq!(float_repr(value), text);
        }
        assert_eq!(fifteen_digits(0.1 + 0.2), 0.3);
    }

    #[test]
    fn objects_are_sorted_and_text_stays_unicode() {
        assert_eq!(
            dumps(&json!({"b": [1, null, true], "a": "ü\n\""})),
            r#"{"a": "ü\n\"", "b": [1, null, true]}"#
        );
    }
}
