//! Failures of an object store as classed errors. Nothing secret passes.

use deltaic_protocol::error::{DeltaError, ErrorKind};
use object_store::Error;

use super::credentials::{NoCredentials, no_credentials};
use super::profile::unfetched;
use super::secrets::{EXPIRED as OVER, without_secrets};
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

/// What a server without conditional puts answers to one.
pub(super) fn lacks_condition(error: &Error) -> Option<String> {
    match (error, refusal(error)) {
        (_, Some(refusal)) if refusal.status == 501 => Some(refusal.to_string()),
        (Error::NotImplemented { .. }, _) => Some(error.to_string()),
        _ => None,
    }
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
        _ if EXPIRED.contains(&code) || refusal.expired => (DENIED, EXPIRED_HINT),
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

const EXPIRED_HINT: &str =
    "the token has expired or is of another place: get a new one and run the statement again";
const UNFETCHED_HINT: &str = "there are no credentials from where the options say to get them: check the profile, role, file \
                              or program that is to give them, that its login has not expired, and that its service answers";
/// Texts of credentials that object_store could not get.
const UNFETCHED: &[&str] = &[
    "Error performing token request",
    "Failed to read token file",
    "az account get-access-token",
    "Error reading federated token file",
];
const SILENT_HINT: &str = "check that the endpoint answers, and run the statement again; nothing was committed that DESCRIBE \
                           HISTORY does not show; the option retry_timeout says how long to go on asking";

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
const NO_CONDITION_HINT: &str = "the store has no put with If-None-Match, without which one commit could replace another: set \
                                 S3_LOCKING_PROVIDER=dynamodb to commit through a DynamoDB table, or use a store that has it";
const LATE_HINT: &str = "see why the profile's credential_process, the role or the identity server takes so long; the option \
                         retry_timeout says how long to wait";
const UNSENDABLE_HINT: &str = "see what the profile's credential_process, the role or the identity server gives out: keys and \
                               tokens are one line of text";
const METADATA: &str = "169.254.169.254";
const NO_CREDENTIALS: &str = "no credentials were given, and this machine has none of its own: set aws_access_key_id and \
                              aws_secret_access_key, aws_profile, or azure_storage_account_key and its kind, as options or as \
                              variables; aws_skip_signature or azure_skip_signature for public places";
const REGION_HINT: &str = "the bucket is in another region: set aws_region, and the endpoint where it is set, to the bucket's own";

/// The error of an operation on a place.
pub(super) fn to_delta(operation: &str, place: &str, error: &Error) -> DeltaError {
    let text = match unfetched(error) {
        Some(why) => format!("no credentials from {}", without_secrets(&why.to_string())),
        None => without_secrets(&with_cause(error)),
    };
    let (java, hint) = match error {
        _ if unfetched(error).is_some() || UNFETCHED.iter().any(|what| text.contains(what)) => {
            (DENIED, UNFETCHED_HINT)
        }
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
        _ if operation == "create" && lacks_condition(error).is_some() => {
            return DeltaError::unclassed(
                "java.lang.UnsupportedOperationException",
                format!("Failed to {operation} {place}: {text}"),
            )
            .with_kind(ErrorKind::Unsupported)
            .with_path(place)
            .with_hint(NO_CONDITION_HINT);
        }
        Error::NotFound { .. } => return not_found(place).with_hint(BUCKET_HINT),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. }
            if is_expired(&text) || refusal(error).is_some_and(|refusal| refusal.expired) =>
        {
            (DENIED, EXPIRED_HINT)
        }
        Error::PermissionDenied { .. } if is_unknown(&text, &text) => (DENIED, WRONG_HINT),
        Error::PermissionDenied { .. } => (DENIED, DENIED_HINT),
        Error::Unauthenticated { .. } => match no_credentials(error) {
            Some(NoCredentials::Late(_)) => (DENIED, LATE_HINT),
            Some(NoCredentials::Unsendable) => (DENIED, UNSENDABLE_HINT),
            None => (DENIED, WRONG_HINT),
        },
        _ if text.contains("InvalidContentType") => (
            IO,
            "the server does not speak TLS: write http:// before the endpoint if it is meant to be without encryption",
        ),
        _ => match refusal(error) {
            Some(refusal) => of_refusal(refusal),
            None if DENIALS.iter().any(|code| text.contains(code)) => (DENIED, DENIED_HINT),
            None => (IO, SILENT_HINT),
        },
    };
    DeltaError::unclassed(java, format!("Failed to {operation} {place}: {text}"))
        .with_kind(ErrorKind::Storage)
        .with_path(place)
        .with_hint(hint)
}

fn is_expired(text: &str) -> bool {
    text.contains(OVER) || EXPIRED.iter().any(|code| text.contains(code))
}

/// The error of an operation on a place whose failure comes from an object store by way of other libraries; nothing where it
/// comes from elsewhere.
pub fn of_failure(
    operation: &str,
    place: &str,
    error: &(dyn std::error::Error + 'static),
) -> Option<DeltaError> {
    let mut next = Some(error);
    while let Some(error) = next {
        // An error of `std::io` does not show what it holds as its source.
        let held = error
            .downcast_ref::<std::io::Error>()
            .and_then(|error| error.get_ref());
        let found = held
            .and_then(|held| held.downcast_ref::<Error>())
            .or_else(|| error.downcast_ref::<Error>());
        if let Some(found) = found {
            return Some(to_delta(operation, place, found));
        }
        next = error.source();
    }
    None
}

/// What to do about an error that comes from an object store by way of other libraries, which may pass it on as text.
pub fn hint_of_failure(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    let mut text = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        text.push_str(&error.to_string());
        next = error.source();
    }
    let of_store = [
        "Generic S3 error",
        "Generic MicrosoftAzure error",
        "Error performing ",
        "Unauthenticated",
        "the server answers",
    ];
    if !of_store.iter().any(|word| text.contains(word)) {
        return None;
    }
    Some(match refusal(error) {
        _ if UNFETCHED.iter().any(|what| text.contains(what)) => UNFETCHED_HINT,
        _ if is_expired(&text) => EXPIRED_HINT,
        Some(refusal) => of_refusal(refusal).1,
        None if is_unknown(&text, &text) => WRONG_HINT,
        None if text.contains("403 Forbidden")
            || DENIALS.iter().any(|code| text.contains(code)) =>
        {
            DENIED_HINT
        }
        None if text.contains("the server answers") => {
            "the server does not accept the request: check endpoint, region and names"
        }
        None => SILENT_HINT,
    })
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
