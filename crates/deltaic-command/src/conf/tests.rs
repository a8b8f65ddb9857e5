//! Known settings, and which values they take.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

fn refused(key: &str, value: &str, profile: Profile) -> String {
    entry(key)
        .unwrap()
        .check(value, profile)
        .unwrap_err()
        .to_string()
}

#[test]
fn known_settings_have_their_types_and_defaults() {
    let check = entry("spark.databricks.delta.retentionDurationCheck.enabled").unwrap();
    assert_eq!(
        (check.conf_type.clone(), check.default),
        (ConfType::Boolean, Some("true"))
    );
    assert_eq!(
        entry("spark.databricks.delta.commitInfo.userMetadata")
            .unwrap()
            .default,
        None
    );
    assert_eq!(entry("no.such.key"), None);
    assert!(entries().count() > 300);
}

#[test]
fn every_default_is_a_value_of_its_type() {
    for entry in entries() {
        if let Some(default) = entry.default
            && entry.conf_type != ConfType::Static
        {
            entry.check(default, Profile::Delta43).unwrap();
        }
    }
}

#[test]
fn a_value_of_another_type_is_refused_in_the_words_of_the_release() {
    assert_eq!(
        refused("spark.sql.shuffle.partitions", "many", Profile::Delta43),
        "[INVALID_CONF_VALUE.TYPE_MISMATCH] The value 'many' in the config \"spark.sql.shuffle.partitions\" is invalid. \
         It should be a/an 'int' value. SQLSTATE: 22022"
    );
    assert_eq!(
        refused("spark.sql.shuffle.partitions", "many", Profile::Delta40),
        "spark.sql.shuffle.partitions should be int, but was many"
    );
    assert!(
        refused(
            "spark.sql.sources.partitionOverwriteMode",
            "some",
            Profile::Delta43
        )
        .contains("'STATIC, DYNAMIC'")
    );
    assert!(
        refused("deltaic.profile", "delta-9", Profile::Delta43).contains("unknown profile delta-9")
    );
}

#[test]
fn sizes_have_units() {
    assert_eq!(bytes("64m"), Some(64 << 20));
    assert_eq!(bytes("10485760b"), Some(10_485_760));
    assert_eq!(bytes("-1"), Some(-1));
    assert_eq!(bytes("many"), None);
}
