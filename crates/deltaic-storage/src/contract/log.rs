//! Promises of the log store to one caller.

use bytes::Bytes;
use deltaic_protocol::error::ErrorKind;
use futures::{FutureExt, TryStreamExt};

use super::{Check, Outcome, ensure, same};
use crate::{DeleteOutcome, FileMeta, PutOutcome, TableStore};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check {
            name: "a created file is read back and listed",
            run: |t| created_is_seen(t).boxed(),
        },
        Check {
            name: "a second create changes nothing",
            run: |t| second_create(t).boxed(),
        },
        Check {
            name: "overwrite replaces",
            run: |t| overwrite(t).boxed(),
        },
        Check {
            name: "listing starts at the given name and is in byte order",
            run: |t| order(t).boxed(),
        },
        Check {
            name: "a table without a log lists as empty",
            run: |t| missing_log(t).boxed(),
        },
        Check {
            name: "a missing log file is an error of kind NotFound with its path",
            run: |t| missing(t).boxed(),
        },
        Check {
            name: "ranges are cut at the end of the file",
            run: |t| ranges(t).boxed(),
        },
        Check {
            name: "deleting twice says Missing",
            run: |t| delete(t).boxed(),
        },
        Check {
            name: "files of sub-folders are not among the log's names",
            run: |t| sidecars(t).boxed(),
        },
    ]
}

async fn names(table: &TableStore, start: &str) -> Result<Vec<String>, super::Violation> {
    Ok(table
        .log()
        .list_from(start)
        .map_ok(|meta| meta.path)
        .try_collect()
        .await?)
}

async fn created_is_seen(table: TableStore) -> Outcome {
    let log = table.log();
    same(
        "create",
        log.create("0.json", Bytes::from_static(b"abc")).await?,
        PutOutcome::Created,
    )?;
    same(
        "read",
        log.read("0.json").await?,
        Bytes::from_static(b"abc"),
    )?;
    let listed: Vec<_> = log.list_from("").try_collect().await?;
    same("entries", listed.len(), 1)?;
    same("name", listed[0].path.as_str(), "0.json")?;
    same("size", listed[0].size, 3)?;
    // Some stores tell the time of one file by the second, and by the millisecond in a listing.
    let seconds = |mut meta: FileMeta| {
        meta.modified_ms -= meta.modified_ms.rem_euclid(1_000);
        meta
    };
    same(
        "stat",
        log.stat("0.json").await?.map(seconds),
        Some(seconds(listed[0].clone())),
    )
}

async fn second_create(table: TableStore) -> Outcome {
    let log = table.log();
    log.create("0.json", Bytes::from_static(b"first")).await?;
    same(
        "create",
        log.create("0.json", Bytes::from_static(b"second")).await?,
        PutOutcome::AlreadyExists,
    )?;
    same(
        "content",
        log.read("0.json").await?,
        Bytes::from_static(b"first"),
    )
}

async fn overwrite(table: TableStore) -> Outcome {
    let log = table.log();
    let first = "00000000000000000000.json";
    log.create(first, Bytes::from_static(b"{}")).await?;
    log.overwrite("_last_checkpoint", Bytes::from_static(b"a longer text"))
        .await?;
    log.overwrite("_last_checkpoint", Bytes::from_static(b"short"))
        .await?;
    same(
        "content",
        log.read("_last_checkpoint").await?,
        Bytes::from_static(b"short"),
    )?;
    same(
        "names",
        names(&table, "").await?,
        vec![first.to_string(), "_last_checkpoint".to_string()],
    )
}

async fn order(table: TableStore) -> Outcome {
    let given = [
        "b",
        "a",
        "_last_checkpoint",
        "0002.json",
        "0010.json",
        "B",
        "a.b",
        "a-b",
        "~",
    ];
    for name in given {
        table.log().create(name, Bytes::new()).await?;
    }
    let mut wanted: Vec<String> = given.iter().map(ToString::to_string).collect();
    wanted.sort();
    same("all", names(&table, "").await?, wanted.clone())?;
    wanted.retain(|name| name.as_str() >= "0003");
    same("from 0003", names(&table, "0003").await?, wanted.clone())?;
    wanted.retain(|name| name.as_str() >= "_last_checkpoint");
    same(
        "from a name that is there",
        names(&table, "_last_checkpoint").await?,
        wanted,
    )?;
    same("past the end", names(&table, "\u{7f}").await?, Vec::new())
}

async fn missing_log(table: TableStore) -> Outcome {
    same("names", names(&table, "").await?, Vec::new())?;
    same("stat", table.log().stat("0.json").await?, None)
}

async fn missing(table: TableStore) -> Outcome {
    let Err(error) = table.log().read("0.json").await else {
        return ensure(false, || "reading a missing file gave content".to_string());
    };
    same("kind", error.kind(), ErrorKind::NotFound)?;
    let wanted = table.root().display("_delta_log/0.json");
    same("path", error.path().map(ToString::to_string), Some(wanted))
}

async fn ranges(table: TableStore) -> Outcome {
    let log = table.log();
    log.create("0.json", Bytes::from_static(b"0123456789"))
        .await?;
    same(
        "middle",
        log.read_range("0.json", 2..5).await?,
        Bytes::from_static(b"234"),
    )?;
    same(
        "end",
        log.read_range("0.json", 8..100).await?,
        Bytes::from_static(b"89"),
    )?;
    same(
        "behind the end",
        log.read_range("0.json", 50..60).await?,
        Bytes::new(),
    )
}

async fn delete(table: TableStore) -> Outcome {
    let log = table.log();
    log.create("0.json", Bytes::new()).await?;
    same("first", log.delete("0.json").await?, DeleteOutcome::Deleted)?;
    same(
        "second",
        log.delete("0.json").await?,
        DeleteOutcome::Missing,
    )?;
    same("names", names(&table, "").await?, Vec::new())?;
    same(
        "create again",
        log.create("0.json", Bytes::new()).await?,
        PutOutcome::Created,
    )
}

async fn sidecars(table: TableStore) -> Outcome {
    let log = table.log();
    log.create("_sidecars/x.parquet", Bytes::from_static(b"x"))
        .await?;
    log.create("0.json", Bytes::new()).await?;
    same(
        "read",
        log.read("_sidecars/x.parquet").await?,
        Bytes::from_static(b"x"),
    )?;
    let files: Vec<_> = log
        .list_from("")
        .try_filter(|meta| futures::future::ready(!meta.is_dir))
        .try_collect()
        .await?;
    same(
        "files",
        files.iter().map(|meta| meta.path.as_str()).collect(),
        vec!["0.json"],
    )
}
