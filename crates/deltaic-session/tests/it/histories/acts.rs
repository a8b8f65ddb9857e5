//! What a step is once the state of its table is known: a statement, whether it must be refused, and what it does.

use std::collections::BTreeMap;

use super::state::{Row, State};

/// Whether a statement succeeds.
#[derive(Debug, Clone, PartialEq)]
pub enum Expect {
    Success,
    /// A refusal of one of these classes; of any where there are none.
    Refusal(Vec<&'static str>),
    /// Rules that the model does not know: a success does what the model says, a refusal does nothing.
    Either,
}

#[derive(Debug, Clone)]
pub enum Effect {
    /// The table's next version.
    Next(Box<State>),
    /// A new table of this name in this state.
    Clone(String, Box<State>),
    /// Files that only old versions need may be gone.
    Vacuum,
    /// A new session.
    Reopen,
    /// No new rows.
    Nothing,
}

#[derive(Debug, Clone)]
pub struct Act {
    /// Settings to be made first.
    pub settings: Vec<String>,
    pub sql: String,
    pub expect: Expect,
    pub effect: Effect,
}

impl Act {
    pub fn new(sql: String, expect: Expect, effect: Effect) -> Self {
        Act {
            settings: Vec::new(),
            sql,
            expect,
            effect,
        }
    }

    /// A statement after which the table is in this state.
    pub fn next(sql: String, expect: Expect, state: State) -> Self {
        Act::new(sql, expect, Effect::Next(Box::new(state)))
    }
}

/// A table and all its versions.
#[derive(Debug)]
pub struct Table {
    pub name: String,
    pub states: Vec<State>,
    /// Versions before this one may have lost files.
    pub whole_from: usize,
    /// The furthest value that each identity column has given.
    pub furthest: BTreeMap<u32, i64>,
    /// The table whose files this one may use.
    pub source: Option<String>,
}

impl Table {
    pub fn now(&self) -> &State {
        self.states.last().unwrap()
    }

    pub fn version(&self) -> usize {
        self.states.len() - 1
    }
}

/// Why a table does not take rows.
pub fn refusal(state: &State, rows: &[Row]) -> Option<Expect> {
    if rows.iter().all(|row| state.takes(row)) {
        return None;
    }
    Some(Expect::Refusal(vec![
        "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
        "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
    ]))
}
