//! Faults at a chosen operation.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use deltaic_protocol::error::{DeltaError, Result};

use super::{StoreHook, StoreOp};

/// What happens at the chosen operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultMode {
    /// It fails without effect; later ones work.
    Fail,
    /// It takes effect, but the caller sees an error; later ones work.
    FailAfter,
    /// It and every later one fail without effect: the caller has died, as far as the store can see.
    Stop,
    /// It takes effect, then the caller sees an error and every later one fails.
    StopAfter,
    /// The process ends at once, before the operation, without running any clean-up.
    Abort,
}

type Filter = Box<dyn Fn(&StoreOp) -> bool + Send + Sync>;

/// Makes the n-th operation (the first is 0) that passes the filter go wrong.
pub struct FaultPlan {
    at: u64,
    mode: FaultMode,
    filter: Option<Filter>,
    seen: AtomicU64,
    /// The chosen operation, from its beginning to its end.
    chosen: Mutex<Option<StoreOp>>,
}

impl FaultPlan {
    /// A plan that counts every operation.
    pub fn new(at: u64, mode: FaultMode) -> FaultPlan {
        FaultPlan {
            at,
            mode,
            filter: None,
            seen: AtomicU64::new(0),
            chosen: Mutex::new(None),
        }
    }

    /// A plan that counts only operations which pass the filter.
    pub fn filtered(
        at: u64,
        mode: FaultMode,
        filter: impl Fn(&StoreOp) -> bool + Send + Sync + 'static,
    ) -> FaultPlan {
        FaultPlan {
            filter: Some(Box::new(filter)),
            ..FaultPlan::new(at, mode)
        }
    }

    /// A plan that counts only operations that change the store.
    pub fn mutations(at: u64, mode: FaultMode) -> FaultPlan {
        FaultPlan::filtered(at, mode, |op| op.kind.is_mutation())
    }

    /// Operations counted so far.
    pub fn seen(&self) -> u64 {
        self.seen.load(Ordering::SeqCst)
    }

    /// Whether the chosen operation has come.
    pub fn reached(&self) -> bool {
        self.seen() > self.at
    }

    fn chosen(&self) -> MutexGuard<'_, Option<StoreOp>> {
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counts(&self, op: &StoreOp) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter(op))
    }
}

fn injected(op: &StoreOp) -> DeltaError {
    DeltaError::unclassed(
        "java.io.IOException",
        format!("Injected fault at {:?} of {}", op.kind, op.path),
    )
    .with_path(op.path.clone())
}

impl StoreHook for FaultPlan {
    fn before(&self, op: &StoreOp) -> Result<()> {
        let stopped = self.reached() && matches!(self.mode, FaultMode::Stop | FaultMode::StopAfter);
        if !self.counts(op) {
            return if stopped { Err(injected(op)) } else { Ok(()) };
        }
        let number = self.seen.fetch_add(1, Ordering::SeqCst);
        if number == self.at {
            *self.chosen() = Some(op.clone());
        }
        match self.mode {
            FaultMode::Fail if number == self.at => Err(injected(op)),
            FaultMode::Stop if number >= self.at => Err(injected(op)),
            FaultMode::StopAfter if number > self.at => Err(injected(op)),
            FaultMode::Abort if number == self.at => std::process::abort(),
            _ => Ok(()),
        }
    }

    fn after(&self, op: &StoreOp) -> Result<()> {
        // Others may have begun since: several go on at the same time.
        let hit = self.chosen().take_if(|chosen| chosen == op).is_some();
        match self.mode {
            FaultMode::FailAfter | FaultMode::StopAfter if hit => Err(injected(op)),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Debug for FaultPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "FaultPlan({:?} at {}, {} seen)",
            self.mode,
            self.at,
            self.seen()
        )
    }
}
