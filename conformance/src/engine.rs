//! One session of Deltaic in a warehouse of its own, asked in process.

use std::path::{Path, PathBuf};

use deltaic_session::{Parameters, Session, SessionBuilder, error_json};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::directive;
use crate::recording::{Answer, Failure};
use crate::scenario::Step;

/// A session and its warehouse, which goes when the engine goes.
pub struct Engine {
    runtime: Runtime,
    session: Session,
    warehouse: PathBuf,
    _folder: TempDir,
}

impl Engine {
    /// Start on an empty warehouse.
    ///
    /// # Errors
    /// The warehouse can not be made or the session can not start.
    pub fn start(profile: &str) -> Result<Self, String> {
        let folder = tempfile::Builder::new()
            .prefix("wh")
            .tempdir()
            .map_err(|e| e.to_string())?;
        let warehouse = folder.path().canonicalize().map_err(|e| e.to_string())?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_stack_size(16 * 1024 * 1024)
            .enable_all()
            .build()
            .map_err(|e| e.to_string())?;
        let mut builder = SessionBuilder::new(warehouse.to_string_lossy());
        builder
            .conf
            .push(("deltaic.profile".to_owned(), profile.to_owned()));
        let session = builder.build().map_err(|e| e.to_string())?;
        Ok(Self {
            runtime,
            session,
            warehouse,
            _folder: folder,
        })
    }

    /// The folder of the warehouse.
    pub fn warehouse(&self) -> &Path {
        &self.warehouse
    }

    /// Run a statement with arguments in the pipe's form.
    pub fn sql(&self, text: &str, arguments: &Value) -> Answer {
        let asked = Parameters::from_json(arguments)
            .and_then(|parameters| self.runtime.block_on(self.session.sql(text, parameters)));
        let json = match asked {
            Ok(result) => result.to_json_pipe(),
            Err(error) => error_json(&error),
        };
        self.answer(&json)
    }

    /// Run a step of a scenario.
    pub fn step(&self, step: &Step) -> Answer {
        match step {
            Step::Sql(text) => self.sql(&self.fill_in(text), &Value::Null),
            Step::Directive(text) => self.directive(&self.fill_in(text)),
        }
    }

    fn directive(&self, text: &str) -> Answer {
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let words: Vec<&str> = rest.split(' ').collect();
        match directive::run(&self.warehouse, verb, &words) {
            Ok(Some(answer)) => {
                if matches!(verb, "rm" | "mtime") {
                    self.session.refresh();
                }
                self.taken_out(answer)
            }
            Ok(None) if verb == "py" => directive::skipped("Python comes with Spark Connect"),
            Ok(None) => match serde_json::from_str::<Value>(rest) {
                Ok(request) => {
                    let text = request.get("q").and_then(Value::as_str).unwrap_or_default();
                    self.sql(text, request.get("args").unwrap_or(&Value::Null))
                }
                Err(error) => failed(error.to_string()),
            },
            Err(reason) => failed(reason),
        }
    }

    /// An answer as the recordings hold it: the name of the warehouse is taken out.
    fn answer(&self, json: &Value) -> Answer {
        serde_json::from_str(&self.without_warehouse(&json.to_string()))
            .unwrap_or_else(|e| failed(e.to_string()))
    }

    fn taken_out(&self, mut answer: Answer) -> Answer {
        if let Some(log) = &answer.log {
            let text = self.without_warehouse(&Value::Object(log.clone()).to_string());
            answer.log = serde_json::from_str(&text).ok();
        }
        answer.text = answer.text.map(|text| self.without_warehouse(&text));
        answer
    }

    fn fill_in(&self, text: &str) -> String {
        let folder = self.warehouse.to_string_lossy();
        text.replace("@WAREHOUSE_URI@", &format!("file:{folder}"))
            .replace("@WAREHOUSE@", &folder)
    }

    fn without_warehouse(&self, text: &str) -> String {
        let folder = self.warehouse.to_string_lossy();
        let mut text = text
            .replace(&format!("file://{folder}"), "@WAREHOUSE_URI@")
            .replace(&format!("file:{folder}"), "@WAREHOUSE_URI@")
            .replace(&*folder, "@WAREHOUSE@");
        if let Ok(here) = std::env::current_dir() {
            text = text.replace(&format!("cwd=file:{}", here.to_string_lossy()), "cwd=@CWD@");
        }
        text
    }
}

fn failed(message: String) -> Answer {
    Answer {
        error: Some(Failure {
            condition: None,
            message,
        }),
        ..Answer::default()
    }
}
