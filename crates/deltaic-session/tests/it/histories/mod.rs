//! Random histories of all statements over random tables, against a model that keeps the rows of every version in memory.
//!
//! A table and its steps are drawn as numbers; what a number means is decided when the step comes, so that a history gets
//! shorter without coming apart. A failure prints the statements that led to it. `DELTAIC_HEAVY` asks for many more.

mod acts;
mod alters;
mod choices;
mod conditions;
mod ends;
mod kinds;
mod rows;
mod state;
mod tables;
mod tracking;
mod updates;
mod world;

use std::fmt;

use proptest::prelude::*;
use proptest::test_runner::Config;

use choices::{Step, TableChoice};
use conditions::Choice;
use world::{Checked, World};

fn config() -> Config {
    let cases = match std::env::var_os("DELTAIC_HEAVY") {
        Some(_) => 200,
        None => 12,
    };
    Config {
        cases,
        max_shrink_iters: 400,
        failure_persistence: None,
        ..Config::default()
    }
}

/// What a history is made of.
struct History {
    table: TableChoice,
    steps: Vec<(u16, Step)>,
    filters: Vec<Choice>,
}

/// The numbers say nothing that the statements of a failure do not say better.
impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} steps", self.steps.len())
    }
}

fn history() -> impl Strategy<Value = History> {
    let steps = prop::collection::vec(choices::step(), 1..24);
    let filters = prop::collection::vec(conditions::choice(), 6);
    (choices::table(), steps, filters).prop_map(|(table, steps, filters)| History {
        table,
        steps,
        filters,
    })
}

async fn check(history: History) -> Checked {
    let mut world = World::new(&history.table).await?;
    for (at, step) in &history.steps {
        world.step(*at, step).await?;
    }
    ends::check(&mut world, &history.filters).await
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_version_has_the_rows_of_the_model(history in history()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(history))?;
    }
}
