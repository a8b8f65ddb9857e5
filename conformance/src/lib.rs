//! Conformance: scenario files run in process, each against a fresh warehouse, and every answer is held against what
//! Spark + Delta answered (`recordings/`). Steps where Deltaic answers better on purpose stand in `beyond.toml`;
//! steps that are known to differ stand in `expected-failures.toml`, each with its reason, and fail the run as soon as
//! they pass.

pub mod aged;
pub mod compare;
pub mod directive;
pub mod engine;
pub mod lists;
pub mod mask;
pub mod place;
pub mod pytext;
pub mod recording;
pub mod scenario;
pub mod suites;
pub mod verdict;
