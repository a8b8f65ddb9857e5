//! Counting requests.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use deltaic_protocol::error::Result;

use super::{Area, OpKind, StoreHook, StoreOp};

/// Counts operations by area and kind.
#[derive(Debug, Default)]
pub struct RequestCounter {
    counts: Mutex<BTreeMap<(Area, OpKind), u64>>,
}

impl RequestCounter {
    /// A counter at zero.
    pub fn new() -> RequestCounter {
        RequestCounter::default()
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<(Area, OpKind), u64>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Operations of one kind in one area.
    pub fn count(&self, area: Area, kind: OpKind) -> u64 {
        self.counts().get(&(area, kind)).copied().unwrap_or(0)
    }

    /// Operations of one kind in all areas.
    pub fn of_kind(&self, kind: OpKind) -> u64 {
        self.counts()
            .iter()
            .filter(|((_, of), _)| *of == kind)
            .map(|(_, count)| count)
            .sum()
    }

    /// All operations.
    pub fn total(&self) -> u64 {
        self.counts().values().sum()
    }

    /// Everything counted so far.
    pub fn snapshot(&self) -> BTreeMap<(Area, OpKind), u64> {
        self.counts().clone()
    }

    /// Back to zero.
    pub fn reset(&self) {
        self.counts().clear();
    }
}

impl StoreHook for RequestCounter {
    fn before(&self, op: &StoreOp) -> Result<()> {
        *self.counts().entry((op.area, op.kind)).or_default() += 1;
        Ok(())
    }
}
