//! `cargo xtask emulators`: servers that speak S3 and Azure, for tests. Each is pinned, installed once into the cache
//! folder, started on a free port of this machine with its data in a temporary folder, and named to tests by variables.

mod buckets;
pub mod install;
mod place;
mod process;
mod servers;

pub use servers::DEFAULT;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use self::process::{Running, sweep};
use self::servers::Server;
use crate::shell::{Outcome, as_from_a_shell, step, timed};

/// What to do.
#[derive(Args)]
pub struct Options {
    #[command(subcommand)]
    command: What,
}

#[derive(Subcommand)]
enum What {
    /// Start servers and print the variables that name them. Example: cargo xtask emulators start --server minio,azurite
    Start(Choice),
    /// Stop servers that `start` has started, and remove their data. Example: cargo xtask emulators stop
    Stop,
    /// Say which servers run, and their variables. Example: cargo xtask emulators status
    Status,
    /// Start servers, run a command with their variables, stop them. Example: cargo xtask emulators run --server
    /// seaweedfs,azurite -- cargo test --workspace --test it on_servers
    Run {
        #[command(flatten)]
        choice: Choice,
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
}

#[derive(Args)]
struct Choice {
    /// The servers, one of each kind: ministack, seaweedfs, minio, localstack (S3); azurite (Azure);
    /// rclone (takes conditions and ignores them)
    #[arg(
        long = "server",
        value_name = "NAME,…",
        value_delimiter = ',',
        value_parser = servers::named,
        default_values = servers::DEFAULT
    )]
    servers: Vec<&'static Server>,
}

/// Servers that run in the background.
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct State {
    servers: Vec<Background>,
    variables: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct Background {
    name: String,
    id: u32,
    leavings: Vec<PathBuf>,
}

/// Run the command.
pub fn run(options: &Options) -> Outcome {
    match &options.command {
        What::Start(choice) => start(choice),
        What::Stop => stop(),
        What::Status => status(),
        What::Run { choice, command } => with_servers(choice, command),
    }
}

/// Runs a command with servers of its own.
fn with_servers(choice: &Choice, command: &[String]) -> Outcome {
    let [program, arguments @ ..] = command else {
        return Err("no command".to_owned());
    };
    let servers = timed("emulators", || all(&choice.servers))?;
    let mut command = Command::new(program);
    command.args(arguments);
    as_from_a_shell(&mut command);
    step("with emulators", command.envs(variables(&servers)))
}

/// Does something while the default servers run, with the variables that name them.
pub fn serve(names: &[&str], work: impl FnOnce(BTreeMap<String, String>) -> Outcome) -> Outcome {
    let wanted = names
        .iter()
        .map(|name| servers::named(name))
        .collect::<Outcome<Vec<_>>>()?;
    let servers = timed("emulators", || all(&wanted))?;
    work(variables(&servers))
}

fn start(choice: &Choice) -> Outcome {
    if !read_state()?.servers.is_empty() {
        return Err("servers run already: cargo xtask emulators stop".to_owned());
    }
    let servers = timed("emulators", || all(&choice.servers))?;
    let state = State {
        servers: servers
            .iter()
            .map(|running| Background {
                name: running.server.name.to_owned(),
                id: running.child.id(),
                leavings: running.leavings(),
            })
            .collect(),
        variables: variables(&servers),
    };
    let text = serde_json::to_string_pretty(&state).map_err(|e| e.to_string())?;
    fs::write(state_file()?, text).map_err(|e| e.to_string())?;
    // They outlive this command.
    servers.into_iter().for_each(std::mem::forget);
    print_variables(&state);
    Ok(())
}

fn stop() -> Outcome {
    let state = read_state()?;
    for server in &state.servers {
        let ended = Command::new("kill").arg(server.id.to_string()).status();
        let said = match ended.is_ok_and(|status| status.success()) {
            true => "stopped",
            false => "was not there",
        };
        println!("{} ({}): {said}", server.name, server.id);
        sweep(&server.leavings);
    }
    let _ = fs::remove_file(state_file()?);
    Ok(())
}

fn status() -> Outcome {
    let state = read_state()?;
    if state.servers.is_empty() {
        println!("no servers");
    }
    for server in &state.servers {
        let there = Command::new("kill")
            .args(["-0", &server.id.to_string()])
            .stderr(Stdio::null())
            .status();
        let said = match there.is_ok_and(|status| status.success()) {
            true => "runs",
            false => "is gone",
        };
        println!("{} ({}): {said}", server.name, server.id);
    }
    print_variables(&state);
    Ok(())
}

fn print_variables(state: &State) {
    for (key, value) in &state.variables {
        println!("export {key}='{value}'");
    }
}

fn state_file() -> Outcome<PathBuf> {
    Ok(install::folder()?.join("state.json"))
}

fn read_state() -> Outcome<State> {
    match fs::read_to_string(state_file()?) {
        Ok(text) => serde_json::from_str(&text).map_err(|e| e.to_string()),
        Err(_) => Ok(State::default()),
    }
}

/// Installs and starts servers, and makes the bucket or container of each.
fn all(wanted: &[&'static Server]) -> Outcome<Vec<Running>> {
    for (at, server) in wanted.iter().enumerate() {
        if let Some(other) = wanted[..at].iter().find(|w| w.variable == server.variable) {
            return Err(format!(
                "{} and {} are both {}: choose one",
                other.name, server.name, server.variable
            ));
        }
    }
    let mut running = Vec::new();
    for server in wanted {
        running.push(Running::start(server)?);
    }
    buckets::make(&running)?;
    Ok(running)
}

/// What tests are told.
fn variables(servers: &[Running]) -> BTreeMap<String, String> {
    servers
        .iter()
        .flat_map(buckets::named)
        .map(|(name, text)| (name.to_owned(), text))
        .collect()
}
