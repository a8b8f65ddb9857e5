//! How long files are kept: RETAIN, the table's property and the safety check (spec: delta, section 2.2).

use deltaic_command::Profile;
use deltaic_protocol::error::{DeltaError, Result};

use super::VacuumOptions;

const HOUR_MS: i64 = 3_600_000;

/// The retention that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// From RETAIN, where it has an effect; milliseconds.
    pub specified_ms: Option<i64>,
    /// From the table's property; milliseconds.
    pub configured_ms: i64,
    /// The present.
    pub now_ms: i64,
    /// Older than this may go; milliseconds since 1970-01-01 UTC.
    pub cutoff_ms: i64,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Retention {
    /// The cutoff under another value of the table's property (it may have been changed meanwhile); never later than before.
    pub fn cutoff_with(&self, configured_ms: i64) -> i64 {
        match self.specified_ms {
            Some(_) => self.cutoff_ms,
            None => self
                .cutoff_ms
                .min(self.now_ms.saturating_sub(configured_ms)),
        }
    }
}

/// Decides what counts.
///
/// # Errors
/// A negative retention, or one shorter than the table's while the check is on.
pub fn resolve(
    retain_hours: Option<f64>,
    configured_ms: i64,
    now_ms: i64,
    options: &VacuumOptions,
) -> Result<Retention> {
    let mut notes = Vec::new();
    let mut specified_ms = retain_hours.map(|hours| round(hours).saturating_mul(HOUR_MS));
    if options.profile == Profile::Delta43
        && options.ignore_retention_window
        && specified_ms.is_some_and(|ms| ms != 0)
    {
        specified_ms = None;
        notes.push(format!(
            "RETAIN with a value other than 0 hours has no effect: files are kept for {} hours, as the table property \
             delta.deletedFileRetentionDuration says",
            hours_up(configured_ms)
        ));
    }
    if let Some(specified) = specified_ms {
        if specified < 0 {
            return Err(negative(options.profile));
        }
        if options.retention_check && specified < configured_ms {
            return Err(too_short(options.profile, configured_ms));
        }
    }
    let cutoff_ms = now_ms.saturating_sub(specified_ms.unwrap_or(configured_ms));
    Ok(Retention {
        specified_ms,
        configured_ms,
        now_ms,
        cutoff_ms,
        notes,
    })
}

/// Half up, as `Math.round` of Java; NaN is 0, too large values saturate.
fn round(hours: f64) -> i64 {
    // A float-to-integer cast saturates and takes NaN to 0.
    (hours + 0.5).floor() as i64
}

fn hours_up(ms: i64) -> i64 {
    ms.saturating_add(HOUR_MS - 1).div_euclid(HOUR_MS)
}

fn negative(profile: Profile) -> DeltaError {
    match profile {
        Profile::Delta43 => DeltaError::new("DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE"),
        Profile::Delta40 => DeltaError::requirement("Retention for Vacuum can't be less than 0."),
    }
}

fn too_short(profile: Profile, configured_ms: i64) -> DeltaError {
    let hours = hours_up(configured_ms);
    let error = match profile {
        Profile::Delta43 => DeltaError::new("DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT")
            .param("configuredRetentionHours", hours),
        Profile::Delta40 => DeltaError::requirement(format!(
            "Are you sure you would like to vacuum files with such a low retention period? If you have\n\
             writers that are currently writing to this table, there is a risk that you may corrupt the\n\
             state of your Delta table.\n\n\
             If you are certain that there are no operations being performed on this table, such as\n\
             insert/upsert/delete/optimize, then you may turn off this check by setting:\n\
             spark.databricks.delta.retentionDurationCheck.enabled = false\n\n\
             If you are not sure, please use a value not less than \"{hours} hours\".\n       "
        )),
    };
    error.with_hint(format!(
        "leave RETAIN away, use at least {hours} hours, or lower delta.deletedFileRetentionDuration of the table first"
    ))
}
