//! What CREATE and ALTER take, and the words in which they refuse.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

fn alter(pairs: &[(&str, &str)]) -> Result<PropertyChanges> {
    PropertyChanges::for_alter(pairs.iter().copied(), &PropertyRules::default())
}

fn create(pairs: &[(&str, &str)]) -> Result<PropertyChanges> {
    PropertyChanges::for_create([], pairs.iter().copied(), &PropertyRules::default())
}

fn refused(pairs: &[(&str, &str)]) -> String {
    alter(pairs).unwrap_err().to_string()
}

#[test]
fn every_default_is_a_value() {
    for property in PROPERTIES {
        if let Some(default) = property.default {
            property
                .validate(default)
                .unwrap_or_else(|e| panic!("{}: {e}", property.key));
        }
        assert!(TableProperty::find(&property.key.to_uppercase()).is_some());
    }
}

#[test]
fn values_are_stored_as_typed_under_the_canonical_key() {
    let changes = alter(&[
        ("DELTA.LOGRETENTIONDURATION", "interval 90 days"),
        ("my.Own", "Kept"),
    ])
    .unwrap();
    let stored: Vec<_> = changes
        .stored
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .collect();
    assert_eq!(
        stored,
        [
            ("delta.logRetentionDuration", "interval 90 days"),
            ("my.Own", "Kept")
        ]
    );
    for text in [
        "INTERVAL 14 DAYS",
        "14 days",
        "interval 1 week 2 days",
        "interval 1 day 12 hours",
        "interval 0 hours",
        "interval 90 minutes",
    ] {
        let changes = alter(&[("delta.deletedFileRetentionDuration", text)]).unwrap();
        assert_eq!(changes.stored["delta.deletedFileRetentionDuration"], text);
    }
}

#[test]
fn alter_wraps_what_has_no_class_and_create_does_not() {
    let help = "requirement failed: delta.deletedFileRetentionDuration needs to be provided as a calendar interval such as '2 weeks'. Months and years are not accepted. You may specify '365 days' for a year instead.";
    for text in ["interval 1 month", "interval 1 year", "interval -1 days"] {
        let pairs = [("delta.deletedFileRetentionDuration", text)];
        assert_eq!(refused(&pairs), format!("Unsupported table change: {help}"));
        assert_eq!(create(&pairs).unwrap_err().to_string(), help);
    }
    assert_eq!(
        refused(&[("delta.checkpointInterval", "0")]),
        "Unsupported table change: requirement failed: delta.checkpointInterval needs to be a positive integer."
    );
    assert_eq!(
        refused(&[("delta.appendOnly", "maybe")]),
        "Unsupported table change: For input string: \"maybe\""
    );
    assert_eq!(
        refused(&[("delta.minReaderVersion", "9")]),
        "Unsupported table change: requirement failed: delta.minReaderVersion needs to be one of 1, 2, 3."
    );
    assert_eq!(
        refused(&[("delta.deletedFileRetentionDuration", "bananas")]),
        "[DELTA_INVALID_INTERVAL] bananas is not a valid INTERVAL."
    );
    assert_eq!(
        refused(&[("delta.deletedFileRetentionDuration", "")]),
        "[DELTA_INVALID_CALENDAR_INTERVAL_EMPTY] Interval cannot be null or blank."
    );
}

#[test]
fn the_two_retentions_are_held_against_each_other_within_one_statement() {
    let deleted = |text| [("delta.deletedFileRetentionDuration", text)];
    assert_eq!(
        refused(&deleted("interval 45 days")),
        "Unsupported table change: requirement failed: The table property delta.deletedFileRetentionDuration(45 days) needs to be less than or equal to delta.logRetentionDuration(30 days)."
    );
    assert_eq!(
        refused(&[("delta.logRetentionDuration", "interval 5 days")]),
        "Unsupported table change: requirement failed: The table property delta.logRetentionDuration(5 days) needs to be greater than or equal to delta.deletedFileRetentionDuration(7 days)."
    );
    let both = |log, del| {
        [
            ("delta.logRetentionDuration", log),
            ("delta.deletedFileRetentionDuration", del),
        ]
    };
    alter(&both("interval 30 days", "interval 30 days")).unwrap();
    alter(&both("interval 0 hours", "interval 0 hours")).unwrap();
    alter(&deleted("interval 0 hours")).unwrap();
    assert!(alter(&[("delta.logRetentionDuration", "interval 0 hours")]).is_err());
    let old = PropertyRules {
        enforce_retentions: false,
        ..Default::default()
    };
    PropertyChanges::for_alter([("delta.logRetentionDuration", "interval 1 day")], &old).unwrap();
    assert_eq!(
        create(&both("interval 1 days", "interval 14 days"))
            .unwrap_err()
            .to_string(),
        "requirement failed: The table property delta.logRetentionDuration(1 days) needs to be greater than or equal to delta.deletedFileRetentionDuration(14 days)."
    );
}

