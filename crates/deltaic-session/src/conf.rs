//! The settings of one session: what was set, over what the session started with, over the known defaults.

use std::collections::BTreeMap;
use std::str::FromStr;

use deltaic_command::Profile;
use deltaic_command::conf::{self, ConfType};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::cloud::{REDACTED, is_secret, is_secret_property};

const PROFILE: &str = "deltaic.profile";
const ZONE: &str = "spark.sql.session.timeZone";
/// Prefix of Delta's settings.
pub(crate) const DELTA: &str = "spark.databricks.delta.";
/// Prefix of the settings that give new tables their properties.
pub(crate) const TABLE_DEFAULTS: &str = "spark.databricks.delta.properties.defaults.";

/// Settings; cheap enough to copy once per statement.
#[derive(Debug, Clone, Default)]
pub struct SessionConf {
    initial: BTreeMap<String, String>,
    values: BTreeMap<String, String>,
}

impl SessionConf {
    /// Settings of a new session; each value is checked, static ones are allowed here.
    ///
    /// # Errors
    /// A value that its key does not take.
    pub fn new(initial: impl IntoIterator<Item = (String, String)>) -> Result<Self> {
        let mut settings = SessionConf::default();
        for (key, value) in initial {
            if conf::entry(&key).is_none_or(|entry| entry.conf_type != ConfType::Static) {
                settings.check(&key, &value)?;
            }
            settings.initial.insert(key, value);
        }
        settings.values = settings.initial.clone();
        Ok(settings)
    }

    /// The value of a key: what was set, else the default.
    pub fn get(&self, key: &str) -> Option<String> {
        match self.values.get(key) {
            Some(value) => Some(value.clone()),
            None => conf::entry(key)
                .and_then(|entry| entry.default)
                .map(str::to_owned),
        }
    }

