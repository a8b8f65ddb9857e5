//! A session as the commands use it.

use std::collections::BTreeSet;
use std::time::Duration;

use deltaic_command::Profile;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_session::{Session, SessionBuilder, SqlResult};
use deltaic_storage::cloud::{is_known_option, similar_option};
use serde_json::{Map, Value};
use tokio::task::{JoinError, JoinHandle};

use crate::arguments::{Common, ProfileName};
use crate::failure::Failed;
use crate::{memory, terminal};

/// How long a stopped statement may take to end.
const GRACE: Duration = Duration::from_millis(500);

/// An open session.
pub struct Engine {
    session: Session,
    warehouse: String,
    memory_limit: Option<u64>,
}

impl Engine {
    /// Open the session that the command line describes.
    pub fn open(common: &Common) -> Result<Self, Failed> {
        let warehouse = absolute(&common.warehouse);
        let mut builder = SessionBuilder::new(warehouse.clone());
        builder.catalog_path = common.catalog.clone();
        builder.profile = match common.profile {
            ProfileName::Delta43 => Profile::Delta43,
            ProfileName::Delta40 => Profile::Delta40,
        };
        builder.conf = common.settings.clone();
        builder.memory_limit = common.memory_limit;
        if let Some(place) = &common.catalog
            && place.to_string_lossy().contains("://")
        {
            return Err(usage(
                format!("The catalog {} is not on a local disk", place.display()),
                "--catalog PATH names a local file; tables may lie in object stores all the same",
            ));
        }
        for (name, _) in &common.storage_options {
            if name.is_empty() {
                return Err(usage(
                    "A storage option is not of the form KEY=VALUE".to_owned(),
                    "deltaic sql --storage-option aws_region=eu-central-1 …",
                ));
            }
            if !is_known_option(name) {
                let instead = similar_option(name)
                    .map_or_else(String::new, |known| format!("; did you mean {known}?"));
                terminal::complain(&format!(
                    "note: no option of object stores is called {name}{instead}\n"
                ));
            }
        }
        let options = common.storage_options.iter().cloned();
        builder.storage = builder.storage.with_cloud_options(options);
        Ok(Self {
            session: builder.build()?,
            warehouse,
            memory_limit: common.memory_limit,
        })
    }

    /// The folder of the managed tables.
    pub fn warehouse(&self) -> &str {
        &self.warehouse
    }

    /// Run one statement in a task of its own: it has the deep stack that nested statements need, and a defect ends the
    /// statement, not the session.
    pub async fn sql_in_task(&self, text: &str, parameters: &Parameters) -> Result<SqlResult> {
        let parameters = deltaic_session::Parameters::from_json(&parameters.0)?;
        let (session, text) = (self.session.clone(), text.to_owned());
        let mut task = tokio::spawn(async move { session.sql(&text, parameters).await });
        tokio::select! {
            biased;
            ended = &mut task => ended.unwrap_or_else(|error| Err(broken_off(&error))),
            error = memory::exceeded(self.memory_limit) => {
                stop(task).await;
                Err(error)
            }
        }
    }

    /// Run one statement until it is done or Ctrl-C comes. It runs in a task of its own, so that a statement which is busy
    /// for long does not keep the signal from being seen.
    pub async fn sql_or_interrupt(&self, text: &str, parameters: &Parameters) -> Result<SqlResult> {
        let parameters = deltaic_session::Parameters::from_json(&parameters.0)?;
        if terminal::was_interrupted().await {
            return Err(interrupted(""));
        }
        let (session, statement) = (self.session.clone(), text.to_owned());
        let mut task = tokio::spawn(async move { session.sql(&statement, parameters).await });
        tokio::select! {
            biased;
            ended = &mut task => ended.unwrap_or_else(|error| Err(broken_off(&error))),
            () = terminal::interrupted() => {
                stop(task).await;
                Err(interrupted(text))
            }
            error = memory::exceeded(self.memory_limit) => {
                stop(task).await;
                Err(error)
            }
        }
    }

    /// Wait for what follows the commits, unless Ctrl-C comes: nothing needs it.
    pub async fn close(&self) {
        tokio::select! {
            warnings = self.session.settle() => {
                for warning in warnings {
                    terminal::complain(&format!("note: {warning}\n"));
                }
            }
            () = terminal::interrupted() => {}
        }
    }

