//! A client for one bucket of S3, or of what speaks its protocol, from options and the environment.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use object_store::aws::{
    AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, AwsCredential, AwsCredentialProvider,
};
use object_store::client::{HttpConnector, ReqwestConnector};
use object_store::{ClientOptions, ObjectStore, StaticCredentialProvider};

use super::credentials::InTime;
use super::dynamo::DynamoLock;
use super::limits::Limits;
use super::lock::CommitLock;
use super::options::{self, Client};
use super::plain::{Signing, deleting};
use super::probe::Rule;
use super::profile::{Profile, Role};
use super::settings::{Settings, check_address, invalid, is_true};
use super::wire::Connector;
use crate::root::Bucket;

/// A bucket that is open.
pub(super) struct Opened {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) limits: Limits,
    pub(super) rule: Rule,
    /// Through which commits go, where the user asks for one.
    pub(super) lock: Option<Arc<dyn CommitLock>>,
}

/// What an option means.
#[derive(Debug, PartialEq)]
enum Meaning {
    Key(AmazonS3ConfigKey),
    /// The bucket stands in the path of an address (`true`) or in front of its host.
    PathStyle,
    Style,
    Ssl,
    Provider,
    Encryption,
}

/// Opens a bucket.
///
/// # Errors
/// Options that do not go together or cannot be read.
pub(super) fn open(place: &Bucket, settings: &Settings) -> Result<Opened> {
    let settings = &settings.for_bucket(&place.container);
    let found = connect(place, settings)?;
    let lock = lock(
        &place.container,
        settings,
        &found.client,
        found.store.credentials(),
        &found.region,
    )?;
    let limits = found.client.limits;
    let signing = Signing::S3(Arc::new(found.store));
    Ok(Opened {
        store: deleting(&found.connector, limits, false, signing),
        limits,
        rule: found.rule,
        lock,
    })
}

/// A bucket's client, and what it was made of.
struct Connected {
    store: AmazonS3,
    connector: Connector,
    client: Client,
    region: String,
    rule: Rule,
}

fn connect(place: &Bucket, settings: &Settings) -> Result<Connected> {
    let bucket = place.container.as_str();
    let url = format!("s3://{bucket}");
    let mut client = Client::new(&url, settings, "aws")?;
    let connector = Connector::new(client.limits.patience);
    let profile = profile(settings);
    let configured = |name: &str| profile.as_ref().and_then(|profile| profile.setting(name));
    let endpoint = endpoint(settings)
        .or_else(|| configured("endpoint_url"))
        .map(|text| address(settings, &text));
    let rule = rule(bucket, settings, endpoint.as_deref())?;
    let mut builder = named(bucket, settings, &mut client).with_http_connector(connector.clone());
    if let Some(region) = &place.region {
        // The location's own region wins.
        builder = builder.with_region(region);
    } else if builder
        .get_config_value(&AmazonS3ConfigKey::Region)
        .is_none()
    {
        let region = endpoint.as_deref().and_then(region_of).map(str::to_owned);
        if let Some(region) = region.or_else(|| configured("region")) {
            builder = builder.with_region(region);
        }
    }
    let is_aws_own = endpoint.is_none();
    if let Some(endpoint) = endpoint {
        check_address(&url, "aws_endpoint", &endpoint)?;
        client.meet(&url, settings, "aws", &endpoint)?;
        builder = builder.with_endpoint(match is_virtual(settings) {
            true => with_bucket(&endpoint, bucket),
            false => endpoint,
        });
    }
    let region = builder
        .get_config_value(&AmazonS3ConfigKey::Region)
        .unwrap_or_else(|| "us-east-1".to_owned());
    if is_aws_own {
        let server = format!("https://s3.{region}.amazonaws.com");
        check_address(&url, "aws_region", &server)?;
    }
    check_bucket(bucket)?;
    let builder = builder.with_client_options(client.options.clone());
    let refused = |error| options::refused(&url, settings, error);
    let mut store = builder.clone().build().map_err(refused)?;
    let found = store.credentials();
    let other = credentials(settings, profile, &client.options, &region, found).map_err(refused)?;
    if other.is_some() || !has_keys(settings) {
        let fetched = other.unwrap_or_else(|| Arc::clone(found));
        let in_time = InTime::new(fetched, client.limits.patience / 2);
        store = builder
            .with_credentials(Arc::new(in_time))
            .build()
            .map_err(refused)?;
    }
    Ok(Connected {
        store,
        connector,
        client,
        region,
        rule,
    })
}

