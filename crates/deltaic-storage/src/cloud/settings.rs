//! The options of object stores and the variables of the environment behind them, by one spelling of their names.

use std::collections::BTreeMap;
use std::fmt;

use deltaic_protocol::error::{DeltaError, ErrorKind, Result};

/// Options by name, as they were given. Printing them shows names only: among the values are keys and tokens.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct CloudOptions(BTreeMap<String, String>);

impl CloudOptions {
    /// No options: the environment alone says how object stores are reached.
    pub fn new() -> CloudOptions {
        CloudOptions::default()
    }

    /// Sets an option; the value that it had before, if any.
    pub fn insert(&mut self, name: String, value: String) -> Option<String> {
        self.0.insert(name, value)
    }

    /// The value of the option that was given under this very name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Names and values, for those who pass them on.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Takes an option out.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }
}

impl FromIterator<(String, String)> for CloudOptions {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(options: I) -> CloudOptions {
        CloudOptions(options.into_iter().collect())
    }
}

impl Extend<(String, String)> for CloudOptions {
    fn extend<I: IntoIterator<Item = (String, String)>>(&mut self, options: I) {
        self.0.extend(options);
    }
}

impl fmt::Debug for CloudOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Variables whose names do not begin with `AWS_` or `AZURE_`.
const OTHER_VARIABLES: [&str; 6] = [
    "HOME",
    "USERPROFILE",
    "S3_LOCKING_PROVIDER",
    "DELTA_DYNAMO_TABLE_NAME",
    "IDENTITY_ENDPOINT",
    "IDENTITY_HEADER",
];

/// Options and environment together; an option wins over a variable. Names are in lower case and without
/// `spark.hadoop.` in front.
pub(super) struct Settings {
    options: BTreeMap<String, String>,
    environment: BTreeMap<String, String>,
}

impl Settings {
    /// With the environment of this process.
    pub(super) fn new(options: &CloudOptions) -> Settings {
        // A variable that is no text means nothing here.
        let environment = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Settings::with_environment(options, environment)
    }

    /// With an environment that is given.
    pub(super) fn with_environment(
        options: &CloudOptions,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Settings {
        let ours = |name: &str| {
            name.starts_with("AWS_")
                || name.starts_with("AZURE_")
                || OTHER_VARIABLES.contains(&name)
        };
        Settings {
            options: options
                .0
                .iter()
                .map(|(name, value)| (plain_name(name), without_end(value)))
                .collect(),
            environment: environment
                .into_iter()
                .map(|(name, value)| (name, without_end(&value)))
                .filter(|(name, value)| ours(name) && !value.is_empty())
                .map(|(name, value)| (name.to_lowercase(), value))
                .collect(),
        }
    }

    /// The option of the first of these names that is given.
    pub(super) fn option(&self, names: &[&str]) -> Option<&str> {
        first(&self.options, names).map(|(_, value)| value)
    }

    /// The variable of the first of these names (in lower case) that is set.
    pub(super) fn variable(&self, names: &[&str]) -> Option<&str> {
        first(&self.environment, names).map(|(_, value)| value)
    }

    /// An option, or else a variable.
    pub(super) fn get(&self, names: &[&str]) -> Option<&str> {
        self.named(names).map(|(_, value)| value)
    }

    /// The same, with the name under which it was found.
    pub(super) fn named(&self, names: &[&str]) -> Option<(&str, &str)> {
        first(&self.options, names).or_else(|| first(&self.environment, names))
    }

    /// The same, with the options that Hadoop's names keep for one bucket (`fs.s3a.bucket.NAME.endpoint`) in place of
    /// the general ones.
    pub(super) fn for_bucket(&self, bucket: &str) -> Settings {
        let mine = format!("fs.s3a.bucket.{}.", bucket.to_lowercase());
        let mut options = self.options.clone();
        for (name, value) in &self.options {
            if let Some(rest) = name.strip_prefix(&mine) {
                options.insert(format!("fs.s3a.{rest}"), value.clone());
            }
        }
        Settings {
            options,
            environment: self.environment.clone(),
        }
    }

    /// A text without the values of settings, but for those that say where a server is. Which of the others is a secret
    /// cannot be known: it may stand under a wrong name.
    pub(super) fn hide(&self, text: &str) -> String {
        let told = |name: &str| {
            ["endpoint", "region", "account_name", "home", "profile"]
                .iter()
                .any(|word| name.contains(word))
        };
        self.environment
            .iter()
            .chain(&self.options)
            .filter(|(name, value)| !told(name) && value.len() > 5)
            .fold(text.to_owned(), |text, (_, value)| text.replace(value, "…"))
    }

    /// All options.
    pub(super) fn options(&self) -> impl Iterator<Item = (&str, &str)> {
        self.options
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// All variables.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.environment
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// A value without the line break that a file or a command has left at its end.
fn without_end(value: &str) -> String {
    value.trim_end().to_owned()
}

fn first<'a>(values: &'a BTreeMap<String, String>, names: &[&str]) -> Option<(&'a str, &'a str)> {
    names
        .iter()
        .find_map(|name| values.get_key_value(*name))
        .map(|(name, value)| (name.as_str(), value.as_str()))
}

/// Settings for tests.
#[cfg(test)]
pub(super) fn of(options: &[(&str, &str)], environment: &[(&str, &str)]) -> Settings {
    let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    Settings::with_environment(&CloudOptions::from_iter(owned(options)), owned(environment))
}

pub(super) fn plain_name(name: &str) -> String {
    let lower = name.to_lowercase();
    lower
        .strip_prefix("spark.hadoop.")
        .map(str::to_owned)
        .unwrap_or(lower)
}

/// Whether a value says yes, as object_store and Hadoop write it.
pub(super) fn is_true(text: &str) -> bool {
    matches!(
        text.trim().to_ascii_lowercase().as_str(),
        "true" | "1" | "on" | "yes" | "y"
    )
}

/// That a text is the address of a server, of which requests can be made.
///
/// # Errors
/// It is none: the name of the option it comes from is told, not the text, in which there may be a password.
pub(super) fn check_address(place: &str, name: &str, text: &str) -> Result<()> {
    let is_web = url::Url::parse(text)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    match is_web && text.parse::<http::Uri>().is_ok() {
        true => Ok(()),
        false => Err(invalid(
            place,
            name,
            "the address of a server, such as https://HOST:PORT",
        )),
    }
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
