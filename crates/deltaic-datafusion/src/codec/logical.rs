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
use crate::changes::{ChangedFiles, DeltaChanges};
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
    /// Of a table's changes: how many of the files, the first ones, say themselves what happened to their rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recorded: Option<usize>,
    files: Vec<FileMessage>,
}

impl DeltaLogicalCodec {
    /// A codec whose decoded tables read through this factory's stores.
    pub fn new(factory: StorageFactory) -> DeltaLogicalCodec {
        DeltaLogicalCodec { factory }
    }

    fn encode(
        &self,
        table: &PinnedTable,
        files: &[ScanFile],
        recorded: Option<usize>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        let message = TableMessage {
            table: table.store.root().to_string(),
            schema: table.schema.to_json(),
            partition_columns: table.partition_columns.clone(),
            mode: table.mode,
            zone: table.zone.name().to_string(),
            recorded,
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
            return self.encode(decoded, &decoded.files, None, buf);
        }
        if let Some(changes) = node.downcast_ref::<ChangedFiles>() {
            let recorded = &changes.recorded().files;
            let files: Vec<ScanFile> = recorded
                .iter()
                .chain(changes.rows().files.iter())
                .cloned()
                .collect();
            return self.encode(changes.rows(), &files, Some(recorded.len()), buf);
        }
        if node.downcast_ref::<DeltaChanges>().is_some() {
            return not_impl_err!(
                "changes of a Delta table are encoded after DeltaChanges::load_files"
            );
        }
        let Some(provider) = as_delta(node.as_ref()) else {
            return not_impl_err!("encoding of table {table_ref}");
        };
        self.encode(&provider.pinned()?, &provider.loaded_files()?, None, buf)
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
        let mut files = adds
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
        let rows = match message.recorded {
            Some(count) if count > files.len() => return Err(damaged("files are missing")),
            Some(count) => Some(files.split_off(count)),
            None => None,
        };
        let table = |files| {
            PinnedTable::new(
                store.clone(),
                schema.clone(),
                message.partition_columns.clone(),
                message.mode,
                zone.clone(),
                files,
            )
        };
        Ok(match rows {
            Some(rows) => Arc::new(ChangedFiles::from_rows(table(rows), files)),
            None => Arc::new(table(files)),
        })
    }
}
