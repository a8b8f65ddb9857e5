//! The lock as a table of DynamoDB, laid out as Delta's `S3DynamoDBLogStore` does: `tablePath` (hash key) and
//! `fileName` (range key), `tempPath`, `complete` (`"true"` or `"false"`), `expireTime` (seconds since 1970, for
//! complete entries).
//!
//! Four requests of DynamoDB's JSON protocol, sent and signed by what object_store uses for S3.

use std::fmt;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use futures::TryStreamExt;
use object_store::HeaderValue;
use object_store::aws::{AwsAuthorizer, AwsCredential, AwsCredentialProvider};
use object_store::client::{HttpClient, HttpRequest};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::limits::Limits;
use super::lock::{CommitLock, LockEntry};
use super::secrets::without_secrets;

/// Waits between the tries of a request that failed or was throttled; the last one is repeated.
const PAUSES: [Duration; 6] = [
    Duration::from_millis(25),
    Duration::from_millis(100),
    Duration::from_millis(300),
    Duration::from_secs(1),
    Duration::from_secs(3),
    LONGEST_PAUSE,
];
const LONGEST_PAUSE: Duration = Duration::from_secs(6);

/// The table of DynamoDB in which the lock's entries are.
pub(super) struct DynamoLock {
    pub(super) client: HttpClient,
    pub(super) credentials: AwsCredentialProvider,
    pub(super) endpoint: String,
    pub(super) region: String,
    pub(super) table: String,
    /// How long a complete entry is kept.
    pub(super) keep: Duration,
    pub(super) limits: Limits,
}

impl fmt::Debug for DynamoLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DynamoLock({} in {})", self.table, self.region)
    }
}

/// Why a request was not done.
enum Refusal {
    /// The condition of the request does not hold.
    Condition,
    /// No answer, an overload, or an answer that is no answer.
    ForNow(String),
    /// DynamoDB will not do it: the kind of refusal, and its text.
    Final(String, String),
}

impl DynamoLock {
    /// Sends a request until there is an answer; the condition that does not hold is `None`.
    async fn ask(&self, operation: &'static str, body: &Value) -> Result<Option<Value>> {
        let began = Instant::now();
        let mut pauses = PAUSES
            .iter()
            .chain(std::iter::repeat(&LONGEST_PAUSE))
            .take(self.limits.retries);
        loop {
            match self.send(operation, body).await {
                Ok(answer) => return Ok(Some(answer)),
                Err(Refusal::Condition) => return Ok(None),
                Err(Refusal::Final(kind, text)) => {
                    return Err(self.refused(operation, &kind, &text));
                }
                Err(Refusal::ForNow(text)) => {
                    let pause = pauses.next();
                    match pause.filter(|pause| began.elapsed() + **pause < self.limits.patience) {
                        Some(pause) => tokio::time::sleep(*pause).await,
                        None => return Err(self.failed(operation, &text)),
                    }
                }
            }
        }
    }

    async fn send(
        &self,
        operation: &'static str,
        body: &Value,
    ) -> std::result::Result<Value, Refusal> {
        let credential = self
            .credentials
            .get_credential()
            .await
            .map_err(|error| Refusal::Final("NoCredentials".to_owned(), error.to_string()))?;
        let request = self.request(operation, body, &credential)?;
        let answer = self
            .client
            .execute(request)
            .await
            .map_err(|error| Refusal::ForNow(told(&error)))?;
        let status = answer.status();
        let content: Vec<u8> = answer
            .into_body()
            .bytes_stream()
            .try_fold(Vec::new(), |mut all, part| async move {
                all.extend_from_slice(&part);
                Ok(all)
            })
            .await
            .map_err(|error| Refusal::ForNow(told(&error)))?;
        if status.is_success() {
            return serde_json::from_slice(&content)
                .map_err(|error| Refusal::ForNow(format!("an answer that is no JSON: {error}")));
        }
        let said: Value = serde_json::from_slice(&content).unwrap_or_default();
        // `com.amazonaws.dynamodb.v20120810#ResourceNotFoundException`
        let kind = said["__type"].as_str().unwrap_or_default();
        let kind = kind.rsplit('#').next().unwrap_or_default();
        let text = said["message"]
            .as_str()
            .or_else(|| said["Message"].as_str())
            .unwrap_or_default();
        Err(match kind {
            "ConditionalCheckFailedException" => Refusal::Condition,
            "ProvisionedThroughputExceededException"
            | "ThrottlingException"
            | "RequestLimitExceeded"
            | "LimitExceededException"
            | "InternalServerError"
            | "ServiceUnavailable"
            | "TransactionConflictException"
            | "ReplicatedWriteConflictException" => Refusal::ForNow(format!("{kind}: {text}")),
            _ if status.is_server_error() || status.as_u16() == 429 => {
                Refusal::ForNow(format!("status {status} {kind}: {text}"))
            }
            "" => Refusal::Final(format!("status {status}"), text.to_owned()),
            _ => Refusal::Final(kind.to_owned(), text.to_owned()),
        })
    }

