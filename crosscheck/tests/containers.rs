//! The tests that need servers, and the conformance run, on MinIO and Azurite in containers, where Docker is at hand:
//! `cargo test -p deltaic-crosscheck --features containers --test containers`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "it/on_servers/sas.rs"]
mod sas;

use std::process::Command;
use std::time::{Duration, Instant};

use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use testcontainers::core::IntoContainerPort;
use testcontainers::runners::AsyncRunner;
use testcontainers::{ContainerAsync, ContainerRequest, GenericImage, ImageExt};
use url::Url;

const MINIO: (&str, &str) = ("minio/minio", "RELEASE.2025-09-07T16-13-09Z");
const AZURITE: (&str, &str) = ("mcr.microsoft.com/azure-storage/azurite", "3.37.0");

/// Known to nobody else than the servers that are started with them.
const ACCOUNT: &str = "deltaictest";
const KEY: &str = "ZGVsdGFpYy10ZXN0LWtleS0wMTIzNDU2Nzg5YWJjZGU=";
const BUCKET: &str = "deltaic";
/// OneLake is an account like another, whose requests the tests send through a proxy that knows its differences.
const ONELAKE: &str = "onelake";
const WORKSPACE: &str = "5d0f3c52-7a84-4d0b-8a0e-2b1c9e4f6a77";

/// How long a server may take until its bucket is made.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn the_tests_that_need_servers_and_the_conformance_run_pass_on_minio_and_azurite() {
    let minio = GenericImage::new(MINIO.0, MINIO.1)
        .with_exposed_port(9000.tcp())
        .with_env_var("MINIO_ROOT_USER", ACCOUNT)
        .with_env_var("MINIO_ROOT_PASSWORD", KEY)
        .with_cmd(["server", "/data"]);
    let azurite = GenericImage::new(AZURITE.0, AZURITE.1)
        .with_exposed_port(10_000.tcp())
        .with_env_var(
            "AZURITE_ACCOUNTS",
            format!("{ACCOUNT}:{KEY};{ONELAKE}:{KEY}"),
        )
        .with_cmd([
            "azurite-blob",
            "--blobHost",
            "0.0.0.0",
            "--inMemoryPersistence",
            "--disableTelemetry",
            "--skipApiVersionCheck",
        ]);
    // Held until the end: a container ends when it is dropped.
    let (_minio, s3) = started(minio, 9000).await;
    let (_azurite, azure) = started(azurite, 10_000).await;
    make_bucket(&s3).await;
    make_container(&azure, ACCOUNT, BUCKET).await;
    make_container(&azure, ONELAKE, WORKSPACE).await;

    let here = env!("CARGO_MANIFEST_DIR");
    let mut own = vec!["test", "--manifest-path", "crosscheck/Cargo.toml"];
    own.extend(["--test", "it"]);
    let mut all = vec!["test", "--workspace", "--test", "it", "on_servers"];
    // What needs other servers than these two.
    all.extend(["--", "--skip", "dynamo", "--skip", "lock", "--skip", "ignore"]);
    let mut runs = vec![own, all];
    for store in ["s3", "azure", "onelake"] {
        let program = ["run", "--bin", "deltaic-conformance", "--", "--store"];
        runs.push(program.into_iter().chain([store]).collect());
    }
    for arguments in runs {
        run(&arguments, here, &s3, &azure);
    }
}

/// Runs cargo in the project's folder, with the variables that name the servers.
fn run(arguments: &[&str], here: &str, s3: &str, azure: &str) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let of_azure = |account: &str, container: &str, domain: &str| {
        format!(
            "location=abfss://{container}@{account}.dfs.{domain} azure_storage_endpoint={azure}/{account} azure_storage_account_key={KEY}"
        )
    };
    let status = Command::new(cargo)
        .args(arguments)
        .current_dir(format!("{here}/.."))
        .env("DELTAIC_TEST_S3", format!("location=s3://{BUCKET} aws_endpoint={s3} aws_access_key_id={ACCOUNT} aws_secret_access_key={KEY} aws_region=us-east-1"))
        .env("DELTAIC_TEST_AZURE", of_azure(ACCOUNT, BUCKET, "core.windows.net"))
        .env("DELTAIC_TEST_ONELAKE", of_azure(ONELAKE, WORKSPACE, "fabric.microsoft.com"))
        .status()
        .unwrap();
    assert!(status.success(), "cargo {}: {status}", arguments.join(" "));
}

/// A container that runs, and its address on this machine.
async fn started(
    image: ContainerRequest<GenericImage>,
    port: u16,
) -> (ContainerAsync<GenericImage>, String) {
    let container = image.start().await.expect("Docker starts the container");
    let host = container.get_host().await.unwrap();
    let port = container.get_host_port_ipv4(port).await.unwrap();
    (container, format!("http://{host}:{port}"))
}

async fn make_bucket(address: &str) {
    let config = aws_sdk_s3::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url(address)
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new(ACCOUNT, KEY, None, None, "test"))
        .force_path_style(true)
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .build();
    let client = aws_sdk_s3::Client::from_conf(config);
    let until = Instant::now() + PATIENCE;
    while let Err(error) = client.create_bucket().bucket(BUCKET).send().await {
        again(until, &format!("{error:?}")).await;
    }
}

async fn make_container(address: &str, account: &str, container: &str) {
    let mut url =
        Url::parse(&format!("{address}/{account}/{container}?restype=container")).unwrap();
    sas::sign(&mut url, account, KEY);
    let until = Instant::now() + PATIENCE;
    loop {
        let asked = reqwest::Client::new()
            .put(url.clone())
            .header("content-length", 0);
        match asked.send().await {
            Ok(answer) if answer.status().is_success() => return,
            Ok(answer) => again(until, &format!("{}", answer.status())).await,
            Err(error) => again(until, &format!("{}", error.without_url())).await,
        }
    }
}

async fn again(until: Instant, reason: &str) {
    assert!(Instant::now() < until, "the server is not ready: {reason}");
    tokio::time::sleep(Duration::from_millis(300)).await;
}
