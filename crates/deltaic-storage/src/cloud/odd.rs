//! Keys of objects that object_store's paths cannot hold: with empty, `.` or `..` segments, with control characters. One of
//! them would end a listing, and a key that ends in a slash (a marker of a folder) would be taken for another without it.
//! So they are written in another way in the answer of the server before the client reads it, and told apart behind it.

use std::borrow::Cow;
use std::fmt::Write as _;

use object_store::path::Path;
use percent_encoding::percent_decode_str;

use crate::object_path::{from_object_path, to_object_path};

/// Stands in written keys alone: a key of the store with this character is written too.
const MARK: char = '\u{F8FE}';
const EMPTY: &str = "\u{F8FE}e";
const FOLDER: &str = "\u{F8FE}f";

/// What a key of a listing is, where it is no plain one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Odd {
    /// It ends in a slash: there is no file of this name.
    Folder,
    /// No request can name it. The key for people to read, control characters escaped.
    Unnameable(String),
}

impl Odd {
    /// Reads the key of a listing's entry; nothing for a plain one.
    pub(super) fn of(location: &Path) -> Option<Odd> {
        let text = location.as_ref();
        if !text.contains(MARK) {
            // A key that looks like one that was written for another name: a request for the name would be for another object.
            let same = to_object_path(&from_object_path(location)) == *location;
            return (!same).then(|| Odd::Unnameable(text.to_owned()));
        }
        match text.strip_suffix(FOLDER) {
            Some(folder) if !folder.contains(MARK) => Some(Odd::Folder),
            _ => Some(Odd::Unnameable(shown(text))),
        }
    }
}

/// The answer to a listing with all keys so that a path can hold them; `None` where they can.
pub(super) fn rewritten(answer: &str) -> Option<String> {
    let (open, close) = match answer.contains("<EnumerationResults") {
        true => ("<Name", "</Name>"),
        false => ("<Key", "</Key>"),
    };
    let mut out = String::new();
    let mut done = 0;
    let mut at = 0;
    while let Some(found) = answer[at..].find(open) {
        let head = at + found + open.len();
        at = head;
        let Some(end) = answer[head..].find('>').map(|end| head + end) else {
            break;
        };
        let attributes = &answer[head..end];
        // Another element whose name begins so, or one without content.
        if attributes.ends_with('/') || attributes.starts_with(|c: char| !c.is_whitespace()) {
            continue;
        }
        let Some(stop) = answer[end..].find(close).map(|stop| end + stop) else {
            break;
        };
        at = stop;
        // What listings with a delimiter show of folders ends in a slash by right.
        if answer[..head - open.len()]
            .trim_end()
            .ends_with("<BlobPrefix>")
        {
            continue;
        }
        let encoded = attributes.contains("Encoded=\"true\"");
        if let Some(key) = written(&answer[end + 1..stop], encoded) {
            out.push_str(&answer[done..head]);
            out.push('>');
            out.push_str(&key);
            done = stop;
        }
    }
    if done == 0 {
        return None;
    }
    out.push_str(&answer[done..]);
    Some(out)
}

/// The markup of a key that no path can hold, written so that one can. Azure encodes names that XML cannot have.
fn written(markup: &str, encoded: bool) -> Option<String> {
    let key = unescaped(markup);
    let key = match encoded {
        true => Cow::Owned(percent_decode_str(&key).decode_utf8_lossy().into_owned()),
        false => key,
    };
    if !encoded && is_plain(&key) {
        return None;
    }
    let (body, is_folder) = match key.strip_suffix('/') {
        Some(body) => (body, true),
        None => (&*key, false),
    };
    let mut parts: Vec<String> = body.split('/').map(part).collect();
    if is_folder {
        parts.push(FOLDER.to_owned());
    } else if encoded && is_plain(&key) {
        // It can be read, and cannot be asked for under the name that the listing has.
        parts.push(EMPTY.to_owned());
    }
    Some(escaped(&parts.join("/")))
}

fn is_plain(key: &str) -> bool {
    key.split('/').all(|part| !matches!(part, "" | "." | ".."))
        && !key.chars().any(|c| c.is_ascii_control() || c == MARK)
}

/// A segment as a path can hold it.
fn part(segment: &str) -> String {
    match segment {
        "" => EMPTY.to_owned(),
        "." => format!("{MARK}d"),
        ".." => format!("{MARK}dd"),
        _ => segment.chars().fold(String::new(), |mut out, c| {
            if c.is_ascii_control() {
                let _ = write!(out, "{MARK}{:02x}", u32::from(c));
            } else if c == MARK {
                let _ = write!(out, "{MARK}m");
            } else {
                out.push(c);
            }
            out
        }),
    }
}

