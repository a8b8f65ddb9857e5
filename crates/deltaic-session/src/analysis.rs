//! From syntax to plans: the analyser with the session's names and settings, and the engine that runs its plans.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::RecordBatch;
use chrono_tz::Tz;
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Subquery};
use datafusion::physical_plan::displayable;
use deltaic_analyzer::{AnalyzerOptions, Assignment, InsertTarget, Scope};
use deltaic_command::TimeTravel;
use deltaic_datafusion::{DML_TARGET, unwrap};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::StructType;
use deltaic_protocol::timestamp::Zone;
use deltaic_sql::Travel;
use deltaic_sql::ast::{self, Ident, Query};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use sqlparser::ast::{CastKind, SelectItem, SetExpr};

use crate::context::Context;
use crate::relations::{SeenView, SessionResolver};
use crate::result::{SqlResult, Value};
use crate::time_travel;
use crate::writes;

/// A query, analysed.
pub(crate) struct Planned {
    pub(crate) plan: LogicalPlan,
    /// The columns with Spark's names and types, in the order of the plan's.
    pub(crate) schema: StructType,
    /// Roots of the Delta tables that it reads.
    pub(crate) reads: BTreeSet<String>,
    /// The views that it stands on.
    pub(crate) views: Vec<SeenView>,
}

/// A condition, bound, in the forms in which it is written down.
pub(crate) struct Condition {
    pub(crate) expr: Expr,
    /// As Catalyst prints it: `(id#12L = 4)`.
    pub(crate) catalyst: String,
    /// As SQL: `(id = 4)`.
    pub(crate) sql: String,
    /// As Catalyst prints it before names are resolved: `('id = 4)`.
    pub(crate) unresolved: String,
}

/// The columns of one table, as the conditions and assignments of a statement see them.
#[derive(Debug, Clone)]
pub(crate) struct TableScope {
    pub(crate) schema: StructType,
    pub(crate) qualifier: Vec<String>,
    pub(crate) alias: Option<String>,
}

impl TableScope {
    fn columns(&self) -> Scope {
        Scope::table(&self.schema, &self.qualifier, self.alias.as_deref())
    }
}

/// Analyses a query.
pub(crate) async fn query(cx: &Context, query: &Query) -> Result<Planned> {
    let resolver = SessionResolver::new(cx);
    let analyzed = deltaic_analyzer::analyze_query(query, &resolver, &analyzer_options(cx)).await?;
    Ok(Planned {
        plan: analyzed.plan,
        schema: analyzed.schema,
        reads: resolver.reads(),
        views: resolver.views(),
    })
}

/// All rows of a relation.
pub(crate) async fn table(cx: &Context, parts: &[Ident]) -> Result<Planned> {
    let names: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
    let sql = format!("SELECT * FROM {}", crate::errors::quoted(&names));
    query(cx, &deltaic_sql::parse_query(&sql)?).await
}

/// Runs a plan and collects its rows, partition by partition, so that their order is the same every time.
pub(crate) async fn collect(cx: &Context, planned: Planned) -> Result<Vec<RecordBatch>> {
    stream(cx, planned).await?.try_collect().await
}

/// Runs a plan.
pub(crate) async fn stream(
    cx: &Context,
    planned: Planned,
) -> Result<BoxStream<'static, Result<RecordBatch>>> {
    let state = cx.session.engine().state();
    let physical = state
        .create_physical_plan(&planned.plan)
        .await
        .map_err(unwrap)?;
    let task = state.task_ctx();
    let partitions = physical.properties().partitioning.partition_count();
    let batches = stream::iter(0..partitions)
        .map(move |partition| physical.execute(partition, Arc::clone(&task)))
        .map_err(unwrap)
        .map_ok(|batches| batches.map_err(unwrap))
        .try_flatten();
    Ok(batches.boxed())
}

/// The physical plan as text.
pub(crate) async fn physical_text(cx: &Context, planned: Planned) -> Result<String> {
    let state = cx.session.engine().state();
    let physical = state
        .create_physical_plan(&planned.plan)
        .await
        .map_err(unwrap)?;
    Ok(displayable(physical.as_ref()).indent(false).to_string())
}

