//! The prompt: statements over several lines, history between runs (without statements that tell a secret), completion, Ctrl-C stops the statement and not the
//! program.

use std::fs;
use std::path::PathBuf;

use deltaic_protocol::error::DeltaError;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};

use crate::complete::Names;
use crate::engine::{Engine, Parameters};
use crate::failure::Failed;
use crate::output::{self, Printer};
use crate::progress::Progress;
use crate::{script, secret, terminal};

const HELP: &str = "A statement ends with a semicolon. exit or Ctrl-D ends, Ctrl-C stops a statement, Tab completes.";

/// Ask, run, print, until the end of input.
pub async fn run(
    engine: &Engine,
    parameters: &mut Parameters,
    printer: Printer,
    progress: &Progress,
) -> Result<(), Failed> {
    let mut editor = editor().map_err(broken)?;
    let history = history_file();
    if let Some(file) = &history {
        // No history yet is no failure.
        let _ = editor.load_history(file);
    }
    let version = env!("CARGO_PKG_VERSION");
    terminal::print(&format!(
        "deltaic {version} at {}. {HELP}\n",
        engine.warehouse()
    ))?;
    let mut pending = String::new();
    loop {
        if pending.is_empty()
            && let Some(names) = editor.helper_mut()
        {
            names.replace(engine.names());
        }
        let prompt = if pending.is_empty() {
            "deltaic> "
        } else {
            "      -> "
        };
        let line = match tokio::task::block_in_place(|| editor.readline(prompt)) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => {
                pending.clear();
                continue;
            }
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(broken(error)),
        };
        if pending.is_empty() {
            match line.trim().trim_end_matches(';').to_lowercase().as_str() {
                "" => continue,
                "exit" | "quit" => break,
                "help" => {
                    terminal::print(&format!("{HELP}\n"))?;
                    continue;
                }
                _ => {}
            }
        }
        pending.push_str(&line);
        pending.push('\n');
        if !script::is_complete(&pending) {
            continue;
        }
        let text = std::mem::take(&mut pending);
        if !secret::is_told(&text) {
            // A history that can not be kept must not keep the statement from running.
            let _ = editor.add_history_entry(text.trim());
            if let Some(file) = &history {
                let _ = editor.append_history(file);
            }
        }
        statements(engine, &text, parameters, printer, progress).await?;
    }
    Ok(())
}

async fn statements(
    engine: &Engine,
    text: &str,
    parameters: &mut Parameters,
    printer: Printer,
    progress: &Progress,
) -> Result<(), Failed> {
    // What was typed while nothing ran does not stop what is asked for now.
    terminal::was_interrupted().await;
    for step in script::steps(text) {
        match progress
            .watch(&step.sql, engine.sql_or_interrupt(&step.sql, parameters))
            .await
        {
            Ok(answer) => printer.answer(&answer)?,
            Err(error) => {
                output::print_error(&error, printer.output)?;
                return Ok(());
            }
        }
    }
    Ok(())
}

fn editor() -> rustyline::Result<Editor<Names, FileHistory>> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .max_history_size(10_000)?
        .build();
    let mut editor = Editor::with_config(config)?;
    editor.set_helper(Some(Names::default()));
    Ok(editor)
}

/// `$XDG_STATE_HOME/deltaic/history`, or the same under `~/.local/state`.
fn history_file() -> Option<PathBuf> {
    let state = match std::env::var_os("XDG_STATE_HOME").filter(|v| !v.is_empty()) {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(std::env::var_os("HOME")?).join(".local/state"),
    };
    let folder = state.join("deltaic");
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

fn broken(error: ReadlineError) -> Failed {
    Failed::Error(DeltaError::unclassed(
        "java.io.IOException",
        format!("the terminal failed: {error}"),
    ))
}
