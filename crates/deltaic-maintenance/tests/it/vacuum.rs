//! VACUUM FULL on tables in memory and on disk.

use std::sync::Arc;

use deltaic_command::{InventoryRow, Profile, VacuumMode};
use deltaic_log::{Operation, Transaction};
use deltaic_maintenance::history;
use deltaic_maintenance::vacuum::{self, VacuumOptions};
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_storage::cloud::CloudBackend;
use futures::{StreamExt, stream};
use object_store::memory::InMemory;

use crate::kit::{DAY, HOUR, Kit};

fn unchecked() -> VacuumOptions {
    VacuumOptions {
        retention_check: false,
        ..VacuumOptions::default()
    }
}

#[tokio::test]
async fn files_that_left_longer_ago_than_the_retention_go_and_others_stay() {
    let mut kit = Kit::new(false, &[]).await;
    let old = kit.append(&[None, None]).await;
    kit.advance(DAY);
    kit.remove(|path| path == old[0]).await;
    kit.advance(3 * DAY);
    let young = kit.append(&[None]).await;
    kit.remove(|path| path == old[1]).await;
    kit.advance(4 * DAY + HOUR);
    kit.write("uncommitted.parquet").await;
    let report = kit
        .vacuum(&kit.request(None, false), &VacuumOptions::default())
        .await
        .unwrap();
    assert_eq!(
        (report.candidates, report.deleted, report.directories),
        (1, 1, 1)
    );
    assert_eq!(report.candidate_bytes, old[0].len() as u64);
    let mut left = vec![
        old[1].clone(),
        young[0].clone(),
        "uncommitted.parquet".to_string(),
    ];
    left.sort();
    assert_eq!(kit.files().await, left);
}

#[tokio::test]
async fn start_and_end_stand_in_the_history_with_their_numbers() {
    let mut kit = Kit::new(false, &[]).await;
    kit.append(&[None]).await;
    kit.remove(|_| true).await;
    kit.advance(1);
    kit.vacuum(&kit.request(Some(0.0), false), &unchecked())
        .await
        .unwrap();
    let rows = history::rows(&kit.snapshot().await, Some(2)).await.unwrap();
    let text = |pairs: &Option<Vec<(String, Option<String>)>>| {
        pairs
            .iter()
            .flatten()
            .map(|(key, value)| format!("{key}={}", value.as_deref().unwrap_or("null")))
            .collect::<Vec<_>>()
    };
    assert_eq!(rows[1].operation.as_deref(), Some("VACUUM START"));
    assert_eq!(
        text(&rows[1].operation_parameters),
        [
            "retentionCheckEnabled=false",
            "defaultRetentionMillis=604800000",
            "specifiedRetentionMillis=0"
        ]
    );
    assert_eq!(
        text(&rows[1].operation_metrics),
        ["numFilesToDelete=1", "sizeOfDataToDelete=18"]
    );
    assert_eq!(rows[0].operation.as_deref(), Some("VACUUM END"));
    assert_eq!(text(&rows[0].operation_parameters), ["status=COMPLETED"]);
    assert_eq!(
        text(&rows[0].operation_metrics),
        ["numDeletedFiles=1", "numVacuumedDirectories=1"]
    );
    for row in &rows {
        assert_eq!(row.isolation_level.as_deref(), Some("SnapshotIsolation"));
        assert_eq!(row.is_blind_append, Some(true));
    }
}

#[tokio::test]
async fn a_dry_run_lists_paths_and_changes_nothing() {
    let mut kit = Kit::new(true, &[]).await;
    let paths = kit.append(&[Some("a b"), Some("a%b"), Some("ä/ö")]).await;
    kit.remove(|_| true).await;
    kit.advance(8 * DAY);
    let report = kit
        .vacuum(&kit.request(None, true), &VacuumOptions::default())
        .await
        .unwrap();
    let mut wanted: Vec<String> = paths
        .iter()
        .map(|path| format!("memory:/w/t/{path}"))
        .collect();
    wanted.sort();
    assert_eq!(report.paths, wanted);
    assert_eq!(report.end_version, None);
    assert_eq!(kit.files().await.len(), 3);
    assert_eq!(kit.snapshot().await.version(), 2);
}

