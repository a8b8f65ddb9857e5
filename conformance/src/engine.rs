//! One session of Deltaic in a warehouse of its own, asked in process.

use deltaic_session::{Parameters, Session, error_json};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::directive;
use crate::place::{Place, Store};
use crate::recording::{Answer, Failure};
use crate::scenario::Step;

/// A session and its warehouse, which goes when the engine goes.
pub struct Engine {
    runtime: Runtime,
    session: Session,
    place: Place,
}

impl Engine {
    /// Start on an empty warehouse.
    ///
    /// # Errors
    /// The warehouse can not be made or the session can not start.
    pub fn start(profile: &str, store: Store) -> Result<Self, String> {
        let place = Place::make(store)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_stack_size(16 * 1024 * 1024)
            .enable_all()
            .build()
            .map_err(|e| e.to_string())?;
        let mut builder = place.builder();
        builder
            .conf
            .push(("deltaic.profile".to_owned(), profile.to_owned()));
        let session = builder.build().map_err(|e| e.to_string())?;
        Ok(Self {
            runtime,
            session,
            place,
        })
    }

    /// Makes a table of a local folder available to the session; its location.
    ///
    /// # Errors
    /// The store can not be written.
    pub fn upload(&self, folder: &std::path::Path, name: &str) -> Result<String, String> {
        self.place.upload(&self.runtime, folder, name)
    }

    /// Run a statement with arguments in the pipe's form.
    pub fn sql(&self, text: &str, arguments: &Value) -> Answer {
        let asked = Parameters::from_json(arguments)
            .and_then(|parameters| self.runtime.block_on(self.session.sql(text, parameters)));
        // Steps look at the files of the log.
        self.runtime.block_on(self.session.settle());
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
        let ran = self
            .place
            .files(&self.runtime)
            .and_then(|files| directive::run(files.as_ref(), verb, &words));
        match ran {
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
        text.replace("@WAREHOUSE_URI@", &self.place.uri())
            .replace("@WAREHOUSE@", self.place.location())
    }

    fn without_warehouse(&self, text: &str) -> String {
        let location = self.place.location();
        let mut text = text
            .replace(&format!("file://{location}"), "@WAREHOUSE_URI@")
            .replace(&self.place.uri(), "@WAREHOUSE_URI@")
            .replace(location, "@WAREHOUSE@");
        if let Ok(here) = std::env::current_dir() {
            text = text.replace(&format!("cwd=file:{}", here.to_string_lossy()), "cwd=@CWD@");
        }
        self.place.store().mask(text)
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
