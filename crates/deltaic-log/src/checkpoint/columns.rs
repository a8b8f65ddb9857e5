//! Typed access to the columns of a checkpoint, tolerant of what is missing.
//!
//! Checkpoints of other engines leave columns out or order them differently, so everything goes by name and a column that is
//! not there reads as null.

use std::collections::BTreeMap;

use arrow::array::{Array, ArrayRef, AsArray, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type, Int64Type};
use deltaic_protocol::action::TextMap;

/// A struct column whose rows are read by field name.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    rows: &'a StructArray,
}

impl<'a> Columns<'a> {
    pub(crate) fn new(rows: &'a StructArray) -> Self {
        Self { rows }
    }

    /// A nested struct, if the column is there.
    pub(crate) fn nested(self, name: &str) -> Option<Columns<'a>> {
        self.rows
            .column_by_name(name)?
            .as_struct_opt()
            .map(Columns::new)
    }

    /// The column itself.
    pub(crate) fn as_array(self) -> ArrayRef {
        std::sync::Arc::new(self.rows.clone())
    }

    /// Whether the row is not null.
    pub(crate) fn is_set(self, row: usize) -> bool {
        self.rows.is_valid(row)
    }

    /// The column as text.
    pub(crate) fn text(self, name: &str) -> TextColumn {
        TextColumn(self.typed(name, &DataType::Utf8))
    }

    /// The column as 64-bit integers.
    pub(crate) fn long(self, name: &str) -> LongColumn {
        LongColumn(self.typed(name, &DataType::Int64))
    }

    /// The column as 32-bit integers.
    pub(crate) fn int(self, name: &str) -> IntColumn {
        IntColumn(self.typed(name, &DataType::Int32))
    }

    /// The column as booleans.
    pub(crate) fn flag(self, name: &str) -> FlagColumn {
        FlagColumn(self.typed(name, &DataType::Boolean))
    }

    /// The column as maps from text to text.
    pub(crate) fn map(self, name: &str) -> MapColumn {
        let Some(map) = self.rows.column_by_name(name).and_then(|c| c.as_map_opt()) else {
            return MapColumn(None);
        };
        let (Ok(keys), Ok(values)) = (
            cast(map.keys(), &DataType::Utf8),
            cast(map.values(), &DataType::Utf8),
        ) else {
            return MapColumn(None);
        };
        MapColumn(Some((map.clone(), keys, values)))
    }

    /// The column as lists of text.
    pub(crate) fn list(self, name: &str) -> ListColumn {
        let Some(list) = self
            .rows
            .column_by_name(name)
            .and_then(|c| c.as_list_opt::<i32>())
        else {
            return ListColumn(None);
        };
        let Ok(values) = cast(list.values(), &DataType::Utf8) else {
            return ListColumn(None);
        };
        ListColumn(Some((list.clone(), values)))
    }

    fn typed(self, name: &str, data_type: &DataType) -> Option<ArrayRef> {
        let column = self.rows.column_by_name(name)?;
        if column.data_type() == data_type {
            return Some(ArrayRef::clone(column));
        }
        cast(column, data_type).ok()
    }
}

/// Text values.
pub(crate) struct TextColumn(Option<ArrayRef>);

impl TextColumn {
    pub(crate) fn get(&self, row: usize) -> Option<String> {
        self.value(row).map(str::to_owned)
    }

    pub(crate) fn value(&self, row: usize) -> Option<&str> {
        let column = self.0.as_ref()?.as_string_opt::<i32>()?;
        column.is_valid(row).then(|| column.value(row))
    }
}

/// 64-bit integers.
pub(crate) struct LongColumn(Option<ArrayRef>);

impl LongColumn {
    pub(crate) fn get(&self, row: usize) -> Option<i64> {
        let column = self.0.as_ref()?.as_primitive_opt::<Int64Type>()?;
        column.is_valid(row).then(|| column.value(row))
    }
}

/// 32-bit integers.
pub(crate) struct IntColumn(Option<ArrayRef>);

impl IntColumn {
    pub(crate) fn get(&self, row: usize) -> Option<i32> {
        let column = self.0.as_ref()?.as_primitive_opt::<Int32Type>()?;
        column.is_valid(row).then(|| column.value(row))
    }
}

/// Booleans.
pub(crate) struct FlagColumn(Option<ArrayRef>);

impl FlagColumn {
    pub(crate) fn get(&self, row: usize) -> Option<bool> {
        let column = self.0.as_ref()?.as_boolean_opt()?;
        column.is_valid(row).then(|| column.value(row))
    }
}

/// Maps from text to text or null.
pub(crate) struct MapColumn(Option<(arrow::array::MapArray, ArrayRef, ArrayRef)>);

impl MapColumn {
    pub(crate) fn get(&self, row: usize) -> Option<TextMap> {
        let (map, keys, values) = self.0.as_ref()?;
        if map.is_null(row) {
            return None;
        }
        let (keys, values) = (keys.as_string_opt::<i32>()?, values.as_string_opt::<i32>()?);
        let offsets = map.value_offsets();
        let range = usize::try_from(offsets[row]).ok()?..usize::try_from(offsets[row + 1]).ok()?;
        Some(
            range
                .map(|i| {
                    (
                        keys.value(i).to_owned(),
                        values.is_valid(i).then(|| values.value(i).to_owned()),
                    )
                })
                .collect(),
        )
    }

    /// The map without entries whose value is null.
    pub(crate) fn get_text(&self, row: usize) -> Option<BTreeMap<String, String>> {
        Some(
            self.get(row)?
                .into_iter()
                .filter_map(|(k, v)| Some((k, v?)))
                .collect(),
        )
    }
}

/// Lists of text.
pub(crate) struct ListColumn(Option<(arrow::array::ListArray, ArrayRef)>);

impl ListColumn {
    pub(crate) fn get(&self, row: usize) -> Option<Vec<String>> {
        let (list, values) = self.0.as_ref()?;
        if list.is_null(row) {
            return None;
        }
        let values = values.as_string_opt::<i32>()?;
        let offsets = list.value_offsets();
        let range = usize::try_from(offsets[row]).ok()?..usize::try_from(offsets[row + 1]).ok()?;
        Some(
            range
                .filter(|i| values.is_valid(*i))
                .map(|i| values.value(i).to_owned())
                .collect(),
        )
    }
}
