//! Scripts: statements and the comments before them that mean something.
//!
//! - `-- expect error: CLASS`: the statement must fail with that class, or with a subclass of it; an error without
//!   class is named by the last word of its exception (`IllegalArgumentException`).
//! - `-- param: NAME = VALUE`: value of the named parameter from here on, unless the command line gave one.
//! - `-- keep: NAME = COLUMN`: that column of the answer's first row becomes the value of the parameter.

use deltaic_protocol::error::DeltaError;
use deltaic_sql::ScriptStatement;

/// A statement of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The statement without semicolon and without comments before it.
    pub sql: String,
    /// Class of the error that must come.
    pub expected_error: Option<String>,
    /// Parameters that get a value before the statement runs.
    pub parameters: Vec<(String, String)>,
    /// Parameters that get a value from the answer: (name, column).
    pub keeps: Vec<(String, String)>,
}

/// The statements of a text, with their marks.
pub fn steps(text: &str) -> Vec<Step> {
    let statements = deltaic_sql::split(text).into_iter();
    let step = |statement: ScriptStatement| {
        let mut step = Step {
            sql: statement.text,
            ..Step::default()
        };
        for comment in &statement.comments {
            mark(comment, &mut step);
        }
        step
    };
    statements.map(step).collect()
}

/// Does the text end behind a semicolon, so that a prompt need not ask for more?
pub fn is_complete(text: &str) -> bool {
    deltaic_sql::split(text)
        .last()
        .is_none_or(|statement| statement.terminated)
}

fn mark(comment: &str, step: &mut Step) {
    let Some((word, value)) = comment.split_once(':') else {
        return;
    };
    let pair = || {
        let (name, value) = value.split_once('=')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    match word.trim() {
        "expect error" => step.expected_error = Some(value.trim().to_owned()),
        "param" => step.parameters.extend(pair()),
        "keep" => step.keeps.extend(pair()),
        _ => {}
    }
}

/// Is it the error that the mark names?
pub fn is_expected(error: &DeltaError, expected: &str) -> bool {
    match error.class() {
        Some(class) => {
            class == expected
                || class
                    .strip_prefix(expected)
                    .is_some_and(|rest| rest.starts_with('.'))
        }
        None => error.java_class().rsplit('.').next() == Some(expected),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use deltaic_protocol::error::DeltaError;

    use super::{Step, is_expected, steps};

    #[test]
    fn marks_belong_to_the_statement_that_follows() {
        let text = "-- A title\n-- param: a = 1\nSELECT ';' -- x; y\n;\n\n-- expect error: NO_TABLE\n-- why\nSELECT * FROM t;\n-- keep: v = version\nDESCRIBE HISTORY t LIMIT 1";
        let found = steps(text);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].parameters, [("a".to_owned(), "1".to_owned())]);
        assert!(found[0].sql.starts_with("SELECT ';'"));
        let second = Step {
            sql: "SELECT * FROM t".into(),
            expected_error: Some("NO_TABLE".into()),
            ..Step::default()
        };
        assert_eq!(found[1], second);
        assert_eq!(found[2].keeps, [("v".to_owned(), "version".to_owned())]);
    }

    #[test]
    fn a_text_of_comments_has_no_statement() {
        assert_eq!(steps("-- nothing\n;;\n"), []);
    }

    #[test]
    fn a_class_stands_for_its_subclasses_and_not_for_longer_names() {
        let error = DeltaError::new("FAILED_READ_FILE.FILE_NOT_EXIST");
        assert!(is_expected(&error, "FAILED_READ_FILE"));
        assert!(is_expected(&error, "FAILED_READ_FILE.FILE_NOT_EXIST"));
        assert!(!is_expected(&error, "FAILED_READ"));
        let error =
            DeltaError::unclassed("java.lang.IllegalArgumentException", "requirement failed");
        assert!(is_expected(&error, "IllegalArgumentException"));
    }
}
