//! What stands between the client of an object store and the network. It looks at answers that the client would take for
//! something else: a listing that is none, was cut or goes round in a circle, a refusal without its reason or of a file that
//! was not meant, a whole object for a part, a request to wait.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use http::response::Parts;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService, ReqwestConnector,
};

use super::odd::{rewritten, unescaped};
use super::secrets::{EXPIRED, without_secrets};

mod ranges;

/// How much of a server's message passes into an error.
const MESSAGE: usize = 300;

/// A refusal that is final: the server has not done it and will not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The server's name for the reason, such as `AccessDenied`; empty where it gives none.
    pub code: String,
    /// The server's text.
    pub message: String,
    /// Whether it says that the time of the credentials is over.
    pub expired: bool,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server answers {}", self.status)?;
        for text in [&self.code, &self.message]
            .into_iter()
            .filter(|text| !text.is_empty())
        {
            write!(f, ", {text}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// Reads what an answer says of its reason; the body is given back.
    pub(super) async fn read(answer: HttpResponse) -> (Refusal, Bytes) {
        let status = answer.status().as_u16();
        let body = answer.into_body().bytes().await.unwrap_or_default();
        let text = without_secrets(&String::from_utf8_lossy(&body));
        let refusal = Refusal {
            status,
            code: element(&text, "Code").unwrap_or_default().to_owned(),
            message: shortened(element(&text, "Message").unwrap_or(&text)),
            expired: text.contains(EXPIRED),
        };
        (refusal, body)
    }
}

/// The refusal that an error comes from, if it comes from one.
pub(super) fn refusal<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a Refusal> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<Refusal>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// An answer that is not what was asked for.
#[derive(Debug)]
struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

/// Makes clients whose answers are looked at, and keeps the one made last: a store makes those for its credentials first
/// and its own at the end.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    /// The longest wait that a server may ask for.
    patience: Duration,
    kept: Kept,
    last: Arc<Mutex<Option<HttpClient>>>,
}

impl Connector {
    /// For operations that may take so long in all. A wait is a part of one of the several requests of an operation.
    pub(super) fn new(patience: Duration) -> Connector {
        Connector {
            patience: patience / 4,
            kept: Kept::default(),
            last: Arc::default(),
        }
    }

    /// What the answers say of deletions.
    pub(super) fn kept(&self) -> Kept {
        self.kept.clone()
    }

    /// The client made last.
    pub(super) fn client(&self) -> Option<HttpClient> {
        self.last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = HttpClient::new(Watched {
            inner: ReqwestConnector::default().connect(options)?,
            patience: self.patience,
            kept: self.kept.clone(),
        });
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(client.clone());
        Ok(client)
    }
}

#[derive(Debug)]
struct Watched {
    inner: HttpClient,
    patience: Duration,
    kept: Kept,
}

/// Azure's word on whether what was deleted is gone for good.
const PERMANENT: &str = "x-ms-delete-type-permanent";

/// Whether a container has said that it keeps what was deleted for a while (soft delete).
#[derive(Debug, Clone, Default)]
pub(super) struct Kept(Arc<AtomicBool>);

impl Kept {
    fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Looks at the answers to a batch.
    fn look(&self, answers: &str) {
        let keeps = |line: &str| {
            line.split_once(':').is_some_and(|(name, value)| {
                name.trim().eq_ignore_ascii_case(PERMANENT) && value.trim() == "false"
            })
        };
        if answers.lines().any(keeps) {
            self.note();
        }
    }

    /// Whether it has.
    pub(super) fn is_so(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a request asks for, where its answer is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Listing,
    /// S3's answer names each key that it refuses; Azure's is a list of answers, with the number of each request.
    Deletions {
        in_xml: bool,
    },
    Other,
}

impl Asked {
    fn of(request: &HttpRequest) -> Asked {
        let query = request.uri().query().unwrap_or_default();
        let mut pairs = query.split('&');
        match request.method().as_str() {
            "GET" if pairs.any(|pair| pair == "comp=list" || pair == "list-type=2") => {
                Asked::Listing
            }
            "POST" => match pairs.find(|pair| matches!(*pair, "delete" | "delete=" | "comp=batch"))
            {
                Some("comp=batch") => Asked::Deletions { in_xml: false },
                Some(_) => Asked::Deletions { in_xml: true },
                None => Asked::Other,
            },
            _ => Asked::Other,
        }
    }

    /// Where a listing is to go on.
    fn place(self, request: &HttpRequest) -> Option<String> {
        let query = request.uri().query().filter(|_| self == Asked::Listing)?;
        url::form_urlencoded::parse(query.as_bytes())
            .find(|(name, _)| matches!(&**name, "continuation-token" | "marker"))
            .map(|(_, place)| place.into_owned())
    }

