//! VACUUM on tables whose logs name files that are none of theirs: nothing outside of the table is deleted, nothing of its log, and
//! no file that is in use.

use std::path::Path;

use bytes::Bytes;
use deltaic_command::{InventoryRow, Vacuum, VacuumMode};
use deltaic_maintenance::vacuum::{self, VacuumOptions};
use deltaic_protocol::action::{Add, AddCdcFile, Remove};
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_protocol::deletion_vector::z85;
use deltaic_protocol::{Action, Clock, SystemClock};
use futures::StreamExt;
use proptest::prelude::*;
use uuid::Uuid;

use crate::kit::{DAY, Kit};

/// The file outside of the table that hostile logs are after, and its deletion vector's id.
const VICTIM: &str = "victim.parquet";
const ID: Uuid = Uuid::from_u128(7);

fn vector_name() -> String {
    format!("deletion_vector_{ID}.bin")
}

/// Spellings of the folder above the table, and of places in its log.
fn ways(folder: &str) -> Vec<String> {
    let up = [
        "..",
        "../.",
        "./..",
        "a/../..",
        "p=1/../..",
        ".//..",
        "a/b/../../..",
    ];
    let mut out: Vec<String> = up.iter().map(|way| (*way).to_owned()).collect();
    out.extend([
        folder.to_owned(),
        format!("{folder}/t/.."),
        format!("//{folder}"),
        format!("file:{folder}"),
        format!("file://{folder}"),
        format!("FILE:{folder}/t/../"),
        format!("file://localhost{folder}"),
        format!("s3://bucket{folder}"),
        "..%2f..".to_owned(),
        "%2e%2e".to_owned(),
        "%2E%2e/.".to_owned(),
        "a/%2e%2e/..".to_owned(),
        "..\\..".to_owned(),
    ]);
    out
}

/// The actions with which a log may name a path.
fn naming(path: &str, prefix: &str) -> Vec<Action> {
    let vector = |kind: &str, text: String| DeletionVectorDescriptor {
        storage_type: kind.to_owned(),
        path_or_inline_dv: text,
        offset: Some(1),
        size_in_bytes: 36,
        cardinality: 1,
    };
    let id = z85::encode(ID.as_bytes());
    let remove = |path: &str, vector: Option<DeletionVectorDescriptor>| {
        Action::Remove(Remove {
            path: path.to_owned(),
            deletion_timestamp: Some(1),
            data_change: true,
            deletion_vector: vector,
            ..Remove::default()
        })
    };
    vec![
        remove(path, None),
        remove("gone-1.parquet", Some(vector("u", format!("{prefix}{id}")))),
        remove(
            "gone-2.parquet",
            Some(vector("p", format!("{prefix}/{}", vector_name()))),
        ),
        Action::Cdc(AddCdcFile {
            path: path.to_owned(),
            ..AddCdcFile::default()
        }),
    ]
}

/// A table at `t` in a folder, with a live file, and beside it what is not its own.
async fn table(folder: &Path) -> (Kit, Vec<String>) {
    // Nothing but VACUUM takes a file of the log away.
    let kept = [("delta.enableExpiredLogCleanup", "false")];
    let mut kit = Kit::local(folder, &kept).await;
    let live = kit.append(&[Some("1"), Some("2")]).await;
    for name in [VICTIM.to_owned(), vector_name()] {
        let place = folder.join(name);
        std::fs::write(&place, "not yours").unwrap();
    }
    (kit, live)
}

async fn vacuum(kit: &Kit, mode: VacuumMode) {
    let request = Vacuum {
        mode: Some(mode),
        ..kit.request(Some(0.0), false)
    };
    let options = VacuumOptions {
        retention_check: false,
        ..VacuumOptions::default()
    };
    // A refusal is as good as a run that leaves the file alone.
    let _ = vacuum::run(&kit.store, &request, None, &options, &kit.context, None).await;
}

/// Commits actions as a hostile writer would: past all checks.
async fn plant(kit: &Kit, folder: &Path, actions: &[Action]) {
    let version = i64::try_from(commits(folder)).unwrap();
    let text = deltaic_log::commit::commit_text(actions);
    let name = deltaic_protocol::file_name::commit(version);
    let put = kit.store.log().create(&name, Bytes::from(text)).await;
    put.unwrap();
    kit.date_commit(version).await;
}

fn commits(folder: &Path) -> usize {
    let log = std::fs::read_dir(folder.join("t/_delta_log")).unwrap();
    let names = log.map(|entry| entry.unwrap().file_name());
    names
        .filter(|name| name.to_str().unwrap().ends_with(".json"))
        .count()
}

async fn check(kit: &Kit, folder: &Path, live: &[String], what: &str) {
    for mode in [VacuumMode::Lite, VacuumMode::Full] {
        let before = commits(folder);
        vacuum(kit, mode).await;
        for name in [VICTIM.to_owned(), vector_name()] {
            assert!(folder.join(&name).exists(), "{mode:?}, {what}: {name}");
        }
        for path in live {
            assert!(
                folder.join("t").join(path).exists(),
                "{mode:?}, {what}: {path}"
            );
        }
        assert!(commits(folder) >= before, "{mode:?}, {what}: the log");
    }
}

#[tokio::test]
async fn no_spelling_of_a_path_leads_vacuum_out_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let (mut kit, live) = table(folder.path()).await;
    kit.clock.set(SystemClock.now_ms() + 30 * DAY);
    for way in ways(folder.path().to_str().unwrap()) {
        plant(
            &kit,
            folder.path(),
            &naming(&format!("{way}/{VICTIM}"), &way),
        )
        .await;
        kit.advance(DAY);
        check(&kit, folder.path(), &live, &way).await;
    }
}

