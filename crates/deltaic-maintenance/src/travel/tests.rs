//! Unit tests of the rules of time travel.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

const DAY: i64 = 24 * HOUR_MS;

#[test]
fn versions_outside_are_named_in_the_words_of_the_statement() {
    assert_eq!(check_version(3, (1, 3), TravelForm::Read).unwrap(), 3);
    for version in [0, 4, -1] {
        let error = check_version(version, (1, 3), TravelForm::Read).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "[DELTA_VERSION_NOT_FOUND] Cannot time travel Delta table to version {version}. Available versions: [1, 3]."
            )
        );
    }
    let error = check_version(99, (0, 8), TravelForm::Restore).unwrap_err();
    assert_eq!(
        error.to_string(),
        "[DELTA_CANNOT_RESTORE_TABLE_VERSION] Cannot restore table to version 99. Available versions: [0, 8]."
    );
}

#[test]
fn restore_has_words_of_its_own_for_moments_outside() {
    let zone = Zone::utc();
    let edge = CommitTime {
        version: 0,
        timestamp: 1_796_001_713_216,
    };
    let early = check_time(
        946_684_800_000,
        VersionAt::BeforeEarliest(edge),
        TravelForm::Restore,
        &zone,
    )
    .unwrap_err();
    assert_eq!(
        early.to_string(),
        "[DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER] Cannot restore table to timestamp (2000-01-01 00:00:00.0) as it is before the \
         earliest version available. Please use a timestamp after (2026-11-30 01:21:53.216)."
    );
    let late = check_time(
        32_472_144_000_000,
        VersionAt::AfterLatest(edge),
        TravelForm::Restore,
        &zone,
    )
    .unwrap_err();
    assert_eq!(
        late.to_string(),
        "[DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER] Cannot restore table to timestamp (2999-01-01 00:00:00.0) as it is after the \
         latest version available. Please use a timestamp before (2026-11-30 01:21:53.216)"
    );
    assert_eq!(
        check_time(5, VersionAt::Found(edge), TravelForm::Read, &zone).unwrap(),
        edge
    );
}

#[test]
fn the_zone_of_the_session_stands_in_the_texts() {
    let zone = Zone::parse("Europe/Amsterdam").unwrap();
    let edge = CommitTime {
        version: 0,
        timestamp: 1_767_225_600_123,
    };
    let error =
        check_time(0, VersionAt::BeforeEarliest(edge), TravelForm::Read, &zone).unwrap_err();
    let parameters: Vec<_> = error
        .parameters()
        .iter()
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(
        parameters,
        [
            "1970-01-01 01:00:00.0",
            "2026-01-01 01:00:00.123",
            "2026-01-01 01:00:00"
        ]
    );
}

#[test]
fn the_wall_goes_by_when_a_version_was_made() {
    let now = 100 * DAY;
    let wall = |version, made| check_wall(9, version, made, 7 * DAY, now);
    assert!(wall(3, Some(now - 7 * DAY)).is_ok());
    assert!(wall(9, Some(0)).is_ok());
    assert!(wall(3, None).is_ok());
    let error = wall(3, Some(now - 7 * DAY - 1)).unwrap_err();
    assert_eq!(error.parameters()[0].1, "168");
    let floored = check_wall(9, 3, Some(0), 90 * 60_000, now).unwrap_err();
    assert_eq!(floored.parameters()[0].1, "1");
    assert!(check_wall(9, 3, Some(now - 1), 0, now).is_err());
}
