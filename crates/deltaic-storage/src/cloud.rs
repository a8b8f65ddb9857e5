//! Tables in object stores: S3 and what speaks its protocol, Azure Blob Storage (ADLS Gen2), OneLake.
//!
//! A commit is one conditional put (`If-None-Match: *`). Where its answer leaves open what happened, the store is asked
//! what is there now, so that a commit is reported once and as what it is. A listing that breaks off is taken up again or is
//! an error, and deletions are made in batches where the server takes batches. A server that answers 429 or 503 with
//! `Retry-After` is not asked before that time, if the time is not longer than `retry_timeout`.
//!
//! # Stores that do not keep two commits apart
//! Some servers that speak the protocol of S3 take the condition and ignore it, or look first and write then; there one commit
//! can replace another. So the first commit through a client to an endpoint that is not AWS's own is preceded by a probe: on
//! objects named `_delta_log/.probe-…`, one is created twice, and twelve are created by two requests at the same time. That is 40
//! small requests in five round trips, once per client. A store that fails is refused for writing, and can be read. A server that
//! ignores the condition is always found; one that looks first and writes then is found with a probability only. AWS and Azure
//! are not probed.
//!
//! `aws_conditional_put=etag` says that the store is right, `disabled` that it is not; neither is probed.
//!
//! # Commits through DynamoDB
//! With `S3_LOCKING_PROVIDER=dynamodb` commits go through a table of DynamoDB as Delta's `S3DynamoDBLogStore` lays it out, so
//! that Spark, deltalake (up to the versions that had it) and Deltaic write one table at the same time, on any store. All who
//! write a table must use the same table of DynamoDB and the same scheme in its location: `s3://b/t` and `s3a://b/t` are two
//! keys. A lifecycle rule of the bucket must not remove `_delta_log/.tmp/` files younger than a day.
//!
//! # Options
//! Names in any case, `spark.hadoop.` in front or not; an option wins over a variable of the environment. Besides those listed
//! here, every name of object_store's `AmazonS3ConfigKey`, `AzureConfigKey` and `ClientConfigKey` is taken, as an option with or
//! without `aws_` or `azure_`, as a variable with it. A name that is not known is passed over, so that one set of options can serve
//! several programs; so are `AWS_S3_ALLOW_UNSAFE_RENAME` and `DELTA_DYNAMO_BILLING_MODE` of deltalake.
//!
//! | S3 | meaning |
//! | --- | --- |
//! | `aws_access_key_id`, `aws_secret_access_key`, `aws_session_token`; `fs.s3a.access.key`, `.secret.key`, `.session.token` | static key; one of the options is never mixed with parts from the environment |
//! | `aws_profile` (`AWS_CONFIG_FILE`, `AWS_SHARED_CREDENTIALS_FILE`) | profile: keys, SSO, `role_arn`, `credential_process`; its `region` and `endpoint_url`. As an option it wins over keys of the environment. Without it the default profile counts where no key, web identity or container is set |
//! | `aws_iam_role_arn`, `aws_s3_assume_role_arn`, `fs.s3a.assumed.role.arn`; `aws_iam_role_session_name` | role that is assumed with the credentials found otherwise |
//! | `aws_web_identity_token_file`, `aws_role_arn`, `aws_role_session_name`, `aws_endpoint_url_sts` | workload identity |
//! | `aws_container_credentials_relative_uri`, `…_full_uri`, `aws_metadata_endpoint`, `aws_imdsv1_fallback` | instance and container identity, the last resort |
//! | `aws_skip_signature`; `fs.s3a.aws.credentials.provider=…Anonymous…` | anonymous |
//! | `aws_region`, `aws_default_region`; `fs.s3a.endpoint.region` | region, where the location (`https://…`) has none; else the endpoint's, the profile's, `us-east-1` |
//! | `aws_endpoint_url_s3`, `aws_endpoint_url`, `aws_endpoint`, `endpoint_url`, `endpoint`; `fs.s3a.endpoint` | server, with `http://` for one without encryption. `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true` passes over the variables |
//! | `aws_virtual_hosted_style_request` (endpoint with the bucket); `aws_s3_addressing_style=virtual`, `fs.s3a.path.style.access=false` (endpoint without it) | bucket before the host instead of in the path |
//! | `aws_conditional_put` | `etag`, `disabled`: see above |
//! | `aws_server_side_encryption`, `aws_sse_kms_key_id`, `aws_sse_bucket_key_enabled`, `aws_sse_customer_key_base64`; `fs.s3a.encryption.algorithm`, `.key` | encryption by the server |
//! | `aws_request_payer`; `fs.s3a.requester.pays.enabled` | requester pays |
//! | `fs.s3a.bucket.NAME.…` | an `fs.s3a.…` option for one bucket |
//! | `aws_max_attempts`, `fs.s3a.attempts.maximum` | tries of a request: `aws_max_retries` + 1, which wins |
//! | `fs.s3a.proxy.host`, `.port`, `.username`, `.password`, `.ssl.enabled` | proxy |
//!
//! | lock | meaning |
//! | --- | --- |
//! | `aws_s3_locking_provider`, `s3_locking_provider` | `dynamodb` or `none`; `spark.delta.logStore.s3a.impl=io.delta.storage.S3DynamoDBLogStore` says the same |
//! | `delta_dynamo_table_name`, `spark.io.delta.storage.S3DynamoDBLogStore.ddb.tableName` | table, `delta_log` |
//! | `aws_region_dynamodb`, `spark.io.delta.storage.S3DynamoDBLogStore.ddb.region` | region, that of S3 |
//! | `aws_endpoint_url_dynamodb`, else `aws_endpoint_url` | server |
//! | `aws_access_key_id_dynamodb`, `aws_secret_access_key_dynamodb`, `aws_session_token_dynamodb` | credentials, those of S3 |
//! | `spark.io.delta.storage.S3DynamoDBLogStore.ddb.ttl` | seconds after which a complete entry may go, a day |
//!
//! | Azure | meaning |
//! | --- | --- |
//! | `azure_storage_account_name`, `azure_storage_account` | account, where the location has none |
//! | `azure_storage_account_key`, `azure_storage_key`; `fs.azure.account.key.ACCOUNT.…` | shared key |
//! | `azure_storage_sas_token`, `azure_storage_sas_key`; `fs.azure.sas.fixed.token.ACCOUNT.…` | shared access signature |
//! | `azure_storage_connection_string` | account, key or signature, and endpoint in one; passed over where it is for another account than the location |
//! | `azure_client_id`, `azure_client_secret`, `azure_tenant_id`, `azure_authority_host`; `fs.azure.account.oauth2.client.id`, `.secret`, `.endpoint` | service principal |
//! | `azure_federated_token_file` | workload identity |
//! | `azure_storage_token` | bearer token |
//! | `azure_use_azure_cli=true` | `az login` |
//! | `azure_msi_endpoint`, `IDENTITY_ENDPOINT`, `azure_object_id`, `azure_msi_resource_id` | managed identity, the last resort |
//! | `azure_skip_signature=true` | anonymous |
//! | `azure_storage_endpoint`, `azure_storage_service_endpoint` | server; the address of a private link in the location wins over the variables |
//! | `azure_storage_use_emulator` | Azurite on its usual port |
//!
//! | both (`aws_…` or `azure_…`, as an option also without) | meaning |
//! | --- | --- |
//! | `proxy_url`, `proxy_excludes` | proxy; else `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` count |
//! | `ca_bundle`, `proxy_ca_certificate` | certificates to trust besides those of the system: PEM, or the path of a file. `SSL_CERT_FILE` and `SSL_CERT_DIR` replace those of the system |
//! | `timeout` | one request, with its body: 30 s, or half of `retry_timeout` where that is less |
//! | `connect_timeout` | until a connection stands: 5 s |
//! | `retry_timeout` | an operation with all its repetitions: 60 s. Times are written `30`, `30s`, `500ms`, `2 minutes` |
//! | `max_retries` | repetitions of one request: 8 |
//! | `allow_http`, `allow_invalid_certificates` | less safe connections, for tests |

