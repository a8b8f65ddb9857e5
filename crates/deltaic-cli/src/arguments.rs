//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXIT_CODES: &str = "\
Exit status:
  0    done; in a script, every error was one that the script expects
  1    a defect of this program
  2    the command line or the statement is not understood
  3    the statement does not fit the table, the session or itself
  4    a table, version, column or file is not there
  5    not supported, here or at all
  6    another writer won
  7    a value or a row is refused: overflow, malformed text, constraint
  8    log or data are damaged
  9    the storage failed
  10   an error that a script expects did not come
  11   more memory is needed than --memory-limit allows
  130  stopped by Ctrl-C";

/// Delta Lake tables with Spark's SQL, without Spark.
#[derive(Parser)]
#[command(name = "deltaic", version, about, after_help = EXIT_CODES)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Args, Clone)]
pub struct Common {
    /// Folder of the managed tables
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "DELTAIC_WAREHOUSE",
        default_value = "warehouse"
    )]
    pub warehouse: String,
    /// File of the catalog [default: .deltaic/catalog.db in the warehouse]
    #[arg(long, global = true, value_name = "PATH", env = "DELTAIC_CATALOG")]
    pub catalog: Option<PathBuf>,
    /// The reference whose answers are given
    #[arg(long, global = true, value_enum, default_value_t = ProfileName::Delta43)]
    pub profile: ProfileName,
    /// A session setting, as SET would make it; may be given again
    #[arg(long = "conf", global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    pub settings: Vec<(String, String)>,
    /// An option of an object store (AWS_*, AZURE_*, fs.s3a.*, fs.azure.*); may be given again
    #[arg(long = "storage-option", global = true, value_name = "KEY=VALUE", value_parser = secret_key_value)]
    pub storage_options: Vec<(String, String)>,
    /// Memory that the program may take: bytes, or a number with k, m, g or t behind it [default: no limit]
    #[arg(long, global = true, value_name = "SIZE", value_parser = size, env = "DELTAIC_MEMORY_LIMIT")]
    pub memory_limit: Option<u64>,
    /// Tables for people, JSON lines for programs
    #[arg(long, global = true, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// No progress on standard error
    #[arg(long, global = true)]
    pub quiet: bool,
}

/// The profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProfileName {
    /// Spark 4.1 with Delta 4.3
    #[value(name = "delta-4.3")]
    Delta43,
    /// Spark 4.0 with Delta 4.0
    #[value(name = "delta-4.0")]
    Delta40,
}

/// How answers are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// As Spark's show
    Table,
    /// One JSON object per answer
    Json,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Run SQL: statements, a file, standard input, or a prompt
    #[command(after_help = SQL_HELP)]
    Sql(Sql),
    /// Delete files that no version within the retention needs
    #[command(after_help = "\
Example:
  deltaic vacuum main.shop.orders --dry-run
  deltaic vacuum ./lake/orders --lite")]
    Vacuum(Vacuum),
    /// Make a table what it was at a version or at a time
    #[command(after_help = "\
Example:
  deltaic restore main.shop.orders --version 3
  deltaic restore ./lake/orders --timestamp '2026-05-01 10:00:00'")]
    Restore(Restore),
    /// The commits of a table, newest first
    #[command(after_help = "\
Example:
  deltaic history ./lake/orders --limit 5")]
    History(History),
    /// Format, location, size, properties and features of a table
    #[command(after_help = "\
Example:
  deltaic detail main.shop.orders --output json")]
    Detail(Detail),
    /// Show, set or unset the properties of a table
    #[command(after_help = "\
Example:
  deltaic properties ./lake/orders
  deltaic properties ./lake/orders --set delta.logRetentionDuration='interval 60 days' --unset my.key")]
    Properties(Properties),
}

const SQL_HELP: &str = "\
Example:
  deltaic sql 'CREATE TABLE t (id BIGINT)' 'SELECT * FROM t'
  deltaic sql -f lesson.sql --param schema=demo
  deltaic sql 'SELECT * FROM t WHERE id = :id' --param id=7
  echo 'SELECT 1' | deltaic sql
  deltaic sql                            a prompt with history and completion

Comments with a meaning, on a line before a statement:
  -- expect error: CLASS                 that error must come; the run goes on
  -- param: NAME = VALUE                 value of :NAME from here on, unless --param gave one
  -- keep: NAME = COLUMN                 keep a column of the answer's first row as :NAME";

/// `deltaic sql`
#[derive(Args)]
pub struct Sql {
    /// Statements; several may stand in one argument, separated by semicolons
    #[arg(value_name = "STATEMENT")]
    pub statements: Vec<String>,
    /// The same, as an option
    #[arg(short = 'e', long = "execute", value_name = "STATEMENT")]
    pub execute: Vec<String>,
    /// Run a file; - is standard input
    #[arg(short = 'f', long = "file", value_name = "FILE", conflicts_with_all = ["statements", "execute"])]
    pub file: Option<PathBuf>,
    /// Go on after an error that was not expected
    #[arg(long)]
    pub keep_going: bool,
    /// Value of a named parameter: a number, true, false, null, or text
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = key_value)]
    pub parameters: Vec<(String, String)>,
    /// Rows printed at most
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub rows: usize,
    /// Longest text of a cell; 0 prints everything
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub truncate: usize,
    /// One line per column instead of one per row
    #[arg(long)]
    pub vertical: bool,
    /// Speak one-line JSON on standard input and output: {"sql": …, "args": …}
    #[arg(long, conflicts_with_all = ["statements", "execute", "file"])]
    pub pipe: bool,
}

