//! INSERT with values that hold more than the table's columns do.

use serde_json::{Value, json};

use crate::helpers::Warehouse;

const AUTO_MERGE: &str = "SET spark.databricks.delta.schema.autoMerge.enabled = true";

async fn type_of(w: &Warehouse, table: &str, column: &str) -> String {
    let rows = w.rows(&format!("DESCRIBE {table}")).await;
    let found = rows.as_array().unwrap().iter().find(|row| row[0] == column);
    found.unwrap()[1].as_str().unwrap().to_owned()
}

/// The metadata of a table's newest commit that has some.
fn schema(w: &Warehouse, table: &str) -> Value {
    let mut found = None;
    for version in 0.. {
        let file = w.path(&format!("{table}/_delta_log/{version:020}.json"));
        let Ok(text) = std::fs::read_to_string(file) else {
            break;
        };
        for line in text.lines() {
            let action: Value = serde_json::from_str(line).unwrap();
            if let Some(metadata) = action.get("metaData") {
                let schema = metadata["schemaString"].as_str().unwrap();
                found = Some(serde_json::from_str(schema).unwrap());
            }
        }
    }
    found.unwrap()
}

#[tokio::test]
async fn new_fields_of_structs_come_by_position_or_name() {
    for mode in ["none", "name"] {
        let w = Warehouse::new();
        w.ok(&format!(
            "CREATE TABLE t (id INT, s STRUCT<a: INT, b: STRING>, l ARRAY<STRUCT<x: INT>>, m MAP<STRING, STRUCT<y: INT>>) \
             TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}')"
        ))
        .await;
        w.ok("INSERT INTO t VALUES (1, named_struct('a', 1, 'b', 'one'), array(named_struct('x', 1)), map('k', named_struct('y', 1)))")
            .await;
        // By position, since the names are not the table's.
        let by_position = "INSERT INTO t SELECT 2, named_struct('p', '2', 'q', 2, 'c', 2L), NULL, map('k', named_struct('z', 2, 'n', 2D))";
        // By name, since all of them are.
        let by_name = "INSERT INTO t SELECT 3 AS id, named_struct('d', 3, 'b', 'three', 'a', 3) AS s, \
             array(named_struct('new', 3, 'x', 3)) AS l, map('k', named_struct('more', true, 'y', 3)) AS m";
        for statement in [by_position, by_name] {
            let error = w.fails(statement).await;
            assert_eq!(
                error.class(),
                Some("DELTA_METADATA_MISMATCH"),
                "{statement}: {error}"
            );
        }
        assert_eq!(w.ok("DESCRIBE HISTORY t").await.row_count(), 2);
        w.all(&[AUTO_MERGE, by_position]).await;
        assert_eq!(
            type_of(&w, "t", "s").await,
            "struct<a:int,b:string,c:bigint>"
        );
        assert_eq!(
            type_of(&w, "t", "m").await,
            "map<string,struct<y:int,n:double>>"
        );
        let with_all = by_name
            .replace("'b', 'three'", "'b', 'three', 'c', 3L")
            .replace("'y', 3", "'y', 3, 'n', 3D");
        w.ok(&with_all).await;
        assert_eq!(
            type_of(&w, "t", "s").await,
            "struct<a:int,b:string,c:bigint,d:int>"
        );
        assert_eq!(type_of(&w, "t", "l").await, "array<struct<x:int,new:int>>");
        assert_eq!(
            type_of(&w, "t", "m").await,
            "map<string,struct<y:int,n:double,more:boolean>>"
        );
        assert_eq!(
            w.rows("SELECT id, s.a, s.b, s.c, s.d, l[0].x, l[0].new, m['k'].y, m['k'].n, m['k'].more FROM t ORDER BY id").await,
            json!([
                [1, 1, "one", null, null, 1, null, 1, null, null],
                [2, 2, "2", 2, null, null, null, 2, 2.0, null],
                [3, 3, "three", 3, 3, 3, 3, 3, 3.0, true]
            ])
        );
        // The BY NAME clause and WITH SCHEMA EVOLUTION do it too.
        w.ok("SET spark.databricks.delta.schema.autoMerge.enabled = false")
            .await;
        w.ok("INSERT WITH SCHEMA EVOLUTION INTO t BY NAME SELECT named_struct('a', 4, 'b', 'four', 'c', 4L, 'd', 4, 'e', 4) AS s, 4 AS id")
            .await;
        assert_eq!(
            w.rows("SELECT s.e, l FROM t WHERE id = 4").await,
            json!([[4, null]])
        );
        // Too few fields are an error, whatever is allowed; so is a second field of a name.
        w.ok(AUTO_MERGE).await;
        let few = "INSERT INTO t SELECT 5, named_struct('p', 1), NULL, NULL";
        assert_eq!(w.class(few).await, "DELTA_INSERT_COLUMN_ARITY_MISMATCH");
        let twice = "INSERT INTO t SELECT 5, named_struct('p', 1, 'q', 'b', 'r', 1L, 's', 4, 't', 5, 'A', 6), NULL, NULL";
        assert_eq!(w.class(twice).await, "COLUMN_ALREADY_EXISTS");
        let count = w.rows("SELECT count(*), count(DISTINCT s) FROM t").await;
        assert_eq!(count, json!([[4, 4]]));
    }
}

