//! Whether a feature can be dropped, decided by the table's protocol alone.

use deltaic_command::DropFeature;
use deltaic_protocol::action::Protocol;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::feature::{FEATURES, TableFeature};
use deltaic_protocol::properties::{DELTA_PREFIX, TableProperty};

/// The feature that keeps checkpoints where a dropped feature is still in the history.
pub(super) const CHECKPOINT_PROTECTION: &str = "checkpointProtection";

/// The feature that a request means.
///
/// # Errors
/// A table property in place of a feature, a feature that is not known, not in the protocol, not removable, or needed by
/// another one; `TRUNCATE HISTORY` where it means nothing, or its absence where only it can work.
pub fn removable(protocol: &Protocol, request: &DropFeature) -> Result<&'static TableFeature> {
    let name = request.feature.as_str();
    let present = protocol.supported_features().iter().any(|f| f == name);
    let named = |class: &'static str| DeltaError::new(class).param("feature", name);
    let is_delta = name.to_ascii_lowercase().starts_with(DELTA_PREFIX);
    if !present && is_delta && TableProperty::find(name).is_some() {
        return Err(
            DeltaError::new("DELTA_FEATURE_DROP_FEATURE_IS_DELTA_PROPERTY").param("property", name),
        );
    }
    let Some(feature) = TableFeature::find(name) else {
        return Err(named("DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE"));
    };
    if !present {
        return Err(named("DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"));
    }
    if !feature.removable {
        return Err(named("DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE"));
    }
    let is_protection = feature.name == CHECKPOINT_PROTECTION;
    if request.truncate_history && !needs_history(feature) && !is_protection {
        return Err(DeltaError::new(
            "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED",
        ));
    }
    if is_protection && !request.truncate_history {
        return Err(DeltaError::new(
            "DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION",
        ));
    }
    let dependent: Vec<&str> = FEATURES
        .iter()
        .filter(|other| other.requires.contains(&feature.name) && protocol.supports(other.name))
        .map(|other| other.name)
        .collect();
    if dependent.is_empty() {
        return Ok(feature);
    }
    Err(DeltaError::new("DELTA_FEATURE_DROP_DEPENDENT_FEATURE")
        .param("feature", feature.name)
        .param("dependentFeatures", dependent.join(", ")))
}

/// Whether old versions cannot be read without knowing the feature, so that something must stand between them and readers
/// that do not.
pub(super) fn needs_history(feature: &TableFeature) -> bool {
    feature.is_reader_writer()
}

/// The protocol without the feature; with the one that protects checkpoints where the history stays.
pub(super) fn downgraded(
    protocol: &Protocol,
    feature: &TableFeature,
    protect_history: bool,
) -> Protocol {
    let mut names = protocol.supported_features();
    if protect_history && !names.iter().any(|name| name == CHECKPOINT_PROTECTION) {
        names.push(CHECKPOINT_PROTECTION.to_owned());
    }
    names.retain(|name| name != feature.name);
    Protocol::of_features(&names)
}
