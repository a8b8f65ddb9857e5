//! Promises of the data store.

use std::sync::Arc;

use bytes::Bytes;
use deltaic_protocol::error::ErrorKind;
use futures::{FutureExt, TryStreamExt};

use super::{Check, Outcome, Violation, ensure, same};
use crate::{DeleteOutcome, Descend, DirOutcome, PutOutcome, TableStore};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check {
            name: "a listing shows every file below its prefix",
            run: |t| listing(t).boxed(),
        },
        Check {
            name: "a listing does not enter a folder it was told to leave out",
            run: |t| descend(t).boxed(),
        },
        Check {
            name: "a long listing is complete",
            run: |t| long_listing(t).boxed(),
        },
        Check {
            name: "deletes say what they did",
            run: |t| deletes(t).boxed(),
        },
        Check {
            name: "a folder with a file in it is not deleted",
            run: |t| folders(t).boxed(),
        },
        Check {
            name: "a data file is not created twice",
            run: |t| create(t).boxed(),
        },
        Check {
            name: "modification times can be set, and are listed",
            run: |t| times(t).boxed(),
        },
        Check {
            name: "a missing data file is an error of kind NotFound with its path",
            run: |t| missing(t).boxed(),
        },
        Check {
            name: "an absolute path reaches a file of another table",
            run: |t| absolute(t).boxed(),
        },
    ]
}

async fn files(
    table: &TableStore,
    prefix: &str,
    descend: Option<Descend>,
) -> Result<Vec<String>, Violation> {
    let listed: Vec<_> = table.data().list(prefix, descend).try_collect().await?;
    let mut paths: Vec<String> = listed
        .into_iter()
        .filter(|meta| !meta.is_dir)
        .map(|meta| meta.path)
        .collect();
    paths.sort();
    Ok(paths)
}

async fn fill(table: &TableStore, paths: &[&str]) -> Outcome {
    for path in paths {
        table
            .data()
            .create(path, Bytes::from(path.as_bytes().to_vec()))
            .await?;
    }
    Ok(())
}

async fn listing(table: TableStore) -> Outcome {
    let all = [
        "_delta_log/0.json",
        "a.parquet",
        "p=1/q=2/c.parquet",
        "p=1/b.parquet",
        "p=10/d.parquet",
    ];
    fill(&table, &all).await?;
    let owned = |paths: &[&str]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut wanted = owned(&all);
    wanted.sort();
    same("all", files(&table, "", None).await?, wanted)?;
    same(
        "below p=1",
        files(&table, "p=1", None).await?,
        owned(&["p=1/b.parquet", "p=1/q=2/c.parquet"]),
    )?;
    same(
        "below p=1/",
        files(&table, "p=1/", None).await?,
        owned(&["p=1/b.parquet", "p=1/q=2/c.parquet"]),
    )?;
    same(
        "below nothing",
        files(&table, "nothing", None).await?,
        Vec::new(),
    )?;
    same(
        "read",
        table.data().read("p=1/b.parquet").await?,
        Bytes::from_static(b"p=1/b.parquet"),
    )
}

async fn descend(table: TableStore) -> Outcome {
    fill(
        &table,
        &["_delta_log/0.json", "p=1/a.parquet", "p=1/_tmp/b.parquet"],
    )
    .await?;
    let enter: Descend = Arc::new(|path: &str| {
        !path
            .rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with('_'))
    });
    same(
        "files",
        files(&table, "", Some(enter)).await?,
        vec!["p=1/a.parquet".to_string()],
    )
}

async fn long_listing(table: TableStore) -> Outcome {
    for number in 0..2500 {
        table
            .data()
            .create(&format!("p={}/{number}.parquet", number % 7), Bytes::new())
            .await?;
    }
    same("files", files(&table, "", None).await?.len(), 2500)
}

async fn deletes(table: TableStore) -> Outcome {
    fill(&table, &["a", "p/b"]).await?;
    same(
        "first",
        table.data().delete_file("a").await?,
        DeleteOutcome::Deleted,
    )?;
    // An object store does not say whether there was something, and asking would cost a request for each file.
    let nothing = match table.root().scheme().is_cloud() {
        true => [DeleteOutcome::Missing, DeleteOutcome::Deleted],
        false => [DeleteOutcome::Missing; 2],
    };
    for path in ["a", "p/b/c"] {
        let outcome = table.data().delete_file(path).await?;
        ensure(nothing.contains(&outcome), || {
            format!("a second delete of {path}: {outcome:?}")
        })?;
    }
    same(
        "rest",
        files(&table, "", None).await?,
        vec!["p/b".to_string()],
    )
}

async fn folders(table: TableStore) -> Outcome {
    fill(&table, &["p/b"]).await?;
    let there = table.data().stat("p").await?;
    same("is a folder", there.map(|meta| meta.is_dir), Some(true))?;
    let outcome = table.data().delete_empty_dir("p").await?;
    ensure(outcome != DirOutcome::Deleted, || {
        "a folder with a file is gone".to_string()
    })?;
    same(
        "file",
        files(&table, "", None).await?,
        vec!["p/b".to_string()],
    )?;
    table.data().delete_file("p/b").await?;
    table.data().delete_empty_dir("p").await?;
    same("folder", table.data().stat("p").await?, None)?;
    same(
        "again",
        table.data().delete_empty_dir("p").await?,
        DirOutcome::Missing,
    )
}

async fn create(table: TableStore) -> Outcome {
    let data = table.data();
    same(
        "first",
        data.create("a", Bytes::from_static(b"1")).await?,
        PutOutcome::Created,
    )?;
    same(
        "second",
        data.create("a", Bytes::from_static(b"2")).await?,
        PutOutcome::AlreadyExists,
    )?;
    same("content", data.read("a").await?, Bytes::from_static(b"1"))?;
    same(
        "range",
        data.read_range("a", 0..9).await?,
        Bytes::from_static(b"1"),
    )
}

async fn times(table: TableStore) -> Outcome {
    fill(&table, &["p/b"]).await?;
    for ms in [1_700_000_000_123i64, 0] {
        match table.data().set_modified("p/b", ms).await {
            // Object stores date their files themselves.
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
            other => other?,
        }
        same(
            "stat",
            table.data().stat("p/b").await?.map(|meta| meta.modified_ms),
            Some(ms),
        )?;
        let listed: Vec<_> = table.data().list("", None).try_collect().await?;
        let found = listed
            .iter()
            .find(|meta| meta.path == "p/b")
            .map(|meta| meta.modified_ms);
        same("listed", found, Some(ms))?;
    }
    Ok(())
}

async fn missing(table: TableStore) -> Outcome {
    let Err(error) = table.data().read("p/b").await else {
        return ensure(false, || "reading a missing file gave content".to_string());
    };
    same("kind", error.kind(), ErrorKind::NotFound)?;
    same(
        "path",
        error.path().map(ToString::to_string),
        Some(table.root().display("p/b")),
    )
}

async fn absolute(table: TableStore) -> Outcome {
    let path = table.root().absolute("elsewhere/x");
    table.data().create(&path, Bytes::from_static(b"x")).await?;
    same(
        "relative",
        table.data().read("elsewhere/x").await?,
        Bytes::from_static(b"x"),
    )?;
    same(
        "absolute",
        table.data().read(&path).await?,
        Bytes::from_static(b"x"),
    )
}
