//! Promises of the log store to several callers at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::join_all;

use super::{Check, Outcome, Violation, ensure, same};
use crate::{PutOutcome, TableStore};

const ROUNDS: usize = 20;
const WRITERS: usize = 16;

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check {
            name: "of several writers of one name exactly one wins",
            run: |t| one_winner(t).boxed(),
        },
        Check {
            name: "writers that take the next number lose no commit",
            run: |t| commits(t).boxed(),
        },
        Check {
            name: "a reader never sees a part of a file",
            run: |t| whole(t).boxed(),
        },
    ]
}

/// A content that shows by itself whether it is whole.
fn content(writer: usize) -> Bytes {
    Bytes::from(vec![b'a' + (writer % 26) as u8; 64 * 1024 + writer])
}

fn is_whole(content: &Bytes) -> bool {
    content.first().is_some_and(|first| {
        let writer = content.len().wrapping_sub(64 * 1024);
        writer < WRITERS
            && *first == b'a' + (writer % 26) as u8
            && content.iter().all(|byte| byte == first)
    })
}

async fn joined<T: Send + 'static>(
    tasks: Vec<tokio::task::JoinHandle<T>>,
) -> Result<Vec<T>, Violation> {
    join_all(tasks)
        .await
        .into_iter()
        .collect::<Result<_, _>>()
        .map_err(|error| Violation(error.to_string()))
}

async fn one_winner(table: TableStore) -> Outcome {
    for round in 0..ROUNDS {
        let tasks = (0..WRITERS).map(|writer| {
            let table = table.clone();
            tokio::spawn(async move {
                table
                    .log()
                    .create(&format!("{round:020}.json"), content(writer))
                    .await
            })
        });
        let outcomes = joined(tasks.collect())
            .await?
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?;
        let winners: Vec<usize> = (0..WRITERS)
            .filter(|writer| outcomes[*writer] == PutOutcome::Created)
            .collect();
        same("winners", winners.len(), 1)?;
        same(
            "content",
            table.log().read(&format!("{round:020}.json")).await?,
            content(winners[0]),
        )?;
    }
    Ok(())
}

async fn commits(table: TableStore) -> Outcome {
    let tasks = (0..8).map(|writer| {
        let table = table.clone();
        tokio::spawn(async move {
            let mut version = 0;
            for commit in 0..10 {
                let line = Bytes::from(format!("{writer}/{commit}"));
                while table
                    .log()
                    .create(&format!("{version:020}.json"), line.clone())
                    .await?
                    == PutOutcome::AlreadyExists
                {
                    version += 1;
                }
            }
            Ok::<_, Violation>(())
        })
    });
    joined(tasks.collect())
        .await?
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let mut lines = Vec::new();
    for version in 0..80 {
        lines.push(table.log().read(&format!("{version:020}.json")).await?);
    }
    lines.sort();
    lines.dedup();
    same("commits", lines.len(), 80)?;
    same(
        "more",
        table.log().stat(&format!("{:020}.json", 80)).await?,
        None,
    )
}

async fn whole(table: TableStore) -> Outcome {
    table.log().overwrite("hint", content(0)).await?;
    let done = Arc::new(AtomicBool::new(false));
    let readers = (0..4).map(|_| {
        let (table, done) = (table.clone(), Arc::clone(&done));
        tokio::spawn(async move {
            while !done.load(Ordering::Relaxed) {
                let seen = table.log().read("hint").await?;
                ensure(is_whole(&seen), || {
                    format!("a mixture of {} bytes", seen.len())
                })?;
                tokio::task::yield_now().await;
            }
            Ok::<_, Violation>(())
        })
    });
    let readers: Vec<_> = readers.collect();
    for writer in 0..WRITERS * 4 {
        table
            .log()
            .overwrite("hint", content(writer % WRITERS))
            .await?;
    }
    done.store(true, Ordering::Relaxed);
    joined(readers)
        .await?
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    Ok(())
}
