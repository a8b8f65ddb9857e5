//! Completion at the prompt: keywords, and the names that the catalog knows.

use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

/// Words that begin or join the statements of this program.
const KEYWORDS: &[&str] = &[
    "ALTER TABLE",
    "AS OF",
    "BETWEEN",
    "BIGINT",
    "BOOLEAN",
    "BY",
    "CASCADE",
    "COLUMNS",
    "COMMENT",
    "CREATE",
    "CREATE TABLE",
    "DATE",
    "DECIMAL",
    "DELETE FROM",
    "DESCRIBE",
    "DESCRIBE DETAIL",
    "DESCRIBE HISTORY",
    "DISTINCT",
    "DOUBLE",
    "DROP",
    "DRY RUN",
    "EXISTS",
    "FROM",
    "FULL",
    "GROUP BY",
    "HAVING",
    "HOURS",
    "IDENTIFIER",
    "INSERT INTO",
    "INSERT OVERWRITE",
    "INT",
    "JOIN",
    "LIMIT",
    "LITE",
    "LOCATION",
    "NOT",
    "NULL",
    "ORDER BY",
    "PARTITIONED BY",
    "REPLACE",
    "RESET",
    "RESTORE TABLE",
    "RETAIN",
    "SCHEMA",
    "SELECT",
    "SET",
    "SHOW",
    "SHOW CATALOGS",
    "SHOW CREATE TABLE",
    "SHOW SCHEMAS",
    "SHOW TABLES",
    "SHOW TBLPROPERTIES",
    "STRING",
    "TABLE",
    "TBLPROPERTIES",
    "TEMPORARY VIEW",
    "TIMESTAMP",
    "TIMESTAMP AS OF",
    "TO",
    "UNSET",
    "UPDATE",
    "USE",
    "USING DELTA",
    "VACUUM",
    "VALUES",
    "VERSION AS OF",
    "VIEW",
    "WHERE",
    "WITH",
];

/// What the line editor asks.
#[derive(Default)]
pub struct Names {
    /// Tables, views and schemas.
    known: Vec<String>,
}

impl Names {
    /// Take over the names that the catalog has now.
    pub fn replace(&mut self, mut names: Vec<String>) {
        names.sort();
        names.dedup();
        self.known = names;
    }

    /// Where the word under the cursor begins, and what it may become.
    fn candidates(&self, line: &str, position: usize) -> (usize, Vec<String>) {
        let before = line.get(..position).unwrap_or(line);
        let start = before
            .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '`')))
            .map_or(0, |at| {
                at + before[at..].chars().next().map_or(1, char::len_utf8)
            });
        let word = &before[start..];
        if word.is_empty() {
            return (start, Vec::new());
        }
        let begins = |candidate: &str| {
            candidate
                .get(..word.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(word))
        };
        let lower = word.chars().all(|c| !c.is_uppercase());
        let names = self.known.iter().filter(|name| begins(name)).cloned();
        let keywords = KEYWORDS.iter().filter(|keyword| begins(keyword));
        let keywords = keywords.map(|keyword| {
            if lower {
                keyword.to_lowercase()
            } else {
                (*keyword).to_owned()
            }
        });
        (start, names.chain(keywords).collect())
    }
}

impl Completer for Names {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, candidates) = self.candidates(line, position);
        let pairs = candidates.into_iter().map(|text| Pair {
            display: text.clone(),
            replacement: text,
        });
        Ok((start, pairs.collect()))
    }
}

impl Hinter for Names {
    type Hint = String;
}
impl Highlighter for Names {}
impl Validator for Names {}
impl Helper for Names {}

#[cfg(test)]
mod tests {
    use super::Names;

    fn check(line: &str, expected: (usize, &[&str])) {
        let mut names = Names::default();
        names.replace(vec!["orders".into(), "main.shop".into()]);
        let (start, found) = names.candidates(line, line.len());
        assert_eq!(
            (
                start,
                found
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .as_slice()
            ),
            expected
        );
    }

    #[test]
    fn keywords_keep_the_case_of_what_is_typed() {
        check("VAC", (0, &["VACUUM"]));
        check("vac", (0, &["vacuum"]));
    }

    #[test]
    fn names_of_the_catalog_come_first() {
        check("SELECT * FROM or", (14, &["orders", "order by"]));
        check("USE main.s", (4, &["main.shop"]));
        check("SELECT ", (7, &[]));
    }
}
