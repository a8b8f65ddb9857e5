//! What is sent to DynamoDB, and what is made of answers that are lost, late or wrong.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use object_store::StaticCredentialProvider;
use object_store::client::{HttpError, HttpErrorKind, HttpResponse, HttpService};

use super::*;

/// Plays DynamoDB: gives its answers one after the other, and keeps what it was asked.
#[derive(Debug, Clone, Default)]
struct Played {
    answers: Arc<Mutex<VecDeque<(u16, String)>>>,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
}

#[async_trait]
impl HttpService for Played {
    async fn call(&self, request: HttpRequest) -> std::result::Result<HttpResponse, HttpError> {
        let target = request.headers()["x-amz-target"].to_str().unwrap();
        let signed = request.headers()["authorization"].to_str().unwrap();
        assert!(
            signed.contains("/eu-west-1/dynamodb/aws4_request"),
            "{signed}"
        );
        let body = serde_json::from_slice(request.body().as_bytes().unwrap()).unwrap();
        self.asked.lock().unwrap().push((target.to_owned(), body));
        let (status, text) = self.answers.lock().unwrap().pop_front().unwrap();
        if status == 0 {
            let lost = std::io::Error::other("connection reset");
            return Err(HttpError::new(HttpErrorKind::Interrupted, lost));
        }
        let mut answer = HttpResponse::new(text.into_bytes().into());
        *answer.status_mut() = status.try_into().unwrap();
        Ok(answer)
    }
}

const LOST: (u16, &str) = (0, "");
const DONE: (u16, &str) = (200, "{}");
const THROTTLED: (u16, &str) = (
    400,
    r#"{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow"}"#,
);
const CONDITION: (u16, &str) = (
    400,
    r#"{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"no"}"#,
);

fn item_of(temp: &str) -> String {
    format!(
        r#"{{"Item":{{"tablePath":{{"S":"s3a://b/t"}},"fileName":{{"S":"f"}},"tempPath":{{"S":"{temp}"}},"complete":{{"S":"false"}}}}}}"#
    )
}

fn lock(answers: &[(u16, &str)], token: Option<&str>) -> (DynamoLock, Played) {
    let played = Played::default();
    *played.answers.lock().unwrap() = answers
        .iter()
        .map(|(status, text)| (*status, (*text).to_owned()))
        .collect();
    let lock = DynamoLock {
        client: HttpClient::new(played.clone()),
        credentials: Arc::new(StaticCredentialProvider::new(AwsCredential {
            key_id: "k".to_owned(),
            secret_key: "s".to_owned(),
            token: token.map(str::to_owned),
        })),
        endpoint: "http://dynamodb.test".to_owned(),
        region: "eu-west-1".to_owned(),
        table: "delta_log".to_owned(),
        keep: Duration::from_secs(86_400),
        limits: Limits::default(),
    };
    (lock, played)
}

fn entry() -> LockEntry {
    LockEntry {
        file: "f".to_owned(),
        temp: ".tmp/f.1".to_owned(),
        complete: false,
    }
}

#[tokio::test(start_paused = true)]
async fn an_entry_is_claimed_and_completed_in_deltas_layout() {
    let (lock, played) = lock(&[DONE, DONE], None);
    assert!(lock.claim("s3a://b/t", &entry()).await.unwrap());
    lock.complete("s3a://b/t", &entry()).await.unwrap();
    let asked = played.asked.lock().unwrap();
    let claimed = json!({
        "TableName": "delta_log",
        "Item": {
            "tablePath": { "S": "s3a://b/t" },
            "fileName": { "S": "f" },
            "tempPath": { "S": ".tmp/f.1" },
            "complete": { "S": "false" },
        },
        "ConditionExpression": "attribute_not_exists(fileName)",
    });
    assert_eq!(asked[0], ("DynamoDB_20120810.PutItem".to_owned(), claimed));
    let marked = &asked[1].1["Item"];
    assert_eq!(marked["complete"], json!({ "S": "true" }));
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let until: u64 = marked["expireTime"]["N"].as_str().unwrap().parse().unwrap();
    assert!((now + 86_300..now + 86_500).contains(&until), "{until}");
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_answer_was_lost_is_known_by_its_temporary_file() {
    for (temp, wanted) in [(".tmp/f.1", true), (".tmp/f.2", false)] {
        let there = item_of(temp);
        let (lock, played) = lock(&[LOST, CONDITION, (200, &there)], None);
        assert_eq!(lock.claim("s3a://b/t", &entry()).await.unwrap(), wanted);
        let asked = played.asked.lock().unwrap();
        assert_eq!(asked[2].0, "DynamoDB_20120810.GetItem");
        assert_eq!(asked[2].1["ConsistentRead"], json!(true));
    }
}

#[tokio::test(start_paused = true)]
async fn overload_is_waited_for_and_not_for_ever() {
    let (patient, _) = lock(&[THROTTLED, (503, ""), THROTTLED, DONE], None);
    assert!(patient.claim("t", &entry()).await.unwrap());
    let (given_up, played) = lock(&[THROTTLED; 20], None);
    let error = given_up.claim("t", &entry()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Storage);
    let retries = Limits::default().retries;
    assert_eq!(played.asked.lock().unwrap().len(), retries + 1);
    // Nor for longer than an operation may take.
    let (mut brief, played) = lock(&[THROTTLED; 20], None);
    brief.limits.patience = Duration::from_secs(1);
    brief.claim("t", &entry()).await.unwrap_err();
    assert_eq!(played.asked.lock().unwrap().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn the_newest_entry_is_read() {
    let items = item_of(".tmp/f.9").replace("\"Item\":{", "\"Items\":[{");
    let items = format!("{}]}}", items.trim_end_matches('}').to_owned() + "}}");
    let (lock, played) = lock(&[(200, &items), (200, r#"{"Items":[]}"#)], None);
    let found = lock.latest("s3a://b/t").await.unwrap().unwrap();
    assert_eq!((found.temp.as_str(), found.complete), (".tmp/f.9", false));
    assert_eq!(lock.latest("s3a://b/t").await.unwrap(), None);
    let asked = played.asked.lock().unwrap();
    assert_eq!(asked[0].1["ScanIndexForward"], json!(false));
    assert_eq!(asked[0].1["Limit"], json!(1));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_entry_is_an_error() {
    let (damaged, _) = lock(&[(200, r#"{"Item":{"fileName":{"S":"f"}}}"#)], None);
    let error = damaged.entry("t", "f").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let (refused, _) = lock(
        &[(
            400,
            r#"{"__type":"x#AccessDeniedException","Message":"no"}"#,
        )],
        None,
    );
    let error = refused.entry("t", "f").await.unwrap_err();
    assert!(
        error.hint().unwrap().contains("dynamodb:GetItem"),
        "{error}"
    );
    // A token that cannot be sent is an error too, and not told.
    let (unsent, played) = lock(&[], Some("to\nCANARY"));
    let error = unsent.entry("t", "f").await.unwrap_err();
    assert!(!error.to_string().contains("CANARY") && played.asked.lock().unwrap().is_empty());
}
