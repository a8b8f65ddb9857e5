//! `deltaic sql --pipe`.

use serde_json::{Value, json};

use crate::Place;

fn ask(requests: &[Value]) -> Vec<Value> {
    let place = Place::empty();
    let input: String = requests
        .iter()
        .map(|request| format!("{request}\n"))
        .collect();
    let ended = place.run_with_input(&["sql", "--pipe"], &input);
    assert_eq!(ended.status, 0, "{}", ended.err);
    ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn each_line_gets_one_line_and_the_run_goes_on_after_an_error() {
    let answers = ask(&[
        json!({"sql": "SELECT 1 AS a", "args": {}}),
        json!({"sql": "SELECT * FROM nothing", "args": {}}),
        json!({"refresh": true}),
        json!({"neither": 1}),
        json!({"sql": "SELECT :a + 1 AS n", "args": {"a": 41}}),
        json!({"sql": "SELECT ? AS n", "args": ["x"]}),
    ]);
    assert_eq!(answers.len(), 6);
    assert_eq!(
        answers[0],
        json!({"columns": [["a", "int", false]], "rows": [[1]]})
    );
    assert_eq!(answers[1]["error"]["condition"], "TABLE_OR_VIEW_NOT_FOUND");
    assert_eq!(answers[1]["error"]["sqlState"], "42P01");
    assert_eq!(answers[2], json!({}));
    assert_eq!(answers[3]["error"]["condition"], Value::Null);
    assert_eq!(answers[4]["rows"], json!([[42]]));
    assert_eq!(answers[5]["rows"], json!([["x"]]));
}

#[test]
fn a_line_that_is_no_json_is_an_error_and_not_the_end() {
    let place = Place::empty();
    let ended = place.run_with_input(
        &["sql", "--pipe"],
        "not json\n{\"sql\": \"SELECT 2 AS b\"}\n",
    );
    let answers: Vec<Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 2);
    assert!(answers[0]["error"]["message"].is_string());
    assert_eq!(answers[1]["rows"], json!([[2]]));
}

#[test]
fn values_have_the_forms_of_the_protocol() {
    let sql = "SELECT CAST(1.5 AS DECIMAL(5,2)) AS d, CAST(0.1 AS FLOAT) AS f, double('NaN') AS n, DATE '2026-05-01' AS day, \
               TIMESTAMP '2026-05-01 10:00:00.5' AS ts, X'00FF' AS b, named_struct('x', 1) AS s, map(true, 'y') AS m, array(1, NULL) AS a";
    let answers = ask(&[json!({"sql": sql, "args": {}})]);
    let expected = json!([["1.50", f64::from(0.1_f32), "nan", "2026-05-01", "2026-05-01T10:00:00.500000", {"base64": "AP8="}, {"x": 1}, {"True": "y"}, [1, null]]]);
    assert_eq!(answers[0]["rows"], expected, "{}", answers[0]);
}
