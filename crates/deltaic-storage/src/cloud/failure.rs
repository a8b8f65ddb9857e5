//! Failures of an object store as classed errors. Nothing secret passes.

use deltaic_protocol::error::{DeltaError, ErrorKind};
use object_store::Error;

use super::secrets::without_secrets;
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

/// Names of refusals of credentials that are not known.
const WRONG: &[&str] = &[
    "AuthenticationFailed",
    "InvalidAccessKeyId",
    "InvalidAuthenticationInfo",
    "RequestTimeTooSkewed",
    "SignatureDoesNotMatch",
];

/// Whether a refusal is about who asks, not about what may be done. Azure's emulator says so in its text alone.
fn is_unknown(code: &str, message: &str) -> bool {
    WRONG.iter().any(|wrong| code.contains(wrong)) || message.contains("failed to authenticate")
}

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
        401 | 403 if is_unknown(code, &refusal.message) => (DENIED, WRONG_HINT),
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
const DENIED_HINT: &str =
    "the credentials may not do this here: check their policy, and that they have not expired";
/// Refusals of rights that come inside the answer to a batch.
const DENIALS: &[&str] = &[
    "AccessDenied",
    "AuthorizationPermissionMismatch",
    "AuthorizationFailure",
];
const WRONG_HINT: &str = "the credentials are not accepted: check account or access key, secret, token, and this machine's clock";
const METADATA: &str = "169.254.169.254";
const NO_CREDENTIALS: &str = "no credentials were given, and this machine has none of its own: set aws_access_key_id and \
                              aws_secret_access_key, aws_profile, or azure_storage_account_key and its kind, as options or as \
                              variables; aws_skip_signature or azure_skip_signature for public places";
const REGION_HINT: &str = "the bucket is in another region: set aws_region, and the endpoint where it is set, to the bucket's own";

/// The error of an operation on a place.
pub(super) fn to_delta(operation: &str, place: &str, error: &Error) -> DeltaError {
    let text = without_secrets(&with_cause(error));
    let (java, hint) = match error {
        // Where machines in a cloud get credentials from; the last resort.
        _ if text.contains(METADATA) || text.contains("/metadata/identity/") => {
            (DENIED, NO_CREDENTIALS)
        }
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
        Error::PermissionDenied { .. } if is_unknown(&text, &text) => (DENIED, WRONG_HINT),
        Error::PermissionDenied { .. } => (DENIED, DENIED_HINT),
        Error::Unauthenticated { .. } => (DENIED, WRONG_HINT),
        _ if text.contains("InvalidContentType") => (
            IO,
            "the server does not speak TLS: write http:// before the endpoint if it is meant to be without encryption",
        ),
        _ => match refusal(error) {
            Some(refusal) => of_refusal(refusal),
            None if DENIALS.iter().any(|code| text.contains(code)) => (DENIED, DENIED_HINT),
            None => (
                IO,
                "check that the endpoint answers, and run the statement again; nothing was committed that DESCRIBE HISTORY \
                 does not show; the option retry_timeout says how long to go on asking",
            ),
        },
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
