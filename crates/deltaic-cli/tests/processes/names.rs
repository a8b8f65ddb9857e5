//! Names and values that nobody would choose: of tables, columns, partitions and folders, in SQL and on the command line.

use serde_json::Value;

use crate::support::Place;

/// In backticks; a backtick itself is doubled.
fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[test]
fn folders_with_any_sign_hold_tables_that_every_door_opens() {
    let place = Place::empty();
    for name in [
        "a b",
        "100%",
        "a%20b",
        "a#b?c=d&e",
        "ünïcode",
        "\u{1f600}",
        "quo'te",
        "dou\"ble",
        "tick`s",
        "semi;colon",
        "new\nline",
        "back\\slash",
        "star*[x]{y}",
        "x=1",
        "plus+minus-",
        " lead",
        "~home",
        "$VAR",
        "-dash",
        "--output",
    ] {
        let folder = place.path().join("odd").join(name);
        let table = format!("delta.{}", quoted(&folder.display().to_string()));
        let outcome = place.run(&["sql", "--quiet", &format!("CREATE TABLE {table} (id BIGINT) USING delta; INSERT INTO {table} VALUES (1); INSERT INTO {table} VALUES (2); DELETE FROM {table} WHERE id = 1")]);
        assert_eq!(outcome.status, 0, "{name:?}: {}", outcome.err);
        assert!(folder.join("_delta_log").is_dir(), "{name:?} is elsewhere");
        assert_eq!(
            place.ids(&format!("SELECT id FROM {table}")),
            [2],
            "{name:?}"
        );
        assert_eq!(
            place.ids(&format!("SELECT id FROM {table} VERSION AS OF 2")),
            [1, 2],
            "{name:?}"
        );
        let path = folder.display().to_string();
        for words in [
            vec!["history", &path],
            vec!["detail", &path],
            vec!["vacuum", &path],
            vec!["properties", &path, "--set", "a=b"],
            vec!["restore", &path, "--version", "2"],
        ] {
            let ended = place.run(&words);
            assert_eq!(ended.status, 0, "{words:?}: {}", ended.err);
        }
        assert_eq!(
            place.ids(&format!("SELECT id FROM {table}")),
            [1, 2],
            "{name:?}"
        );
        // From within, by a relative path.
        let mut relative = place.command(&["history", &format!("./odd/{name}"), "--quiet"]);
        assert!(relative.output().unwrap().status.success(), "{name:?}");
    }
}

#[test]
fn table_names_are_those_of_the_reference_or_refused() {
    let place = Place::empty();
    for name in [
        "Mixed_Case",
        "_under",
        "123",
        "9lives",
        "select",
        "table",
        "delta",
        "default",
    ] {
        let table = quoted(name);
        place.sql(&format!(
            "CREATE TABLE {table} (id INT) USING delta; INSERT INTO {table} VALUES (1)"
        ));
        assert_eq!(place.ids(&format!("SELECT id FROM {table}")), [1], "{name}");
        place.sql(&format!("DROP TABLE {table}"));
    }
    for name in [
        "",
        " ",
        "a b",
        "a.b",
        "a/b",
        "..",
        "../evil",
        "ünïcode",
        "\u{1f600}",
        "a`b",
        "a'b",
        "a;b",
        "a%b",
        "a\nb",
        ".",
        "_delta_log",
        ".deltaic",
        &"n".repeat(300),
    ] {
        let table = quoted(name);
        let ended = place.run(&["sql", "--quiet", &format!("CREATE TABLE {table} (id INT) USING delta; INSERT INTO {table} VALUES (1); SELECT * FROM {table}; DROP TABLE {table}")]);
        assert!(
            ended.status == 0 || (2..=9).contains(&ended.status),
            "{name:?}: {} {}",
            ended.status,
            ended.err
        );
        assert!(!place.path().join("evil").exists());
    }
    assert_eq!(place.rows("SHOW TABLES"), Vec::<Vec<Value>>::new());
    // The catalog lived through it.
    place.sql("CREATE TABLE plain (id INT) USING delta; INSERT INTO plain VALUES (1)");
}

