//! The promises of the stores as checks that run on any backend.
//!
//! Every backend, ours or another's, must pass [`run`] without a violation: the log protocol (8.4 "LogStore guarantees",
//! put-if-absent) rests on them. A check gets a fresh, empty table.

mod data;
mod log;
pub mod names;
mod object;
mod race;

use std::fmt;

use deltaic_protocol::error::DeltaError;
use futures::future::BoxFuture;

use crate::TableStore;

/// What a store did wrong.
#[derive(Debug)]
pub struct Violation(pub String);

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<DeltaError> for Violation {
    fn from(error: DeltaError) -> Self {
        Violation(format!("unexpected error: {error}"))
    }
}

impl From<object_store::Error> for Violation {
    fn from(error: object_store::Error) -> Self {
        Violation(format!("unexpected error: {error}"))
    }
}

/// The outcome of one check.
pub type Outcome = Result<(), Violation>;

/// One promise.
pub struct Check {
    /// The promise as a sentence.
    pub name: &'static str,
    /// Tests it on an empty table.
    pub run: fn(TableStore) -> BoxFuture<'static, Outcome>,
}

/// All promises.
pub fn checks() -> Vec<Check> {
    let mut all = table_checks();
    all.extend(names::checks());
    all.extend(object::checks());
    all
}

/// The promises of log store and data store alone. They hold as well where answers of the server are lost; what comes
/// through the object store itself is left to its caller then.
pub fn table_checks() -> Vec<Check> {
    let mut all = log::checks();
    all.extend(race::checks());
    all.extend(data::checks());
    all
}

/// Runs all checks, each on the table that `open` makes for its number; the names of the broken promises with what went
/// wrong.
pub async fn run(open: impl Fn(usize) -> TableStore) -> Vec<(&'static str, Violation)> {
    run_these(checks(), open).await
}

/// Runs some checks as [`run`] does.
pub async fn run_these(
    checks: Vec<Check>,
    open: impl Fn(usize) -> TableStore,
) -> Vec<(&'static str, Violation)> {
    let mut broken = Vec::new();
    for (number, check) in checks.into_iter().enumerate() {
        if let Err(violation) = (check.run)(open(number)).await {
            broken.push((check.name, violation));
        }
    }
    broken
}

/// Fails with a text unless the condition holds.
fn ensure(holds: bool, text: impl FnOnce() -> String) -> Outcome {
    if holds {
        Ok(())
    } else {
        Err(Violation(text()))
    }
}

/// Fails unless both are equal.
fn same<T: PartialEq + fmt::Debug>(what: &str, found: T, wanted: T) -> Outcome {
    ensure(found == wanted, || {
        format!("{what}: found {found:?}, wanted {wanted:?}")
    })
}
