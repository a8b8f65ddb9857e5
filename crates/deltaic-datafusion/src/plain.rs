//! Data files for tables without a log: a folder of Parquet files, with partition folders.

use std::sync::Arc;

use deltaic_protocol::error::Result;
use deltaic_protocol::schema::StructType;
use deltaic_storage::TableStore;

use crate::context::{Prepared, Rows, WriteContext};
use crate::write::checks::WriteChecks;
use crate::write::job::WriteOutput;
use crate::write::shape::Shaper;
use crate::write::target::WriteTarget;

/// Writes rows, whose columns are the schema's in order, as new files below a root.
///
/// # Errors
/// Those of the input and of the store.
pub async fn write_files(
    ctx: &WriteContext<'_>,
    store: &TableStore,
    schema: &StructType,
    partition_columns: &[String],
    input: Rows,
) -> Result<WriteOutput> {
    let shaper = Arc::new(Shaper::new(schema, partition_columns)?);
    let target = WriteTarget::plain(store, schema, partition_columns, shaper, ctx);
    Prepared::with_target(ctx, target, &WriteChecks::default())?.write(ctx, &input).await
}
