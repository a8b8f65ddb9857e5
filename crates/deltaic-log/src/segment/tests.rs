//! Segments out of listings.
#![allow(clippy::unwrap_used)]
use super::*;
use deltaic_storage::Scheme;
use expect_test::{Expect, expect};

/// Files in short: `3` a commit, `3cp` a classic checkpoint, `3cp1/2` a part, `3v2` a V2 checkpoint, `3empty` an empty checkpoint,
/// `0-2compacted` a compacted file.
fn listing(text: &str) -> LogListing {
    let uuid = "80a083e8-7026-4e79-81be-64bd76c43a11";
    let files = text.split_whitespace().map(|word| {
        let digits = word.chars().take_while(char::is_ascii_digit).count();
        let version: Version = word[..digits].parse().unwrap();
        let end = word[digits..]
            .strip_prefix('-')
            .and_then(|w| w.strip_suffix("compacted"));
        let path = match &word[digits..] {
            "" => file_name::commit(version),
            "cp" | "empty" => file_name::checkpoint(version),
            "v2" => format!("{version:020}.checkpoint.{uuid}.json"),
            _ if end.is_some() => file_name::compacted(version, end.unwrap().parse().unwrap()),
            part => {
                let (part, parts) = part[2..].split_once('/').unwrap();
                file_name::multi_part_checkpoint(
                    version,
                    part.parse().unwrap(),
                    parts.parse().unwrap(),
                )
            }
        };
        let size = if word.ends_with("empty") { 0 } else { 10 };
        FileMeta {
            path,
            size,
            modified_ms: version,
            is_dir: false,
            e_tag: None,
        }
    });
    LogListing::from_files(files)
}

fn check(files: &str, wanted: Option<Version>, expected: Expect) {
    let root = TableRoot::new(Scheme::File, "/t");
    let request = SegmentRequest {
        version: wanted,
        ..SegmentRequest::default()
    };
    let text = match LogSegment::try_new(&root, &listing(files), &request) {
        Ok(None) => "nothing".to_owned(),
        Ok(Some(segment)) => {
            let commits: Vec<Version> = segment.commits.iter().map(|c| c.version).collect();
            let checkpoint = segment
                .checkpoint
                .map(|c| format!("{} {:?}", c.version, c.kind));
            let sums: Vec<String> = segment
                .compacted
                .iter()
                .map(|c| format!(", {}-{} summed up", c.start, c.end))
                .collect();
            format!(
                "version {} from {checkpoint:?} and {commits:?}{}, anchored by {}",
                segment.version,
                sums.concat(),
                segment.anchor.path
            )
        }
        Err(e) => e.to_string(),
    };
    expected.assert_eq(&text);
}

#[test]
fn commits_alone_make_a_segment() {
    check(
        "0 1 2",
        None,
        expect![["version 2 from None and [0, 1, 2], anchored by 00000000000000000002.json"]],
    );
    check(
        "0 1 2",
        Some(1),
        expect!["version 1 from None and [0, 1], anchored by 00000000000000000001.json"],
    );
    check("", None, expect!["nothing"]);
}

#[test]
fn the_newest_complete_checkpoint_at_or_below_the_version_is_the_base() {
    check(
        "0 1 2cp 2 3 4cp 4 5",
        None,
        expect![[
            r#"version 5 from Some("4 Classic") and [5], anchored by 00000000000000000005.json"#
        ]],
    );
    check(
        "0 1 2cp 2 3 4cp 4 5",
        Some(3),
        expect![[
            r#"version 3 from Some("2 Classic") and [3], anchored by 00000000000000000003.json"#
        ]],
    );
}

#[test]
fn empty_and_incomplete_checkpoints_do_not_count() {
    check(
        "0 1 1empty 2",
        None,
        expect!["version 2 from None and [0, 1, 2], anchored by 00000000000000000002.json"],
    );
    check(
        "0 1 1cp2/2 2",
        None,
        expect!["version 2 from None and [0, 1, 2], anchored by 00000000000000000002.json"],
    );
    check(
        "1cp1/2 1cp2/2 2",
        None,
        expect![[
            r#"version 2 from Some("1 MultiPart { part: 1, parts: 2 }") and [2], anchored by 00000000000000000002.json"#
        ]],
    );
}

