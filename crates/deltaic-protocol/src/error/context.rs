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
    /// What stands in front of the message; `parsing` says that the parser raised it.
    pub(super) fn lead(&self, parsing: bool) -> &'static str {
        match self {
            SqlContext::Parse { .. } => "\n",
            SqlContext::Fragment { .. } if parsing => "\n",
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
                let position = pos + 1;
                let excerpt = excerpt(sql, *line, *pos, *len);
                format!("\n== SQL (line {line}, position {position}) ==\n{excerpt}")
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

/// The lines that hold the fragment, each with its underline; at most 32 characters more on either side.
fn excerpt(sql: &str, line: usize, pos: usize, len: usize) -> String {
    const MORE: usize = 32;
    let text: Vec<char> = sql.chars().collect();
    let newlines = text.iter().enumerate().filter(|(_, c)| **c == '\n');
    let line_start = match line.checked_sub(2) {
        Some(before) => newlines.map(|(at, _)| at + 1).nth(before).unwrap_or(0),
        None => 0,
    };
    let start = (line_start + pos).min(text.len());
    let end = (start + len.max(1)).min(text.len());
    let after = text[end..].iter().take_while(|c| **c != '\n').count();
    let cut_before = start - line_start >= MORE;
    let cut_after = after >= MORE;
    let from = if cut_before { start - MORE } else { line_start };
    let to = end + after.min(MORE);
    let shown: String = text[from..to].iter().collect();
    let dots = |cut| if cut { "..." } else { "" };
    let shown = format!("{}{shown}{}", dots(cut_before), dots(cut_after));
    // Where the first character shown stands in the whole text; the dots count as characters of it.
    let mut at = from as i64 - if cut_before { 3 } else { 0 };
    let mut out = String::new();
    for line in shown.split('\n') {
        out.push_str(line);
        out.push('\n');
        for _ in line.chars() {
            match at {
                _ if at < start as i64 => out.push(' '),
                _ if at < end as i64 => out.push('^'),
                _ => {}
            }
            at += 1;
        }
        out.push('\n');
        at += 1;
    }
    out
}
