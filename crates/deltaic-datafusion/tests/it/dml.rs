//! DELETE, UPDATE and TRUNCATE: rows, counts, files and metrics.

use deltaic_datafusion::{WriteContext, truncate};
use deltaic_protocol::action::Action;
use deltaic_protocol::schema::DataType;

use crate::helpers::{Table, rows};

fn columns() -> [(&'static str, DataType); 2] {
    [("id", DataType::Long), ("v", DataType::String)]
}

const NO_VECTORS: [(&str, &str); 1] = [("delta.enableDeletionVectors", "false")];
const VECTORS: [(&str, &str); 1] = [("delta.enableDeletionVectors", "true")];

async fn filled(given: &[(&str, &str)]) -> Table {
    let table = Table::new(&columns(), &[], given).await;
    table
        .insert("SELECT value AS id, 'v' || value AS v FROM generate_series(0, 49)")
        .await;
    table
        .insert("SELECT value AS id, 'v' || value AS v FROM generate_series(50, 99)")
        .await;
    table
}

#[tokio::test]
async fn a_condition_that_is_null_false_or_without_rows_changes_nothing() {
    for given in [NO_VECTORS, VECTORS] {
        let table = filled(&given).await;
        for predicate in [
            "false",
            "1 = 0",
            "CAST(NULL AS BOOLEAN)",
            "id = CAST(NULL AS BIGINT)",
            "id > 1000",
            "id IN (SELECT 5000)",
        ] {
            let report = table.delete(Some(predicate)).await;
            assert_eq!(
                (report.affected_rows, report.commit.is_none()),
                (0, true),
                "{predicate}"
            );
            let report = table.update(&[("v", "'x'")], Some(predicate)).await;
            assert_eq!(
                (report.affected_rows, report.commit.is_none()),
                (0, true),
                "{predicate}"
            );
        }
        assert_eq!(table.snapshot().await.version(), 2);
    }
}

#[tokio::test]
async fn deletion_vectors_grow_and_whole_files_go() {
    let table = filled(&VECTORS).await;
    assert_eq!(table.delete(Some("id % 10 = 3")).await.affected_rows, 10);
    assert_eq!(
        table
            .files()
            .iter()
            .filter(|file| file.ends_with(".bin"))
            .count(),
        1,
        "vectors are packed into one file"
    );
    assert_eq!(table.delete(Some("id % 10 = 4")).await.affected_rows, 10);
    let metrics = table.metrics(4).await;
    for (name, value) in [
        ("numDeletionVectorsAdded", "2"),
        ("numDeletionVectorsUpdated", "2"),
        ("numDeletionVectorsRemoved", "2"),
        ("numDeletedRows", "10"),
    ] {
        assert_eq!(metrics[name], value, "{name}");
    }
    let adds = table.adds(4).await;
    assert!(adds.iter().all(|add| {
        add.stats
            .as_ref()
            .unwrap()
            .ends_with("\"tightBounds\":false}")
    }));
    assert_eq!(adds[0].deletion_vector.as_ref().unwrap().cardinality, 10);
    assert_eq!(
        table
            .update(&[("v", "'u'")], Some("id IN (1, 99)"))
            .await
            .affected_rows,
        2
    );
    assert_eq!(
        rows(&table, "SELECT count(*), sum(id), min(v), max(v) FROM t").await,
        ["80|3980|u|v98"]
    );
    assert_eq!(table.delete(Some("id < 50")).await.affected_rows, 40);
    let metrics = table.metrics(6).await;
    for (name, value) in [
        ("numRemovedFiles", "1"),
        ("numDeletionVectorsAdded", "1"),
        ("numDeletionVectorsUpdated", "0"),
        ("numDeletionVectorsRemoved", "1"),
    ] {
        assert_eq!(metrics[name], value, "{name}");
    }
    assert_eq!(
        rows(&table, "SELECT count(*), sum(id) FROM t").await,
        ["40|2990"]
    );
    assert_eq!(
        table
            .query_at(3, "SELECT count(*) FROM t")
            .await
            .matches("90")
            .count(),
        1
    );
}

#[tokio::test]
async fn files_are_rewritten_without_the_deleted_rows() {
    let table = filled(&NO_VECTORS).await;
    assert_eq!(table.delete(Some("id = 60")).await.affected_rows, 1);
    let metrics = table.metrics(3).await;
    assert_eq!(
        (
            metrics["numCopiedRows"].as_str(),
            metrics["numAddedFiles"].as_str(),
            metrics["numRemovedFiles"].as_str()
        ),
        ("49", "1", "1")
    );
    let actions = table.actions(3).await;
    let removed = actions
        .iter()
        .find_map(|action| {
            if let Action::Remove(remove) = action {
                Some(remove)
            } else {
                None
            }
        })
        .unwrap();
    assert_eq!(
        (removed.extended_file_metadata, removed.stats.as_deref()),
        (Some(true), None)
    );
    assert_eq!(
        rows(&table, "SELECT count(*), sum(id) FROM t").await,
        ["99|4890"]
    );
    assert_eq!(table.delete(Some("id >= 50")).await.affected_rows, 49);
    assert_eq!(
        table.metrics(4).await["numAddedFiles"],
        "0",
        "no empty file is written"
    );
    assert_eq!(table.delete(None).await.affected_rows, 50);
    assert_eq!(rows(&table, "SELECT count(*) FROM t").await, ["0"]);
    assert!(table.delete(None).await.commit.is_none());
}

#[tokio::test]
async fn partitions_go_by_metadata_alone() {
    let table = Table::new(
        &[("id", DataType::Long), ("p", DataType::String)],
        &["p"],
        &NO_VECTORS,
    )
    .await;
    table
        .insert("VALUES (1, 'a b'), (2, 'c'), (3, NULL), (4, 'c')")
        .await;
    for file in table.files() {
        std::fs::write(table.folder.path().join("t").join(file), b"unreadable").unwrap();
    }
    assert_eq!(table.delete(Some("p = 'c'")).await.affected_rows, 2);
    assert_eq!(table.delete(Some("p IS NULL")).await.affected_rows, 1);
    assert_eq!(
        table.delete(Some("p = 'a b' AND true")).await.affected_rows,
        1
    );
    assert_eq!(rows(&table, "SELECT count(*) FROM t").await, ["0"]);
}

#[tokio::test]
async fn subqueries_decide_about_rows() {
    for given in [NO_VECTORS, VECTORS] {
        let table = filled(&given).await;
        assert_eq!(
            table
                .delete(Some("id IN (SELECT id FROM t WHERE id > 95)"))
                .await
                .affected_rows,
            4
        );
        assert_eq!(
            table
                .delete(Some("EXISTS (SELECT 1 FROM t AS o WHERE o.id = t.id + 94)"))
                .await
                .affected_rows,
            2
        );
        assert_eq!(
            table
                .delete(Some("id = (SELECT max(id) FROM t)"))
                .await
                .affected_rows,
            1
        );
        assert_eq!(
            table
                .delete(Some("id NOT IN (SELECT id FROM t WHERE id < 80)"))
                .await
                .affected_rows,
            15
        );
        assert_eq!(
            table
                .update(&[("v", "'top'")], Some("id = (SELECT max(id) FROM t)"))
                .await
                .affected_rows,
            1
        );
        assert_eq!(
            rows(
                &table,
                "SELECT count(*), max(id), count(*) FILTER (WHERE v = 'top') FROM t"
            )
            .await,
            ["78|79|1"]
        );
    }
}

#[tokio::test]
async fn updates_move_rows_between_partitions_and_see_old_values() {
    for given in [NO_VECTORS, VECTORS] {
        let table = Table::new(
            &[
                ("id", DataType::Long),
                ("v", DataType::Long),
                ("p", DataType::Integer),
            ],
            &["p"],
            &given,
        )
        .await;
        table
            .insert("VALUES (1, 10, 0), (2, 20, 0), (3, NULL, 1)")
            .await;
        assert_eq!(
            table
                .update(
                    &[("p", "CAST(7 AS INT)"), ("v", "id + v"), ("ID", "id + 100")],
                    Some("id = 2")
                )
                .await
                .affected_rows,
            1
        );
        assert_eq!(
            rows(&table, "SELECT * FROM t ORDER BY id").await,
            ["1|10|0", "3||1", "102|22|7"]
        );
        assert_eq!(
            table
                .update(&[("v", "CAST(0 AS BIGINT)")], None)
                .await
                .affected_rows,
            3
        );
        assert_eq!(
            rows(&table, "SELECT sum(v), count(v) FROM t").await,
            ["0|3"]
        );
    }
}

#[tokio::test]
async fn an_update_keeps_the_place_of_every_row() {
    let table = Table::new(&columns(), &[], &NO_VECTORS).await;
    table.insert("VALUES (3, 'c'), (1, 'a'), (2, 'b')").await;
    table.update(&[("v", "upper(v)")], Some("id = 1")).await;
    assert_eq!(rows(&table, "SELECT * FROM t").await, ["3|c", "1|A", "2|b"]);
    let metrics = table.metrics(2).await;
    assert_eq!(
        (
            metrics["numUpdatedRows"].as_str(),
            metrics["numCopiedRows"].as_str()
        ),
        ("1", "2")
    );
}

#[tokio::test]
async fn a_new_value_is_computed_for_matching_rows_only() {
    let table = Table::new(
        &[("id", DataType::Long), ("d", DataType::Long)],
        &[],
        &NO_VECTORS,
    )
    .await;
    table.insert("VALUES (1, 0), (2, 5)").await;
    assert_eq!(
        table
            .update(&[("id", "100 / d")], Some("d <> 0"))
            .await
            .affected_rows,
        1
    );
    assert_eq!(
        rows(&table, "SELECT * FROM t ORDER BY id").await,
        ["1|0", "20|5"]
    );
}

#[tokio::test]
async fn append_only_tables_are_left_alone() {
    let table = Table::new(&columns(), &[], &[("delta.appendOnly", "true")]).await;
    table.insert("VALUES (1, 'a')").await;
    for error in [
        table.try_delete(Some("id = 1")).await.unwrap_err(),
        table.try_update(&[("v", "'x'")], None).await.unwrap_err(),
    ] {
        assert_eq!(
            error.to_string(),
            "[DELTA_CANNOT_MODIFY_APPEND_ONLY] This table is configured to only allow appends. If you would like to permit updates or \
             deletes, use 'ALTER TABLE null SET TBLPROPERTIES (delta.appendOnly=false)'."
        );
    }
}

#[tokio::test]
async fn truncating_removes_every_file() {
    let table = filled(&VECTORS).await;
    let state = table.ctx.state();
    let report = truncate(
        &WriteContext::new(&state, &table.commit),
        &table.snapshot().await,
    )
    .await
    .unwrap();
    assert_eq!(report.affected_rows, 100);
    assert_eq!(table.metrics(3).await["numRemovedFiles"], "2");
    assert_eq!(rows(&table, "SELECT count(*) FROM t").await, ["0"]);
}

#[tokio::test]
async fn two_deletes_of_one_file_conflict_and_of_two_partitions_do_not() {
    let table = Table::new(
        &[("id", DataType::Long), ("p", DataType::Integer)],
        &["p"],
        &NO_VECTORS,
    )
    .await;
    table.insert("VALUES (1, 1), (2, 1), (3, 2), (4, 2)").await;
    let stale = table.snapshot().await;
    table.delete(Some("p = 1 AND id = 1")).await;
    let state = table.ctx.state();
    let ctx = WriteContext::new(&state, &table.commit);
    let request = |sql: datafusion::logical_expr::Expr| deltaic_datafusion::Delete {
        predicate: Some(sql),
        ..Default::default()
    };
    use datafusion::logical_expr::{col, lit};
    let other = col("p").eq(lit(2)).and(col("id").eq(lit(3_i64)));
    deltaic_datafusion::delete(&ctx, &stale, request(other))
        .await
        .unwrap();
    let same = col("p").eq(lit(1)).and(col("id").eq(lit(2_i64)));
    let error = deltaic_datafusion::delete(&ctx, &stale, request(same))
        .await
        .unwrap_err();
    assert!(
        error.class().unwrap().starts_with("DELTA_CONCURRENT"),
        "{error}"
    );
    assert_eq!(
        rows(&table, "SELECT id FROM t ORDER BY id").await,
        ["2", "4"]
    );
}

#[tokio::test]
async fn statements_on_a_table_with_change_feed_leave_the_changes() {
    for (vectors, deleted) in [("false", 1), ("true", 0)] {
        let given = [
            ("delta.enableChangeDataFeed", "true"),
            ("delta.enableDeletionVectors", vectors),
        ];
        let table = Table::new(
            &[
                ("id", DataType::Long),
                ("v", DataType::String),
                ("p", DataType::Long),
            ],
            &["p"],
            &given,
        )
        .await;
        table
            .insert("VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2)")
            .await;
        table.delete(Some("id IN (1, 3)")).await;
        assert_eq!(
            table.metrics(2).await["numAddedChangeFiles"],
            if deleted == 1 { "2" } else { "0" },
            "one for each partition"
        );
        table
            .update(&[("v", "'x'"), ("p", "CAST(7 AS BIGINT)")], Some("id = 2"))
            .await;
        let changes: Vec<_> = table
            .actions(3)
            .await
            .into_iter()
            .filter_map(|action| {
                if let Action::Cdc(cdc) = action {
                    Some(cdc)
                } else {
                    None
                }
            })
            .collect();
        assert!(
            changes
                .iter()
                .all(|cdc| !cdc.data_change && cdc.path.starts_with("_change_data/p=")),
            "{changes:?}"
        );
        let mut found = Vec::new();
        for cdc in &changes {
            let path = table.folder.path().join("t").join(&cdc.path);
            table
                .ctx
                .register_parquet("c", path.to_str().unwrap(), Default::default())
                .await
                .unwrap();
            let batches = table
                .ctx
                .sql("SELECT id, v, _change_type FROM c")
                .await
                .unwrap()
                .collect()
                .await
                .unwrap();
            found.extend(crate::helpers::cells(&batches));
            table.ctx.deregister_table("c").unwrap();
        }
        found.sort();
        assert_eq!(found, ["2|b|update_preimage", "2|x|update_postimage"]);
        assert_eq!(rows(&table, "SELECT * FROM t").await, ["2|x|7"]);
    }
}
