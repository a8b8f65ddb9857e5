//! Answers as comma-separated text.

use super::text::cell_text;
use super::{SqlResult, Value};

impl SqlResult {
    /// A header line and one line per row; texts are quoted where they need it, nulls are empty.
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        if self.schema.fields.is_empty() {
            return out;
        }
        let header: Vec<String> = self
            .schema
            .fields
            .iter()
            .map(|field| quote(&field.name))
            .collect();
        out.push_str(&header.join(","));
        out.push('\n');
        for row in self.rows() {
            let cells: Vec<String> = row
                .iter()
                .map(|value| {
                    if matches!(value, Value::Null) {
                        String::new()
                    } else {
                        quote(&cell_text(value, &self.zone))
                    }
                })
                .collect();
            out.push_str(&cells.join(","));
            out.push('\n');
        }
        out
    }
}

fn quote(text: &str) -> String {
    if text.is_empty() || text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
