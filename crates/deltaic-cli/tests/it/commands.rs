//! The commands beside `sql`, on names and on paths.

use serde_json::Value;

use crate::Place;

fn table(place: &Place) -> String {
    let setup = "CREATE TABLE t (id BIGINT) USING delta TBLPROPERTIES ('my.key' = 'v'); INSERT INTO t VALUES (1), (2); DELETE FROM t WHERE id = 2";
    let ended = place.run(&["sql", setup]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    place.path().join("wh/t").to_string_lossy().into_owned()
}

fn rows(out: &str) -> Vec<Vec<Value>> {
    let answer: Value = serde_json::from_str(out).unwrap();
    serde_json::from_value(answer["rows"].clone()).unwrap()
}

#[test]
fn history_answers_on_a_name_and_on_a_path() {
    let place = Place::empty();
    let path = table(&place);
    for target in ["t", "spark_catalog.default.t", &path, "./wh/t"] {
        let ended = place.run(&["history", target, "--limit", "2", "--output", "json"]);
        assert_eq!(ended.status, 0, "{target}: {}{}", ended.out, ended.err);
        let versions: Vec<Value> = rows(&ended.out)
            .into_iter()
            .map(|row| row[0].clone())
            .collect();
        assert_eq!(versions, [2, 1], "{target}");
    }
}

#[test]
fn restore_goes_back_and_says_what_it_did() {
    let place = Place::empty();
    let path = table(&place);
    let ended = place.run(&["restore", &path, "--version", "1", "--output", "json"]);
    assert_eq!(ended.status, 0, "{}{}", ended.out, ended.err);
    assert_eq!(rows(&ended.out)[0].len(), 6);
    let ended = place.run(&["sql", "SELECT count(*) FROM t", "--output", "json"]);
    assert_eq!(rows(&ended.out), [[Value::from(2)]]);
}

#[test]
fn properties_are_shown_set_and_removed() {
    let place = Place::empty();
    let path = table(&place);
    let ended = place.run(&[
        "properties",
        &path,
        "--set",
        "other='quoted' = \\",
        "--unset",
        "my.key",
        "--output",
        "json",
    ]);
    assert_eq!(ended.status, 0, "{}{}", ended.out, ended.err);
    let shown = rows(&ended.out);
    assert!(
        shown
            .iter()
            .any(|row| row[0] == "other" && row[1] == "'quoted' = \\"),
        "{shown:?}"
    );
    assert!(!shown.iter().any(|row| row[0] == "my.key"), "{shown:?}");
}

#[test]
fn vacuum_refuses_a_short_retention_and_says_what_helps() {
    let place = Place::empty();
    let path = table(&place);
    let ended = place.run(&["vacuum", &path, "--retain-hours", "0"]);
    assert!(
        ended
            .err
            .contains("DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT"),
        "{}",
        ended.err
    );
    assert!(
        ended.err.contains("retentionDurationCheck.enabled"),
        "{}",
        ended.err
    );
    let unchecked = "spark.databricks.delta.retentionDurationCheck.enabled=false";
    let words = [
        "vacuum",
        &path,
        "--retain-hours",
        "0",
        "--dry-run",
        "--conf",
        unchecked,
        "--output",
        "json",
    ];
    let ended = place.run(&words);
    assert_eq!(ended.status, 0, "{}{}", ended.out, ended.err);
    assert_eq!(rows(&ended.out).len(), 1, "{}", ended.out);
}

#[test]
fn detail_names_the_table() {
    let place = Place::empty();
    table(&place);
    let ended = place.run(&["detail", "t"]);
    assert!(
        ended.out.contains("spark_catalog.default.t"),
        "{}{}",
        ended.out,
        ended.err
    );
}

#[test]
fn a_path_without_table_is_an_error_that_names_it() {
    let place = Place::empty();
    let ended = place.run(&["history", "./nothing/here"]);
    assert!(ended.status > 1, "{}", ended.err);
    assert!(ended.err.contains("nothing/here"), "{}", ended.err);
}

#[test]
fn a_wrong_command_line_ends_with_two() {
    let place = Place::empty();
    assert_eq!(place.run(&["restore", "t"]).status, 2);
    assert_eq!(place.run(&["dance"]).status, 2);
    assert_eq!(place.run(&["--help"]).status, 0);
}

#[test]
fn an_option_that_no_store_has_is_noted_and_its_value_is_not_told() {
    let place = Place::empty();
    let ended = place.run(&["sql", "--storage-option", "aws_regoin=hush", "SELECT 1"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(
        ended.err.contains("did you mean aws_region?"),
        "{}",
        ended.err
    );
    assert!(!ended.err.contains("hush"), "{}", ended.err);
    let known = ["sql", "--storage-option", "aws_region=x", "SELECT 1"];
    assert_eq!(place.run(&known).err, "");
}
