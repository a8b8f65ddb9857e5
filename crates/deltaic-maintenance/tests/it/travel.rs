//! Versions and timestamps on a table whose commits lie a day apart.

use deltaic_command::TimeTravel;
use deltaic_maintenance::travel::{TravelForm, TravelOptions, resolve};
use deltaic_protocol::error::Result;
use deltaic_protocol::timestamp::Zone;

use crate::kit::{DAY, Kit, START};

async fn table() -> Kit {
    let mut kit = Kit::new(false, &[]).await;
    for _ in 0..3 {
        kit.advance(DAY);
        kit.append(&[None]).await;
    }
    kit
}

async fn at(kit: &Kit, to: TimeTravel, wall: bool) -> Result<i64> {
    let options = TravelOptions {
        zone: Zone::utc(),
        wall,
        now_ms: kit.now(),
    };
    resolve(&kit.snapshot().await, &to, TravelForm::Read, &options).await
}

fn moment(ms: i64) -> TimeTravel {
    TimeTravel::Timestamp {
        micros: ms * 1000,
        text: String::new(),
    }
}

#[tokio::test]
async fn a_moment_finds_the_version_that_stood_then() {
    let kit = table().await;
    for (ms, version) in [
        (START, 0),
        (START + DAY - 1, 0),
        (START + DAY, 1),
        (START + 3 * DAY, 3),
    ] {
        assert_eq!(at(&kit, moment(ms), false).await.unwrap(), version);
    }
}

#[tokio::test]
async fn moments_outside_are_refused_with_the_edge() {
    let kit = table().await;
    let early = at(&kit, moment(START - 1), false).await.unwrap_err();
    assert_eq!(
        early.to_string(),
        "[DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION] The provided timestamp (2025-12-31 23:59:59.999) is before the \
         earliest version available to\nthis table (2026-01-01 00:00:00.0). Please use a timestamp after 2026-01-01 00:00:00."
    );
    let late = at(&kit, moment(START + 3 * DAY + 1), false)
        .await
        .unwrap_err();
    assert_eq!(
        late.to_string(),
        "[DELTA_TIMESTAMP_GREATER_THAN_COMMIT] The provided timestamp (2026-01-04 00:00:00.001) is after the latest version \
         available to this\ntable (2026-01-04 00:00:00.0). Please use a timestamp before or at 2026-01-04 00:00:00."
    );
    let none = at(&kit, TimeTravel::Version(4), false).await.unwrap_err();
    assert_eq!(
        none.to_string(),
        "[DELTA_VERSION_NOT_FOUND] Cannot time travel Delta table to version 4. Available versions: [0, 3]."
    );
}

#[tokio::test]
async fn the_wall_stands_before_old_versions_but_never_before_the_newest() {
    let mut kit = table().await;
    kit.advance(6 * DAY);
    assert_eq!(at(&kit, TimeTravel::Version(2), true).await.unwrap(), 2);
    let error = at(&kit, TimeTravel::Version(1), true).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "[DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION] Cannot time travel beyond \
         delta.deletedFileRetentionDuration (168 HOURS) set on the table."
    );
    assert!(at(&kit, moment(START + DAY), true).await.is_err());
    kit.advance(100 * DAY);
    assert_eq!(at(&kit, TimeTravel::Version(3), true).await.unwrap(), 3);
    assert_eq!(at(&kit, TimeTravel::Version(1), false).await.unwrap(), 1);
}