#[tokio::test]
async fn null_structs_stay_null_when_the_table_grows() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, s STRUCT<a: STRUCT<b: INT>>)",
        "CREATE TABLE source (id INT, s STRUCT<a: STRUCT<c: INT, b: INT>, d: INT>)",
        "INSERT INTO source VALUES (1, NULL), (2, named_struct('a', NULL, 'd', 2)), (3, named_struct('a', named_struct('c', 3, 'b', 4), 'd', 5))",
        AUTO_MERGE,
        "INSERT INTO t SELECT * FROM source",
    ])
    .await;
    assert_eq!(
        type_of(&w, "t", "s").await,
        "struct<a:struct<b:int,c:int>,d:int>"
    );
    assert_eq!(
        w.rows("SELECT id, s IS NULL, s.a IS NULL, s.a.b, s.a.c, s.d FROM t ORDER BY id")
            .await,
        json!([
            [1, true, true, null, null, null],
            [2, false, true, null, null, 2],
            [3, false, false, 4, 3, 5]
        ])
    );
    w.ok("INSERT OVERWRITE t SELECT id, named_struct('a', s.a, 'd', s.d, 'e', id) AS s FROM source WHERE id = 3").await;
    assert_eq!(w.rows("SELECT s.e, s.a.b FROM t").await, json!([[3, 4]]));
}

#[tokio::test]
async fn types_grow_where_the_table_widens_types() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (i INT, s STRUCT<x: SMALLINT>, l ARRAY<TINYINT>) TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
        "INSERT INTO t VALUES (1, named_struct('x', 1), array(1Y))",
    ])
    .await;
    let long =
        "INSERT INTO t SELECT 5000000000 AS i, named_struct('x', 70000) AS s, array(1Y) AS l";
    assert_eq!(w.class(long).await, "CAST_OVERFLOW_IN_TABLE_INSERT");
    w.all(&[AUTO_MERGE, long]).await;
    assert_eq!(type_of(&w, "t", "i").await, "bigint");
    assert_eq!(type_of(&w, "t", "s").await, "struct<x:int>");
    let fields = schema(&w, "t")["fields"].clone();
    assert_eq!(
        fields[0]["metadata"]["delta.typeChanges"],
        json!([{"toType": "long", "fromType": "integer"}])
    );
    assert_eq!(
        fields[1]["type"]["fields"][0]["metadata"]["delta.typeChanges"],
        json!([{"toType": "integer", "fromType": "short"}])
    );
    assert_eq!(
        w.rows("SELECT i, s.x FROM t ORDER BY i").await,
        json!([[1, 1], [5000000000i64, 70000]])
    );
    // Narrower values are cast as ever, and what is no widening too.
    w.ok("INSERT INTO t VALUES (3Y, named_struct('x', 3Y), array(3Y))")
        .await;
    assert_eq!(
        w.class("INSERT INTO t VALUES ('word', NULL, NULL)").await,
        "CAST_INVALID_INPUT"
    );
    assert_eq!(type_of(&w, "t", "i").await, "bigint");
    w.all(&[
        "SET spark.databricks.delta.typeWidening.allowAutomaticWidening = never",
        "CREATE TABLE u (i INT) TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
        "INSERT INTO u SELECT 1L",
    ])
    .await;
    assert_eq!(type_of(&w, "u", "i").await, "int");
    w.all(&[
        "SET spark.databricks.delta.typeWidening.allowAutomaticWidening = same_family_type",
        "INSERT INTO u SELECT 1.5D",
    ])
    .await;
    assert_eq!(type_of(&w, "u", "i").await, "int");
    w.ok("INSERT INTO u SELECT 1L").await;
    assert_eq!(type_of(&w, "u", "i").await, "bigint");
    // A table that does not widen keeps its types.
    w.all(&["CREATE TABLE plain (i INT)", "INSERT INTO plain SELECT 1L"])
        .await;
    assert_eq!(type_of(&w, "plain", "i").await, "int");
}
