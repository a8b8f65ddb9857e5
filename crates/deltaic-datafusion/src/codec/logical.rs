//! Logical plans: the table provider with its pinned version, files included. "The newest" is never encoded.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{TableReference, exec_datafusion_err, not_impl_err};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Extension, LogicalPlan};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use deltaic_protocol::action::{Action, Add};
use deltaic_protocol::schema::StructType;
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::StorageFactory;
use serde::{Deserialize, Serialize};

use super::message::{FileMessage, frame, unframe};
use crate::columns::mapping::MappingMode;
use crate::error::wrap;
use crate::provider::as_delta;
use crate::scan::build::ScanFile;
use crate::scan::pinned::PinnedTable;

/// Encodes and decodes references to Delta tables.
#[derive(Debug, Clone, Default)]
pub struct DeltaLogicalCodec {
    factory: StorageFactory,
}

#[derive(Debug, Serialize, Deserialize)]
struct TableMessage {
    table: String,
    schema: String,
    partition_columns: Vec<String>,
    mode: MappingMode,
    zone: String,
    files: Vec<FileMessage>,
}

impl DeltaLogicalCodec {
    /// A codec whose decoded tables read through this factory's stores.
    pub fn new(factory: StorageFactory) -> DeltaLogicalCodec {
        DeltaLogicalCodec { factory }
    }

    fn encode(&self, table: &PinnedTable, files: &[ScanFile], buf: &mut Vec<u8>) -> Result<()> {
        let message = TableMessage {
            table: table.store.root().to_string(),
            schema: table.schema.to_json(),
            partition_columns: table.partition_columns.clone(),
            mode: table.mode,
            zone: table.zone.name().to_string(),
            files: files
                .iter()
                .map(|file| FileMessage::of(Some(&file.rows), None))
                .collect(),
        };
        let lines: Vec<String> = files
            .iter()
            .map(|file| Action::Add(file.add.as_ref().clone()).to_json_line())
            .collect();
        frame(&message, lines.join("\n").as_bytes(), buf)
    }
}

impl LogicalExtensionCodec for DeltaLogicalCodec {
    fn try_decode(
        &self,
        _buf: &[u8],
        _inputs: &[LogicalPlan],
        _ctx: &TaskContext,
    ) -> Result<Extension> {
        not_impl_err!("no logical node of Delta tables is encoded")
    }

    fn try_encode(&self, node: &Extension, _buf: &mut Vec<u8>) -> Result<()> {
        not_impl_err!("encoding of {}", node.node.name())
    }

    fn try_encode_table_provider(
        &self,
        table_ref: &TableReference,
        node: Arc<dyn TableProvider>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        if let Some(decoded) = node.downcast_ref::<PinnedTable>() {
            return self.encode(decoded, &decoded.files, buf);
        }
        let Some(provider) = as_delta(node.as_ref()) else {
            return not_impl_err!("encoding of table {table_ref}");
        };
        self.encode(&provider.pinned()?, &provider.loaded_files()?, buf)
    }

    fn try_decode_table_provider(
        &self,
        buf: &[u8],
        _table_ref: &TableReference,
        _schema: SchemaRef,
        _ctx: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        let (message, rest): (TableMessage, &[u8]) = unframe(buf)?;
        let damaged =
            |what: &str| exec_datafusion_err!("an encoded Delta table is damaged: {what}");
        let lines = std::str::from_utf8(rest).map_err(|_| damaged("not UTF-8"))?;
        let mut adds: Vec<Arc<Add>> = Vec::new();
        for line in lines.lines() {
            match Action::from_json_line(line).map_err(wrap)? {
                Some(Action::Add(add)) => adds.push(Arc::new(add)),
                _ => return Err(damaged("not a file")),
            }
        }
        let files = adds
            .into_iter()
            .zip(&message.files)
            .map(|(add, message)| {
                Ok(ScanFile {
                    add,
                    rows: message.rows(&self.factory)?.unwrap_or_default(),
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let store = self.factory.open(&message.table).map_err(wrap)?;
        let schema = StructType::from_json(&message.schema).map_err(wrap)?;
        let zone = Zone::parse(&message.zone).ok_or_else(|| damaged("unknown zone"))?;
        Ok(Arc::new(PinnedTable::new(
            store,
            schema,
            message.partition_columns,
            message.mode,
            zone,
            files,
        )))
    }
}
