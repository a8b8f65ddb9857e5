//! The change feed of a Delta table as a DataFusion table: the table's columns, and behind them what happened to the row
//! (`_change_type`), in which version (`_commit_version`) and when (`_commit_timestamp`).
//!
//! ```
//! use std::sync::Arc;
//! use deltaic_datafusion::application::open::open_changes;
//! use deltaic_datafusion::application::session::session_context;
//! use deltaic_log::changes::ChangeBound;
//! # use deltaic_datafusion::{CreateTable, WriteContext, create_table};
//! # use deltaic_datafusion::application::open::open;
//! # use deltaic_protocol::properties::{PropertyChanges, PropertyRules};
//! # use deltaic_protocol::schema::{DataType, StructField, StructType};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::TempDir::new()?;
//! # let location = format!("{}/orders", folder.path().to_str().ok_or("a path")?);
//! # let store = deltaic_storage::StorageFactory::default().open(&location)?;
//! # let schema = StructType::new([StructField::nullable("id", DataType::Long), StructField::nullable("v", DataType::String)]);
//! # let commit = deltaic_log::CommitContext::default();
//! # let ctx = session_context();
//! # let state = ctx.state();
//! # let mut request = CreateTable::new(schema);
//! # request.properties = PropertyChanges::for_create([], [("delta.enableChangeDataFeed", "true")], &PropertyRules::default())?;
//! # create_table(&WriteContext::new(&state, &commit), &store, None, request).await?;
//! # for sql in ["INSERT INTO orders VALUES (1, 'a'), (2, 'b')", "UPDATE orders SET v = 'c' WHERE id = 2"] {
//! #     ctx.register_table("orders", Arc::new(open(&location).await?))?;
//! #     ctx.sql(sql).await?.collect().await?;
//! #     ctx.deregister_table("orders")?;
//! # }
//! // All changes from version 2 on.
//! let changes = open_changes(&location, ChangeBound::Version(2), None).await?;
//! ctx.register_table("changes", Arc::new(changes))?;
//! let updated = ctx.sql("SELECT id, v FROM changes WHERE _change_type = 'update_postimage'").await?;
//! assert_eq!(updated.count().await?, 1);
//! # Ok(())
//! # }
//! ```

mod files;

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use deltaic_log::Snapshot;
use deltaic_log::changes::{
    CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, ChangeBound, ChangeFeed, ChangeOptions,
    ChangeRange, resolve_range,
};
use deltaic_log::history::CommitTime;
use deltaic_protocol::error::{DeltaError, Result as DeltaResult};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::timestamp::Zone;

use crate::columns::mapping::MappingMode;
use crate::error::wrap;
use crate::provider::mapping_mode;
use crate::scan::pinned::PinnedTable;

pub use files::ChangedFiles;

/// The changes of a range of versions. Commits are read when a query is planned, as a stream and no further than its filters on
/// `_commit_version` and `_commit_timestamp` ask; rows are read when it runs.
#[derive(Debug, Clone)]
pub struct DeltaChanges {
    /// None where no version lies in the range.
    feed: Option<ChangeFeed>,
    schema: StructType,
    /// Without files; what a scan fills in.
    empty: ChangedFiles,
    zone: Zone,
}

impl DeltaChanges {
    /// The changes from one bound to another, both inclusive; no end means the newest version, which `latest` is.
    ///
    /// # Errors
    /// Those of [`resolve_range`] and [`try_new`](Self::try_new).
    pub async fn between(
        latest: &Snapshot,
        start: ChangeBound,
        end: Option<ChangeBound>,
    ) -> DeltaResult<DeltaChanges> {
        let range = resolve_range(latest, start, end, &Zone::utc(), false).await?;
        DeltaChanges::try_new(latest, range, ChangeOptions::default()).await
    }

