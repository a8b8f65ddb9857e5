//! Lists of columns as the value of a table property: reading and writing them, and following a change of names.

use crate::schema::quote_if_needed;

/// Reads a list such as ``a, b.c, `x,y` ``: columns between commas, names between dots, odd names in backticks. None if it is no such list.
pub fn parse_column_list(text: &str) -> Option<Vec<Vec<String>>> {
    let mut columns = Vec::new();
    let mut column = Vec::new();
    let mut rest = text.trim();
    if rest.is_empty() {
        return Some(columns);
    }
    loop {
        rest = rest.trim_start();
        let name;
        if let Some(quoted) = rest.strip_prefix('`') {
            (name, rest) = quoted_name(quoted)?;
        } else {
            let end = rest.find([',', '.']).unwrap_or(rest.len());
            let (head, tail) = rest.split_at_checked(end)?;
            let head = head.trim_end();
            let plain = |c: char| c.is_alphanumeric() || c == '_';
            if !head.chars().all(plain) || head.chars().all(|c| c.is_ascii_digit()) {
                return None;
            }
            (name, rest) = (head.to_owned(), tail);
        }
        column.push(name);
        rest = rest.trim_start();
        match rest.chars().next() {
            None => {
                columns.push(column);
                return Some(columns);
            }
            Some(',') => columns.push(std::mem::take(&mut column)),
            Some('.') => {}
            Some(_) => return None,
        }
        rest = rest.get(1..)?;
    }
}

/// A name up to its closing backtick; two backticks are one.
fn quoted_name(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('`')?;
        name.push_str(rest.get(..end)?);
        rest = rest.get(end + 1..)?;
        match rest.strip_prefix('`') {
            Some(after) => {
                name.push('`');
                rest = after;
            }
            None => return Some((name, rest)),
        }
    }
}

/// The path as Spark names an attribute: parts between dots, those that hold a dot in backticks.
pub fn dotted_name(path: &[String]) -> String {
    let parts: Vec<String> = path
        .iter()
        .map(|part| match part.contains('.') {
            true => format!("`{part}`"),
            false => part.clone(),
        })
        .collect();
    parts.join(".")
}

/// The list after a column, or a field of it, has another name. `None` if the text is no list.
pub fn rename_in_list(text: &str, old: &[String], new: &[String]) -> Option<String> {
    let columns = parse_column_list(text)?;
    let renamed = columns
        .into_iter()
        .map(|column| match starts_with(&column, old) {
            true => [new, &column[old.len()..]].concat(),
            false => column,
        });
    Some(render(renamed))
}

/// The list without columns that are gone, and without their fields. `None` if the text is no list.
pub fn drop_from_list(text: &str, gone: &[&Vec<String>]) -> Option<String> {
    let columns = parse_column_list(text)?;
    let kept = columns
        .into_iter()
        .filter(|column| !gone.iter().any(|gone| starts_with(column, gone)));
    Some(render(kept))
}

fn starts_with(column: &[String], prefix: &[String]) -> bool {
    column.len() >= prefix.len()
        && column
            .iter()
            .zip(prefix)
            .all(|(a, b)| a.eq_ignore_ascii_case(b))
}

fn render(columns: impl Iterator<Item = Vec<String>>) -> String {
    let columns: Vec<String> = columns
        .map(|column| {
            let parts: Vec<String> = column.iter().map(|part| quote_if_needed(part)).collect();
            parts.join(".")
        })
        .collect();
    columns.join(",")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn lists_follow_the_names_of_their_columns() {
        let renamed = |text: &str| rename_in_list(text, &path("s.a"), &path("s.b c")).unwrap();
        assert_eq!(renamed("x, S.A ,s.a.y,s"), "x,s.`b c`,s.`b c`.y,s");
        let dropped = |text: &str| drop_from_list(text, &[&path("a"), &path("s.x")]).unwrap();
        assert_eq!(dropped("A,b, s.x, `s`.y, a.z"), "b,s.y");
        assert_eq!(dropped("a"), "");
        assert_eq!(rename_in_list("a,", &path("a"), &path("b")), None);
    }
}
