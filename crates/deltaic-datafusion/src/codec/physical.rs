//! Physical plans: the scan node, and the one over it that reads its files ahead.

use std::sync::Arc;

use datafusion::common::not_impl_err;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::{DataSource, DataSourceExec};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::PhysicalPlanNode;
use deltaic_storage::StorageFactory;
use prost::Message;

use super::message::{AheadMessage, FileMessage, ScanMessage, frame, unframe};
use crate::scan::adapter::DeltaAdapterFactory;
use crate::scan::ahead::ReadAheadExec;
use crate::scan::morsel::PhysicalRows;
use crate::scan::rows::FileRows;
use crate::scan::source::DeltaSource;
use crate::stores::register;

/// Encodes and decodes scans of Delta tables. The object stores of the tables are registered where a plan is decoded.
#[derive(Debug, Clone, Default)]
pub struct DeltaPhysicalCodec {
    factory: StorageFactory,
}

impl DeltaPhysicalCodec {
    /// A codec whose decoded plans read through this factory's stores.
    pub fn new(factory: StorageFactory) -> DeltaPhysicalCodec {
        DeltaPhysicalCodec { factory }
    }
}

impl PhysicalExtensionCodec for DeltaPhysicalCodec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        if let Some(node) = node.as_ref().downcast_ref::<ReadAheadExec>() {
            let message = AheadMessage {
                ahead: node.ahead(),
            };
            return frame(&message, &[], buf);
        }
        let Some((config, source)) = delta_scan(&node) else {
            return not_impl_err!(
                "encoding of {} (only scans of Delta tables are)",
                node.name()
            );
        };
        if !source.inner().table_schema().virtual_columns().is_empty() {
            return not_impl_err!("encoding of a scan with row positions");
        }
        let files = config
            .file_groups
            .iter()
            .flat_map(FileGroup::iter)
            .map(|file| {
                FileMessage::of(
                    file.extension::<FileRows>(),
                    file.extension::<PhysicalRows>().map(|rows| rows.0),
                )
            })
            .collect();
        let message = ScanMessage {
            columns: source.columns().as_ref().clone(),
            preserve_order: config.preserve_order,
            files,
        };
        let mut plain = config.clone();
        plain.file_source = Arc::clone(source.inner());
        plain.expr_adapter_factory = None;
        let plain: Arc<dyn ExecutionPlan> = DataSourceExec::from_data_source(plain);
        let encoded = converter.execution_plan_to_proto(&plain, self)?;
        frame(&message, &encoded.encode_to_vec(), buf)
    }

    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // A scan reads no other node.
        if let [input] = inputs {
            let (message, _): (AheadMessage, &[u8]) = unframe(buf)?;
            return Ok(Arc::new(ReadAheadExec::new(
                Arc::clone(input),
                message.ahead,
            )));
        }
        let (message, rest): (ScanMessage, &[u8]) = unframe(buf)?;
        let node = PhysicalPlanNode::decode(rest).map_err(|error| {
            datafusion::common::exec_datafusion_err!("an encoded Delta scan is damaged: {error}")
        })?;
        register(&ctx.runtime_env(), &self.factory)?;
        let plain =
            converter.proto_to_execution_plan(&node, &PhysicalPlanDecodeContext::new(ctx, self))?;
        let Some(config) = scan_config(&plain) else {
            return not_impl_err!("an encoded Delta scan without a scan");
        };
        let mut attached = message.files.iter();
        let mut groups = Vec::with_capacity(config.file_groups.len());
        for group in &config.file_groups {
            let mut files = Vec::with_capacity(group.len());
            for file in group.iter() {
                let mut file = file.clone();
                if let Some(message) = attached.next() {
                    if let Some(rows) = message.physical_rows {
                        file = file.with_extension(PhysicalRows(rows));
                    }
                    if let Some(rows) = message.rows(&self.factory)? {
                        file = file.with_extension(rows);
                    }
                }
                files.push(file);
            }
            groups.push(FileGroup::new(files));
        }
        let columns = Arc::new(message.columns);
        let source = DeltaSource::around(Arc::clone(config.file_source()), Arc::clone(&columns));
        let config = FileScanConfigBuilder::from(config.clone())
            .with_source(Arc::new(source))
            .with_file_groups(groups)
            .with_preserve_order(message.preserve_order)
            .with_expr_adapter(Some(Arc::new(DeltaAdapterFactory::new(columns))))
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}

fn scan_config(node: &Arc<dyn ExecutionPlan>) -> Option<&FileScanConfig> {
    let exec = node.as_ref().downcast_ref::<DataSourceExec>()?;
    let source: &dyn DataSource = exec.data_source().as_ref();
    source.downcast_ref::<FileScanConfig>()
}

fn delta_scan(node: &Arc<dyn ExecutionPlan>) -> Option<(&FileScanConfig, &DeltaSource)> {
    let config = scan_config(node)?;
    let source = config
        .file_source()
        .as_ref()
        .downcast_ref::<DeltaSource>()?;
    Some((config, source))
}
