//! Faults of an object store, as its client shows them: a layer over any store, for tests of what stands above it.
//!
//! Which requests go wrong is written down ([`Schedule::script`]) or follows from a seed ([`Schedule::seeded`]); the seed and
//! the number of the request stand in the error and in the debug text, so that a failing run can be repeated.
//!
//! ```
//! use std::sync::Arc;
//! use deltaic_storage::cloud::CloudBackend;
//! use deltaic_storage::faults::{Fault, FaultStore, Request, Schedule};
//! use object_store::memory::InMemory;
//!
//! let schedule = Schedule::seeded(7, 100, &[(Request::Put, Fault::LostAnswer), (Request::List, Fault::Partial)]);
//! let store = FaultStore::new(Arc::new(InMemory::new()), schedule);
//! let backend = CloudBackend::new(Arc::new(store), "s3://bucket");
//! ```

mod schedule;
mod store;

pub use schedule::{Request, Schedule};
pub use store::FaultStore;

use std::time::Duration;

/// What goes wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection breaks before the server has the request.
    LostRequest,
    /// The server does it, and the connection breaks.
    LostAnswer,
    /// The request reaches the server twice, and the second answer is seen: a create then meets itself.
    Duplicate,
    /// The request takes longer.
    Delay(Duration),
    /// A listing breaks off in the middle; a batch of deletions is half done and fails.
    Partial,
    /// A listing that is as it was before the last so many writes, and says nothing of it. No store that Delta allows does
    /// that; it shows what rests on this promise.
    Stale(usize),
    /// The server refuses without doing it: 403, 404, 409, 412, 429, 500, 503, … A conditional put takes 409 and 412 to mean
    /// that the object is there, as the clients of S3 and Azure do.
    Status(u16),
    /// The content of an object breaks off in the middle.
    Truncated,
    /// The credentials have expired: this request and all after it are refused.
    Expired,
}