    /// Forget what is cached.
    pub fn refresh(&self) {
        self.session.refresh();
    }

    /// Names for completion; none where the catalog can not say.
    pub fn names(&self) -> Vec<String> {
        self.session.names().unwrap_or_default()
    }
}

/// End a statement. A moment to put away what it holds; more is not needed, a crash is survived too.
async fn stop(mut task: JoinHandle<Result<SqlResult>>) {
    task.abort();
    tokio::select! {
        _ = &mut task => {}
        () = terminal::pause(GRACE) => {}
    }
}

/// What the command line says and cannot be.
fn usage(text: String, hint: &'static str) -> Failed {
    Failed::Error(
        DeltaError::unclassed("java.lang.IllegalArgumentException", text)
            .with_kind(ErrorKind::Parse)
            .with_hint(hint),
    )
}

/// A path from here as an absolute one; a URL as it is.
pub fn absolute(place: &str) -> String {
    if place.contains(":/") {
        return place.to_owned();
    }
    std::path::absolute(place).map_or_else(
        |_| place.to_owned(),
        |path| path.to_string_lossy().into_owned(),
    )
}

/// A statement that ended by a panic.
fn broken_off(error: &JoinError) -> DeltaError {
    DeltaError::internal(format!("the statement broke off: {error}"))
}

/// The end of a statement by Ctrl-C. VACUUM has effects that no commit shows.
fn interrupted(statement: &str) -> DeltaError {
    let error = DeltaError::unclassed(
        "java.util.concurrent.CancellationException",
        "the statement was stopped by Ctrl-C",
    )
    .with_kind(ErrorKind::Cancelled);
    let word = statement.split_whitespace().next().unwrap_or_default();
    match word.eq_ignore_ascii_case("VACUUM") {
        true => error.with_hint(
            "files that VACUUM had deleted by then are gone, and none of them was in use; run it again for the others",
        ),
        false => error,
    }
}

/// Values of a statement's parameters: an object by name, or an array for `?`.
#[derive(Clone, Debug)]
pub struct Parameters(Value);

impl Default for Parameters {
    fn default() -> Self {
        Self(Value::Object(Map::new()))
    }
}

impl Parameters {
    /// The arguments of a request on the pipe.
    pub fn from_json(arguments: &Value) -> Self {
        Self(arguments.clone())
    }

    /// Give a parameter a value, whatever it had.
    pub fn set(&mut self, name: &str, value: Value) {
        if let Value::Object(map) = &mut self.0 {
            map.insert(name.to_owned(), value);
        }
    }

    /// Give a parameter the value that a text of the command line means: a number, true, false, null, else the text.
    pub fn set_text(&mut self, name: &str, text: &str) {
        let value = match serde_json::from_str::<Value>(text) {
            Ok(value @ (Value::Null | Value::Bool(_) | Value::Number(_))) => value,
            _ => Value::from(text),
        };
        self.set(name, value);
    }

    /// The names that have values.
    pub fn names(&self) -> BTreeSet<String> {
        match &self.0 {
            Value::Object(map) => map.keys().cloned().collect(),
            _ => BTreeSet::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Parameters, interrupted};

    #[test]
    fn a_vacuum_that_was_stopped_has_deleted_files() {
        let hint = |text| interrupted(text).hint().map(str::to_owned);
        assert!(hint("vacuum t").is_some_and(|hint| hint.contains("gone")));
        assert_eq!(hint("INSERT INTO vacuum VALUES (1)"), None);
    }

    #[test]
    fn texts_of_the_command_line_become_numbers_truths_or_texts() {
        let mut parameters = Parameters::default();
        for (name, text) in [
            ("a", "7"),
            ("b", "1.5"),
            ("c", "true"),
            ("d", "null"),
            ("e", "2026-01-01"),
            ("f", "[1]"),
        ] {
            parameters.set_text(name, text);
        }
        let expected =
            json!({"a": 7, "b": 1.5, "c": true, "d": null, "e": "2026-01-01", "f": "[1]"});
        assert_eq!(parameters.0, expected);
    }
}
