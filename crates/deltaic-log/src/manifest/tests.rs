//! Manifests follow the table.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use deltaic_protocol::action::{Add, Metadata, Protocol};
use deltaic_protocol::deletion_vector::{DeletionVector, DeletionVectorDescriptor};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_storage::StorageFactory;
use deltaic_storage::memory::MemoryBackend;

use super::*;
use crate::{CommitContext, Operation, Transaction};

async fn table(partitioned: bool, properties: &[(&str, &str)]) -> Snapshot {
    let store = StorageFactory::default()
        .with_memory(MemoryBackend::default())
        .open("memory:/w/t")
        .unwrap();
    let schema = StructType::new([
        StructField::nullable("id", DataType::Long),
        StructField::nullable("p", DataType::String),
    ]);
    let mut metadata = Metadata::new("t", &schema);
    if partitioned {
        metadata.partition_columns = vec!["p".to_owned()];
    }
    metadata.configuration = properties
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let mut transaction = Transaction::create(&store, Operation::new("CREATE TABLE"));
    transaction.set_metadata(metadata);
    let names = [
        "deletionVectors",
        "columnMapping",
        "appendOnly",
        "invariants",
    ];
    transaction.set_protocol(Protocol::of_features(&names.map(str::to_owned)));
    commit(transaction).await.unwrap()
}

async fn commit(transaction: Transaction) -> Result<Snapshot> {
    let done = transaction.commit(&CommitContext::default()).await?;
    let done = done.into_result()?;
    assert!(done.warnings.is_empty(), "{:?}", done.warnings);
    Ok(done.snapshot)
}

fn file(path: &str, partition: Option<&str>) -> Add {
    Add {
        path: path.to_owned(),
        partition_values: [("p".to_owned(), partition.map(str::to_owned))].into(),
        data_change: true,
        stats: Some(r#"{"numRecords":1}"#.to_owned()),
        ..Add::default()
    }
}

async fn change(snapshot: &Snapshot, adds: &[Add], gone: &str) -> Snapshot {
    let mut transaction = Transaction::begin(snapshot, Operation::new("WRITE"));
    for add in adds {
        transaction.add(add.clone());
    }
    for add in snapshot.files().await.unwrap().iter() {
        if !gone.is_empty() && add.path.contains(gone) {
            transaction.remove(add.to_remove(1, true));
        }
    }
    commit(transaction).await.unwrap()
}

async fn manifests(snapshot: &Snapshot) -> Vec<(String, String)> {
    let store = snapshot.store();
    let listed: Vec<_> = store
        .data()
        .list(MANIFESTS, None)
        .try_collect()
        .await
        .unwrap();
    let mut out = Vec::new();
    for entry in listed.into_iter().filter(|entry| !entry.is_dir) {
        let content = store.data().read(&entry.path).await.unwrap();
        out.push((
            entry.path.trim_start_matches(MANIFESTS).to_owned(),
            String::from_utf8(content.to_vec()).unwrap(),
        ));
    }
    out.sort();
    out
}

#[tokio::test]
async fn each_partition_has_a_manifest_with_decoded_absolute_paths() {
    let snapshot = table(true, &[]).await;
    let files = [
        file("p=a%2520b/x%20y.parquet", Some("a b")),
        file("z.parquet", Some("a/b")),
        file("memory:/else/n.parquet", None),
    ];
    let snapshot = change(&snapshot, &files, "").await;
    write(&snapshot, None).await.unwrap();
    let text = |path: &str, lines: &str| (path.to_owned(), lines.to_owned());
    assert_eq!(
        manifests(&snapshot).await,
        [
            text(
                "/p=__HIVE_DEFAULT_PARTITION__/manifest",
                "memory:/else/n.parquet\n"
            ),
            text("/p=a b/manifest", "memory:/w/t/p=a%20b/x y.parquet\n"),
            text("/p=a%2Fb/manifest", "memory:/w/t/z.parquet\n"),
        ]
    );
    let snapshot = change(&snapshot, &[], "z.parquet").await;
    write(&snapshot, None).await.unwrap();
    assert_eq!(manifests(&snapshot).await.len(), 2);
}

#[tokio::test]
async fn a_table_without_partitions_has_one_even_without_files() {
    let snapshot = table(false, &[]).await;
    write(&snapshot, None).await.unwrap();
    let one = |lines: &str| vec![("/manifest".to_owned(), lines.to_owned())];
    assert_eq!(manifests(&snapshot).await, one(""));
    let snapshot = change(&snapshot, &[file("x", None)], "").await;
    assert_eq!(manifests(&snapshot).await, one(""), "nobody asked");
    write(&snapshot, None).await.unwrap();
    assert_eq!(manifests(&snapshot).await, one("memory:/w/t/x\n"));
}

#[tokio::test]
async fn manifests_that_are_kept_follow_each_commit() {
    for partitioned in [true, false] {
        let mut snapshot = table(partitioned, &[(KEPT, "true")]).await;
        for (adds, gone) in [
            (vec![file("1", Some("a")), file("2", Some("b"))], ""),
            (vec![file("3", Some("a")), file("4", None)], ""),
            (vec![file("5", Some("c"))], "2"),
            (vec![], "4"),
            (vec![file("6", Some("b"))], "1"),
        ] {
            snapshot = change(&snapshot, &adds, gone).await;
            let kept = manifests(&snapshot).await;
            write(&snapshot, None).await.unwrap();
            assert_eq!(kept, manifests(&snapshot).await, "{partitioned}");
        }
    }
}

#[tokio::test]
async fn vectors_and_mapped_columns_are_refused() {
    let vector = DeletionVectorDescriptor::inline(&DeletionVector::from_iter([0]));
    let deleted = Add {
        deletion_vector: Some(vector),
        ..file("x", None)
    };
    let snapshot = change(&table(true, &[]).await, &[deleted], "").await;
    let error = write(&snapshot, None).await.unwrap_err();
    assert_eq!(
        error.class(),
        Some("DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS")
    );
    let mut kept = snapshot.metadata().as_ref().clone();
    kept.configuration
        .insert(KEPT.to_owned(), "true".to_owned());
    let mut transaction = Transaction::begin(&snapshot, Operation::new("SET TBLPROPERTIES"));
    transaction.set_metadata(kept.clone());
    let error = commit(transaction).await.unwrap_err();
    assert!(
        error
            .class()
            .unwrap()
            .ends_with("EXISTING_DELETION_VECTORS_WITH_INCREMENTAL_MANIFEST_GENERATION")
    );
    kept.configuration
        .insert("delta.enableDeletionVectors".to_owned(), "true".to_owned());
    let mut transaction = Transaction::begin(&snapshot, Operation::new("SET TBLPROPERTIES"));
    transaction.set_metadata(kept);
    let error = commit(transaction).await.unwrap_err();
    assert!(
        error
            .class()
            .unwrap()
            .contains("PERSISTENT_DELETION_VECTORS")
    );

    let mapped = table(true, &[("delta.columnMapping.mode", "name")]).await;
    let error = write(&mapped, None).await.unwrap_err();
    assert_eq!(
        error.class(),
        Some("DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING")
    );
}
