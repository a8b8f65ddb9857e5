//! Whether a bucket keeps two commits apart: what its conditional put (`If-None-Match: *`) does is looked at once,
//! before the first commit through a client. Some servers that speak the protocol of S3 accept the condition and ignore
//! it, others look first and write then; there one commit can replace another, and neither writer is told.

use std::sync::Arc;

use bytes::Bytes;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use futures::future::join_all;
use futures::{StreamExt, stream};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::failure::{is_final, lacks_condition, to_delta};
use super::limits::Limits;
use crate::LOG_DIR;
use crate::error::task_error;
use crate::object_path::to_object_path;
use crate::root::TableRoot;
use crate::unfinished::PROBE_PREFIX;

/// Races of creates on one key each. A server that looks first and then writes is found by a race with a probability
/// only (s3s-fs: by one of these twelve in four of five probes), so there are several.
const ROUNDS: usize = 12;
/// Creates at the same time. Two suffice, and a server that queues them up is not held up (SeaweedFS needs a second for
/// four).
const WRITERS: usize = 2;
/// Bytes of an object: enough that two requests overlap on the way.
const SIZE: usize = 32 * 1024;

/// What is known of a store's conditional put.
#[derive(Debug)]
pub(super) struct Gate {
    rule: Rule,
    seen: OnceCell<Verdict>,
}

/// Where the knowledge comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// The store is known to keep the condition, or the user says so.
    Trust,
    /// The store is asked before the first commit.
    Probe,
    /// The user says that the store does not keep it.
    Refuse,
}

type Verdict = std::result::Result<(), String>;

impl Gate {
    pub(super) fn new(rule: Rule) -> Gate {
        Gate {
            rule,
            seen: OnceCell::new(),
        }
    }

    /// Whether the store at least takes the condition of a put, if only to ignore it.
    pub(super) fn may_ask(&self) -> bool {
        self.rule != Rule::Refuse
    }

    /// Lets a commit pass, or says why it must not be tried. Those who come while the store is probed wait for the one
    /// probe; what it found holds for the client. A probe that could not be finished says nothing, and the next commit
    /// tries again.
    ///
    /// # Errors
    /// A store that does not keep the condition (`Unsupported`), or one that does not answer.
    pub(super) async fn pass(
        &self,
        store: &Arc<dyn ObjectStore>,
        root: &TableRoot,
        limits: Limits,
    ) -> Result<()> {
        let verdict = match self.rule {
            Rule::Trust => return Ok(()),
            Rule::Refuse => {
                &Err("aws_conditional_put says that it has no conditional put".to_owned())
            }
            Rule::Probe => {
                self.seen
                    .get_or_try_init(|| probe(Arc::clone(store), root, limits))
                    .await?
            }
        };
        match verdict {
            Ok(()) => Ok(()),
            Err(seen) => Err(refused(root, seen)),
        }
    }
}

fn refused(root: &TableRoot, seen: &str) -> DeltaError {
    let place = root.display(LOG_DIR);
    DeltaError::unclassed(
        "java.lang.UnsupportedOperationException",
        format!(
            "The object store of {place} does not keep two commits apart: {seen}. One commit could replace another there, so \
             nothing is written; tables can be read"
        ),
    )
    .with_kind(ErrorKind::Unsupported)
    .with_path(place)
    .with_hint(
        "set S3_LOCKING_PROVIDER=dynamodb to commit through a DynamoDB table, or use a store that honours If-None-Match; \
         aws_conditional_put=etag skips this check for a store that is known to be right",
    )
}

/// Looks at the store and removes what it has made there. A caller that is stopped meanwhile leaves that to a task of its
/// own: requests that are under way would make objects after it.
async fn probe(store: Arc<dyn ObjectStore>, root: &TableRoot, limits: Limits) -> Result<Verdict> {
    let name = uuid::Uuid::new_v4().simple().to_string();
    let name = &name[..12];
    let keys: Vec<Path> = (0..=ROUNDS)
        .map(|round| {
            to_object_path(&root.absolute(&format!("{LOG_DIR}/{PROBE_PREFIX}{name}-{round}")))
        })
        .collect();
    let place = root.display(LOG_DIR);
    let looking = tokio::spawn(look_and_clean(store, keys, limits));
    let found = looking.await.map_err(|error| task_error(&place, error))?;
    // The place that matters to the reader of the error is the log's, not the probe's own.
    found.map_err(|error| match error {
        Error::AlreadyExists { .. } | Error::Precondition { .. } => unclear(&place, &error),
        error => to_delta("write", &place, &error),
    })
}

async fn look_and_clean(
    store: Arc<dyn ObjectStore>,
    keys: Vec<Path>,
    limits: Limits,
) -> Looked<Verdict> {
    let probe = Probe {
        store: store.as_ref(),
        limits,
        began: Instant::now(),
    };
    let found = probe.look(&keys).await;
    // Rights to write do not always go with rights to delete; what stays is small and has a name that nobody reads.
    let places = stream::iter(keys.into_iter().map(Ok)).boxed();
    let removed = store.delete_stream(places).for_each(|_| async {});
    let _ = tokio::time::timeout(limits.patience / 2, removed).await;
    found
}

/// The error of a store that refuses to make what is not there.
fn unclear(place: &str, error: &Error) -> DeltaError {
    to_delta("write", place, error).with_hint(
        "the store says of new objects that they are there already, and does not show them: run the statement again; where that \
         does not help set S3_LOCKING_PROVIDER=dynamodb to commit through a DynamoDB table, or use a store that honours \
         If-None-Match",
    )
}

