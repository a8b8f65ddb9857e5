//! Which requests go wrong, and how.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::http::RequestHead;

/// An answer that the proxy gives by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Headers beside `content-length`.
    pub headers: Vec<(String, String)>,
    /// The body; an answer to HEAD has none.
    pub body: String,
}

impl Answer {
    /// A status and nothing else.
    pub fn status(status: u16) -> Answer {
        Answer {
            status,
            headers: Vec::new(),
            body: String::new(),
        }
    }

    /// An error as S3 writes it. A status of 200 is what S3 gives where it fails after it has begun to answer.
    pub fn s3(status: u16, code: &str, message: &str) -> Answer {
        Answer::status(status)
            .header("content-type", "application/xml")
            .body(format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{message}</Message>\
                 <RequestId>0</RequestId></Error>"
            ))
    }

    /// An error as Azure writes it.
    pub fn azure(status: u16, code: &str, message: &str) -> Answer {
        Answer::status(status)
            .header("content-type", "application/xml")
            .header("x-ms-error-code", code)
            .body(format!(
                "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>{code}</Code><Message>{message}</Message></Error>"
            ))
    }

    /// The answer with a further header.
    pub fn header(mut self, name: &str, value: &str) -> Answer {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The answer with a body.
    pub fn body(mut self, body: impl Into<String>) -> Answer {
        self.body = body.into();
        self
    }
}

/// What happens to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// The proxy answers; the server does not see the request.
    Answer(Answer),
    /// The server does it, and the client gets this answer instead of the server's.
    ApplyThenAnswer(Answer),
    /// The connection is reset; the server does not see the request.
    Reset,
    /// The server does it, and the connection is reset.
    ApplyThenReset,
    /// The answer's body ends after so many bytes, with a reset.
    CutBody(u64),
    /// The server does not see this header, whose name is in small letters, and answers as it does without it. Only for
    /// servers that do not check what is signed.
    Hide(&'static str),
    /// The request waits; then further rules apply.
    Delay(Duration),
}

type Wanted = Arc<dyn Fn(&RequestHead) -> bool + Send + Sync>;

/// What goes wrong with which requests. Rules are asked in order; the first that acts decides.
#[derive(Clone)]
pub struct Rule {
    method: Option<String>,
    path: Option<String>,
    query: Option<String>,
    wanted: Option<Wanted>,
    skip: u64,
    times: u64,
    every: u64,
    permille: u64,
    action: Action,
    seen: Arc<AtomicU64>,
    acted: Arc<AtomicU64>,
}

impl Rule {
    /// A rule for requests of a method; it does nothing until it is told what ([`Rule::then`]).
    pub fn on(method: &str) -> Rule {
        Rule {
            method: Some(method.to_owned()),
            ..Rule::any()
        }
    }

    /// A rule for requests of any method.
    pub fn any() -> Rule {
        Rule {
            method: None,
            path: None,
            query: None,
            wanted: None,
            skip: 0,
            times: u64::MAX,
            every: 1,
            permille: 1000,
            action: Action::Delay(Duration::ZERO),
            seen: Arc::default(),
            acted: Arc::default(),
        }
    }

    /// Only where the path, as it is sent, holds this text.
    pub fn path(mut self, part: &str) -> Rule {
        self.path = Some(part.to_owned());
        self
    }

    /// Only where the query, as it is sent, holds this text.
    pub fn query(mut self, part: &str) -> Rule {
        self.query = Some(part.to_owned());
        self
    }

    /// Only where the head is as wanted.
    pub fn when(mut self, wanted: impl Fn(&RequestHead) -> bool + Send + Sync + 'static) -> Rule {
        self.wanted = Some(Arc::new(wanted));
        self
    }

    /// Not for the first of these requests.
    pub fn skip(mut self, requests: u64) -> Rule {
        self.skip = requests;
        self
    }

    /// No more often than this.
    pub fn times(mut self, times: u64) -> Rule {
        self.times = times;
        self
    }

    /// Only for each n-th of these requests, the n-th being the first.
    pub fn every(mut self, nth: u64) -> Rule {
        self.every = nth.max(1);
        self
    }

    /// By chance, so often in a thousand; which ones follows from the proxy's seed and their order.
    pub fn permille(mut self, chance: u64) -> Rule {
        self.permille = chance;
        self
    }

    /// What happens.
    pub fn then(mut self, action: Action) -> Rule {
        self.action = action;
        self
    }

    fn matches(&self, head: &RequestHead) -> bool {
        self.method
            .as_ref()
            .is_none_or(|method| *method == head.method)
            && self
                .path
                .as_ref()
                .is_none_or(|part| head.path.contains(part.as_str()))
            && self
                .query
                .as_ref()
                .is_none_or(|part| head.query.contains(part.as_str()))
            && self.wanted.as_ref().is_none_or(|wanted| wanted(head))
    }

    /// What the rule does to a request, if it does anything; counts it.
    pub(crate) fn decide(&self, head: &RequestHead, seed: u64) -> Option<&Action> {
        if !self.matches(head) {
            return None;
        }
        let number = self.seen.fetch_add(1, Ordering::SeqCst);
        let counted = number.checked_sub(self.skip)?;
        let due = (counted + 1) % self.every == 0 && mixed(seed, number) % 1000 < self.permille;
        let free = due
            && self
                .acted
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |acted| {
                    (acted < self.times).then_some(acted + 1)
                })
                .is_ok();
        free.then_some(&self.action)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("query", &self.query)
            .field("skip", &self.skip)
            .field("times", &self.times)
            .field("every", &self.every)
            .field("permille", &self.permille)
            .field("action", &self.action)
            .field("acted", &self.acted.load(Ordering::SeqCst))
            .finish_non_exhaustive()
    }
}

/// An even number from a seed and a count (the finaliser of SplitMix64).
fn mixed(seed: u64, count: u64) -> u64 {
    let mut x = seed
        .wrapping_add(count.wrapping_mul(0x9E37_79B9_7F4A_7C15))
        .wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