#[tokio::test]
async fn vacuum_never_deletes_from_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let (mut kit, live) = table(folder.path()).await;
    kit.clock.set(SystemClock.now_ms() + 30 * DAY);
    let commit = "_delta_log/00000000000000000000.json";
    std::fs::write(
        folder.path().join("t/_delta_log").join(vector_name()),
        "no vector",
    )
    .unwrap();
    for path in [
        commit.to_owned(),
        format!("./{commit}"),
        format!("p=1/../{commit}"),
        format!("%5fdelta_log/{}", &commit[11..]),
        format!("file:{}/t/{commit}", folder.path().display()),
        ".".to_owned(),
        "_delta_log".to_owned(),
        String::new(),
    ] {
        plant(&kit, folder.path(), &naming(&path, "_delta_log")).await;
        kit.advance(DAY);
        check(&kit, folder.path(), &live, &path).await;
        assert!(
            folder
                .path()
                .join("t/_delta_log")
                .join(vector_name())
                .exists(),
            "{path}"
        );
        assert!(folder.path().join("t").join(commit).exists(), "{path}");
    }
}

/// A folder that is a link to one outside: its files are none of the table's, whatever the log says.
#[cfg(unix)]
#[tokio::test]
async fn vacuum_deletes_nothing_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (mut kit, live) = table(folder.path()).await;
    kit.clock.set(SystemClock.now_ms() + 30 * DAY);
    std::os::unix::fs::symlink(folder.path(), folder.path().join("t/p=9")).unwrap();
    plant(
        &kit,
        folder.path(),
        &naming(&format!("p=9/{VICTIM}"), "p=9"),
    )
    .await;
    kit.advance(DAY);
    check(&kit, folder.path(), &live, "a link").await;
}

#[tokio::test]
async fn an_inventory_leads_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let (kit, live) = table(folder.path()).await;
    kit.clock.set(SystemClock.now_ms() + 30 * DAY);
    let root = kit.store.root().to_string();
    let mut rows = Vec::new();
    for way in ways(folder.path().to_str().unwrap()) {
        for path in [
            format!("{way}/{VICTIM}"),
            format!("{root}/{way}/{VICTIM}"),
            format!("{root}/_delta_log/00000000000000000000.json"),
        ] {
            rows.push(Ok(InventoryRow {
                path,
                length: 9,
                is_dir: false,
                modification_time: 1,
            }));
        }
    }
    let rows = futures::stream::iter(rows).boxed();
    let options = VacuumOptions {
        retention_check: false,
        ..VacuumOptions::default()
    };
    let request = kit.request(Some(0.0), false);
    let _ = vacuum::run(
        &kit.store,
        &request,
        Some(rows),
        &options,
        &kit.context,
        None,
    )
    .await;
    check(&kit, folder.path(), &live, "an inventory").await;
    assert!(
        folder
            .path()
            .join("t/_delta_log/00000000000000000000.json")
            .exists()
    );
}

/// What VACUUM LITE remembers is a file that anybody can write.
#[tokio::test]
async fn whatever_lite_is_told_of_its_last_run_no_file_in_use_goes() {
    let folder = tempfile::tempdir().unwrap();
    let (mut kit, live) = table(folder.path()).await;
    kit.clock.set(SystemClock.now_ms() + 30 * DAY);
    let deep = "[".repeat(10_000);
    for number in [
        "9223372036854775807",
        "-9223372036854775808",
        "1e400",
        "0.5",
        "null",
        "-1",
        "1",
        &deep,
    ] {
        let text = format!("{{\"latestCommitVersionOutsideOfRetentionWindow\":{number}}}");
        let put = kit
            .store
            .log()
            .overwrite("_last_vacuum_info", text.into())
            .await;
        put.unwrap();
        kit.advance(DAY);
        check(&kit, folder.path(), &live, number).await;
    }
}

/// Pieces of paths, put together in any way.
fn path() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(
        &[
            "..",
            ".",
            "/",
            "//",
            "%2e",
            "%2f",
            "%2F..",
            "a",
            "p=1",
            "_delta_log",
            "file:",
            "FOLDER",
            "FOLDER/t",
            VICTIM,
            "00000000000000000000.json",
            "",
            "%",
            "%zz",
            "é",
            "\u{0}",
            "\\",
            "?",
            "#",
            ":",
        ][..],
    );
    (prop::collection::vec(piece, 1..7), any::<bool>())
        .prop_map(|(pieces, slashes)| pieces.join(if slashes { "/" } else { "" }))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 100, ..ProptestConfig::default() })]

    #[test]
    fn no_path_of_any_pieces_does(paths in prop::collection::vec((path(), path()), 1..6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let (mut kit, live) = table(folder.path()).await;
            kit.clock.set(SystemClock.now_ms() + 30 * DAY);
            let place = folder.path().to_str().unwrap();
            for (path, prefix) in &paths {
                let (path, prefix) = (path.replace("FOLDER", place), prefix.replace("FOLDER", place));
                let add = Action::Add(Add { path: path.clone(), data_change: true, ..Add::default() });
                let mut actions = naming(&path, &prefix);
                actions.insert(0, add);
                plant(&kit, folder.path(), &actions).await;
            }
            kit.advance(DAY);
            check(&kit, folder.path(), &live, &format!("{paths:?}")).await;
        });
    }
}
