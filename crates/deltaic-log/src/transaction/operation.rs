//! What a transaction does, as `commitInfo` and the history tell it.

use std::collections::BTreeMap;

use serde_json::Value;

/// Name, parameters and metrics of an operation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Operation {
    /// The reference's name, such as `WRITE` or `DELETE`.
    pub name: String,
    /// Parameters in the order in which they are written. A list is a string that holds JSON.
    pub parameters: Vec<(String, Value)>,
    /// Metrics; values are text.
    pub metrics: BTreeMap<String, String>,
    /// Tags of `commitInfo`.
    pub tags: BTreeMap<String, String>,
    /// A commit without actions is left out.
    pub skip_empty: bool,
    /// The commit replaces a state as a whole (RESTORE, CLONE): it is not tried again after a race, counts as no blind append,
    /// and always records the version that it read.
    pub large: bool,
    /// The commit is not tried again after a race either, and is otherwise like any other: what it was decided on must be
    /// looked at anew first.
    pub alone: bool,
}

impl Operation {
    /// An operation without parameters.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Adds a parameter.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// Adds a parameter that is text.
    #[must_use]
    pub fn text_parameter(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.parameter(name, Value::String(value.into()))
    }

    /// Adds or replaces a metric.
    pub fn set_metric(&mut self, name: impl Into<String>, value: impl ToString) {
        self.metrics.insert(name.into(), value.to_string());
    }

    /// Adds a metric.
    #[must_use]
    pub fn metric(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.set_metric(name, value);
        self
    }

    /// Leaves commits without actions out.
    #[must_use]
    pub fn skip_empty(mut self) -> Self {
        self.skip_empty = true;
        self
    }
}
