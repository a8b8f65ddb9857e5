//! Live files as a checkpoint holds them: they go from one checkpoint into the next as columns, without an action for each.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, MapArray, RecordBatch, StringArray, StructArray,
    new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options, filter};
use arrow::datatypes::{DataType as ArrowType, Field, Fields, SchemaRef};
use deltaic_protocol::action::Add;
use deltaic_protocol::error::Result;
use deltaic_protocol::partition::Scalar;
use deltaic_protocol::schema::{DataType, StructType};
use deltaic_protocol::timestamp::Zone;

use super::Named;
use super::columns::Columns;
use super::decode::{self, VectorColumns};
use super::encode::internal;
use super::schema::CheckpointColumns;
use super::statistics::StatisticsReader;
use super::typed::{structure, typed_array};
use crate::skipping::Value;

/// Live files on their way into a checkpoint.
#[derive(Debug, Clone)]
pub enum AddChunk {
    /// Actions.
    Files(Vec<Arc<Add>>),
    /// Rows of the checkpoint before.
    Rows(AddRows),
}

impl AddChunk {
    /// How many files there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Files(adds) => adds.len(),
            Self::Rows(rows) => rows.0.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The `add` column of a checkpoint, without the rows that are other actions.
#[derive(Debug, Clone)]
pub struct AddRows(StructArray);

impl AddRows {
    /// The live files of a batch; `None` where it has none.
    ///
    /// # Errors
    /// Arrow refuses to filter, which would be a defect here.
    pub(super) fn of_batch(batch: &RecordBatch) -> Result<Option<Self>> {
        let adds = batch.column_by_name("add").and_then(|c| c.as_struct_opt());
        let Some((adds, path)) = adds.and_then(|adds| Some((adds, adds.column_by_name("path")?)))
        else {
            return Ok(None);
        };
        let set: BooleanArray = (0..adds.len())
            .map(|row| Some(adds.is_valid(row) && path.is_valid(row)))
            .collect();
        if set.true_count() == 0 {
            return Ok(None);
        }
        Self(adds.clone()).kept(&set).map(Some)
    }

    fn kept(self, which: &BooleanArray) -> Result<Self> {
        if which.true_count() == which.len() {
            return Ok(self);
        }
        let kept = filter(&self.0, which).map_err(internal)?;
        Ok(Self(kept.as_struct().clone()))
    }

    fn columns(&self) -> Columns<'_> {
        Columns::new(&self.0)
    }

