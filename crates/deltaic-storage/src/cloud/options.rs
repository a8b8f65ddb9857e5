//! What the clients of all object stores share: limits, proxies, certificates, and the error of one that cannot be made.

use std::str::FromStr;

use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use object_store::aws::AmazonS3ConfigKey;
use object_store::azure::AzureConfigKey;
use object_store::{Certificate, ClientConfigKey, ClientOptions};

use super::known::{is_known_option, is_ours};
use super::limits::Limits;
use super::secrets::without_secrets;
use super::settings::{Settings, invalid, is_true, plain_name};

/// How requests are sent.
pub(super) struct Client {
    pub(super) options: ClientOptions,
    pub(super) limits: Limits,
}

impl Client {
    /// The parts that object_store's own names do not reach. `kind` is `aws` or `azure`.
    ///
    /// # Errors
    /// A certificate, number or duration that cannot be read.
    pub(super) fn new(place: &str, settings: &Settings, kind: &str) -> Result<Client> {
        let limits = Limits::of(place, settings, kind)?;
        for switch in SWITCHES {
            let long = format!("{kind}_{switch}");
            if let Some((name, value)) = settings.named(&[&long, switch])
                && !is_switch(value)
            {
                return Err(invalid(place, name, "true or false"));
            }
        }
        check_texts(place, settings, kind)?;
        let mut client = Client {
            options: ClientOptions::new().with_timeout(limits.request()),
            limits,
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
        match key {
            // object_store takes this one only together with `proxy_url`, and as text; see `trust`.
            ClientConfigKey::ProxyCaCertificate => {}
            // One of the limits.
            ClientConfigKey::Timeout => {}
            key => self.options = std::mem::take(&mut self.options).with_config(key, value),
        }
    }

    /// Makes ready for the address of a server. One that says http is meant so, unless an option forbids that.
    ///
    /// # Errors
    /// An address without encryption where `allow_http` is false.
    pub(super) fn meet(
        &mut self,
        place: &str,
        settings: &Settings,
        kind: &str,
        address: &str,
    ) -> Result<()> {
        if !address.starts_with("http://") {
            return Ok(());
        }
        let long = format!("{kind}_allow_http");
        if let Some((name, value)) = settings.named(&[&long, "allow_http"])
            && !is_true(value)
        {
            return Err(DeltaError::unclassed(
                "java.lang.IllegalArgumentException",
                format!("Cannot open {place}: its endpoint is without encryption, and {name} forbids that"),
            )
            .with_kind(ErrorKind::Analysis)
            .with_path(place)
            .with_hint(format!("write https:// before the endpoint, or set {name} to true")));
        }
        self.allow_http();
        Ok(())
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

/// That what is sent in the heads of requests can be: keys, tokens and their kind are one line of text.
fn check_texts(place: &str, settings: &Settings, kind: &str) -> Result<()> {
    let (other, hadoop) = match kind {
        "aws" => ("azure_", "fs.s3"),
        _ => ("aws_", "fs.azure."),
    };
    let counts = |name: &str| match name.starts_with("fs.") {
        true => name.starts_with(hadoop),
        false => !name.starts_with(other) && is_known_option(name),
    };
    let wrong = settings
        .variables()
        .chain(settings.options())
        .filter(|(name, _)| counts(name))
        // Certificates are text of several lines.
        .find(|(_, value)| value.contains(char::is_control) && !value.contains("-----BEGIN"));
    match wrong {
        Some((name, _)) => Err(invalid(
            place,
            name,
            "text without line breaks and other control characters",
        )),
        None => Ok(()),
    }
}

/// Options of both kinds of store that are on or off; object_store tells of a wrong value without the option's name.
const SWITCHES: &[&str] = &[
    "allow_http",
    "allow_invalid_certificates",
    "disable_tagging",
    "imdsv1_fallback",
    "request_payer",
    "skip_signature",
    "sse_bucket_key_enabled",
    "storage_use_emulator",
    "unsigned_payload",
    "use_azure_cli",
    "use_emulator",
    "use_fabric_endpoint",
    "virtual_hosted_style_request",
];

fn is_switch(value: &str) -> bool {
    is_true(value)
        || matches!(
            value.trim().to_ascii_lowercase().as_str(),
            "false" | "0" | "off" | "no" | "n"
        )
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
        || is_bare_option(&lower)
}

/// Names of object_store without the store's in front (`account_key`, `proxy_url`); those of sessions have dots.
fn is_bare_option(name: &str) -> bool {
    !name.contains('.')
        && (is_ours(name)
            || AmazonS3ConfigKey::from_str(name).is_ok()
            || AzureConfigKey::from_str(name).is_ok())
}

/// What stands in the place of a value that is not to be shown, as Spark writes it.
pub const REDACTED: &str = "*********(redacted)";

/// Whether the value of an option or a setting is not to be shown: its name says so, it is of an object store and not about
/// where that is (signatures, keys and passwords stand under many names), or there is a user in an address.
pub fn is_secret(name: &str, value: &str) -> bool {
    let lower = name.to_lowercase();
    let of_store = is_cloud_option(name);
    names_secret(name)
        || (of_store && (!PLACES.iter().any(|word| lower.contains(word)) || has_user(value)))
}

/// Whether the value of a table's property is not to be shown. Its name may be that of an option by chance (`timeout`).
pub fn is_secret_property(name: &str, value: &str) -> bool {
    let lower = name.to_lowercase();
    let keys = || {
        ["key", "sas", "connection_string"]
            .iter()
            .any(|word| lower.contains(word))
    };
    // OPTIONS of CREATE TABLE are kept under this prefix too.
    let plain = lower.strip_prefix("option.").unwrap_or(&lower);
    names_secret(name) || (is_cloud_option(plain) && (keys() || has_user(value)))
}

/// The words of Spark's `spark.redaction.regex`, and one more.
fn names_secret(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["secret", "password", "token", "credential"]
        .iter()
        .any(|word| lower.contains(word))
        || (lower.contains("access") && lower.contains("key"))
}

/// Words in the names of options that say where a store is, not who asks.
const PLACES: &[&str] = &["endpoint", "region"];

/// Whether an address has a user in it, with a password or not.
fn has_user(value: &str) -> bool {
    let after = value.split_once("://").map_or(value, |(_, rest)| rest);
    let authority = after.split(['/', '?', '#']).next().unwrap_or_default();
    // A password may have a slash in it; then what follows the colon is no port.
    let cut = authority
        .split_once(':')
        .is_some_and(|(_, port)| !port.chars().all(|c| c.is_ascii_digit()));
    authority.contains('@') || (cut && after.contains('@'))
}

/// The error of a client that cannot be made from the options that there are.
pub(super) fn refused(place: &str, settings: &Settings, error: object_store::Error) -> DeltaError {
    let text = settings.hide(&without_secrets(&error.to_string()));
    let hint = match text.contains("Account must be specified") {
        true => {
            "set azure_storage_account_name, or name the account in the location: \
             abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH"
        }
        false => {
            "credentials come from AWS_* or AZURE_* variables, or from options of the same names"
        }
    };
    DeltaError::unclassed(
        "java.io.IOException",
        format!("Cannot open {place}: {text}"),
    )
    .with_kind(ErrorKind::Storage)
    .with_path(place)
    .with_hint(hint)
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
    fn values_that_are_secret_are_known_by_name_and_by_content() {
        for (name, value) in [
            ("connection_string", "AccountKey=k"),
            ("fs.s3a.secret.key", "k"),
            ("federated_token", "k"),
            ("aws_endpoint", "http://user:pw@host"),
            ("azure_storage_endpoint", "https://u:p/w@host/x"),
            ("fs.s3a.endpoint", "user:pw@host"),
            ("my.password", "k"),
        ] {
            assert!(is_secret(name, value), "{name}");
        }
        for (name, value) in [
            ("aws_endpoint", "http://host:9000/a@b"),
            ("aws_region", "eu-west-1"),
            ("delta.appendOnly", "true"),
            ("owner", "me@example.org"),
        ] {
            assert!(!is_secret(name, value), "{name}");
        }
        for (name, secret) in [
            ("fs.s3a.secret.key", true),
            ("option.fs.azure.account.key.acc", true),
            ("fs.azure.sas.fixed.acc", true),
            ("my.Token", true),
            ("timeout", false),
            ("bucket", false),
            ("primary.key", false),
        ] {
            assert_eq!(is_secret_property(name, "x"), secret, "{name}");
        }
    }
}
