//! DROP FEATURE on tables with files and history.

use async_trait::async_trait;
use deltaic_command::{DropFeature, Restore, TableRef, TimeTravel};
use deltaic_log::{CommitResult, Operation, Snapshot, Transaction};
use deltaic_maintenance::drop_feature::{self, DropFeatureOptions, Rewrite, Rewriter};
use deltaic_maintenance::restore::{self, RestoreOptions};
use deltaic_maintenance::travel::TravelOptions;
use deltaic_protocol::action::DomainMetadata;
use deltaic_protocol::error::Result;
use deltaic_protocol::timestamp::Zone;
use futures::TryStreamExt;

use crate::kit::{DAY, HOUR, Kit};

/// Puts files without deletion vectors in the place of those with one.
struct Purge<'a>(&'a Kit);

#[async_trait]
impl Rewriter for Purge<'_> {
    async fn rewrite(&self, snapshot: &Snapshot, what: Rewrite) -> Result<Option<CommitResult>> {
        assert_eq!(what, Rewrite::DeletionVectors);
        let mut transaction = Transaction::begin(snapshot, Operation::new("REORG"));
        for (at, add) in snapshot.files().await?.iter().enumerate() {
            if add.deletion_vector.is_some() {
                transaction.remove(add.to_remove(self.0.now(), false));
                let path = format!("purged-{}-{at}.parquet", snapshot.version());
                self.0.write(&path).await;
                transaction.add(self.0.add_of(&path, None));
            }
        }
        transaction
            .commit(&self.0.context)
            .await?
            .into_result()
            .map(Some)
    }
}

async fn drop_feature(kit: &Kit, feature: &str, truncate_history: bool) -> Result<()> {
    let snapshot = kit.snapshot().await;
    let request = DropFeature {
        target: TableRef::Path(kit.store.root().to_string()),
        feature: feature.to_string(),
        truncate_history,
    };
    let mut done = Vec::new();
    let outcome = drop_feature::run(
        &snapshot,
        &request,
        &DropFeatureOptions::default(),
        &Purge(kit),
        &kit.context,
        &mut done,
    )
    .await;
    for result in &done {
        kit.date_commit(result.version).await;
    }
    outcome
}

async fn operations(kit: &Kit) -> Vec<String> {
    let history = deltaic_log::history::history(&kit.snapshot().await, None)
        .await
        .unwrap();
    let mut names: Vec<String> = history
        .into_iter()
        .filter_map(|entry| entry.commit_info.and_then(|info| info.operation.clone()))
        .collect();
    names.reverse();
    names
}

async fn log_files(kit: &Kit) -> Vec<String> {
    let listed: Vec<_> = kit.store.log().list_from("0").try_collect().await.unwrap();
    listed.into_iter().map(|file| file.path).collect()
}

/// A table with three files, of which one has lost a row to a deletion vector.
async fn with_vector() -> (Kit, String) {
    let mut kit = Kit::new(false, &[("delta.enableDeletionVectors", "true")]).await;
    kit.append(&[None, None, None]).await;
    let first = kit.snapshot().await.files().await.unwrap()[0].clone();
    let vector = kit.delete_rows(&first).await;
    (kit, vector)
}

#[tokio::test]
async fn vectors_leave_the_newest_version_and_their_files_stay_protected() {
    let (mut kit, vector) = with_vector().await;
    drop_feature(&kit, "deletionVectors", false).await.unwrap();
    assert_eq!(
        operations(&kit).await[3..],
        [
            "UNSET TBLPROPERTIES",
            "REORG",
            "Deletion Vector Tombstones",
            "Empty Commit",
            "Empty Commit",
            "Empty Commit",
            "DROP FEATURE"
        ]
    );
    let snapshot = kit.snapshot().await;
    assert!(!snapshot.protocol().supports("deletionVectors"));
    assert_eq!(snapshot.protocol().min_reader_version, 1);
    assert_eq!(
        snapshot.config().checkpoint_protection_before().unwrap(),
        snapshot.version()
    );
    assert_eq!(snapshot.files().await.unwrap().len(), 3);
    let summary = snapshot.summary().await.unwrap();
    assert_eq!((summary.num_files, summary.num_deletion_vectors), (3, 0));
    // Three barriers and the downgrade have checkpoints.
    let checkpoints = log_files(&kit).await;
    assert_eq!(
        checkpoints
            .iter()
            .filter(|name| name.contains("checkpoint.parquet"))
            .count(),
        4
    );
    // A VACUUM that knows nothing of vectors finds the vector's own tombstone.
    let tombstones = snapshot.tombstones().await.unwrap();
    assert!(
        tombstones
            .iter()
            .any(|t| t.path == vector && t.deletion_vector.is_none())
    );
    kit.advance(6 * DAY);
    kit.vacuum(&kit.request(None, false), &Default::default())
        .await
        .unwrap();
    assert!(kit.files().await.contains(&vector));
    kit.advance(2 * DAY);
    kit.vacuum(&kit.request(None, false), &Default::default())
        .await
        .unwrap();
    assert!(!kit.files().await.contains(&vector));
}

