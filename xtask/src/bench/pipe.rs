//! A held session of Deltaic at the other end of a pipe.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::shell::Outcome;

/// One process, one session.
pub struct Pipe {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Pipe {
    /// Start the binary on a warehouse.
    pub fn start(deltaic: &Path, warehouse: &Path) -> Outcome<Self> {
        let mut child = Command::new(deltaic)
            .args(["sql", "--pipe", "--warehouse"])
            .arg(warehouse)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("cannot start {}: {e}", deltaic.display()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the pipe to deltaic did not open".into());
        };
        Ok(Self {
            child,
            input: Some(input),
            output: BufReader::new(output),
        })
    }

    /// Run a statement that must succeed; its rows and the time until its answer.
    pub fn sql(&mut self, statement: &str) -> Outcome<(Vec<Value>, Duration)> {
        let request = json!({"sql": statement, "args": {}});
        let input = self.input.as_mut().ok_or("the pipe is closed")?;
        let start = Instant::now();
        writeln!(input, "{request}")
            .and_then(|()| input.flush())
            .map_err(|e| format!("pipe: {e}"))?;
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .map_err(|e| format!("pipe: {e}"))?;
        let took = start.elapsed();
        let answer: Value =
            serde_json::from_str(&line).map_err(|e| format!("{statement}: {e}: {line:?}"))?;
        if let Some(error) = answer.get("error") {
            return Err(format!("{statement}: {error}"));
        }
        Ok((
            answer
                .get("rows")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default(),
            took,
        ))
    }

    /// Close the pipe and wait for the process.
    pub fn stop(mut self) -> Outcome {
        drop(self.input.take());
        let status = self.child.wait().map_err(|e| format!("deltaic: {e}"))?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("deltaic ended with {status}"))
        }
    }
}
