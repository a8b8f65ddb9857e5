//! A reader of Delta tables that has nothing of Deltaic in it: `delta_kernel` with its default engine, on a pipe.
//!
//! One JSON object per line comes in, one goes out. `path` names the folder of a table:
//!
//! - `{"path", "version": N}`: `{"version", "columns": [[name, type]], "rows": [[…]]}`; without `version` the newest.
//!   With `"row_ids": true` two columns more, `row_id` and `row_commit_version`.
//! - `{"path", "changes": [FIRST, LAST]}`: the change feed of these versions, in the same form.
//! - `{"path", "version": N, "skipping": true}`: reads again with a condition for each value that is there, so that
//!   files are left out by their statistics; `{"conditions",
//!   "rows_left_out", "lost": [text]}`.
//! - `{"path", "version": N, "state": true}`: `{"version", "in_commit_timestamp", "clustering": [name], "files",
//!   "bytes"}`; null what the table does not have. Files and bytes are those of the version's checksum file.
//! - `{"path", "checkpoint": true}`: writes a checkpoint of the newest version; `{"version"}`.
//! - anything that fails: `{"error": text}`.
//!
//! Values have the form of `deltaic sql --pipe`.

mod json;
mod read;
mod scalar;
mod skipping;

use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};

use serde_json::{Value, json};

use read::Table;

/// Why a request came to nothing.
type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    for line in stdin().lock().lines() {
        let answer = answer(&line?).unwrap_or_else(|error| json!({"error": text(&error)}));
        let mut out = stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

/// The words of an error without the places in the kernel's code that follow them.
fn text(error: &Failure) -> String {
    error.to_string().lines().take(1).collect()
}

fn answer(line: &str) -> Result<Value, Failure> {
    let request: Value = serde_json::from_str(line)?;
    let path = request["path"].as_str().ok_or("no \"path\"")?;
    let table = Table::open(path)?;
    let asked = |name: &str| request[name].as_bool() == Some(true);
    if let Some(bounds) = request["changes"].as_array() {
        let bound = |n: usize| bounds.get(n).and_then(Value::as_u64);
        return table.changes(bound(0).ok_or("no first version")?, bound(1));
    }
    let version = request["version"].as_u64();
    if asked("skipping") {
        return skipping::check(&table, version);
    }
    if asked("state") {
        return table.state(version);
    }
    if asked("checkpoint") {
        return table.checkpoint();
    }
    table.rows(version, asked("row_ids"))
}