/// The value of a constant expression.
pub(crate) async fn constant(cx: &Context, expr: &ast::Expr) -> Result<Value> {
    let mut one = deltaic_sql::parse_query("SELECT 1")?;
    if let SetExpr::Select(select) = one.body.as_mut() {
        select.projection = vec![SelectItem::UnnamedExpr(expr.clone())];
    }
    let planned = query(cx, &one).await?;
    let schema = planned.schema.clone();
    let batches = collect(cx, planned).await?;
    let rows = SqlResult {
        schema,
        batches,
        ..SqlResult::empty()
    }
    .rows();
    rows.into_iter()
        .next()
        .and_then(|row| row.into_iter().next())
        .ok_or_else(|| DeltaError::internal("a constant expression has no value"))
}

/// The path in a LOCATION clause.
pub(crate) async fn location(cx: &Context, expr: &ast::Expr) -> Result<String> {
    match deltaic_sql::literal::text_of(expr) {
        Some(text) => cx.qualify_path(&text),
        None => match constant(cx, expr).await? {
            Value::String(text) => cx.qualify_path(&text),
            _ => Err(DeltaError::unclassed(
                "java.lang.IllegalArgumentException",
                "LOCATION must be a string",
            )),
        },
    }
}

/// The value of a constant expression as a timestamp, microseconds since the epoch; text is read in the session's zone.
/// Nothing where it is NULL or no timestamp.
pub(crate) async fn timestamp(cx: &Context, expr: &ast::Expr) -> Result<Option<i64>> {
    let mut cast = deltaic_sql::parse_expr("try_cast(1 AS TIMESTAMP)")?;
    if let ast::Expr::Cast {
        kind, expr: inner, ..
    } = &mut cast
    {
        *kind = CastKind::TryCast;
        **inner = expr.clone();
    }
    match constant(cx, &cast).await? {
        Value::Timestamp(micros) => Ok(Some(micros)),
        _ => Ok(None),
    }
}

/// The moment that a clause names.
pub(crate) async fn moment(cx: &Context, travel: &Travel) -> Result<TimeTravel> {
    let micros = match travel {
        Travel::Timestamp(expr) => timestamp(cx, expr).await?,
        Travel::Version(_) | Travel::Compact(_) => None,
    };
    time_travel::moment(cx, travel, micros)
}

/// Binds a condition over a table's columns; it may hold subqueries.
pub(crate) async fn condition(
    cx: &Context,
    expr: &ast::Expr,
    scope: &TableScope,
) -> Result<Condition> {
    let resolver = SessionResolver::new(cx);
    let options = analyzer_options(cx);
    let bound =
        deltaic_analyzer::bind_predicate(expr, &scope.columns(), &resolver, &options).await?;
    Ok(Condition {
        unresolved: bound.unresolved(&options),
        sql: bound.sql(&options),
        catalyst: bound.catalyst,
        expr: of_target(bound.expr)?,
    })
}

/// Binds a condition that stands in a table's metadata.
pub(crate) async fn condition_text(
    cx: &Context,
    text: &str,
    scope: &TableScope,
) -> Result<Condition> {
    condition(cx, &deltaic_sql::parse_expr(text)?, scope).await
}

/// The rows of an INSERT in the columns of the table, then those that its source has more; and which columns of the table the
/// statement gives.
pub(crate) async fn insert(
    cx: &Context,
    source: &Query,
    target: &InsertTarget<'_>,
) -> Result<(Planned, Vec<bool>)> {
    let resolver = SessionResolver::new(cx);
    let inserted =
        deltaic_analyzer::analyze_insert(source, target, &resolver, &analyzer_options(cx)).await?;
    let planned = Planned {
        plan: inserted.analyzed.plan,
        schema: inserted.analyzed.schema,
        reads: resolver.reads(),
        views: resolver.views(),
    };
    Ok((planned, inserted.given))
}