    /// The changes of a range. Whether the feed was on in all of it is seen when a query is planned
    /// (`DELTA_MISSING_CHANGE_DATA`), and so is whether all rows fit the schema.
    ///
    /// # Errors
    /// The range begins before the first version that can be read; a column of the table has the name of one of the feed.
    pub async fn try_new(
        latest: &Snapshot,
        range: ChangeRange,
        options: ChangeOptions,
    ) -> DeltaResult<DeltaChanges> {
        let feed = match range {
            ChangeRange::Empty => None,
            ChangeRange::Versions { start, end } => {
                Some(ChangeFeed::open(latest, start, end, options).await?)
            }
        };
        let read = feed.as_ref().map_or(latest, ChangeFeed::schema_snapshot);
        let schema = change_schema(read.schema())?;
        let zone = Zone::utc();
        let empty = empty(read, &schema, mapping_mode(read)?, &zone);
        Ok(DeltaChanges {
            feed,
            schema,
            empty,
            zone,
        })
    }

    /// With the session's zone, in which old writers' partition values without a zone are read.
    #[must_use]
    pub fn with_zone(mut self, zone: Zone) -> DeltaChanges {
        self.empty = self.empty.with_zone(&zone);
        self.zone = zone;
        self
    }

    /// The columns, with their types as Delta names them.
    pub fn change_schema(&self) -> &StructType {
        &self.schema
    }

    /// Reads the list of files now, so that the changes can be encoded into a plan.
    ///
    /// # Errors
    /// As when a query is planned.
    pub async fn load_files(&self) -> DeltaResult<ChangedFiles> {
        let Some(feed) = &self.feed else {
            return Ok(self.empty.clone());
        };
        let times = feed.times().await?;
        self.files(feed, &times).await
    }

    async fn files(&self, feed: &ChangeFeed, times: &[CommitTime]) -> DeltaResult<ChangedFiles> {
        let (mut recorded, mut rows) = (Vec::new(), Vec::new());
        feed.read(times, |commit| {
            files::collect(
                feed.schema_snapshot().store(),
                commit,
                &mut recorded,
                &mut rows,
            );
            Ok(())
        })
        .await?;
        Ok(self.empty.with_files(recorded, rows))
    }
}

/// The columns of a table's changes.
///
/// # Errors
/// `DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS`.
fn change_schema(table: &StructType) -> DeltaResult<StructType> {
    let added = [
        StructField::nullable(CHANGE_TYPE, DataType::String),
        StructField::nullable(COMMIT_VERSION, DataType::Long),
        StructField::nullable(COMMIT_TIMESTAMP, DataType::Timestamp),
    ];
    let taken: Vec<&str> = added
        .iter()
        .map(|field| field.name.as_str())
        .filter(|name| table.field(name).is_some())
        .collect();
    if !taken.is_empty() {
        return Err(DeltaError::new("DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS")
            .param("columnList", format!("[{}]", taken.join(","))));
    }
    Ok(StructType::new(table.iter().cloned().chain(added)))
}

fn empty(read: &Snapshot, schema: &StructType, mode: MappingMode, zone: &Zone) -> ChangedFiles {
    let mut partition_columns = read.partition_columns().to_vec();
    partition_columns.extend([CHANGE_TYPE, COMMIT_VERSION, COMMIT_TIMESTAMP].map(str::to_string));
    let rows = PinnedTable::new(
        read.store().clone(),
        schema.clone(),
        partition_columns,
        mode,
        zone.clone(),
        Vec::new(),
    );
    ChangedFiles::from_rows(rows, Vec::new())
}

#[async_trait]
impl TableProvider for DeltaChanges {
    fn schema(&self) -> SchemaRef {
        self.empty.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let files = match &self.feed {
            None => self.empty.clone(),
            Some(feed) => {
                let times = feed.times().await.map_err(wrap)?;
                let asked = files::asked_for(session, feed, &self.zone, &times, filters)?;
                self.files(feed, asked).await.map_err(wrap)?
            }
        };
        files.scan(session, projection, filters, limit).await
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        self.empty.supports_filters_pushdown(filters)
    }
}
