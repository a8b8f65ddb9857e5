//! Unit tests of what CONVERT TO DELTA commits.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_storage::StorageFactory;
use deltaic_storage::memory::MemoryBackend;

use super::*;

fn files() -> ParquetFiles {
    ParquetFiles {
        schema: StructType::new([
            StructField::nullable("id", DataType::Long),
            StructField::nullable("p", DataType::Integer),
        ]),
        partition_columns: vec!["p".to_owned()],
        files: vec![Add {
            path: "p=1/x.parquet".to_owned(),
            partition_values: [("p".to_owned(), Some("1".to_owned()))].into(),
            size: 7,
            data_change: true,
            ..Add::default()
        }],
    }
}

fn properties(pairs: &[(&str, &str)]) -> PropertyChanges {
    PropertyChanges::for_create([], pairs.iter().copied(), &Default::default()).unwrap()
}

fn store() -> TableStore {
    StorageFactory::default()
        .with_memory(MemoryBackend::default())
        .open("memory:/w/p")
        .unwrap()
}

#[tokio::test]
async fn one_commit_holds_all_and_a_second_is_refused() {
    let (store, context) = (store(), CommitContext::default());
    let request = Convert {
        collect_statistics: true,
        catalog_table: Some("`c`.`d`.`p`".to_owned()),
        ..Convert::default()
    };
    let defined = define(&files(), &properties(&[("x", "1")]), Some("mine"), &context).unwrap();
    let done = run(&store, &request, defined.clone(), files().files, &context)
        .await
        .unwrap();
    assert_eq!(done.version, 0);
    let metadata = done.snapshot.metadata();
    assert_eq!(metadata.description.as_deref(), Some("mine"));
    assert_eq!(metadata.configuration["x"], "1");
    assert_eq!(metadata.partition_columns, ["p"]);
    let info = done.snapshot.commit_info().await.unwrap().unwrap();
    let parameters = serde_json::to_string(&info.operation_parameters).unwrap();
    assert!(
        parameters.contains(r#""catalogTable":"`c`.`d`.`p`""#),
        "{parameters}"
    );
    assert_eq!(
        (info.read_version, info.is_blind_append),
        (Some(-1), Some(false))
    );
    let again = run(&store, &request, defined, files().files, &context).await;
    assert!(again.is_err());
    assert_eq!(Snapshot::load(&store, None).await.unwrap().version(), 0);
}

#[test]
fn what_the_files_cannot_have_is_refused() {
    let context = CommitContext::default();
    let mapped = properties(&[("delta.columnMapping.mode", "name")]);
    let error = define(&files(), &mapped, None, &context).unwrap_err();
    assert_eq!(
        error.class(),
        Some("DELTA_CONVERSION_UNSUPPORTED_COLUMN_MAPPING")
    );
}

#[tokio::test]
async fn properties_of_the_catalog_join_those_of_a_log_that_has_none() {
    let (store, context) = (store(), CommitContext::default());
    let request = Convert::default();
    let defined = define(&files(), &properties(&[]), None, &context).unwrap();
    let done = run(&store, &request, defined, files().files, &context)
        .await
        .unwrap();
    let given = properties(&[("x", "1")]);
    let adopted = adopt(&done.snapshot, &request, &given, true, &context).await;
    let adopted = adopted.unwrap().unwrap();
    assert_eq!(adopted.snapshot.metadata().configuration["x"], "1");
    let same = adopt(&adopted.snapshot, &request, &given, true, &context).await;
    assert!(same.unwrap().is_none());
    let other = properties(&[("x", "2")]);
    let error = adopt(&adopted.snapshot, &request, &other, true, &context)
        .await
        .unwrap_err();
    assert_eq!(
        error.class(),
        Some("DELTA_CONVERT_METASTORE_METADATA_MISMATCH")
    );
    let forced = adopt(&adopted.snapshot, &request, &other, false, &context).await;
    assert!(forced.unwrap().is_some());
}
