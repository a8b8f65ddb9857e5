//! What Spark says about text that is no statement: the token, the hint, the place.

use expect_test::{Expect, expect};

/// `token hint @line:pos` of each text's syntax error.
fn near(texts: &[&str], expected: Expect) {
    let mut out = String::new();
    for text in texts {
        let error = crate::parse(text)
            .err()
            .unwrap_or_else(|| panic!("{text} parses"));
        let parameter = |name: &str| {
            error
                .parameters()
                .iter()
                .find(|(key, _)| key == name)
                .map_or("", |(_, value)| value.as_str())
                .to_owned()
        };
        let place = match error.context() {
            Some(deltaic_protocol::error::SqlContext::Parse { line, pos, .. }) => {
                format!("{line}:{pos}")
            }
            other => panic!("{text}: {error} {other:?}"),
        };
        out.push_str(&format!(
            "{}: {}{} @{place}\n",
            text.replace('\n', "\\n"),
            parameter("error"),
            parameter("hint")
        ));
    }
    expected.assert_eq(&out);
}

fn text(sql: &str, expected: Expect) {
    expected.assert_eq(&crate::parse(sql).unwrap_err().to_string());
}

#[test]
fn an_unknown_word_is_named_at_its_place() {
    near(
        &[
            "SELEC 1",
            "  DELET FROM t",
            "CREATE TABEL t (id INT)",
            "DROP TABL t",
            "SHOW TABLS",
            "ALTER TABLE t FOO",
            "ALTER TABLE t ADD FOO",
            "INSERT INTO t VALUE (1)",
            "UPDATE t SAT a = 1",
            "UPDATE t a = 1",
            "SELECT * FROM t WHERE a = = 1",
            "SELECT * FROM t@v2x",
            "SELECT * FROM t VERSION OF 1",
            "SELECT * FROM t VERSION AS OF -1",
            "SELECT * FROM t VERSION AS OF x",
            "SELECT * FROM t VERSION AS OF 1.5",
            "DELETE FROM t VERSION AS OF 1 WHERE id = 1",
            "CREATE TABLE dc DEEP CLONE s",
            "CREATE TABLE c SHALLOW CLONE",
            "SELECT CAST(a AS)",
            "CREATE TABLE t (id BIGINT, )",
            "CREATE TABLE t id BIGINT",
            "SELECT * FROM a; SELECT 1",
            "select * from test where test.t is like 'test'",
            "SELECT * FROM test WHERE x NOT NULL",
            "MERGE INTO t USING s ON a = b WHEN NOT MATCHED THEN INSERT * WHEN MATCHED THEN DELETE",
            "SELECT '",
            "SELECT `a",
            "CALL",
        ],
        expect![[r#"
            SELEC 1: 'SELEC' @1:0
              DELET FROM t: 'DELET' @1:2
            CREATE TABEL t (id INT): 'TABEL' @1:7
            DROP TABL t: 'TABL' @1:5
            SHOW TABLS: 'TABLS' @1:5
            ALTER TABLE t FOO: 'FOO' @1:14
            ALTER TABLE t ADD FOO: 'FOO' @1:18
            INSERT INTO t VALUE (1): 'VALUE' @1:14
            UPDATE t SAT a = 1: 'a': missing 'SET' @1:13
            UPDATE t a = 1: '=' @1:11
            SELECT * FROM t WHERE a = = 1: '=' @1:26
            SELECT * FROM t@v2x: '@' @1:15
            SELECT * FROM t VERSION OF 1: 'OF' @1:24
            SELECT * FROM t VERSION AS OF -1: '-' @1:30
            SELECT * FROM t VERSION AS OF x: 'x' @1:30
            SELECT * FROM t VERSION AS OF 1.5: '1.5' @1:30
            DELETE FROM t VERSION AS OF 1 WHERE id = 1: 'AS' @1:22
            CREATE TABLE dc DEEP CLONE s: 'DEEP' @1:16
            CREATE TABLE c SHALLOW CLONE: 'SHALLOW' @1:15
            SELECT CAST(a AS): ')' @1:16
            CREATE TABLE t (id BIGINT, ): ')' @1:27
            CREATE TABLE t id BIGINT: 'id' @1:15
            SELECT * FROM a; SELECT 1: 'SELECT' @1:17
            select * from test where test.t is like 'test': 'is' @1:32
            SELECT * FROM test WHERE x NOT NULL: 'NOT' @1:27
            MERGE INTO t USING s ON a = b WHEN NOT MATCHED THEN INSERT * WHEN MATCHED THEN DELETE: 'MATCHED' @1:66
            SELECT ': ''' @1:7
            SELECT `a: '`' @1:7
            CALL: 'CALL' @1:0
        "#]],
    );
}

#[test]
fn a_text_that_stops_too_early_is_named_so() {
    near(
        &[
            "SELECT",
            "SELECT (1",
            "SELECT f(1",
            "select ((r + 1) ",
            "DROP TABLE",
            "USE",
            "SHOW",
            "INSERT INTO t VALUES",
            "INSERT INTO t VALUES (1, 2",
            "INSERT INTO t",
            "UPDATE t SET a =",
            "CREATE TABLE t (id BIGINT",
            "CREATE TABLE t (id BIGINT) USING",
            "ALTER TABLE t ADD COLUMN",
            "SELECT * FROM t VERSION AS OF",
            "SELECT * FROM t TIMESTAMP AS OF",
            "SELECT a FROM t WHERE a IN (1, 2",
            "SELECT a\nFROM t\nWHERE a >",
            "-- only a comment",
        ],
        expect![[r#"
            SELECT: end of input @1:6
            SELECT (1: end of input @1:9
            SELECT f(1: end of input @1:10
            select ((r + 1) : end of input @1:16
            DROP TABLE: end of input @1:10
            USE: end of input @1:3
            SHOW: end of input @1:4
            INSERT INTO t VALUES: end of input @1:20
            INSERT INTO t VALUES (1, 2: end of input @1:26
            INSERT INTO t: end of input @1:13
            UPDATE t SET a =: end of input @1:16
            CREATE TABLE t (id BIGINT: end of input @1:25
            CREATE TABLE t (id BIGINT) USING: end of input @1:32
            ALTER TABLE t ADD COLUMN: end of input @1:24
            SELECT * FROM t VERSION AS OF: end of input @1:29
            SELECT * FROM t TIMESTAMP AS OF: end of input @1:31
            SELECT a FROM t WHERE a IN (1, 2: end of input @1:32
            SELECT a\nFROM t\nWHERE a >: end of input @3:9
            -- only a comment: end of input @1:17
        "#]],
    );
}

#[test]
fn where_one_word_could_stand_it_is_said_what_is_too_much_or_missing() {
    near(
        &[
            "select 1 1",
            "select *\nfrom r as q t",
            "select * from r order by q from t",
            "SELECT * FORM t",
            "SELECT * FROM t ORDER id",
            "SELECT 1)",
            "ANALYZE TABLE t COMPUTE DELTA STATISTICS",
            "select * from a left join_ b on a.id = b.id",
            "DELETE t WHERE a = 1",
            "TRUNCATE t",
            "ALTER TABLE t SET TBLPROPERTIES 'a' = 'b'",
            "SELECT * FROM t WHERE a BETWEEN 1 5",
            "SELECT CAST(a INT)",
            "DESCRIBE HISTORY t LIMIT",
        ],
        expect![[r#"
            select 1 1: '1': extra input '1' @1:9
            select *\nfrom r as q t: 't': extra input 't' @2:12
            select * from r order by q from t: 'from' @1:27
            SELECT * FORM t: 't': extra input 't' @1:14
            SELECT * FROM t ORDER id: 'id': extra input 'id' @1:22
            SELECT 1): ')': extra input ')' @1:8
            ANALYZE TABLE t COMPUTE DELTA STATISTICS: 'DELTA': extra input 'DELTA' @1:24
            select * from a left join_ b on a.id = b.id: 'join_': missing 'JOIN' @1:21
            DELETE t WHERE a = 1: 't': missing 'FROM' @1:7
            TRUNCATE t: 't': missing 'TABLE' @1:9
            ALTER TABLE t SET TBLPROPERTIES 'a' = 'b': ''a'': missing '(' @1:32
            SELECT * FROM t WHERE a BETWEEN 1 5: '5': missing 'AND' @1:34
            SELECT CAST(a INT): 'INT': missing 'AS' @1:14
            DESCRIBE HISTORY t LIMIT: 'LIMIT': extra input 'LIMIT' @1:19
        "#]],
    );
}

#[test]
fn deltas_commands_fail_at_their_first_word() {
    near(
        &[
            "VACUUM",
            "VACUUM TABLE t DRY RUN",
            "VACUUM t RETAIN 0 HOUR",
            "VACUUM t RETAIN HOURS",
            "VACUUM t DRY",
            "VACUUM t FOO",
            "RESTORE TABLE t",
            "RESTORE TABLE t TO VERSION AS OF -1",
            "OPTIMIZE t ZORDER (a)",
            "REORG TABLE t",
            "CONVERT TO t",
            "GENERATE symlink_format_manifest TABLE t",
            "DESCRIBE HISTORY t LIMIT -1",
        ],
        expect![[r#"
            VACUUM: 'VACUUM' @1:0
            VACUUM TABLE t DRY RUN: 'VACUUM' @1:0
            VACUUM t RETAIN 0 HOUR: 'VACUUM' @1:0
            VACUUM t RETAIN HOURS: 'VACUUM' @1:0
            VACUUM t DRY: 'VACUUM' @1:0
            VACUUM t FOO: 'VACUUM' @1:0
            RESTORE TABLE t: 'RESTORE' @1:0
            RESTORE TABLE t TO VERSION AS OF -1: 'RESTORE' @1:0
            OPTIMIZE t ZORDER (a): 'OPTIMIZE' @1:0
            REORG TABLE t: 'REORG' @1:0
            CONVERT TO t: 'CONVERT' @1:0
            GENERATE symlink_format_manifest TABLE t: 'GENERATE' @1:0
            DESCRIBE HISTORY t LIMIT -1: 'LIMIT' @1:19
        "#]],
    );
}

#[test]
fn the_whole_text_is_sparks() {
    text(
        "",
        expect![[r#"

        [PARSE_EMPTY_STATEMENT] Syntax error, unexpected empty statement. SQLSTATE: 42617 (line 1, pos 0)

        == SQL ==

        ^^^
    "#]],
    );
    text(
        "SELECT *\nFROM t\nWHERE a = = 1\nORDER BY a",
        expect![[r#"

        [PARSE_SYNTAX_ERROR] Syntax error at or near '='. SQLSTATE: 42601 (line 3, pos 10)

        == SQL ==
        SELECT *
        FROM t
        WHERE a = = 1
        ----------^^^
        ORDER BY a
    "#]],
    );
    text(
        "VACUUM t DRY RUN DRY RUN",
        expect![[r#"

        [DUPLICATE_CLAUSES] Found duplicate clauses: DRY RUN. Please, remove one of them. SQLSTATE: 42614 (line 1, pos 9)

        == SQL ==
        VACUUM t DRY RUN DRY RUN
        ---------^^^
    "#]],
    );
    text(
        "VACUUM t LITE USING INVENTORY inv",
        expect![[r#"

        Operation not allowed: Inventory option is not compatible with LITE. (line 1, pos 9)

        == SQL ==
        VACUUM t LITE USING INVENTORY inv
        ---------^^^
    "#]],
    );
    text(
        "VACUUM a.b.c.d",
        expect!["[DELTA_PARSING_ILLEGAL_TABLE_NAME] Illegal table name `a.b.c.d`."],
    );
    text(
        "SELECT 1 /* open",
        expect![[r#"

        [UNCLOSED_BRACKETED_COMMENT] Found an unclosed bracketed comment. Please, append */ at the end of the comment. SQLSTATE: 42601 (line 1, pos 16)

        == SQL ==
        SELECT 1 /* open
        ----------------^^^
    "#]],
    );
    text(
        "SET a b = c",
        expect![[r#"

        [INVALID_SET_SYNTAX] Expected format is 'SET', 'SET key', or 'SET key=value'. If you want to include special characters in key, or include semicolon in value, please use backquotes, e.g., SET `key`=`value`. SQLSTATE: 42000
        == SQL (line 1, position 1) ==
        SET a b = c
        ^^^^^^^^^^^
    "#]],
    );
    text(
        "CREATE TABLE t (a FOO)",
        expect![[r#"

        [UNSUPPORTED_DATATYPE] Unsupported data type "FOO". SQLSTATE: 0A000
        == SQL (line 1, position 19) ==
        CREATE TABLE t (a FOO)
                          ^^^
    "#]],
    );
    text(
        "CREATE TABLE t (a VARCHAR)",
        expect![[r#"

        [DATATYPE_MISSING_SIZE] DataType "VARCHAR" requires a length parameter, for example "VARCHAR"(10). Please specify the length. SQLSTATE: 42K01
        == SQL (line 1, position 19) ==
        CREATE TABLE t (a VARCHAR)
                          ^^^^^^^
    "#]],
    );
    text(
        "CREATE TABLE t (a INT) USING delta USING delta",
        expect![[r#"

            [DUPLICATE_CLAUSES] Found duplicate clauses: USING. Please, remove one of them. SQLSTATE: 42614
            == SQL (line 1, position 1) ==
            CREATE TABLE t (a INT) USING delta USING delta
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        "#]],
    );
    text(
        "CREATE TABLE t (a INT) AS SELECT 1",
        expect![[r#"

        Operation not allowed: Schema may not be specified in a Create Table As Select (CTAS) statement.
        == SQL (line 1, position 1) ==
        CREATE TABLE t (a INT) AS SELECT 1
        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#]],
    );
    text(
        "CREATE TABLE t (a INT) USING delta PARTITIONED BY (a) CLUSTER BY (a)",
        expect![[r#"

            Operation not allowed: Clustering and partitioning cannot both be specified. Please remove PARTITIONED BY if you want to create a Delta table with clustering. (line 1, pos 54)

            == SQL ==
            CREATE TABLE t (a INT) USING delta PARTITIONED BY (a) CLUSTER BY (a)
            ------------------------------------------------------^^^
        "#]],
    );
    text(
        "ALTER TABLE t SET TBLPROPERTIES ('a', 'b' = 'c')",
        expect![[r#"

            Operation not allowed: Values must be specified for key(s): [a].
            == SQL (line 1, position 1) ==
            ALTER TABLE t SET TBLPROPERTIES ('a', 'b' = 'c')
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        "#]],
    );
    text(
        "ALTER TABLE t UNSET TBLPROPERTIES ('a' = 'b')",
        expect![[r#"

            Operation not allowed: Values should not be specified for key(s): [a].
            == SQL (line 1, position 1) ==
            ALTER TABLE t UNSET TBLPROPERTIES ('a' = 'b')
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        "#]],
    );
    text(
        "ALTER TABLE t SET TBLPROPERTIES ('a' = 'b', 'a' = 'c')",
        expect![[r#"

            [DUPLICATE_KEY] Found duplicate keys `a`. SQLSTATE: 23505
            == SQL (line 1, position 1) ==
            ALTER TABLE t SET TBLPROPERTIES ('a' = 'b', 'a' = 'c')
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        "#]],
    );
    text(
        "SELECT 300Y",
        expect![[r#"

            [INVALID_NUMERIC_LITERAL_RANGE] Numeric literal 300 is outside the valid range for tinyint with minimum value of -128 and maximum value of 127. Please adjust the value accordingly. SQLSTATE: 22003
            == SQL (line 1, position 8) ==
            SELECT 300Y
                   ^^^^
        "#]],
    );
    text(
        "SELECT foo 'x'",
        expect![[r#"

        [UNSUPPORTED_TYPED_LITERAL] Literals of the type "FOO" are not supported. Supported types are "DATE", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIMESTAMP", "INTERVAL", "X", "TIME". SQLSTATE: 0A000
        == SQL (line 1, position 8) ==
        SELECT foo 'x'
               ^^^^^^^
    "#]],
    );
    text(
        "SELECT a FROM t ORDER BY a SORT BY a",
        expect![[r#"

        [UNSUPPORTED_FEATURE.COMBINATION_QUERY_RESULT_CLAUSES] The feature is not supported: Combination of ORDER BY/SORT BY/DISTRIBUTE BY/CLUSTER BY. SQLSTATE: 0A000
        == SQL (line 1, position 17) ==
        SELECT a FROM t ORDER BY a SORT BY a
                        ^^^^^^^^^^^^^^^^^^^^
    "#]],
    );
    text(
        "COMMIT",
        expect![[r#"

        Operation not allowed: COMMIT.
        == SQL (line 1, position 1) ==
        COMMIT
        ^^^^^^
    "#]],
    );
    text(
        "lock table t",
        expect![[r#"

        Operation not allowed: LOCK TABLE.
        == SQL (line 1, position 1) ==
        lock table t
        ^^^^^^^^^^^^
    "#]],
    );
    text(
        "SELECT * x FROM t",
        expect![
            "[INVALID_USAGE_OF_STAR_OR_REGEX] Invalid usage of '*' in expression `alias`. SQLSTATE: 42000; line 1 pos 7"
        ],
    );
    text(
        "MERGE INTO t USING s ON a = b WHEN MATCHED THEN DELETE WHEN MATCHED THEN UPDATE SET *",
        expect![[r#"

            [NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION] When there are more than one MATCHED clauses in a MERGE statement, only the last MATCHED clause can omit the condition. SQLSTATE: 42613
            == SQL (line 1, position 1) ==
            MERGE INTO t USING s ON a = b WHEN MATCHED THEN DELETE WHEN MATCHED THEN UPDATE SET *
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        "#]],
    );
}
