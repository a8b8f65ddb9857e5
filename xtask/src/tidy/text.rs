//! Rules on the text of files: a head on each Rust file, nothing that panics, no stub, no path of a machine.

use super::SourceFile;
use super::lexer::{Token, tokens_outside_tests};

/// Beginnings of paths that exist on one machine only.
const MACHINE_PATHS: &[&str] = &["/work/", "/root/", "/home/", "/Users/", "/tmp/target"];

/// Files that must name such paths: this list, and texts that show a user's own path as an example.
const MAY_NAME_PATHS: &[&str] = &["xtask/src/tidy/text.rs"];

/// Macros that stand for work not done, or that end the process.
const FORBIDDEN_MACROS: &[&str] = &["todo", "unimplemented", "panic", "dbg"];

/// Attributes that hide a test from the result.
const FORBIDDEN_ATTRIBUTES: &[&str] = &["ignore", "should_panic"];

/// Breaches, one line each.
pub fn check(files: &[SourceFile]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        machine_paths(file, &mut found);
        if file.path.ends_with(".rs") {
            head(file, &mut found);
            attributes(file, &mut found);
            if !file.is_test {
                panics(file, &mut found);
            }
        }
    }
    found
}

fn head(file: &SourceFile, found: &mut Vec<String>) {
    let first = file
        .text
        .lines()
        .find(|line| !line.starts_with("#!") && !line.trim().is_empty());
    if !first.is_some_and(|line| line.starts_with("//! ") && line.len() > 8) {
        found.push(format!(
            "{}:1: no `//!` head that says what the file is for",
            file.path
        ));
    }
}

fn machine_paths(file: &SourceFile, found: &mut Vec<String>) {
    if MAY_NAME_PATHS.contains(&file.path.as_str()) || file.path.ends_with(".lock") {
        return;
    }
    for (n, line) in file.text.lines().enumerate() {
        for path in MACHINE_PATHS {
            if let Some(at) = line.find(path)
                && !line[..at].ends_with(|c: char| {
                    c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | '@')
                })
            {
                found.push(format!(
                    "{}:{}: a path of one machine: {path}",
                    file.path,
                    n + 1
                ));
            }
        }
    }
}

fn attributes(file: &SourceFile, found: &mut Vec<String>) {
    for (n, line) in file.text.lines().enumerate() {
        let text = line.trim_start();
        if FORBIDDEN_ATTRIBUTES.iter().any(|a| {
            text.strip_prefix("#[")
                .is_some_and(|rest| rest.starts_with(a))
        }) {
            found.push(format!(
                "{}:{}: {text}: a test counts or goes",
                file.path,
                n + 1
            ));
        }
    }
}

/// What clippy's lints against panics do not see: unfinished work, and the lints switched off.
fn panics(file: &SourceFile, found: &mut Vec<String>) {
    let tokens = tokens_outside_tests(&file.text);
    let text = |n: usize| tokens.get(n).map_or("", |t: &Token| t.text.as_str());
    for (n, token) in tokens.iter().enumerate() {
        let word = token.text.as_str();
        if FORBIDDEN_MACROS.contains(&word) && text(n + 1) == "!" {
            found.push(format!(
                "{}:{}: {word}! outside tests",
                file.path, token.line
            ));
        }
        let lints = ["unwrap_used", "expect_used", "panic"];
        if word == "clippy" && text(n + 1) == "::" && lints.contains(&text(n + 2)) {
            found.push(format!(
                "{}:{}: clippy::{} is switched off outside tests",
                file.path,
                token.line,
                text(n + 2)
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SourceFile;
    use super::check;

    fn breaches(path: &str, text: &str) -> Vec<String> {
        check(&[SourceFile {
            path: path.into(),
            text: text.into(),
            is_test: super::super::is_test_name(path),
        }])
    }

    #[test]
    fn a_file_without_head_is_a_breach() {
        assert_eq!(breaches("a/src/b.rs", "fn f() {}").len(), 1);
        assert_eq!(
            breaches("a/src/b.rs", "//! What it is for.\nfn f() {}").len(),
            0
        );
    }

    #[test]
    fn what_panics_is_a_breach_outside_tests_only() {
        let head = "//! What it is for.\n";
        assert_eq!(
            breaches(
                "a/src/b.rs",
                &format!("{head}fn f() {{ panic!(); dbg!(y); todo!() }}")
            )
            .len(),
            3
        );
        assert_eq!(
            breaches(
                "a/src/b.rs",
                &format!("{head}fn f() {{ p.expect(Token::Comma); todo(1) }}")
            )
            .len(),
            0
        );
        assert_eq!(
            breaches("a/src/b/tests.rs", &format!("{head}fn f() {{ todo!() }}")).len(),
            0
        );
    }

    #[test]
    fn a_path_of_a_machine_is_a_breach_in_any_file() {
        let path = ["", "home", "someone", "x"].join("/");
        assert_eq!(breaches("README.md", &path).len(), 1);
        assert_eq!(breaches("README.md", &format!("target{path}")).len(), 0);
    }
}