mod azure;
mod deletes;
mod dynamo;
mod failure;
mod limits;
mod listing;
mod lock;
mod options;
mod plain;
mod probe;
mod profile;
mod s3;
mod settings;
mod stores;
mod versioning;
mod wire;

use std::sync::Arc;

use deltaic_protocol::error::Result;
use object_store::ObjectStore;

pub use lock::{CommitLock, LockEntry};
pub use options::is_cloud_option;
pub use settings::CloudOptions;
pub use versioning::{Versioning, versioning};

use crate::LogStore;
use crate::root::{Scheme, TableRoot};
use crate::table::TableStore;
use limits::Limits;
use probe::{Gate, Rule};
use settings::Settings;

/// The client of one bucket or container.
#[derive(Clone)]
pub struct CloudBackend {
    store: Arc<dyn ObjectStore>,
    url: String,
    gate: Arc<Gate>,
    lock: Option<Arc<dyn CommitLock>>,
    limits: Limits,
}

impl CloudBackend {
    /// Opens the bucket or container of a root. Nothing is asked of the store yet.
    ///
    /// # Errors
    /// Options that do not go together, or none at all where some are needed.
    pub fn open(root: &TableRoot, options: &CloudOptions) -> Result<CloudBackend> {
        let place = root.bucket();
        let settings = Settings::new(options);
        if root.scheme() == Scheme::Azure {
            let (store, limits) = azure::open(&place, &settings)?;
            return Ok(CloudBackend {
                limits,
                ..CloudBackend::new(store, root.prefix())
            });
        }
        let bucket = s3::open(&place, &settings)?;
        Ok(CloudBackend {
            gate: Arc::new(Gate::new(bucket.rule)),
            lock: bucket.lock,
            limits: bucket.limits,
            ..CloudBackend::new(bucket.store, root.prefix())
        })
    }

