//! What log cleanup may remove.
#![allow(clippy::unwrap_used)]
use super::*;
use deltaic_protocol::file_name;

const DAY: i64 = DAY_MS;

/// Commits 0.. at these days, with checksums, and classic checkpoints at these versions.
fn log(days: &[i64], checkpoints: &[Version]) -> Vec<FileMeta> {
    let file = |path: String, modified_ms: i64| FileMeta {
        path,
        size: 10,
        modified_ms,
        is_dir: false,
        e_tag: None,
    };
    let mut out = Vec::new();
    for (version, day) in days.iter().enumerate() {
        let version = version as Version;
        out.push(file(file_name::commit(version), day * DAY + 1));
        out.push(file(file_name::checksum(version), day * DAY + 1));
        if checkpoints.contains(&version) {
            out.push(file(file_name::checkpoint(version), day * DAY + 2));
        }
    }
    out.push(file(file_name::LAST_CHECKPOINT.to_owned(), 0));
    out
}

fn rules(now_days: i64, retention_days: i64) -> CleanupRules {
    CleanupRules {
        now_ms: now_days * DAY + DAY / 2,
        retention_ms: retention_days * DAY,
        protect_before: 0,
        v2: false,
        granularity: Granularity::Day,
    }
}

fn kept_from(days: &[i64], checkpoints: &[Version], rules: CleanupRules) -> Option<Version> {
    let plan = plan_cleanup(&log(days, checkpoints), &rules);
    (!plan.delete.is_empty()).then_some(plan.oldest_kept)
}

#[test]
fn the_checkpoint_below_the_oldest_protected_version_stays() {
    // Version 5 is the first that is not expired; it needs the checkpoint at 3 and the commits 4 and 5.
    assert_eq!(
        kept_from(
            &[1, 2, 3, 4, 5, 300, 300, 300, 300, 300],
            &[3, 6, 9],
            rules(300, 2)
        ),
        Some(3)
    );
}

#[test]
fn nothing_goes_without_a_checkpoint_to_stand_in() {
    assert_eq!(kept_from(&[1, 2, 3, 300], &[], rules(300, 2)), None);
    assert_eq!(kept_from(&[1, 2, 3, 300, 300], &[4], rules(300, 2)), None);
}

#[test]
fn the_cutoff_lies_at_midnight() {
    assert_eq!(cutoff(&rules(10, 2)), 8 * DAY);
    let kept = |days: [i64; 5], now| kept_from(&days, &[1, 2, 4], rules(now, 2));
    // Committed on day 8, after midnight: still protected at noon of day 10, and what stood before it with it.
    assert_eq!(kept([6, 7, 8, 9, 10], 10), Some(1));
    assert_eq!(kept([6, 7, 8, 9, 10], 11), Some(2));
    // Version 3 is expired, but was the table's state until day 12.
    assert_eq!(kept([6, 7, 8, 9, 12], 12), Some(2));
    assert_eq!(kept([6, 7, 8, 9, 9], 12), Some(4));
}

#[test]
fn times_that_run_backwards_protect_what_comes_after() {
    assert_eq!(
        kept_from(&[1, 1, 300, 1, 1, 300], &[1, 3], rules(300, 2)),
        Some(1)
    );
}

#[test]
fn protected_checkpoints_stop_the_cleanup() {
    let protected = CleanupRules {
        protect_before: 5,
        ..rules(300, 2)
    };
    assert_eq!(kept_from(&[1, 2, 3, 4, 300], &[3], protected), None);
}

#[test]
fn everything_of_older_versions_goes_and_nothing_else() {
    let mut files = log(&[1, 2, 3, 300, 300], &[2]);
    let compacted = FileMeta {
        path: file_name::compacted(0, 1),
        size: 1,
        modified_ms: 0,
        is_dir: false,
        e_tag: None,
    };
    files.push(compacted.clone());
    let plan = plan_cleanup(&files, &rules(300, 2));
    let names = [
        file_name::commit(0),
        file_name::checksum(0),
        file_name::commit(1),
        file_name::checksum(1),
        compacted.path,
    ];
    assert_eq!(
        plan.delete.iter().collect::<BTreeSet<_>>(),
        names.iter().collect::<BTreeSet<_>>()
    );
    assert!(!plan.deletes_checkpoint);
}
