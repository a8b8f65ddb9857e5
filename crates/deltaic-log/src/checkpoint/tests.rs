//! Checkpoints written and read back: columns, pointer, parts, sidecars.
#![allow(clippy::unwrap_used)]
use super::schema::Layout;
use super::*;
use crate::ids::RandomIds;
use crate::maintain;
use crate::snapshot::Snapshot;
use crate::tests::{memory_store, write};
use crate::transaction::{CommitContext, Operation, Transaction};
use bytes::Bytes;
use deltaic_protocol::action::{Add, Metadata, Protocol};
use deltaic_protocol::clock::ManualClock;
use deltaic_protocol::file_name;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_storage::TableStore;
use expect_test::expect;
use serde_json::{Value, json};
use std::sync::Arc;

const DAY: i64 = 86_400_000;

fn many_types() -> StructType {
    StructType::new([
        StructField::nullable("i", DataType::Integer),
        StructField::nullable("f", DataType::Double),
        StructField::nullable(
            "d",
            DataType::Decimal {
                precision: 10,
                scale: 2,
            },
        ),
        StructField::nullable("s", DataType::String),
        StructField::nullable("b", DataType::Boolean),
        StructField::nullable("t", DataType::Timestamp),
        StructField::nullable(
            "n",
            DataType::structure([StructField::nullable("x", DataType::Date)]),
        ),
        StructField::nullable("p", DataType::Integer),
    ])
}

fn stats() -> Value {
    json!({
        "numRecords": 3,
        "minValues": {"i": -1, "f": 0.5, "d": 1.25, "s": "a", "t": "2026-01-01T00:00:00.000Z", "n": {"x": "2026-01-01"}},
        "maxValues": {"i": 7, "f": 1.5, "d": 99.00, "s": "zz", "t": "2026-01-02T00:00:00.123Z", "n": {"x": "2026-12-31"}},
        "nullCount": {"i": 0, "f": 1, "d": 0, "s": 0, "b": 2, "t": 0, "n": {"x": 0}},
    })
}

async fn table(properties: &[(&str, &str)]) -> (TableStore, Snapshot) {
    let store = memory_store();
    let mut metadata = Metadata::new("t", &many_types());
    metadata.partition_columns = vec!["p".to_owned()];
    metadata.configuration = properties
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    let mut create = Transaction::create(&store, Operation::new("CREATE TABLE"));
    create.set_metadata(metadata);
    create.set_protocol(Protocol::legacy(1, 2));
    let created = create
        .commit(&CommitContext::default())
        .await
        .unwrap()
        .into_result()
        .unwrap();
    let mut append = Transaction::begin(&created.snapshot, Operation::new("WRITE"));
    append.add(Add {
        path: "p=5/a.parquet".to_owned(),
        partition_values: [("p".to_owned(), Some("5".to_owned()))].into(),
        size: 9,
        data_change: true,
        stats: Some(stats().to_string()),
        ..Add::default()
    });
    let snapshot = append
        .commit(&CommitContext::default())
        .await
        .unwrap()
        .into_result()
        .unwrap()
        .snapshot;
    (store, snapshot)
}

#[test]
fn the_columns_are_those_of_the_reference_in_its_order() {
    let columns = CheckpointColumns {
        stats_text: true,
        partition_parsed: Some(StructType::new([StructField::nullable(
            "p",
            DataType::Integer,
        )])),
        stats_parsed: Some(StructType::new([StructField::nullable(
            "numRecords",
            DataType::Long,
        )])),
    };
    expect!["struct<txn:struct<appId:string,version:bigint,lastUpdated:bigint>,add:struct<path:string,partitionValues:map<string,string>,size:bigint,modificationTime:bigint,dataChange:boolean,tags:map<string,string>,deletionVector:struct<storageType:string,pathOrInlineDv:string,offset:int,sizeInBytes:int,cardinality:bigint,maxRowIndex:bigint>,baseRowId:bigint,defaultRowCommitVersion:bigint,clusteringProvider:string,stats:string,partitionValues_parsed:struct<p:int>,stats_parsed:struct<numRecords:bigint>>,remove:struct<path:string,deletionTimestamp:bigint,dataChange:boolean,extendedFileMetadata:boolean,partitionValues:map<string,string>,size:bigint,deletionVector:struct<storageType:string,pathOrInlineDv:string,offset:int,sizeInBytes:int,cardinality:bigint,maxRowIndex:bigint>,baseRowId:bigint,defaultRowCommitVersion:bigint>,metaData:struct<id:string,name:string,description:string,format:struct<provider:string,options:map<string,string>>,schemaString:string,partitionColumns:array<string>,configuration:map<string,string>,createdTime:bigint>,protocol:struct<minReaderVersion:int,minWriterVersion:int,readerFeatures:array<string>,writerFeatures:array<string>>,domainMetadata:struct<domain:string,configuration:string,removed:boolean>>"].assert_eq(&columns.schema(Layout::Classic).simple_string());
}

