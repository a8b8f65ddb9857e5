//! INSERT into Delta tables.

use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::Expr as Condition;
use deltaic_datafusion::{Append, NewTable, Overwrite, OverwriteScope, ReplaceWhere};
use deltaic_log::Snapshot;
use deltaic_maintenance::alter::mapping::{self, PhysicalName};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::feature::{ProtocolUpgrade, upgraded_protocol};
use deltaic_protocol::schema::StructType;
use deltaic_sql::ast::{Expr, Insert, InsertMode};

use crate::analysis;
use crate::context::Context;
use crate::errors;
use crate::resolve::{self, DeltaTable, Target};
use crate::result::SqlResult;
use crate::writes;

use super::insert_rows::{self, Destination};
use super::{constraints, create_parquet, replace_using};

/// `INSERT`.
pub(super) async fn insert(cx: &Context, insert: &Insert) -> Result<SqlResult> {
    if insert.mode == InsertMode::Directory {
        return Err(DeltaError::not_supported_yet("INSERT OVERWRITE DIRECTORY"));
    }
    let (target, parts) = resolve::target(cx, &insert.table).await?;
    match target {
        Target::Delta(table) if table.travel.is_some() => Err(errors::not_found(&parts)),
        Target::Delta(table) => into_delta(cx, insert, &table).await,
        Target::Parquet(table) => create_parquet::insert(cx, insert, &table).await,
        Target::View(view) => Err(errors::view_not_table(
            &resolve::view_qualifier(&view),
            "INSERT",
        )),
    }
}

async fn into_delta(cx: &Context, insert: &Insert, table: &DeltaTable) -> Result<SqlResult> {
    let snapshot = table.snapshot(cx).await?;
    let widen = insert.with_schema_evolution || cx.conf.delta("schema.autoMerge.enabled");
    let destination = Destination {
        schema: snapshot.schema().as_ref().clone(),
        partition_columns: snapshot.partition_columns().to_vec(),
        qualifier: table.qualifier.clone(),
        display: table.display(),
        id: snapshot.metadata().id.clone(),
        profile: cx.profile(),
        widen,
        grows: true,
        widening: match widen && snapshot.config().type_widening_enabled()? {
            true => writes::widening(&cx.conf),
            false => None,
        },
    };
    let shaped = insert_rows::shape(cx, insert, &destination).await?;
    let schema = shaped
        .schema
        .clone()
        .unwrap_or_else(|| snapshot.schema().as_ref().clone());
    let checks = constraints::checks_of(cx, &schema, &snapshot.metadata().configuration).await?;
    let new_table = match shaped.schema {
        Some(schema) => Some(widened(&snapshot, schema)?),
        None => None,
    };
    let commit = cx.commit_context(Some(table.display()));
    let state = cx.session.engine().state();
    let writer = cx.repeatable_write_context(&state, &commit)?;
    let report = match scope_of(cx, insert, &destination).await? {
        None => {
            let reads_target = shaped.reads.contains(&snapshot.store().root().to_string());
            let request = Append {
                checks,
                table: new_table,
                reads_target,
                identities: shaped.identities,
                ..Append::new(shaped.plan)
            };
            deltaic_datafusion::append(&writer, &snapshot, request).await?
        }
        Some(scope) => {
            let request = Overwrite {
                checks,
                table: new_table,
                identities: shaped.identities,
                ..Overwrite::new(shaped.plan, scope)
            };
            deltaic_datafusion::overwrite(&writer, &snapshot, request).await?
        }
    };
    cx.committed(&report.commit);
    cx.repeatable_write_is_done();
    Ok(SqlResult::empty())
}

/// What the statement replaces; nothing where it only adds.
async fn scope_of(
    cx: &Context,
    insert: &Insert,
    destination: &Destination,
) -> Result<Option<OverwriteScope>> {
    let condition = match &insert.mode {
        InsertMode::Into => return Ok(None),
        InsertMode::ReplaceWhere(condition) => condition.clone(),
        InsertMode::ReplaceUsing(columns) => {
            let columns = replace_using::columns(cx, insert, columns, &destination.schema).await?;
            return Ok(Some(OverwriteScope::Using(columns)));
        }
        InsertMode::ReplaceOn(_) => {
            return Err(DeltaError::not_supported_yet("INSERT INTO … REPLACE ON"));
        }
        InsertMode::Directory => {
            return Err(DeltaError::not_supported_yet("INSERT OVERWRITE DIRECTORY"));
        }
        InsertMode::Overwrite => {
            if cx.dynamic_overwrite() {
                return Ok(Some(OverwriteScope::DynamicPartitions));
            }
            match static_condition(insert)? {
                Some(condition) => condition,
                None => return Ok(Some(OverwriteScope::Table)),
            }
        }
    };
    let scope = analysis::TableScope {
        schema: destination.schema.clone(),
        qualifier: destination.qualifier.clone(),
        alias: None,
    };
    let bound = analysis::condition(cx, &condition, &scope).await?;
    if has_subquery(&bound.expr) {
        let class = "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.UNSUPPORTED_IN_EXISTS_SUBQUERY";
        return Err(DeltaError::new(class).param("treeNode", &bound.sql));
    }
    Ok(Some(OverwriteScope::Where(ReplaceWhere {
        predicate: bound.expr,
        qualifier: None,
        text: bound.sql.clone(),
        check_name: format!("EXPRESSION({})", bound.unresolved),
        sql: bound.sql,
    })))
}

/// Which rows go must be known before the statement's query is.
fn has_subquery(condition: &Condition) -> bool {
    let is_subquery = |expr: &Condition| {
        matches!(
            expr,
            Condition::Exists(_) | Condition::InSubquery(_) | Condition::ScalarSubquery(_)
        )
    };
    let found = condition.exists(|expr| Ok(is_subquery(expr)));
    found.unwrap_or(true)
}

/// `p <=> 3 AND …` for the partitions that the statement names.
fn static_condition(insert: &Insert) -> Result<Option<Expr>> {
    let mut texts = Vec::new();
    for (column, value) in &insert.partition {
        if let Some(value) = value {
            texts.push(format!(
                "{} <=> {}",
                errors::quoted(&[&column.value]),
                deltaic_sql::render::expr(value)
            ));
        }
    }
    if texts.is_empty() {
        Ok(None)
    } else {
        deltaic_sql::parse_expr(&texts.join(" AND ")).map(Some)
    }
}

/// The table with a wider schema: new columns get ids where the table maps columns.
fn widened(snapshot: &Snapshot, mut schema: StructType) -> Result<NewTable> {
    let mut metadata = snapshot.metadata().as_ref().clone();
    if mapping::is_enabled(&metadata.configuration) {
        let fresh = || uuid::Uuid::new_v4().to_string();
        let highest = mapping::highest_id(&schema);
        let last = mapping::assign(&mut schema, highest, PhysicalName::Fresh(&fresh));
        metadata
            .configuration
            .insert(mapping::MAX_COLUMN_ID.to_owned(), last.to_string());
    }
    metadata.schema_string = schema.to_json();
    let protocol = upgraded_protocol(snapshot.protocol(), &metadata, &ProtocolUpgrade::default())?;
    Ok(NewTable { metadata, protocol })
}
