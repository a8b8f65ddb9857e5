//! How long requests to an object store may take, and how often they are repeated.

use std::collections::BTreeMap;
use std::time::Duration;

use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use object_store::{BackoffConfig, RetryConfig};
use tokio::time::Instant;

/// The bounds of one operation. Each is an option in any case, with or without `aws_` or `azure_` in front, and a variable
/// of the environment with it (`AWS_RETRY_TIMEOUT`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// `retry_timeout`: how long an operation may take with all its repetitions; 60 seconds.
    pub patience: Duration,
    /// `max_retries`: repetitions of a request that was refused or failed for now; 8.
    pub retries: usize,
    /// `timeout`: how long one request may take; object_store's 30 seconds, or `retry_timeout` where that is shorter.
    pub request: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            patience: Duration::from_secs(60),
            retries: 8,
            request: None,
        }
    }
}

/// Waits between our own tries, where the client has given up.
const PAUSES: [Duration; 5] = [
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(2),
    Duration::from_secs(5),
];
/// The longest pause between two tries of the client.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// What object_store allows one request.
const REQUEST: Duration = Duration::from_secs(30);

impl Limits {
    /// The limits in options, else in the environment.
    ///
    /// # Errors
    /// A value that is no number or no duration (`30s`, `500ms`, `2 minutes`).
    pub(super) fn of(options: &BTreeMap<String, String>) -> Result<Limits> {
        let mut limits = Limits::default();
        let find = |name: &str| find(options, name);
        if let Some((name, text)) = find("retry_timeout") {
            limits.patience = duration(&text).ok_or_else(|| wrong(&name, &text))?;
        }
        if let Some((name, text)) = find("max_retries") {
            limits.retries = text.trim().parse().map_err(|_| wrong(&name, &text))?;
        }
        // Given to the client as it is; read here so that it is not replaced.
        if let Some((name, text)) = find("timeout") {
            limits.request = Some(duration(&text).ok_or_else(|| wrong(&name, &text))?);
        }
        Ok(limits)
    }

    /// One request's time.
    pub(super) fn request(&self) -> Duration {
        self.request.unwrap_or(REQUEST.min(self.patience))
    }

    /// The wait before our own try of this number (the first is 0) of something that has been failing since then; nothing
    /// where it is time to give up. The client had half of the time for its first try.
    pub(super) fn pause(&self, number: usize, failing: Instant) -> Option<Duration> {
        let pause = *PAUSES.get(number)?;
        (failing.elapsed() + pause < self.patience / 2).then_some(pause)
    }

    /// The client's own repetitions. They take half of the time: what is unclear after them is looked at in the other half.
    pub(super) fn retry(&self) -> RetryConfig {
        RetryConfig {
            backoff: BackoffConfig {
                max_backoff: LONGEST_PAUSE.min(self.patience / 8),
                ..BackoffConfig::default()
            },
            max_retries: self.retries,
            retry_timeout: self.patience / 2,
        }
    }
}

fn find(options: &BTreeMap<String, String>, name: &str) -> Option<(String, String)> {
    let mine = |key: &str| {
        let key = key.to_lowercase();
        let bare = key
            .strip_prefix("aws_")
            .or_else(|| key.strip_prefix("azure_"))
            .unwrap_or(&key);
        bare == name
    };
    if let Some((key, value)) = options.iter().find(|(key, _)| mine(key)) {
        return Some((key.clone(), value.clone()));
    }
    ["AWS", "AZURE"].iter().find_map(|prefix| {
        let variable = format!("{prefix}_{}", name.to_uppercase());
        std::env::var(&variable).ok().map(|value| (variable, value))
    })
}

/// `30`, `30s`, `500ms`, `2 minutes`: the forms that object_store and deltalake have in common.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let at = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(at);
    let number: u64 = digits.parse().ok()?;
    Some(match unit.trim().to_lowercase().as_str() {
        "" | "s" | "sec" | "secs" | "second" | "seconds" => Duration::from_secs(number),
        "ms" | "msec" | "millis" | "milliseconds" => Duration::from_millis(number),
        "m" | "min" | "mins" | "minute" | "minutes" => Duration::from_secs(number.checked_mul(60)?),
        _ => return None,
    })
}

fn wrong(name: &str, text: &str) -> DeltaError {
    DeltaError::unclassed(
        "java.lang.IllegalArgumentException",
        format!("The storage option {name} cannot be {text:?}"),
    )
    .with_kind(ErrorKind::Analysis)
    .with_hint("durations are written 30s, 500ms or 2 minutes, numbers in digits")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Duration;

    use super::{BTreeMap, Limits, duration};

    fn of(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, millis) in [
            ("30", 30_000),
            (" 2s", 2000),
            ("500ms", 500),
            ("2 minutes", 120_000),
        ] {
            assert_eq!(
                duration(text),
                Some(Duration::from_millis(millis)),
                "{text}"
            );
        }
        for text in ["", "s", "-1s", "1.5s", "1 fortnight"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn limits_come_from_options_of_any_family() {
        let limits = Limits::of(&of(&[("AWS_RETRY_TIMEOUT", "4s"), ("max_retries", "2")])).unwrap();
        assert_eq!(
            (limits.patience, limits.retries),
            (Duration::from_secs(4), 2)
        );
        assert_eq!(limits.request(), Duration::from_secs(4));
        assert_eq!(limits.retry().retry_timeout, Duration::from_secs(2));
        let limits = Limits::of(&of(&[("azure_timeout", "90s")])).unwrap();
        assert_eq!(limits.request(), Duration::from_secs(90));
        let error = Limits::of(&of(&[("retry_timeout", "soon")])).unwrap_err();
        assert!(error.text().contains("retry_timeout") && error.hint().is_some());
    }
}
