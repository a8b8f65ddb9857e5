//! From a parsed statement to its answer; one family of statements per file.

mod alter;
mod clone;
mod columns;
mod constraints;
mod convert;
mod create;
mod create_checks;
mod create_parquet;
mod definitions;
mod describe;
mod dml;
mod drop;
mod explain;
mod features;
mod insert;
mod insert_rows;
mod like;
mod listing;
mod maintain;
mod namespaces;
mod nested_not_null;
mod new_table;
mod properties;
mod query;
mod repair;
mod replace_using;
mod settings;
mod show;
mod through_view;
mod views;

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_sql::Statement;
use deltaic_sql::ast::{CommentObject, Property};

use crate::context::Context;
use crate::result::SqlResult;

/// Runs the text of a statement.
pub(crate) async fn run(cx: &Context, text: &str) -> Result<SqlResult> {
    let statement = deltaic_sql::bind(deltaic_sql::parse(text)?, &cx.parameters)?;
    if reads_or_changes_rows(&statement) {
        return statement_answer(cx, &statement).await;
    }
    // What may take files away or put others in their place meets a log that nobody still writes to.
    cx.settle().await;
    let answer = statement_answer(cx, &statement).await;
    cx.settle().await;
    answer
}

/// Statements that come in numbers, and are not kept waiting for what follows a commit.
fn reads_or_changes_rows(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Query(_) | Statement::Insert(_) | Statement::Delete(_) | Statement::Update(_)
    )
}

/// Runs a statement whose parameters are bound.
async fn statement_answer(cx: &Context, statement: &Statement) -> Result<SqlResult> {
    match statement {
        Statement::Query(query) => query::answer(cx, query).await,
        Statement::Insert(insert) => insert::insert(cx, insert).await,
        Statement::Delete(delete) => dml::delete(cx, delete).await,
        Statement::Update(update) => dml::update(cx, update).await,
        Statement::Truncate(truncate) => dml::truncate(cx, truncate).await,
        Statement::CreateTable(create) => create::create_table(cx, create).await,
        Statement::CreateView(create) => views::create(cx, create).await,
        Statement::AlterView(alter) => views::alter(cx, alter).await,
        Statement::DropView(drop) => views::drop(cx, drop).await,
        Statement::AlterTable(alter) => alter::alter_table(cx, alter).await,
        Statement::DropTable(drop) => drop::drop_table(cx, drop).await,
        Statement::CommentOn(comment) => match comment.object {
            CommentObject::Table => {
                properties::comment_on_table(cx, &comment.name, comment.comment.as_deref()).await
            }
            CommentObject::Schema => {
                namespaces::comment_on_schema(cx, &comment.name, comment.comment.as_deref()).await
            }
        },
        Statement::CreateSchema(create) => namespaces::create_schema(cx, create).await,
        Statement::AlterSchema(alter) => namespaces::alter_schema(cx, alter).await,
        Statement::DropSchema(drop) => namespaces::drop_schema(cx, drop).await,
        Statement::DescribeSchema(describe) => namespaces::describe_schema(cx, describe).await,
        Statement::CreateCatalog(create) => namespaces::create_catalog(cx, create).await,
        Statement::DropCatalog(drop) => namespaces::drop_catalog(cx, drop).await,
        Statement::DescribeCatalog(describe) => namespaces::describe_catalog(cx, describe).await,
        Statement::Use(target) => namespaces::use_namespace(cx, target).await,
        Statement::ShowSchemas(show) => namespaces::show_schemas(cx, show).await,
        Statement::ShowCatalogs(show) => namespaces::show_catalogs(cx, show),
        Statement::ShowCurrentNamespace => namespaces::show_current(cx),
        Statement::ShowTables(show) => listing::show_tables(cx, show).await,
        Statement::ShowViews(show) => listing::show_views(cx, show).await,
        Statement::ShowTableExtended(show) => listing::show_table_extended(cx, show).await,
        Statement::ShowFunctions(show) => listing::show_functions(cx, show),
        Statement::ShowColumns(show) => show::columns(cx, show).await,
        Statement::ShowTblProperties(show) => show::properties(cx, show).await,
        Statement::ShowCreateTable(show) => show::create_table(cx, show).await,
        Statement::ShowPartitions(show) => show::partitions(cx, show).await,
        Statement::DescribeTable(describe) => describe::table(cx, describe).await,
        Statement::DescribeQuery(query) => describe::query(cx, query).await,
        Statement::DescribeFunction(describe) => describe::function(cx, describe).await,
        Statement::DescribeHistory(describe) => maintain::history(cx, describe).await,
        Statement::DescribeDetail(describe) => maintain::detail(cx, describe).await,
        Statement::Vacuum(vacuum) => maintain::vacuum(cx, vacuum).await,
        Statement::Restore(restore) => maintain::restore(cx, restore).await,
        Statement::Set(set) => settings::set(cx, set).await,
        Statement::Reset(reset) => settings::reset(cx, reset),
        Statement::RefreshTable(name) => drop::refresh(cx, name).await,
        Statement::Explain(explain) => explain::explain(cx, explain).await,
        Statement::Analyze(analyze) => drop::analyze(cx, analyze).await,
        // Every statement reads the newest version, so there is nothing to keep and nothing to drop.
        Statement::Cache(cache) => views::cache(cx, cache).await,
        Statement::Uncache(_) | Statement::ClearCache => Ok(SqlResult::empty()),
        Statement::Merge(_) => Err(DeltaError::not_supported_yet("MERGE INTO")),
        Statement::Optimize(_) => Err(DeltaError::not_supported_yet("OPTIMIZE")),
        Statement::Reorg(_) => Err(DeltaError::not_supported_yet("REORG TABLE")),
        Statement::Convert(convert) => convert::convert(cx, convert).await,
        Statement::RepairPartitions(table) => drop::repair_partitions(cx, table).await,
        Statement::Generate(generate) => repair::generate(cx, generate).await,
        Statement::Repair(repair) => repair::repair(cx, repair).await,
    }
}

/// Properties of a table as texts, in the order of the statement; what has a clause of its own is refused.
pub(crate) fn table_properties_of(properties: &[Property]) -> Result<Vec<(String, String)>> {
    let pairs = properties_of(properties)?;
    for (key, _) in &pairs {
        let instead = match key.as_str() {
            "location" => "please use the LOCATION clause to specify it",
            "provider" => "please use the USING clause to specify it",
            "owner" => "it will be set to the current user",
            "external" => "please use CREATE EXTERNAL TABLE",
            _ => continue,
        };
        return Err(DeltaError::new("UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY")
            .param("property", key)
            .param("msg", instead));
    }
    Ok(pairs)
}

/// Properties as texts, in the order of the statement.
pub(crate) fn properties_of(properties: &[Property]) -> Result<Vec<(String, String)>> {
    properties
        .iter()
        .map(|property| match property.text() {
            Some(text) => Ok((property.key.clone(), text)),
            None => Err(DeltaError::unclassed(
                "org.apache.spark.sql.AnalysisException",
                format!("The value of property {} is not a literal", property.key),
            )),
        })
        .collect()
}
