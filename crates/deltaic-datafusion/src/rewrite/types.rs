//! Whether a data file was written before one of its columns got a wider type.

use arrow::datatypes::{DataType, Field, Fields};
use deltaic_log::Snapshot;
use deltaic_log::arrow_schema::to_physical_arrow;
use deltaic_protocol::action::Add;
use deltaic_protocol::config::ColumnMappingMode;
use deltaic_protocol::error::Result;
use parquet::arrow::parquet_to_arrow_schema;

use crate::error::unwrap;
use crate::scan::failure::classify;
use crate::scan::footer::read_footer;
use crate::write::shape::file_schema;

/// Looks into the file's footer. Where it cannot be compared, the answer is yes: to write such a file anew is never wrong.
///
/// # Errors
/// The file is missing or no Parquet file.
pub(super) async fn is_narrower(snapshot: &Snapshot, add: &Add) -> Result<bool> {
    if snapshot.config().column_mapping_mode()? == ColumnMappingMode::Id {
        return Ok(true);
    }
    let store = snapshot.store();
    let path = store.resolve(&add.path)?;
    let footer = read_footer(store.object_store(), &path.object_path())
        .await
        .map_err(|error| unwrap(classify(error.into(), &path.uri())))?;
    let found = parquet_to_arrow_schema(footer.file_metadata().schema_descr(), None)
        .map_err(|error| unwrap(classify(error.into(), &path.uri())))?;
    let wanted = to_physical_arrow(&file_schema(
        snapshot.schema(),
        snapshot.partition_columns(),
    ));
    Ok(any_narrower(found.fields(), wanted.fields()))
}

fn any_narrower(found: &Fields, wanted: &Fields) -> bool {
    wanted.iter().any(|wanted| {
        let same = found.iter().find(|found| found.name() == wanted.name());
        same.is_some_and(|found| narrower(found, wanted))
    })
}

fn narrower(found: &Field, wanted: &Field) -> bool {
    use DataType::{
        Date32, Decimal128, Decimal256, Float32, Float64, Int8, Int16, Int32, Int64, List, Map,
        Struct, Timestamp,
    };
    match (found.data_type(), wanted.data_type()) {
        (Struct(found), Struct(wanted)) => any_narrower(found, wanted),
        (List(found), List(wanted)) => narrower(found, wanted),
        (Map(found, _), Map(wanted, _)) => match (found.data_type(), wanted.data_type()) {
            (Struct(found), Struct(wanted)) => found
                .iter()
                .zip(wanted)
                .any(|(found, wanted)| narrower(found, wanted)),
            _ => true,
        },
        (Struct(_) | List(_) | Map(..), _) | (_, Struct(_) | List(_) | Map(..)) => true,
        (
            Int8 | Int16 | Int32 | Int64 | Float32 | Float64 | Date32 | Decimal128(..)
            | Decimal256(..) | Timestamp(..),
            wanted @ (Int8 | Int16 | Int32 | Int64 | Float32 | Float64 | Date32 | Decimal128(..)),
        ) => found.data_type() != wanted,
        (Date32, Timestamp(..)) => true,
        _ => false,
    }
}
