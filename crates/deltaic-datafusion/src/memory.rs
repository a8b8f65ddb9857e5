//! How much memory the operators of a query may reserve together, and the error of the one that needs more.
//!
//! Operators that can (sorts, aggregations, joins by sorting) write what they hold to temporary files when the pool has no more
//! for them; the others fail.

use std::fmt;
use std::sync::Arc;

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};
use deltaic_protocol::error::DeltaError;

/// How a refusal of [`LimitedPool`] begins; DataFusion passes its text on, and nothing else of it.
const REFUSED: &str = "memory refused";

/// Shares out `limit` bytes among the operators of a query, fairly among those that can spill.
#[derive(Debug)]
pub struct LimitedPool {
    limit: usize,
    shares: FairSpillPool,
}

impl LimitedPool {
    /// A pool of `limit` bytes.
    pub fn new(limit: usize) -> Arc<LimitedPool> {
        Arc::new(LimitedPool {
            limit,
            shares: FairSpillPool::new(limit),
        })
    }
}

impl fmt::Display for LimitedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limited({})", self.shares)
    }
}

impl MemoryPool for LimitedPool {
    fn name(&self) -> &str {
        "limited"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.shares.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.shares.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.shares.grow(reservation, additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.shares.shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        self.shares.try_grow(reservation, additional).map_err(|_| {
            let left = self.limit.saturating_sub(self.shares.reserved());
            DataFusionError::ResourcesExhausted(format!(
                "{REFUSED}: {additional} {} {}",
                left.min(additional.saturating_sub(1)),
                reservation.consumer().name()
            ))
        })
    }

    fn reserved(&self) -> usize {
        self.shares.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.limit)
    }
}

/// The classed error of a refusal: `UNABLE_TO_ACQUIRE_MEMORY` where it comes from a [`LimitedPool`].
pub fn refused(text: &str) -> DeltaError {
    let numbers = text.split_once(REFUSED).and_then(|(_, told)| {
        let mut words = told.trim_start_matches(':').split_whitespace();
        let requested: u64 = words.next()?.parse().ok()?;
        let received: u64 = words.next()?.parse().ok()?;
        Some((requested, received))
    });
    match numbers {
        Some((requested, received)) => DeltaError::out_of_memory(requested, received),
        None => DeltaError::unclassed(
            "org.apache.spark.memory.SparkOutOfMemoryError",
            text.to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_refusal_tells_what_was_asked_for_and_what_was_left() {
        let pool: Arc<dyn MemoryPool> = LimitedPool::new(1_000);
        let held = MemoryConsumer::new("a").register(&pool);
        held.try_grow(400).unwrap();
        let other = MemoryConsumer::new("b").register(&pool);
        let error = other.try_grow(700).unwrap_err();
        let error = crate::error::unwrap(error.context("while sorting"));
        assert_eq!(error.class(), Some("UNABLE_TO_ACQUIRE_MEMORY"));
        assert_eq!(
            error.to_string(),
            "[UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 700 bytes of memory, got 600. SQLSTATE: 53200"
        );
        held.try_grow(600).unwrap();
        assert_eq!(pool.reserved(), 1_000);
    }

    #[test]
    fn other_pools_speak_for_themselves() {
        let error = refused("Failed to allocate 7 MB");
        assert_eq!(
            (error.class(), error.to_string().as_str()),
            (None, "Failed to allocate 7 MB")
        );
    }
}
