//! Actions to rows of a checkpoint.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Int32Array, Int64Array, ListBuilder, MapBuilder, MapFieldNames,
    RecordBatch, StringArray, StringBuilder, StructArray, new_null_array,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as ArrowType, Field, Fields};
use arrow::error::ArrowError;
use deltaic_protocol::action::{
    Add, CheckpointMetadata, DomainMetadata, Metadata, Protocol, Remove, SetTransaction, Sidecar,
    TextMap,
};
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::StructType;
use deltaic_protocol::timestamp::Zone;

use super::schema::CheckpointColumns;
use super::statistics::StatisticsReader;
use super::typed::typed_struct;
use crate::arrow_schema::to_arrow;
use crate::skipping::{Column, partition_values};

/// One row of a checkpoint.
#[derive(Debug, Clone, Copy)]
pub(super) enum Row<'a> {
    Protocol(&'a Protocol),
    Metadata(&'a Metadata),
    Txn(&'a SetTransaction),
    Domain(&'a DomainMetadata),
    Remove(&'a Remove),
    Add(&'a Add),
    CheckpointMetadata(&'a CheckpointMetadata),
    Sidecar(&'a Sidecar),
}

/// The rows as a batch of the schema.
///
/// # Errors
/// Arrow refuses the columns, which would be a defect here.
pub(super) fn batch(
    schema: &StructType,
    columns: &CheckpointColumns,
    rows: &[Row<'_>],
) -> Result<RecordBatch> {
    let arrow = to_arrow(schema);
    let arrays: Result<Vec<ArrayRef>, ArrowError> = arrow
        .fields()
        .iter()
        .map(|f| column(f, columns, rows))
        .collect();
    arrays
        .and_then(|arrays| RecordBatch::try_new(arrow, arrays))
        .map_err(internal)
}

pub(super) fn internal(error: impl std::error::Error + Send + Sync + 'static) -> DeltaError {
    DeltaError::internal(format!("a checkpoint could not be put together: {error}"))
}

fn column(
    field: &Field,
    columns: &CheckpointColumns,
    rows: &[Row<'_>],
) -> Result<ArrayRef, ArrowError> {
    macro_rules! of_kind {
        ($kind:path) => {
            rows.iter()
                .map(|r| {
                    if let $kind(inner) = r {
                        Some(*inner)
                    } else {
                        None
                    }
                })
                .collect::<Vec<_>>()
        };
    }
    let ArrowType::Struct(fields) = field.data_type() else {
        return Ok(new_null_array(field.data_type(), rows.len()));
    };
    match field.name().as_str() {
        "txn" => structure(fields, &of_kind!(Row::Txn), |v| {
            vec![
                texts(v.iter().map(|t| t.map(|t| t.app_id.as_str()))),
                longs(v.iter().map(|t| t.map(|t| t.version))),
                longs(v.iter().map(|t| t.and_then(|t| t.last_updated))),
            ]
        }),
        "protocol" => structure(fields, &of_kind!(Row::Protocol), |v| {
            vec![
                ints(v.iter().map(|p| p.map(|p| p.min_reader_version))),
                ints(v.iter().map(|p| p.map(|p| p.min_writer_version))),
                lists(
                    v.iter()
                        .map(|p| p.and_then(|p| p.reader_features.as_deref())),
                ),
                lists(
                    v.iter()
                        .map(|p| p.and_then(|p| p.writer_features.as_deref())),
                ),
            ]
        }),
        "domainMetadata" => structure(fields, &of_kind!(Row::Domain), |v| {
            vec![
                texts(v.iter().map(|d| d.map(|d| d.domain.as_str()))),
                texts(v.iter().map(|d| d.map(|d| d.configuration.as_str()))),
                flags(v.iter().map(|d| d.map(|d| d.removed))),
            ]
        }),
        "checkpointMetadata" => structure(fields, &of_kind!(Row::CheckpointMetadata), |v| {
            vec![
                longs(v.iter().map(|c| c.map(|c| c.version))),
                maps(v.iter().map(|c| c.and_then(|c| c.tags.as_ref()))),
            ]
        }),
        "sidecar" => structure(fields, &of_kind!(Row::Sidecar), |v| {
            vec![
                texts(v.iter().map(|s| s.map(|s| s.path.as_str()))),
                longs(v.iter().map(|s| s.map(|s| s.size_in_bytes))),
                longs(v.iter().map(|s| s.map(|s| s.modification_time))),
                maps(v.iter().map(|s| s.and_then(|s| s.tags.as_ref()))),
            ]
        }),
        "metaData" => metadata(fields, &of_kind!(Row::Metadata)),
        "remove" => structure(fields, &of_kind!(Row::Remove), |v| {
            vec![
                texts(v.iter().map(|r| r.map(|r| r.path.as_str()))),
                longs(v.iter().map(|r| r.and_then(|r| r.deletion_timestamp))),
                flags(v.iter().map(|r| r.map(|_| false))),
                flags(v.iter().map(|r| r.and_then(|r| r.extended_file_metadata))),
                maps(
                    v.iter()
                        .map(|r| r.and_then(|r| r.partition_values.as_ref())),
                ),
                longs(v.iter().map(|r| r.and_then(|r| r.size))),
                vectors(
                    &v.iter()
                        .map(|r| r.and_then(|r| r.deletion_vector.as_ref()))
                        .collect::<Vec<_>>(),
                ),
                longs(v.iter().map(|r| r.and_then(|r| r.base_row_id))),
                longs(
                    v.iter()
                        .map(|r| r.and_then(|r| r.default_row_commit_version)),
                ),
            ]
        }),
        "add" => adds(fields, columns, &of_kind!(Row::Add)),
        _ => Ok(new_null_array(field.data_type(), rows.len())),
    }
}

fn adds(
    fields: &Fields,
    columns: &CheckpointColumns,
    adds: &[Option<&Add>],
) -> Result<ArrayRef, ArrowError> {
    structure(fields, adds, |v| {
        let mut out = vec![
            texts(v.iter().map(|a| a.map(|a| a.path.as_str()))),
            maps(v.iter().map(|a| a.map(|a| &a.partition_values))),
            longs(v.iter().map(|a| a.map(|a| a.size))),
            longs(v.iter().map(|a| a.map(|a| a.modification_time))),
            flags(v.iter().map(|a| a.map(|_| false))),
            maps(v.iter().map(|a| a.and_then(|a| a.tags.as_ref()))),
            vectors(
                &v.iter()
                    .map(|a| a.and_then(|a| a.deletion_vector.as_ref()))
                    .collect::<Vec<_>>(),
            ),
            longs(v.iter().map(|a| a.and_then(|a| a.base_row_id))),
            longs(
                v.iter()
                    .map(|a| a.and_then(|a| a.default_row_commit_version)),
            ),
            texts(
                v.iter()
                    .map(|a| a.and_then(|a| a.clustering_provider.as_deref())),
            ),
        ];
        if columns.stats_text {
            out.push(texts(v.iter().map(|a| a.and_then(|a| a.stats.as_deref()))));
        }
        if let Some(schema) = &columns.partition_parsed {
            out.push(partitions(schema, v));
        }
        if let Some(schema) = &columns.stats_parsed {
            let mut reader = StatisticsReader::new(schema);
            for add in v {
                reader.push(add.and_then(|a| a.stats.as_deref()));
            }
            out.push(reader.finish());
        }
        out
    })
}

fn partitions(schema: &StructType, adds: &[Option<&Add>]) -> ArrayRef {
    let columns: Vec<Column> = schema
        .iter()
        .map(|f| Column::new(&f.name, f.data_type.clone()))
        .collect();
    let zone = Zone::utc();
    let rows: Vec<_> = adds
        .iter()
        .map(|a| a.map(|a| partition_values(&a.partition_values, &columns, &zone)))
        .collect();
    typed_struct(schema, &rows)
}

fn metadata(fields: &Fields, rows: &[Option<&Metadata>]) -> Result<ArrayRef, ArrowError> {
    let format_fields = match fields.find("format").map(|(_, f)| f.data_type()) {
        Some(ArrowType::Struct(inner)) => inner.clone(),
        _ => Fields::empty(),
    };
    let format = structure(&format_fields, rows, |v| {
        vec![
            texts(v.iter().map(|m| m.map(|m| m.format.provider.as_str()))),
            text_maps(v.iter().map(|m| m.map(|m| m.format.options.iter()))),
        ]
    })?;
    structure(fields, rows, |v| {
        vec![
            texts(v.iter().map(|m| m.map(|m| m.id.as_str()))),
            texts(v.iter().map(|m| m.and_then(|m| m.name.as_deref()))),
            texts(v.iter().map(|m| m.and_then(|m| m.description.as_deref()))),
            format,
            texts(v.iter().map(|m| m.map(|m| m.schema_string.as_str()))),
            lists(v.iter().map(|m| m.map(|m| m.partition_columns.as_slice()))),
            text_maps(v.iter().map(|m| m.map(|m| m.configuration.iter()))),
            longs(v.iter().map(|m| m.and_then(|m| m.created_time))),
        ]
    })
}

/// A struct column whose rows are null where there is no value.
fn structure<T>(
    fields: &Fields,
    values: &[Option<T>],
    children: impl FnOnce(&[Option<T>]) -> Vec<ArrayRef>,
) -> Result<ArrayRef, ArrowError> {
    if values.iter().all(Option::is_none) {
        return Ok(new_null_array(
            &ArrowType::Struct(fields.clone()),
            values.len(),
        ));
    }
    let nulls: NullBuffer = values.iter().map(Option::is_some).collect();
    Ok(Arc::new(StructArray::try_new(
        fields.clone(),
        children(values),
        Some(nulls),
    )?))
}

fn vectors(values: &[Option<&DeletionVectorDescriptor>]) -> ArrayRef {
    let fields: Fields = [
        ("storageType", ArrowType::Utf8),
        ("pathOrInlineDv", ArrowType::Utf8),
        ("offset", ArrowType::Int32),
        ("sizeInBytes", ArrowType::Int32),
        ("cardinality", ArrowType::Int64),
        ("maxRowIndex", ArrowType::Int64),
    ]
    .into_iter()
    .map(|(name, data_type)| Field::new(name, data_type, true))
    .collect();
    let built = structure(&fields, values, |v| {
        vec![
            texts(v.iter().map(|d| d.map(|d| d.storage_type.as_str()))),
            texts(v.iter().map(|d| d.map(|d| d.path_or_inline_dv.as_str()))),
            ints(v.iter().map(|d| d.and_then(|d| d.offset))),
            ints(v.iter().map(|d| d.map(|d| d.size_in_bytes))),
            longs(v.iter().map(|d| d.map(|d| d.cardinality))),
            longs(v.iter().map(|_| None)),
        ]
    });
    built.unwrap_or_else(|_| new_null_array(&ArrowType::Struct(fields), values.len()))
}

fn texts<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

fn longs(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.collect::<Int64Array>())
}

fn ints(values: impl Iterator<Item = Option<i32>>) -> ArrayRef {
    Arc::new(values.collect::<Int32Array>())
}

fn flags(values: impl Iterator<Item = Option<bool>>) -> ArrayRef {
    Arc::new(values.collect::<BooleanArray>())
}

fn lists<'a>(values: impl Iterator<Item = Option<&'a [String]>>) -> ArrayRef {
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(Field::new(
        "element",
        ArrowType::Utf8,
        true,
    ));
    for list in values {
        for text in list.unwrap_or_default() {
            builder.values().append_value(text);
        }
        builder.append(list.is_some());
    }
    Arc::new(builder.finish())
}

fn maps<'a>(values: impl Iterator<Item = Option<&'a TextMap>>) -> ArrayRef {
    entries(values.map(|map| map.map(|map| map.iter().map(|(k, v)| (k.as_str(), v.as_deref())))))
}

fn text_maps<'a>(
    values: impl Iterator<Item = Option<std::collections::btree_map::Iter<'a, String, String>>>,
) -> ArrayRef {
    entries(values.map(|map| map.map(|map| map.map(|(k, v)| (k.as_str(), Some(v.as_str()))))))
}

fn entries<'a>(
    values: impl Iterator<Item = Option<impl Iterator<Item = (&'a str, Option<&'a str>)>>>,
) -> ArrayRef {
    let names = MapFieldNames {
        entry: "key_value".to_owned(),
        key: "key".to_owned(),
        value: "value".to_owned(),
    };
    let mut builder = MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new());
    for map in values {
        let set = map.is_some();
        for (key, value) in map.into_iter().flatten() {
            builder.keys().append_value(key);
            builder.values().append_option(value);
        }
        // Keys and values were appended in pairs, the only thing that `append` checks.
        let _ = builder.append(set);
    }
    Arc::new(builder.finish())
}