/// Rows of an INSERT whose generated columns follow from identity columns that were filled after the source was analysed. The
/// plan's columns begin with those of the schema.
pub(crate) fn follow_identities(
    cx: &Context,
    plan: LogicalPlan,
    schema: &StructType,
    given: &[bool],
) -> Result<LogicalPlan> {
    let options = analyzer_options(cx);
    let scope = Scope::table(schema, &[], None);
    let missing = |at: usize| !given.get(at).copied().unwrap_or(false);
    let filled: Vec<&str> = schema
        .iter()
        .enumerate()
        .filter(|(at, field)| field.is_identity() && missing(*at))
        .map(|(_, field)| field.name.as_str())
        .collect();
    let mut columns: Vec<Expr> = plan
        .schema()
        .columns()
        .into_iter()
        .map(Expr::Column)
        .collect();
    let own: Vec<(String, Expr)> = schema
        .iter()
        .zip(&columns)
        .map(|(field, column)| (field.name.clone(), column.clone()))
        .collect();
    let mut follows = false;
    for (at, field) in schema.iter().enumerate() {
        let Some(rule) = field.generation_expression().filter(|_| missing(at)) else {
            continue;
        };
        let rule = deltaic_sql::parse_expr(rule)?;
        let value = deltaic_analyzer::bind_local(&rule, &scope, &options)?;
        let reads = |name: &&str| value.columns.iter().any(|c| c.eq_ignore_ascii_case(name));
        if !filled.iter().any(reads) {
            continue;
        }
        let kind = Assignment::Insert;
        let value = deltaic_analyzer::store_assignment(
            &value,
            &field.data_type,
            &field.name,
            kind,
            &scope,
            &options,
        )?;
        if let Some(column) = columns.get_mut(at) {
            *column = replace_columns(value.expr, &own)?.alias(&field.name);
            follows = true;
        }
    }
    if !follows {
        return Ok(plan);
    }
    LogicalPlanBuilder::from(plan)
        .project(columns)
        .and_then(LogicalPlanBuilder::build)
        .map_err(unwrap)
}

/// The new values of an UPDATE, by column; generated columns that follow from one of them get new values too.
pub(crate) async fn update(
    cx: &Context,
    assignments: &[(Vec<Ident>, ast::Expr)],
    scope: &TableScope,
) -> Result<Vec<(String, Expr)>> {
    let resolver = SessionResolver::new(cx);
    let options = analyzer_options(cx);
    let columns = scope.columns();
    let bound =
        deltaic_analyzer::bind_update(assignments, &columns, &scope.schema, &resolver, &options)
            .await?;
    let mut out: Vec<(String, Expr)> = bound
        .into_iter()
        .map(|(name, value)| Ok((name, of_target(value.expr)?)))
        .collect::<Result<_>>()?;
    let given = out.clone();
    for field in &scope.schema.fields {
        let Some(rule) = field.generation_expression() else {
            continue;
        };
        if given.iter().any(|(name, _)| *name == field.name) {
            continue;
        }
        let value =
            deltaic_analyzer::bind_local(&deltaic_sql::parse_expr(rule)?, &columns, &options)?;
        if value.columns.iter().any(|read| {
            given
                .iter()
                .any(|(name, _)| name.eq_ignore_ascii_case(read))
        }) {
            let kind = Assignment::Update;
            let value = deltaic_analyzer::store_assignment(
                &value,
                &field.data_type,
                &field.name,
                kind,
                &columns,
                &options,
            )?;
            out.push((field.name.clone(), replace_columns(value.expr, &given)?));
        }
    }
    Ok(out)
}

