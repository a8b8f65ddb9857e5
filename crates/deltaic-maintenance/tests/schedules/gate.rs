//! Stores whose every operation waits until the scheduler lets it go, and then goes well or wrong as the scheduler says.

use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_storage::{
    DataStore, DeleteOutcome, Descend, DirOutcome, FileMeta, FileStream, LogStore, PutOutcome,
    TableStore,
};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};

use crate::server::Server;

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It is done and answered.
    Plain,
    /// It is not done, and the caller sees an error.
    LostRequest,
    /// It is done, and the caller sees an error.
    Unanswered,
    /// It is done twice, and the second answer is seen.
    Duplicate,
    /// The caller sees an error at once, and some time later it is done.
    Late,
}

/// A request that waits.
#[derive(Debug)]
pub struct Waiting {
    /// Its number, in the order in which requests were made.
    pub id: u64,
    /// Who makes it.
    pub writer: usize,
    /// What it is, for people.
    pub what: String,
    /// Whether it changes the store.
    pub changes: bool,
    answer: Option<Answer>,
    waker: Option<Waker>,
}

/// A request whose caller has given up and which is still under way.
pub struct Late {
    /// When its writer began with its work.
    pub writer: usize,
    /// The request.
    pub work: BoxFuture<'static, ()>,
}

/// All requests under way.
#[derive(Default)]
pub struct Gate(Mutex<Requests>);

#[derive(Default)]
pub struct Requests {
    next: u64,
    /// Those that wait, the oldest first.
    pub waiting: Vec<Waiting>,
    /// Those given up.
    pub late: Vec<Late>,
    /// For each writer, how many went wrong in a way that may make its work fail.
    pub faults: Vec<u64>,
}

impl Gate {
    /// The requests.
    pub fn requests(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a request go.
    pub fn release(&self, id: u64, answer: Answer) {
        let mut requests = self.requests();
        let Some(at) = requests.waiting.iter().position(|w| w.id == id) else {
            return;
        };
        let writer = requests.waiting[at].writer;
        if !is_settled(&requests.waiting[at].what, answer) {
            if requests.faults.len() <= writer {
                requests.faults.resize(writer + 1, 0);
            }
            requests.faults[writer] += 1;
        }
        requests.waiting[at].answer = Some(answer);
        if let Some(waker) = requests.waiting[at].waker.take() {
            waker.wake();
        }
    }

    /// How many requests of a writer went wrong in a way that may make its work fail.
    pub fn faults(&self, writer: usize) -> u64 {
        self.requests().faults.get(writer).copied().unwrap_or(0)
    }
}

/// Whether a writer has to get on with what a request met: an unclear answer to a commit is settled by a look at the log.
fn is_settled(what: &str, answer: Answer) -> bool {
    let commit = what
        .strip_prefix("create ")
        .and_then(|name| name.strip_suffix(".json"))
        .is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()));
    match answer {
        Answer::Plain => true,
        Answer::Unanswered | Answer::Duplicate => commit,
        Answer::LostRequest | Answer::Late => false,
    }
}

/// Waits for the scheduler.
struct Pass {
    gate: Arc<Gate>,
    writer: usize,
    what: String,
    changes: bool,
    id: Option<u64>,
}

impl Future for Pass {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let gate = Arc::clone(&self.gate);
        let mut requests = gate.requests();
        let Some(id) = self.id else {
            let id = requests.next;
            requests.next += 1;
            requests.waiting.push(Waiting {
                id,
                writer: self.writer,
                what: self.what.clone(),
                changes: self.changes,
                answer: None,
                waker: Some(context.waker().clone()),
            });
            self.id = Some(id);
            return Poll::Pending;
        };
        let Some(at) = requests.waiting.iter().position(|w| w.id == id) else {
            return Poll::Pending;
        };
        match requests.waiting[at].answer {
            Some(answer) => {
                requests.waiting.remove(at);
                self.id = None;
                Poll::Ready(answer)
            }
            None => {
                requests.waiting[at].waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.gate.requests().waiting.retain(|w| w.id != id);
        }
    }
}

/// The stores of one writer.
#[derive(Clone)]
pub struct GatedStore {
    server: Arc<Server>,
    gate: Arc<Gate>,
    writer: usize,
}

impl GatedStore {
    /// The table as a writer sees it.
    pub fn table(server: &Arc<Server>, gate: &Arc<Gate>, writer: usize) -> TableStore {
        let store = Arc::new(GatedStore {
            server: Arc::clone(server),
            gate: Arc::clone(gate),
            writer,
        });
        let plain = server.table();
        TableStore::new(
            plain.root().clone(),
            store.clone(),
            store,
            plain.object_store(),
            plain.object_store_url(),
        )
    }

    /// One request. `work` does it at once, however often it is called.
    async fn request<T: Send + 'static>(
        &self,
        what: String,
        changes: bool,
        work: impl Fn(Arc<Server>) -> BoxFuture<'static, Result<T>> + Send + Sync,
    ) -> Result<T> {
        let pass = Pass {
            gate: Arc::clone(&self.gate),
            writer: self.writer,
            what: what.clone(),
            changes,
            id: None,
        };
        let work = || work(Arc::clone(&self.server));
        match pass.await {
            Answer::Plain => work().await,
            Answer::LostRequest => Err(lost(&what)),
            Answer::Unanswered => {
                let _ = work().await;
                Err(lost(&what))
            }
            Answer::Duplicate => {
                let _ = work().await;
                work().await
            }
            Answer::Late => {
                let late = Late {
                    writer: self.writer,
                    work: work().map(|_| ()).boxed(),
                };
                self.gate.requests().late.push(late);
                Err(lost(&what))
            }
        }
    }

    fn listing(
        &self,
        what: String,
        work: impl Fn(Arc<Server>) -> FileStream + Send + Sync + 'static,
    ) -> FileStream {
        let store = self.clone();
        let listed = async move {
            let listed = store.request(what, false, |server| work(server).try_collect().boxed());
            let entries: Vec<FileMeta> = listed.await?;
            Ok::<_, DeltaError>(stream::iter(entries.into_iter().map(Ok)))
        };
        stream::once(listed).try_flatten().boxed()
    }
}

