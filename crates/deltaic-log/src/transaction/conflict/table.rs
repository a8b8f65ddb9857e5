//! The whole table of the conflict check: what we did, what the winner did, and the level of our commit.
#![allow(clippy::unwrap_used)]
use super::tests::{Case, reads_partition};
use super::*;
use expect_test::expect;

/// What a winner did. Our reads and removes are of file `x` in partition 1.
const WINNERS: [(&str, &str); 16] = [
    ("blind append, p=1", "info WRITE blind\n+ a p=1"),
    ("blind append, p=2", "info WRITE blind\n+ a p=2"),
    ("append that read, p=1", "info WRITE\n+ a p=1"),
    ("append that read, p=2", "info WRITE\n+ a p=2"),
    ("delete of x", "info DELETE\n- x p=1"),
    ("delete of another, p=1", "info DELETE\n- w p=1"),
    ("update of x", "info UPDATE\n- x p=1\n+ y p=1"),
    ("update of another, p=2", "info UPDATE\n- w p=2\n+ v p=2"),
    ("vector on x", "info DELETE\n- x p=1\n+ x dv=1 p=1"),
    (
        "compaction of x",
        "info OPTIMIZE\n- x p=1 quiet\n+ z p=1 quiet",
    ),
    (
        "compaction of another, p=2",
        "info OPTIMIZE\n- w p=2 quiet\n+ z p=2 quiet",
    ),
    ("metadata", "info SET\nM/p mine=1"),
    (
        "harmless metadata",
        "info SET\nM/p delta.enableDeletionVectors=true",
    ),
    (
        "protocol",
        "info UPGRADE\nP 1 7 appendOnly invariants rowTracking",
    ),
    (
        "progress of the application",
        "info STREAM blind\ntxn app 1",
    ),
    (
        "a domain of ours",
        "info DOMAIN\ndomain d x\ndomain delta.rowTracking y",
    ),
];

fn files(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

/// What we did.
fn ours() -> Vec<(&'static str, Case)> {
    let read_x = || ReadScope {
        files: files(&["x"]),
        ..reads_partition(1)
    };
    let whole = || ReadScope {
        whole_table: true,
        files: files(&["x"]),
        ..ReadScope::default()
    };
    let case = |scope: ReadScope, ours: &'static str| Case {
        scope,
        ours,
        ..Case::default()
    };
    vec![
        ("blind append", case(ReadScope::default(), "+ n p=1")),
        ("append that read p=1", case(read_x(), "+ n p=1")),
        ("append that read all", case(whole(), "+ n p=1")),
        (
            "delete or update in p=1",
            case(read_x(), "- x p=1\n+ n p=1"),
        ),
        ("vector in p=1", case(read_x(), "- x p=1\n+ x dv=9 p=1")),
        ("delete that read all", case(whole(), "- x p=1")),
        (
            "compaction of x",
            case(
                ReadScope {
                    files: files(&["x"]),
                    ..ReadScope::default()
                },
                "- x p=1 quiet\n+ n p=1 quiet",
            ),
        ),
        (
            "removal without a read",
            case(ReadScope::default(), "- x p=1"),
        ),
        (
            "metadata",
            Case {
                changes_metadata: true,
                ..case(reads_partition(1), "")
            },
        ),
        (
            "protocol",
            Case {
                changes_protocol: true,
                ..Case::default()
            },
        ),
        (
            "stream",
            case(
                ReadScope {
                    app_ids: files(&["app"]),
                    ..ReadScope::default()
                },
                "txn app 1\n+ n p=1",
            ),
        ),
        (
            "domain",
            case(
                ReadScope::default(),
                "domain d z\ndomain delta.rowTracking z",
            ),
        ),
    ]
}

fn sign(conflict: Option<CommitConflict>) -> char {
    match conflict.map(|c| c.kind) {
        None => '.',
        Some(ConflictKind::ConcurrentWrite) => 'W',
        Some(ConflictKind::ProtocolChanged) => 'P',
        Some(ConflictKind::MetadataChanged) => 'M',
        Some(ConflictKind::ConcurrentTransaction) => 'T',
        Some(ConflictKind::ConcurrentAppend) => 'A',
        Some(ConflictKind::ConcurrentDeleteRead) => 'R',
        Some(ConflictKind::ConcurrentDeleteDelete) => 'D',
    }
}

/// One line for each of our kinds; its signs stand in the order of the winners.
fn table(level: IsolationLevel) -> String {
    let mut out = String::new();
    for (name, mut case) in ours() {
        case.isolation = Some(level);
        let signs: String = WINNERS.iter().map(|(_, w)| sign(case.outcome(w))).collect();
        out.push_str(&format!("{signs}  {name}\n"));
    }
    out
}

#[test]
fn serializable() {
    expect![[r#"
        ...........M....  blind append
        A.A.R.A.AA.M....  append that read p=1
        AAAARRAAAAAM....  append that read all
        A.A.R.A.AA.M....  delete or update in p=1
        A.A.R.A.AA.M....  vector in p=1
        AAAARRAAAAAM....  delete that read all
        ....R.R.RR.M....  compaction of x
        ....D.D.DD.M....  removal without a read
        A.A...A.AA.MM...  metadata
        ...........M.P..  protocol
        ...........M..T.  stream
        ...........M...T  domain
    "#]]
    .assert_eq(&table(IsolationLevel::Serializable));
}

#[test]
fn write_serializable() {
    expect![[r#"
        ...........M....  blind append
        ..A.R.A.AA.M....  append that read p=1
        ..AARRAAAAAM....  append that read all
        ..A.R.A.AA.M....  delete or update in p=1
        ..A.R.A.AA.M....  vector in p=1
        ..AARRAAAAAM....  delete that read all
        ....R.R.RR.M....  compaction of x
        ....D.D.DD.M....  removal without a read
        A.A...A.AA.MM...  metadata
        ...........M.P..  protocol
        ...........M..T.  stream
        ...........M...T  domain
    "#]]
    .assert_eq(&table(IsolationLevel::WriteSerializable));
}

#[test]
fn snapshot_isolation() {
    expect![[r#"
        ...........M....  blind append
        ....R.R.RR.M....  append that read p=1
        ....RRRRRRRM....  append that read all
        ....R.R.RR.M....  delete or update in p=1
        ....R.R.RR.M....  vector in p=1
        ....RRRRRRRM....  delete that read all
        ....R.R.RR.M....  compaction of x
        ....D.D.DD.M....  removal without a read
        ...........MM...  metadata
        ...........M.P..  protocol
        ...........M..T.  stream
        ...........M...T  domain
    "#]]
    .assert_eq(&table(IsolationLevel::SnapshotIsolation));
}