    /// The rows that pass.
    ///
    /// # Errors
    /// Arrow refuses to filter, which would be a defect here.
    pub(crate) fn filtered(self, keep: impl Fn(Named<'_>) -> bool) -> Result<Self> {
        let which: BooleanArray = {
            let (path, vector) = (
                self.columns().text("path"),
                VectorColumns::new(self.columns()),
            );
            (0..self.0.len())
                .map(|row| {
                    let vector = vector.as_ref().and_then(|v| v.get(row));
                    Some(keep((path.value(row).unwrap_or_default(), vector.as_ref())))
                })
                .collect()
        };
        self.kept(&which)
    }

    /// Size and number of deleted rows of each file.
    pub(crate) fn for_each_size(&self, mut take: impl FnMut(i64, Option<i64>)) {
        let (size, vector) = (
            self.columns().long("size"),
            VectorColumns::new(self.columns()),
        );
        for row in 0..self.0.len() {
            let vector = vector.as_ref().and_then(|v| v.get(row));
            take(
                size.get(row).unwrap_or_default(),
                vector.map(|v| v.cardinality),
            );
        }
    }

    /// The same files as actions.
    pub(crate) fn to_adds(&self) -> Vec<Arc<Add>> {
        let mut out = Vec::with_capacity(self.0.len());
        decode::add_rows(&self.0, &mut out);
        out.into_iter().map(Arc::new).collect()
    }

    /// The column of another checkpoint; `None` where its fields cannot be told from these without taking the files apart.
    pub(super) fn fitted(
        &self,
        fields: &Fields,
        columns: &CheckpointColumns,
    ) -> Option<StructArray> {
        let children: Option<Vec<ArrayRef>> = fields
            .iter()
            .map(|field| self.child(field, columns))
            .collect();
        StructArray::try_new(fields.clone(), children?, None).ok()
    }

    fn child(&self, field: &Field, columns: &CheckpointColumns) -> Option<ArrayRef> {
        let own = self.0.column_by_name(field.name());
        let nothing = || new_null_array(field.data_type(), self.0.len());
        match field.name().as_str() {
            "dataChange" => Some(Arc::new(BooleanArray::from(vec![false; self.0.len()]))),
            "stats" if !self.has_all_text() => None,
            "stats_parsed" => self.statistics(own, field, columns.stats_parsed.as_ref()?),
            "partitionValues_parsed" => match own.filter(|own| own.null_count() == 0) {
                Some(own) if fits(own.data_type(), field.data_type()) => {
                    fitted(own, field.data_type())
                }
                _ => self.partitions(columns.partition_parsed.as_ref()?),
            },
            "partitionValues" => {
                fitted(own.filter(|own| own.null_count() == 0)?, field.data_type())
            }
            _ => own.map_or_else(|| Some(nothing()), |own| fitted(own, field.data_type())),
        }
    }

    /// Whether no file has typed statistics alone.
    fn has_all_text(&self) -> bool {
        let Some(parsed) = self.0.column_by_name("stats_parsed") else {
            return true;
        };
        let Some(text) = self.0.column_by_name("stats") else {
            return parsed.null_count() == parsed.len();
        };
        text.null_count() == 0
            || (0..text.len()).all(|row| text.is_valid(row) || parsed.is_null(row))
    }

    fn statistics(
        &self,
        own: Option<&ArrayRef>,
        field: &Field,
        schema: &StructType,
    ) -> Option<ArrayRef> {
        let text = self.columns().text("stats");
        let all_typed = |own: &ArrayRef| {
            own.null_count() == 0
                || (0..own.len()).all(|row| own.is_valid(row) || text.value(row).is_none())
        };
        match own {
            Some(own) if fits(own.data_type(), field.data_type()) && all_typed(own) => {
                fitted(own, field.data_type())
            }
            _ if !self.has_all_text() => None,
            _ => {
                let mut reader = StatisticsReader::new(schema);
                (0..self.0.len()).for_each(|row| reader.push(text.value(row)));
                Some(reader.finish())
            }
        }
    }

    /// Partition values by their texts.
    fn partitions(&self, schema: &StructType) -> Option<ArrayRef> {
        let texts = PartitionTexts::of(self.0.column_by_name("partitionValues")?)?;
        let children = schema
            .iter()
            .map(|field| texts.column(&field.name, &field.data_type))
            .collect();
        Some(structure(schema, children, vec![true; self.0.len()].into()))
    }
}

/// Rows of another checkpoint as a batch of the schema; `None` where they do not fit in as they are.
pub(super) fn batch_of_rows(
    schema: &SchemaRef,
    columns: &CheckpointColumns,
    rows: &AddRows,
    length: usize,
) -> Option<RecordBatch> {
    let arrays: Option<Vec<ArrayRef>> = schema
        .fields()
        .iter()
        .map(|field| match (field.name().as_str(), field.data_type()) {
            ("add", ArrowType::Struct(fields)) => {
                Some(Arc::new(rows.fitted(fields, columns)?) as ArrayRef)
            }
            (_, other) => Some(new_null_array(other, length)),
        })
        .collect();
    RecordBatch::try_new(Arc::clone(schema), arrays?).ok()
}

/// The map from partition columns to texts.
struct PartitionTexts<'a> {
    map: &'a MapArray,
    keys: StringArray,
    values: StringArray,
}

