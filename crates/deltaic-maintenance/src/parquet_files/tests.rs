//! What a folder of Parquet files is taken for.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use deltaic_protocol::schema::DataType;
use deltaic_storage::StorageFactory;
use deltaic_storage::memory::MemoryBackend;
use parquet::arrow::ArrowWriter;

use super::*;

fn store() -> TableStore {
    StorageFactory::default()
        .with_memory(MemoryBackend::default())
        .open("memory:/w/p")
        .unwrap()
}

fn file(columns: Vec<(&str, ArrayRef)>) -> Bytes {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut out = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut out, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    out.into()
}

fn longs(name: &str) -> Bytes {
    file(vec![(name, Arc::new(Int64Array::from(vec![1, 2])))])
}

async fn with(files: &[(&str, Bytes)]) -> TableStore {
    let store = store();
    for (path, content) in files {
        store.data().create(path, content.clone()).await.unwrap();
    }
    store
}

fn partitioned(fields: &[(&str, DataType)]) -> FilesOptions {
    FilesOptions {
        partitions: StructType::new(
            fields
                .iter()
                .map(|(name, data_type)| StructField::nullable(*name, data_type.clone())),
        ),
        ..FilesOptions::new("/w/p")
    }
}

async fn class(store: &TableStore, options: &FilesOptions) -> String {
    let error = read(store, options).await.unwrap_err();
    error.class().unwrap_or("none").to_owned()
}

#[tokio::test]
async fn schemas_are_merged_and_hidden_files_passed_over() {
    let store = with(&[
        ("a.parquet", longs("a")),
        (
            "sub/b.parquet",
            file(vec![
                ("b", Arc::new(StringArray::from(vec!["x"]))),
                ("A", Arc::new(Int64Array::from(vec![1]))),
            ]),
        ),
        ("_SUCCESS", Bytes::new()),
        (".part.crc", Bytes::from_static(b"x")),
        ("_temporary/0/c.parquet", Bytes::from_static(b"x")),
        ("_metadata", Bytes::from_static(b"x")),
    ])
    .await;
    let read = read(&store, &FilesOptions::new("/w/p")).await.unwrap();
    assert_eq!(read.schema.simple_string(), "struct<a:bigint,b:string>");
    let paths: Vec<&str> = read.files.iter().map(|add| add.path.as_str()).collect();
    assert_eq!(paths, ["a.parquet", "sub/b.parquet"]);
}

#[tokio::test]
async fn partition_values_come_from_folders() {
    let store = with(&[
        ("p=1/_q=a%2Fb c/x%20.parquet", longs("id")),
        ("p=__HIVE_DEFAULT_PARTITION__/_q=/y.parquet", longs("id")),
    ])
    .await;
    let options = partitioned(&[("p", DataType::Integer), ("_Q", DataType::String)]);
    let read = read(&store, &options).await.unwrap();
    assert_eq!(
        read.schema.simple_string(),
        "struct<id:bigint,p:int,_Q:string>"
    );
    let values: Vec<_> = read
        .files
        .iter()
        .map(|add| {
            (
                add.path.as_str(),
                add.partition_values["p"].as_deref(),
                add.partition_values["_Q"].as_deref(),
            )
        })
        .collect();
    assert_eq!(
        values,
        [
            (
                "p=1/_q=a%252Fb%20c/x%2520.parquet",
                Some("1"),
                Some("a/b c")
            ),
            ("p=__HIVE_DEFAULT_PARTITION__/_q=/y.parquet", None, Some("")),
        ]
    );
}

#[tokio::test]
async fn folders_must_name_the_partition_columns() {
    let store = with(&[("p=x/a.parquet", longs("id"))]).await;
    let none = FilesOptions::new("/w/p");
    let error = read(&store, &none).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "[DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME] Expecting 0 partition column(s): [], but found 1 partition \
         column(s): [`p`] from parsing the file name: memory:/w/p/p=x/a.parquet"
    );
    for (column, data_type, wanted) in [
        (
            "q",
            DataType::String,
            "DELTA_UNEXPECTED_PARTITION_COLUMN_FROM_FILE_NAME",
        ),
        ("p", DataType::Integer, "DELTA_FAILED_CAST_PARTITION_VALUE"),
    ] {
        let options = partitioned(&[(column, data_type)]);
        assert_eq!(class(&store, &options).await, wanted);
    }
}

#[tokio::test]
async fn what_is_no_parquet_table_is_refused() {
    let options = FilesOptions::new("/w/p");
    let empty = with(&[("_SUCCESS", Bytes::new())]).await;
    assert_eq!(class(&empty, &options).await, "DELTA_EMPTY_DIRECTORY");
    for content in [Bytes::new(), Bytes::from_static(b"a,b\n1,2\n")] {
        let text = with(&[("a.parquet", longs("a")), ("b.csv", content)]).await;
        assert_eq!(
            class(&text, &options).await,
            "DELTA_FAILED_READ_FILE_FOOTER"
        );
    }
    let mixed = with(&[
        ("a.parquet", longs("a")),
        (
            "b.parquet",
            file(vec![("a", Arc::new(Int32Array::from(vec![1])))]),
        ),
    ])
    .await;
    assert_eq!(
        class(&mixed, &options).await,
        "DELTA_FAILED_MERGE_SCHEMA_FILE"
    );
    let spaced = with(&[("a.parquet", longs("a b"))]).await;
    assert_eq!(
        class(&spaced, &options).await,
        "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"
    );
    let nested = with(&[
        ("a.parquet", longs("a")),
        (
            "t/_delta_log/00000000000000000000.json",
            Bytes::from_static(b"{}"),
        ),
    ])
    .await;
    let error = read(&nested, &options).await.unwrap_err();
    assert!(error.text().contains("of its own"), "{error}");
}
