//! The bucket or container of each server, made by the vendor's own client, and what tests are told about it.

use std::process::Command;

use super::install;
use super::process::Running;
use super::servers::{ACCOUNT, KEY, ONELAKE, Protocol};
use crate::shell::Outcome;

const BUCKET: &str = "deltaic";
/// A workspace of OneLake, by its identifier.
const WORKSPACE: &str = "0b1a6a2e-5c1d-4f4e-9d63-1f0f6d2f7a10";
/// The server that also has DynamoDB, and the table of locks there, laid out as Delta's S3DynamoDBLogStore does.
const LOCKER: &str = "ministack";
const LOCKS: &str = "delta_log";

/// A server's gateway may answer before the parts behind it do: the first bucket is asked for until it is there and an
/// object in it can be written and removed.
const PROGRAM: &str = r"
import sys, time
protocol, address, account, key, bucket, locks = sys.argv[1:]
if protocol == 's3':
    import boto3, botocore.config
    config = botocore.config.Config(retries={'max_attempts': 1}, s3={'addressing_style': 'path'})
    client = boto3.client('s3', endpoint_url=address, aws_access_key_id=account, aws_secret_access_key=key,
                          region_name='us-east-1', config=config)
    def make():
        if bucket not in [b['Name'] for b in client.list_buckets()['Buckets']]:
            client.create_bucket(Bucket=bucket)
        if locks:
            db = boto3.client('dynamodb', endpoint_url=address, aws_access_key_id=account, aws_secret_access_key=key,
                              region_name='us-east-1', config=botocore.config.Config(retries={'max_attempts': 1}))
            if locks not in db.list_tables()['TableNames']:
                keys = [('tablePath', 'HASH'), ('fileName', 'RANGE')]
                db.create_table(TableName=locks, BillingMode='PAY_PER_REQUEST',
                                KeySchema=[dict(AttributeName=n, KeyType=t) for n, t in keys],
                                AttributeDefinitions=[dict(AttributeName=n, AttributeType='S') for n, _ in keys])
        client.put_object(Bucket=bucket, Key='probe', Body=b'probe')
        client.delete_object(Bucket=bucket, Key='probe')
else:
    import azure.storage.blob
    client = azure.storage.blob.BlobServiceClient(f'{address}/{account}', credential=key, retry_total=0)
    def make():
        container = client.get_container_client(bucket)
        if not container.exists():
            container.create_container()
until = time.monotonic() + 60
while True:
    try:
        make()
        break
    except Exception:
        if time.monotonic() > until:
            raise
        time.sleep(0.2)
";

/// Makes them.
pub fn make(servers: &[Running]) -> Outcome {
    let python = install::python()?;
    for running in servers {
        let locks = if running.server.name == LOCKER {
            LOCKS
        } else {
            ""
        };
        let places: &[[&str; 4]] = match running.server.protocol {
            Protocol::S3 => &[["s3", ACCOUNT, BUCKET, locks]],
            Protocol::Azure => &[
                ["azure", ACCOUNT, BUCKET, ""],
                ["azure", ONELAKE, WORKSPACE, ""],
            ],
        };
        for [protocol, account, bucket, locks] in places {
            let output = Command::new(&python)
                .args(["-c", PROGRAM, protocol, &address(running)])
                .args([account, KEY, bucket, locks])
                .output()
                .map_err(|e| format!("{}: {e}", python.display()))?;
            if !output.status.success() {
                return Err(format!(
                    "the bucket of {} cannot be made: {}",
                    running.server.name,
                    String::from_utf8_lossy(&output.stderr)
                ));
            }
        }
    }
    Ok(())
}

/// The variables that name a server, each with a location and the options to reach it.
pub fn named(running: &Running) -> Vec<(&'static str, String)> {
    let address = address(running);
    let first = match running.server.protocol {
        Protocol::S3 => format!(
            "location=s3://{BUCKET} aws_endpoint={address} aws_access_key_id={ACCOUNT} aws_secret_access_key={KEY} aws_region=us-east-1"
        ),
        Protocol::Azure => format!(
            "location=abfss://{BUCKET}@{ACCOUNT}.dfs.core.windows.net azure_storage_endpoint={address}/{ACCOUNT} azure_storage_account_key={KEY}"
        ),
    };
    let mut out = vec![(running.server.variable, first)];
    if running.server.protocol == Protocol::Azure {
        out.push((
            "DELTAIC_TEST_ONELAKE",
            format!(
                "location=abfss://{WORKSPACE}@{ONELAKE}.dfs.fabric.microsoft.com azure_storage_endpoint={address}/{ONELAKE} azure_storage_account_key={KEY}"
            ),
        ));
    }
    if running.server.name == LOCKER {
        out.push((
            "DELTAIC_TEST_DYNAMODB",
            format!(
                "s3_locking_provider=dynamodb delta_dynamo_table_name={LOCKS} aws_endpoint_url_dynamodb={address}"
            ),
        ));
    }
    out
}

fn address(running: &Running) -> String {
    format!("http://127.0.0.1:{}", running.place.port())
}