type Looked<T> = std::result::Result<T, Error>;

#[derive(PartialEq)]
enum Put {
    Made,
    Exists,
}

/// A put without an outcome that means anything for the probe.
enum Failed {
    /// The server has no conditional put: what it answers.
    NoCondition(String),
    Error(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Error(error)
    }
}

struct Probe<'a> {
    store: &'a dyn ObjectStore,
    limits: Limits,
    began: Instant,
}

impl Probe<'_> {
    async fn look(&self, keys: &[Path]) -> Looked<Verdict> {
        match self.try_look(keys).await {
            Ok(verdict) => Ok(verdict),
            Err(Failed::NoCondition(answer)) => Ok(Err(format!(
                "it does not take a put with If-None-Match: * ({answer})"
            ))),
            Err(Failed::Error(error)) => Err(error),
        }
    }

    async fn try_look(&self, keys: &[Path]) -> std::result::Result<Verdict, Failed> {
        let Some((first, rounds)) = keys.split_first() else {
            return Ok(Ok(()));
        };
        if let Err(seen) = self.one_after_the_other(first).await? {
            return Ok(Err(seen));
        }
        // All races at once: a server that is busy leaves more time between looking and writing.
        for race in join_all(rounds.iter().map(|key| self.at_the_same_time(key))).await {
            if let Err(seen) = race? {
                return Ok(Err(seen));
            }
        }
        Ok(Ok(()))
    }

    async fn one_after_the_other(&self, key: &Path) -> std::result::Result<Verdict, Failed> {
        self.make(key).await?;
        if self.create(key, 1).await? == Put::Made {
            return Ok(Err(
                "a second put with If-None-Match: * on one key was not refused".to_owned(),
            ));
        }
        let there = self.read(key).await?;
        Ok(match there == Some(content(0)) {
            true => Ok(()),
            false => Err("a put that was refused has changed the object".to_owned()),
        })
    }

    /// Makes an object of a new name. A refusal is that of a repetition which met its own first try, or a request to try
    /// again later (409): then nothing is there.
    async fn make(&self, key: &Path) -> std::result::Result<(), Failed> {
        let mut number = 0;
        while self.create(key, 0).await? == Put::Exists && self.read(key).await?.is_none() {
            let refused = Error::AlreadyExists {
                path: key.to_string(),
                source: "the put was refused, and nothing is there".into(),
            };
            self.wait(number, refused).await?;
            number += 1;
        }
        Ok(())
    }

    async fn at_the_same_time(&self, key: &Path) -> std::result::Result<Verdict, Failed> {
        let puts = join_all((0..WRITERS).map(|writer| self.create(key, writer))).await;
        let mut winners = Vec::new();
        for (writer, put) in puts.into_iter().enumerate() {
            if put? == Put::Made {
                winners.push(writer);
            }
        }
        let there = self.read(key).await?;
        Ok(match (winners.as_slice(), there) {
            // Both were sent away, as a store may do with requests that meet: nobody was told of a success.
            ([], None) => Ok(()),
            ([], Some(there)) => match (0..WRITERS).any(|writer| there == content(writer)) {
                true => Ok(()),
                false => Err("two puts at the same time have left a mixture".to_owned()),
            },
            ([winner], Some(there)) if there == content(*winner) => Ok(()),
            ([_], Some(_)) => {
                Err("of two puts at the same time the one that was refused is there".to_owned())
            }
            ([_], None) => Err("an object that was just made is not there".to_owned()),
            (many, _) => Err(format!(
                "{} puts with If-None-Match: * at the same time on one key were all accepted",
                many.len()
            )),
        })
    }

    /// A put whose answer is lost is sent again. A store that keeps the condition makes one of all puts on a key,
    /// whichever try of whichever writer that is, so nothing that it says of the others can look wrong.
    async fn create(&self, key: &Path, writer: usize) -> std::result::Result<Put, Failed> {
        let mut number = 0;
        loop {
            let payload = PutPayload::from_bytes(content(writer));
            let put = self.store.put_opts(key, payload, PutMode::Create.into());
            match put.await {
                Ok(_) => return Ok(Put::Made),
                Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {
                    return Ok(Put::Exists);
                }
                Err(error) => match lacks_condition(&error) {
                    Some(answer) => return Err(Failed::NoCondition(answer)),
                    None => self.wait(number, error).await?,
                },
            }
            number += 1;
        }
    }

    async fn read(&self, key: &Path) -> Looked<Option<Bytes>> {
        let mut number = 0;
        loop {
            let found = match self.store.get(key).await {
                Ok(found) => found.bytes().await,
                Err(error) => Err(error),
            };
            match found {
                Ok(bytes) => return Ok(Some(bytes)),
                Err(Error::NotFound { .. }) => return Ok(None),
                Err(error) => self.wait(number, error).await?,
            }
            number += 1;
        }
    }

    /// Waits before a request is sent again; the error where that is of no use any more.
    async fn wait(&self, number: usize, error: Error) -> Looked<()> {
        let pause = self.limits.pause(number, self.began);
        match pause.filter(|_| !is_final(&error)) {
            Some(pause) => tokio::time::sleep(pause).await,
            None => return Err(error),
        }
        Ok(())
    }
}

/// What a writer of the probe writes.
fn content(writer: usize) -> Bytes {
    let mut out =
        b"Deltaic looks whether this store keeps two commits apart. This object may be removed.\n"
            .to_vec();
    out.resize(SIZE, b'0' + (writer % 10) as u8);
    Bytes::from(out)
}
