//! The tables that the scenarios need, the same on every machine: `deltaic-bench make_files TABLE` and others.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, TimestampMicrosecondArray,
};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;
use deltaic_log::{RandomIds, Snapshot, maintain};
use deltaic_protocol::clock::{Clock as _, SystemClock};
use serde_json::{Value, json};

use crate::log::store;
use crate::outcome::{Clock, Failure, Measured, Outcome};

/// 2024-01-01T00:00:00Z in milliseconds: behind every retention.
const BASE_MS: u64 = 1_704_067_200_000;

/// Files of the checkpoint.
const FILES: u64 = 1_000_000;
const DAYS: u64 = 365;
/// Commits above it.
const ABOVE: u64 = 20;
/// Commits of the table without a checkpoint.
const COMMITS: u64 = 10_000;
/// Files of the table for VACUUM, of which half are removed.
const VACUUMED: u64 = 100_000;
/// Rows and files of the table for queries.
const ROWS: i64 = 10_000_000;
const DATA_FILES: i64 = 200;
const GROUPS: i64 = 20;

/// Makes a table in a folder that is not there yet.
pub async fn make(kind: &str, table: &str) -> Outcome<Measured> {
    let folder = PathBuf::from(table);
    if folder.exists() {
        return Err(Failure::new(format!("{table} is there already")));
    }
    fs::create_dir_all(folder.join("_delta_log"))?;
    let mut clock = Clock::start();
    match kind {
        "files" => files(&folder, table).await?,
        "commits" => commits(&folder)?,
        "vacuum" => to_vacuum(&folder)?,
        "data" => data(&folder, false)?,
        "data_dv" => data(&folder, true)?,
        "empty" => {
            let fields = [("id", "long"), ("name", "string")];
            commit(&folder, 0, &start(&fields, &[], false))?;
        }
        other => {
            return Err(Failure::new(format!(
                "no table make_{other}; there are make_files, make_commits, make_vacuum, make_data, make_data_dv, make_empty"
            )));
        }
    }
    clock.mark("make");
    Ok(clock.done(0))
}

