//! What went through a proxy, one entry a request: tests count round trips with it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::http::RequestHead;

/// What a request is about, read from its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyClass {
    /// A listing.
    Listing,
    /// Many deletions in one request.
    BatchDelete,
    /// `_delta_log/….json` of a version.
    Commit,
    /// `_delta_log/_last_checkpoint`.
    LastCheckpoint,
    /// A checkpoint or a part of one, a sidecar.
    Checkpoint,
    /// `_delta_log/….crc`.
    Checksum,
    /// Anything else in `_delta_log`.
    OtherLog,
    /// Anything else.
    Data,
}

impl KeyClass {
    /// The class of a request.
    pub fn of(head: &RequestHead) -> KeyClass {
        let query = head.query.as_str();
        let has = |word: &str| query.split('&').any(|pair| pair == word);
        if head.method == "POST" && (has("delete") || has("delete=") || has("comp=batch")) {
            return KeyClass::BatchDelete;
        }
        if has("comp=list") || query.contains("list-type=") {
            return KeyClass::Listing;
        }
        let Some((_, name)) = head.path.rsplit_once("_delta_log/") else {
            return KeyClass::Data;
        };
        match name {
            "_last_checkpoint" => KeyClass::LastCheckpoint,
            _ if name.contains(".checkpoint.") || name.starts_with("_sidecars/") => {
                KeyClass::Checkpoint
            }
            _ if name.ends_with(".crc") => KeyClass::Checksum,
            _ if name.ends_with(".json") && name.starts_with(|c: char| c.is_ascii_digit()) => {
                KeyClass::Commit
            }
            _ => KeyClass::OtherLog,
        }
    }
}

/// One request.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET`, `PUT`, …
    pub method: String,
    /// As it was sent.
    pub path: String,
    /// As it was sent.
    pub query: String,
    /// What it is about.
    pub class: KeyClass,
    /// The status that the client got; nothing where the connection was broken.
    pub status: Option<u16>,
    /// Whether the server got it.
    pub applied: bool,
    /// Whether a rule changed what happened, other than by waiting.
    pub faulty: bool,
    /// Bytes of the request's body.
    pub sent: u64,
    /// Bytes of the answer's body that went to the client.
    pub received: u64,
}

/// All requests so far, in the order in which they came.
#[derive(Debug, Default)]
pub struct RequestLog {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    /// How many were forgotten.
    gone: usize,
    kept: Vec<Request>,
}

/// An entry of the log while its request goes on: what a client has seen, the log shows.
pub(crate) struct Entry<'a> {
    log: &'a RequestLog,
    number: usize,
}

impl Entry<'_> {
    pub(crate) fn set(&self, change: impl FnOnce(&mut Request)) {
        let mut entries = self.log.entries();
        let gone = entries.gone;
        if let Some(request) = self
            .number
            .checked_sub(gone)
            .and_then(|at| entries.kept.get_mut(at))
        {
            change(request);
        }
    }
}

impl RequestLog {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin(&self, request: Request) -> Entry<'_> {
        let mut entries = self.entries();
        entries.kept.push(request);
        Entry {
            log: self,
            number: entries.gone + entries.kept.len() - 1,
        }
    }

    /// A copy of all entries.
    pub fn requests(&self) -> Vec<Request> {
        self.entries().kept.clone()
    }

    /// How many requests there were.
    pub fn total(&self) -> usize {
        self.entries().kept.len()
    }

    /// How many requests of a method were about a class.
    pub fn count(&self, method: &str, class: KeyClass) -> usize {
        self.matching(|entry| entry.method == method && entry.class == class)
    }

    /// How many requests a rule has spoilt.
    pub fn faults(&self) -> usize {
        self.matching(|entry| entry.faulty)
    }

    fn matching(&self, wanted: impl Fn(&Request) -> bool) -> usize {
        self.entries()
            .kept
            .iter()
            .filter(|entry| wanted(entry))
            .count()
    }

    /// Requests by method and class.
    pub fn counts(&self) -> BTreeMap<(String, KeyClass), usize> {
        let mut out = BTreeMap::new();
        for entry in self.entries().kept.iter() {
            *out.entry((entry.method.clone(), entry.class)).or_default() += 1;
        }
        out
    }

    /// Bytes of bodies: to the server, and to the client.
    pub fn bytes(&self) -> (u64, u64) {
        self.entries()
            .kept
            .iter()
            .fold((0, 0), |(sent, received), entry| {
                (sent + entry.sent, received + entry.received)
            })
    }

    /// Forgets all entries.
    pub fn clear(&self) {
        let mut entries = self.entries();
        entries.gone += entries.kept.len();
        entries.kept.clear();
    }
}