#[tokio::test]
async fn dropping_again_makes_no_second_tombstone() {
    let (kit, _) = with_vector().await;
    drop_feature(&kit, "deletionVectors", false).await.unwrap();
    let before = kit.snapshot().await.tombstones().await.unwrap().len();
    let snapshot = kit.snapshot().await;
    let mut protocol = snapshot.protocol().as_ref().clone();
    protocol.min_reader_version = 3;
    protocol.reader_features = Some(vec!["deletionVectors".to_string()]);
    protocol
        .writer_features
        .as_mut()
        .unwrap()
        .push("deletionVectors".to_string());
    let mut transaction = Transaction::begin(&snapshot, Operation::new("UPGRADE PROTOCOL"));
    transaction.set_protocol(protocol);
    kit.commit(transaction).await;
    drop_feature(&kit, "deletionVectors", false).await.unwrap();
    assert_eq!(
        kit.snapshot().await.tombstones().await.unwrap().len(),
        before
    );
}

#[tokio::test]
async fn with_truncated_history_the_protocol_follows_a_day_later() {
    let (mut kit, _) = with_vector().await;
    let class = |outcome: Result<()>| outcome.unwrap_err().class().unwrap().to_string();
    kit.advance(HOUR);
    let first = drop_feature(&kit, "deletionVectors", true)
        .await
        .unwrap_err();
    assert_eq!(
        first.class(),
        Some("DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD")
    );
    assert!(
        first
            .to_string()
            .contains("delta.logRetentionDuration=30 days"),
        "{first}"
    );
    assert!(first.to_string().contains("(24 hours)"), "{first}");
    assert!(kit.snapshot().await.protocol().supports("deletionVectors"));
    assert_eq!(
        kit.snapshot()
            .await
            .summary()
            .await
            .unwrap()
            .num_deletion_vectors,
        0
    );
    kit.advance(HOUR);
    assert_eq!(
        class(drop_feature(&kit, "deletionVectors", true).await),
        "DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST"
    );
    kit.advance(25 * HOUR);
    drop_feature(&kit, "deletionVectors", true).await.unwrap();
    let snapshot = kit.snapshot().await;
    assert_eq!(
        snapshot.protocol().as_ref(),
        &deltaic_protocol::action::Protocol::legacy(1, 2)
    );
    assert!(!log_files(&kit).await.contains(&format!("{:020}.json", 0)));
    assert_eq!(snapshot.files().await.unwrap().len(), 3);
}

#[tokio::test]
async fn the_protection_goes_when_the_history_before_it_is_gone() {
    let (mut kit, _) = with_vector().await;
    drop_feature(&kit, "deletionVectors", false).await.unwrap();
    kit.advance(HOUR);
    let waits = drop_feature(&kit, "checkpointProtection", true)
        .await
        .unwrap_err();
    assert_eq!(
        waits.class(),
        Some("DELTA_FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD")
    );
    assert!(
        kit.snapshot()
            .await
            .protocol()
            .supports("checkpointProtection")
    );
    kit.advance(25 * HOUR);
    drop_feature(&kit, "checkpointProtection", true)
        .await
        .unwrap();
    let snapshot = kit.snapshot().await;
    assert_eq!(
        snapshot.protocol().as_ref(),
        &deltaic_protocol::action::Protocol::legacy(1, 2)
    );
    assert!(
        !snapshot
            .metadata()
            .configuration
            .contains_key("delta.requireCheckpointProtectionBeforeVersion")
    );
    assert_eq!(snapshot.files().await.unwrap().len(), 3);
}

/// Adds writer features to a table.
async fn add_features(kit: &Kit, names: &[&str]) {
    let snapshot = kit.snapshot().await;
    let mut protocol = snapshot.protocol().as_ref().clone();
    let features = protocol.writer_features.as_mut().unwrap();
    features.extend(names.iter().map(ToString::to_string));
    let mut transaction = Transaction::begin(&snapshot, Operation::new("UPGRADE PROTOCOL"));
    transaction.set_protocol(protocol);
    kit.commit(transaction).await;
}

