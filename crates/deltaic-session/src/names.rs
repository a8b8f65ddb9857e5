//! Which names tables, views, schemas and catalogs can have. Folders are named after them, so a name that could lead
//! out of the warehouse, or onto another table's folder, is refused.

use deltaic_protocol::error::{DeltaError, Result};

use crate::errors;

/// A name for a table, a view or a schema, by the reference's rule: letters A to Z, digits and `_`.
pub(crate) fn check(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(DeltaError::unclassed(
            "java.lang.IllegalArgumentException",
            "Can not create a Path from an empty string",
        ));
    }
    if name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    {
        return Ok(());
    }
    // The reference reads the name once more to print it, as a dotted name of which no part may be empty.
    let parts: Vec<&str> = name.split('.').collect();
    if name.contains('`') || parts.iter().any(|part| part.is_empty()) {
        return Err(DeltaError::new("INVALID_ATTRIBUTE_NAME_SYNTAX").param("name", name));
    }
    Err(DeltaError::new("INVALID_SCHEMA_OR_RELATION_NAME").param("name", errors::quoted(&parts)))
}

/// A name for a catalog: hyphens too.
pub(crate) fn check_catalog(name: &str) -> Result<()> {
    check(&name.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::{check, check_catalog};

    #[test]
    fn only_names_that_are_one_plain_folder_pass() {
        for name in ["t", "Mixed_Case", "123", "_delta_log", "select"] {
            assert!(check(name).is_ok(), "{name}");
        }
        let class = |name: &str| {
            check(name)
                .err()
                .and_then(|error| error.class().map(str::to_owned))
        };
        for name in ["a b", "a.b", "a/b", "ünï", "a-b", "a'b"] {
            assert_eq!(
                class(name).as_deref(),
                Some("INVALID_SCHEMA_OR_RELATION_NAME"),
                "{name}"
            );
        }
        for name in ["..", ".", "../evil", ".deltaic", "a`b", "a..b", "a."] {
            assert_eq!(
                class(name).as_deref(),
                Some("INVALID_ATTRIBUTE_NAME_SYNTAX"),
                "{name}"
            );
        }
        assert!(
            check("").is_err() && check_catalog("a-b").is_ok() && check_catalog("../a").is_err()
        );
    }
}