    fn request(
        &self,
        operation: &str,
        body: &Value,
        credential: &AwsCredential,
    ) -> std::result::Result<HttpRequest, Refusal> {
        let unusable = |what: &str| {
            Refusal::Final(
                "NotSent".to_owned(),
                format!("{what} cannot stand in a request"),
            )
        };
        // The signer takes for granted that they can.
        let token = credential.token.as_deref().unwrap_or_default();
        if HeaderValue::from_str(&credential.key_id).is_err()
            || HeaderValue::from_str(token).is_err()
        {
            return Err(unusable("the access key or session token"));
        }
        if url::Url::parse(&self.endpoint).is_err() {
            return Err(unusable("the DynamoDB endpoint"));
        }
        let mut request = HttpRequest::new(body.to_string().into_bytes().into());
        *request.method_mut() = "POST".parse().map_err(|_| unusable("the method"))?;
        *request.uri_mut() = self
            .endpoint
            .parse()
            .map_err(|_| unusable("the DynamoDB endpoint"))?;
        let headers = request.headers_mut();
        let target = HeaderValue::from_str(&format!("DynamoDB_20120810.{operation}"))
            .map_err(|_| unusable("the operation"))?;
        headers.insert("x-amz-target", target);
        headers.insert(
            "content-type",
            HeaderValue::from_static("application/x-amz-json-1.0"),
        );
        AwsAuthorizer::new(credential, "dynamodb", &self.region).authorize(&mut request, None);
        Ok(request)
    }

    fn failed(&self, operation: &str, text: &str) -> DeltaError {
        let failed = self.error("java.io.IOException", operation, text);
        match operation {
            // It may have been done, and whoever reads the table next finishes the commit.
            "PutItem" => failed.with_hint(
                "DynamoDB did not say whether the commit was made: check that the DynamoDB endpoint and region are right, look with \
                 DESCRIBE HISTORY whether the statement took effect, and run it again if it did not",
            ),
            _ => failed.with_hint(
                "check that the DynamoDB endpoint and region are right, and run the statement again",
            ),
        }
    }

    fn refused(&self, operation: &str, kind: &str, text: &str) -> DeltaError {
        let said = format!("{kind}: {text}");
        match kind {
            "ResourceNotFoundException" => self
                .error("java.io.IOException", operation, &said)
                .with_hint(format!(
                    "make the table: aws dynamodb create-table --region {0} --table-name {1} --billing-mode PAY_PER_REQUEST \
                     --key-schema AttributeName=tablePath,KeyType=HASH AttributeName=fileName,KeyType=RANGE \
                     --attribute-definitions AttributeName=tablePath,AttributeType=S AttributeName=fileName,AttributeType=S; \
                     and let it expire entries: aws dynamodb update-time-to-live --region {0} --table-name {1} \
                     --time-to-live-specification Enabled=true,AttributeName=expireTime",
                    self.region, self.table
                )),
            "AccessDeniedException" | "UnrecognizedClientException" | "InvalidSignatureException"
            | "ExpiredTokenException" | "MissingAuthenticationTokenException" | "NoCredentials" => self
                .error("java.nio.file.AccessDeniedException", operation, &said)
                .with_hint(
                    "the credentials must allow dynamodb:GetItem, PutItem and Query on the table; AWS_ACCESS_KEY_ID_DYNAMODB and \
                     AWS_SECRET_ACCESS_KEY_DYNAMODB set others than those of S3",
                ),
            _ => self
                .error("java.io.IOException", operation, &said)
                .with_hint("check the options of the lock"),
        }
    }