/// An expression over a table that is changed, whose subqueries name the table's columns by their table: a plain name could
/// mean a column of the subquery's own as well.
fn of_target(expr: Expr) -> Result<Expr> {
    expr.transform(|node| {
        Ok(match node {
            Expr::Exists(mut exists) => {
                exists.subquery = outer_of_target(exists.subquery)?;
                Transformed::yes(Expr::Exists(exists))
            }
            Expr::InSubquery(mut within) => {
                within.subquery = outer_of_target(within.subquery)?;
                Transformed::yes(Expr::InSubquery(within))
            }
            Expr::ScalarSubquery(scalar) => {
                Transformed::yes(Expr::ScalarSubquery(outer_of_target(scalar)?))
            }
            other => Transformed::no(other),
        })
    })
    .map(|done| done.data)
    .map_err(unwrap)
}

fn outer_of_target(mut subquery: Subquery) -> datafusion::error::Result<Subquery> {
    let plan = Arc::unwrap_or_clone(subquery.subquery);
    let plan = plan.transform_up_with_subqueries(|plan| {
        plan.map_expressions(|expr| expr.transform(|node| Ok(qualified(node))))
    })?;
    subquery.subquery = Arc::new(plan.data);
    subquery.outer_ref_columns = subquery
        .outer_ref_columns
        .into_iter()
        .map(|expr| qualified(expr).data)
        .collect();
    Ok(subquery)
}

/// Columns of the table that is changed are the only ones without a qualifier.
fn qualified(expr: Expr) -> Transformed<Expr> {
    match expr {
        Expr::OuterReferenceColumn(field, column) if column.relation.is_none() => {
            let column = Column::new(Some(DML_TARGET), column.name);
            Transformed::yes(Expr::OuterReferenceColumn(field, column))
        }
        other => Transformed::no(other),
    }
}

/// A plan with its columns, found by name, in the order of a schema.
pub(crate) fn reorder(plan: LogicalPlan, schema: &StructType) -> Result<LogicalPlan> {
    let columns = schema
        .fields
        .iter()
        .map(|field| Expr::Column(Column::new_unqualified(&field.name)));
    LogicalPlanBuilder::from(plan)
        .project(columns)
        .and_then(LogicalPlanBuilder::build)
        .map_err(unwrap)
}

/// An expression with columns replaced by the values that they are about to get.
pub(crate) fn replace_columns(expr: Expr, values: &[(String, Expr)]) -> Result<Expr> {
    expr.transform(|node| match &node {
        Expr::Column(column) => match values.iter().find(|(name, _)| *name == column.name) {
            Some((_, value)) => Ok(Transformed::yes(value.clone())),
            None => Ok(Transformed::no(node)),
        },
        _ => Ok(Transformed::no(node)),
    })
    .map(|done| done.data)
    .map_err(unwrap)
}

/// With what the expressions and queries of a statement are analysed.
pub(crate) fn analyzer_options(cx: &Context) -> AnalyzerOptions {
    AnalyzerOptions {
        zone: region(&cx.conf.zone_name()),
        zone_name: cx.conf.zone_name(),
        now_us: cx.now_us,
        catalog: cx.current.catalog.clone(),
        schema: cx.current.schema.clone(),
        user: cx.session.user().to_owned(),
        ansi: cx.conf.flag("spark.sql.ansi.enabled"),
        store_assignment: writes::store_assignment(&cx.conf),
        update_follows_ansi: cx.conf.delta("updateAndMergeCastingFollowsAnsiEnabledFlag"),
        case_sensitive: cx.conf.flag("spark.sql.caseSensitive"),
        ordinals: cx.conf.flag("spark.sql.orderByOrdinal"),
        ..AnalyzerOptions::default()
    }
}

/// The region of a zone's name; offsets of whole hours have one too.
fn region(name: &str) -> Tz {
    let name = name.trim();
    if let Ok(zone) = name.parse() {
        return zone;
    }
    let Some(zone) = Zone::parse(name) else {
        return Tz::UTC;
    };
    let seconds = zone.offset_at(0);
    match seconds / 3_600 {
        0 => Tz::UTC,
        // `Etc/GMT-9` lies nine hours east.
        east if east > 0 => format!("Etc/GMT-{east}").parse().unwrap_or(Tz::UTC),
        west => format!("Etc/GMT+{}", -west).parse().unwrap_or(Tz::UTC),
    }
}