/// Protocol and metadata of a first commit.
fn start(fields: &[(&str, &str)], partitions: &[&str], deletion_vectors: bool) -> Vec<Value> {
    let fields: Vec<Value> = fields
        .iter()
        .map(|(name, kind)| json!({"name": name, "type": kind, "nullable": true, "metadata": {}}))
        .collect();
    let schema = json!({"type": "struct", "fields": fields}).to_string();
    let protocol = match deletion_vectors {
        true => json!({"minReaderVersion": 3, "minWriterVersion": 7,
                       "readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}),
        false => json!({"minReaderVersion": 1, "minWriterVersion": 2}),
    };
    let configuration = match deletion_vectors {
        true => json!({"delta.enableDeletionVectors": "true"}),
        false => json!({}),
    };
    vec![
        json!({"protocol": protocol}),
        json!({"metaData": {
            "id": "6c1f7a52-9d0b-4b1e-8f51-1d2f3a4b5c6d", "format": {"provider": "parquet", "options": {}},
            "schemaString": schema, "partitionColumns": partitions, "configuration": configuration,
            "createdTime": BASE_MS,
        }}),
    ]
}

fn info(version: u64) -> Value {
    json!({"commitInfo": {"timestamp": BASE_MS + version * 1000, "operation": "WRITE",
                          "operationParameters": {"mode": "Append", "partitionBy": "[]"}}})
}

fn add(path: &str, size: u64, partition: Value, statistics: &Value) -> Value {
    json!({"add": {"path": path, "partitionValues": partition, "size": size, "modificationTime": BASE_MS,
                   "dataChange": true, "stats": statistics.to_string()}})
}

fn remove(path: &str, partition: Value) -> Value {
    json!({"remove": {"path": path, "deletionTimestamp": BASE_MS, "dataChange": true, "extendedFileMetadata": true,
                      "partitionValues": partition, "size": 1000}})
}

/// Writes a commit, whose file is as old as its number says.
fn commit<'a>(
    folder: &Path,
    version: u64,
    actions: impl IntoIterator<Item = &'a Value>,
) -> Outcome<()> {
    let file = File::create(folder.join(format!("_delta_log/{version:020}.json")))?;
    let mut out = BufWriter::new(file);
    writeln!(out, "{}", info(version))?;
    for action in actions {
        writeln!(out, "{action}")?;
    }
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(BASE_MS + version * 1000);
    out.into_inner()
        .map_err(|error| Failure::new(error.to_string()))?
        .set_modified(time)?;
    Ok(())
}

fn day(number: u64) -> String {
    format!(
        "2024-{:02}-{:02}-{number}",
        1 + number / 31 % 12,
        1 + number % 28
    )
}

fn path_of(number: u64) -> (String, String) {
    let date = day(number * DAYS / FILES);
    let path = format!(
        "date={date}/part-{number:08}-{:08x}-c000.snappy.parquet",
        number.wrapping_mul(2_654_435_761) % (1 << 32)
    );
    (path, date)
}

/// A checkpoint of a million files, and commits above it.
async fn files(folder: &Path, table: &str) -> Outcome<()> {
    let fields = [
        ("id", "long"),
        ("date", "string"),
        ("value", "double"),
        ("name", "string"),
    ];
    let first = folder.join(format!("_delta_log/{:020}.json", 0));
    let mut out = BufWriter::new(File::create(&first)?);
    for action in start(&fields, &["date"], false) {
        writeln!(out, "{action}")?;
    }
    for number in 0..FILES {
        let (path, date) = path_of(number);
        let low = json!({"id": number * 1000, "value": number as f64 + 0.5, "name": format!("n{number:09}")});
        let high = json!({"id": number * 1000 + 999, "value": number as f64 + 10.5, "name": format!("n{:09}", number + 10)});
        let statistics = json!({"numRecords": 1000, "minValues": low, "maxValues": high,
                                "nullCount": {"id": 0, "value": 0, "name": 3}});
        let action = add(
            &path,
            1_000_000 + number % 1000,
            json!({"date": date}),
            &statistics,
        );
        writeln!(out, "{action}")?;
    }
    out.flush()?;
    let snapshot = Snapshot::load(&store(table)?, None).await?;
    maintain::checkpoint(&snapshot, SystemClock.now_ms(), &RandomIds).await?;
    // Half a gigabyte of text that nobody reads any more.
    fs::remove_file(first)?;
    for version in 1..=ABOVE {
        let mut actions = Vec::new();
        for each in 0..10 {
            let number = (version - 1) * 10 + each;
            let (path, date) = path_of(number);
            actions.push(remove(&path, json!({"date": date})));
            let date = day(number % DAYS);
            let statistics = json!({"numRecords": 1, "minValues": {"id": number}, "maxValues": {"id": number},
                                    "nullCount": {"id": 0}});
            let path = format!("date={date}/new-{version}-{each}.parquet");
            actions.push(add(&path, 1000, json!({"date": date}), &statistics));
        }
        commit(folder, version, &actions)?;
    }
    Ok(())
}

/// Ten thousand commits, each of which replaces the only file.
fn commits(folder: &Path) -> Outcome<()> {
    let fields = [("id", "long"), ("name", "string")];
    for version in 0..COMMITS {
        let mut actions = match version {
            0 => start(&fields, &[], false),
            _ => vec![remove(
                &format!("part-{:06}.snappy.parquet", version - 1),
                json!({}),
            )],
        };
        let (low, high) = (version * 100, version * 100 + 99);
        let statistics = json!({"numRecords": 100, "minValues": {"id": low, "name": "a"},
                                "maxValues": {"id": high, "name": "z"}, "nullCount": {"id": 0, "name": 0}});
        actions.push(add(
            &format!("part-{version:06}.snappy.parquet"),
            1024,
            json!({}),
            &statistics,
        ));
        commit(folder, version, &actions)?;
    }
    Ok(())
}

/// A hundred thousand old and empty files; the second commit removes every second one.
fn to_vacuum(folder: &Path) -> Outcome<()> {
    let mut added = start(&[("id", "long"), ("p", "integer")], &["p"], false);
    let mut removed = Vec::new();
    for p in 0..100 {
        fs::create_dir(folder.join(format!("p={p}")))?;
    }
    let old = SystemTime::UNIX_EPOCH + Duration::from_millis(BASE_MS);
    for number in 0..VACUUMED {
        let p = number % 100;
        let path = format!("p={p}/part-{number:07}.parquet");
        File::create(folder.join(&path))?.set_modified(old)?;
        let partition = json!({"p": p.to_string()});
        if number / 100 % 2 == 0 {
            removed.push(remove(&path, partition.clone()));
        }
        added.push(add(&path, 1000, partition, &json!({"numRecords": 1})));
    }
    commit(folder, 0, &added)?;
    commit(folder, 1, &removed)
}

/// A number that looks drawn: of any row and column the same on every machine.
fn drawn(row: i64, column: u64) -> u64 {
    let mut x = (row as u64)
        .wrapping_add(column.wrapping_mul(0x9E37_79B9_7F4A_7C15))
        .wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Ten million rows in two hundred files of twenty partitions.
fn data(folder: &Path, deletion_vectors: bool) -> Outcome<()> {
    let fields = [
        ("id", "long"),
        ("grp", "integer"),
        ("ts", "timestamp"),
        ("k", "integer"),
        ("v", "double"),
        ("amount", "decimal(10,2)"),
        ("name", "string"),
        ("flag", "boolean"),
    ];
    let mut actions = start(&fields, &["grp"], deletion_vectors);
    for group in 0..GROUPS {
        fs::create_dir(folder.join(format!("grp={group}")))?;
    }
    let rows = ROWS / DATA_FILES;
    for file in 0..DATA_FILES {
        let group = file * GROUPS / DATA_FILES;
        let path = format!("grp={group}/part-{file:05}.snappy.parquet");
        let low = file * rows;
        let batch = batch(low, low + rows)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .build();
        let out = File::create(folder.join(&path))?;
        let mut writer = ArrowWriter::try_new(out, batch.schema(), Some(properties))?;
        writer.write(&batch)?;
        writer.close()?;
        let size = fs::metadata(folder.join(&path))?.len();
        let statistics = json!({
            "numRecords": rows,
            "minValues": {"id": low, "k": 0, "v": 0.0, "amount": 0.0, "name": "name-0"},
            "maxValues": {"id": low + rows - 1, "k": 999, "v": 1.0, "amount": 10000.0, "name": "name-999"},
            "nullCount": {"id": 0, "ts": 0, "k": 0, "v": 0, "amount": 0, "name": 0, "flag": 0},
        });
        actions.push(add(
            &path,
            size,
            json!({"grp": group.to_string()}),
            &statistics,
        ));
    }
    commit(folder, 0, &actions)
}

fn batch(from: i64, to: i64) -> Outcome<RecordBatch> {
    let ids = || from..to;
    let k = |id: i64| (drawn(id, 1) % 1000) as i32;
    let micros = |id: i64| BASE_MS as i64 * 1000 + id * 1_000_000;
    let amounts = ids().map(|id| i128::from(drawn(id, 3) % 1_000_000));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from_iter_values(ids()))),
        (
            "ts",
            Arc::new(
                TimestampMicrosecondArray::from_iter_values(ids().map(micros)).with_timezone("UTC"),
            ),
        ),
        ("k", Arc::new(Int32Array::from_iter_values(ids().map(k)))),
        (
            "v",
            Arc::new(Float64Array::from_iter_values(
                ids().map(|id| (drawn(id, 2) >> 11) as f64 / (1_u64 << 53) as f64),
            )),
        ),
        (
            "amount",
            Arc::new(Decimal128Array::from_iter_values(amounts).with_precision_and_scale(10, 2)?),
        ),
        (
            "name",
            Arc::new(StringArray::from_iter_values(
                ids().map(|id| format!("name-{}", id % 5000)),
            )),
        ),
        (
            "flag",
            Arc::new(BooleanArray::from_iter(
                ids().map(|id| Some(k(id) % 2 == 0)),
            )),
        ),
    ];
    Ok(RecordBatch::try_from_iter(columns)?)
}
