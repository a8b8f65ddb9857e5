//! The canonical text of a JSON object, over which `_last_checkpoint` computes its checksum.
//!
//! Rule (protocol section "Last Checkpoint File", JSON checksum): every leaf becomes `path=value`; path segments are joined
//! with `+`; strings are percent-encoded inside quotes; array positions are bare numbers; pairs are sorted by the bytes of
//! their path and joined with `,`; the top-level `checksum` is left out.

use serde_json::{Map, Value};

use super::md5::md5_hex;

/// The checksum of a JSON object, its own top-level `checksum` left out.
pub(crate) fn checksum(object: &Map<String, Value>) -> String {
    md5_hex(canonical(object).as_bytes())
}

fn canonical(object: &Map<String, Value>) -> String {
    let mut leaves = Vec::new();
    for (key, value) in object.iter().filter(|(k, _)| k.as_str() != "checksum") {
        collect(value, quoted(key), &mut leaves);
    }
    leaves.sort();
    let pairs: Vec<String> = leaves
        .into_iter()
        .map(|(path, value)| format!("{path}={value}"))
        .collect();
    pairs.join(",")
}

fn collect(value: &Value, path: String, leaves: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                collect(inner, format!("{path}+{}", quoted(key)), leaves);
            }
        }
        Value::Array(items) => {
            for (position, inner) in items.iter().enumerate() {
                collect(inner, format!("{path}+{position}"), leaves);
            }
        }
        Value::String(text) => leaves.push((path, quoted(text))),
        other => leaves.push((path, other.to_string())),
    }
}

/// Percent-encodes everything but the unreserved characters of RFC 3986, with upper-case digits, and quotes the result.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn nested_values_are_flattened_in_the_order_of_their_paths() {
        let text = r#"{"b": [true, null, {"c": "x y"}], "a": 1.50, "checksum": "ignored"}"#;
        let object: Map<String, Value> = serde_json::from_str(text).unwrap();
        assert_eq!(
            canonical(&object),
            r#""a"=1.50,"b"+0=true,"b"+1=null,"b"+2+"c"="x%20y""#
        );
    }

    #[test]
    fn the_example_of_the_protocol_has_the_documented_digest() {
        let text = r#"{"k0":"'v 0'","checksum":"adsaskfljadfkjadfkj","k1":{"k2":2,"k3":["v3",[1,2],{"k4":"v4","k5":["v5","v6","v7"]}]}}"#;
        let object: Map<String, Value> = serde_json::from_str(text).unwrap();
        assert_eq!(checksum(&object), "6a92d155a59bf2eecbd4b4ec7fd1f875");
    }
}
