//! `deltaic sql --pipe`: a program on the other end sends one JSON object per line and gets one line back.
//!
//! - `{"sql": text, "args": object or array}`: `{"columns": [[name, type, nullable]], "rows": [[…]]}` or
//!   `{"error": {"condition", "sqlState", "message", "parameters"}}`. Notes travel in `"notes"`.
//! - `{"refresh": true}`: forget what is cached, because files were changed from outside; answers `{}`.
//!
//! The run goes on after an error. Standard output carries nothing else.

use std::io;

use deltaic_protocol::error::{DeltaError, ErrorKind};
use deltaic_session::error_json;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::engine::{Engine, Parameters};
use crate::failure::Failed;
use crate::terminal;

/// Answer until the input ends.
pub async fn run(engine: &Engine) -> Result<(), Failed> {
    let mut input = BufReader::new(tokio::io::stdin());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).await.map_err(broken)? > 0 {
        let answer = match std::str::from_utf8(&line) {
            Ok(text) if text.trim().is_empty() => None,
            Ok(text) => Some(answer(engine, text).await),
            Err(error) => Some(Err(bad_request(&format!("no UTF-8: {error}")))),
        };
        line.clear();
        if let Some(answer) = answer {
            let answer = answer.unwrap_or_else(|error| error_json(&error));
            terminal::print(&format!("{answer}\n"))?;
        }
    }
    Ok(())
}

async fn answer(engine: &Engine, line: &str) -> Result<Value, DeltaError> {
    let request: Value =
        serde_json::from_str(line).map_err(|e| bad_request(&format!("no JSON: {e}")))?;
    if request.get("refresh").and_then(Value::as_bool) == Some(true) {
        engine.refresh();
        return Ok(json!({}));
    }
    let Some(sql) = request.get("sql").and_then(Value::as_str) else {
        return Err(bad_request("neither \"sql\" nor \"refresh\" is there"));
    };
    let parameters = Parameters::from_json(request.get("args").unwrap_or(&Value::Null));
    Ok(engine.sql_in_task(sql, &parameters).await?.to_json_pipe())
}

fn bad_request(text: &str) -> DeltaError {
    DeltaError::unclassed(
        "java.lang.IllegalArgumentException",
        format!("the request is not understood: {text}"),
    )
    .with_kind(ErrorKind::Parse)
}

fn broken(error: io::Error) -> Failed {
    Failed::Error(DeltaError::unclassed(
        "java.io.IOException",
        format!("the pipe broke: {error}"),
    ))
}
