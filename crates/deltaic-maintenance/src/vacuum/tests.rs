//! Unit tests of VACUUM's decisions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use deltaic_command::Profile;
use deltaic_storage::FileMeta;

use super::*;
use crate::vacuum::lite::range_start;

const HOUR: i64 = 3_600_000;
const WEEK: i64 = 168 * HOUR;
const NOW: i64 = 1_000_000 * HOUR;

fn retain(hours: f64, profile: Profile, check: bool) -> Result<Retention> {
    let options = VacuumOptions {
        profile,
        retention_check: check,
        ..VacuumOptions::default()
    };
    resolve_retention(Some(hours), WEEK, NOW, &options)
}

#[test]
fn without_retain_the_property_counts_and_nothing_is_checked() {
    let found = resolve_retention(None, 0, NOW, &VacuumOptions::default()).unwrap();
    assert_eq!(
        (found.specified_ms, found.cutoff_ms, found.notes.len()),
        (None, NOW, 0)
    );
}

#[test]
fn newer_releases_ignore_every_retain_but_zero() {
    for hours in [24.0, 168.0, 167.9, -1.0, 1e300, 0.5] {
        let found = retain(hours, Profile::Delta43, true).unwrap();
        assert_eq!(
            (found.specified_ms, found.cutoff_ms, found.notes.len()),
            (None, NOW - WEEK, 1),
            "{hours}"
        );
    }
    for hours in [0.0, 0.4, -0.4, 0.49] {
        let error = retain(hours, Profile::Delta43, true).unwrap_err();
        assert_eq!(
            error.class(),
            Some("DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT"),
            "{hours}"
        );
        assert_eq!(
            retain(hours, Profile::Delta43, false).unwrap().cutoff_ms,
            NOW,
            "{hours}"
        );
    }
}

#[test]
fn older_releases_take_retain_at_its_word() {
    assert_eq!(
        retain(168.0, Profile::Delta40, true).unwrap().cutoff_ms,
        NOW - WEEK
    );
    assert_eq!(
        retain(167.9, Profile::Delta40, true).unwrap().cutoff_ms,
        NOW - WEEK
    );
    assert_eq!(
        retain(24.0, Profile::Delta40, false).unwrap().specified_ms,
        Some(24 * HOUR)
    );
    assert_eq!(
        retain(-1.0, Profile::Delta40, false).unwrap_err().text(),
        "requirement failed: Retention for Vacuum can't be less than 0."
    );
    let short = retain(24.0, Profile::Delta40, true).unwrap_err();
    assert_eq!(short.java_class(), "java.lang.IllegalArgumentException");
    assert!(short.text().starts_with("requirement failed: Are you sure you would like to vacuum files with such a low retention period? If you have\nwriters that"));
    assert!(
        short
            .text()
            .ends_with("please use a value not less than \"168 hours\".\n       ")
    );
}

#[test]
fn the_check_compares_with_the_tables_own_retention() {
    let options = VacuumOptions::default();
    assert!(resolve_retention(Some(0.0), 0, NOW, &options).is_ok());
    let error = resolve_retention(Some(0.0), 90 * 60_000, NOW, &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "[DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT] The specified VACUUM retention period is too low and may corrupt this Delta \
         table if any writes are in progress.\n\nIf no operations (insert, upsert, delete, optimize) are running, you can \
         disable this safety check by setting:\ndelta.retentionDurationCheck.enabled = false\n\nOtherwise, use a retention \
         period of at least 2 hours."
    );
}

#[test]
fn a_retention_that_grows_meanwhile_counts_and_one_that_shrinks_does_not() {
    let found = resolve_retention(None, WEEK, NOW, &VacuumOptions::default()).unwrap();
    assert_eq!(found.cutoff_with(2 * WEEK), NOW - 2 * WEEK);
    assert_eq!(found.cutoff_with(HOUR), NOW - WEEK);
    assert_eq!(
        retain(0.0, Profile::Delta43, false)
            .unwrap()
            .cutoff_with(WEEK),
        NOW
    );
}

