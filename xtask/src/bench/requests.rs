//! Requests per operation on an S3 server, counted by a proxy, of Deltaic and of a peer on the same server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::emulators;
use crate::interop::{build_deltaic, reference};
use crate::shell::{Outcome, cargo, step, target_folder};

/// Appends before the count begins: two checkpoints, and five commits after the second.
const APPENDS: usize = 25;

/// What is counted: a title, Deltaic's statement, and the peer's expression. `t` is the table.
const OPERATIONS: &[(&str, &str, &str)] = &[
    (
        "open: the number of rows, from the log",
        "SELECT count(*) FROM @",
        "t().count()",
    ),
    (
        "read all rows of 26 files",
        "SELECT max(id) FROM @",
        "t().to_pyarrow_table()",
    ),
    (
        "read one row",
        "SELECT id FROM @ WHERE id = 7",
        "t().to_pyarrow_table(filters=[('id', '=', 7)])",
    ),
    (
        "append one row",
        "INSERT INTO @ VALUES (100)",
        "append(100)",
    ),
    (
        "history of 10 commits",
        "DESCRIBE HISTORY @ LIMIT 10",
        "t().history(10)",
    ),
    (
        "vacuum, dry run",
        "VACUUM @ DRY RUN",
        "t().vacuum(dry_run=True)",
    ),
];

/// The peer: deltalake on the server that the variable names.
const PEER: &str = r"
import os, sys, pyarrow as pa
from deltalake import DeltaTable, write_deltalake
words = dict(p.split('=', 1) for p in os.environ['DELTAIC_TEST_S3'].split())
options = {'AWS_ENDPOINT_URL': words['aws_endpoint'], 'AWS_ACCESS_KEY_ID': words['aws_access_key_id'],
           'AWS_SECRET_ACCESS_KEY': words['aws_secret_access_key'], 'AWS_REGION': 'us-east-1',
           'AWS_ALLOW_HTTP': 'true', 'AWS_CONDITIONAL_PUT': 'etag'}
place = words['location'] + '/' + sys.argv[1]
def t(): return DeltaTable(place, storage_options=options)
def append(n): write_deltalake(place, pa.table({'id': pa.array([n], pa.int64())}), mode='append', storage_options=options)
exec(sys.argv[2])
# Threads of its libraries end the process with an abort otherwise.
os._exit(0)
";

/// Count everything, and print a table in Markdown.
pub fn run(release: bool) -> Outcome {
    let peer = reference("delta-4.3")?;
    Bench::serve(release, &emulators::DEFAULT, |run| {
        run.all(|| peer.python())
    })
}

/// The programs, and a server that they talk to through the proxy.
pub(super) struct Bench {
    deltaic: PathBuf,
    counter: PathBuf,
    folder: PathBuf,
    server: String,
}

impl Bench {
    /// Builds the programs and starts servers for a run.
    pub(super) fn serve(
        release: bool,
        servers: &[&str],
        run: impl FnOnce(&Bench) -> Outcome,
    ) -> Outcome {
        let deltaic = build_deltaic(release)?;
        let mut build = cargo(["build", "--workspace", "--bin", "requests"]);
        if release {
            build.arg("--release");
        }
        step("build the counting proxy", &mut build)?;
        let profile = if release { "release" } else { "debug" };
        let counter = target_folder().join(profile).join("requests");
        let folder = target_folder().join("bench").join("requests");
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        emulators::serve(servers, |variables| {
            let server = variables.get("DELTAIC_TEST_S3").ok_or("no S3 server")?;
            // As at AWS, whose conditional put is not probed.
            let server = format!("{server} aws_conditional_put=etag");
            run(&Bench {
                deltaic,
                counter,
                folder,
                server,
            })
        })
    }

    fn all(&self, python: impl Fn() -> Command) -> Outcome {
        let fill = format!(
            "CREATE TABLE @ (id BIGINT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'false'); {}",
            (0..=APPENDS)
                .map(|n| format!("INSERT INTO @ VALUES ({n})"))
                .collect::<Vec<_>>()
                .join("; ")
        );
        for table in ["deltaic", "peer"] {
            self.ours(table, &fill, None)?;
        }
        println!("| operation | Deltaic | deltalake |\n|---|---|---|");
        for (title, statement, expression) in OPERATIONS {
            let ours = self.ours("deltaic", statement, Some("ours"))?;
            let mut command = python();
            command.args(["-c", PEER, "peer", expression]);
            let peers = self.through(&command, "peer", 0)?;
            println!("| {title} | {} | {} |", shown(&ours), shown(&peers));
        }
        Ok(())
    }

    /// A fresh process of Deltaic; through the proxy where the counts have a name.
    fn ours(&self, table: &str, sql: &str, counts: Option<&str>) -> Outcome<Value> {
        let mut command = self.command(table, sql);
        match counts {
            Some(name) => self.through(&command, name, 0),
            None => {
                command.env("DELTAIC_TEST_S3", &self.server);
                quiet(&mut command)?;
                Ok(Value::Null)
            }
        }
    }

    /// A process of Deltaic that runs statements on a table, `@` in them.
    pub(super) fn command(&self, table: &str, sql: &str) -> Command {
        // The program gets its options from the variable that the proxy has changed.
        let script = "set -e; o=(); for p in $DELTAIC_TEST_S3; do case $p in location=*) l=${p#location=};; \
                      *) o+=(--storage-option \"$p\");; esac; done; \
                      exec \"$1\" sql --quiet --warehouse \"$2\" \"${o[@]}\" \"${3//@/delta.\\`$l/$4\\`}\"";
        let mut command = Command::new("bash");
        command
            .args(["-c", script, "bash"])
            .arg(&self.deltaic)
            .arg(self.folder.join("warehouse"))
            .args([sql, table]);
        command
    }

    /// Runs a command before a proxy that keeps every request waiting for so long, and returns its counts.
    pub(super) fn through(&self, command: &Command, name: &str, latency_ms: u32) -> Outcome<Value> {
        let counts = self.folder.join(format!("{name}.json"));
        let mut through = Command::new(&self.counter);
        through.env("DELTAIC_LATENCY_MS", latency_ms.to_string());
        through
            .env("DELTAIC_TEST_S3", &self.server)
            .arg("DELTAIC_TEST_S3")
            .arg(&counts)
            .arg("--")
            .arg(command.get_program())
            .args(command.get_args());
        quiet(&mut through)?;
        read(&counts)
    }
}

fn quiet(command: &mut Command) -> Outcome {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| e.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn read(file: &Path) -> Outcome<Value> {
    let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    serde_json::from_str(&text).map_err(|e| e.to_string())
}

/// `7 requests (2 LIST, 4 GET, 1 PUT), 12 kB`
fn shown(counts: &Value) -> String {
    let mut kinds = [
        ("LIST", 0),
        ("GET", 0),
        ("HEAD", 0),
        ("PUT", 0),
        ("POST", 0),
        ("DELETE", 0),
    ];
    for (name, count) in counts["requests"].as_object().into_iter().flatten() {
        let (method, class) = name.split_once(' ').unwrap_or((name, ""));
        let method = if class == "Listing" { "LIST" } else { method };
        if let Some(kind) = kinds.iter_mut().find(|(kind, _)| *kind == method) {
            kind.1 += count.as_u64().unwrap_or_default();
        }
    }
    let parts: Vec<String> = kinds
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    let bytes = counts["sent"].as_u64().unwrap_or_default()
        + counts["received"].as_u64().unwrap_or_default();
    format!(
        "{} ({}), {:.1} kB",
        counts["total"],
        parts.join(", "),
        f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1000.0
    )
}
