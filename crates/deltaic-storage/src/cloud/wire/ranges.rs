//! Parts of objects, from servers that do not look at which part was asked for and answer with the whole object: rclone's
//! for remotes that cannot seek, and some gateways. The bytes before the part pass by unused; they cost time, not memory.

use futures::StreamExt;
use http::{HeaderValue, Method, StatusCode, header};
use object_store::client::{HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody};

use super::Unreadable;

/// The part of an object that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// From a byte to another, which belongs to it.
    Between(u64, u64),
    /// From a byte to the end.
    From(u64),
    /// The last bytes.
    Last(u64),
}

impl Part {
    fn parse(text: &str) -> Option<Part> {
        let (first, last) = text.trim().strip_prefix("bytes=")?.split_once('-')?;
        Some(match (first, last) {
            ("", count) => Part::Last(count.parse().ok()?),
            (first, "") => Part::From(first.parse().ok()?),
            (first, last) => Part::Between(first.parse().ok()?, last.parse().ok()?),
        })
    }

    /// First byte and the one after the last, in an object of a size; nothing where the object has none of it.
    fn within(self, size: u64) -> Option<(u64, u64)> {
        let (first, end) = match self {
            Part::Between(first, last) => (first, last.saturating_add(1).min(size)),
            Part::From(first) => (first, size),
            Part::Last(count) => (size.saturating_sub(count), size),
        };
        (first < end).then_some((first, end))
    }
}

/// What part a request asks for, if it asks for one.
pub(super) fn asked(request: &HttpRequest) -> Option<Part> {
    let headers = request.headers();
    let text = headers
        .get(header::RANGE)
        .or_else(|| headers.get("x-ms-range"))?;
    match *request.method() {
        Method::GET => Part::parse(text.to_str().ok()?),
        _ => None,
    }
}

/// The part that was asked for, out of an answer with the whole object. An answer that does not say how long it is stays as
/// it came.
pub(super) async fn cut(answer: HttpResponse, part: Part) -> Result<HttpResponse, HttpError> {
    let size = answer
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse().ok());
    let Some((size, (first, end))) = size.and_then(|size| Some((size, part.within(size)?))) else {
        return Ok(answer);
    };
    let (mut parts, body) = answer.into_parts();
    let mut bytes = Vec::new();
    let mut at = 0;
    let mut stream = body.bytes_stream();
    while at < end {
        let Some(chunk) = stream.next().await else {
            let why = "the server's answer breaks off".to_owned();
            return Err(HttpError::new(HttpErrorKind::Interrupted, Unreadable(why)));
        };
        let chunk = chunk?;
        let length = chunk.len() as u64;
        let from = first.saturating_sub(at).min(length) as usize;
        let to = (end - at).min(length) as usize;
        bytes.extend_from_slice(&chunk[from..to]);
        at += length;
    }
    parts.status = StatusCode::PARTIAL_CONTENT;
    let range = format!("bytes {first}-{}/{size}", end - 1);
    if let Ok(value) = HeaderValue::from_str(&range) {
        parts.headers.insert(header::CONTENT_RANGE, value);
    }
    parts
        .headers
        .insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    Ok(HttpResponse::from_parts(
        parts,
        HttpResponseBody::from(bytes),
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{HttpResponse, HttpResponseBody, Part, cut};

    async fn part_of(text: &'static str, range: &str) -> (u16, String, String) {
        let mut answer = HttpResponse::new(HttpResponseBody::from(text.as_bytes().to_vec()));
        answer
            .headers_mut()
            .insert("content-length", text.len().into());
        let answer = cut(answer, Part::parse(range).unwrap()).await.unwrap();
        let header = answer.headers().get("content-range");
        let header = header
            .map_or("", |value| value.to_str().unwrap())
            .to_owned();
        let status = answer.status().as_u16();
        let body = answer.into_body().bytes().await.unwrap();
        (status, header, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_part_is_cut_out_of_the_whole() {
        for (range, header, body) in [
            ("bytes=2-4", "bytes 2-4/10", "234"),
            ("bytes=0-0", "bytes 0-0/10", "0"),
            ("bytes=7-", "bytes 7-9/10", "789"),
            ("bytes=8-99", "bytes 8-9/10", "89"),
            ("bytes=-3", "bytes 7-9/10", "789"),
            ("bytes=-99", "bytes 0-9/10", "0123456789"),
        ] {
            let expected = (206, header.to_owned(), body.to_owned());
            assert_eq!(part_of("0123456789", range).await, expected, "{range}");
        }
    }

    #[tokio::test]
    async fn what_the_object_does_not_have_is_not_made_up() {
        let (status, header, _) = part_of("0123456789", "bytes=10-12").await;
        assert_eq!((status, header.as_str()), (200, ""));
    }

    #[test]
    fn other_texts_name_no_part() {
        for text in ["", "bytes=", "bytes=a-b", "lines=1-2", "bytes=1-2,4-5"] {
            assert_eq!(Part::parse(text), None, "{text}");
        }
    }
}