async fn deleted(kit: &Kit) -> u64 {
    kit.vacuum(&kit.request(None, false), &VacuumOptions::default())
        .await
        .unwrap()
        .deleted
}

#[tokio::test]
async fn directories_go_one_level_a_run_and_hidden_ones_never() {
    let folder = tempfile::tempdir().unwrap();
    let mut kit = Kit::local(folder.path(), &[]).await;
    kit.append(&[Some("x"), Some("y")]).await;
    kit.remove(|path| path.starts_with("p=x/")).await;
    kit.write("a/b/c/stray").await;
    kit.write("_hidden/stray").await;
    kit.write("sub/_hidden/stray").await;
    kit.advance(8 * DAY);
    assert_eq!(deleted(&kit).await, 2);
    assert_eq!(
        kit.directories().await,
        [
            "_hidden",
            "a",
            "p=x",
            "p=y",
            "sub",
            "a/b",
            "a/b/c",
            "sub/_hidden"
        ]
    );
    // p=x and a/b/c; a and a/b are not empty when their turn comes.
    assert_eq!(deleted(&kit).await, 2);
    assert_eq!(deleted(&kit).await, 1);
    assert_eq!(deleted(&kit).await, 1);
    assert_eq!(deleted(&kit).await, 0);
    assert_eq!(
        kit.directories().await,
        ["_hidden", "p=y", "sub", "sub/_hidden"]
    );
}

#[tokio::test]
async fn deletion_vectors_of_protected_files_stay() {
    let mut kit = Kit::new(false, &[]).await;
    kit.append(&[None]).await;
    let first = kit
        .delete_rows(&kit.snapshot().await.files().await.unwrap()[0].clone())
        .await;
    kit.advance(8 * DAY);
    let second = kit
        .delete_rows(&kit.snapshot().await.files().await.unwrap()[0].clone())
        .await;
    kit.advance(DAY);
    kit.vacuum(&kit.request(None, false), &VacuumOptions::default())
        .await
        .unwrap();
    assert!(kit.files().await.contains(&first), "left a day ago");
    kit.advance(7 * DAY);
    kit.vacuum(&kit.request(None, false), &VacuumOptions::default())
        .await
        .unwrap();
    let files = kit.files().await;
    assert!(
        !files.contains(&first) && files.contains(&second) && files.len() == 2,
        "{files:?}"
    );
}

#[tokio::test]
async fn an_inventory_replaces_the_listing() {
    let mut kit = Kit::new(false, &[]).await;
    let live = kit.append(&[None]).await;
    kit.write("stray.parquet").await;
    kit.write("not-listed.parquet").await;
    kit.advance(8 * DAY);
    let row = |path: &str| InventoryRow {
        path: path.to_string(),
        length: 4,
        is_dir: false,
        modification_time: 0,
    };
    let rows = [
        row("memory:/w/t/stray.parquet"),
        row(&format!("memory:/w/t/{}", live[0])),
        row("memory:/w/other/x.parquet"),
        row("memory:/w/t/../other/x.parquet"),
        row("memory:/w/t/_delta_log/00000000000000000000.json"),
        row("memory:/w/t/sub/../_delta_log/00000000000000000000.json"),
    ];
    let rows = stream::iter(rows.map(Ok)).boxed();
    let report = vacuum::run(
        &kit.store,
        &kit.request(None, false),
        Some(rows),
        &VacuumOptions::default(),
        &kit.context,
        None,
    )
    .await
    .unwrap();
    assert_eq!(
        (report.candidates, report.deleted, report.candidate_bytes),
        (1, 1, 4)
    );
    assert_eq!(
        kit.files().await,
        ["not-listed.parquet".to_string(), live[0].clone()]
    );
    assert_eq!(kit.snapshot().await.version(), 3);
}