/// That an address can be made with the name of a bucket.
fn check_bucket(bucket: &str) -> Result<()> {
    match format!("https://h/{bucket}").parse::<http::Uri>() {
        Ok(_) => Ok(()),
        Err(_) => Err(DeltaError::unclassed(
            "java.lang.IllegalArgumentException",
            format!(
                "The location s3://{bucket} names no bucket: there is no bucket of such a name"
            ),
        )
        .with_kind(ErrorKind::Analysis)
        .with_path(format!("s3://{bucket}"))
        .with_hint("s3://BUCKET/PATH")),
    }
}

/// Whether keys are given, or nothing is signed: then nothing is fetched.
fn has_keys(settings: &Settings) -> bool {
    settings
        .options()
        .chain(settings.variables())
        .any(|(name, _)| is_credential(name))
        || is_anonymous(settings)
}

/// A client's builder with all that the settings name.
fn named(bucket: &str, settings: &Settings, client: &mut Client) -> AmazonS3Builder {
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(bucket)
        .with_retry(client.limits.retry());
    let ours = settings
        .options()
        .any(|(name, _)| is_credential(name) || name == "aws_profile");
    for (name, value) in settings.variables() {
        // A key of the options does not go with a token of the environment.
        if !(ours && is_credential(name)) {
            builder = set(builder, client, name, value);
        }
    }
    for (name, value) in settings.options() {
        builder = set(builder, client, name, value);
    }
    builder
}

/// The profile that counts: one that the options name, or where neither keys nor a web identity nor a container's
/// credentials are set, the one of the environment or the default one.
fn profile(settings: &Settings) -> Option<Profile> {
    let anonymous = is_anonymous(settings);
    let keys = |mut named: Box<dyn Iterator<Item = (&str, &str)> + '_>| {
        named.any(|(name, _)| is_credential(name))
    };
    if anonymous || keys(Box::new(settings.options())) {
        return None;
    }
    let given = keys(Box::new(settings.variables()))
        || settings
            .get(&[
                "aws_web_identity_token_file",
                "web_identity_token_file",
                "aws_container_credentials_relative_uri",
                "container_credentials_relative_uri",
                "aws_container_credentials_full_uri",
                "container_credentials_full_uri",
            ])
            .is_some();
    match given && settings.option(&["aws_profile"]).is_none() {
        true => None,
        false => Profile::of(settings),
    }
}

fn is_anonymous(settings: &Settings) -> bool {
    settings
        .get(&["aws_skip_signature", "skip_signature"])
        .is_some_and(is_true)
        || settings
            .option(&[
                "fs.s3a.aws.credentials.provider",
                "fs.s3.aws.credentials.provider",
            ])
            .is_some_and(|class| class.contains("Anonymous"))
}

/// Credentials that object_store does not find by itself; `found` are those that it does.
fn credentials(
    settings: &Settings,
    profile: Option<Profile>,
    sent: &ClientOptions,
    region: &str,
    found: &AwsCredentialProvider,
) -> object_store::Result<Option<AwsCredentialProvider>> {
    let role = settings.get(&[
        "aws_iam_role_arn",
        "aws_s3_assume_role_arn",
        "fs.s3a.assumed.role.arn",
    ]);
    if profile.is_none() && role.is_none() {
        return Ok(None);
    }
    // Servers of credentials on the machine itself are reached without encryption.
    let client = ReqwestConnector::default().connect(&sent.clone().with_allow_http(true))?;
    let mut out = Arc::clone(found);
    if let Some(profile) = profile {
        profile.check()?;
        out = profile.credentials(client.clone(), region, out);
    }
    if let Some(arn) = role {
        let role = Role {
            arn: arn.to_owned(),
            session: settings
                .get(&[
                    "aws_iam_role_session_name",
                    "aws_s3_role_session_name",
                    "fs.s3a.assumed.role.session.name",
                ])
                .map(str::to_owned),
            endpoint: settings
                .get(&["aws_endpoint_url_sts", "endpoint_url_sts"])
                .map(str::to_owned),
            region: region.to_owned(),
        };
        out = role.credentials(client, out);
    }
    Ok(Some(out))
}