fn lost(what: &str) -> DeltaError {
    DeltaError::unclassed("java.io.IOException", format!("injected fault at {what}"))
        .with_kind(ErrorKind::Storage)
}

impl std::fmt::Debug for GatedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GatedStore({})", self.writer)
    }
}

#[async_trait]
impl LogStore for GatedStore {
    async fn read(&self, name: &str) -> Result<Bytes> {
        let owned = name.to_owned();
        let work = move |server: Arc<Server>| {
            let name = owned.clone();
            async move { server.table().log().read(&name).await }.boxed()
        };
        self.request(format!("read {name}"), false, work).await
    }

    async fn read_range(&self, name: &str, range: Range<u64>) -> Result<Bytes> {
        let owned = name.to_owned();
        let work = move |server: Arc<Server>| {
            let (name, range) = (owned.clone(), range.clone());
            async move { server.table().log().read_range(&name, range).await }.boxed()
        };
        self.request(format!("read a part of {name}"), false, work)
            .await
    }

    fn list_from(&self, start: &str) -> FileStream {
        let owned = start.to_owned();
        self.listing(format!("list the log from {start}"), move |server| {
            server.table().log().list_from(&owned)
        })
    }

    async fn create(&self, name: &str, content: Bytes) -> Result<PutOutcome> {
        let owned = name.to_owned();
        let work = move |server: Arc<Server>| {
            let (name, content) = (owned.clone(), content.clone());
            async move { server.create_log(&name, content).await }.boxed()
        };
        self.request(format!("create {name}"), true, work).await
    }

    async fn overwrite(&self, name: &str, content: Bytes) -> Result<()> {
        let owned = name.to_owned();
        let work = move |server: Arc<Server>| {
            let (name, content) = (owned.clone(), content.clone());
            async move { server.overwrite_log(&name, content).await }.boxed()
        };
        self.request(format!("overwrite {name}"), true, work).await
    }

    async fn delete(&self, name: &str) -> Result<DeleteOutcome> {
        let owned = name.to_owned();
        let work = move |server: Arc<Server>| {
            let name = owned.clone();
            async move { server.delete_log(&name).await }.boxed()
        };
        self.request(format!("delete {name}"), true, work).await
    }

    async fn stat(&self, name: &str) -> Result<Option<FileMeta>> {
        let owned = name.to_owned();
        let work = move |server: Arc<Server>| {
            let name = owned.clone();
            async move { server.table().log().stat(&name).await }.boxed()
        };
        self.request(format!("stat {name}"), false, work).await
    }

    async fn remove_unfinished(&self, _: i64) -> Result<u64> {
        Ok(0)
    }
}

#[async_trait]
impl DataStore for GatedStore {
    fn list(&self, prefix: &str, descend: Option<Descend>) -> FileStream {
        let owned = prefix.to_owned();
        self.listing(format!("list {prefix:?}"), move |server| {
            server.table().data().list(&owned, descend.clone())
        })
    }

    async fn stat(&self, path: &str) -> Result<Option<FileMeta>> {
        let owned = path.to_owned();
        let work = move |server: Arc<Server>| {
            let path = owned.clone();
            async move { server.table().data().stat(&path).await }.boxed()
        };
        self.request(format!("stat {path}"), false, work).await
    }

    async fn read(&self, path: &str) -> Result<Bytes> {
        let owned = path.to_owned();
        let work = move |server: Arc<Server>| {
            let path = owned.clone();
            async move { server.table().data().read(&path).await }.boxed()
        };
        self.request(format!("read {path}"), false, work).await
    }

    async fn read_range(&self, path: &str, range: Range<u64>) -> Result<Bytes> {
        let owned = path.to_owned();
        let work = move |server: Arc<Server>| {
            let (path, range) = (owned.clone(), range.clone());
            async move { server.table().data().read_range(&path, range).await }.boxed()
        };
        self.request(format!("read a part of {path}"), false, work)
            .await
    }

    async fn create(&self, path: &str, content: Bytes) -> Result<PutOutcome> {
        let owned = path.to_owned();
        let work = move |server: Arc<Server>| {
            let (path, content) = (owned.clone(), content.clone());
            async move { server.table().data().create(&path, content).await }.boxed()
        };
        self.request(format!("create {path}"), true, work).await
    }

    async fn delete_file(&self, path: &str) -> Result<DeleteOutcome> {
        let owned = path.to_owned();
        let work = move |server: Arc<Server>| {
            let path = owned.clone();
            async move { server.delete_data(&path).await }.boxed()
        };
        self.request(format!("delete {path}"), true, work).await
    }

    async fn delete_empty_dir(&self, _: &str) -> Result<DirOutcome> {
        Ok(DirOutcome::Missing)
    }

    async fn set_modified(&self, _: &str, _: i64) -> Result<()> {
        Err(DeltaError::internal("no operation here moves time"))
    }
}
