//! VACUUM LITE: from the log alone.

use std::sync::Arc;

use deltaic_command::{InventoryRow, Vacuum, VacuumMode};
use deltaic_log::{Operation, Transaction};
use deltaic_maintenance::vacuum::{self, VacuumOptions};
use deltaic_protocol::Action;
use deltaic_protocol::action::Remove;
use deltaic_storage::cloud::CloudBackend;
use futures::StreamExt;
use object_store::memory::InMemory;

use crate::kit::{DAY, Kit};

fn lite(kit: &Kit) -> Vacuum {
    Vacuum {
        mode: Some(VacuumMode::Lite),
        ..kit.request(Some(0.0), false)
    }
}

fn full(kit: &Kit) -> Vacuum {
    Vacuum {
        mode: Some(VacuumMode::Full),
        ..kit.request(Some(0.0), false)
    }
}

fn unchecked() -> VacuumOptions {
    VacuumOptions {
        retention_check: false,
        ..VacuumOptions::default()
    }
}

async fn info(kit: &Kit) -> String {
    String::from_utf8(
        kit.store
            .log()
            .read("_last_vacuum_info")
            .await
            .unwrap()
            .to_vec(),
    )
    .unwrap()
}

#[tokio::test]
async fn what_the_log_removed_goes_and_strays_stay() {
    let mut kit = Kit::new(false, &[]).await;
    kit.append(&[None]).await;
    kit.write("stray.parquet").await;
    kit.advance(1000);
    let kept = kit.append(&[None]).await;
    kit.remove(|path| path != kept[0]).await;
    kit.advance(1000);
    let report = kit.vacuum(&lite(&kit), &unchecked()).await.unwrap();
    assert_eq!(
        (report.candidates, report.deleted, report.directories),
        (1, 1, 1)
    );
    assert_eq!(
        kit.files().await,
        [kept[0].clone(), "stray.parquet".to_string()]
    );
    assert_eq!(
        info(&kit).await,
        "{\"latestCommitVersionOutsideOfRetentionWindow\":3}\n"
    );
    kit.advance(1000);
    let again = kit.vacuum(&lite(&kit), &unchecked()).await.unwrap();
    assert_eq!((again.candidates, again.deleted), (0, 0));
    kit.vacuum(&full(&kit), &unchecked()).await.unwrap();
    assert_eq!(info(&kit).await, "{}\n");
}

#[tokio::test]
async fn a_log_without_its_beginning_is_refused_unless_lite_has_seen_it() {
    let mut kit = Kit::new(false, &[("delta.checkpointInterval", "2")]).await;
    for _ in 0..3 {
        kit.append(&[None]).await;
        kit.advance(1000);
    }
    let mut seen = Kit::new(false, &[("delta.checkpointInterval", "2")]).await;
    for _ in 0..3 {
        seen.append(&[None]).await;
        seen.advance(1000);
    }
    seen.vacuum(&lite(&seen), &unchecked()).await.unwrap();
    for kit in [&kit, &seen] {
        kit.store
            .log()
            .delete("00000000000000000000.json")
            .await
            .unwrap();
    }
    let error = kit.vacuum(&lite(&kit), &unchecked()).await.unwrap_err();
    assert_eq!(error.class(), Some("DELTA_CANNOT_VACUUM_LITE"));
    seen.vacuum(&lite(&seen), &unchecked()).await.unwrap();
}

#[tokio::test]
async fn a_log_that_is_all_young_gives_nothing_to_do() {
    let mut kit = Kit::new(false, &[]).await;
    kit.append(&[None]).await;
    kit.remove(|_| true).await;
    kit.advance(DAY);
    let request = Vacuum {
        mode: Some(VacuumMode::Lite),
        ..kit.request(None, false)
    };
    let report = kit
        .vacuum(&request, &VacuumOptions::default())
        .await
        .unwrap();
    assert_eq!((report.candidates, report.deleted), (0, 0));
    assert_eq!(kit.files().await.len(), 1);
}

/// A file that was removed and came back stands in the log as removed, and in the newest version as one of its own.
#[tokio::test]
async fn a_file_that_came_back_is_no_candidate() {
    let mut kit = Kit::new(false, &[]).await;
    kit.append(&[None, None]).await;
    let back = kit.snapshot().await.files().await.unwrap()[0].clone();
    kit.advance(1000);
    kit.remove(|_| true).await;
    kit.advance(1000);
    let snapshot = kit.snapshot().await;
    let mut transaction = Transaction::begin(&snapshot, Operation::new("RESTORE"));
    transaction.add(back.as_ref().clone());
    kit.commit(transaction).await;
    kit.advance(1000);
    let dry = Vacuum {
        dry_run: true,
        ..lite(&kit)
    };
    let report = kit.vacuum(&dry, &unchecked()).await.unwrap();
    assert_eq!(report.candidates, 1);
    assert!(!report.paths.iter().any(|path| path.ends_with(&back.path)));
    let report = kit.vacuum(&lite(&kit), &unchecked()).await.unwrap();
    assert_eq!((report.candidates, report.deleted), (1, 1));
    assert_eq!(kit.files().await, std::slice::from_ref(&back.path));
}