#[tokio::test]
async fn an_inventory_that_breaks_off_deletes_nothing() {
    let kit = Kit::new(false, &[]).await;
    kit.write("stray.parquet").await;
    kit.clock.advance(8 * DAY);
    let row = InventoryRow {
        path: "memory:/w/t/stray.parquet".to_string(),
        length: 4,
        is_dir: false,
        modification_time: 0,
    };
    let broken = deltaic_protocol::DeltaError::unclassed("java.io.IOException", "broken");
    let rows = stream::iter([Ok(row), Err(broken)]).boxed();
    let result = vacuum::run(
        &kit.store,
        &kit.request(None, false),
        Some(rows),
        &VacuumOptions::default(),
        &kit.context,
        None,
    )
    .await;
    assert_eq!(result.unwrap_err().text(), "broken");
    assert_eq!(kit.files().await, ["stray.parquet"]);
    assert_eq!(kit.snapshot().await.version(), 0);
}

#[tokio::test]
async fn without_logging_no_commit_is_made() {
    let mut kit = Kit::new(false, &[]).await;
    kit.append(&[None]).await;
    kit.remove(|_| true).await;
    kit.advance(8 * DAY);
    let options = VacuumOptions {
        logging: Some(false),
        ..VacuumOptions::default()
    };
    let report = kit
        .vacuum(&kit.request(None, false), &options)
        .await
        .unwrap();
    assert_eq!((report.deleted, report.end_version), (1, None));
    assert_eq!(kit.snapshot().await.version(), 2);
}

#[tokio::test]
async fn a_retention_without_effect_is_noted() {
    let kit = Kit::new(false, &[]).await;
    let report = kit
        .vacuum(&kit.request(Some(24.0), true), &VacuumOptions::default())
        .await
        .unwrap();
    assert_eq!(report.notes.len(), 1);
    assert!(report.notes[0].contains("168 hours"), "{:?}", report.notes);
    let classic = VacuumOptions {
        profile: Profile::Delta40,
        ..VacuumOptions::default()
    };
    assert!(
        kit.vacuum(&kit.request(Some(24.0), true), &classic)
            .await
            .is_err()
    );
    let report = kit
        .vacuum(&kit.request(Some(200.0), true), &classic)
        .await
        .unwrap();
    assert_eq!(
        (report.notes.len(), report.cutoff_ms),
        (0, kit.now() - 200 * HOUR)
    );
}

#[tokio::test]
async fn the_session_may_make_lite_the_default() {
    let kit = Kit::new(false, &[]).await;
    let options = VacuumOptions {
        lite_by_default: true,
        ..VacuumOptions::default()
    };
    assert_eq!(
        kit.vacuum(&kit.request(None, true), &options)
            .await
            .unwrap()
            .mode,
        VacuumMode::Lite
    );
}

/// On every kind of store: a disk shows the folder of a log, an object store only what is in it.
#[tokio::test]
async fn the_files_of_a_table_in_a_folder_below_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let bucket = CloudBackend::new(Arc::new(InMemory::new()), "s3://b");
    let kits = [
        Kit::local(folder.path(), &[]).await,
        Kit::new(true, &[]).await,
        Kit::cloud(bucket).await,
    ];
    for mut kit in kits {
        let root = kit.store.root().to_string();
        let theirs = [
            "A/_delta_log/_last_checkpoint",
            "A/part-0.parquet",
            "deep/er/_delta_log/00000000000000000000.json",
            "deep/er/p=1/part-0.parquet",
            "other/_delta_log/00000000000000000000.json",
            "other/part-0.parquet",
            "other/zz/part-1.parquet",
            "p=1/_delta_log/00000000000000000003.checkpoint.parquet",
            "p=1/part-0.parquet",
        ];
        for path in theirs {
            kit.write(path).await;
        }
        for path in ["stray", "deep/stray", "others/stray", "other.stray"] {
            kit.write(path).await;
        }
        kit.advance(8 * DAY);
        let report = kit
            .vacuum(&kit.request(None, false), &VacuumOptions::default())
            .await
            .unwrap();
        let notes: Vec<String> = ["A", "deep/er", "other", "p=1"]
            .iter()
            .map(|table| format!("{root}/{table} is a table of its own and was left alone"))
            .collect();
        assert_eq!(report.notes, notes, "{root}");
        assert_eq!(kit.files().await, theirs, "{root}");
    }
}

