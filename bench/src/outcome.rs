//! What a scenario answers: times of its phases and a value to compare with other engines.

use std::fmt;
use std::time::Instant;

use serde_json::{Map, Value, json};

/// A scenario's answer or what went wrong.
pub type Outcome<T> = Result<T, Failure>;

/// Why a scenario ended early.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// A failure with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Marks the ends of phases.
pub struct Clock {
    last: Instant,
    phases: Vec<(&'static str, f64)>,
}

impl Clock {
    /// Starts the first phase.
    pub fn start() -> Self {
        Self {
            last: Instant::now(),
            phases: Vec::new(),
        }
    }

    /// Ends a phase and starts the next.
    pub fn mark(&mut self, phase: &'static str) {
        let now = Instant::now();
        self.phases.push((phase, (now - self.last).as_secs_f64()));
        self.last = now;
    }

    /// The answer: the time is that of all phases.
    pub fn done(self, check: impl Into<Value>) -> Measured {
        Measured {
            seconds: self.phases.iter().map(|(_, seconds)| seconds).sum(),
            phases: self.phases,
            check: check.into(),
        }
    }
}

/// One run.
pub struct Measured {
    seconds: f64,
    phases: Vec<(&'static str, f64)>,
    check: Value,
}

impl Measured {
    /// A run that did nothing: what a process costs by itself.
    pub fn nothing() -> Self {
        Clock::start().done(0)
    }

    /// Adds a figure that is no part of the time.
    pub fn with_figure(mut self, name: &'static str, seconds: f64) -> Self {
        self.phases.push((name, seconds));
        self
    }

    /// The line to print.
    pub fn line(&self) -> Value {
        let phases: Map<String, Value> = self
            .phases
            .iter()
            .map(|(name, seconds)| ((*name).to_owned(), json!(seconds)))
            .collect();
        json!({"t": self.seconds, "check": self.check, "phases": phases})
    }
}