    /// What was set, by key.
    pub fn explicit(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// All known settings with their present value and what they are for.
    pub fn documented(&self) -> Vec<(String, String, String)> {
        conf::entries()
            .map(|entry| {
                let value = self
                    .get(entry.key)
                    .unwrap_or_else(|| "<undefined>".to_owned());
                (entry.key.to_owned(), value, type_words(&entry.conf_type))
            })
            .collect()
    }

    /// Sets a key.
    ///
    /// # Errors
    /// A value that its key does not take.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        self.check(key, value)?;
        self.values.insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    /// Notes something that the session itself found out, unchecked.
    pub(crate) fn note(&mut self, key: &str, value: String) {
        self.values.insert(key.to_owned(), value);
    }

    /// Takes a key back to its value at the start of the session.
    ///
    /// # Errors
    /// A key that is fixed.
    pub fn reset(&mut self, key: &str) -> Result<()> {
        if let Some(entry) = conf::entry(key)
            && entry.conf_type == ConfType::Static
        {
            return entry.check("", self.profile());
        }
        match self.initial.get(key) {
            Some(value) => self.values.insert(key.to_owned(), value.clone()),
            None => self.values.remove(key),
        };
        Ok(())
    }

    /// Takes a key back to its default, whatever the session started with.
    pub(crate) fn unset(&mut self, key: &str) {
        self.values.remove(key);
    }

    /// Takes everything back.
    pub fn reset_all(&mut self) {
        self.values = self.initial.clone();
    }

    /// A switch; false where the key is unknown.
    pub fn flag(&self, key: &str) -> bool {
        self.get(key)
            .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
    }

    /// One of Delta's switches, by its name after `spark.databricks.delta.`.
    pub fn delta(&self, name: &str) -> bool {
        self.flag(&format!("{DELTA}{name}"))
    }

    /// The release that answers follow.
    pub fn profile(&self) -> Profile {
        self.get(PROFILE)
            .and_then(|text| Profile::from_str(&text).ok())
            .unwrap_or_default()
    }

    /// Name of the session's zone, as it was set.
    pub fn zone_name(&self) -> String {
        self.get(ZONE).unwrap_or_else(|| "UTC".to_owned())
    }

    /// The session's zone.
    pub fn zone(&self) -> Zone {
        Zone::parse(&self.zone_name()).unwrap_or_default()
    }

    /// Properties that new tables get: key without `delta.` and value, in the order of their keys.
    pub fn table_defaults(&self) -> Vec<(String, String)> {
        self.values
            .range(TABLE_DEFAULTS.to_owned()..)
            .map_while(|(key, value)| {
                key.strip_prefix(TABLE_DEFAULTS)
                    .map(|name| (name.to_owned(), value.clone()))
            })
            .collect()
    }

    /// A value as `SET` prints it: secrets are hidden.
    pub fn shown(key: &str, value: &str) -> String {
        match is_secret(key, value) {
            true => REDACTED.to_owned(),
            false => value.to_owned(),
        }
    }

    /// A property of a table, view or schema as statements print it. As in Spark a word of a secret in the value hides it
    /// too, and so does `url` (`spark.sql.redaction.options.regex`).
    pub fn shown_property(key: &str, value: &str) -> String {
        let named = |text: &str| {
            let text = text.to_lowercase();
            [
                "secret",
                "password",
                "token",
                "accesskey",
                "access.key",
                "url",
            ]
            .iter()
            .any(|word| text.contains(word))
        };
        match named(key) || named(value) || is_secret_property(key, value) {
            true => REDACTED.to_owned(),
            false => value.to_owned(),
        }
    }

    fn check(&self, key: &str, value: &str) -> Result<()> {
        let Some(entry) = conf::entry(key) else {
            return Ok(());
        };
        if entry.conf_type == ConfType::Zone && Zone::parse(value).is_none() {
            return Err(DeltaError::new("INVALID_CONF_VALUE.TIME_ZONE")
                .param("confName", key)
                .param("confValue", value));
        }
        entry.check(value, self.profile())
    }
}

fn type_words(conf_type: &ConfType) -> String {
    match conf_type {
        ConfType::Boolean => "true or false".to_owned(),
        ConfType::Int | ConfType::Long => "a whole number".to_owned(),
        ConfType::Double => "a number".to_owned(),
        ConfType::Bytes => "a number of bytes, with a unit or without".to_owned(),
        ConfType::Zone => "a time zone: a region or an offset".to_owned(),
        ConfType::Choice(words) => format!("one of {}", words.join(", ")),
        ConfType::Profile => {
            "the release whose answers are given: delta-4.3 or delta-4.0".to_owned()
        }
        ConfType::Static => "fixed when the session starts".to_owned(),
        ConfType::Text => String::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn a_value_is_what_was_set_else_the_default_else_nothing() {
        let mut conf = SessionConf::new([("a".to_owned(), "1".to_owned())]).unwrap();
        assert_eq!(conf.get("a").unwrap(), "1");
        assert_eq!(
            conf.get("spark.databricks.delta.retentionDurationCheck.enabled")
                .unwrap(),
            "true"
        );
        assert_eq!(conf.get("no.such.key"), None);
        conf.set("a", "2").unwrap();
        conf.reset("a").unwrap();
        assert_eq!(conf.get("a").unwrap(), "1");
    }

    #[test]
    fn an_unknown_zone_is_refused() {
        let error = SessionConf::default()
            .set(ZONE, "Mars/Olympus")
            .unwrap_err();
        assert_eq!(error.class(), Some("INVALID_CONF_VALUE.TIME_ZONE"));
    }

    #[test]
    fn defaults_for_new_tables_lose_their_prefix() {
        let mut conf = SessionConf::default();
        conf.set(
            "spark.databricks.delta.properties.defaults.appendOnly",
            "true",
        )
        .unwrap();
        assert_eq!(
            conf.table_defaults(),
            [("appendOnly".to_owned(), "true".to_owned())]
        );
    }

    #[test]
    fn secrets_are_not_printed() {
        assert_eq!(
            SessionConf::shown("fs.access.key", "x"),
            "*********(redacted)"
        );
        assert_eq!(SessionConf::shown("spark.app.name", "x"), "x");
        for name in [
            "spark.hadoop.fs.azure.account.key.a.dfs.core.windows.net",
            "account_key",
            "sas_key",
            "proxy_url",
        ] {
            assert_eq!(
                SessionConf::shown(name, "x"),
                "*********(redacted)",
                "{name}"
            );
        }
        assert_eq!(SessionConf::shown("fs.s3a.endpoint", "x"), "x");
        assert_eq!(
            SessionConf::shown("aws_endpoint", "http://u:pw@h"),
            REDACTED
        );
    }

    #[test]
    fn properties_that_are_secret_are_not_printed() {
        for (key, value) in [
            ("fs.s3a.secret.key", "x"),
            ("jdbc", "jdbc:h2?password=x"),
            ("URL", "x"),
            ("fs.azure.account.key.acc.dfs.core.windows.net", "x"),
        ] {
            assert_eq!(SessionConf::shown_property(key, value), REDACTED, "{key}");
        }
        assert_eq!(
            SessionConf::shown_property("delta.appendOnly", "true"),
            "true"
        );
    }
}
