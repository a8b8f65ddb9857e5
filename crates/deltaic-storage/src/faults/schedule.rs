//! Which request meets which fault.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::Fault;

/// The kinds of requests that are counted, each by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Request {
    /// Writing an object, whole or in parts.
    Put,
    /// Reading an object, whole or in part.
    Get,
    /// Looking one object up.
    Head,
    /// A listing.
    List,
    /// A batch of deletions.
    Delete,
    /// Copying an object.
    Copy,
}

/// The faults to come.
pub struct Schedule {
    script: Mutex<BTreeMap<Request, VecDeque<Option<Fault>>>>,
    chance: Option<Chance>,
    counts: Mutex<BTreeMap<Request, u64>>,
}

struct Chance {
    seed: u64,
    permille: u64,
    faults: Vec<(Request, Fault)>,
}

/// A fault, and where it comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chosen {
    pub fault: Fault,
    request: Request,
    number: u64,
    seed: Option<u64>,
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "injected fault {:?} at {:?} {}",
            self.fault, self.request, self.number
        )?;
        match self.seed {
            Some(seed) => write!(f, " of seed {seed}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Chosen {}

impl Schedule {
    /// No faults.
    pub fn none() -> Schedule {
        Schedule {
            script: Mutex::default(),
            chance: None,
            counts: Mutex::default(),
        }
    }

    /// Faults for the next requests of kinds, first to last; `None` for a request that goes well. Those after go well.
    pub fn script(script: impl IntoIterator<Item = (Request, Vec<Option<Fault>>)>) -> Schedule {
        let script = script
            .into_iter()
            .map(|(request, faults)| (request, faults.into()))
            .collect();
        Schedule {
            script: Mutex::new(script),
            ..Schedule::none()
        }
    }

    /// Faults by chance, so many in a thousand requests, each one of those that are given for its kind. Equal seeds give
    /// equal faults to the n-th request of a kind.
    pub fn seeded(seed: u64, permille: u64, faults: &[(Request, Fault)]) -> Schedule {
        Schedule {
            chance: Some(Chance {
                seed,
                permille,
                faults: faults.to_vec(),
            }),
            ..Schedule::none()
        }
    }

    /// The fault of the next request of a kind.
    pub(super) fn next(&self, request: Request) -> Option<Chosen> {
        let number = {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            let count = counts.entry(request).or_default();
            *count += 1;
            *count - 1
        };
        let scripted = self
            .script
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_mut(&request)
            .and_then(VecDeque::pop_front)
            .flatten();
        let fault = scripted.or_else(|| self.chance.as_ref()?.fault(request, number))?;
        Some(Chosen {
            fault,
            request,
            number,
            seed: self.chance.as_ref().map(|chance| chance.seed),
        })
    }
}

impl Chance {
    fn fault(&self, request: Request, number: u64) -> Option<Fault> {
        let drawn = mixed(self.seed ^ mixed(0, request as u64), number);
        if drawn % 1000 >= self.permille {
            return None;
        }
        let mine: Vec<Fault> = self
            .faults
            .iter()
            .filter(|(of, _)| *of == request)
            .map(|(_, fault)| *fault)
            .collect();
        let at = (drawn >> 32) as usize % mine.len().max(1);
        mine.get(at).copied()
    }
}

/// An even number from two (the finaliser of SplitMix64).
fn mixed(seed: u64, count: u64) -> u64 {
    let mut x = seed.wrapping_add(count.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match &self.chance {
            Some(chance) => write!(
                f,
                "seed {}, {} in 1000 of {:?}, after {counts:?}",
                chance.seed, chance.permille, chance.faults
            ),
            None => write!(
                f,
                "{:?}, after {counts:?}",
                self.script.lock().unwrap_or_else(PoisonError::into_inner)
            ),
        }
    }
}
