//! VACUUM LITE: from the log alone.

use deltaic_command::{Vacuum, VacuumMode};
use deltaic_maintenance::vacuum::VacuumOptions;

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
