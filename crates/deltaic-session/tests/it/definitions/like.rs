//! CREATE TABLE LIKE.

use serde_json::json;

use crate::helpers::Warehouse;

#[tokio::test]
async fn a_table_like_another_is_defined_as_that_one_is() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (a INT NOT NULL, b INT DEFAULT 7, g INT GENERATED ALWAYS AS (a + 1), \
         i BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 5), `p q` INT) PARTITIONED BY (`p q`) COMMENT 'of all kinds' \
         TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported', 'delta.columnMapping.mode' = 'name', \
         'delta.enableRowTracking' = 'true', 'delta.enableChangeDataFeed' = 'true', 'mine' = 'x')",
        "ALTER TABLE t ADD CONSTRAINT positive CHECK (a > 0)",
        "INSERT INTO t (a, `p q`) VALUES (1, 2), (2, 2)",
        "CREATE TABLE l LIKE t TBLPROPERTIES ('mine' = 'y')",
        "INSERT INTO l (a, `p q`) VALUES (1, 2)",
    ])
    .await;
    assert_eq!(w.rows("SELECT * FROM l").await, json!([[1, 7, 2, 5, 2]]));
    for (sql, class) in [
        (
            "INSERT INTO l (a, `p q`) VALUES (0, 2)",
            "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
        ),
        (
            "INSERT INTO l (a, g, `p q`) VALUES (1, 1, 2)",
            "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
        ),
        (
            "INSERT INTO l (b, `p q`) VALUES (1, 2)",
            "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
        ),
    ] {
        assert_eq!(w.class(sql).await, class, "{sql}");
    }
    let detail = w.rows("DESCRIBE DETAIL l").await.to_string();
    for part in ["of all kinds", "p q", "allowColumnDefaults", "rowTracking"] {
        assert!(detail.contains(part), "{part}: {detail}");
    }
    let properties = w.rows("SHOW TBLPROPERTIES l").await;
    let value = |key: &str| {
        let rows = properties.as_array().unwrap();
        rows.iter()
            .find(|row| row[0] == key)
            .map(|row| row[1].clone())
    };
    assert_eq!(value("mine"), Some(json!("y")));
    assert_eq!(value("delta.constraints.positive"), Some(json!("a > 0")));
    assert_eq!(value("delta.enableChangeDataFeed"), Some(json!("true")));
    assert_eq!(value("delta.columnMapping.maxColumnId"), Some(json!("5")));
    let hidden = "delta.rowTracking.materializedRowIdColumnName";
    let of_source = w.rows(&format!("SHOW TBLPROPERTIES t ('{hidden}')")).await;
    assert_ne!(value(hidden), Some(of_source[0][1].clone()));
}

#[tokio::test]
async fn a_table_like_a_clustered_one_is_not_clustered() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (a INT, b INT) CLUSTER BY (a)",
        "CREATE TABLE l LIKE t",
        "INSERT INTO l VALUES (1, 2)",
        "CREATE TABLE g (a INT, b INT GENERATED ALWAYS AS (a)) PARTITIONED BY (a)",
        "CREATE TABLE p LIKE g USING parquet",
        "INSERT INTO p (b, a) VALUES (5, 6)",
        "CREATE TABLE d LIKE p USING delta",
        "INSERT INTO d (a, b) VALUES (1, 2)",
    ])
    .await;
    assert_eq!(w.rows("SELECT a, b FROM p").await, json!([[6, 5]]));
    assert!(w.has("d/a=1"));
    let detail = w.rows("DESCRIBE DETAIL l").await.to_string();
    assert!(!detail.contains("clustering"), "{detail}");
}