#[test]
fn a_v2_checkpoint_is_preferred_to_others_of_its_version() {
    check(
        "3 3cp 3v2 3cp1/1",
        None,
        expect![[
            r#"version 3 from Some("3 V2Json") and [], anchored by 00000000000000000003.json"#
        ]],
    );
}

#[test]
fn a_checkpoint_without_its_commit_is_enough() {
    check(
        "7cp",
        None,
        expect![[
            r#"version 7 from Some("7 Classic") and [], anchored by 00000000000000000007.checkpoint.parquet"#
        ]],
    );
}

#[test]
fn compacted_files_do_not_stand_in_for_commits() {
    check(
        "0 0-2compacted 3",
        None,
        expect![[r#"
        [DELTA_VERSIONS_NOT_CONTIGUOUS] Versions (0, 3) are not contiguous. 
        A gap in the delta log between versions 0 and 3 was detected while trying to load version -1."#]],
    );
}

#[test]
fn of_the_compacted_files_that_begin_at_one_version_the_shortest_is_taken() {
    check(
        "0 0-5compacted 1 2 3 4 5 6 6-15compacted 6-8compacted 7 8 9 9-11compacted 10 11 12 13 14 15",
        None,
        expect![
            "version 15 from None and [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], 0-5 summed up, 6-8 summed up, 9-11 summed up, anchored by 00000000000000000015.json"
        ],
    );
}

#[test]
fn a_compacted_file_that_ends_after_the_version_is_left_aside() {
    check(
        "0 0-3compacted 1 1-2compacted 2 3 4",
        Some(2),
        expect![
            "version 2 from None and [0, 1, 2], 1-2 summed up, anchored by 00000000000000000002.json"
        ],
    );
}

#[test]
fn a_compacted_file_that_reaches_below_the_checkpoint_is_left_aside() {
    check(
        "0 0-3compacted 1 1cp 2 2-3compacted 3 4",
        None,
        expect![[
            r#"version 4 from Some("1 Classic") and [2, 3, 4], 2-3 summed up, anchored by 00000000000000000004.json"#
        ]],
    );
}

#[test]
fn a_missing_commit_is_told() {
    check(
        "0 2",
        None,
        expect![[r#"
        [DELTA_VERSIONS_NOT_CONTIGUOUS] Versions (0, 2) are not contiguous. 
        A gap in the delta log between versions 0 and 2 was detected while trying to load version -1."#]],
    );
    check(
        "4cp 6 7",
        None,
        expect![[r#"
        [DELTA_VERSIONS_NOT_CONTIGUOUS] Versions (6, 7) are not contiguous. 
        A gap in the delta log between versions 4 and 6 was detected while trying to load version -1."#]],
    );
}

#[test]
fn a_log_without_its_beginning_is_told() {
    check(
        "3 4",
        None,
        expect![
            "[DELTA_TRUNCATED_TRANSACTION_LOG] file:/t/_delta_log/00000000000000000000.json: Unable to reconstruct state at version 4 as the transaction log has been truncated due to manual deletion or the log retention policy (delta.logRetentionDuration=30 days) and checkpoint retention policy (delta.checkpointRetentionDuration=2 days)"
        ],
    );
}

#[test]
fn the_range_of_readable_versions_begins_at_zero_or_at_a_checkpoint() {
    let range = |files: &str| recreatable_range(&listing(files));
    assert_eq!(range("0 1 2"), Some((0, 2)));
    assert_eq!(range("2 3 3cp 4 5 5cp"), Some((3, 5)));
    assert_eq!(range("3cp 4 5"), Some((3, 5)));
    assert_eq!(range("3cp 6cp 7"), Some((6, 7)));
    assert_eq!(range("4 5"), None);
    assert_eq!(range(""), None);
}
