//! The table of error classes: name, SQLSTATE, Java exception class and message template of every error that this project can
//! raise. The data lies beside this file (`delta.classes`, `spark.classes`), one class per paragraph:
//!
//! ```text
//! CLASS SQLSTATE java.class      ('-' where there is no SQLSTATE; '~' and '*' stand for the two common packages)
//! | first line of the template with <parameter> places
//! .SUB_CLASS
//! | text that follows the class's own, one space between
//! ```

use std::collections::HashMap;
use std::sync::LazyLock;

/// One error class, or one sub-class (`CLASS.SUB`) with the text of both already joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorClass {
    /// `CLASS` or `CLASS.SUB`.
    pub name: String,
    /// Five characters; none for the classes that were never given one.
    pub sql_state: Option<&'static str>,
    /// Fully qualified name of the exception that the reference throws.
    pub java_class: String,
    /// Text with `<parameter>` places.
    pub template: String,
    /// Spark's own class (its messages end with the SQLSTATE), not one of Delta's.
    pub spark: bool,
}

static TABLE: LazyLock<HashMap<String, ErrorClass>> = LazyLock::new(|| {
    let mut table = HashMap::new();
    read(include_str!("delta.classes"), false, &mut table);
    read(include_str!("spark.classes"), true, &mut table);
    table
});

/// The class of that name, if the table has it.
pub fn error_class(name: &str) -> Option<&'static ErrorClass> {
    TABLE.get(name)
}

/// All classes and sub-classes, in no order.
pub fn error_classes() -> impl Iterator<Item = &'static ErrorClass> {
    TABLE.values()
}

/// The texts of a paragraph: `None` until the first `|` line.
fn append(text: &mut Option<String>, line: &str) {
    match text {
        Some(text) => {
            text.push('\n');
            text.push_str(line);
        }
        None => *text = Some(line.to_owned()),
    }
}

fn read(data: &'static str, spark: bool, table: &mut HashMap<String, ErrorClass>) {
    let mut head: Option<(&'static str, Option<&'static str>, String)> = None;
    let mut main: Option<String> = None;
    let mut sub: Option<(&'static str, Option<String>)> = None;
    let mut put = |head: &Option<(&'static str, Option<&'static str>, String)>,
                   main: &Option<String>,
                   sub: &Option<(&'static str, Option<String>)>| {
        let Some((class, sql_state, java_class)) = head else {
            return;
        };
        let main = main.as_deref().unwrap_or_default();
        let (name, template) = match sub {
            None => ((*class).to_owned(), main.to_owned()),
            Some((sub, None)) => (format!("{class}.{sub}"), main.to_owned()),
            Some((sub, Some(text))) => (format!("{class}.{sub}"), format!("{main} {text}")),
        };
        let entry = ErrorClass {
            name: name.clone(),
            sql_state: *sql_state,
            java_class: java_class.clone(),
            template,
            spark,
        };
        table.insert(name, entry);
    };
    for line in data.lines() {
        if let Some(text) = line.strip_prefix('|') {
            let text = text.strip_prefix(' ').unwrap_or(text);
            match &mut sub {
                Some((_, sub)) => append(sub, text),
                None => append(&mut main, text),
            }
        } else if let Some(name) = line.strip_prefix('.') {
            put(&head, &main, &sub);
            sub = Some((name, None));
        } else {
            put(&head, &main, &sub);
            (main, sub) = (None, None);
            let mut words = line.split(' ');
            head = match (words.next(), words.next(), words.next()) {
                (Some(name), Some(state), Some(java)) => {
                    Some((name, Some(state).filter(|s| *s != "-"), java_class(java)))
                }
                _ => None,
            };
        }
    }
    put(&head, &main, &sub);
}

fn java_class(short: &str) -> String {
    match (short.strip_prefix('~'), short.strip_prefix('*')) {
        (Some(rest), _) => format!("org.apache.spark.sql.delta.{rest}"),
        (_, Some(rest)) => format!("org.apache.spark.sql.{rest}"),
        _ => short.to_owned(),
    }
}