#[test]
fn column_names_with_any_sign_go_through_with_column_mapping_and_are_refused_without() {
    let place = Place::empty();
    let names = [
        "a b",
        "c,d",
        "e;f",
        "{g}",
        "(h)",
        "i=j",
        "k\tl",
        "m`n",
        "o.p",
        "ü",
        "\u{1f600}",
        "quo'te",
        "dou\"ble",
        "UPPER",
        "select",
        "_metadata_",
        "\\",
    ];
    let columns: Vec<String> = names
        .iter()
        .map(|name| format!("{} INT", quoted(name)))
        .collect();
    place.sql(&format!(
        "CREATE TABLE t ({}) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        columns.join(", ")
    ));
    let values: Vec<String> = (0..names.len()).map(|n| n.to_string()).collect();
    place.sql(&format!("INSERT INTO t VALUES ({})", values.join(", ")));
    for (n, name) in names.iter().enumerate() {
        let column = quoted(name);
        assert_eq!(
            place.rows(&format!("SELECT {column} FROM t WHERE {column} = {n}")),
            [[n]],
            "{name:?}"
        );
    }
    for name in ["o.p", "m`n", "k\tl"] {
        let column = quoted(name);
        place.sql(&format!(
            "UPDATE t SET {column} = {column} + 100; DELETE FROM t WHERE {column} < 0"
        ));
        assert!(
            place.rows(&format!("SELECT {column} FROM t"))[0][0]
                .as_i64()
                .unwrap()
                >= 100,
            "{name:?}"
        );
    }
    for name in ["a b", "c,d", "k\tl", "i=j", "{g}"] {
        let ended = place.run(&[
            "sql",
            "--quiet",
            &format!("CREATE TABLE u ({} INT) USING delta", quoted(name)),
        ]);
        assert_eq!(ended.status, 3, "{name:?}: {}", ended.err);
        assert!(
            ended
                .err
                .contains("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAME"),
            "{name:?}: {}",
            ended.err
        );
    }
}

#[test]
fn partition_values_with_any_sign_come_back_as_they_went_in() {
    let place = Place::empty();
    place.sql("CREATE TABLE t (id INT, p STRING) USING delta PARTITIONED BY (p)");
    let values = [
        "plain",
        "a b",
        "a/b",
        "a%2Fb",
        "..",
        ".",
        "a=b",
        "100%",
        "ünï",
        "\u{1f600}",
        "quo''te",
        "x:y",
        "#?&",
        "\\\\",
        "{}[]",
        "~",
        " lead",
        "trail ",
        "__HIVE_DEFAULT_PARTITION__x",
        "new\\nline",
        "tab\\t",
    ];
    for (n, value) in values.iter().enumerate() {
        place.sql(&format!("INSERT INTO t VALUES ({n}, '{value}')"));
    }
    place.sql("INSERT INTO t VALUES (1000, NULL), (1001, '')");
    for (n, value) in values.iter().enumerate() {
        assert_eq!(
            place.ids(&format!("SELECT id FROM t WHERE p = '{value}'")),
            [n as i64],
            "{value:?}"
        );
    }
    // An empty text has no folder of its own: it is NULL, as in the reference.
    assert_eq!(place.ids("SELECT id FROM t WHERE p IS NULL"), [1000, 1001]);
    let all = place.rows("SELECT id, p FROM t ORDER BY id");
    place.sql("SET spark.databricks.delta.retentionDurationCheck.enabled = false; UPDATE t SET id = id + 2000; VACUUM t RETAIN 0 HOURS");
    let moved = place.rows("SELECT id - 2000, p FROM t ORDER BY id");
    assert_eq!(all, moved);
    for value in values {
        place.sql(&format!("DELETE FROM t WHERE p = '{value}'"));
    }
    assert_eq!(place.ids("SELECT id FROM t"), [3000, 3001]);
}

#[test]
fn values_of_texts_come_back_byte_for_byte() {
    let place = Place::empty();
    place.sql("CREATE TABLE t (id INT, s STRING, b BINARY) USING delta");
    let mut session = place.session();
    let texts = [
        "",
        " ",
        "\0",
        "a\0b",
        "\r\n",
        "\u{feff}bom",
        "\u{202e}rtl",
        "e\u{301}",
        "\u{10ffff}",
        "'",
        "\"",
        "\\",
        "\\n",
        "`",
        ";",
        "--",
        "/*",
        "NULL",
        "null",
        "${x}",
        "%s",
    ];
    for (n, text) in texts.iter().enumerate() {
        let request = serde_json::json!({"sql": "INSERT INTO t VALUES (:id, :s, CAST(:s AS BINARY))", "args": {"id": n, "s": text}});
        let answer = session.request(&request);
        assert!(answer.get("error").is_none(), "{text:?}: {answer}");
    }
    let rows = session.rows("SELECT s, length(s), octet_length(b) FROM t ORDER BY id");
    for (row, text) in rows.iter().zip(texts) {
        assert_eq!(row[0], text);
        assert_eq!(row[1], text.chars().count());
        assert_eq!(row[2], text.len());
    }
    for (n, text) in texts.iter().enumerate() {
        let request =
            serde_json::json!({"sql": "SELECT id FROM t WHERE s = :s", "args": {"s": text}});
        assert_eq!(
            session.request(&request)["rows"],
            serde_json::json!([[n]]),
            "{text:?}"
        );
    }
}
