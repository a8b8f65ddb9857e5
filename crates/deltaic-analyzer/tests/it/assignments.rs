//! INSERT and UPDATE: sources brought to the columns of a table, defaults, nested fields, and the errors on the way.

use deltaic_analyzer::{AnalyzerOptions, InsertTarget, Scope, analyze_insert, bind_update};
use deltaic_sql::Statement;

use super::support::{Host, schema};

/// The rows that an INSERT would write, or its error.
async fn inserted(columns: &str, statement: &str) -> Result<Vec<String>, String> {
    let host = Host::with_tables().await;
    let schema = schema(columns);
    let Statement::Insert(insert) = deltaic_sql::parse(statement).unwrap() else {
        panic!("{statement}")
    };
    let target = InsertTarget {
        table: "spark_catalog.default.t",
        schema: &schema,
        columns: &insert.columns,
        by_name: insert.by_name,
        partition: &insert.partition,
        grows: true,
        widening: None,
    };
    let found = analyze_insert(&insert.source, &target, &host, &AnalyzerOptions::default())
        .await
        .map_err(|e| e.to_string())?;
    assert_eq!(found.given.len(), schema.len());
    let answer = host
        .run_analyzed(found.analyzed)
        .await
        .map_err(|e| e.to_string())?;
    let mut rows = vec![answer.columns.join(",")];
    rows.extend(answer.rows);
    Ok(rows)
}

#[tokio::test]
async fn sources_take_the_names_and_types_of_the_table() {
    let table = "id INT, v STRING";
    for (statement, want) in [
        (
            "INSERT INTO t VALUES (1, 'a'), (2L, 'b')",
            vec!["id:int!,v:string!", "1|a", "2|b"],
        ),
        (
            "INSERT INTO t SELECT 5L, NULL",
            vec!["id:int!,v:string", "5|null"],
        ),
        (
            "INSERT INTO t (v) VALUES ('only v')",
            vec!["id:int,v:string!", "null|only v"],
        ),
        (
            "INSERT INTO t (v, id) VALUES ('x', 7)",
            vec!["id:int!,v:string!", "7|x"],
        ),
        (
            "INSERT INTO t BY NAME SELECT 'x' AS v, 1 AS id",
            vec!["id:int!,v:string!", "1|x"],
        ),
        (
            "INSERT INTO t VALUES (1, 'a', 'b')",
            vec!["id:int!,v:string!,col3:string!", "1|a|b"],
        ),
        (
            "INSERT INTO t SELECT 5 AS id, 'e' AS v, true AS flag",
            vec!["id:int!,v:string!,flag:boolean!", "5|e|true"],
        ),
        (
            "INSERT INTO t PARTITION (v = 3) VALUES (33)",
            vec!["id:int!,v:string!", "33|3"],
        ),
        (
            "INSERT INTO t VALUES (DEFAULT, DEFAULT)",
            vec!["id:int,v:string", "null|null"],
        ),
    ] {
        let want: Vec<String> = want.into_iter().map(str::to_owned).collect();
        assert_eq!(inserted(table, statement).await, Ok(want), "{statement}");
    }
}

#[tokio::test]
async fn values_that_do_not_fit_name_the_column() {
    let table = "id INT, v STRING";
    for (statement, want) in [
        (
            "INSERT INTO t VALUES (1)",
            "[DELTA_INSERT_COLUMN_ARITY_MISMATCH] Cannot write to 'spark_catalog.default.t', not enough data columns; target table has 2 column(s) but the inserted data has 1 column(s)",
        ),
        (
            "INSERT INTO t (v, nothing) VALUES ('a', 1)",
            "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `nothing` cannot be resolved. Did you mean one of the following? [`id`, `v`]. SQLSTATE: 42703",
        ),
        (
            "INSERT INTO t VALUES ('x', 'a')",
            "[CAST_INVALID_INPUT] The value 'x' of the type \"STRING\" cannot be cast to \"INT\" because it is malformed. Correct the value as per the syntax, or change its target type. Use `try_cast` to tolerate malformed input and return NULL instead. SQLSTATE: 22018",
        ),
        (
            "INSERT INTO t SELECT 3000000000 AS id, 'big' AS v",
            "[CAST_OVERFLOW_IN_TABLE_INSERT] Fail to assign a value of \"BIGINT\" type to the \"INT\" type column or variable `id` due to an overflow. Use `try_cast` on the input value to tolerate overflow and return NULL instead. SQLSTATE: 22003",
        ),
    ] {
        assert_eq!(
            inserted(table, statement).await,
            Err(want.to_owned()),
            "{statement}"
        );
    }
}

#[tokio::test]
async fn nested_values_are_assigned_by_position() {
    let table = "s STRUCT<a: BIGINT, b: STRING>, l ARRAY<BIGINT>, m MAP<STRING, DECIMAL(5,1)>";
    let rows = inserted(
        table,
        "INSERT INTO t VALUES (named_struct('x', 1, 'y', 2), array(1, 2), map('k', 1.5))",
    )
    .await
    .unwrap();
    assert_eq!(rows[1], "{1, 2}|[1, 2]|{k -> 1.5}");
    let rows = inserted(table, "INSERT INTO t VALUES (NULL, array(), map())")
        .await
        .unwrap();
    assert_eq!(rows[1], "null|[]|{}");
}

async fn set(list: &str) -> Result<Vec<String>, String> {
    let host = Host::with_tables().await;
    let columns = schema("id BIGINT, v STRING, p INT, s STRUCT<a: INT, b: STRING>");
    let scope = Scope::table(
        &columns,
        &["spark_catalog".into(), "default".into(), "c".into()],
        None,
    );
    let Statement::Update(update) = deltaic_sql::parse(&format!("UPDATE c SET {list}")).unwrap()
    else {
        panic!("{list}")
    };
    let list: Vec<_> = update
        .assignments
        .into_iter()
        .map(|a| (a.column, a.value))
        .collect();
    let found = bind_update(&list, &scope, &columns, &host, &AnalyzerOptions::default())
        .await
        .map_err(|e| e.to_string())?;
    Ok(found
        .into_iter()
        .map(|(c, b)| format!("{c}: {}", b.data_type.simple_string()))
        .collect())
}

#[tokio::test]
async fn an_update_sets_columns_and_fields() {
    assert_eq!(
        set("V = upper(v), id = id + 100").await.unwrap(),
        ["id: bigint", "v: string"]
    );
    assert_eq!(set("p = 7L, v = 5").await.unwrap(), ["v: string", "p: int"]);
    assert_eq!(
        set("s.a = 1, s.b = 'x'").await.unwrap(),
        ["s: struct<a:int,b:string>"]
    );
    assert_eq!(
        set("nothing = 1").await.unwrap_err(),
        "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `nothing` cannot be resolved. Did you mean one of the following? [`id`, `p`, `s`, `v`]. SQLSTATE: 42703"
    );
    assert!(
        set("s.a = 1, s = NULL")
            .await
            .unwrap_err()
            .starts_with("[DELTA_CONFLICT_SET_COLUMN]")
    );
}
