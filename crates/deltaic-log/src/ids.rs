//! Names and chance, injected so that tests repeat.

use std::fmt::Debug;

/// Makes names and random numbers.
pub trait Ids: Debug + Send + Sync {
    /// A new UUID in its text form.
    fn uuid(&self) -> String;

    /// A number from 0 up to and without `bound` (0 for a bound of 0).
    fn below(&self, bound: u64) -> u64;
}

/// Random ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn uuid(&self) -> String {
        uuid::Uuid::new_v4().to_string()
    }

    fn below(&self, bound: u64) -> u64 {
        let (high, _) = uuid::Uuid::new_v4().as_u64_pair();
        if bound == 0 { 0 } else { high % bound }
    }
}