#[tokio::test]
async fn typed_statistics_tell_the_same_as_the_text() {
    let (store, snapshot) = table(&[("delta.checkpoint.writeStatsAsJson", "false")]).await;
    let written = maintain::checkpoint(&snapshot, 0, &RandomIds)
        .await
        .unwrap();
    let schema = written.hint.checkpoint_schema.unwrap().to_string();
    assert!(
        schema.contains("stats_parsed") && schema.contains("partitionValues_parsed"),
        "{schema}"
    );
    assert!(!schema.contains(r#""name":"stats""#));
    for version in 0..=1 {
        store
            .log()
            .delete(&file_name::commit(version))
            .await
            .unwrap();
    }
    let read = Snapshot::load(&store, None).await.unwrap();
    let files = read.files().await.unwrap();
    assert_eq!(files[0].partition_values["p"].as_deref(), Some("5"));
    let read: Value = serde_json::from_str(files[0].stats.as_deref().unwrap()).unwrap();
    let mut expected = stats();
    expected["minValues"]["t"] = json!("2026-01-01T00:00:00.000000Z");
    expected["maxValues"]["t"] = json!("2026-01-02T00:00:00.123000Z");
    expected["maxValues"]["d"] = serde_json::from_str("99.00").unwrap();
    assert_eq!(read, expected);
}

#[tokio::test]
async fn the_pointer_describes_the_checkpoint() {
    let (store, snapshot) = table(&[]).await;
    let written = maintain::checkpoint(&snapshot, 0, &RandomIds)
        .await
        .unwrap();
    let size = store
        .log()
        .stat(&file_name::checkpoint(1))
        .await
        .unwrap()
        .unwrap()
        .size;
    let hint = crate::hint::read_hint(&store).await.unwrap();
    assert_eq!(
        (
            hint.version,
            hint.size,
            hint.num_of_add_files,
            hint.size_in_bytes
        ),
        (1, 3, Some(1), Some(size as i64))
    );
    assert!(hint.checksum.is_some());
    assert_eq!(hint.checkpoint_schema, written.hint.checkpoint_schema);
}

#[tokio::test]
async fn an_empty_file_in_the_place_of_a_checkpoint_is_replaced() {
    let (store, snapshot) = table(&[]).await;
    store
        .log()
        .create(&file_name::checkpoint(1), Bytes::new())
        .await
        .unwrap();
    maintain::checkpoint(&snapshot, 0, &RandomIds)
        .await
        .unwrap();
    assert_eq!(
        Snapshot::load(&store, None)
            .await
            .unwrap()
            .checkpoint_version(),
        Some(1)
    );
}

#[tokio::test]
async fn a_checkpoint_of_several_parts_is_read_as_one() {
    let (store, snapshot) = table(&[]).await;
    maintain::checkpoint(&snapshot, 0, &RandomIds)
        .await
        .unwrap();
    let whole = store.log().read(&file_name::checkpoint(1)).await.unwrap();
    store.log().delete(&file_name::checkpoint(1)).await.unwrap();
    store
        .log()
        .create(&file_name::multi_part_checkpoint(1, 2, 2), whole)
        .await
        .unwrap();
    assert_eq!(
        Snapshot::load(&store, None)
            .await
            .unwrap()
            .checkpoint_version(),
        None,
        "a part is missing"
    );
    let other = memory_store();
    write(&other, "//- 0\n M\n P 1 2\n + b.parquet").await;
    maintain::checkpoint(&Snapshot::load(&other, None).await.unwrap(), 0, &RandomIds)
        .await
        .unwrap();
    let part = other.log().read(&file_name::checkpoint(0)).await.unwrap();
    store
        .log()
        .create(&file_name::multi_part_checkpoint(1, 1, 2), part)
        .await
        .unwrap();
    let read = Snapshot::load(&store, None).await.unwrap();
    let paths: Vec<String> = read
        .files()
        .await
        .unwrap()
        .iter()
        .map(|a| a.path.clone())
        .collect();
    assert_eq!(
        (read.checkpoint_version(), paths),
        (
            Some(1),
            vec!["b.parquet".to_owned(), "p=5/a.parquet".to_owned()]
        )
    );
}

#[tokio::test]
async fn v2_checkpoints_are_cleaned_with_their_sidecars_and_get_a_classic_twin() {
    let store = memory_store();
    let properties = "delta.checkpointPolicy=v2 delta.checkpointInterval=2 delta.logRetentionDuration=interval_2_days";
    write(
        &store,
        &format!("//- 0\n M {properties}\n P 3 7 v2Checkpoint"),
    )
    .await;
    let clock = ManualClock::at(300 * DAY);
    let context = CommitContext {
        clock: Arc::new(clock),
        ..CommitContext::default()
    };
    let log = |name: &str| format!("_delta_log/{name}");
    store
        .data()
        .set_modified(&log(&file_name::commit(0)), DAY)
        .await
        .unwrap();
    let mut snapshot = Snapshot::load(&store, None).await.unwrap();
    for version in 1..=8 {
        let mut append = Transaction::begin(&snapshot, Operation::new("WRITE"));
        append.add(Add {
            path: format!("f{version}"),
            size: 1,
            data_change: true,
            ..Add::default()
        });
        let result = append
            .commit(&context)
            .await
            .unwrap()
            .into_result()
            .unwrap();
        assert!(result.warnings.is_empty(), "{:?}", result.warnings);
        snapshot = result.snapshot;
        if version <= 5 {
            store
                .data()
                .set_modified(&log(&file_name::commit(version)), (1 + version) * DAY)
                .await
                .unwrap();
        }
        if version == 3 {
            for sidecar in sidecars(&store).await {
                store.data().set_modified(&sidecar, DAY).await.unwrap();
            }
        }
    }
    // Version 5 is the newest that is expired, and was the table's state until 6: the checkpoint below it is the oldest kept.
    assert_eq!(
        crate::history::available_versions(&store).await.unwrap(),
        (4, 8)
    );
    assert_eq!(sidecars(&store).await.len(), 3, "those of 4, 6 and 8");
    assert!(
        store
            .log()
            .stat(&file_name::checkpoint(4))
            .await
            .unwrap()
            .is_some()
    );
    for version in 4..=8 {
        let read = Snapshot::load(&store, Some(version)).await.unwrap();
        assert_eq!(read.files().await.unwrap().len(), version as usize);
    }
}

async fn sidecars(store: &TableStore) -> Vec<String> {
    use futures::TryStreamExt;
    let all: Vec<_> = store
        .data()
        .list("_delta_log/_sidecars", None)
        .try_collect()
        .await
        .unwrap();
    all.into_iter()
        .filter(|f| !f.is_dir)
        .map(|f| f.path)
        .collect()
}

#[tokio::test]
async fn sidecars_are_numbered_and_hold_as_many_actions_as_fit() {
    let store = memory_store();
    let mut log = String::from("//- 0\n M delta.checkpointPolicy=v2\n P 3 7 v2Checkpoint\n//- 1\n");
    let count = 50_000 + 7;
    (0..count).for_each(|i| log.push_str(&format!("+ f{i}\n")));
    write(&store, &log).await;
    write(&store, "//- 2\n - f0 @9000000000000\n + g").await;
    let snapshot = Snapshot::load(&store, None).await.unwrap();
    let written = maintain::checkpoint(&snapshot, 0, &RandomIds)
        .await
        .unwrap();
    assert_eq!(written.hint.num_of_add_files, Some(count));
    assert_eq!(
        written.hint.size,
        count + 1 + 2 + 1 + 2,
        "files, tombstone, header, own words, sidecars"
    );
    assert_eq!(written.files.len(), 3);
    for (number, name) in written.files[1..].iter().enumerate() {
        let numbers = format!(".checkpoint.{:010}.0000000002.", number + 1);
        assert!(name.contains(&numbers), "{name}");
    }
    for version in 0..=2 {
        store
            .log()
            .delete(&file_name::commit(version))
            .await
            .unwrap();
    }
    let read = Snapshot::load(&store, None).await.unwrap();
    assert_eq!(read.files().await.unwrap().len() as i64, count);
    assert_eq!(read.tombstones().await.unwrap().len(), 1);
    // And from there to the next one, without reading it as a whole.
    write(&store, "//- 3\n - f1 @9000000000000\n + h").await;
    let next = Snapshot::load(&store, None).await.unwrap();
    let written = maintain::checkpoint(&next, 0, &RandomIds).await.unwrap();
    assert_eq!(written.hint.num_of_add_files, Some(count));
}

/// The years before 1582, the ends of decimals, and no value at all.
#[test]
fn typed_partition_values_are_exact() {
    use super::encode::{Row, batch};
    use arrow::array::AsArray;
    use arrow::datatypes::{Date32Type, Decimal128Type, TimestampMicrosecondType};
    let columns = CheckpointColumns {
        partition_parsed: Some(StructType::new([
            StructField::nullable("d", DataType::Date),
            StructField::nullable("n", DataType::decimal(38, 2)),
            StructField::nullable("t", DataType::Timestamp),
        ])),
        ..CheckpointColumns::default()
    };
    let nines = "9".repeat(36);
    let rows = [
        [
            Some("0001-01-01"),
            Some("-0.01"),
            Some("1582-10-14 23:59:59.999999"),
        ],
        [
            Some("1582-10-05"),
            Some(nines.as_str()),
            Some("0001-01-01T00:00:00.000000Z"),
        ],
        [None, None, None],
        [Some(""), Some("1.50"), Some("9999-12-31T23:59:59.999999Z")],
    ];
    let adds: Vec<Add> = rows
        .iter()
        .map(|values| Add {
            path: "f".to_owned(),
            partition_values: ["d", "n", "t"]
                .into_iter()
                .zip(values)
                .map(|(name, value)| (name.to_owned(), value.map(str::to_owned)))
                .collect(),
            ..Add::default()
        })
        .collect();
    let rows: Vec<Row<'_>> = adds.iter().map(Row::Add).collect();
    let batch = batch(&columns.schema(Layout::Sidecar), &columns, &rows).unwrap();
    let add = batch.column_by_name("add").unwrap().as_struct();
    let parsed = add
        .column_by_name("partitionValues_parsed")
        .unwrap()
        .as_struct();
    let days: Vec<Option<i32>> = parsed
        .column(0)
        .as_primitive::<Date32Type>()
        .iter()
        .collect();
    assert_eq!(days, [Some(-719_162), Some(-141_437), None, None]);
    let numbers: Vec<Option<i128>> = parsed
        .column(1)
        .as_primitive::<Decimal128Type>()
        .iter()
        .collect();
    assert_eq!(
        numbers,
        [Some(-1), Some((10i128.pow(36) - 1) * 100), None, Some(150)]
    );
    let times: Vec<Option<i64>> = parsed
        .column(2)
        .as_primitive::<TimestampMicrosecondType>()
        .iter()
        .collect();
    assert_eq!(
        times,
        [
            Some(-12_219_292_800_000_001),
            Some(-62_135_596_800_000_000),
            None,
            Some(253_402_300_799_999_999)
        ]
    );
}