#[tokio::test]
async fn row_tracking_leaves_files_domain_and_properties() {
    let mut kit = Kit::new(false, &[]).await;
    add_features(&kit, &["domainMetadata", "rowTracking"]).await;
    kit.append(&[None, None]).await;
    let files = kit.snapshot().await.files().await.unwrap();
    assert_eq!(files[1].base_row_id, Some(3));
    drop_feature(&kit, "rowTracking", false).await.unwrap();
    assert_eq!(
        operations(&kit).await[3..],
        [
            "SET TBLPROPERTIES",
            "ROW TRACKING UNBACKFILL",
            "DROP FEATURE"
        ]
    );
    let snapshot = kit.snapshot().await;
    assert!(snapshot.domain("delta.rowTracking").is_none());
    assert!(!snapshot.protocol().supports("rowTracking"));
    assert!(
        !snapshot
            .metadata()
            .configuration
            .contains_key("delta.rowTrackingSuspended")
    );
    let files = snapshot.files().await.unwrap();
    assert_eq!(files.len(), 2);
    assert!(
        files
            .iter()
            .all(|add| add.base_row_id.is_none() && add.default_row_commit_version.is_none())
    );
    // Now nothing depends on domains any more.
    let mut transaction = Transaction::begin(&snapshot, Operation::new("TEST"));
    transaction.domain(DomainMetadata {
        domain: "mine".to_string(),
        configuration: "{}".to_string(),
        removed: false,
    });
    kit.commit(transaction).await;
    drop_feature(&kit, "domainMetadata", false).await.unwrap();
    let snapshot = kit.snapshot().await;
    assert!(snapshot.domains().is_empty());
    assert_eq!(
        operations(&kit).await[7..],
        ["DOMAIN METADATA CLEANUP", "DROP FEATURE"]
    );
}

#[tokio::test]
async fn a_feature_that_came_back_meanwhile_stays() {
    let kit = Kit::new(false, &[]).await;
    let stale = kit.snapshot().await;
    let mut metadata = stale.metadata().as_ref().clone();
    metadata.configuration.insert(
        "delta.enableDeletionVectors".to_string(),
        "true".to_string(),
    );
    let mut transaction = Transaction::begin(&stale, Operation::new("SET TBLPROPERTIES"));
    transaction.set_metadata(metadata);
    kit.commit(transaction).await;
    let request = DropFeature {
        target: TableRef::Path(kit.store.root().to_string()),
        feature: "deletionVectors".to_string(),
        truncate_history: false,
    };
    let error = drop_feature::run(
        &stale,
        &request,
        &DropFeatureOptions {
            vector_tombstones: false,
            ..Default::default()
        },
        &Purge(&kit),
        &kit.context,
        &mut Vec::new(),
    )
    .await
    .unwrap_err();
    assert_eq!(
        error.class(),
        Some("DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL")
    );
    assert!(kit.snapshot().await.protocol().supports("deletionVectors"));
}

#[tokio::test]
async fn ids_that_come_back_with_a_restore_are_not_given_again() {
    let mut kit = Kit::new(false, &[]).await;
    add_features(&kit, &["domainMetadata", "rowTracking"]).await;
    kit.append(&[None, None]).await;
    let full = kit.snapshot().await;
    let gone = full.files().await.unwrap()[1].key().0;
    kit.remove(|path| path == gone).await;
    drop_feature(&kit, "rowTracking", false).await.unwrap();
    let request = Restore {
        target: TableRef::Path(kit.store.root().to_string()),
        to: TimeTravel::Version(full.version()),
    };
    let options = RestoreOptions::new(TravelOptions {
        zone: Zone::utc(),
        wall: false,
        now_ms: kit.now(),
    });
    let report = restore::run(&kit.store, &request, &options, &kit.context)
        .await
        .unwrap();
    assert_eq!(report.num_restored_files, 1);
    kit.date_commit(report.version.unwrap()).await;
    kit.append(&[None]).await;
    let files = kit.snapshot().await.files().await.unwrap();
    let mut first: Vec<Option<i64>> = files.iter().map(|add| add.base_row_id).collect();
    first.sort();
    assert_eq!(first, [Some(0), Some(3), Some(6)]);
}

#[tokio::test]
async fn the_protection_of_checkpoints_outlives_a_restore() {
    let (kit, _) = with_vector().await;
    drop_feature(&kit, "deletionVectors", false).await.unwrap();
    let protected = kit
        .snapshot()
        .await
        .config()
        .checkpoint_protection_before()
        .unwrap();
    let request = Restore {
        target: TableRef::Path(kit.store.root().to_string()),
        to: TimeTravel::Version(1),
    };
    let options = RestoreOptions::new(TravelOptions {
        zone: Zone::utc(),
        wall: false,
        now_ms: kit.now(),
    });
    restore::run(&kit.store, &request, &options, &kit.context)
        .await
        .unwrap();
    let snapshot = kit.snapshot().await;
    assert!(snapshot.protocol().supports("deletionVectors"));
    assert_eq!(
        snapshot.config().checkpoint_protection_before().unwrap(),
        protected
    );
}