/// A table: a path where the text holds a slash or begins with a dot, else a name of the catalog.
#[derive(Args)]
pub struct Target {
    /// Path, URL, or name of the catalog
    #[arg(value_name = "TABLE")]
    pub table: String,
}

/// `deltaic vacuum`
#[derive(Args)]
pub struct Vacuum {
    #[command(flatten)]
    pub target: Target,
    /// Keep files that were removed less than this many hours ago [default: the table's property]
    #[arg(long, value_name = "HOURS", value_parser = hours, allow_negative_numbers = true)]
    pub retain_hours: Option<f64>,
    /// List what would be deleted, delete nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Look at the log only, not at the folders
    #[arg(long)]
    pub lite: bool,
    /// A table that lists the files: path, length, isDir, modificationTime
    #[arg(long, value_name = "TABLE")]
    pub inventory: Option<String>,
    /// The manifest.json of an S3 Inventory of the table's bucket (CSV or Parquet), instead of a listing
    #[arg(long, value_name = "URL", conflicts_with = "inventory")]
    pub inventory_manifest: Option<String>,
}

/// `deltaic restore`
#[derive(Args)]
#[group(required = true, multiple = false, args = ["version", "timestamp"])]
pub struct Restore {
    #[command(flatten)]
    pub target: Target,
    /// The version to go back to
    #[arg(long, value_name = "N")]
    pub version: Option<u64>,
    /// The time to go back to, in the session's zone
    #[arg(long, value_name = "TIME")]
    pub timestamp: Option<String>,
}

/// `deltaic history`
#[derive(Args)]
pub struct History {
    #[command(flatten)]
    pub target: Target,
    /// Commits at most
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// `deltaic detail`
#[derive(Args)]
pub struct Detail {
    #[command(flatten)]
    pub target: Target,
}

/// `deltaic properties`
#[derive(Args)]
pub struct Properties {
    #[command(flatten)]
    pub target: Target,
    /// Set a property; may be given again
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Remove a property; may be given again
    #[arg(long = "unset", value_name = "KEY")]
    pub unset: Vec<String>,
}

/// Bytes, with a unit as the JVM has them: powers of 1024, by one letter, in either case, with or without `b` or `ib`.
fn size(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 128 << 20;
    let lower = text.trim().to_ascii_lowercase();
    let at = lower.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = lower.split_at(at.unwrap_or(lower.len()));
    let shift = match unit.trim() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err("the form is 1500000000, 512m, 1.5g".to_owned()),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "the form is 1500000000, 512m, 1.5g".to_owned())?;
    let bytes = number * (1_u64 << shift) as f64;
    if bytes >= u64::MAX as f64 {
        return Err("more bytes than a machine has".to_owned());
    }
    match bytes as u64 {
        bytes if bytes < LEAST => Err("the program itself needs 128m".to_owned()),
        bytes => Ok(bytes),
    }
}

/// Hours that are a number, and no more than a calendar holds.
fn hours(text: &str) -> Result<f64, String> {
    const MOST: f64 = 1e9;
    match text.parse::<f64>() {
        Ok(hours) if hours.abs() <= MOST => Ok(hours),
        Ok(_) => Err(format!("more than {MOST} hours")),
        Err(error) => Err(error.to_string()),
    }
}

/// `KEY=VALUE`; the value may be empty and may hold further signs.
/// The same for values that may be secrets, which the parser's own message would repeat: without `=` the name is empty, which
/// is refused where the options are used.
fn secret_key_value(text: &str) -> Result<(String, String), String> {
    Ok(key_value(text).unwrap_or_default())
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.to_owned()))
        }
        _ => Err("the form is KEY=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use clap::{CommandFactory, Parser};

    use super::Arguments;

    #[test]
    fn the_definition_of_the_command_line_holds_together() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example_in_its_help() {
        for command in Arguments::command().get_subcommands_mut() {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Example:"), "{}", command.get_name());
        }
    }

    #[test]
    fn memory_is_given_in_bytes_or_with_a_unit() {
        for (text, bytes) in [
            ("134217728", Some(128 << 20)),
            ("128m", Some(128 << 20)),
            ("1.5G", Some(1536 << 20)),
            ("2 GiB", Some(2 << 30)),
            ("1tb", Some(1 << 40)),
            ("10k", None),
            ("-1g", None),
            ("g", None),
            ("1e9", None),
            ("9999999999t", None),
            ("", None),
        ] {
            assert_eq!(super::size(text).ok(), bytes, "{text}");
        }
    }

    #[test]
    fn restore_wants_a_version_or_a_time_and_not_both() {
        let parse = |words: &[&str]| {
            Arguments::try_parse_from([&["deltaic", "restore", "t"], words].concat()).is_ok()
        };
        assert!(parse(&["--version", "3"]));
        assert!(parse(&["--timestamp", "2026-01-01"]));
        assert!(!parse(&[]));
        assert!(!parse(&["--version", "3", "--timestamp", "2026-01-01"]));
    }
}
