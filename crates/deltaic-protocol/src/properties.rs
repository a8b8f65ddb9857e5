//! Table properties `delta.*`: one table of all with type, default, check and help text, and the rules by which CREATE and ALTER take
//! them. What is stored is text, exactly as typed, under the canonical spelling of its key.

mod changes;
mod formats;
mod list;
mod rules;
#[cfg(test)]
mod tests;

pub use changes::{PropertyChanges, PropertyRules, through_alter};
pub(crate) use formats::formats_of;
pub use list::{PROPERTIES, key};

use crate::error::{DeltaError, Result};
use crate::interval::CalendarInterval;

/// Keys of this prefix belong to Delta.
pub const DELTA_PREFIX: &str = "delta.";
/// Keys of this prefix hold CHECK constraints.
pub const CONSTRAINT_PREFIX: &str = "delta.constraints.";

/// Type of a property's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyType {
    Boolean,
    Integer,
    Long,
    /// Spark's interval text.
    Interval,
    Text,
}

/// One property.
#[derive(Debug, Clone, Copy)]
pub struct TableProperty {
    /// Canonical spelling.
    pub key: &'static str,
    /// Other spelling that older versions used.
    pub alternative: Option<&'static str>,
    pub kind: PropertyType,
    /// Text of the default; none where unset means something of its own.
    pub default: Option<&'static str>,
    /// Whether a value of the right type is allowed.
    pub check: fn(&str) -> bool,
    /// What follows the key in the refusal of a value: `needs to be a positive integer.`
    pub help: &'static str,
    /// Whether users may set it.
    pub editable: bool,
    pub doc: &'static str,
}

impl TableProperty {
    /// The property of that key, whatever its case.
    pub fn find(key: &str) -> Option<&'static TableProperty> {
        PROPERTIES.iter().find(|property| {
            property.key.eq_ignore_ascii_case(key)
                || property
                    .alternative
                    .is_some_and(|other| other.eq_ignore_ascii_case(key))
        })
    }

    /// Whether a text is a value. Fails as the reference does: by class for intervals, `For input string: "x"` for booleans,
    /// `<key> <help>` for what is no number, `requirement failed: <key> <help>` for a value that is not allowed.
    pub fn validate(&self, value: &str) -> Result<()> {
        const ILLEGAL: &str = "java.lang.IllegalArgumentException";
        let not_a_number = || DeltaError::unclassed(ILLEGAL, format!("{} {}", self.key, self.help));
        match self.kind {
            PropertyType::Boolean => {
                if parse_boolean(value).is_none() {
                    return Err(DeltaError::unclassed(
                        ILLEGAL,
                        format!("For input string: \"{value}\""),
                    ));
                }
            }
            PropertyType::Integer => {
                if value.parse::<i32>().is_err() {
                    return Err(not_a_number());
                }
            }
            PropertyType::Long => {
                if value.parse::<i64>().is_err() {
                    return Err(not_a_number());
                }
            }
            PropertyType::Interval => {
                let interval = CalendarInterval::parse_property(value)?;
                if !interval.is_valid_retention() {
                    return Err(self.refusal());
                }
            }
            PropertyType::Text => rules::check_text(self, value)?,
        }
        if (self.check)(value) {
            Ok(())
        } else {
            Err(self.refusal())
        }
    }

    fn refusal(&self) -> DeltaError {
        DeltaError::requirement(format!("{} {}", self.key, self.help))
    }
}

/// The key in its canonical spelling; keys that nobody knows stay as they are.
pub fn canonical_key(key: &str) -> &str {
    TableProperty::find(key).map_or(key, |property| property.key)
}

/// `true` or `false` in any case, as Scala reads them.
pub fn parse_boolean(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}
