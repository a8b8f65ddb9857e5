//! Failures of an object store as classed errors. Nothing secret passes.

use deltaic_protocol::error::{DeltaError, ErrorKind};
use object_store::Error;

use super::wire::{Refusal, refusal};
use crate::error::not_found;

/// Whether the store has answered for certain that it will not do it: asking again is of no use, and nothing was
/// changed.
pub(super) fn is_final(error: &Error) -> bool {
    matches!(
        error,
        Error::NotFound { .. }
            | Error::InvalidPath { .. }
            | Error::NotSupported { .. }
            | Error::NotImplemented { .. }
            | Error::PermissionDenied { .. }
            | Error::Unauthenticated { .. }
            | Error::UnknownConfigurationKey { .. }
    ) || refusal(error).is_some()
}

/// Names of S3's refusals that mean another region's bucket.
const REGION: &[&str] = &[
    "AuthorizationHeaderMalformed",
    "IllegalLocationConstraintException",
    "PermanentRedirect",
    "TemporaryRedirect",
];
/// Names of refusals of credentials that were good once.
const EXPIRED: &[&str] = &["ExpiredToken", "InvalidToken", "TokenRefreshRequired"];

/// Exception and hint of a refusal.
fn of_refusal(refusal: &Refusal) -> (&'static str, &'static str) {
    let code = refusal.code.as_str();
    match refusal.status {
        _ if EXPIRED.contains(&code) => (
            DENIED,
            "the token has expired or is of another place: get a new one and run the statement again",
        ),
        300..=399 => (IO, REGION_HINT),
        _ if REGION.contains(&code) => (IO, REGION_HINT),
        401 | 403 => (
            DENIED,
            "the credentials may not do this here: check their policy (reading a table needs the right to list), and that they \
             have not expired",
        ),
        404 => (MISSING, BUCKET_HINT),
        _ => (
            IO,
            "the server does not accept the request: check endpoint, region and names",
        ),
    }
}

const MISSING: &str = "java.io.FileNotFoundException";
const BUCKET_HINT: &str =
    "check the name of the bucket or container, and that the endpoint and region are its own";
const DENIED: &str = "java.nio.file.AccessDeniedException";
const IO: &str = "java.io.IOException";
const REGION_HINT: &str = "the bucket is in another region: set aws_region, and the endpoint where it is set, to the bucket's own";

/// The error of an operation on a place.
pub(super) fn to_delta(operation: &str, place: &str, error: &Error) -> DeltaError {
    let text = without_secrets(&with_cause(error));
    let (java, hint) = match error {
        // What is written need not be there before; what holds it must.
        Error::NotFound { .. } if matches!(operation, "create" | "write") => {
            return DeltaError::unclassed(
                MISSING,
                format!("Failed to {operation} {place}: there is no such bucket or container"),
            )
            .with_kind(ErrorKind::NotFound)
            .with_path(place)
            .with_hint(BUCKET_HINT);
        }
        Error::NotFound { .. } => return not_found(place).with_hint(BUCKET_HINT),
        Error::PermissionDenied { .. } => (
            DENIED,
            "the credentials may not do this here: check their policy, and that they have not expired",
        ),
        Error::Unauthenticated { .. } => (
            DENIED,
            "the credentials are not accepted: check key, secret, token and clock",
        ),
        _ => refusal(error).map_or(
            (
                IO,
                "check that the endpoint answers, and run the statement again; nothing was committed that DESCRIBE HISTORY \
                 does not show; the option retry_timeout says how long to go on asking",
            ),
            of_refusal,
        ),
    };
    DeltaError::unclassed(java, format!("Failed to {operation} {place}: {text}"))
        .with_kind(ErrorKind::Storage)
        .with_path(place)
        .with_hint(hint)
}

/// The text of an error with that of its first cause, where it leaves that out.
fn with_cause(error: &Error) -> String {
    let text = error.to_string();
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    let cause = cause.to_string();
    match text.contains(&cause) {
        true => text,
        false => format!("{text}: {cause}"),
    }
}

/// A text without what must not be told: queries of addresses (signatures stand there), users and passwords in
/// addresses, and the tokens that S3 repeats in its refusals.
pub(super) fn without_secrets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, address) = rest.split_at(at);
        out.push_str(before);
        let end = address
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')' | '>' | '<'))
            .unwrap_or(address.len());
        let (address, after) = address.split_at(end);
        let (address, query) = match address.find('?') {
            Some(query) => (&address[..query], "?…"),
            None => (address, ""),
        };
        let host = &address[3..];
        let authority = &host[..host.find('/').unwrap_or(host.len())];
        match authority.rsplit_once('@') {
            // `container@account` is no secret.
            Some((user, _)) if user.contains(':') => {
                out.push_str("://…");
                out.push_str(&host[user.len()..]);
            }
            _ => out.push_str(address),
        }
        out.push_str(query);
        rest = after;
    }
    out.push_str(rest);
    ELEMENTS
        .iter()
        .fold(out, |text, name| without_element(&text, name))
}

/// Elements of S3's error documents that repeat what the client has sent.
const ELEMENTS: [&str; 3] = ["Token-0", "SignatureProvided", "StringToSign"];

fn without_element(text: &str, name: &str) -> String {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&open) {
        out.push_str(before);
        out.push_str(&open);
        out.push('…');
        // Without an end the rest of the text belongs to it.
        rest = after.find(&close).map_or("", |end| &after[end..]);
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn signatures_in_addresses_do_not_pass() {
        let text = "error sending request for url (http://h/c/x?sv=2&sig=abc%3D): \"https://h/?a=b\" closed";
        assert_eq!(
            without_secrets(text),
            "error sending request for url (http://h/c/x?…): \"https://h/?…\" closed"
        );
        assert_eq!(without_secrets("no address"), "no address");
        assert_eq!(
            without_secrets("proxy http://me:pw@h:1/x and abfss://c@a.dfs/t"),
            "proxy http://…@h:1/x and abfss://c@a.dfs/t"
        );
        assert_eq!(
            without_secrets(
                "<Error><Token-0>FwoG</Token-0><HostId>h</HostId></Error> <Token-0>cut"
            ),
            "<Error><Token-0>…</Token-0><HostId>h</HostId></Error> <Token-0>…"
        );
    }
}