    /// A backend on any object store that keeps the condition of a put, under what stands before a path in it:
    /// `s3://bucket`.
    pub fn new(store: Arc<dyn ObjectStore>, prefix: &str) -> CloudBackend {
        CloudBackend {
            store,
            url: prefix.to_owned(),
            gate: Arc::new(Gate::new(Rule::Trust)),
            lock: None,
            limits: Limits::default(),
        }
    }

    /// The same backend, whose commits go through a lock; the store need not keep the condition of a put then.
    pub fn locked(self, lock: Arc<dyn CommitLock>) -> CloudBackend {
        CloudBackend {
            lock: Some(lock),
            ..self
        }
    }

    /// The same backend, whose store is probed before the first commit: see the module.
    pub fn probed(self) -> CloudBackend {
        CloudBackend {
            gate: Arc::new(Gate::new(Rule::Probe)),
            ..self
        }
    }

    /// The lock through which commits go, if they do.
    pub fn lock(&self) -> Option<Arc<dyn CommitLock>> {
        self.lock.clone()
    }

    /// The table at a root of this backend.
    pub fn table(&self, root: TableRoot) -> TableStore {
        let opened = |gate: Arc<Gate>| {
            stores::CloudTable::new(Arc::clone(&self.store), root.clone(), gate, self.limits)
        };
        let table = Arc::new(opened(Arc::clone(&self.gate)));
        let log: Arc<dyn LogStore> = match &self.lock {
            Some(lock) => Arc::new(lock::LockedLog::new(
                opened(Arc::new(Gate::new(Rule::Trust))),
                Arc::clone(lock),
                root.clone(),
                self.gate.may_ask(),
            )),
            None => table.clone(),
        };
        TableStore::new(root, log, table, Arc::clone(&self.store), self.url.clone())
    }
}

impl std::fmt::Debug for CloudBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CloudBackend({})", self.url)
    }
}
