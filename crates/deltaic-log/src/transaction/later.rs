//! Work that follows a commit and that its caller need not wait for: on an object store a version checksum costs as much
//! time as the commit itself.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::JoinHandle;

/// More than so many are not under way: who commits faster than checksums are written waits for the oldest one.
const MOST: usize = 8;

/// The work under way. Clones share it. What is not waited for with [`Later::finish`] goes on as long as the runtime
/// does; a version whose checksum is lost with the runtime is as good as any, readers do without.
#[derive(Debug, Clone, Default)]
pub struct Later(Arc<Mutex<Pending>>);

#[derive(Debug, Default)]
struct Pending {
    tasks: VecDeque<JoinHandle<()>>,
    warnings: Vec<String>,
}

impl Later {
    /// Begins a work, which returns what went wrong.
    pub(crate) async fn begin(&self, work: impl Future<Output = Option<String>> + Send + 'static) {
        self.pending().tasks.retain(|task| !task.is_finished());
        self.wait(MOST - 1).await;
        let later = self.clone();
        let task = tokio::spawn(async move {
            if let Some(warning) = work.await {
                later.pending().warnings.push(warning);
            }
        });
        self.pending().tasks.push_back(task);
    }

    /// Waits for all that has begun, and returns what went wrong since the last call.
    pub async fn finish(&self) -> Vec<String> {
        self.wait(0).await;
        std::mem::take(&mut self.pending().warnings)
    }

    /// Waits until no more than so many are under way.
    async fn wait(&self, most: usize) {
        while let Some(oldest) = self.oldest(most) {
            // A work that was cancelled with its runtime has nothing to tell.
            let _ = oldest.await;
        }
    }

    /// Takes the oldest out where more than so many are under way.
    fn oldest(&self, most: usize) -> Option<JoinHandle<()>> {
        let mut pending = self.pending();
        if pending.tasks.len() <= most {
            return None;
        }
        pending.tasks.pop_front()
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
