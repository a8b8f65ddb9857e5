//! Answers on standard output: Spark's table, or one JSON object per line.

use std::io::{self, Write};

use deltaic_session::{ShowOptions, SqlResult};

use crate::arguments::Output;

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    pub output: Output,
    pub show: ShowOptions,
}

impl Printer {
    /// Everything, without cutting.
    pub fn whole(output: Output) -> Self {
        Self {
            output,
            show: ShowOptions {
                rows: usize::MAX,
                truncate: 0,
                vertical: false,
            },
        }
    }

    /// Print an answer. Statements without columns print nothing but their notes.
    pub fn answer(&self, answer: &SqlResult) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match self.output {
            Output::Json => writeln!(out, "{}", answer.to_json_pipe())?,
            Output::Table => {
                if !answer.schema.fields.is_empty() {
                    writeln!(out, "{}", answer.show(self.show).trim_end_matches('\n'))?;
                }
                for note in &answer.notes {
                    writeln!(out, "note: {note}")?;
                }
            }
        }
        out.flush()
    }

    /// Print a statement before it runs, for people who follow a script.
    pub fn statement(&self, sql: &str) -> io::Result<()> {
        if self.output == Output::Json {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        for (n, line) in sql.lines().enumerate() {
            writeln!(out, "{} {line}", if n == 0 { ">" } else { "." })?;
        }
        out.flush()
    }
}