    /// What a batch is to delete: keys for S3, numbers for Azure.
    fn keys(self, request: &HttpRequest) -> HashSet<String> {
        let body = || {
            let bytes = request.body().as_bytes();
            String::from_utf8_lossy(bytes.map_or(&[], |bytes| bytes))
        };
        match self {
            Asked::Deletions { in_xml: true } => elements(&body(), "Key")
                .map(|key| unescaped(key).into_owned())
                .collect(),
            Asked::Deletions { in_xml: false } => numbers(&body()).collect(),
            _ => HashSet::new(),
        }
    }

    /// Whether the client makes an error of this status that says no more than its text.
    fn hides(self, status: u16) -> bool {
        match status {
            301 | 307 | 308 | 400 | 405 | 501 => true,
            401 | 403 | 404 => self != Asked::Other,
            _ => false,
        }
    }
}

#[async_trait]
impl HttpService for Watched {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let asked = Asked::of(&request);
        let range = ranges::asked(&request);
        let place = asked.place(&request);
        let keys = asked.keys(&request);
        let answer = self.inner.execute(request).await?;
        let status = answer.status().as_u16();
        if matches!(status, 429 | 503) {
            self.wait_as_asked(&answer).await;
        }
        if asked.hides(status) {
            return refused(answer).await;
        }
        if !answer.status().is_success() {
            return told(answer).await;
        }
        match asked {
            Asked::Listing => {
                let (parts, body) =
                    whole(answer, &["ListBucketResult", "EnumerationResults"]).await?;
                goes_on(&body, place.as_deref())?;
                Ok(with_paths((parts, body)))
            }
            Asked::Deletions { in_xml: true } => {
                let (parts, body) = whole(answer, &["DeleteResult"]).await?;
                known(&String::from_utf8_lossy(&body), &keys)?;
                Ok(HttpResponse::from_parts(parts, body.into()))
            }
            Asked::Deletions { in_xml: false } => {
                let (parts, body) = whole_body(answer).await?;
                let text = String::from_utf8_lossy(&body);
                each_once(&text, &keys)?;
                self.kept.look(&text);
                Ok(HttpResponse::from_parts(parts, body.into()))
            }
            Asked::Other => match range {
                Some(range) if status == 200 => ranges::cut(answer, range).await,
                _ => {
                    let permanent = answer.headers().get(PERMANENT);
                    if permanent.is_some_and(|value| value == "false") {
                        self.kept.note();
                    }
                    Ok(answer)
                }
            },
        }
    }
}

impl Watched {
    /// Waits as long as the server says before the answer is passed on; the client's own wait before the next try comes on
    /// top. One that is longer than the caller's patience is not begun.
    async fn wait_as_asked(&self, answer: &HttpResponse) {
        let asked = answer
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok())
            .and_then(|text| retry_after(text, Utc::now()));
        if let Some(wait) = asked.filter(|wait| *wait <= self.patience) {
            tokio::time::sleep(wait).await;
        }
    }
}

/// `Retry-After` as a wait: seconds, or a date of HTTP.
fn retry_after(text: &str, now: DateTime<Utc>) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = DateTime::parse_from_rfc2822(text).ok()?;
    Some(
        (until.with_timezone(&Utc) - now)
            .to_std()
            .unwrap_or_default(),
    )
}

async fn refused(answer: HttpResponse) -> Result<HttpResponse, HttpError> {
    let (parts, body) = answer.into_parts();
    let (refusal, body) = Refusal::read(HttpResponse::from_parts(parts.clone(), body)).await;
    // The server has waited for the rest of the request; this passes.
    if refusal.code == "RequestTimeout" {
        return Ok(HttpResponse::from_parts(
            parts,
            HttpResponseBody::from(body),
        ));
    }
    Err(HttpError::new(HttpErrorKind::Unknown, refusal))
}

/// An answer that ends in an error, without what it repeats of the request: signatures and tokens.
async fn told(answer: HttpResponse) -> Result<HttpResponse, HttpError> {
    let (parts, body) = answer.into_parts();
    let body = body
        .bytes()
        .await
        .map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error))?;
    let text = without_secrets(&String::from_utf8_lossy(&body));
    Ok(HttpResponse::from_parts(
        parts,
        HttpResponseBody::from(text),
    ))
}

/// The answer with its whole body. One that breaks off is as good as no answer; asking again is right.
async fn whole_body(answer: HttpResponse) -> Result<(Parts, Bytes), HttpError> {
    let (parts, body) = answer.into_parts();
    let body = body
        .bytes()
        .await
        .map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error))?;
    Ok((parts, body))
}

/// The answer with its whole body, if that is a document of one of these kinds.
async fn whole(answer: HttpResponse, roots: &[&str]) -> Result<(Parts, Bytes), HttpError> {
    let (parts, body) = whole_body(answer).await?;
    match document(&body, roots) {
        Ok(()) => Ok((parts, body)),
        Err(why) => Err(HttpError::new(HttpErrorKind::Interrupted, Unreadable(why))),
    }
}

