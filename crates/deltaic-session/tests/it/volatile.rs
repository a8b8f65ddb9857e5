//! Functions that answer differently for each row do so however many batches and partitions there are.

use serde_json::json;

use crate::helpers::Warehouse;

#[tokio::test]
async fn no_value_comes_again_in_another_batch_or_partition() {
    let w = Warehouse::new();
    let calls = [
        "rand()",
        "rand(5)",
        "randn(5)",
        "uuid()",
        "monotonically_increasing_id()",
        "cast(shuffle(sequence(1, 20)) AS STRING)",
    ];
    for call in calls {
        for partitions in [1, 3] {
            let sql = format!(
                "SELECT count(DISTINCT v) FROM (SELECT {call} AS v FROM range(0, 50000, 1, {partitions}))"
            );
            assert_eq!(w.rows(&sql).await, json!([[50000]]), "{sql}");
        }
    }
}

#[tokio::test]
async fn a_seed_gives_the_same_values_again() {
    let w = Warehouse::new();
    let sql = "SELECT round(sum(a), 6), round(sum(b), 6) FROM
        (SELECT rand(5) AS a, rand(6) AS b FROM range(0, 20000, 1, 1))";
    let (one, other) = (w.rows(sql).await, w.rows(sql).await);
    assert_eq!(one, other);
    assert_ne!(one[0][0], one[0][1]);
    let mean = one[0][0].as_f64().unwrap() / 20_000.0;
    assert!((mean - 0.5).abs() < 0.02, "{mean}");
}

#[tokio::test]
async fn an_aggregate_takes_no_value_that_varies() {
    let w = Warehouse::new();
    let error = w.fails("SELECT sum(rand(5) + id) FROM range(3)").await;
    let class = "AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION";
    assert_eq!(error.class(), Some(class));
    assert!(
        error.to_string().contains("\"sum((rand(5) + id))\""),
        "{error}"
    );
}
