//! Where in the SQL text an error sits, and how the reference prints that: its parser, its analyser and its evaluation of
//! expressions each have a form of their own.

/// The place of an error in the text of a statement. Lines count from 1; `pos` counts characters from 0 within the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SqlContext {
    /// Found by the parser: ` (line 1, pos 16)`, then the text with a caret line.
    Parse {
        line: usize,
        pos: usize,
        sql: String,
    },
    /// Found by the analyser: `; line 1 pos 7`.
    Analysis { line: usize, pos: usize },
    /// Met while an expression was evaluated, or by a later step of the parser: the fragment with its underline.
    Fragment {
        line: usize,
        pos: usize,
        /// The whole text of the statement.
        sql: String,
        /// Length of the fragment in characters.
        len: usize,
    },
}

impl SqlContext {
    /// What stands in front of the message.
    pub(super) fn lead(&self) -> &'static str {
        match self {
            SqlContext::Parse { .. } => "\n",
            _ => "",
        }
    }

    /// What follows the message.
    pub(super) fn tail(&self) -> String {
        match self {
            SqlContext::Analysis { line, pos } => format!("; line {line} pos {pos}"),
            SqlContext::Parse { line, pos, sql } => {
                let caret = format!("{}^^^", "-".repeat(*pos));
                let text = with_line_after(sql, *line, &caret);
                format!(" (line {line}, pos {pos})\n\n== SQL ==\n{text}\n")
            }
            SqlContext::Fragment {
                line,
                pos,
                sql,
                len,
            } => {
                let shown = sql.lines().nth(line.saturating_sub(1)).unwrap_or_default();
                let here = shown.chars().count().saturating_sub(*pos).max(1);
                let marks = "^".repeat((*len).clamp(1, here));
                let position = pos + 1;
                format!(
                    "\n== SQL (line {line}, position {position}) ==\n{shown}\n{}{marks}\n",
                    " ".repeat(*pos)
                )
            }
        }
    }
}

fn with_line_after(text: &str, line: usize, inserted: &str) -> String {
    let mut out: Vec<&str> = text.split('\n').collect();
    let at = line.clamp(1, out.len());
    out.insert(at, inserted);
    out.join("\n")
}