#[tokio::test]
async fn files_of_a_shallow_clones_source_are_never_touched() {
    let mut kit = Kit::new(false, &[]).await;
    let source = "memory:/w/source/part-0.parquet";
    let path = kit.store.root().absolute("/w/source/part-0.parquet");
    kit.store
        .data()
        .create(&path, bytes::Bytes::new())
        .await
        .unwrap();
    let mut transaction = deltaic_log::Transaction::begin(
        &kit.snapshot().await,
        deltaic_log::Operation::new("CLONE"),
    );
    transaction.add(deltaic_protocol::action::Add {
        path: source.to_string(),
        ..kit.add_of("x", None)
    });
    kit.commit(transaction).await;
    kit.remove(|_| true).await;
    kit.advance(8 * DAY);
    for mode in [VacuumMode::Full, VacuumMode::Lite] {
        let request = deltaic_command::Vacuum {
            mode: Some(mode),
            ..kit.request(None, false)
        };
        assert_eq!(
            kit.vacuum(&request, &VacuumOptions::default())
                .await
                .unwrap()
                .candidates,
            0
        );
    }
    assert!(kit.store.data().exists(&path).await.unwrap());
}

#[tokio::test]
async fn a_dry_run_says_what_is_kept_and_until_when() {
    let mut kit = Kit::new(false, &[]).await;
    kit.append(&[None, None]).await;
    kit.advance(DAY);
    let removed = kit.now();
    kit.remove(|_| true).await;
    kit.advance(DAY);
    let report = kit
        .vacuum(&kit.request(None, true), &VacuumOptions::default())
        .await
        .unwrap();
    assert_eq!(
        (
            report.candidates,
            report.kept_removed,
            report.next_expiry_ms
        ),
        (0, 2, Some(removed + 7 * DAY))
    );
}

/// A live file whose path is spelled in another way stays: it is known, or nothing at all is deleted.
#[tokio::test]
async fn a_live_file_stays_however_the_log_spells_its_path() {
    for (prefix, known) in [
        ("s3://b/w/t/", true),
        ("s3a://b/w/t/", true),
        ("S3://b/w/t/", true),
        ("s3://b/w//t/", true),
        ("https://b.s3.amazonaws.com/w/t/", true),
        ("https://s3.amazonaws.com/b/w/t/", true),
        ("s3:/b/w/t/", false),
        ("http://localhost:9000/b/w/t/", false),
        ("dbfs:/mnt/b/w/t/", false),
        ("../t/", false),
    ] {
        let bucket = CloudBackend::new(Arc::new(InMemory::new()), "s3://b");
        let mut kit = Kit::cloud(bucket).await;
        let live = kit.name(None);
        kit.write(&live).await;
        kit.write("left.parquet").await;
        let mut transaction = Transaction::begin(&kit.snapshot().await, Operation::new("WRITE"));
        let mut add = kit.add_of(&live, None);
        add.path = format!("{prefix}{}", add.path);
        transaction.add(add);
        kit.commit(transaction).await;
        kit.advance(8 * DAY);
        let done = kit.vacuum(&kit.request(None, false), &unchecked()).await;
        let files = kit.files().await;
        assert!(files.contains(&live), "{prefix}: {done:?}");
        assert_eq!(done.is_ok(), known, "{prefix}: {done:?}");
        assert_eq!(
            files.contains(&"left.parquet".to_owned()),
            !known,
            "{prefix}"
        );
    }
}

