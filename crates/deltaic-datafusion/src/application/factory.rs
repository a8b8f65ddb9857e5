//! `CREATE EXTERNAL TABLE … STORED AS DELTA LOCATION '…'`: a table that exists already, under a name.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider, TableProviderFactory};
use datafusion::common::plan_err;
use datafusion::error::Result;
use datafusion::logical_expr::CreateExternalTable;

use super::open::{Version, open_version};

/// Opens tables for DataFusion's statement. The option `version` asks for a version; without it the newest is pinned.
#[derive(Debug)]
pub struct DeltaTableFactory;

#[async_trait]
impl TableProviderFactory for DeltaTableFactory {
    async fn create(
        &self,
        _session: &dyn Session,
        command: &CreateExternalTable,
    ) -> Result<Arc<dyn TableProvider>> {
        let [location] = command.locations.as_slice() else {
            return plan_err!("a Delta table has one location");
        };
        let option = command.options.iter().find(|(key, _)| {
            key.trim_start_matches("format.")
                .eq_ignore_ascii_case("version")
        });
        let version = match option.map(|(_, value)| value.parse()) {
            None => Version::Latest,
            Some(Ok(version)) => Version::At(version),
            Some(Err(_)) => return plan_err!("the version of a Delta table is a whole number"),
        };
        Ok(Arc::new(open_version(location, version).await?))
    }
}
