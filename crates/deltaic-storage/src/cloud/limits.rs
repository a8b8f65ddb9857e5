//! How long requests to an object store may take, and how often they are repeated.

use std::time::Duration;

use deltaic_protocol::error::Result;
use object_store::{BackoffConfig, RetryConfig};
use tokio::time::Instant;

use super::settings::{Settings, invalid};

/// The bounds of one operation. Each is an option, with `aws_` or `azure_` in front as the store is, or without, and a
/// variable of the environment with it (`AWS_RETRY_TIMEOUT`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// `retry_timeout`: how long an operation may take with all its repetitions; 180 seconds, as object_store has it.
    pub patience: Duration,
    /// `max_retries`: repetitions of a request that was refused or failed for now; 8.
    pub retries: usize,
    /// `timeout`: how long one request may take; object_store's 30 seconds, or a quarter of `retry_timeout` where that is
    /// less: a request that nobody answers is made again before the time is over.
    pub request: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            patience: Duration::from_secs(180),
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
    /// The limits in the settings of a store. `kind` is `aws` or `azure`.
    ///
    /// # Errors
    /// A value that is no whole number or no duration (`30s`, `500ms`, `2 minutes`).
    pub(super) fn of(place: &str, settings: &Settings, kind: &str) -> Result<Limits> {
        let mut limits = Limits::default();
        let find = |name: &str| settings.named(&[&format!("{kind}_{name}"), name]);
        let time = |(name, text): (&str, &str)| {
            duration(text)
                .ok_or_else(|| invalid(place, name, "a duration such as 30s, 500ms or 2 minutes"))
        };
        if let Some(found) = find("retry_timeout") {
            limits.patience = time(found)?;
            if limits.patience.is_zero() {
                return Err(invalid(place, found.0, "a duration longer than nothing"));
            }
        }
        limits.request = find("timeout").map(time).transpose()?;
        if let Some((name, _)) = find("timeout")
            && limits.request.is_some_and(|time| time.is_zero())
        {
            return Err(invalid(place, name, "a duration longer than nothing"));
        }
        let number = |(name, text): (&str, &str)| -> Result<usize> {
            text.trim()
                .parse()
                .map_err(|_| invalid(place, name, "a whole number"))
        };
        if let Some(found) = find("max_retries") {
            limits.retries = number(found)?;
        } else if kind == "aws"
            && let Some(found) = settings.named(&["aws_max_attempts", "fs.s3a.attempts.maximum"])
        {
            // The first try counts as an attempt.
            limits.retries = number(found)?.saturating_sub(1);
        }
        Ok(limits)
    }

    /// One request's time.
    pub(super) fn request(&self) -> Duration {
        self.request.unwrap_or(REQUEST.min(self.patience / 4))
    }

    /// The wait before our own further try (the first has number 0) of something that began at `began`; nothing where no
    /// time is left in which the client could do it.
    pub(super) fn pause(&self, number: usize, began: Instant) -> Option<Duration> {
        let pause = *PAUSES.get(number)?;
        (began.elapsed() + pause <= self.patience / 2).then_some(pause)
    }

    /// The client's own repetitions. They take half of the time, the last pause included: what is unclear after them is
    /// looked at in the other half.
    pub(super) fn retry(&self) -> RetryConfig {
        let longest = LONGEST_PAUSE.min(self.patience / 8);
        RetryConfig {
            backoff: BackoffConfig {
                max_backoff: longest,
                ..BackoffConfig::default()
            },
            max_retries: self.retries,
            retry_timeout: self.patience / 2 - longest,
        }
    }
}

/// A number of seconds, or numbers with units: `30`, `30s`, `500ms`, `2 minutes`, `1m 30s`.
fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    if let Ok(seconds) = rest.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest[..digits].parse().ok()?;
        let after = rest[digits..].trim_start();
        let unit = after
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        total = total.checked_add(match after[..unit].to_ascii_lowercase().as_str() {
            "ms" | "msec" | "millis" | "milliseconds" => Duration::from_millis(number),
            "s" | "sec" | "secs" | "second" | "seconds" => Duration::from_secs(number),
            "m" | "min" | "mins" | "minute" | "minutes" => minutes(number, 1)?,
            "h" | "hr" | "hrs" | "hour" | "hours" => minutes(number, 60)?,
            _ => return None,
        })?;
        rest = after[unit..].trim_start();
    }
    (!text.trim().is_empty()).then_some(total)
}

fn minutes(number: u64, each: u64) -> Option<Duration> {
    Some(Duration::from_secs(number.checked_mul(60 * each)?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cloud::CloudOptions;

    fn of(kind: &str, options: &[(&str, &str)], environment: &[(&str, &str)]) -> Result<Limits> {
        let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        let settings = Settings::with_environment(
            &CloudOptions::from_iter(owned(options)),
            owned(environment),
        );
        Limits::of("s3://b", &settings, kind)
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, millis) in [
            ("30", 30_000),
            (" 2s", 2000),
            ("500ms", 500),
            ("250 ms", 250),
            ("2 minutes", 120_000),
            ("2m", 120_000),
            ("1m 30s", 90_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(
                duration(text),
                Some(Duration::from_millis(millis)),
                "{text}"
            );
        }
        for text in ["", " ", "s", "-1s", "1.5s", "1 fortnight", "1m 30", "ü"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn limits_come_from_options_and_variables() {
        let limits = of(
            "aws",
            &[("AWS_RETRY_TIMEOUT", "4s"), ("max_retries", "2")],
            &[("AWS_RETRY_TIMEOUT", "9s"), ("AWS_TIMEOUT", "1s")],
        );
        let limits = limits.unwrap();
        assert_eq!(
            (limits.patience, limits.retries, limits.request()),
            (Duration::from_secs(4), 2, Duration::from_secs(1))
        );
        assert_eq!(limits.retry().retry_timeout, Duration::from_millis(1500));
        assert_eq!(limits.retry().max_retries, 2);
        let limits = of("azure", &[("azure_timeout", "90s")], &[]).unwrap();
        assert_eq!(limits.request(), Duration::from_secs(90));
        let limits = of("azure", &[("retry_timeout", "4s")], &[]).unwrap();
        assert_eq!(limits.request(), Duration::from_secs(1));
    }

    #[test]
    fn limits_of_another_kind_of_store_are_not_ours() {
        let options = [
            ("azure_retry_timeout", "1s"),
            ("fs.s3a.attempts.maximum", "3"),
        ];
        let limits = of("aws", &options, &[("AZURE_MAX_RETRIES", "1")]).unwrap();
        assert_eq!((limits.patience.as_secs(), limits.retries), (180, 2));
        let limits = of("azure", &options, &[]).unwrap();
        assert_eq!((limits.patience.as_secs(), limits.retries), (1, 8));
    }

    #[test]
    fn attempts_are_one_more_than_retries() {
        for (options, retries) in [
            (&[("aws_max_attempts", "5")][..], 4),
            (&[("aws_max_attempts", "0")], 0),
            (&[("aws_max_attempts", "5"), ("max_retries", "7")], 7),
        ] {
            assert_eq!(of("aws", options, &[]).unwrap().retries, retries);
        }
    }

    #[test]
    fn a_value_that_is_none_is_an_error_that_does_not_tell_it() {
        for name in ["retry_timeout", "aws_timeout", "fs.s3a.attempts.maximum"] {
            let error = of("aws", &[(name, "soon")], &[]).unwrap_err();
            assert!(
                error.text().contains(name) && error.hint().is_some(),
                "{error}"
            );
            assert!(!error.text().contains("soon"), "{error}");
        }
    }
}
