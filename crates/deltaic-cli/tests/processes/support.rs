//! A warehouse of its own for each test, the program on it, and a held session on a pipe.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};

/// The long forms of the tests: `cargo xtask test heavy`.
pub fn heavy() -> bool {
    std::env::var_os("DELTAIC_HEAVY").is_some()
}

/// A folder with a warehouse; removed at the end.
pub struct Place {
    folder: tempfile::TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit status; 128 + N where signal N ended the process, as a shell gives it.
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// The folder that holds the warehouse `wh`.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of a table of the default schema.
    pub fn table(&self, name: &str) -> PathBuf {
        self.path().join("wh").join(name)
    }

    /// A file of a table's log.
    pub fn log(&self, table: &str, name: &str) -> PathBuf {
        self.table(table).join("_delta_log").join(name)
    }

    pub fn command(&self, words: &[&str]) -> Command {
        program(self.path(), words)
    }

    pub fn run(&self, words: &[&str]) -> Ended {
        ended(self.command(words).stdin(Stdio::null()).output().unwrap())
    }

    pub fn run_with_input(&self, words: &[&str], input: &[u8]) -> Ended {
        let mut child = piped(self.command(words));
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let feeder = std::thread::spawn(move || {
            // A program that ends early closes its input.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        ended(output)
    }

    /// Statements that must succeed.
    pub fn sql(&self, text: &str) {
        let ended = self.run(&["sql", "--quiet", text]);
        assert_eq!(ended.status, 0, "{text}: {}{}", ended.out, ended.err);
    }

    /// The rows of a query that must succeed.
    pub fn rows(&self, text: &str) -> Vec<Vec<Value>> {
        let ended = self.run(&["sql", "--quiet", "--output", "json", text]);
        assert_eq!(ended.status, 0, "{text}: {}{}", ended.out, ended.err);
        rows_of(&serde_json::from_str(&ended.out).unwrap())
    }

    /// A column `id` as numbers, sorted.
    pub fn ids(&self, query: &str) -> Vec<i64> {
        let rows = self.rows(query);
        let mut ids: Vec<i64> = rows.iter().map(|row| row[0].as_i64().unwrap()).collect();
        ids.sort_unstable();
        ids
    }

    /// A held session.
    pub fn session(&self) -> Held {
        Held::new(self.command(&["sql", "--pipe"]))
    }
}

/// The program with a warehouse in a folder.
pub fn program(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltaic"));
    command
        .args(words)
        .arg("--warehouse")
        .arg(folder.join("wh"))
        .current_dir(folder)
        .env_remove("DELTAIC_CATALOG")
        .env_remove("DELTAIC_WAREHOUSE");
    command
}

/// Start with all three streams on pipes.
pub fn piped(mut command: Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

pub fn ended(output: Output) -> Ended {
    use std::os::unix::process::ExitStatusExt;
    let signal = output.status.signal().map(|signal| 128 + signal);
    Ended {
        status: output.status.code().or(signal).unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub fn rows_of(answer: &Value) -> Vec<Vec<Value>> {
    let rows = answer["rows"].as_array();
    let rows = rows.unwrap_or_else(|| panic!("no rows: {answer}"));
    rows.iter()
        .map(|row| row.as_array().unwrap().clone())
        .collect()
}

/// `deltaic sql --pipe`.
pub struct Held {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Held {
    pub fn new(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            input,
            output,
        }
    }

    /// Send a statement without waiting for its answer.
    pub fn send(&mut self, sql: &str) {
        writeln!(self.input, "{}", json!({ "sql": sql })).unwrap();
        self.input.flush().unwrap();
    }

    /// The next answer; nothing where the program has ended.
    pub fn answer(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        // A line that a kill has cut is no answer.
        line.ends_with('\n')
            .then(|| serde_json::from_str(&line).unwrap())
    }

    pub fn ask(&mut self, sql: &str) -> Value {
        self.send(sql);
        self.answer()
            .unwrap_or_else(|| panic!("the program ended at {sql}"))
    }

    /// Send a request as it is.
    pub fn request(&mut self, request: &Value) -> Value {
        writeln!(self.input, "{request}").unwrap();
        self.answer()
            .unwrap_or_else(|| panic!("the program ended at {request}"))
    }

    /// The rows of a statement that must succeed.
    pub fn rows(&mut self, sql: &str) -> Vec<Vec<Value>> {
        let answer = self.ask(sql);
        assert!(answer.get("error").is_none(), "{sql}: {answer}");
        rows_of(&answer)
    }

    /// Forget what is cached.
    pub fn refresh(&mut self) {
        writeln!(self.input, "{}", json!({"refresh": true})).unwrap();
        assert_eq!(self.answer(), Some(json!({})));
    }

    /// SIGKILL, and the answers that had been given.
    pub fn kill(mut self) -> Vec<Value> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut answers = Vec::new();
        while let Some(answer) = self.answer() {
            answers.push(answer);
        }
        answers
    }

    /// Close the input and wait for the end.
    pub fn close(mut self) -> i32 {
        drop(self.input);
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

/// All files under a folder with their content: nothing may be lost by a statement that fails.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let content = std::fs::read(&path).unwrap();
                found.insert(path, content);
            }
        }
    }
    found
}

/// The data files of a table: everything that is neither in its log nor hidden.
pub fn data_files(table: &Path) -> Vec<String> {
    let mut names: Vec<String> = contents(table)
        .into_keys()
        .map(|path| {
            path.strip_prefix(table)
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| !name.starts_with("_delta_log"))
        .collect();
    names.sort();
    names
}

/// Versions of the commits in a log, ascending.
pub fn commits(table: &Path) -> Vec<u64> {
    let mut versions: Vec<u64> = std::fs::read_dir(table.join("_delta_log"))
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".json")
                .filter(|stem| stem.len() == 20)?
                .parse()
                .ok()
        })
        .collect();
    versions.sort_unstable();
    versions
}

/// Numbers that look random and are the same in every run with one seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    /// From `DELTAIC_SEED`, else from the time; printed, so that a failure can be repeated.
    pub fn seeded(what: &str) -> Self {
        let given = std::env::var("DELTAIC_SEED")
            .ok()
            .and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(|| {
            let now = std::time::SystemTime::now();
            now.duration_since(std::time::UNIX_EPOCH)
                .unwrap()
                .as_nanos() as u64
        });
        println!("{what}: DELTAIC_SEED={seed}");
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}
