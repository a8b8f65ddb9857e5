//! SET and RESET.

use deltaic_command::Profile;
use deltaic_session::{Parameters, SessionBuilder};
use serde_json::json;

use crate::helpers::Warehouse;

#[tokio::test]
async fn set_answers_key_and_value() {
    let w = Warehouse::new();
    let check = "spark.databricks.delta.retentionDurationCheck.enabled";
    assert_eq!(
        w.rows(&format!("SET {check}")).await,
        json!([[check, "true"]])
    );
    assert_eq!(
        w.rows(&format!("SET {check} = false;")).await,
        json!([[check, "false"]])
    );
    assert_eq!(
        w.rows(&format!("SET {check}")).await,
        json!([[check, "false"]])
    );
    w.ok(&format!("RESET {check}")).await;
    assert_eq!(
        w.rows(&format!("SET {check}")).await,
        json!([[check, "true"]])
    );
    assert_eq!(
        w.rows("SET no.such.key").await,
        json!([["no.such.key", "<undefined>"]])
    );
    assert_eq!(
        w.rows("SET my.note = two words").await,
        json!([["my.note", "two words"]])
    );
}

/// A server that is not there tells by its address which settings a statement has used.
#[tokio::test]
async fn settings_of_object_stores_hold_from_the_next_statement_on() {
    let w = Warehouse::new();
    w.all(&[
        "SET fs.s3a.access.key = k",
        "SET spark.hadoop.fs.s3a.secret.key = s",
        "SET aws_region = us-east-1",
        "SET aws_allow_http = true",
        "SET aws_retry_timeout = 100ms",
    ])
    .await;
    let read = "SELECT * FROM delta.`s3://b/t`";
    for port in [9, 19] {
        w.ok(&format!("SET fs.s3a.endpoint = http://127.0.0.1:{port}"))
            .await;
        let text = w.fails(read).await.text().to_owned();
        assert!(text.contains(&format!("127.0.0.1:{port}/")), "{text}");
    }
    w.all(&[
        "RESET fs.s3a.endpoint",
        "SET aws_endpoint = http://127.0.0.1:29",
    ])
    .await;
    let text = w.fails(read).await.text().to_owned();
    assert!(text.contains("127.0.0.1:29/"), "{text}");
}

#[tokio::test]
async fn a_wrong_value_is_refused() {
    let w = Warehouse::new();
    assert_eq!(
        w.class("SET spark.sql.shuffle.partitions = many").await,
        "INVALID_CONF_VALUE.TYPE_MISMATCH"
    );
    assert_eq!(
        w.class("SET spark.sql.session.timeZone = Mars").await,
        "INVALID_CONF_VALUE.TIME_ZONE"
    );
    assert_eq!(
        w.class("SET deltaic.profile = delta-9").await,
        "INVALID_CONF_VALUE.REQUIREMENT"
    );
}

#[tokio::test]
async fn the_profile_chooses_the_rules() {
    let w = Warehouse::new();
    w.all(&["CREATE TABLE t (id INT)", "SET deltaic.profile = delta-4.0"])
        .await;
    let error = w.fails("SELECT * FROM t VERSION AS OF 9").await;
    assert_eq!(
        (error.class(), error.text().as_str()),
        (
            None,
            "Cannot time travel Delta table to version 9. Available versions: [0, 0]."
        )
    );
    w.ok("SET deltaic.profile = delta-4.3").await;
    assert_eq!(
        w.class("SELECT * FROM t VERSION AS OF 9").await,
        "DELTA_VERSION_NOT_FOUND"
    );

    let mut builder = SessionBuilder::new(w.path("other"));
    builder.profile = Profile::Delta40;
    let session = builder.build().unwrap();
    session
        .sql("CREATE TABLE t (id INT)", Parameters::None)
        .await
        .unwrap();
    let error = session
        .sql("VACUUM t RETAIN -1 HOURS", Parameters::None)
        .await
        .unwrap_err();
    assert_eq!(
        error.text(),
        "requirement failed: Retention for Vacuum can't be less than 0."
    );
}

#[tokio::test]
async fn defaults_for_new_tables_and_notes_on_commits_come_from_settings() {
    let w = Warehouse::new();
    w.all(&[
        "SET spark.databricks.delta.properties.defaults.checkpointInterval = 7",
        "SET spark.databricks.delta.commitInfo.userMetadata = why",
        "CREATE TABLE t (id INT)",
    ])
    .await;
    assert_eq!(
        w.rows("SHOW TBLPROPERTIES t ('delta.checkpointInterval')")
            .await,
        json!([["delta.checkpointInterval", "7"]])
    );
    assert_eq!(w.rows("DESCRIBE HISTORY t").await[0][13], json!("why"));
}