fn set(builder: AmazonS3Builder, client: &mut Client, name: &str, value: &str) -> AmazonS3Builder {
    match meaning(name) {
        Some(Meaning::Key(AmazonS3ConfigKey::Client(key))) => {
            client.set(key, value);
            builder
        }
        // Decided apart: see `endpoint` and `rule`.
        Some(Meaning::Key(
            AmazonS3ConfigKey::Endpoint
            | AmazonS3ConfigKey::S3Endpoint
            | AmazonS3ConfigKey::ConditionalPut
            | AmazonS3ConfigKey::Bucket,
        )) => builder,
        Some(Meaning::Key(key)) => builder.with_config(key, value),
        Some(Meaning::PathStyle) => builder.with_virtual_hosted_style_request(!is_true(value)),
        Some(Meaning::Style) => {
            builder.with_virtual_hosted_style_request(value.trim().eq_ignore_ascii_case("virtual"))
        }
        Some(Meaning::Ssl) => {
            if !is_true(value) {
                client.allow_http();
            }
            builder
        }
        Some(Meaning::Provider) if value.contains("Anonymous") => builder.with_skip_signature(true),
        Some(Meaning::Encryption) => {
            let kind = match value.to_ascii_uppercase().as_str() {
                "SSE-S3" | "AES256" => "AES256",
                "SSE-KMS" => "sse:kms",
                "DSSE-KMS" => "sse:kms:dsse",
                _ => value,
            };
            match "aws_server_side_encryption".parse() {
                Ok(key) => builder.with_config(key, kind),
                Err(_) => builder,
            }
        }
        Some(Meaning::Provider) | None => builder,
    }
}

fn meaning(name: &str) -> Option<Meaning> {
    if let Some(hadoop) = name
        .strip_prefix("fs.s3a.")
        .or_else(|| name.strip_prefix("fs.s3."))
    {
        let key = match hadoop {
            "access.key" => "aws_access_key_id",
            "secret.key" => "aws_secret_access_key",
            "session.token" => "aws_session_token",
            "endpoint" => "aws_endpoint",
            "endpoint.region" => "aws_region",
            "requester.pays.enabled" => "aws_request_payer",
            "encryption.key" | "server-side-encryption.key" => "aws_sse_kms_key_id",
            "path.style.access" => return Some(Meaning::PathStyle),
            "connection.ssl.enabled" => return Some(Meaning::Ssl),
            "aws.credentials.provider" => return Some(Meaning::Provider),
            "encryption.algorithm" | "server-side-encryption-algorithm" => {
                return Some(Meaning::Encryption);
            }
            _ => return None,
        };
        return AmazonS3ConfigKey::from_str(key).ok().map(Meaning::Key);
    }
    if name == "aws_s3_addressing_style" {
        return Some(Meaning::Style);
    }
    AmazonS3ConfigKey::from_str(name).ok().map(Meaning::Key)
}

fn is_credential(name: &str) -> bool {
    matches!(
        meaning(name),
        Some(Meaning::Key(
            AmazonS3ConfigKey::AccessKeyId
                | AmazonS3ConfigKey::SecretAccessKey
                | AmazonS3ConfigKey::Token
        ))
    )
}

