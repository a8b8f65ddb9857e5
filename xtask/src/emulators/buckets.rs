//! The bucket or container of each server, made by the vendor's own client, and what tests are told about it.

use std::process::Command;

use super::install;
use super::process::Running;
use super::servers::{ACCOUNT, KEY, Protocol};
use crate::shell::Outcome;

const BUCKET: &str = "deltaic";

/// A server's gateway may answer before the parts behind it do: the first bucket is asked for until it is there and an
/// object in it can be written and removed.
const PROGRAM: &str = r"
import sys, time
protocol, address, account, key, bucket = sys.argv[1:]
if protocol == 's3':
    import boto3, botocore.config
    config = botocore.config.Config(retries={'max_attempts': 1}, s3={'addressing_style': 'path'})
    client = boto3.client('s3', endpoint_url=address, aws_access_key_id=account, aws_secret_access_key=key,
                          region_name='us-east-1', config=config)
    def make():
        if bucket not in [b['Name'] for b in client.list_buckets()['Buckets']]:
            client.create_bucket(Bucket=bucket)
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
        let protocol = match running.server.protocol {
            Protocol::S3 => "s3",
            Protocol::Azure => "azure",
        };
        let output = Command::new(&python)
            .args(["-c", PROGRAM, protocol, &address(running)])
            .args([ACCOUNT, KEY, BUCKET])
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
    Ok(())
}

/// The text of the variable that names a server: its location and the options to reach it.
pub fn named(running: &Running) -> String {
    let address = address(running);
    match running.server.protocol {
        Protocol::S3 => format!(
            "location=s3://{BUCKET} aws_endpoint={address} aws_access_key_id={ACCOUNT} aws_secret_access_key={KEY} aws_region=us-east-1"
        ),
        Protocol::Azure => format!(
            "location=abfss://{BUCKET}@{ACCOUNT}.dfs.core.windows.net azure_storage_endpoint={address}/{ACCOUNT} azure_storage_account_key={KEY}"
        ),
    }
}

fn address(running: &Running) -> String {
    format!("http://127.0.0.1:{}", running.place.port())
}
