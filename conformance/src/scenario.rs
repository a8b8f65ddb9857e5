//! Scenario files: statements that end with a `;` at the end of a line, and directives in lines that begin with `--!`
//! (their list: `reference/scenario.py`).

/// One step of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A statement without its semicolon.
    Sql(String),
    /// A directive without its `--!`.
    Directive(String),
}

impl Step {
    /// Statement or directive as text.
    pub fn text(&self) -> &str {
        match self {
            Step::Sql(text) | Step::Directive(text) => text,
        }
    }
}

/// The steps of a scenario file, in order.
///
/// # Errors
/// The text ends inside a statement.
pub fn steps(text: &str) -> Result<Vec<Step>, String> {
    let mut found = Vec::new();
    let mut statement: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(directive) = line.strip_prefix("--!") {
            found.push(Step::Directive(directive.trim().to_owned()));
        } else if !statement.is_empty() || !(line.starts_with("--") || line.trim().is_empty()) {
            statement.push(line);
            if line.trim_end().ends_with(';') {
                let text = statement.join("\n");
                let text = text.trim();
                found.push(Step::Sql(text.strip_suffix(';').unwrap_or(text).to_owned()));
                statement.clear();
            }
        }
    }
    if statement.iter().any(|line| !line.trim().is_empty()) {
        return Err("the last statement does not end with a semicolon".to_owned());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{Step, steps};

    #[test]
    fn a_statement_ends_where_a_semicolon_ends_a_line() {
        let text = "-- head\n\nSELECT ';' AS a,\n  -- inside\n  2;\n--! files t\nSELECT 3;  \n";
        let expected = vec![
            Step::Sql("SELECT ';' AS a,\n  -- inside\n  2".into()),
            Step::Directive("files t".into()),
            Step::Sql("SELECT 3".into()),
        ];
        assert_eq!(steps(text), Ok(expected));
        assert!(steps("SELECT 1").is_err());
    }
}