/// The address of the server, where it is not AWS's own.
fn endpoint(settings: &Settings) -> Option<String> {
    const NAMES: &[&str] = &[
        "aws_endpoint_url_s3",
        "aws_endpoint_url",
        "aws_endpoint",
        "endpoint_url",
        "endpoint",
        "fs.s3a.endpoint",
        "fs.s3.endpoint",
    ];
    let ignored = settings
        .variable(&["aws_ignore_configured_endpoint_urls"])
        .is_some_and(is_true);
    settings
        .option(NAMES)
        .or_else(|| settings.variable(NAMES).filter(|_| !ignored))
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// The endpoint of the bucket; without a scheme it is `http` where `fs.s3a.connection.ssl.enabled` is false.
fn address(settings: &Settings, endpoint: &str) -> String {
    let plain = settings
        .option(&[
            "fs.s3a.connection.ssl.enabled",
            "fs.s3.connection.ssl.enabled",
        ])
        .is_some_and(|value| !is_true(value));
    match plain && !endpoint.contains("://") {
        true => format!("http://{endpoint}"),
        false => with_scheme(endpoint),
    }
}

pub(super) fn with_scheme(endpoint: &str) -> String {
    match endpoint.contains("://") {
        true => endpoint.to_owned(),
        false => format!("https://{endpoint}"),
    }
}

/// The host of an address, without a port.
fn host_of(endpoint: &str) -> &str {
    let host = endpoint
        .split_once("://")
        .map_or(endpoint, |(_, rest)| rest);
    let host = host.split(['/', '?']).next().unwrap_or_default();
    match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

/// AWS's own servers keep `If-None-Match`.
fn is_aws(endpoint: &str) -> bool {
    let host = host_of(endpoint).to_ascii_lowercase();
    [".amazonaws.com", ".amazonaws.com.cn", ".amazonaws.eu"]
        .iter()
        .any(|suffix| host.ends_with(suffix))
}

/// The region in the name of one of AWS's servers: `s3.eu-west-1.amazonaws.com`, `s3-eu-west-1.amazonaws.com`.
fn region_of(endpoint: &str) -> Option<&str> {
    if !is_aws(endpoint) {
        return None;
    }
    let (before, _) = host_of(endpoint).split_once(".amazonaws.")?;
    let last = before.rsplit('.').next()?;
    let region = last.strip_prefix("s3-").unwrap_or(last);
    (region.matches('-').count() >= 2).then_some(region)
}

/// Whether a name that Hadoop or deltalake give asks for the bucket in front of the host. With object_store's own
/// `virtual_hosted_style_request` the endpoint holds the bucket already.
fn is_virtual(settings: &Settings) -> bool {
    let hadoop = settings
        .option(&["fs.s3a.path.style.access", "fs.s3.path.style.access"])
        .is_some_and(|text| !is_true(text));
    let style = settings
        .get(&["aws_s3_addressing_style"])
        .is_some_and(|text| text.trim().eq_ignore_ascii_case("virtual"));
    hadoop || style
}

fn with_bucket(endpoint: &str, bucket: &str) -> String {
    match endpoint.split_once("://") {
        Some((scheme, host)) if !host.starts_with(&format!("{bucket}.")) => {
            format!("{scheme}://{bucket}.{host}")
        }
        _ => endpoint.to_owned(),
    }
}

fn rule(bucket: &str, settings: &Settings, endpoint: Option<&str>) -> Result<Rule> {
    match settings.get(&["aws_conditional_put", "conditional_put"]) {
        Some(text) if text.trim().eq_ignore_ascii_case("etag") => Ok(Rule::Trust),
        Some(text) if text.trim().eq_ignore_ascii_case("disabled") => Ok(Rule::Refuse),
        Some(_) => Err(invalid(
            &format!("s3://{bucket}"),
            "aws_conditional_put",
            "etag (the store keeps If-None-Match) or disabled (it does not)",
        )),
        None if endpoint.is_none_or(is_aws) => Ok(Rule::Trust),
        None => Ok(Rule::Probe),
    }
}

/// A name of Delta's `S3DynamoDBLogStore`, with and without `spark.` in front.
fn of_log_store(settings: &Settings, name: &str) -> Option<String> {
    ["spark.io", "io"].iter().find_map(|start| {
        settings
            .option(&[&format!("{start}.delta.storage.s3dynamodblogstore.{name}")])
            .map(str::to_owned)
    })
}

/// Whether commits go through a lock: by deltalake's name, or because Spark is told to use Delta's log store for it.
fn is_locked(bucket: &str, settings: &Settings) -> Result<bool> {
    const NAMES: &[&str] = &["aws_s3_locking_provider", "s3_locking_provider"];
    const CLASSES: &[&str] = &[
        "spark.delta.logstore.s3a.impl",
        "spark.delta.logstore.s3.impl",
        "spark.delta.logstore.class",
    ];
    match settings.get(NAMES).map(str::trim) {
        Some(name) if name.eq_ignore_ascii_case("dynamodb") => Ok(true),
        Some(name) if name.is_empty() || name.eq_ignore_ascii_case("none") => Ok(false),
        Some(_) => Err(invalid(
            &format!("s3://{bucket}"),
            "S3_LOCKING_PROVIDER",
            "dynamodb or none",
        )),
        None => Ok(settings
            .option(CLASSES)
            .is_some_and(|class| class.ends_with("S3DynamoDBLogStore"))),
    }
}

fn lock(
    bucket: &str,
    settings: &Settings,
    client: &Client,
    credentials: &AwsCredentialProvider,
    region: &str,
) -> Result<Option<Arc<dyn CommitLock>>> {
    if !is_locked(bucket, settings)? {
        return Ok(None);
    }
    let place = format!("s3://{bucket}");
    let region = settings
        .get(&["aws_region_dynamodb"])
        .map(str::to_owned)
        .or_else(|| of_log_store(settings, "ddb.region"))
        .unwrap_or_else(|| region.to_owned());
    let endpoint = settings
        .get(&[
            "aws_endpoint_url_dynamodb",
            "aws_endpoint_url",
            "endpoint_url",
        ])
        .map_or_else(|| dynamodb_of(&region), with_scheme);
    check_address(&place, "aws_endpoint_url_dynamodb", &endpoint)?;
    let table = settings
        .get(&["delta_dynamo_table_name"])
        .map(str::to_owned)
        .or_else(|| of_log_store(settings, "ddb.tablename"))
        .unwrap_or_else(|| "delta_log".to_owned());
    let keep =
        match of_log_store(settings, "ddb.ttl") {
            Some(text) => Duration::from_secs(text.trim().parse().map_err(|_| {
                invalid(&place, "S3DynamoDBLogStore.ddb.ttl", "a number of seconds")
            })?),
            None => Duration::from_secs(24 * 60 * 60),
        };
    let mut sent = client.options.clone();
    if endpoint.starts_with("http://") {
        sent = sent.with_allow_http(true);
    }
    let sender = ReqwestConnector::default()
        .connect(&sent)
        .map_err(|error| options::refused(&place, settings, error))?;
    Ok(Some(Arc::new(DynamoLock {
        client: sender,
        credentials: own_credentials(settings).unwrap_or_else(|| Arc::clone(credentials)),
        endpoint,
        region,
        table,
        keep,
        limits: client.limits,
    })))
}

fn dynamodb_of(region: &str) -> String {
    let end = if region.starts_with("cn-") { ".cn" } else { "" };
    format!("https://dynamodb.{region}.amazonaws.com{end}")
}

/// Keys for DynamoDB alone.
fn own_credentials(settings: &Settings) -> Option<AwsCredentialProvider> {
    let key_id = settings.get(&["aws_access_key_id_dynamodb"])?.to_owned();
    let secret_key = settings
        .get(&["aws_secret_access_key_dynamodb"])?
        .to_owned();
    let token = settings
        .get(&["aws_session_token_dynamodb"])
        .map(str::to_owned);
    Some(Arc::new(StaticCredentialProvider::new(AwsCredential {
        key_id,
        secret_key,
        token,
    })))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