#[test]
fn unknown_and_internal_keys_are_refused_by_class() {
    let class = |pairs: &[(&str, &str)]| alter(pairs).unwrap_err().class().unwrap().to_owned();
    assert_eq!(
        class(&[("delta.notAProperty", "x")]),
        "DELTA_UNKNOWN_CONFIGURATION"
    );
    assert_eq!(
        class(&[("delta.rowTracking.materializedRowIdColumnName", "x")]),
        "DELTA_UNKNOWN_CONFIGURATION"
    );
    assert_eq!(
        class(&[("delta.columnMapping.maxColumnId", "5")]),
        "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"
    );
    assert_eq!(
        class(&[("delta.constraints.c", "id > 0")]),
        "DELTA_ADD_CONSTRAINTS"
    );
    assert_eq!(
        class(&[("delta.minWriterVersion", "x")]),
        "DELTA_PROTOCOL_PROPERTY_NOT_INT"
    );
    assert_eq!(
        class(&[("delta.feature.deletionVectors", "on")]),
        "DELTA_UNSUPPORTED_FEATURE_STATUS"
    );
    assert_eq!(
        class(&[("delta.isolationLevel", "none")]),
        "DELTA_INVALID_ISOLATION_LEVEL"
    );
    assert_eq!(
        refused(&[("delta.feature.noSuchFeature", "supported")]),
        "[DELTA_UNSUPPORTED_FEATURES_IN_CONFIG] Table features configured in the following Spark configs or Delta table properties are not recognized by this version of Delta Lake: delta.feature.nosuchfeature."
    );
    let loose = PropertyRules {
        allow_arbitrary: true,
        ..Default::default()
    };
    PropertyChanges::for_alter([("delta.notAProperty", "x")], &loose).unwrap();
}

#[test]
fn features_versions_and_comments_are_not_stored() {
    let changes = create(&[
        ("delta.feature.deletionVectors", "supported"),
        ("delta.minReaderVersion", "1"),
        ("comment", "c"),
        ("delta.constraints.ABC", "id > 0"),
    ])
    .unwrap();
    assert_eq!(
        changes.stored.keys().collect::<Vec<_>>(),
        ["delta.constraints.abc"]
    );
    assert_eq!(changes.protocol.features[0].name, "deletionVectors");
    assert_eq!(changes.protocol.min_reader_version, Some(1));
    assert_eq!(changes.comment.as_deref(), Some("c"));
    assert_eq!(changes.recorded[0].0, "delta.feature.deletionvectors");
}

#[test]
fn the_statements_own_values_win_over_the_sessions() {
    let changes = PropertyChanges::for_create(
        [
            ("delta.appendOnly", "true"),
            ("delta.checkpointInterval", "5"),
        ],
        [("delta.appendOnly", "false")],
        &PropertyRules::default(),
    )
    .unwrap();
    assert_eq!(changes.stored["delta.appendOnly"], "false");
    assert_eq!(changes.stored["delta.checkpointInterval"], "5");
    assert_eq!(changes.recorded.len(), 1);
}

#[test]
fn the_old_key_of_the_change_feed_is_known() {
    assert_eq!(
        canonical_key("delta.ENABLEchangeDataCapture"),
        "delta.enableChangeDataFeed"
    );
    assert_eq!(canonical_key("other.Key"), "other.Key");
}
