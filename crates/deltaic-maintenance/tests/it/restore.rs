//! RESTORE on tables in memory.

use deltaic_command::{Restore, RestoreReport, TableRef, TimeTravel};
use deltaic_maintenance::restore::{self, RestoreOptions};
use deltaic_maintenance::travel::TravelOptions;
use deltaic_protocol::error::Result;
use deltaic_protocol::timestamp::Zone;

use crate::kit::{DAY, Kit};

pub fn options(kit: &Kit) -> RestoreOptions {
    RestoreOptions::new(TravelOptions {
        zone: Zone::utc(),
        wall: true,
        now_ms: kit.now(),
    })
}

pub async fn restore(kit: &Kit, version: i64, options: &RestoreOptions) -> Result<RestoreReport> {
    let request = Restore {
        target: TableRef::Path(String::new()),
        to: TimeTravel::Version(version),
    };
    let report = restore::run(&kit.store, &request, options, &kit.context).await?;
    if let Some(version) = report.version {
        kit.date_commit(version).await;
    }
    Ok(report)
}

async fn live(kit: &Kit) -> Vec<String> {
    let mut paths: Vec<String> = kit
        .snapshot()
        .await
        .files()
        .await
        .unwrap()
        .iter()
        .map(|add| add.key().0)
        .collect();
    paths.sort();
    paths
}

#[tokio::test]
async fn files_come_back_and_newer_ones_go() {
    let mut kit = Kit::new(false, &[]).await;
    let first = kit.append(&[None, None]).await;
    kit.remove(|path| path == first[0]).await;
    kit.append(&[None]).await;
    let report = restore(&kit, 1, &options(&kit)).await.unwrap();
    assert_eq!(
        (
            report.num_of_files_after_restore,
            report.num_removed_files,
            report.num_restored_files,
            report.version
        ),
        (2, 1, 1, Some(4))
    );
    assert_eq!(live(&kit).await, first);
}

#[tokio::test]
async fn restoring_the_newest_version_writes_nothing() {
    let mut kit = Kit::new(false, &[]).await;
    kit.append(&[None]).await;
    let report = restore(&kit, 1, &options(&kit)).await.unwrap();
    assert_eq!(
        (report.version, report.num_of_files_after_restore),
        (None, 0)
    );
    assert_eq!(kit.snapshot().await.version(), 1);
}

#[tokio::test]
async fn a_deletion_vector_is_taken_back() {
    let mut kit = Kit::new(false, &[]).await;
    kit.append(&[None]).await;
    kit.delete_rows(&kit.snapshot().await.files().await.unwrap()[0].clone())
        .await;
    let report = restore(&kit, 1, &options(&kit)).await.unwrap();
    assert_eq!(
        (report.num_removed_files, report.num_restored_files),
        (1, 1)
    );
    assert!(
        kit.snapshot().await.files().await.unwrap()[0]
            .deletion_vector
            .is_none()
    );
}

#[tokio::test]
async fn missing_files_stop_it_unless_they_are_to_be_ignored() {
    let mut kit = Kit::new(true, &[]).await;
    let paths = kit.append(&[Some("a b"), Some("c")]).await;
    kit.remove(|_| true).await;
    kit.store.data().delete_file(&paths[0]).await.unwrap();
    let error = restore(&kit, 1, &options(&kit)).await.unwrap_err();
    assert_eq!(
        error.text(),
        "Not all files from version 1 are available in file system.\n Missed files (top 100 files): \
         p=a%20b/part-00001.parquet.\n Please use more recent version or timestamp for restoring.\n To disable check update \
         option spark.sql.files.ignoreMissingFiles"
    );
    assert_eq!(error.java_class(), "java.lang.IllegalArgumentException");
    let lenient = RestoreOptions {
        ignore_missing_files: true,
        ..options(&kit)
    };
    assert_eq!(
        restore(&kit, 1, &lenient).await.unwrap().num_restored_files,
        2
    );
}

#[tokio::test]
async fn the_wall_stops_it_and_the_switch_opens_the_wall() {
    let mut kit = Kit::new(false, &[]).await;
    kit.append(&[None]).await;
    kit.append(&[None]).await;
    kit.advance(8 * DAY);
    let error = restore(&kit, 1, &options(&kit)).await.unwrap_err();
    assert_eq!(
        error.class(),
        Some("DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION")
    );
    let mut open = options(&kit);
    open.travel.wall = false;
    restore(&kit, 1, &open).await.unwrap();
}

#[tokio::test]
async fn versions_that_are_not_there_are_named() {
    let mut kit = Kit::new(false, &[]).await;
    kit.append(&[None]).await;
    let error = restore(&kit, 9, &options(&kit)).await.unwrap_err();
    assert_eq!(
        error.text(),
        "Cannot restore table to version 9. Available versions: [0, 1]."
    );
}