/// OneLake knows workspaces and items by names and by identifiers, and by hosts of regions: what may be this table is not deleted
/// from, what is another's for certain does not keep VACUUM from its work.
#[tokio::test]
async fn a_live_file_of_onelake_stays_by_whichever_name_of_its_place() {
    const WORKSPACE: &str = "0b1a6a2e-5c1d-4f4e-9d63-1f0f6d2f7a10";
    const ITEM: &str = "11111111-2222-3333-4444-555555555555";
    const HOST: &str = "onelake.dfs.fabric.microsoft.com";
    let here = format!("abfss://{WORKSPACE}@{HOST}");
    let path = format!("/{ITEM}/Tables/t");
    let upper = WORKSPACE.to_uppercase();
    for (place, ours, done) in [
        (format!("{here}{path}/"), true, true),
        (
            format!("https://onelake.blob.fabric.microsoft.com/{WORKSPACE}{path}/"),
            true,
            true,
        ),
        (
            format!("abfss://work@{HOST}/lake.Lakehouse/Tables/t/"),
            true,
            false,
        ),
        (
            format!("abfss://{WORKSPACE}@{HOST}/lake.Lakehouse/Tables/t/"),
            true,
            false,
        ),
        (format!("abfss://{upper}@{HOST}{path}/"), true, false),
        (
            format!(
                "abfss://{WORKSPACE}@{HOST}/{}/Tables/t/",
                ITEM.replace('1', "A")
            ),
            false,
            true,
        ),
        (
            format!("abfss://{WORKSPACE}@westus-onelake.dfs.fabric.microsoft.com{path}/"),
            true,
            false,
        ),
        (
            format!("abfss://{WORKSPACE}@{HOST}/lake.Lakehouse/Tables/other/"),
            false,
            true,
        ),
        (
            format!("abfss://{}@{HOST}{path}/", WORKSPACE.replace('0', "1")),
            false,
            true,
        ),
        (
            format!("abfss://c@account.dfs.core.windows.net{path}/"),
            false,
            true,
        ),
    ] {
        let backend = CloudBackend::new(Arc::new(InMemory::new()), &here);
        let mut kit = Kit::cloud_at(&here, &path, backend).await;
        let live = kit.name(None);
        kit.write(&live).await;
        kit.write("left.parquet").await;
        let mut transaction = Transaction::begin(&kit.snapshot().await, Operation::new("WRITE"));
        let mut add = kit.add_of(&live, None);
        add.path = format!("{place}{}", add.path);
        transaction.add(add);
        kit.commit(transaction).await;
        kit.advance(8 * DAY);
        let ended = kit.vacuum(&kit.request(None, false), &unchecked()).await;
        assert_eq!(ended.is_ok(), done, "{place}: {ended:?}");
        let files = kit.files().await;
        assert_eq!(files.contains(&live), ours, "{place}: {ended:?}");
        assert_eq!(files.contains(&"left.parquet".to_owned()), !done, "{place}");
    }
}

/// A deletion vector whose name leads out of the table and back again stays: nothing is deleted.
#[tokio::test]
async fn a_deletion_vector_in_use_stays_however_it_is_named() {
    let mut kit = Kit::new(false, &[]).await;
    let data = kit.name(None);
    kit.write(&data).await;
    let uuid = uuid::Uuid::from_u128(7);
    let vector = format!("deletion_vector_{uuid}.bin");
    kit.write(&vector).await;
    let mut add = kit.add_of(&data, None);
    add.deletion_vector = Some(DeletionVectorDescriptor::on_disk("../t", uuid, 1, 40, 1));
    let mut transaction = Transaction::begin(&kit.snapshot().await, Operation::new("WRITE"));
    transaction.add(add);
    kit.commit(transaction).await;
    kit.advance(30 * DAY);
    kit.vacuum(&kit.request(None, false), &unchecked())
        .await
        .unwrap_err();
    let files = kit.files().await;
    assert!(
        files.contains(&vector) && files.contains(&data),
        "{files:?}"
    );
}
