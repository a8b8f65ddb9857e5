//! Locations with credentials in them: they are refused, by errors that do not repeat them.

use deltaic_protocol::error::DeltaError;

use super::Scheme;

/// The parts of a query that sign a request: of Azure's shared access signatures, and of S3's signed addresses.
const SIGNATURE: &[&str] = &[
    "sig",
    "signature",
    "awsaccesskeyid",
    "x-amz-credential",
    "x-amz-security-token",
    "x-amz-signature",
];

/// The refusal of `scheme:rest`, if there are credentials in it: a user before a host or bucket (Azure's
/// `container@account` is none), a secret with a slash in the place of a bucket, a signature behind the path.
pub(super) fn refusal(scheme: &str, rest: &str) -> Option<DeltaError> {
    let after = rest.strip_prefix("//")?;
    let backend = Scheme::parse(&scheme.to_lowercase());
    let (authority, path) = after.split_at(after.find(['/', '?', '#']).unwrap_or(after.len()));
    let unsigned = |path: &str| {
        let end = signature_at(path).unwrap_or(path.len());
        path[..end].to_owned()
    };
    let user_is_open = matches!(backend, Some(Scheme::Azure | Scheme::File | Scheme::Memory));
    match authority.rsplit_once('@') {
        // A container or a machine's user is no secret by itself.
        Some((user, host)) if !user_is_open || user.contains(':') => {
            return Some(with_credentials(scheme, host, &unsigned(path)));
        }
        // What follows the colon is no port: it is the beginning of a secret with a slash in it.
        None if cuts_a_secret(authority, path, backend) => {
            let host = path.rsplit_once('@').map_or("", |(_, rest)| rest);
            return Some(with_credentials(scheme, &unsigned(host), ""));
        }
        _ => {}
    }
    let remote = backend.is_none_or(Scheme::is_cloud);
    let at = signature_at(path).filter(|_| remote)?;
    let location = format!("{scheme}://{authority}{}", &path[..at]);
    Some(signed(&location))
}

fn cuts_a_secret(authority: &str, path: &str, backend: Option<Scheme>) -> bool {
    let Some((_, port)) = authority.rsplit_once(':') else {
        return false;
    };
    let is_port = !port.is_empty() && port.chars().all(|c| c.is_ascii_digit());
    match backend {
        Some(Scheme::File | Scheme::Memory) => false,
        // No bucket has a colon; the address of a server has.
        Some(_) => path.contains('@') || !(is_port || authority.starts_with('[')),
        None => path.contains('@') && !is_port,
    }
}

/// Where the query with a signature begins. A question mark alone is a character of a key like others.
fn signature_at(path: &str) -> Option<usize> {
    path.match_indices('?').map(|(at, _)| at).find(|at| {
        path[at + 1..].split(['&', '?']).any(|pair| {
            pair.split_once('=')
                .is_some_and(|(name, _)| SIGNATURE.contains(&name.to_lowercase().as_str()))
        })
    })
}

fn with_credentials(scheme: &str, host: &str, path: &str) -> DeltaError {
    let location = format!("{scheme}://{host}{path}");
    DeltaError::unclassed(
        "java.lang.IllegalArgumentException",
        format!("The location {location} was given with credentials in it"),
    )
    .with_path(location)
    .with_hint("give credentials as options (aws_access_key_id, aws_secret_access_key) or variables, and the location without them")
}

/// The refusal of a location with a signature behind it; `location` is without it.
pub(super) fn signed(location: &str) -> DeltaError {
    DeltaError::unclassed(
        "java.lang.IllegalArgumentException",
        format!("The location {location} has a query or fragment"),
    )
    .with_path(location)
    .with_hint("give a shared access signature as the option azure_storage_sas_key, and the location without it")
}
