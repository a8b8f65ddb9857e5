//! Markers and IDENTIFIER.

use deltaic_session::Parameters;
use serde_json::{Value, json};

use crate::helpers::Warehouse;

async fn ask(w: &Warehouse, sql: &str, args: Value) -> Value {
    let answer = w
        .session
        .sql(sql, Parameters::from_json(&args).unwrap())
        .await;
    answer
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
        .to_json_pipe()["rows"]
        .clone()
}

#[tokio::test]
async fn parameters_reach_names_and_values_everywhere() {
    let w = Warehouse::new();
    let args = json!({"s": "lab", "t": "lab.t", "id": 7, "v": "seven"});
    ask(&w, "CREATE SCHEMA IDENTIFIER(:s)", args.clone()).await;
    ask(
        &w,
        "CREATE TABLE IDENTIFIER(:t) (id INT, v STRING)",
        args.clone(),
    )
    .await;
    ask(
        &w,
        "INSERT INTO IDENTIFIER(:t) VALUES (:id, :v)",
        args.clone(),
    )
    .await;
    assert_eq!(
        ask(
            &w,
            "SELECT * FROM IDENTIFIER(:s || '.t') WHERE id = :id",
            args.clone()
        )
        .await,
        json!([[7, "seven"]])
    );
    assert_eq!(
        ask(
            &w,
            "UPDATE IDENTIFIER(:t) SET v = 'x' WHERE id = :id",
            args.clone()
        )
        .await,
        json!([[1]])
    );
    assert_eq!(
        ask(
            &w,
            "SELECT count(*) FROM IDENTIFIER(:t) VERSION AS OF 0",
            args.clone()
        )
        .await,
        json!([[0]])
    );
    assert_eq!(
        ask(&w, "DESCRIBE HISTORY IDENTIFIER(:t) LIMIT 1", args.clone()).await[0][4],
        json!("UPDATE")
    );
    assert_eq!(
        ask(&w, "VACUUM IDENTIFIER(:t) DRY RUN", args.clone()).await,
        json!([])
    );
    assert_eq!(
        ask(&w, "SELECT ? + 1, ?", json!([41, "x"])).await,
        json!([[42, "x"]])
    );
    assert_eq!(ask(&w, "DROP TABLE IDENTIFIER(:t)", args).await, json!([]));
}

#[tokio::test]
async fn a_marker_without_a_value_is_an_error() {
    let w = Warehouse::new();
    assert_eq!(w.class("SELECT :a").await, "UNBOUND_SQL_PARAMETER");
}
