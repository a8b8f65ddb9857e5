//! Paths into variants: `$`, then `.name`, `['name']`, `["name"]` and `[index]`.

use deltaic_protocol::{DeltaError, Result};
use parquet_variant::Variant;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A field of an object.
    Key(String),
    /// An element of an array, from 0.
    Index(usize),
}

/// Reads a path.
///
/// # Errors
/// A text that is no path.
pub fn parse(text: &str, function: &str) -> Result<Vec<Step>> {
    steps(text).ok_or_else(|| {
        DeltaError::new("INVALID_VARIANT_GET_PATH")
            .param("path", text)
            .param("functionName", format!("`{function}`"))
    })
}

fn steps(text: &str) -> Option<Vec<Step>> {
    let mut rest = text.strip_prefix('$')?;
    let mut out = Vec::new();
    while !rest.is_empty() {
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            if end == 0 {
                return None;
            }
            out.push(Step::Key(name[..end].to_owned()));
            rest = &name[end..];
            continue;
        }
        let inner = rest.strip_prefix('[')?;
        let quote = inner.chars().next().filter(|c| matches!(c, '\'' | '"'));
        match quote {
            Some(quote) => {
                let name = &inner[1..];
                let end = name.find(quote)?;
                out.push(Step::Key(name[..end].to_owned()));
                rest = name[end + 1..].strip_prefix(']')?;
            }
            None => {
                let (index, after) = inner.split_once(']')?;
                if index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()) {
                    return None;
                }
                out.push(Step::Index(index.parse().ok()?));
                rest = after;
            }
        }
    }
    Some(out)
}

/// What lies at the end of a path, if anything does.
pub fn follow<'m, 'v>(variant: Variant<'m, 'v>, path: &[Step]) -> Option<Variant<'m, 'v>> {
    path.iter().try_fold(variant, |at, step| match (at, step) {
        (Variant::Object(object), Step::Key(name)) => object.get(name),
        (Variant::List(list), Step::Index(index)) => list.get(*index),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Step, steps};

    #[test]
    fn paths_are_read() {
        let key = |name: &str| Step::Key(name.to_owned());
        assert_eq!(steps("$"), Some(vec![]));
        assert_eq!(
            steps("$.a[0]['b.c'][\"d\"].e f"),
            Some(vec![
                key("a"),
                Step::Index(0),
                key("b.c"),
                key("d"),
                key("e f")
            ])
        );
        for wrong in [
            "", "a", "$a", "$.", "$..a", "$[", "$[a]", "$[-1]", "$['a", "$['a'", "$.a[]",
        ] {
            assert_eq!(steps(wrong), None, "{wrong}");
        }
    }
}
