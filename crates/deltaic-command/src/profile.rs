//! Which release of the reference the answers follow where releases differ.

use std::str::FromStr;

/// A release of Delta Lake whose behaviour and texts are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Profile {
    /// Spark 4.1 with Delta Lake 4.3.
    #[default]
    Delta43,
    /// Spark 4.0 with Delta Lake 4.0.
    Delta40,
}

impl Profile {
    /// The name as options and settings spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Profile::Delta43 => "delta-4.3",
            Profile::Delta40 => "delta-4.0",
        }
    }

    /// The release of Delta Lake, as its messages name it.
    pub fn delta_version(self) -> &'static str {
        match self {
            Profile::Delta43 => "4.3.0",
            Profile::Delta40 => "4.0.1",
        }
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "delta-4.3" | "delta-4.3.0" => Ok(Profile::Delta43),
            "delta-4.0" | "delta-4.0.1" => Ok(Profile::Delta40),
            other => Err(format!(
                "unknown profile {other}; known are delta-4.3 and delta-4.0"
            )),
        }
    }
}