#[test]
fn hidden_names_are_told_by_their_first_letter() {
    let rule = HiddenNames::new(&["_q".to_string(), "p".to_string()], false);
    for name in [
        "_delta_log",
        ".part.crc",
        "_SUCCESS",
        "_temporary",
        "_committed_x",
        ".hive-staging",
        "_",
        "_Q=1",
        "_q",
    ] {
        assert!(rule.hides(name), "{name}");
    }
    for name in [
        "_q=1",
        "_q=",
        "_change_data",
        "_change_data_backup",
        "_delta_index_x",
        "part-0.parquet",
        "metadata",
        "a_b",
    ] {
        assert!(!rule.hides(name), "{name}");
    }
    assert!(HiddenNames::new(&[], true).hides("metadata"));
    assert!(rule.hides_path("sub/_hidden/x") && !rule.hides_path("_q=1/x"));
}

fn file(path: &str, modified_ms: i64) -> FileMeta {
    FileMeta {
        path: path.to_string(),
        size: 5,
        modified_ms,
        is_dir: false,
        e_tag: None,
    }
}

fn directory(path: &str) -> FileMeta {
    FileMeta {
        path: path.to_string(),
        size: 0,
        modified_ms: 0,
        is_dir: true,
        e_tag: None,
    }
}

fn candidates(keep: &[&str], entries: Vec<FileMeta>) -> Vec<String> {
    let mut kept = Keep::default();
    keep.iter()
        .for_each(|path| kept.insert((*path).to_string()));
    let mut candidates = Candidates::new(&kept, 100);
    entries.into_iter().for_each(|entry| candidates.push(entry));
    candidates
        .finish()
        .found
        .into_iter()
        .map(|found| found.path)
        .collect()
}

#[test]
fn only_old_files_that_nobody_needs_are_candidates() {
    let entries = vec![
        file("kept", 0),
        file("old", 99),
        file("young", 100),
        file("future", 5000),
    ];
    assert_eq!(candidates(&["kept"], entries), ["old"]);
}

#[test]
fn a_directory_is_a_candidate_only_when_no_old_file_lies_below_it() {
    let entries = vec![
        directory("empty"),
        directory("kept"),
        directory("old"),
        directory("old/deep"),
        directory("young"),
        file("kept/x", 0),
        file("old/deep/x", 0),
        file("young/x", 500),
    ];
    assert_eq!(
        candidates(&["kept/x"], entries),
        ["empty", "old/deep/x", "young"]
    );
}

#[test]
fn the_bytes_of_candidates_are_those_of_files() {
    let kept = Keep::default();
    let mut found = Candidates::new(&kept, 100);
    [directory("d"), file("a", 0), file("b", 0)]
        .into_iter()
        .for_each(|entry| found.push(entry));
    let found = found.finish();
    assert_eq!(
        (found.bytes(), found.directories, found.found.len()),
        (10, 1, 3)
    );
}

#[test]
fn keeping_a_file_keeps_the_directories_above_it() {
    let mut keep = Keep::default();
    keep.insert("a/b/c".to_string());
    assert!(keep.has_file("a/b/c") && keep.has_directory("a/b") && keep.has_directory("a"));
    assert!(!keep.has_file("a/b") && !keep.has_directory("b"));
}

#[test]
fn lite_starts_after_what_it_has_seen() {
    assert_eq!(range_start(0, None).unwrap(), 0);
    assert_eq!(range_start(0, Some(7)).unwrap(), 8);
    assert_eq!(range_start(5, Some(7)).unwrap(), 8);
    assert_eq!(range_start(8, Some(7)).unwrap(), 8);
    assert_eq!(
        range_start(9, Some(7)).unwrap_err().class(),
        Some("DELTA_CANNOT_VACUUM_LITE")
    );
    assert_eq!(
        range_start(1, None).unwrap_err().to_string(),
        "[DELTA_CANNOT_VACUUM_LITE] VACUUM LITE cannot delete all eligible files as some files are not referenced by the Delta \
         log. Please run VACUUM FULL."
    );
}

#[test]
fn objects_that_cannot_be_named_are_kept_and_told() {
    let kept = Keep::default();
    let rule = HiddenNames::new(&[], false);
    let mut candidates = Candidates::new(&kept, 100);
    for name in [
        "a//x.parquet",
        "./dot",
        "a/../dd",
        "new\\nline",
        "_hidden/a//b",
        "sub/_delta_log/a//b",
    ] {
        candidates.pass_over(name.to_string(), &rule);
    }
    candidates.push(file("sub/old.parquet", 0));
    let found = candidates.finish();
    assert_eq!(found.found, []);
    assert_eq!(found.nested_tables, ["sub"]);
    assert_eq!(
        found.unnameable,
        ["./dot", "a/../dd", "a//x.parquet", "new\\nline"]
    );
}
