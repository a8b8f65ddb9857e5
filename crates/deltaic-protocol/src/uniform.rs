//! Other formats in which a table is written beside its own (`delta.universalFormat.enabledFormats`): what the reference asks of
//! such a table. Nothing here writes them, so a table that would need it is refused.

use crate::action::Metadata;
use crate::error::{DeltaError, Result};
use crate::properties::{formats_of, key, parse_boolean};
use crate::schema::{DataType, StructType};

const ICEBERG: &str = "iceberg";
const HUDI: &str = "hudi";
const COMPAT: [&str; 3] = [
    "delta.enableIcebergCompatV1",
    "delta.enableIcebergCompatV2",
    "delta.enableIcebergCompatV3",
];

fn enabled(metadata: &Metadata) -> Vec<&str> {
    metadata
        .configuration
        .get(key::UNIVERSAL_FORMATS)
        .map_or_else(Vec::new, |text| formats_of(text))
}

/// Checks new metadata of a table.
///
/// # Errors
/// `DELTA_UNIVERSAL_FORMAT_VIOLATION` where the table does not suit a format; a format that is switched on is not supported.
pub fn check(metadata: &Metadata, schema: &StructType, before: Option<&Metadata>) -> Result<()> {
    let formats = enabled(metadata);
    let is_on = |property: &str| {
        metadata
            .configuration
            .get(property)
            .is_some_and(|value| parse_boolean(value).unwrap_or(false))
    };
    if formats.contains(&HUDI) {
        if is_on(key::ENABLE_DELETION_VECTORS) {
            return Err(violation(HUDI, "Requires delete vectors to be disabled."));
        }
        if let Some(found) = unsuitable(&DataType::Struct(schema.clone())) {
            let text = format!(
                "DataType: {} is not currently supported.",
                found.class_text()
            );
            return Err(violation(HUDI, &text));
        }
    }
    if formats.contains(&ICEBERG) && !COMPAT.iter().any(|property| is_on(property)) {
        return Err(violation(
            ICEBERG,
            "Requires IcebergCompat to be explicitly enabled in order for Universal Format (Iceberg) to be enabled on an existing \
             table. Supported versions are IcebergCompatV1 and IcebergCompatV2.",
        ));
    }
    let old = before.map_or_else(Vec::new, enabled);
    match formats.into_iter().find(|format| !old.contains(format)) {
        None => Ok(()),
        Some(format) => Err(DeltaError::not_supported_yet(format!(
            "A table that is written in the format {format} too ({})",
            key::UNIVERSAL_FORMATS
        ))),
    }
}

fn violation(format: &str, text: &str) -> DeltaError {
    DeltaError::new("DELTA_UNIVERSAL_FORMAT_VIOLATION")
        .param("format", format)
        .param("violation", text)
}

/// The first type, outside in, that Hudi does not have.
fn unsuitable(data_type: &DataType) -> Option<&DataType> {
    use DataType::{Array, Byte, Map, Short, Struct, TimestampNtz, Void};
    match data_type {
        Void | Byte | Short | TimestampNtz => Some(data_type),
        Struct(fields) => fields.iter().find_map(|field| unsuitable(&field.data_type)),
        Array(array) => unsuitable(&array.element_type),
        Map(map) => unsuitable(&map.key_type).or_else(|| unsuitable(&map.value_type)),
        _ => None,
    }
}