impl<'a> PartitionTexts<'a> {
    fn of(column: &'a ArrayRef) -> Option<Self> {
        let map = column.as_map_opt()?;
        let text = |column: &ArrayRef| {
            let text = fitted(column, &ArrowType::Utf8)?;
            text.as_string_opt::<i32>().cloned()
        };
        Some(Self {
            map,
            keys: text(map.keys())?,
            values: text(map.values())?,
        })
    }

    fn text(&self, row: usize, name: &str) -> Option<&str> {
        if self.map.is_null(row) {
            return None;
        }
        let offsets = self.map.value_offsets();
        let range = usize::try_from(offsets[row]).ok()?..usize::try_from(offsets[row + 1]).ok()?;
        let at = range
            .rev() // the last of several entries counts, as in a map
            .find(|at| self.keys.value(*at) == name)?;
        self.values.is_valid(at).then(|| self.values.value(at))
    }

    fn column(&self, name: &str, data_type: &DataType) -> ArrayRef {
        let zone = Zone::utc();
        // Files of one partition stand together.
        let mut last: Option<(&str, Option<Value>)> = None;
        let mut values = Vec::with_capacity(self.map.len());
        for row in 0..self.map.len() {
            let Some(text) = self.text(row, name) else {
                values.push(None);
                continue;
            };
            if last.as_ref().is_none_or(|(known, _)| *known != text) {
                let value = Scalar::from_partition_text(Some(text), data_type, &zone);
                last = Some((text, value.ok().map(Value::from)));
            }
            values.push(last.as_ref().and_then(|(_, value)| value.clone()));
        }
        typed_array(data_type, values)
    }
}

/// Whether a column has all that a type asks for, by name and type.
fn fits(own: &ArrowType, wanted: &ArrowType) -> bool {
    match (own, wanted) {
        (ArrowType::Struct(own), ArrowType::Struct(wanted)) => wanted.iter().all(|field| {
            let own = own.find(field.name());
            own.is_some_and(|(_, own)| fits(own.data_type(), field.data_type()))
        }),
        (own, wanted) => own == wanted,
    }
}

/// A column as one of another type; `None` where a value does not fit in.
fn fitted(column: &ArrayRef, wanted: &ArrowType) -> Option<ArrayRef> {
    if column.data_type() == wanted {
        return Some(Arc::clone(column));
    }
    if column.null_count() == column.len() {
        return Some(new_null_array(wanted, column.len()));
    }
    match wanted {
        ArrowType::Struct(fields) => {
            let own = column.as_struct_opt()?;
            let children: Option<Vec<ArrayRef>> = fields
                .iter()
                .map(|field| match own.column_by_name(field.name()) {
                    Some(child) => fitted(child, field.data_type()),
                    None => Some(new_null_array(field.data_type(), own.len())),
                })
                .collect();
            let nulls = own.nulls().cloned();
            let array = match fields.is_empty() {
                true => StructArray::new_empty_fields(own.len(), nulls),
                false => StructArray::try_new(fields.clone(), children?, nulls).ok()?,
            };
            Some(Arc::new(array))
        }
        ArrowType::Map(entries, sorted) => {
            let own = column.as_map_opt()?;
            let ArrowType::Struct(pair) = entries.data_type() else {
                return None;
            };
            let [key, value] = pair.iter().as_slice() else {
                return None;
            };
            let inner = vec![
                fitted(own.keys(), key.data_type())?,
                fitted(own.values(), value.data_type())?,
            ];
            let inner = StructArray::try_new(pair.clone(), inner, None).ok()?;
            let (offsets, nulls) = (own.offsets().clone(), own.nulls().cloned());
            let map = MapArray::try_new(Arc::clone(entries), offsets, inner, nulls, *sorted);
            Some(Arc::new(map.ok()?))
        }
        _ => {
            let strict = CastOptions {
                safe: false,
                ..CastOptions::default()
            };
            cast_with_options(column, wanted, &strict).ok()
        }
    }
}
