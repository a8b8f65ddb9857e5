//! Which changes of metadata by another writer leave room for a commit that was planned on the old metadata: those that ask nothing
//! of files written before them, as in the reference.

use std::collections::BTreeSet;

use deltaic_protocol::action::Metadata;
use deltaic_protocol::schema::{DataType, StructType};

/// Properties that may come, or take a new value.
const FREE: [&str; 4] = [
    "delta.rowTracking.materializedRowIdColumnName",
    "delta.rowTracking.materializedRowCommitVersionColumnName",
    "delta.inCommitTimestampEnablementVersion",
    "delta.inCommitTimestampEnablementTimestamp",
];

/// Properties that may come to this value, from any other or none.
const TO_A_VALUE: [(&str, &str); 4] = [
    ("delta.enableRowTracking", "true"),
    ("delta.enableDeletionVectors", "true"),
    ("delta.enableInCommitTimestamps", "true"),
    ("delta.checkpointPolicy", "v2"),
];

const MAPPING_MODE: &str = "delta.columnMapping.mode";
const MAPPING_MAX_ID: &str = "delta.columnMapping.maxColumnId";
const MAPPING_ID: &str = "delta.columnMapping.id";
const PHYSICAL_NAME: &str = "delta.columnMapping.physicalName";
const HIGH_WATER_MARK: &str = "delta.identity.highWaterMark";

/// Whether the change from `read` to `theirs` leaves room for a commit that leaves the metadata alone.
pub(super) fn is_tolerated(read: &Metadata, theirs: &Metadata) -> bool {
    let mut same = theirs.clone();
    same.configuration = read.configuration.clone();
    same.schema_string = read.schema_string.clone();
    same == *read && properties(read, theirs) && schema(read, theirs)
}

fn properties(read: &Metadata, theirs: &Metadata) -> bool {
    let (before, after) = (&read.configuration, &theirs.configuration);
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    keys.into_iter()
        .filter(|key| before.get(*key) != after.get(*key))
        .all(|key| {
            let Some(value) = after.get(key) else {
                return false;
            };
            let comes_to =
                |(name, wanted): &(&str, &str)| name == key && value.eq_ignore_ascii_case(wanted);
            match key.as_str() {
                MAPPING_MODE => maps_by_name(read, theirs),
                MAPPING_MAX_ID => maps_by_name(read, theirs),
                name => FREE.contains(&name) || TO_A_VALUE.iter().any(comes_to),
            }
        })
}

/// Column mapping came, by name: the columns keep the names that they have in files.
fn maps_by_name(read: &Metadata, theirs: &Metadata) -> bool {
    let mode = |of: &Metadata| of.configuration.get(MAPPING_MODE).cloned();
    mode(read).is_none_or(|mode| mode.eq_ignore_ascii_case("none"))
        && mode(theirs).is_some_and(|mode| mode.eq_ignore_ascii_case("name"))
}

/// The columns are the same, but for how far their identity values have come, and for a mapping that changes no name.
fn schema(read: &Metadata, theirs: &Metadata) -> bool {
    if read.schema_string == theirs.schema_string {
        return true;
    }
    let mapped = maps_by_name(read, theirs);
    match (read.schema(), theirs.schema()) {
        (Ok(before), Ok(after)) => plain(&before, mapped) == plain(&after, mapped),
        _ => false,
    }
}

/// The schema without what may differ.
fn plain(schema: &StructType, mapped: bool) -> StructType {
    let inner = schema.map_types(&|data_type| match data_type {
        DataType::Struct(inner) => DataType::Struct(without(inner, mapped)),
        other => other,
    });
    without(inner, mapped)
}

fn without(mut schema: StructType, mapped: bool) -> StructType {
    for field in &mut schema.fields {
        field.metadata.shift_remove(HIGH_WATER_MARK);
        if mapped && field.physical_name() == field.name {
            field.metadata.shift_remove(MAPPING_ID);
            field.metadata.shift_remove(PHYSICAL_NAME);
        }
    }
    schema
}
