//! The pipe protocol over a session: one JSON line in, one out.
//!
//! `cargo run -p deltaic-session --example pipe -- WAREHOUSE [PROFILE]` reads `{"sql": …, "args": …}` lines from standard
//! input and answers `{"columns": …, "rows": …}` or `{"error": …}`; `{"refresh": true}` drops what is cached.

use std::io::{BufRead, Write};

use deltaic_session::{Parameters, Session, SessionBuilder, error_json};
use serde_json::{Value, json};

async fn answer(session: &Session, line: &str) -> Value {
    let Ok(request) = serde_json::from_str::<Value>(line) else {
        return json!({"error": {"condition": null, "sqlState": null, "message": "not a JSON line", "parameters": {}}});
    };
    if request["refresh"] == json!(true) {
        session.refresh();
        return json!({});
    }
    let Some(sql) = request["sql"].as_str() else {
        return json!({});
    };
    let parameters = match request.get("args") {
        None => Ok(Parameters::None),
        Some(args) => Parameters::from_json(args),
    };
    let outcome = match parameters {
        Ok(parameters) => session.sql(sql, parameters).await,
        Err(error) => Err(error),
    };
    match outcome {
        Ok(result) => result.to_json_pipe(),
        Err(error) => error_json(&error),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut builder = SessionBuilder::new(
        arguments
            .next()
            .unwrap_or_else(|| "spark-warehouse".to_owned()),
    );
    if let Some(profile) = arguments.next() {
        builder.profile = profile.parse()?;
    }
    let session = builder.build()?;
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        writeln!(output, "{}", answer(&session, &line?).await)?;
        output.flush()?;
    }
    Ok(())
}
