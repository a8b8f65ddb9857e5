//! What the clients of all object stores share: retries, timeouts, proxies, certificates, and the errors of options.

use std::time::Duration;

use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use object_store::{BackoffConfig, Certificate, ClientConfigKey, ClientOptions, RetryConfig};

use super::failure::without_secrets;
use super::settings::{Settings, is_true, plain_name};

/// How long one request and all its repetitions may take.
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);
/// Repetitions of a request that was refused or failed for now.
const RETRIES: usize = 8;

/// How requests are sent.
pub(super) struct Client {
    pub(super) options: ClientOptions,
    pub(super) retry: RetryConfig,
}

impl Client {
    /// The parts that object_store's own names do not reach. `kind` is `aws` or `azure`.
    ///
    /// # Errors
    /// A certificate or number that cannot be read.
    pub(super) fn new(place: &str, settings: &Settings, kind: &str) -> Result<Client> {
        let mut client = Client {
            options: ClientOptions::new(),
            retry: retries(place, settings, kind)?,
        };
        let bundles = [
            (format!("{kind}_ca_bundle"), "ca_bundle"),
            (
                format!("{kind}_proxy_ca_certificate"),
                "proxy_ca_certificate",
            ),
        ];
        for (name, short) in bundles {
            if let Some(text) = settings.get(&[&name, short]) {
                client.trust(place, &name, text)?;
            }
        }
        if kind == "aws"
            && let Some(proxy) = hadoop_proxy(settings)
        {
            client.set(ClientConfigKey::ProxyUrl, &proxy);
        }
        Ok(client)
    }

    /// Sets one of object_store's own options.
    pub(super) fn set(&mut self, key: ClientConfigKey, value: &str) {
        // object_store takes this one only together with `proxy_url`, and as text; see `trust`.
        if key != ClientConfigKey::ProxyCaCertificate {
            self.options = std::mem::take(&mut self.options).with_config(key, value);
        }
    }

    /// Lets addresses without encryption pass.
    pub(super) fn allow_http(&mut self) {
        self.options = std::mem::take(&mut self.options).with_allow_http(true);
    }

    /// Trusts certificates, given as PEM text or as the path of a file, besides those of the system.
    fn trust(&mut self, place: &str, name: &str, text: &str) -> Result<()> {
        let wanted = "PEM certificates or the path of a file with some";
        let content = match text.contains("-----BEGIN") {
            true => text.as_bytes().to_vec(),
            false => std::fs::read(text)
                .map_err(|error| invalid(place, name, wanted).with_source(error))?,
        };
        let certificates = Certificate::from_pem_bundle(&content)
            .ok()
            .filter(|found| !found.is_empty())
            .ok_or_else(|| invalid(place, name, wanted))?;
        for certificate in certificates {
            self.options = std::mem::take(&mut self.options).with_root_certificate(certificate);
        }
        Ok(())
    }
}

fn retries(place: &str, settings: &Settings, kind: &str) -> Result<RetryConfig> {
    let number = |name: &str, text: &str| -> Result<usize> {
        text.trim()
            .parse()
            .map_err(|_| invalid(place, name, "a whole number"))
    };
    let (retries_name, timeout_name) = (
        format!("{kind}_max_retries"),
        format!("{kind}_retry_timeout"),
    );
    let mut max_retries = RETRIES;
    if let Some(text) = settings.get(&[&retries_name, "max_retries"]) {
        max_retries = number(&retries_name, text)?;
    } else if let Some(text) = settings
        .get(&["aws_max_attempts", "fs.s3a.attempts.maximum"])
        .filter(|_| kind == "aws")
    {
        max_retries = number("aws_max_attempts", text)?.saturating_sub(1);
    }
    let retry_timeout = match settings.get(&[&timeout_name, "retry_timeout"]) {
        Some(text) => duration(text)
            .ok_or_else(|| invalid(place, &timeout_name, "a duration such as 30s or 500ms"))?,
        None => RETRY_TIMEOUT,
    };
    Ok(RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries,
        retry_timeout,
    })
}

/// A number of seconds, or a number with `ms`, `s` or `m` after it.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.trim_end().parse().ok()?;
    Some(match &text[digits.len()..] {
        "ms" => Duration::from_millis(number),
        "" | "s" => Duration::from_secs(number),
        "m" => Duration::from_secs(number.checked_mul(60)?),
        _ => return None,
    })
}

fn hadoop_proxy(settings: &Settings) -> Option<String> {
    let host = settings.option(&["fs.s3a.proxy.host"])?;
    let secure = settings
        .option(&["fs.s3a.proxy.ssl.enabled"])
        .is_some_and(is_true);
    let scheme = if secure { "https" } else { "http" };
    let mut address = url::Url::parse(&format!("{scheme}://{host}")).ok()?;
    if let Some(port) = settings.option(&["fs.s3a.proxy.port"]) {
        address.set_port(Some(port.trim().parse().ok()?)).ok()?;
    }
    if let Some(user) = settings.option(&["fs.s3a.proxy.username"]) {
        address.set_username(user).ok()?;
        address
            .set_password(settings.option(&["fs.s3a.proxy.password"]))
            .ok()?;
    }
    Some(address.into())
}

/// Whether a setting of a session is about an object store.
pub fn is_cloud_option(name: &str) -> bool {
    let lower = plain_name(name);
    [
        "fs.s3a.",
        "fs.s3.",
        "fs.azure.",
        "aws_",
        "azure_",
        "s3_locking_provider",
        "delta_dynamo_",
        "spark.delta.logstore.",
        "spark.io.delta.storage.s3dynamodblogstore.",
        "io.delta.storage.s3dynamodblogstore.",
    ]
    .iter()
    .any(|prefix| lower.starts_with(prefix))
}

/// The error of an option whose value cannot be used. The value itself is not told: it may be a secret in the wrong
/// place.
pub(super) fn invalid(place: &str, name: &str, wanted: &str) -> DeltaError {
    DeltaError::unclassed(
        "java.lang.IllegalArgumentException",
        format!("Cannot open {place}: the value of the option {name} is not {wanted}"),
    )
    .with_kind(ErrorKind::Analysis)
    .with_path(place)
    .with_hint(format!("set {name} to {wanted}"))
}

/// The error of a client that cannot be made from the options that there are.
pub(super) fn refused(place: &str, settings: &Settings, error: object_store::Error) -> DeltaError {
    DeltaError::unclassed(
        "java.io.IOException",
        format!(
            "Cannot open {place}: {}",
            settings.hide(&without_secrets(&error.to_string()))
        ),
    )
    .with_kind(ErrorKind::Storage)
    .with_path(place)
    .with_hint(
        "credentials come from AWS_* or AZURE_* variables, or from options of the same names",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_object_stores_are_known_by_their_names() {
        for name in [
            "spark.hadoop.fs.s3a.endpoint",
            "AWS_S3_LOCKING_PROVIDER",
            "S3_LOCKING_PROVIDER",
            "DELTA_DYNAMO_TABLE_NAME",
            "spark.io.delta.storage.S3DynamoDBLogStore.ddb.tableName",
        ] {
            assert!(is_cloud_option(name), "{name}");
        }
        assert!(!is_cloud_option("spark.sql.x"));
    }

    #[test]
    fn durations() {
        assert_eq!(duration("10"), Some(Duration::from_secs(10)));
        assert_eq!(duration("250 ms"), Some(Duration::from_millis(250)));
        assert_eq!(duration("2m"), Some(Duration::from_secs(120)));
        assert_eq!(duration("s"), None);
        assert_eq!(duration("5h"), None);
    }
}
