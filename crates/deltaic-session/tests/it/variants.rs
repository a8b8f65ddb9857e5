//! Tables with VARIANT columns.

use serde_json::json;

use crate::helpers::Warehouse;

#[tokio::test]
async fn variants_are_written_read_and_changed() {
    for mode in ["none", "name", "id"] {
        let w = Warehouse::new();
        w.ok(&format!(
            "CREATE TABLE t (id INT, v VARIANT, s STRUCT<v: VARIANT>, l ARRAY<VARIANT>) \
             TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}')"
        ))
        .await;
        w.all(&[
            r#"INSERT INTO t SELECT 1, parse_json('{"a":{"b":[1,"x"]}}'), named_struct('v', parse_json('1')), array(parse_json('true'), NULL)"#,
            "INSERT INTO t VALUES (2, NULL, NULL, NULL)",
            "INSERT INTO t (id, v) VALUES (3, 'a text')",
            "INSERT INTO t (id, v) SELECT 4, parse_json('null')",
        ])
        .await;
        let text =
            "SELECT id, to_json(v), to_json(s.v), to_json(l[0]), l[1] IS NULL FROM t ORDER BY id";
        assert_eq!(
            w.rows(text).await,
            json!([
                [1, r#"{"a":{"b":[1,"x"]}}"#, "1", "true", true],
                [2, null, null, null, true],
                [3, "\"a text\"", null, null, true],
                [4, "null", null, null, true],
            ]),
            "{mode}"
        );
        assert_eq!(
            w.rows("SELECT id FROM t WHERE v IS NULL").await,
            json!([[2]])
        );
        assert_eq!(
            w.rows("SELECT count(*), count(v) FROM t").await,
            json!([[4, 3]])
        );
        w.all(&[
            "UPDATE t SET v = CAST(id AS VARIANT) WHERE id >= 3",
            "DELETE FROM t WHERE variant_get(v, '$.a.b[0]', 'int') = 1",
        ])
        .await;
        assert_eq!(
            w.rows("SELECT id, to_json(v) FROM t ORDER BY id").await,
            json!([[2, null], [3, "3"], [4, "4"]]),
            "{mode}"
        );
        w.all(&[
            "CREATE TABLE c AS SELECT v FROM t",
            "RESTORE t TO VERSION AS OF 4",
        ])
        .await;
        assert_eq!(
            w.rows("SELECT to_json(v) FROM c WHERE v IS NOT NULL ORDER BY 1")
                .await,
            json!([["3"], ["4"]])
        );
        assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[4]]));
    }
}

#[tokio::test]
async fn json_of_a_value_shows_the_variants_in_it() {
    let w = Warehouse::new();
    assert_eq!(
        w.rows(
            r#"SELECT to_json(map('k', parse_json('{"a":[1.50,null]}'))), to_json(named_struct('v', parse_json('"t"'), 'n', CAST(NULL AS VARIANT)))"#
        )
        .await,
        json!([[r#"{"k":{"a":[1.5,null]}}"#, r#"{"v":"t"}"#]])
    );
}

#[tokio::test]
async fn what_variants_cannot_do_is_refused() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, v VARIANT)",
        "INSERT INTO t SELECT 1, parse_json('[1]')",
    ])
    .await;
    for (statement, class) in [
        (
            "SELECT v, count(*) FROM t GROUP BY v",
            "GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE",
        ),
        (
            "SELECT DISTINCT v FROM t",
            "UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE",
        ),
        (
            "SELECT v FROM t UNION SELECT v FROM t",
            "UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE",
        ),
        (
            "SELECT v FROM t EXCEPT SELECT v FROM t",
            "UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE",
        ),
        (
            "SELECT * FROM t ORDER BY v",
            "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE",
        ),
        ("SELECT CAST(v AS INT) FROM t", "INVALID_VARIANT_CAST"),
        (
            "SELECT variant_get(v, '[0]') FROM t",
            "INVALID_VARIANT_GET_PATH",
        ),
        (
            "SELECT variant_get('x', '$') FROM t",
            "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
        ),
        (
            "SELECT parse_json('{')",
            "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
        ),
        (
            r#"SELECT parse_json('[{"a":1,"a":2}]')"#,
            "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
        ),
        (
            "CREATE TABLE p (id INT, v VARIANT) PARTITIONED BY (v)",
            "DELTA_INVALID_PARTITION_COLUMN_TYPE",
        ),
    ] {
        assert_eq!(w.class(statement).await, class, "{statement}");
    }
    assert_eq!(
        w.rows("SELECT to_json(v) FROM t UNION ALL SELECT to_json(v) FROM t")
            .await,
        json!([["[1]"], ["[1]"]])
    );
}

#[tokio::test]
async fn tables_with_shredding_are_read_and_written() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, v VARIANT) TBLPROPERTIES ('delta.enableVariantShredding' = 'true')",
        r#"INSERT INTO t SELECT 1, parse_json('{"a":1}')"#,
        r#"UPDATE t SET v = parse_json('[2]')"#,
        "CREATE TABLE p (id INT, v VARIANT) TBLPROPERTIES ('delta.feature.variantType-preview' = 'supported')",
        "INSERT INTO p SELECT * FROM t",
    ])
    .await;
    assert_eq!(w.rows("SELECT to_json(v) FROM p").await, json!([["[2]"]]));
    let detail = w.shown("DESCRIBE DETAIL t").await;
    assert!(
        detail.contains("variantShredding-preview, variantType]"),
        "{detail}"
    );
    let detail = w.shown("DESCRIBE DETAIL p").await;
    assert!(detail.contains("variantType-preview]"), "{detail}");
}
