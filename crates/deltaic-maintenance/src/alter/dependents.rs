//! Which CHECK constraints and generated columns speak of a column (spec: delta, section 1.15).

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::CONSTRAINT_PREFIX;

use super::{TableState, edit};

/// Fails where a CHECK constraint or a generated column speaks of a column that is to change, of a part of it or of the whole
/// that it is a part of.
pub(super) fn check_dependents(state: &TableState, path: &[String]) -> Result<()> {
    let name = edit::dotted(path);
    let constraints: Vec<String> = state
        .metadata
        .configuration
        .iter()
        .filter(|(key, text)| key.starts_with(CONSTRAINT_PREFIX) && speaks_of(text, path))
        .map(|(key, text)| format!("{key} -> {text}"))
        .collect();
    if !constraints.is_empty() {
        return Err(DeltaError::new("DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE")
            .param("columnName", name)
            .param("constraints", constraints.join("\n")));
    }
    let mut generated = Vec::new();
    for field in &state.schema.fields {
        if let Some(text) = field
            .generation_expression()
            .filter(|text| speaks_of(text, path))
        {
            generated.push(format!("{} -> {text}", field.name));
        }
    }
    if generated.is_empty() {
        return Ok(());
    }
    Err(
        DeltaError::new("DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE")
            .param("columnName", name)
            .param("generatedColumns", generated.join("\n")),
    )
}

fn speaks_of(expression: &str, path: &[String]) -> bool {
    names(expression).iter().any(|name| overlap(name, path))
}

/// Whether one path begins with the other. What lies in arrays and maps is called differently in paths and in expressions, so
/// from there on everything counts, which refuses a little more than needed and never too little.
fn overlap(name: &[String], path: &[String]) -> bool {
    for (part, step) in name.iter().zip(path) {
        if ["element", "key", "value"].contains(&step.to_lowercase().as_str()) {
            return true;
        }
        if !part.eq_ignore_ascii_case(step) && part.to_lowercase() != step.to_lowercase() {
            return false;
        }
    }
    true
}

/// The names in an expression's text, part by part; words of the language are among them, functions and texts are not.
fn names(expression: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut open: Vec<String> = Vec::new();
    // Whether a dot was the last thing seen.
    let mut dotted = false;
    let mut chars = expression.chars().peekable();
    while let Some(c) = chars.next() {
        let part = match c {
            c if c.is_whitespace() => continue,
            '.' if !open.is_empty() => {
                dotted = true;
                continue;
            }
            '`' => {
                let mut part = String::new();
                while let Some(inside) = chars.next() {
                    match inside {
                        '`' if chars.peek() == Some(&'`') => {
                            chars.next();
                            part.push('`');
                        }
                        '`' => break,
                        _ => part.push(inside),
                    }
                }
                part
            }
            c if c.is_alphanumeric() || c == '_' => {
                let mut part = String::from(c);
                while let Some(next) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    part.push(next);
                }
                part
            }
            other => {
                if other == '\'' || other == '"' {
                    skip_text(other, &mut chars);
                }
                let name = std::mem::take(&mut open);
                if !name.is_empty() && other != '(' {
                    found.push(name);
                }
                dotted = false;
                continue;
            }
        };
        if !std::mem::take(&mut dotted) && !open.is_empty() {
            found.push(std::mem::take(&mut open));
        }
        open.push(part);
    }
    if !open.is_empty() {
        found.push(open);
    }
    found
}

/// The rest of a text after its quote.
fn skip_text(quote: char, chars: &mut impl Iterator<Item = char>) {
    while let Some(inside) = chars.next() {
        if inside == '\\' {
            chars.next();
        } else if inside == quote {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::speaks_of;

    fn check(expression: &str, path: &str) -> bool {
        let path: Vec<String> = path.split('/').map(str::to_string).collect();
        speaks_of(expression, &path)
    }

    #[test]
    fn a_column_is_found_by_its_whole_name() {
        for (expression, path, want) in [
            ("a > 0", "a", true),
            ("A>0", "a", true),
            ("ab > 0 AND b = 'a' AND c = \"a\"", "a", false),
            ("`a b` > 0", "a b", true),
            ("`a``b` > 0", "a`b", true),
            ("hash(b) > 0", "hash", false),
            ("hash ( b ) > 0 AND hash > 1", "hash", true),
            ("b LIKE 'it\\'s a' AND c", "a", false),
            ("x.a > 0", "a", false),
            ("CASE WHEN a THEN 1 END", "a", true),
        ] {
            assert_eq!(check(expression, path), want, "{expression}: {path}");
        }
    }

    #[test]
    fn fields_stand_apart_and_fall_with_their_struct() {
        for (expression, path, want) in [
            ("hash ( s . x ) > 0", "s/x", true),
            ("hash ( s . x ) > 0", "s/y", false),
            ("hash(s.x) > 0", "s", true),
            ("s.x.z = 1", "s/x", true),
            ("hash(s) > 0", "s/y", true),
            ("l.x = array(1)", "l/element/x", true),
            ("l[0].x = 1", "l/element/y", true),
            ("m.k = 1", "l/element", false),
        ] {
            assert_eq!(check(expression, path), want, "{expression}: {path}");
        }
    }
}
