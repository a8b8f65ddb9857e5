//! Failures of an object store as classed errors. Nothing secret passes: addresses lose their query, in which signatures
//! stand.

use deltaic_protocol::error::{DeltaError, ErrorKind};
use object_store::Error;

use super::wire::{Refusal, refusal};
use crate::error::not_found;

/// Whether the store has answered for certain that it will not do it: asking again is of no use, and nothing was changed.
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
        404 => (
            "java.io.FileNotFoundException",
            "check the name of the bucket or container, and that the endpoint and region are its own",
        ),
        _ => (
            IO,
            "the server does not accept the request: check endpoint, region and names",
        ),
    }
}

const DENIED: &str = "java.nio.file.AccessDeniedException";
const IO: &str = "java.io.IOException";
const REGION_HINT: &str = "the bucket is in another region: set aws_region, and the endpoint where it is set, to the bucket's own";

/// The error of an operation on a place.
pub(super) fn to_delta(operation: &str, place: &str, error: &Error) -> DeltaError {
    let text = without_queries(&error.to_string());
    let (java, hint) = match error {
        Error::NotFound { .. } => {
            return not_found(place).with_hint(
                "check the name of the bucket or container, and that the endpoint and region are its own",
            );
        }
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

/// A text in which the queries of addresses are cut off.
pub(super) fn without_queries(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, address) = rest.split_at(at);
        out.push_str(before);
        let end = address
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')' | '>'))
            .unwrap_or(address.len());
        let (address, after) = address.split_at(end);
        match address.find('?') {
            Some(query) => {
                out.push_str(&address[..query]);
                out.push_str("?…");
            }
            None => out.push_str(address),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::without_queries;

    #[test]
    fn signatures_in_addresses_do_not_pass() {
        let text = "error sending request for url (http://h/c/x?sv=2&sig=abc%3D): \"https://h/?a=b\" closed";
        assert_eq!(
            without_queries(text),
            "error sending request for url (http://h/c/x?…): \"https://h/?…\" closed"
        );
        assert_eq!(without_queries("no address"), "no address");
    }
}