#[tokio::test]
async fn the_files_of_a_table_below_are_its_own_business() {
    for by_inventory in [false, true] {
        let bucket = CloudBackend::new(Arc::new(InMemory::new()), "s3://b");
        for mut kit in [Kit::cloud(bucket).await, Kit::new(true, &[]).await] {
            kit.append(&[Some("1")]).await;
            let theirs = ["deep/inner/part-0.parquet", "deep/inner/p=1/part-1.parquet"];
            let plain = "deep/plain/part-2.parquet";
            for path in theirs.iter().chain([&plain]) {
                kit.write(path).await;
            }
            kit.write("deep/inner/_delta_log/00000000000000000000.json")
                .await;
            // As where the folder was once taken over as a Parquet table.
            let removes: Vec<Action> = theirs
                .iter()
                .chain([&plain])
                .map(|path| {
                    Action::Remove(Remove {
                        path: (*path).to_owned(),
                        deletion_timestamp: Some(1),
                        data_change: true,
                        ..Remove::default()
                    })
                })
                .collect();
            let text = deltaic_log::commit::commit_text(&removes);
            let name = deltaic_protocol::file_name::commit(2);
            kit.store.log().create(&name, text.into()).await.unwrap();
            kit.date_commit(2).await;
            kit.advance(30 * DAY);
            let report = match by_inventory {
                false => kit.vacuum(&lite(&kit), &unchecked()).await.unwrap(),
                true => {
                    let root = kit.store.root().to_string();
                    let rows = theirs.iter().chain([&plain]).map(|path| InventoryRow {
                        path: format!("{root}/{path}"),
                        length: 1,
                        is_dir: false,
                        modification_time: 1,
                    });
                    let rows: Vec<_> = rows.map(Ok).collect();
                    let rows = futures::stream::iter(rows).boxed();
                    let request = kit.request(Some(0.0), false);
                    let (store, options) = (&kit.store, unchecked());
                    vacuum::run(store, &request, Some(rows), &options, &kit.context, None)
                        .await
                        .unwrap()
                }
            };
            assert_eq!(report.deleted, 1, "{by_inventory}");
            for path in theirs {
                assert!(kit.store.data().exists(path).await.unwrap(), "{path}");
            }
            assert!(!kit.store.data().exists(plain).await.unwrap());
        }
    }
}

/// Each removal is a commit of its own, so that a refusal of one does not hide what another would do.
#[tokio::test]
async fn no_spelling_of_a_removed_path_leads_out_of_a_table_in_an_object_store() {
    let beside = "/w/t2/part-0.parquet";
    let log = "_delta_log/00000000000000000000.json";
    for path in [
        "../t2/part-0.parquet",
        "..%2Ft2/part-0.parquet",
        "%2e%2e/t2/part-0.parquet",
        "a/../../t2/part-0.parquet",
        "a//../../t2/part-0.parquet",
        "./../t2/part-0.parquet",
        "s3://b/w/t2/part-0.parquet",
        "s3://b/w/t/../t2/part-0.parquet",
        "https://b.s3.amazonaws.com/w/t2/part-0.parquet",
        "/w/t2/part-0.parquet",
        "\u{f8ff}2E\u{f8ff}2E/t2/part-0.parquet",
        "\u{f8ff}\u{f8fd}2E\u{f8ff}\u{f8fd}2E/t2/part-0.parquet",
        log,
        "%5fdelta_log/00000000000000000000.json",
        "x/../_delta_log/00000000000000000000.json",
    ] {
        let bucket = CloudBackend::new(Arc::new(InMemory::new()), "s3://b");
        for mut kit in [Kit::cloud(bucket).await, Kit::new(true, &[]).await] {
            let live = kit.append(&[Some("1")]).await;
            kit.write(beside).await;
            let remove = Action::Remove(Remove {
                path: path.to_owned(),
                deletion_timestamp: Some(1),
                data_change: true,
                ..Remove::default()
            });
            let text = deltaic_log::commit::commit_text(&[remove]);
            let name = deltaic_protocol::file_name::commit(2);
            kit.store.log().create(&name, text.into()).await.unwrap();
            kit.date_commit(2).await;
            kit.advance(30 * DAY);
            let done = kit.vacuum(&lite(&kit), &unchecked()).await;
            let data = kit.store.data();
            for kept in [beside, log, &live[0]] {
                assert!(data.exists(kept).await.unwrap(), "{path}: {kept} {done:?}");
            }
        }
    }
}
