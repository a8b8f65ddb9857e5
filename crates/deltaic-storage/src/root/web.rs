//! Web addresses of S3, Azure and OneLake as places: each names a bucket or container in its host or its path.

use deltaic_protocol::error::{DeltaError, Result};
use percent_encoding::percent_decode_str;

use super::credentials::signed;
use super::{Scheme, no_backend};

/// A place that a web address names.
pub(super) struct Place {
    pub scheme: Scheme,
    /// In Hadoop's form, so that both forms of a place are equal.
    pub prefix: String,
    pub path: String,
    pub region: Option<String>,
}

/// Reads `//HOST/PATH` of an address.
pub(super) fn place(location: &str, rest: &str) -> Result<Place> {
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    if rest.contains(['?', '#']) {
        // A query may be a signature: it is not repeated.
        let place = rest.split(['?', '#']).next().unwrap_or_default();
        return Err(signed(&format!("https://{place}")));
    }
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.to_lowercase();
    let host = host.strip_suffix(":443").unwrap_or(&host);
    let path = percent_decode_str(path)
        .decode_utf8()
        .map_err(|error| not_text(location).with_source(error))?;
    if let Some(of_aws) = host.strip_suffix(".amazonaws.com") {
        return s3(location, of_aws, &path);
    }
    if is_azure(host) || is_fabric(host) {
        let (container, path) = container_of(location, &path)?;
        return Ok(Place {
            scheme: Scheme::Azure,
            prefix: format!(
                "abfss://{container}@{}",
                host.replacen(".blob.", ".dfs.", 1)
            ),
            path: format!("/{path}"),
            region: None,
        });
    }
    Err(no_backend("https", location))
}

/// `s3.REGION` with the bucket in the path, or `BUCKET.s3.REGION`; without a region it is for the options to say.
fn s3(location: &str, of_aws: &str, path: &str) -> Result<Place> {
    let (bucket, region) = match of_aws.rsplit_once(".s3") {
        Some((bucket, region)) => (Some(bucket), region),
        None => match of_aws.strip_prefix("s3") {
            Some(region) => (None, region),
            None => return Err(no_backend("https", location)),
        },
    };
    let region = match region.strip_prefix(['.', '-']) {
        Some(region) if !region.is_empty() && !region.contains('.') => Some(region.to_owned()),
        None if region.is_empty() => None,
        _ => return Err(no_backend("https", location)),
    };
    let (bucket, path) = match bucket {
        Some("") => return Err(super::no_bucket(location)),
        Some(bucket) => (bucket, path),
        None => container_of(location, path)?,
    };
    Ok(Place {
        scheme: Scheme::S3,
        prefix: format!("s3://{bucket}"),
        path: format!("/{path}"),
        region,
    })
}

fn container_of<'a>(location: &str, path: &'a str) -> Result<(&'a str, &'a str)> {
    let (container, path) = path.split_once('/').unwrap_or((path, ""));
    match container {
        "" => Err(super::no_bucket(location)),
        _ => Ok((container, path)),
    }
}

fn is_azure(host: &str) -> bool {
    CLOUDS.iter().any(|cloud| {
        host.strip_suffix(cloud)
            .is_some_and(|rest| rest.ends_with(".dfs.") || rest.ends_with(".blob."))
    })
}

/// Domains of Azure's clouds, and that of accounts in a zone of their own (`ACCOUNT.z12.dfs.storage.azure.net`).
const CLOUDS: [&str; 5] = [
    "core.windows.net",
    "core.chinacloudapi.cn",
    "core.usgovcloudapi.net",
    "core.cloudapi.de",
    "storage.azure.net",
];

/// `onelake.dfs.fabric.microsoft.com`, its regional forms, and the hosts of a workspace behind a private link
/// (`WORKSPACE.z12.dfs.fabric.microsoft.com`).
fn is_fabric(host: &str) -> bool {
    [".dfs", ".blob", ".onelake"].iter().any(|kind| {
        host.strip_suffix(".fabric.microsoft.com")
            .is_some_and(|rest| rest.ends_with(kind))
    })
}

/// The address of the blobs behind a host that is not an account of the public cloud or OneLake's common door: an account of
/// another cloud or zone, a workspace behind a private link. Credentials must not go to another's host.
pub(super) fn endpoint(host: &str) -> Option<String> {
    let host = host.to_lowercase();
    let host = host.strip_suffix(":443").unwrap_or(&host);
    let usual = [".core.windows.net", ".fabric.microsoft.com"]
        .iter()
        .find_map(|domain| host.strip_suffix(domain))
        .is_some_and(|names| names.split('.').count() <= 2);
    (host.contains('.') && !usual)
        .then(|| format!("https://{}", host.replacen(".dfs.", ".blob.", 1)))
}

fn not_text(location: &str) -> DeltaError {
    DeltaError::unclassed(
        "java.net.URISyntaxException",
        format!("The escapes in {location} are not UTF-8"),
    )
    .with_path(location)
}
