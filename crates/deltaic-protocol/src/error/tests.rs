//! How errors print, and what the table of classes holds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use expect_test::expect;

#[test]
fn the_table_holds_all_of_deltas_classes() {
    let main =
        error_classes().filter(|c| !c.spark && !c.name.contains('.') && !c.name.starts_with('_'));
    assert_eq!(main.count(), 511);
    for class in error_classes() {
        assert!(class.sql_state.is_none_or(|s| s.len() == 5), "{class:?}");
        assert!(!class.template.contains(" […]"), "{class:?}");
        assert!(class.java_class.contains('.'), "{class:?}");
    }
}

#[test]
fn a_class_of_delta_prints_without_its_sqlstate() {
    let e = DeltaError::new("DELTA_VERSION_NOT_FOUND")
        .param("userVersion", 7)
        .param("earliest", 0)
        .param("latest", 3);
    expect!["[DELTA_VERSION_NOT_FOUND] Cannot time travel Delta table to version 7. Available versions: [0, 3]."]
        .assert_eq(&e.to_string());
    assert_eq!(e.sql_state(), Some("22003"));
    assert_eq!(
        e.java_class(),
        "org.apache.spark.sql.delta.VersionNotFoundException"
    );
}

#[test]
fn a_class_of_spark_prints_with_its_sqlstate_and_the_place() {
    let e = DeltaError::new("UNRESOLVED_COLUMN.WITH_SUGGESTION")
        .param("objectName", "`x`")
        .param("proposal", "`id`, `v`")
        .with_context(SqlContext::Analysis { line: 1, pos: 7 });
    expect!["[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `x` cannot be resolved. Did you mean one of the following? [`id`, `v`]. SQLSTATE: 42703; line 1 pos 7"]
        .assert_eq(&e.to_string());
    assert_eq!(e.kind(), ErrorKind::NotFound);
}

#[test]
fn a_sub_class_without_text_leaves_its_space() {
    let e = DeltaError::new("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
        .param("operation", "VACUUM")
        .param("viewName", "`v`");
    assert_eq!(
        e.to_string(),
        "[EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE] 'VACUUM' expects a table but `v` is a view.  SQLSTATE: 42809"
    );
}

#[test]
fn a_parse_error_shows_the_statement_with_a_caret() {
    let e = DeltaError::new("PARSE_SYNTAX_ERROR")
        .param("error", "'DEEP'")
        .param("hint", "")
        .with_context(SqlContext::Parse {
            line: 1,
            pos: 16,
            sql: "CREATE TABLE dc DEEP CLONE s".into(),
        });
    assert_eq!(
        e.to_string(),
        "\n[PARSE_SYNTAX_ERROR] Syntax error at or near 'DEEP'. SQLSTATE: 42601 (line 1, pos 16)\n\n== SQL ==\nCREATE TABLE dc DEEP CLONE s\n----------------^^^\n"
    );
    assert_eq!(e.kind(), ErrorKind::Parse);
}

#[test]
fn a_fragment_is_underlined() {
    let e = DeltaError::new("DIVIDE_BY_ZERO")
        .param("config", "\"spark.sql.ansi.enabled\"")
        .with_context(SqlContext::Fragment {
            line: 1,
            pos: 7,
            sql: "SELECT 1/0".into(),
            len: 3,
        });
    assert!(
        e.to_string().ends_with(
            " SQLSTATE: 22012\n== SQL (line 1, position 8) ==\nSELECT 1/0\n       ^^^\n"
        )
    );
    assert_eq!(e.kind(), ErrorKind::Data);
}

#[test]
fn a_fragment_shows_32_characters_on_either_side() {
    let sql = format!(
        "SELECT {}1/0,\n  2/0 AS {} FROM t",
        "a, ".repeat(12),
        "b".repeat(40)
    );
    let shown = |line, pos, len| {
        let sql = sql.clone();
        let context = SqlContext::Fragment {
            line,
            pos,
            sql,
            len,
        };
        DeltaError::new("DIVIDE_BY_ZERO")
            .with_context(context)
            .to_string()
    };
    let head = " SQLSTATE: 22012\n== SQL (line 1, position 44) ==\n";
    let cut = format!(
        "{head}..., {}1/0,\n{}^^^\n",
        "a, ".repeat(10),
        " ".repeat(35)
    );
    assert!(shown(1, 43, 3).ends_with(&cut), "{}", shown(1, 43, 3));
    let two = format!(
        "1/0,\n{}^^^^\n  2/0 AS {}...\n^^^^^\n",
        " ".repeat(35),
        "b".repeat(28)
    );
    assert!(shown(1, 43, 10).ends_with(&two), "{}", shown(1, 43, 10));
    let merge = DeltaError::new("MERGE_WITHOUT_WHEN");
    let context = SqlContext::Fragment {
        line: 1,
        pos: 0,
        sql,
        len: 1,
    };
    assert!(
        merge
            .with_context(context)
            .to_string()
            .starts_with("\n[MERGE_WITHOUT_WHEN]")
    );
}

#[test]
fn an_old_class_of_spark_is_not_printed() {
    let e = DeltaError::new("_LEGACY_ERROR_TEMP_1121")
        .param("cmd", "truncates")
        .param("table", "a.b");
    assert_eq!(e.to_string(), "Table does not support truncates: a.b.");
    assert_eq!(e.class(), Some("_LEGACY_ERROR_TEMP_1121"));
}

#[test]
fn an_error_without_class_is_its_text() {
    let e = DeltaError::requirement("delta.checkpointInterval needs to be a positive integer.");
    assert_eq!(
        e.to_string(),
        "requirement failed: delta.checkpointInterval needs to be a positive integer."
    );
    assert_eq!(e.java_class(), "java.lang.IllegalArgumentException");
    assert_eq!(e.class(), None);
}

#[test]
fn sub_errors_follow_as_a_list() {
    let sub = DeltaError::new("DELTA_METADATA_MISMATCH.OVERWRITE_REQUIRED").with_text("b");
    let e = DeltaError::new("DELTA_METADATA_MISMATCH")
        .with_text("a")
        .with_sub_error(sub);
    assert_eq!(e.text(), "a\n- b");
}

#[test]
fn a_value_that_looks_like_a_place_stays_as_it_is() {
    let e = DeltaError::new("DELTA_INVALID_INTERVAL").param("interval", "<interval> <");
    assert_eq!(e.text(), "<interval> < is not a valid INTERVAL.");
}

#[test]
fn the_cause_is_found_through_source() {
    let e = DeltaError::internal("x").with_source(std::io::Error::other("deep"));
    assert_eq!(std::error::Error::source(&e).unwrap().to_string(), "deep");
    let back: Box<dyn std::error::Error + Send + Sync> = e.into();
    assert!(back.downcast_ref::<DeltaError>().is_some());
}
