//! HTTP/1.1 as far as a proxy needs it: heads as they came, bodies by their length or in chunks.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const MAX_HEADERS: usize = 128;
/// Room for one read.
const READ: usize = 256 * 1024;
const MAX_HEAD: usize = 64 * 1024;
/// A request's body is held whole, so that the server gets all of it or nothing.
const MAX_BODY: u64 = 1 << 30;

/// The first lines of a request.
#[derive(Debug, Clone)]
pub struct RequestHead {
    /// `GET`, `PUT`, …
    pub method: String,
    /// The path as it was sent, percent escapes and all.
    pub path: String,
    /// What follows the question mark, as it was sent.
    pub query: String,
    /// Names as they were sent.
    pub headers: Vec<(String, String)>,
    raw: Bytes,
}

impl RequestHead {
    /// The value of a header, whatever the case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    fn expects_continue(&self) -> bool {
        self.header("expect")
            .is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
    }
}

/// A request with its body.
pub(crate) struct Request {
    pub head: RequestHead,
    pub body: Bytes,
}

impl Request {
    /// The bytes for the server: what the client sent, with the body's length said plainly.
    pub fn to_bytes(&self) -> Bytes {
        self.without("")
    }

    /// The request as it is sent on, without a header.
    pub fn without(&self, hidden: &str) -> Bytes {
        let plain = self.head.header("transfer-encoding").is_none()
            && !self.head.expects_continue()
            && self.head.header(hidden).is_none();
        let mut out = BytesMut::new();
        if plain {
            out.extend_from_slice(&self.head.raw);
        } else {
            let line = self
                .head
                .raw
                .split(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default();
            out.extend_from_slice(line);
            out.extend_from_slice(b"\n");
            for (name, value) in &self.head.headers {
                let lower = name.to_ascii_lowercase();
                let is_left_out = matches!(
                    lower.as_str(),
                    "transfer-encoding" | "expect" | "content-length"
                ) || lower == hidden;
                if !is_left_out {
                    out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
                }
            }
            out.extend_from_slice(
                format!("content-length: {}\r\n\r\n", self.body.len()).as_bytes(),
            );
        }
        out.extend_from_slice(&self.body);
        out.freeze()
    }
}

/// The first lines of an answer.
pub(crate) struct AnswerHead {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub raw: Bytes,
}

/// How long a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    Known(u64),
    Chunked,
    UntilClosed,
}

impl AnswerHead {
    /// The length of the body that follows, for a request of this method.
    pub fn length(&self, method: &str) -> Length {
        if method == "HEAD" || self.status == 204 || self.status == 304 {
            return Length::Known(0);
        }
        length_of(&self.headers).unwrap_or(Length::UntilClosed)
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(found, _)| found.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}

fn length_of(headers: &[(String, String)]) -> Option<Length> {
    if header(headers, "transfer-encoding").is_some_and(|value| value.contains("chunked")) {
        return Some(Length::Chunked);
    }
    let length = header(headers, "content-length")?;
    length.trim().parse().ok().map(Length::Known)
}

/// One side's bytes, read ahead.
pub(crate) struct Reader<S> {
    stream: S,
    ahead: BytesMut,
}

impl<S: AsyncRead + Unpin> Reader<S> {
    pub fn new(stream: S) -> Reader<S> {
        Reader {
            stream,
            ahead: BytesMut::new(),
        }
    }

    async fn fill(&mut self) -> io::Result<usize> {
        // What was given away took its room with it; without this, large bodies would come a few bytes at a time.
        if self.ahead.capacity() - self.ahead.len() < READ / 4 {
            self.ahead.reserve(READ);
        }
        self.stream.read_buf(&mut self.ahead).await
    }

    /// The next head up to its empty line; nothing where the other side is done.
    async fn head(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            if let Some(at) = self.ahead.windows(4).position(|four| four == b"\r\n\r\n") {
                return Ok(Some(self.ahead.split_to(at + 4).freeze()));
            }
            if self.ahead.len() > MAX_HEAD {
                return Err(invalid("a head that does not end"));
            }
            if self.fill().await? == 0 {
                return match self.ahead.is_empty() {
                    true => Ok(None),
                    false => Err(io::ErrorKind::UnexpectedEof.into()),
                };
            }
        }
    }

