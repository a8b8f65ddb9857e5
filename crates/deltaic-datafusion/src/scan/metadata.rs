//! Spark's hidden column `_metadata`: where a row lies, and its id where the table tracks rows (protocol section
//! "Row Tracking", reading).

use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::ToDFSchema;
use datafusion::error::Result;
use datafusion::functions::core::expr_fn::named_struct;
use datafusion::logical_expr::{Case, Expr, ident, lit};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::ProjectionExec;
use deltaic_log::Snapshot;
use deltaic_log::arrow_schema::to_arrow_field;
use deltaic_protocol::error::Result as DeltaResult;
use deltaic_protocol::schema::{DataType, StructField, StructType};

use super::build::{ScanFile, ScanSpec, build_scan};
use crate::layout::{
    BASE_ID_COLUMN, BASE_VERSION_COLUMN, Hidden, MODIFIED_COLUMN, NAME_COLUMN, PATH_COLUMN,
    ROW_COLUMN, SIZE_COLUMN, TableLayout,
};
use crate::tracking::RowTracking;

/// The name of the column.
pub const METADATA_COLUMN: &str = "_metadata";

/// The column `_metadata` of a table: it stands after the table's own.
#[derive(Debug, Clone)]
pub struct FileMetadata {
    tracking: Option<RowTracking>,
    row_index: bool,
    /// How many columns stand before it.
    columns: usize,
}

/// The schema of the table whose scan yields the column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'a> {
    pub(crate) schema: &'a StructType,
    pub(crate) partition_columns: &'a [String],
}

impl FileMetadata {
    /// That of a version of a table; none where a column of the table has its name.
    ///
    /// # Errors
    /// Row tracking is on and the table does not name the columns that hold it.
    pub fn of(snapshot: &Snapshot) -> DeltaResult<Option<FileMetadata>> {
        let tracking = RowTracking::of(snapshot)?;
        // The reference tells the position of a row only where something depends on it.
        let row_index = tracking.is_some() || snapshot.config().supports("deletionVectors");
        Ok(FileMetadata::new(snapshot.schema(), tracking, row_index))
    }

    /// That of plain Parquet files.
    pub fn of_files(schema: &StructType) -> Option<FileMetadata> {
        FileMetadata::new(schema, None, true)
    }

    fn new(
        schema: &StructType,
        tracking: Option<RowTracking>,
        row_index: bool,
    ) -> Option<FileMetadata> {
        let taken = schema.index_of(METADATA_COLUMN).is_some();
        (!taken).then_some(FileMetadata {
            tracking,
            row_index,
            columns: schema.fields.len(),
        })
    }

    /// The column and its type.
    pub fn field(&self) -> StructField {
        let parts = self.parts();
        let fields = parts
            .iter()
            .map(|(name, data_type, _)| StructField::nullable(*name, data_type.clone()));
        StructField::nullable(METADATA_COLUMN, DataType::Struct(StructType::new(fields)))
    }

    /// A table's schema with the column at the end.
    pub fn output_schema(&self, schema: &SchemaRef) -> SchemaRef {
        let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
        fields.push(Arc::new(self.arrow_field()));
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }

    fn arrow_field(&self) -> Field {
        to_arrow_field(&self.field())
    }

    /// The fields in the reference's order, and what they are made of. Files are read whole here, so the block of a row is
    /// its file.
    fn parts(&self) -> Vec<(&'static str, DataType, Expr)> {
        let column = |name: &str| ident(name);
        let mut parts = vec![
            ("file_path", DataType::String, column(PATH_COLUMN)),
            ("file_name", DataType::String, column(NAME_COLUMN)),
            ("file_size", DataType::Long, column(SIZE_COLUMN)),
            ("file_block_start", DataType::Long, lit(0i64)),
            ("file_block_length", DataType::Long, column(SIZE_COLUMN)),
            (
                "file_modification_time",
                DataType::Timestamp,
                column(MODIFIED_COLUMN),
            ),
        ];
        if self.row_index {
            parts.push(("row_index", DataType::Long, column(ROW_COLUMN)));
        }
        if let Some(tracking) = &self.tracking {
            let fresh = column(BASE_ID_COLUMN) + column(ROW_COLUMN);
            let kept = |name: &str, default: Expr| {
                let there = (Box::new(column(name).is_not_null()), Box::new(column(name)));
                Expr::Case(Case::new(None, vec![there], Some(Box::new(default))))
            };
            let id = kept(&tracking.id_column, fresh);
            let version = kept(&tracking.version_column, column(BASE_VERSION_COLUMN));
            parts.push(("row_id", DataType::Long, id));
            parts.push(("base_row_id", DataType::Long, column(BASE_ID_COLUMN)));
            parts.push((
                "default_row_commit_version",
                DataType::Long,
                column(BASE_VERSION_COLUMN),
            ));
            parts.push(("row_commit_version", DataType::Long, version));
        }
        parts
    }

    /// Whether a scan of these columns of the provider yields the column.
    pub(crate) fn is_wanted(&self, projection: Option<&Vec<usize>>) -> bool {
        projection.is_none_or(|columns| columns.contains(&self.columns))
    }

    /// The scan with the column. `spec` is that of a scan without it.
    ///
    /// # Errors
    /// As [`build_scan`].
    pub(crate) fn scan(
        &self,
        session: &dyn Session,
        spec: &ScanSpec<'_>,
        table: Table<'_>,
        files: &[ScanFile],
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mode = spec.layout.columns.mode;
        let layout = match &self.tracking {
            // The ids of rows that were written anew lie in columns of their files.
            Some(tracking) => {
                let schema = tracking.with_columns(table.schema);
                TableLayout::new(&schema, table.partition_columns, mode)
            }
            None => spec.layout.clone(),
        };
        let hidden = Hidden::Places {
            rows: self.row_index,
        };
        let end = layout.output_schema(hidden).fields().len();
        let all: Vec<usize> = (0..=self.columns).collect();
        let wanted = spec.projection.unwrap_or(&all);
        let own = wanted.iter().copied().filter(|at| *at < self.columns);
        let columns: Vec<usize> = own.chain(self.columns..end).collect();
        let spec = ScanSpec {
            layout: &layout,
            hidden,
            projection: Some(&columns),
            ..spec.clone()
        };
        let scan = build_scan(session, &spec, files)?;
        let schema = scan.schema().to_dfschema()?;
        let mut exprs = Vec::with_capacity(wanted.len());
        for at in wanted {
            let (expr, name) = match layout.schema.fields().get(*at) {
                Some(field) if *at < self.columns => (ident(field.name()), field.name().as_str()),
                _ => (self.value(), METADATA_COLUMN),
            };
            let expr = session.create_physical_expr(expr, &schema)?;
            exprs.push((expr, name.to_owned()));
        }
        Ok(Arc::new(ProjectionExec::try_new(exprs, scan)?))
    }

    fn value(&self) -> Expr {
        let args = self
            .parts()
            .into_iter()
            .flat_map(|(name, _, value)| [lit(name), value])
            .collect();
        named_struct(args)
    }
}