/// That a listing which goes on does not do so where it was: it would have no end.
fn goes_on(body: &Bytes, place: Option<&str>) -> Result<(), HttpError> {
    let text = String::from_utf8_lossy(body);
    let next = ["NextContinuationToken", "NextMarker"]
        .iter()
        .find_map(|name| element(&text, name));
    match (place, next) {
        (Some(place), Some(next)) if !place.is_empty() && unescaped(next) == place => {
            let why = "the listing goes on where it already was".to_owned();
            Err(HttpError::new(HttpErrorKind::Interrupted, Unreadable(why)))
        }
        _ => Ok(()),
    }
}

/// That a batch's refusals are of keys that were to be deleted. With one of another key it is not known which of them are
/// still there, and the client has no place for it.
fn known(answer: &str, keys: &HashSet<String>) -> Result<(), HttpError> {
    for error in elements(answer, "Error") {
        let key = unescaped(element(error, "Key").unwrap_or_default());
        if keys.contains(&*key) {
            continue;
        }
        let text = without_secrets(error);
        let refusal = Refusal {
            status: 200,
            code: element(&text, "Code").unwrap_or_default().to_owned(),
            message: shortened(element(&text, "Message").unwrap_or_default()),
            expired: false,
        };
        return Err(match refusal.code.as_str() {
            "InternalError" | "SlowDown" | "ServiceUnavailable" => {
                let why = format!("it is not known which files were deleted: {refusal}");
                HttpError::new(HttpErrorKind::Interrupted, Unreadable(why))
            }
            _ => HttpError::new(HttpErrorKind::Unknown, refusal),
        });
    }
    Ok(())
}

/// The numbers of the parts of a batch of Azure.
fn numbers(body: &str) -> impl Iterator<Item = String> + '_ {
    body.lines().filter_map(|line| {
        let (name, number) = line.split_once(':')?;
        let is_number = name.trim().eq_ignore_ascii_case("content-id");
        is_number.then(|| number.trim().to_owned())
    })
}

/// That a batch of Azure answers each of its requests once. The client takes a request without an answer for done, and has no
/// place for the answer to a request that it has not made. One refusal without a number is that of the whole batch.
fn each_once(answer: &str, asked: &HashSet<String>) -> Result<(), HttpError> {
    let mut left = asked.clone();
    let mut answered = 0;
    for number in numbers(answer) {
        answered += 1;
        if !left.remove(&number) {
            let why = format!("the answer to a batch tells of a request {number} that is not open");
            return Err(HttpError::new(HttpErrorKind::Interrupted, Unreadable(why)));
        }
    }
    if answered == 0 || left.is_empty() {
        return Ok(());
    }
    let why = format!("the answer to a batch leaves out {} requests", left.len());
    Err(HttpError::new(HttpErrorKind::Interrupted, Unreadable(why)))
}

/// A listing whose keys all are paths; see [`odd`](super::odd).
fn with_paths((parts, body): (Parts, Bytes)) -> HttpResponse {
    let text = std::str::from_utf8(&body).ok().and_then(rewritten);
    let body = match text {
        Some(text) => HttpResponseBody::from(text),
        None => HttpResponseBody::from(body),
    };
    HttpResponse::from_parts(parts, body)
}

/// Whether a body is a whole document with one of these roots, and a listing that goes on says where.
fn document(body: &Bytes, roots: &[&str]) -> Result<(), String> {
    let text = std::str::from_utf8(body).map_err(|_| "the answer is no text".to_owned())?;
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let start = match start.starts_with("<?xml") {
        true => start
            .split_once("?>")
            .map_or("", |(_, rest)| rest)
            .trim_start(),
        false => start,
    };
    let root = roots.iter().find(|root| {
        start
            .strip_prefix('<')
            .and_then(|rest| rest.strip_prefix(**root))
            .is_some_and(|rest| {
                rest.starts_with(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))
            })
    });
    let Some(root) = root else {
        return Err(format!(
            "the server's answer is no {}: {}",
            roots.join(" or "),
            shortened(element(start, "Code").unwrap_or(start))
        ));
    };
    let end = start.trim_end();
    let closed = end.ends_with(&format!("</{root}>"));
    let empty = end.ends_with("/>") && end.matches('<').count() == 1;
    if !(closed || empty) {
        return Err("the server's answer breaks off".to_owned());
    }
    let goes_on = element(start, "IsTruncated").is_some_and(|value| value.trim() == "true");
    if goes_on
        && element(start, "NextContinuationToken").is_none_or(|token| token.trim().is_empty())
    {
        return Err("the listing goes on, and the server does not say where".to_owned());
    }
    Ok(())
}

/// The text of each element of a name.
fn elements<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(&open)?;
        let (value, next) = after.split_once(&close)?;
        rest = next;
        Some(value)
    })
}

/// The text of the first element of a name; enough for answers in which markup in values is escaped.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = text.split_once(&format!("<{name}>"))?;
    after
        .split_once(&format!("</{name}>"))
        .map(|(value, _)| value)
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MESSAGE) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
