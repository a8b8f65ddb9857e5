//! `VERSION AS OF` in SQL text: DataFusion parses it in some dialects and then reads the newest version all the same.

use datafusion::common::plan_err;
use datafusion::error::Result;
use datafusion::logical_expr::planner::{
    RelationPlanner, RelationPlannerContext, RelationPlanning,
};
use datafusion::sql::sqlparser::ast::TableFactor;

/// Refuses what would be passed over.
#[derive(Debug)]
pub(crate) struct VersionGuard;

impl RelationPlanner for VersionGuard {
    fn plan_relation(
        &self,
        relation: TableFactor,
        _context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        if let TableFactor::Table {
            name,
            version: Some(_),
            ..
        } = &relation
        {
            return plan_err!(
                "time travel in SQL is written as a name here: \"{name}@v<version>\" or \"{name}@<yyyyMMddHHmmssSSS>\""
            );
        }
        Ok(RelationPlanning::Original(Box::new(relation)))
    }
}
