//! From options and the environment to a client. Names are those that users have already: `AWS_*` and `AZURE_*` of
//! object_store and deltalake (in any case), `fs.s3a.*` and `fs.azure.*` of Spark's Hadoop connectors (with or without
//! `spark.hadoop.` in front).

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use deltaic_protocol::error::{DeltaError, Result};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::{ClientConfigKey, ObjectStore};
use url::Url;

use super::failure::without_queries;
use super::limits::Limits;
use super::plain::{PlainDeletes, Signing};
use super::wire::Connector;
use crate::root::Bucket;

/// Options by name, as they were given.
pub type CloudOptions = BTreeMap<String, String>;

/// A client for one bucket.
pub(super) fn s3(
    place: &Bucket,
    options: &CloudOptions,
    limits: Limits,
) -> Result<Arc<dyn ObjectStore>> {
    let bucket = place.container.as_str();
    let connector = Connector::new(limits.patience);
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_retry(limits.retry())
        .with_http_connector(connector.clone());
    if let Some(region) = &place.region {
        builder = builder.with_region(region);
    }
    let mut endpoint = std::env::var("AWS_ENDPOINT_URL_S3")
        .or_else(|_| std::env::var("AWS_ENDPOINT_URL"))
        .or_else(|_| std::env::var("AWS_ENDPOINT"))
        .ok();
    for (name, value) in options {
        match s3_option(name) {
            Some(S3Option::Key(key)) => {
                if key == AmazonS3ConfigKey::Endpoint {
                    endpoint = Some(value.clone());
                } else if key != AmazonS3ConfigKey::Region || place.region.is_none() {
                    // The location's own region wins.
                    builder = builder.with_config(key, value);
                }
            }
            Some(S3Option::PathStyle) => {
                builder = builder.with_virtual_hosted_style_request(!is_true(value));
            }
            Some(S3Option::Ssl) => builder = builder.with_allow_http(!is_true(value)),
            Some(S3Option::Provider) if value.contains("Anonymous") => {
                builder = builder.with_skip_signature(true);
            }
            Some(S3Option::Provider) | None => {}
        }
    }
    if let Some(endpoint) = endpoint {
        let endpoint = match endpoint.contains("://") {
            true => endpoint,
            false => format!("https://{endpoint}"),
        };
        // An address that says http is meant so.
        if endpoint.starts_with("http://") {
            builder = builder.with_allow_http(true);
        }
        builder = builder.with_endpoint(endpoint);
    }
    let timeout = AmazonS3ConfigKey::Client(ClientConfigKey::Timeout);
    let store = builder
        .with_config(timeout, as_text(limits))
        .build()
        .map_err(|error| refused("s3", bucket, error))?;
    Ok(deleting(
        connector,
        limits,
        false,
        Signing::S3(Arc::new(store)),
    ))
}

/// The store with deletions that every server takes. `plain` where it is known that this one takes no batches.
fn deleting(
    connector: Connector,
    limits: Limits,
    plain: bool,
    signing: Signing,
) -> Arc<dyn ObjectStore> {
    match connector.client() {
        Some(client) => Arc::new(PlainDeletes::new(signing, client, limits, plain)),
        None => signing.into_store(),
    }
}

/// The time of one request, as object_store reads it.
fn as_text(limits: Limits) -> String {
    format!("{}ms", limits.request().as_millis())
}

enum S3Option {
    Key(AmazonS3ConfigKey),
    PathStyle,
    Ssl,
    Provider,
}

fn s3_option(name: &str) -> Option<S3Option> {
    let lower = plain_name(name);
    if let Some(hadoop) = lower
        .strip_prefix("fs.s3a.")
        .or_else(|| lower.strip_prefix("fs.s3."))
    {
        return Some(match hadoop {
            "access.key" => S3Option::Key(AmazonS3ConfigKey::AccessKeyId),
            "secret.key" => S3Option::Key(AmazonS3ConfigKey::SecretAccessKey),
            "session.token" => S3Option::Key(AmazonS3ConfigKey::Token),
            "endpoint" => S3Option::Key(AmazonS3ConfigKey::Endpoint),
            "endpoint.region" => S3Option::Key(AmazonS3ConfigKey::Region),
            "path.style.access" => S3Option::PathStyle,
            "connection.ssl.enabled" => S3Option::Ssl,
            "aws.credentials.provider" => S3Option::Provider,
            _ => return None,
        });
    }
    AmazonS3ConfigKey::from_str(&lower).ok().map(S3Option::Key)
}