    fn error(&self, java: &'static str, operation: &str, text: &str) -> DeltaError {
        DeltaError::unclassed(
            java,
            format!(
                "DynamoDB does not do {operation} on the table {} in {}: {}",
                self.table,
                self.region,
                without_secrets(text)
            ),
        )
        .with_kind(ErrorKind::Storage)
        .with_path(format!("dynamodb://{}", self.table))
    }

    fn damaged(&self, operation: &str) -> DeltaError {
        self.error(
            "java.io.IOException",
            operation,
            "an entry without fileName, tempPath or complete",
        )
        .with_kind(ErrorKind::Corrupt)
        .with_hint("the table must be laid out as Delta's S3DynamoDBLogStore does")
    }

    fn read(&self, operation: &str, item: &Value) -> Result<LockEntry> {
        let text = |name: &str| item[name]["S"].as_str().map(str::to_owned);
        match (text("fileName"), text("tempPath"), text("complete")) {
            (Some(file), Some(temp), Some(complete)) => Ok(LockEntry {
                file,
                temp,
                complete: complete.eq_ignore_ascii_case("true"),
            }),
            _ => Err(self.damaged(operation)),
        }
    }
}

/// An error with its causes, in one line.
fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

fn item(table: &str, entry: &LockEntry, complete: bool) -> Map<String, Value> {
    let mut out = Map::new();
    let mut add = |name: &str, value: &str| {
        out.insert(name.to_owned(), json!({ "S": value }));
    };
    add("tablePath", table);
    add("fileName", &entry.file);
    add("tempPath", &entry.temp);
    add("complete", if complete { "true" } else { "false" });
    out
}

#[async_trait]
impl CommitLock for DynamoLock {
    async fn entry(&self, table: &str, file: &str) -> Result<Option<LockEntry>> {
        let body = json!({
            "TableName": self.table,
            "ConsistentRead": true,
            "Key": { "tablePath": { "S": table }, "fileName": { "S": file } },
        });
        let answer = self.ask("GetItem", &body).await?.unwrap_or_default();
        match answer.get("Item") {
            Some(found) => self.read("GetItem", found).map(Some),
            None => Ok(None),
        }
    }

    async fn latest(&self, table: &str) -> Result<Option<LockEntry>> {
        let body = json!({
            "TableName": self.table,
            "ConsistentRead": true,
            "ScanIndexForward": false,
            "Limit": 1,
            "KeyConditionExpression": "tablePath = :table",
            "ExpressionAttributeValues": { ":table": { "S": table } },
        });
        let answer = self.ask("Query", &body).await?.unwrap_or_default();
        match answer["Items"].get(0) {
            Some(found) => self.read("Query", found).map(Some),
            None => Ok(None),
        }
    }

    async fn claim(&self, table: &str, entry: &LockEntry) -> Result<bool> {
        let body = json!({
            "TableName": self.table,
            "Item": item(table, entry, false),
            "ConditionExpression": "attribute_not_exists(fileName)",
        });
        if self.ask("PutItem", &body).await?.is_some() {
            return Ok(true);
        }
        // A request that was sent again meets its own first try.
        let there = self.entry(table, &entry.file).await?;
        Ok(there.is_some_and(|there| there.temp == entry.temp))
    }

    async fn complete(&self, table: &str, entry: &LockEntry) -> Result<()> {
        let until = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default()
            + self.keep;
        let mut marked = item(table, entry, true);
        marked.insert(
            "expireTime".to_owned(),
            json!({ "N": until.as_secs().to_string() }),
        );
        let body = json!({
            "TableName": self.table,
            "Item": marked,
            // Not one that has expired meanwhile, nor another's.
            "ConditionExpression": "tempPath = :temp",
            "ExpressionAttributeValues": { ":temp": { "S": entry.temp } },
        });
        self.ask("PutItem", &body).await.map(|_| ())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
