//! Random histories: the rows of a version and the changes after it give the rows of every later version.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::Value;

use crate::helpers::Warehouse;

#[derive(Debug, Clone)]
enum Step {
    Insert(Vec<(i64, i64)>),
    Delete(String),
    Update(String, i64),
    Overwrite(Vec<(i64, i64)>),
    Replace(i64, Vec<i64>),
    Truncate,
    Restore(prop::sample::Index),
}

fn condition() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("true".to_owned()),
        (2i64..4, 0i64..3).prop_map(|(by, rest)| format!("id % {by} = {rest}")),
        (0i64..30).prop_map(|limit| format!("id < {limit}")),
        (0i64..4).prop_map(|v| format!("v = {v}")),
        (0i64..3).prop_map(|p| format!("p = {p}")),
    ]
}

fn rows() -> impl Strategy<Value = Vec<(i64, i64)>> {
    prop::collection::vec((0i64..30, 0i64..4), 1..8)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => rows().prop_map(Step::Insert),
        3 => condition().prop_map(Step::Delete),
        3 => (condition(), 0i64..9).prop_map(|(condition, v)| Step::Update(condition, v)),
        1 => rows().prop_map(Step::Overwrite),
        2 => (0i64..3, prop::collection::vec(0i64..30, 1..4)).prop_map(|(p, ids)| Step::Replace(p, ids)),
        1 => Just(Step::Truncate),
        2 => any::<prop::sample::Index>().prop_map(Step::Restore),
    ]
}

fn values(rows: &[(i64, i64)]) -> String {
    let rows: Vec<String> = rows
        .iter()
        .map(|(id, v)| format!("({id}, {v}, {})", id % 3))
        .collect();
    format!("VALUES {}", rows.join(", "))
}

impl Step {
    fn sql(&self, versions: usize) -> String {
        match self {
            Step::Insert(rows) => format!("INSERT INTO t {}", values(rows)),
            Step::Delete(condition) => format!("DELETE FROM t WHERE {condition}"),
            Step::Update(condition, v) => {
                format!("UPDATE t SET v = {v}, p = (p + 1) % 3 WHERE {condition}")
            }
            Step::Overwrite(rows) => format!("INSERT OVERWRITE t {}", values(rows)),
            Step::Replace(p, ids) => {
                let rows: Vec<String> = ids.iter().map(|id| format!("({id}, 7, {p})")).collect();
                format!(
                    "INSERT INTO t REPLACE WHERE p = {p} VALUES {}",
                    rows.join(", ")
                )
            }
            Step::Truncate => "TRUNCATE TABLE t".to_owned(),
            Step::Restore(at) => format!("RESTORE TABLE t TO VERSION AS OF {}", at.index(versions)),
        }
    }
}

/// How often each row is there.
type Counted = BTreeMap<String, i64>;

fn note(counted: &mut Counted, row: &str, by: i64) {
    let count = counted.entry(row.to_owned()).or_default();
    *count += by;
    if *count == 0 {
        counted.remove(row);
    }
}

async fn lines(w: &Warehouse, sql: &str) -> Vec<Value> {
    w.rows(sql).await.as_array().unwrap().clone()
}

async fn check(
    steps: Vec<Step>,
    vectors: bool,
    partitioned: bool,
    mode: &str,
) -> Result<(), TestCaseError> {
    let w = Warehouse::new();
    let by = if partitioned {
        "PARTITIONED BY (p)"
    } else {
        ""
    };
    w.ok(&format!(
        "CREATE TABLE t (id BIGINT, v BIGINT, p BIGINT) {by} TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', \
         'delta.enableDeletionVectors' = '{vectors}', 'delta.columnMapping.mode' = '{mode}')"
    ))
    .await;
    let mut done = 1;
    for step in &steps {
        w.ok(&step.sql(done)).await;
        done = w.rows("DESCRIBE HISTORY t").await.as_array().unwrap().len();
    }
    let mut versions: Vec<Counted> = Vec::new();
    for version in 0..done {
        let mut counted = Counted::new();
        for row in lines(
            &w,
            &format!("SELECT id, v, p FROM t VERSION AS OF {version}"),
        )
        .await
        {
            note(&mut counted, &row.to_string(), 1);
        }
        versions.push(counted);
    }
    for a in 0..done {
        for b in a + 1..done {
            let mut rows = versions[a].clone();
            let changes = lines(
                &w,
                &format!(
                    "SELECT named_struct('r', array(id, v, p)), _change_type FROM table_changes('t', {}, {b})",
                    a + 1
                ),
            )
            .await;
            for change in changes {
                let by = match change[1].as_str().unwrap() {
                    "insert" | "update_postimage" => 1,
                    "delete" | "update_preimage" => -1,
                    other => panic!("{other}"),
                };
                note(&mut rows, &change[0]["r"].to_string(), by);
            }
            prop_assert_eq!(&rows, &versions[b], "from {} to {}: {:?}", a, b, steps);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(Config { cases: 16, max_shrink_iters: 40, failure_persistence: None, ..Config::default() })]

    #[test]
    fn changes_lead_from_each_version_to_every_later_one(
        steps in prop::collection::vec(step(), 1..7),
        vectors in any::<bool>(),
        partitioned in any::<bool>(),
        mode in prop::sample::select(vec!["none", "name", "id"]),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(steps, vectors, partitioned, mode))?;
    }
}
