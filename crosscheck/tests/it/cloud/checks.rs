//! What must hold between Deltaic and a vendor's client, whichever it is.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;
use deltaic_log::{CommitContext, Operation, Snapshot, Transaction};
use deltaic_protocol::action::{Add, Metadata};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_storage::contract::names::STRANGE_NAMES;
use deltaic_storage::{PutOutcome, TableStore, encode_uri_path, to_object_path};
use futures::TryStreamExt;

/// A vendor's client on one bucket or container.
pub trait Vendor {
    async fn put(&self, key: &str, content: Vec<u8>);
    /// Whether this call made the object.
    async fn put_new(&self, key: &str, content: Vec<u8>) -> bool;
    async fn put_parts(&self, key: &str, parts: Vec<Vec<u8>>);
    async fn get(&self, key: &str) -> Option<Vec<u8>>;
    async fn get_range(&self, key: &str, range: Range<u64>) -> Vec<u8>;
    /// Keys and sizes.
    async fn list(&self, prefix: &str) -> BTreeMap<String, u64>;
    async fn delete(&self, key: &str);
    /// What other programs make to stand for a folder; the keys that were made.
    async fn put_markers(&self, folder: &str) -> Vec<String>;
}

/// The key of a file of the table.
fn key(table: &TableStore, path: &str) -> String {
    to_object_path(&table.root().absolute(path)).to_string()
}

/// Files in the root and below partitions, with every name that has made trouble.
fn awkward_paths() -> Vec<String> {
    let more = ["a=b", "a+b", "a&b", "a%2Bb", "a%252Fb", "?x=1#y", "~", "$"];
    STRANGE_NAMES
        .iter()
        .chain(&more)
        .flat_map(|name| [(*name).to_owned(), format!("p={name}/part 0.parquet")])
        .collect()
}

async fn listed(table: &TableStore) -> BTreeMap<String, u64> {
    table
        .data()
        .list("", None)
        .map_ok(|meta| (meta.path, meta.size))
        .try_collect()
        .await
        .unwrap()
}

pub async fn what_deltaic_wrote_the_vendor_lists_reads_and_deletes(
    vendor: &impl Vendor,
    table: &TableStore,
) {
    let paths = awkward_paths();
    for path in &paths {
        let content = Bytes::from(path.clone().into_bytes());
        table.data().create(path, content).await.unwrap();
    }
    let expected: BTreeMap<String, u64> = paths
        .iter()
        .map(|path| (key(table, path), path.len() as u64))
        .collect();
    assert_eq!(vendor.list(&format!("{}/", key(table, ""))).await, expected);
    for path in &paths {
        let key = key(table, path);
        let content = path.as_bytes();
        assert_eq!(vendor.get(&key).await.as_deref(), Some(content), "{path}");
        assert_eq!(vendor.get_range(&key, 0..1).await, content[..1], "{path}");
        vendor.delete(&key).await;
        assert!(!table.data().exists(path).await.unwrap(), "{path}");
    }
    assert_eq!(listed(table).await, BTreeMap::new());
}

pub async fn what_the_vendor_wrote_deltaic_lists_reads_and_deletes(
    vendor: &impl Vendor,
    table: &TableStore,
) {
    let paths = awkward_paths();
    for path in &paths {
        vendor
            .put(&key(table, path), path.clone().into_bytes())
            .await;
    }
    let expected: BTreeMap<String, u64> = paths
        .iter()
        .map(|path| (path.clone(), path.len() as u64))
        .collect();
    assert_eq!(listed(table).await, expected);
    for path in &paths {
        let content = path.as_bytes();
        let data = table.data();
        assert_eq!(data.read(path).await.unwrap(), content, "{path}");
        let range = 1..content.len() as u64 + 7;
        assert_eq!(
            data.read_range(path, range).await.unwrap(),
            content[1..],
            "{path}"
        );
        let there = data.stat(path).await.unwrap().unwrap();
        assert_eq!(
            (there.size, there.is_dir),
            (content.len() as u64, false),
            "{path}"
        );
        data.delete_file(path).await.unwrap();
        assert_eq!(vendor.get(&key(table, path)).await, None, "{path}");
    }
    assert_eq!(
        vendor.list(&format!("{}/", key(table, ""))).await,
        BTreeMap::new()
    );
}

pub async fn an_object_of_several_parts_is_the_same_to_both(
    vendor: &impl Vendor,
    table: &TableStore,
) {
    // The smallest size of a part that S3 takes, and a last one that is shorter.
    let size = 5 * 1024 * 1024;
    let whole: Vec<u8> = (0..2 * size + 1000).map(|n| (n % 251) as u8).collect();
    let parts = whole.chunks(size).map(<[u8]>::to_vec).collect();
    vendor.put_parts(&key(table, "parts.parquet"), parts).await;
    let data = table.data();
    assert!(data.read("parts.parquet").await.unwrap() == whole);
    let edge = size as u64 - 10..size as u64 + 10;
    let middle = data
        .read_range("parts.parquet", edge.clone())
        .await
        .unwrap();
    assert_eq!(middle, whole[size - 10..size + 10]);

    let store = table.object_store();
    let place = to_object_path(&table.root().absolute("ours.parquet"));
    let mut upload = object_store::buffered::BufWriter::with_capacity(store, place, size);
    for chunk in whole.chunks(1 << 20) {
        upload.put(Bytes::copy_from_slice(chunk)).await.unwrap();
    }
    tokio::io::AsyncWriteExt::shutdown(&mut upload)
        .await
        .unwrap();
    let ours = key(table, "ours.parquet");
    assert!(vendor.get(&ours).await.unwrap() == whole);
    assert_eq!(
        vendor.get_range(&ours, edge).await,
        whole[size - 10..size + 10]
    );
}