/// A client for one container.
pub(super) fn azure(
    place: &Bucket,
    options: &CloudOptions,
    limits: Limits,
) -> Result<Arc<dyn ObjectStore>> {
    let (container, account) = (place.container.as_str(), place.account.as_deref());
    let connector = Connector::new(limits.patience);
    let mut builder = MicrosoftAzureBuilder::from_env()
        .with_container_name(container)
        .with_retry(limits.retry())
        .with_http_connector(connector.clone());
    if let Some(account) = account {
        builder = builder.with_account(account);
    }
    if place.fabric {
        builder = builder.with_use_fabric_endpoint(true);
    }
    let mut endpoint = None;
    for (name, value) in options {
        let Some(key) = azure_option(name, account) else {
            continue;
        };
        if key == AzureConfigKey::Endpoint {
            endpoint = Some(value.clone());
        }
        // The location's own account wins.
        if key != AzureConfigKey::AccountName || account.is_none() {
            builder = builder.with_config(key, value);
        }
    }
    if endpoint.is_none()
        && let Some(own) = &place.endpoint
    {
        builder = builder.with_endpoint(own.clone());
    }
    if endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")) {
        builder = builder.with_allow_http(true);
    }
    let timeout = AzureConfigKey::Client(ClientConfigKey::Timeout);
    let builder = builder.with_config(timeout, as_text(limits));
    let address = service(&builder, place.fabric);
    let anonymous = setting(&builder, AzureConfigKey::SkipSignature);
    let account = builder.get_config_value(&AzureConfigKey::AccountName);
    let store = builder
        .build()
        .map_err(|error| refused("abfss", container, error))?;
    let store = Arc::new(store);
    match (address, account) {
        (Some(service), Some(account)) => {
            let signing = Signing::Azure {
                store,
                service,
                account,
                container: container.to_owned(),
                anonymous,
            };
            Ok(deleting(connector, limits, place.fabric, signing))
        }
        // An emulator at an address of its own, which takes batches.
        _ => Ok(store),
    }
}

/// The address of the account, as the client has it.
fn service(builder: &MicrosoftAzureBuilder, fabric: bool) -> Option<Url> {
    if setting(builder, AzureConfigKey::UseEmulator) {
        return None;
    }
    let own = builder.get_config_value(&AzureConfigKey::Endpoint);
    let fabric = fabric || setting(builder, AzureConfigKey::UseFabricEndpoint);
    let account = builder.get_config_value(&AzureConfigKey::AccountName)?;
    let address = own.unwrap_or_else(|| match fabric {
        true => format!("https://{account}.blob.fabric.microsoft.com"),
        false => format!("https://{account}.blob.core.windows.net"),
    });
    Url::parse(&address).ok()
}

fn setting(builder: &MicrosoftAzureBuilder, key: AzureConfigKey) -> bool {
    builder
        .get_config_value(&key)
        .is_some_and(|value| is_true(&value))
}

fn azure_option(name: &str, account: Option<&str>) -> Option<AzureConfigKey> {
    let lower = plain_name(name);
    if let Some(hadoop) = lower.strip_prefix("fs.azure.") {
        let hadoop = match account {
            // `fs.azure.account.key.ACCOUNT.dfs.core.windows.net`: of this account, or of any.
            Some(account) => match hadoop.split_once(&format!(".{}.", account.to_lowercase())) {
                Some((name, _)) => name,
                None => hadoop,
            },
            None => hadoop,
        };
        return Some(match hadoop {
            "account.key" => AzureConfigKey::AccessKey,
            "sas.fixed.token" | "sas.token" => AzureConfigKey::SasKey,
            "account.oauth2.client.id" => AzureConfigKey::ClientId,
            "account.oauth2.client.secret" => AzureConfigKey::ClientSecret,
            "account.oauth2.msi.tenant" => AzureConfigKey::AuthorityId,
            _ => return None,
        });
    }
    AzureConfigKey::from_str(&lower).ok()
}

fn plain_name(name: &str) -> String {
    let lower = name.to_lowercase();
    lower
        .strip_prefix("spark.hadoop.")
        .map(str::to_owned)
        .unwrap_or(lower)
}

/// Whether a setting of a session is about an object store.
pub fn is_cloud_option(name: &str) -> bool {
    let lower = plain_name(name);
    ["fs.s3a.", "fs.s3.", "fs.azure.", "aws_", "azure_"]
        .iter()
        .any(|prefix| lower.starts_with(prefix))
}

fn is_true(text: &str) -> bool {
    text.trim().eq_ignore_ascii_case("true")
}

fn refused(scheme: &str, place: &str, error: object_store::Error) -> DeltaError {
    DeltaError::unclassed(
        "java.io.IOException",
        format!(
            "Cannot open {scheme}://{place}: {}",
            without_queries(&error.to_string())
        ),
    )
    .with_kind(deltaic_protocol::error::ErrorKind::Storage)
    .with_path(format!("{scheme}://{place}"))
    .with_hint(
        "credentials come from AWS_* or AZURE_* variables, or from options of the same names",
    )
}

#[cfg(test)]
mod tests {
    use super::{S3Option, azure_option, is_cloud_option, s3_option};
    use object_store::aws::AmazonS3ConfigKey;
    use object_store::azure::AzureConfigKey;

    #[test]
    fn names_of_three_worlds_mean_the_same() {
        for name in [
            "AWS_ACCESS_KEY_ID",
            "aws_access_key_id",
            "access_key_id",
            "fs.s3a.access.key",
            "spark.hadoop.fs.s3a.access.key",
        ] {
            assert!(
                matches!(
                    s3_option(name),
                    Some(S3Option::Key(AmazonS3ConfigKey::AccessKeyId))
                ),
                "{name}"
            );
        }
        for name in [
            "AZURE_STORAGE_ACCOUNT_KEY",
            "fs.azure.account.key.acc.dfs.core.windows.net",
            "spark.hadoop.fs.azure.account.key.acc.dfs.core.windows.net",
        ] {
            assert_eq!(
                azure_option(name, Some("acc")),
                Some(AzureConfigKey::AccessKey),
                "{name}"
            );
        }
        assert_eq!(
            azure_option(
                "fs.azure.account.key.other.dfs.core.windows.net",
                Some("acc")
            ),
            None
        );
        assert!(is_cloud_option("spark.hadoop.fs.s3a.endpoint") && !is_cloud_option("spark.sql.x"));
    }
}
