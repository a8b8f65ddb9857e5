//! The settings of a session that this project knows: key, type, default (spec: delta, appendix B, and Spark's own that
//! scripts set). The table lies beside this file, one key a line: `key type default`, `-` where there is no default.
//!
//! Only the session reads settings; commands receive plain options.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::LazyLock;

use deltaic_protocol::error::{DeltaError, Result};

use crate::profile::Profile;

/// What values a setting takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfType {
    Boolean,
    Int,
    Long,
    Double,
    /// A number of bytes, with a unit or without: `64m`.
    Bytes,
    Text,
    /// A time zone: a region or an offset.
    Zone,
    /// One of these words, in any case.
    Choice(Vec<&'static str>),
    /// Our own: which release of the reference is followed.
    Profile,
    /// Fixed when the session starts.
    Static,
}

/// A known setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfEntry {
    /// The key in its usual spelling; keys are case-sensitive.
    pub key: &'static str,
    /// What values it takes.
    pub conf_type: ConfType,
    /// The value where none was set.
    pub default: Option<&'static str>,
}

static ENTRIES: LazyLock<BTreeMap<&'static str, ConfEntry>> = LazyLock::new(|| {
    let text = [
        include_str!("conf/delta.keys"),
        include_str!("conf/spark.keys"),
    ];
    text.iter()
        .flat_map(|text| text.lines())
        .filter_map(read_line)
        .map(|entry| (entry.key, entry))
        .collect()
});

/// The entry of a key.
pub fn entry(key: &str) -> Option<&'static ConfEntry> {
    ENTRIES.get(key)
}

/// All known settings, by key.
pub fn entries() -> impl Iterator<Item = &'static ConfEntry> {
    ENTRIES.values()
}

impl ConfEntry {
    /// Whether the setting takes this value.
    ///
    /// # Errors
    /// `INVALID_CONF_VALUE` with its sub-class, or the text without class that releases before 4.1 give.
    pub fn check(&self, value: &str, profile: Profile) -> Result<()> {
        let value = value.trim();
        match &self.conf_type {
            ConfType::Boolean => match value.to_ascii_lowercase().as_str() {
                "true" | "false" => Ok(()),
                _ => Err(self.mismatch(value, "boolean", profile)),
            },
            ConfType::Int => self.number::<i32>(value, "int", profile),
            ConfType::Long => self.number::<i64>(value, "long", profile),
            ConfType::Double => self.number::<f64>(value, "double", profile),
            ConfType::Bytes => match bytes(value) {
                Some(_) => Ok(()),
                None => Err(self.mismatch(value, "bytes", profile)),
            },
            ConfType::Choice(options) => {
                let upper = value.to_ascii_uppercase();
                if options
                    .iter()
                    .any(|option| option.eq_ignore_ascii_case(value))
                {
                    Ok(())
                } else {
                    Err(self.out_of_range(&upper, options, profile))
                }
            }
            ConfType::Profile => Profile::from_str(value)
                .map(|_| ())
                .map_err(|text| self.requirement(value, &text)),
            ConfType::Static => Err(DeltaError::new("CANNOT_MODIFY_CONFIG")
                .param("key", format!("\"{}\"", self.key))
                .param("docroot", "https://spark.apache.org/docs/latest")),
            ConfType::Text | ConfType::Zone => Ok(()),
        }
    }

    fn number<N: FromStr + PartialOrd + Default>(
        &self,
        value: &str,
        name: &str,
        profile: Profile,
    ) -> Result<()> {
        match value.parse::<N>() {
            Ok(number) if self.key == "spark.sql.shuffle.partitions" && number <= N::default() => {
                Err(self.requirement(
                    value,
                    "The value of spark.sql.shuffle.partitions must be positive",
                ))
            }
            Ok(_) => Ok(()),
            Err(_) => Err(self.mismatch(value, name, profile)),
        }
    }

    fn mismatch(&self, value: &str, name: &str, profile: Profile) -> DeltaError {
        if profile == Profile::Delta40 {
            let text = format!("{} should be {name}, but was {value}", self.key);
            return DeltaError::unclassed("java.lang.IllegalArgumentException", text);
        }
        DeltaError::new("INVALID_CONF_VALUE.TYPE_MISMATCH")
            .param("confName", self.key)
            .param("confValue", value)
            .param("confType", name)
    }

    fn out_of_range(&self, value: &str, options: &[&str], profile: Profile) -> DeltaError {
        let options = options.join(", ");
        if profile == Profile::Delta40 {
            let text = format!(
                "The value of {} should be one of {options}, but was {value}",
                self.key
            );
            return DeltaError::unclassed("java.lang.IllegalArgumentException", text);
        }
        DeltaError::new("INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS")
            .param("confName", self.key)
            .param("confValue", value)
            .param("confOptions", options)
    }

    fn requirement(&self, value: &str, text: &str) -> DeltaError {
        DeltaError::new("INVALID_CONF_VALUE.REQUIREMENT")
            .param("confName", self.key)
            .param("confValue", value)
            .param("confRequirement", text)
    }
}

/// Reads `64m`, `10485760b`, `-1`: a number of bytes.
pub fn bytes(text: &str) -> Option<i64> {
    let text = text.trim().to_ascii_lowercase();
    let split = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let factor = match unit {
        "" | "b" => 1,
        "k" | "kb" => 1 << 10,
        "m" | "mb" => 1 << 20,
        "g" | "gb" => 1 << 30,
        "t" | "tb" => 1 << 40,
        "p" | "pb" => 1 << 50,
        _ => return None,
    };
    digits.trim().parse::<i64>().ok()?.checked_mul(factor)
}

fn read_line(line: &'static str) -> Option<ConfEntry> {
    let (key, rest) = line.split_once(' ')?;
    let (name, default) = rest.split_once(' ')?;
    let conf_type = match name {
        "boolean" => ConfType::Boolean,
        "int" => ConfType::Int,
        "long" => ConfType::Long,
        "double" => ConfType::Double,
        "bytes" => ConfType::Bytes,
        "zone" => ConfType::Zone,
        "profile" => ConfType::Profile,
        "static" => ConfType::Static,
        other => match other.strip_prefix("choice:") {
            Some(words) => ConfType::Choice(words.split(',').collect()),
            None => ConfType::Text,
        },
    };
    Some(ConfEntry {
        key,
        conf_type,
        default: (default != "-").then_some(default),
    })
}
