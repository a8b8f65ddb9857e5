//! Spark's functions by name: how their arguments are coerced, what type they give, and what computes them.

pub mod aggregate;
pub mod call;
pub mod collection;
pub mod conditional;
pub mod datetime;
pub mod generator;
pub mod lambda;
pub mod math;
pub mod misc;
pub mod operator;
pub mod text;

use call::Entry;

/// The scalar function of a name, in lower case.
pub fn scalar(name: &str) -> Option<&'static Entry> {
    [
        text::TABLE,
        math::TABLE,
        datetime::TABLE,
        collection::TABLE,
        conditional::TABLE,
        misc::TABLE,
    ]
    .into_iter()
    .flatten()
    .find(|e| e.name == name)
}
