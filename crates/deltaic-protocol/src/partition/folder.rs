//! Folder names of partitions, as Hive and Spark escape them. The log never depends on them.

use crate::path::hex;

/// Stands for null in a folder's name.
pub const DEFAULT_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

fn must_escape(c: char) -> bool {
    c <= '\u{1f}' || c == '\u{7f}' || "\"#%'*/:=?\\{[]^".contains(c)
}

/// Escapes the characters that Hive keeps out of folder names.
pub fn escape_path_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match u8::try_from(c) {
            Ok(byte) if must_escape(c) => out.extend(['%', hex(byte >> 4), hex(byte & 15)]),
            _ => out.push(c),
        }
    }
    out
}

/// Undoes [`escape_path_name`]; an escape that is none stays.
pub fn unescape_path_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let code = from
            .get(1..3)
            .filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(code) => {
                out.push(char::from(code));
                rest = from.get(3..).unwrap_or_default();
            }
            None => {
                out.push('%');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

/// `p=a%3Ab/q=__HIVE_DEFAULT_PARTITION__`, in the columns' order; the empty text for a table without partitions.
pub fn partition_folder<'a>(
    values: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
) -> String {
    let parts: Vec<String> = values
        .into_iter()
        .map(|(column, value)| {
            let value = match value.filter(|value| !value.is_empty()) {
                Some(value) => escape_path_name(value),
                None => DEFAULT_PARTITION.to_owned(),
            };
            format!("{}={value}", escape_path_name(column))
        })
        .collect();
    parts.join("/")
}