    /// The next request; `client` is told to go on where it waits for that.
    pub async fn request(
        &mut self,
        client: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<Option<Request>> {
        let Some(raw) = self.head().await? else {
            return Ok(None);
        };
        let head = request_head(raw)?;
        if head.expects_continue() {
            client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        let length = length_of(&head.headers).unwrap_or(Length::Known(0));
        let mut body = BytesMut::new();
        self.body(length, |part| {
            body.extend_from_slice(part);
            body.len() as u64 <= MAX_BODY
        })
        .await?;
        Ok(Some(Request {
            head,
            body: body.freeze(),
        }))
    }

    /// The next answer's head; those that only announce one (1xx) are passed over.
    pub async fn answer(&mut self) -> io::Result<AnswerHead> {
        loop {
            let raw = self.head().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
            let head = answer_head(raw)?;
            if head.status >= 200 {
                return Ok(head);
            }
        }
    }

    /// Reads a whole body and gives its content in parts, without the frames of chunks, until `take` says no.
    async fn body(
        &mut self,
        length: Length,
        mut take: impl FnMut(&[u8]) -> bool,
    ) -> io::Result<()> {
        let mut frames = Frames::new(length);
        loop {
            while let Some((content, part)) = frames.next(&mut self.ahead)? {
                if content && !take(&part) {
                    return Err(invalid("a body that is too long"));
                }
            }
            if frames.done() {
                return Ok(());
            }
            if self.fill().await? == 0 {
                return frames.closed();
            }
        }
    }

    /// Passes a body on as it is framed, and stops after `limit` bytes of content. True where all of it went through.
    /// `count` is told of content before the client sees it.
    pub async fn pass_body(
        &mut self,
        length: Length,
        limit: Option<u64>,
        out: &mut (impl AsyncWrite + Unpin),
        count: impl Fn(u64),
    ) -> io::Result<bool> {
        let mut frames = Frames::new(length);
        let mut room = limit.unwrap_or(u64::MAX);
        loop {
            while let Some((content, part)) = frames.next(&mut self.ahead)? {
                let bytes = if content { part.len() as u64 } else { 0 };
                let part = part.slice(
                    ..if bytes > room {
                        room as usize
                    } else {
                        part.len()
                    },
                );
                count(bytes.min(room));
                out.write_all(&part).await?;
                if bytes > room {
                    out.flush().await?;
                    return Ok(false);
                }
                room -= bytes;
            }
            if !frames.done() && self.fill().await? > 0 {
                continue;
            }
            if !frames.done() {
                frames.closed()?;
            }
            out.flush().await?;
            return Ok(true);
        }
    }
}

/// Takes a body apart: content, and the lines between chunks.
struct Frames {
    length: Length,
    /// Bytes of content still to come: of all, or of this chunk.
    left: u64,
    state: ChunkState,
}

#[derive(PartialEq)]
enum ChunkState {
    Size,
    Content,
    EndOfChunk,
    Trailer,
    Done,
}

impl Frames {
    fn new(length: Length) -> Frames {
        let (left, state) = match length {
            Length::Known(0) => (0, ChunkState::Done),
            Length::Known(bytes) => (bytes, ChunkState::Content),
            Length::UntilClosed => (u64::MAX, ChunkState::Content),
            Length::Chunked => (0, ChunkState::Size),
        };
        Frames {
            length,
            left,
            state,
        }
    }

    fn done(&self) -> bool {
        self.state == ChunkState::Done
    }

    /// What the end of the connection means here.
    fn closed(&self) -> io::Result<()> {
        match self.length {
            Length::UntilClosed => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The next part of what was read, and whether it is content.
    fn next(&mut self, ahead: &mut BytesMut) -> io::Result<Option<(bool, Bytes)>> {
        if ahead.is_empty() || self.done() {
            return Ok(None);
        }
        if self.state == ChunkState::Content {
            let take = self.left.min(ahead.len() as u64);
            if self.left != u64::MAX {
                self.left -= take;
            }
            if self.left == 0 {
                self.state = match self.length {
                    Length::Chunked => ChunkState::EndOfChunk,
                    _ => ChunkState::Done,
                };
            }
            return Ok(Some((true, ahead.split_to(take as usize).freeze())));
        }
        let Some(at) = ahead.iter().position(|byte| *byte == b'\n') else {
            return Ok(None);
        };
        let line = ahead.split_to(at + 1).freeze();
        self.state = match self.state {
            ChunkState::Size => {
                self.left = chunk_size(&line)?;
                match self.left {
                    0 => ChunkState::Trailer,
                    _ => ChunkState::Content,
                }
            }
            ChunkState::EndOfChunk => ChunkState::Size,
            _ if line.chunk() == b"\r\n" => ChunkState::Done,
            _ => ChunkState::Trailer,
        };
        Ok(Some((false, line)))
    }
}

fn chunk_size(line: &[u8]) -> io::Result<u64> {
    let text = std::str::from_utf8(line).map_err(|_| invalid("the size of a chunk"))?;
    let digits = text.split(';').next().unwrap_or_default().trim();
    u64::from_str_radix(digits, 16).map_err(|_| invalid("the size of a chunk"))
}

fn request_head(raw: Bytes) -> io::Result<RequestHead> {
    let mut space = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut space);
    parsed
        .parse(&raw)
        .map_err(|error| invalid(&error.to_string()))?;
    let target = parsed.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Ok(RequestHead {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: owned(parsed.headers),
        raw: raw.clone(),
    })
}

fn answer_head(raw: Bytes) -> io::Result<AnswerHead> {
    let mut space = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Response::new(&mut space);
    parsed
        .parse(&raw)
        .map_err(|error| invalid(&error.to_string()))?;
    Ok(AnswerHead {
        status: parsed.code.unwrap_or_default(),
        headers: owned(parsed.headers),
        raw: raw.clone(),
    })
}

fn owned(headers: &[httparse::Header<'_>]) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|header| {
            (
                header.name.to_owned(),
                String::from_utf8_lossy(header.value).into_owned(),
            )
        })
        .collect()
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not HTTP: {what}"))
}