pub async fn a_file_that_one_has_made_is_not_made_by_the_other(
    vendor: &impl Vendor,
    table: &TableStore,
) {
    let (first, second) = ("00000000000000000000.json", "00000000000000000001.json");
    let place = |name: &str| key(table, &format!("_delta_log/{name}"));
    let (ours, theirs) = (Bytes::from_static(b"ours"), b"theirs".to_vec());

    assert!(vendor.put_new(&place(first), theirs.clone()).await);
    let outcome = table.log().create(first, ours.clone()).await.unwrap();
    assert_eq!(outcome, PutOutcome::AlreadyExists);
    assert_eq!(vendor.get(&place(first)).await, Some(theirs.clone()));

    let outcome = table.log().create(second, ours.clone()).await.unwrap();
    assert_eq!(outcome, PutOutcome::Created);
    assert!(!vendor.put_new(&place(second), theirs.clone()).await);
    assert_eq!(table.log().read(second).await.unwrap(), ours);

    // What is gone may be made again.
    vendor.delete(&place(second)).await;
    let outcome = table.log().create(second, ours.clone()).await.unwrap();
    assert_eq!(outcome, PutOutcome::Created);
    table.log().delete(second).await.unwrap();
    assert!(vendor.put_new(&place(second), theirs).await);
}

pub async fn markers_of_folders_are_no_files(vendor: &impl Vendor, table: &TableStore) {
    let mut markers = Vec::new();
    for folder in ["", "p=1", "p=1/q=a b", "p=2"] {
        markers.extend(vendor.put_markers(&key(table, folder)).await);
    }
    let data = table.data();
    let file = "p=1/q=a b/part 0.parquet";
    data.create(file, Bytes::from_static(b"rows"))
        .await
        .unwrap();
    // In the order of keys it stands between the marker of a folder and the files in it.
    let between = "p=1-x.parquet";
    data.create(between, Bytes::from_static(b"rows"))
        .await
        .unwrap();
    data.create("empty", Bytes::new()).await.unwrap();
    let found = listed(table).await;
    let files = [(file, 4), (between, 4), ("empty", 0)];
    assert_eq!(
        found,
        files.map(|(path, size)| (path.to_owned(), size)).into()
    );
    assert_eq!(data.read(file).await.unwrap(), "rows");
    // They stay: other programs may need them.
    data.delete_file(file).await.unwrap();
    for marker in markers {
        assert_eq!(vendor.get(&marker).await, Some(Vec::new()), "{marker}");
    }
}

fn add(path: &str) -> Add {
    Add {
        path: encode_uri_path(path),
        size: 4,
        data_change: true,
        ..Add::default()
    }
}

pub async fn create(table: &TableStore) -> Snapshot {
    let schema = StructType::new([StructField::nullable("id", DataType::Long)]);
    let mut transaction = Transaction::create(table, Operation::new("CREATE TABLE"));
    transaction.set_metadata(Metadata::new("t", &schema));
    transaction.add(add("a%b #1.parquet"));
    let done = transaction.commit(&CommitContext::default()).await.unwrap();
    done.into_result().unwrap().snapshot
}

pub async fn a_commit_of_deltaic_is_the_vendors_object(vendor: &impl Vendor, table: &TableStore) {
    create(table).await;
    let name = "00000000000000000000.json";
    let key = key(table, &format!("_delta_log/{name}"));
    let theirs = vendor.get(&key).await.unwrap();
    assert_eq!(table.log().read(name).await.unwrap(), theirs);
    let text = String::from_utf8(theirs).unwrap();
    let kinds: Vec<&str> = text
        .lines()
        .map(|line| line.trim_start_matches("{\"").split('"').next().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["commitInfo", "metaData", "protocol", "add"],
        "{text}"
    );
    assert!(text.contains(r#""path":"a%25b%20%231.parquet""#), "{text}");
    assert!(vendor.list(&key).await.contains_key(&key));
}

pub async fn a_commit_that_the_vendor_wrote_is_the_next_version(
    vendor: &impl Vendor,
    table: &TableStore,
) {
    let snapshot = create(table).await;
    let key = key(table, "_delta_log/00000000000000000001.json");
    let line = r#"{"add":{"path":"b%20c.parquet","partitionValues":{},"size":4,"modificationTime":0,"dataChange":true}}"#;
    assert!(vendor.put_new(&key, line.as_bytes().to_vec()).await);
    let mut paths = Vec::new();
    let newest = snapshot.update().await.unwrap();
    for file in newest.files().await.unwrap().iter() {
        paths.push(file.path.clone());
    }
    paths.sort();
    assert_eq!(newest.version(), 1);
    assert_eq!(paths, ["a%25b%20%231.parquet", "b%20c.parquet"]);

    // The next commit meets the version that is taken, and goes behind it.
    let mut transaction = Transaction::begin(&snapshot, Operation::new("WRITE"));
    transaction.add(add("d.parquet"));
    let done = transaction.commit(&CommitContext::default()).await.unwrap();
    assert_eq!(done.into_result().unwrap().version, 2);
    assert_eq!(vendor.get(&key).await.as_deref(), Some(line.as_bytes()));
}
