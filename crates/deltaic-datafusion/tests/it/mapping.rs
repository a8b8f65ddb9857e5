//! Column mapping by name and by id, nested columns, widened types, columns that files do not have.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, StructArray};
use arrow::datatypes::{DataType as Arrow, Field, Fields, Schema};
use deltaic_log::Operation;
use deltaic_log::transaction::Transaction;
use deltaic_protocol::action::Add;
use deltaic_protocol::schema::{DataType, StructField, StructType, metadata};
use parquet::arrow::ArrowWriter;

use crate::helpers::{Table, rows};

/// Puts a file with these columns into the table.
pub async fn place(table: &Table, name: &str, batch: RecordBatch) {
    let path = table.folder.path().join("t").join(name);
    let mut writer =
        ArrowWriter::try_new(std::fs::File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let size = i64::try_from(std::fs::metadata(&path).unwrap().len()).unwrap();
    let mut transaction = Transaction::begin(&table.snapshot().await, Operation::new("WRITE"));
    transaction.add(Add {
        path: name.into(),
        size,
        data_change: true,
        ..Add::default()
    });
    transaction
        .commit(&table.commit)
        .await
        .unwrap()
        .into_result()
        .unwrap();
}

async fn rename(table: &Table, change: impl Fn(&mut StructType)) {
    let snapshot = table.snapshot().await;
    let mut schema = snapshot.schema().as_ref().clone();
    change(&mut schema);
    let mut changed = snapshot.metadata().as_ref().clone();
    changed.schema_string = schema.to_json();
    let mut transaction = Transaction::begin(&snapshot, Operation::new("CHANGE COLUMN"));
    transaction.set_metadata(changed);
    transaction
        .commit(&table.commit)
        .await
        .unwrap()
        .into_result()
        .unwrap();
}

fn nested() -> DataType {
    DataType::Struct(StructType::new([
        StructField::nullable("x", DataType::Long),
        StructField::nullable("y", DataType::String),
    ]))
}

#[tokio::test]
async fn renamed_and_dropped_columns_read_what_was_written_under_the_old_name() {
    for mode in ["name", "id"] {
        let columns = [
            ("id", DataType::Long),
            ("s", nested()),
            ("l", DataType::array(nested(), true)),
            ("m", DataType::map(DataType::String, nested(), true)),
        ];
        let table = Table::new(&columns, &[], &[("delta.columnMapping.mode", mode)]).await;
        table
            .insert(
                "SELECT CAST(1 AS BIGINT), named_struct('x', CAST(7 AS BIGINT), 'y', 'seven'), \
                 [named_struct('x', CAST(8 AS BIGINT), 'y', 'eight')], map(['k'], [named_struct('x', CAST(9 AS BIGINT), 'y', 'nine')])",
            )
            .await;
        rename(&table, |schema| {
            schema.fields[0].name = "key".into();
            if let DataType::Struct(inner) = &mut schema.fields[1].data_type {
                inner.fields[0].name = "z".into();
                inner.fields.remove(1);
            }
            let added = StructField::nullable("new", DataType::Integer)
                .with_metadata(metadata::COLUMN_MAPPING_ID, 99)
                .with_metadata(metadata::COLUMN_MAPPING_PHYSICAL_NAME, "col-new");
            schema.fields.push(added);
        })
        .await;
        assert_eq!(
            rows(&table, "SELECT key, s, l, m, new FROM t").await,
            ["1|{z: 7}|[{x: 8, y: eight}]|{k: {x: 9, y: nine}}|"],
            "{mode}"
        );
        assert_eq!(
            rows(
                &table,
                "SELECT s['z'], l[1]['y'] FROM t WHERE s['z'] = 7 AND new IS NULL"
            )
            .await,
            ["7|eight"],
            "{mode}"
        );
        table
            .update(&[("key", "key + 1")], Some("s['z'] = 7"))
            .await;
        assert_eq!(
            rows(&table, "SELECT key, s['z'] FROM t").await,
            ["2|7"],
            "{mode}"
        );
    }
}

#[tokio::test]
async fn columns_that_have_swapped_their_names_are_not_mixed_up() {
    let table = Table::new(
        &[("a", DataType::Long), ("b", DataType::Long)],
        &[],
        &[("delta.columnMapping.mode", "name")],
    )
    .await;
    // An upgraded table: physical names are the first logical ones.
    rename(&table, |schema| {
        for field in &mut schema.fields {
            let name = field.name.clone();
            field
                .metadata
                .insert(metadata::COLUMN_MAPPING_PHYSICAL_NAME.into(), name.into());
        }
    })
    .await;
    table
        .insert("VALUES (CAST(1 AS BIGINT), CAST(2 AS BIGINT))")
        .await;
    rename(&table, |schema| {
        schema.fields[0].name = "b".into();
        schema.fields[1].name = "a".into();
        schema.fields.swap(0, 1);
    })
    .await;
    assert_eq!(rows(&table, "SELECT a, b FROM t").await, ["2|1"]);
    assert_eq!(rows(&table, "SELECT b FROM t WHERE a = 2").await, ["1"]);
}

#[tokio::test]
async fn files_with_narrower_types_other_order_or_fewer_columns_are_adapted() {
    let s = DataType::Struct(StructType::new([
        StructField::nullable("x", DataType::Long),
        StructField::nullable("y", DataType::String),
    ]));
    let table = Table::new(
        &[
            ("id", DataType::Long),
            ("d", DataType::Double),
            ("s", s),
            ("gone", DataType::String),
        ],
        &[],
        &[],
    )
    .await;
    let inner = Fields::from(vec![
        Field::new("y", Arrow::Utf8, true),
        Field::new("x", Arrow::Int32, true),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StructArray::new(
            inner.clone(),
            vec![
                Arc::new(StringArray::from(vec![Some("why"), None])) as ArrayRef,
                Arc::new(Int32Array::from(vec![Some(5), None])),
            ],
            None,
        )),
        Arc::new(Int32Array::from(vec![1, 2])),
        Arc::new(StringArray::from(vec!["insert", "delete"])),
    ];
    let fields = vec![
        Field::new("s", Arrow::Struct(inner), true),
        Field::new("ID", Arrow::Int32, true),
        Field::new("_change_type", Arrow::Utf8, true),
    ];
    place(
        &table,
        "old.parquet",
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap(),
    )
    .await;
    assert_eq!(
        rows(&table, "SELECT * FROM t ORDER BY id").await,
        ["1||{x: 5, y: why}|", "2||{x: , y: }|"]
    );
    assert_eq!(
        rows(&table, "SELECT id FROM t WHERE id = 2 AND s['x'] IS NULL").await,
        ["2"]
    );
    assert_eq!(rows(&table, "SELECT count(*) FROM t").await, ["2"]);
}

#[tokio::test]
async fn a_column_of_another_kind_is_a_classed_error() {
    let table = Table::new(&[("id", DataType::Long)], &[], &[]).await;
    let batch =
        RecordBatch::try_from_iter([("id", Arc::new(StringArray::from(vec!["x"])) as ArrayRef)])
            .unwrap();
    place(&table, "odd.parquet", batch).await;
    let error = deltaic_datafusion::unwrap(table.try_query("SELECT id FROM t").await.unwrap_err());
    assert_eq!(
        error.class(),
        Some("FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH"),
        "{error}"
    );
}

#[tokio::test]
async fn names_with_any_character_lead_to_their_files() {
    let table = Table::new(&[("id", DataType::Long)], &[], &[]).await;
    for (at, name) in ["a b%20c#?.parquet", "ü+&=日本.parquet"]
        .into_iter()
        .enumerate()
    {
        let batch = RecordBatch::try_from_iter([(
            "id",
            Arc::new(Int64Array::from(vec![at as i64])) as ArrayRef,
        )])
        .unwrap();
        let path = table.folder.path().join("t").join(name);
        let mut writer =
            ArrowWriter::try_new(std::fs::File::create(&path).unwrap(), batch.schema(), None)
                .unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let size = i64::try_from(std::fs::metadata(&path).unwrap().len()).unwrap();
        let mut transaction = Transaction::begin(&table.snapshot().await, Operation::new("WRITE"));
        let path = if at == 0 {
            deltaic_storage::encode_uri_path(name)
        } else {
            format!("file:{}", path.display())
        };
        transaction.add(Add {
            path,
            size,
            data_change: true,
            ..Add::default()
        });
        transaction
            .commit(&table.commit)
            .await
            .unwrap()
            .into_result()
            .unwrap();
    }
    assert_eq!(
        rows(&table, "SELECT id FROM t ORDER BY id").await,
        ["0", "1"]
    );
}