/// A written key for people to read.
fn shown(text: &str) -> String {
    let segments: Vec<String> = text
        .split('/')
        .map(|segment| match segment.strip_prefix(MARK) {
            Some("e" | "f") => String::new(),
            Some("d") => ".".to_owned(),
            Some("dd") => "..".to_owned(),
            _ => characters(segment),
        })
        .collect();
    segments.join("/")
}

fn characters(segment: &str) -> String {
    let mut pieces = segment.split(MARK);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let code = piece
            .get(..2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (code, piece.strip_prefix('m')) {
            (_, Some(rest)) => {
                out.push(MARK);
                out.push_str(rest);
            }
            (Some(code), _) => {
                out.extend(char::from(code).escape_default());
                out.push_str(&piece[2..]);
            }
            _ => out.push_str(piece),
        }
    }
    out
}

/// The text of XML's character data.
pub(super) fn unescaped(markup: &str) -> Cow<'_, str> {
    if !markup.contains('&') {
        return Cow::Borrowed(markup);
    }
    let mut pieces = markup.split('&');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once(';').unwrap_or((piece, ""));
        match entity(name) {
            Some(c) => {
                out.push(c);
                out.push_str(rest);
            }
            None => {
                out.push('&');
                out.push_str(piece);
            }
        }
    }
    Cow::Owned(out)
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let code = name.strip_prefix('#')?;
            let code = match code.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => code.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// What becomes of a key of S3: the entry's location, and what is odd in it.
    fn through(markup: &str) -> (String, Option<Odd>) {
        let answer = format!(
            "<ListBucketResult><Name>b//</Name><Contents><Key>{markup}</Key><Size>1</Size></Contents></ListBucketResult>"
        );
        let Some(text) = rewritten(&answer) else {
            return (markup.to_owned(), None);
        };
        assert!(text.starts_with("<ListBucketResult><Name>b//</Name><Contents><Key>"));
        assert!(text.ends_with("</Key><Size>1</Size></Contents></ListBucketResult>"));
        let key = text.split("<Key>").nth(1).unwrap();
        let key = unescaped(key.split("</Key>").next().unwrap()).into_owned();
        let location = Path::parse(&key).unwrap();
        assert_eq!(location.as_ref(), key);
        let odd = Odd::of(&location);
        (key, odd)
    }

    #[test]
    fn plain_keys_stay_as_they_are() {
        for key in ["t/x", "t/a &amp; b/%0A", "t/\u{F8FF}0a", "t/...", "ü/😀"] {
            assert_eq!(through(key), (key.to_owned(), None));
        }
        assert_eq!(rewritten("<ListBucketResult><Contents><Key>a"), None);
        assert_eq!(
            rewritten("<ListBucketResult><Key/><KeyCount>0</KeyCount>"),
            None
        );
    }

    #[test]
    fn keys_that_no_path_holds_are_told_apart() {
        for (key, told) in [
            ("t//x", "t//x"),
            ("/x", "/x"),
            ("t/./dot", "t/./dot"),
            ("t/a/../dd", "t/a/../dd"),
            ("t/a\nb", "t/a\\nb"),
            ("t/a&#10;b &lt;&amp;>", "t/a\\nb <&>"),
            ("t/&#x1;", "t/\\u{1}"),
            ("t//", "t//"),
            ("t/m\u{F8FE}e", "t/m\u{F8FE}e"),
        ] {
            let (_, odd) = through(key);
            assert_eq!(odd, Some(Odd::Unnameable(told.to_owned())), "{key}");
        }
    }

    #[test]
    fn a_marker_of_a_folder_is_no_file() {
        let (key, odd) = through("t/_delta_log/00000000000000000002.json/");
        assert_eq!(odd, Some(Odd::Folder));
        assert!(key.starts_with("t/_delta_log/00000000000000000002.json/"));
    }

    #[test]
    fn folders_of_listings_with_a_delimiter_stay() {
        let answer = "<EnumerationResults><Blobs><BlobPrefix><Name>t/a/</Name></BlobPrefix></Blobs></EnumerationResults>";
        assert_eq!(rewritten(answer), None);
    }

    #[test]
    fn names_that_azure_encodes_are_odd() {
        let answer = "<EnumerationResults><Blobs><Blob><Name>t/a</Name></Blob><Blob><Name Encoded=\"true\">t/%EF%BF%BE</Name></Blob>\
                      <Blob><Name>t//b</Name></Blob></Blobs></EnumerationResults>";
        let text = rewritten(answer).unwrap();
        let odd: Vec<Option<Odd>> = text
            .split("<Name>")
            .skip(1)
            .map(|rest| rest.split("</Name>").next().unwrap())
            .map(|key| Odd::of(&Path::parse(key).unwrap()))
            .collect();
        assert_eq!(odd[0], None);
        assert!(matches!(odd[1], Some(Odd::Unnameable(_))), "{odd:?}");
        assert_eq!(odd[2], Some(Odd::Unnameable("t//b".to_owned())));
    }
}
