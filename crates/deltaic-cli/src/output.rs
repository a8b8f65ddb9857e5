//! Answers on standard output: Spark's table, or one JSON object per line.

use std::fmt::Write;

use deltaic_protocol::error::DeltaError;
use deltaic_session::{ShowOptions, SqlResult, error_json};

use crate::arguments::Output;
use crate::failure::{self, Failed};
use crate::terminal;

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    pub output: Output,
    pub show: ShowOptions,
}

/// Print an error that ends the command: JSON on standard output for programs, text on standard error for people.
pub fn print_error(error: &DeltaError, output: Output) -> Result<(), Failed> {
    match output {
        Output::Json => {
            let mut json = error_json(error);
            json["error"]["causes"] = failure::causes(error).into();
            json["error"]["hint"] = failure::hint_of(error).into();
            terminal::print(&format!("{json}\n"))?;
        }
        Output::Table => terminal::complain(&failure::text(error)),
    }
    Ok(())
}

impl Printer {
    /// Everything, without cutting.
    pub fn whole(output: Output) -> Self {
        let show = ShowOptions {
            rows: usize::MAX,
            truncate: 0,
            vertical: false,
        };
        Self { output, show }
    }

    /// Print an answer. Statements without columns print nothing but their notes.
    pub fn answer(&self, answer: &SqlResult) -> Result<(), Failed> {
        terminal::print(&self.answer_text(answer))
    }

    fn answer_text(&self, answer: &SqlResult) -> String {
        if self.output == Output::Json {
            return format!("{}\n", answer.to_json_pipe());
        }
        let mut out = String::new();
        if !answer.schema.fields.is_empty() {
            out.push_str(answer.show(self.show).trim_end_matches('\n'));
            out.push('\n');
        }
        for note in &answer.notes {
            let _ = writeln!(out, "note: {note}");
        }
        out
    }

    /// Print a statement before it runs, for people who follow a script.
    pub fn statement(&self, sql: &str) -> Result<(), Failed> {
        if self.output == Output::Json {
            return Ok(());
        }
        let mut out = String::new();
        for (n, line) in sql.lines().enumerate() {
            let _ = writeln!(out, "{} {line}", if n == 0 { ">" } else { "." });
        }
        terminal::print(&out)
    }
}
