//! Promises of the object store that a query engine reads and writes Parquet through.

use bytes::Bytes;
use futures::{FutureExt, TryStreamExt};
use object_store::{GetOptions, GetRange, MultipartUpload, ObjectStoreExt, PutMode, PutOptions};

use super::{Check, Outcome, ensure, same};
use crate::TableStore;

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check {
            name: "ranges of an object are read",
            run: |t| ranges(t).boxed(),
        },
        Check {
            name: "the head of an object tells its size",
            run: |t| head(t).boxed(),
        },
        Check {
            name: "parts of a multipart write stand in order",
            run: |t| multipart(t).boxed(),
        },
        Check {
            name: "an aborted multipart write leaves nothing",
            run: |t| aborted(t).boxed(),
        },
        Check {
            name: "put in create mode does not replace",
            run: |t| create(t).boxed(),
        },
        Check {
            name: "listing with a delimiter shows one level",
            run: |t| delimiter(t).boxed(),
        },
        Check {
            name: "copy and rename keep the content",
            run: |t| copy(t).boxed(),
        },
        Check {
            name: "a missing object is NotFound",
            run: |t| missing(t).boxed(),
        },
    ]
}

async fn ranges(table: TableStore) -> Outcome {
    let (store, place) = (table.object_store(), table.data_path("a")?.object_path());
    store
        .put(&place, Bytes::from_static(b"0123456789").into())
        .await?;
    same(
        "range",
        store.get_range(&place, 2..5).await?,
        Bytes::from_static(b"234"),
    )?;
    let several = store.get_ranges(&place, &[7..9, 0..1]).await?;
    same(
        "ranges",
        several,
        vec![Bytes::from_static(b"78"), Bytes::from_static(b"0")],
    )?;
    for (range, wanted) in [
        (GetRange::Suffix(3), &b"789"[..]),
        (GetRange::Offset(4), &b"456789"[..]),
        (GetRange::Bounded(8..20), &b"89"[..]),
    ] {
        let options = GetOptions {
            range: Some(range),
            ..GetOptions::default()
        };
        match store.get_opts(&place, options).await {
            // Azure knows no ranges from the end.
            Err(object_store::Error::NotSupported { .. }) => {}
            found => same(
                "get_opts",
                found?.bytes().await?,
                Bytes::from_static(wanted),
            )?,
        }
    }
    Ok(())
}

async fn head(table: TableStore) -> Outcome {
    let (store, place) = (
        table.object_store(),
        table.data_path("p=1/a")?.object_path(),
    );
    store
        .put(&place, Bytes::from_static(b"12345").into())
        .await?;
    let meta = store.head(&place).await?;
    same("size", meta.size, 5)?;
    same("location", meta.location, place)
}

/// Of a part of a multipart upload to S3, in bytes.
const SMALLEST_PART: usize = 5 << 20;

async fn multipart(table: TableStore) -> Outcome {
    let (store, place) = (
        table.object_store(),
        table.data_path("new folder/a")?.object_path(),
    );
    for round in 0..2u8 {
        let mut upload = store.put_multipart(&place).await?;
        // S3 takes no part but the last below this size.
        let parts: Vec<Vec<u8>> = [SMALLEST_PART + 1, SMALLEST_PART, 10]
            .into_iter()
            .zip(round..)
            .map(|(size, byte)| vec![byte; size])
            .collect();
        let waiting: Vec<_> = parts
            .iter()
            .map(|part| upload.put_part(part.clone().into()))
            .collect();
        futures::future::try_join_all(waiting).await?;
        upload.complete().await?;
        same(
            "content",
            store.get(&place).await?.bytes().await?,
            Bytes::from(parts.concat()),
        )?;
    }
    Ok(())
}

async fn aborted(table: TableStore) -> Outcome {
    let (store, place) = (table.object_store(), table.data_path("a")?.object_path());
    let mut upload = store.put_multipart(&place).await?;
    upload.put_part(vec![1; 10].into()).await?;
    upload.abort().await?;
    let left: Vec<_> = table.data().list("", None).try_collect().await?;
    same("left", left, Vec::new())
}

async fn create(table: TableStore) -> Outcome {
    let (store, place) = (table.object_store(), table.data_path("a")?.object_path());
    let options = || PutOptions {
        mode: PutMode::Create,
        ..PutOptions::default()
    };
    store
        .put_opts(&place, Bytes::from_static(b"1").into(), options())
        .await?;
    let second = store
        .put_opts(&place, Bytes::from_static(b"2").into(), options())
        .await;
    ensure(
        matches!(second, Err(object_store::Error::AlreadyExists { .. })),
        || format!("second create: {second:?}"),
    )?;
    same(
        "content",
        store.get(&place).await?.bytes().await?,
        Bytes::from_static(b"1"),
    )?;
    store.put(&place, Bytes::from_static(b"3").into()).await?;
    same(
        "replaced",
        store.get(&place).await?.bytes().await?,
        Bytes::from_static(b"3"),
    )
}

async fn delimiter(table: TableStore) -> Outcome {
    let store = table.object_store();
    for path in ["d/a", "d/p=1/b", "d/p=1/q/c", "d/p=2/e"] {
        store
            .put(&table.data_path(path)?.object_path(), Bytes::new().into())
            .await?;
    }
    let listed = store
        .list_with_delimiter(Some(&table.data_path("d")?.object_path()))
        .await?;
    let objects: Vec<_> = listed
        .objects
        .into_iter()
        .map(|meta| meta.location)
        .collect();
    same(
        "objects",
        objects,
        vec![table.data_path("d/a")?.object_path()],
    )?;
    let folders = vec![
        table.data_path("d/p=1")?.object_path(),
        table.data_path("d/p=2")?.object_path(),
    ];
    same("folders", listed.common_prefixes, folders)
}

async fn copy(table: TableStore) -> Outcome {
    let store = table.object_store();
    let (from, to) = (
        table.data_path("a")?.object_path(),
        table.data_path("p/b")?.object_path(),
    );
    store.put(&from, Bytes::from_static(b"1").into()).await?;
    store.copy(&from, &to).await?;
    same(
        "copied",
        store.get(&to).await?.bytes().await?,
        Bytes::from_static(b"1"),
    )?;
    let again = store.copy_if_not_exists(&from, &to).await;
    ensure(
        matches!(
            again,
            Err(object_store::Error::AlreadyExists { .. }
                | object_store::Error::NotSupported { .. }
                | object_store::Error::NotImplemented { .. })
        ),
        || format!("copy if absent: {again:?}"),
    )?;
    store.put(&from, Bytes::from_static(b"2").into()).await?;
    store.rename(&from, &to).await?;
    same(
        "renamed",
        store.get(&to).await?.bytes().await?,
        Bytes::from_static(b"2"),
    )?;
    ensure(!table.data().exists("a").await?, || {
        "the source of the rename is still there".to_string()
    })
}

async fn missing(table: TableStore) -> Outcome {
    let place = table.data_path("p/a")?.object_path();
    let found = table.object_store().get(&place).await;
    ensure(
        matches!(found, Err(object_store::Error::NotFound { .. })),
        || "a missing object was found".to_string(),
    )?;
    // S3 does not tell whether there was something to delete.
    let deleted = table.object_store().delete(&place).await;
    ensure(
        matches!(deleted, Ok(()) | Err(object_store::Error::NotFound { .. })),
        || format!("a missing object was deleted: {deleted:?}"),
    )
}
