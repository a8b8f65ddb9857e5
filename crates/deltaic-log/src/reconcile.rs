//! The one replay of the log: actions in, state out (protocol section "Action Reconciliation").
//!
//! Actions are handed in oldest first. Each kind of state is a [`Sink`]; a caller combines the sinks it needs. Nothing here
//! reads or awaits.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::action::{
    Action, CommitInfo, DomainMetadata, Metadata, Protocol, SetTransaction,
};
use deltaic_storage::TableRoot;

use crate::Version;
use crate::files::{FileKey, FileState, Layer};

/// The place of an action in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The version of the commit.
    pub version: Version,
    /// The line within the commit, from 0.
    pub line: u32,
}

impl Position {
    /// A number that grows along the log; every commit is above every checkpoint row, which count from 0.
    pub(crate) fn order(self) -> u64 {
        ((self.version.max(0) as u64 + 1) << 32) | u64::from(self.line)
    }
}

/// A part of the state that replay fills.
pub trait Sink {
    /// Takes an action, or gives it back for the next sink.
    fn accept(&mut self, at: Position, action: Action) -> Option<Action>;
}

/// Pours the actions of one commit, in their order, into the sinks.
pub fn replay(version: Version, actions: Vec<Action>, sinks: &mut [&mut dyn Sink]) {
    let mut commit = CommitReplay::new(version);
    for action in actions {
        commit.take(action, sinks);
    }
}

/// Pours the actions of one commit into sinks as they come.
pub(crate) struct CommitReplay {
    next: Position,
}

impl CommitReplay {
    /// Before the first action.
    pub(crate) fn new(version: Version) -> CommitReplay {
        CommitReplay {
            next: Position { version, line: 0 },
        }
    }

    /// The next action.
    pub(crate) fn take(&mut self, action: Action, sinks: &mut [&mut dyn Sink]) {
        let at = self.next;
        self.next.line += 1;
        let mut left = Some(action);
        for sink in sinks.iter_mut() {
            left = left.and_then(|action| sink.accept(at, action));
        }
    }
}

/// Everything but files: protocol, metadata, application transactions, domains, and the newest commit's own words.
#[derive(Debug, Clone, Default)]
pub struct Header {
    /// The newest protocol.
    pub protocol: Option<Arc<Protocol>>,
    /// The newest metadata.
    pub metadata: Option<Arc<Metadata>>,
    /// The newest transaction of each application.
    pub txns: Arc<BTreeMap<String, SetTransaction>>,
    /// The domains, removed ones left out.
    pub domains: Arc<BTreeMap<String, DomainMetadata>>,
    /// The newest commit that said something about itself.
    pub commit_info: Option<(Version, Arc<CommitInfo>)>,
}

impl Sink for Header {
    fn accept(&mut self, at: Position, action: Action) -> Option<Action> {
        match action {
            Action::Protocol(protocol) => self.protocol = Some(Arc::new(protocol)),
            Action::Metadata(metadata) => self.metadata = Some(Arc::new(metadata)),
            Action::Txn(txn) => {
                Arc::make_mut(&mut self.txns).insert(txn.app_id.clone(), txn);
            }
            Action::DomainMetadata(domain) if domain.removed => {
                Arc::make_mut(&mut self.domains).remove(&domain.domain);
            }
            Action::DomainMetadata(domain) => {
                Arc::make_mut(&mut self.domains).insert(domain.domain.clone(), domain);
            }
            Action::CommitInfo(info) => self.commit_info = Some((at.version, Arc::from(info))),
            other => return Some(other),
        }
        None
    }
}

/// Adds and removes, the newest of each logical file winning.
#[derive(Debug)]
pub struct FileSink<'a> {
    root: &'a TableRoot,
    layer: Layer,
}

impl<'a> FileSink<'a> {
    /// An empty sink; `root` resolves the paths in the log.
    pub fn new(root: &'a TableRoot) -> Self {
        Self {
            root,
            layer: Layer::default(),
        }
    }

    /// What was collected.
    pub fn into_layer(self) -> Layer {
        self.layer
    }
}

impl Sink for FileSink<'_> {
    fn accept(&mut self, at: Position, action: Action) -> Option<Action> {
        match action {
            Action::Add(add) => {
                let key = FileKey::of_add(self.root, &add);
                self.layer
                    .put(key, at.order(), FileState::Live(Arc::new(add)));
            }
            Action::Remove(remove) => {
                let key = FileKey::of_remove(self.root, &remove);
                self.layer
                    .put(key, at.order(), FileState::Removed(Arc::new(remove)));
            }
            other => return Some(other),
        }
        None
    }
}
