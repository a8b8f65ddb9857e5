//! What statements define columns and constraints by, judged before anything is written.

use std::collections::BTreeMap;

use deltaic_analyzer::{CheckRules, ColumnDefault, Scope};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::CONSTRAINT_PREFIX;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_sql::ast::{self, ColumnDefinition, CreateMode, CreateTable, Identity, PartitionField};

use crate::analysis;
use crate::context::Context;
use crate::errors;
use crate::relations::SessionResolver;
use crate::resolve::DeltaTable;

use super::new_table::NewTable;

/// Whether the functions in CHECK constraints must be on Delta's list.
const CHECKED: &str = "spark.databricks.delta.checkConstraints.validation.enabled";

/// The table feature that column defaults need.
const COLUMN_DEFAULTS: &str = "allowColumnDefaults";

/// DEFAULT clauses of CREATE and REPLACE TABLE.
pub(super) fn defaults_of_table(cx: &Context, create: &CreateTable) -> Result<()> {
    let statement = match create.mode {
        CreateMode::Create | CreateMode::CreateIfNotExists => "CREATE TABLE",
        CreateMode::CreateOrReplace | CreateMode::Replace => "REPLACE TABLE",
    };
    let partitions = create
        .partitioned_by
        .iter()
        .filter_map(|field| match field {
            PartitionField::Column(definition) => Some(definition),
            PartitionField::Name(_) | PartitionField::Transform(_) => None,
        });
    let columns = create.columns.iter().flatten().chain(partitions);
    columns
        .into_iter()
        .try_for_each(|definition| default_of(cx, definition, statement))
}

/// DEFAULT clauses of ADD COLUMNS.
pub(super) fn defaults_of_added(cx: &Context, definitions: &[ColumnDefinition]) -> Result<()> {
    definitions
        .iter()
        .try_for_each(|definition| default_of(cx, definition, "ALTER TABLE ADD COLUMNS"))
}

/// DEFAULT clauses of REPLACE COLUMNS, none of which is taken.
pub(super) async fn defaults_of_replaced(
    cx: &Context,
    table: &DeltaTable,
    definitions: &[ColumnDefinition],
) -> Result<()> {
    if definitions.iter().all(|column| column.default.is_none()) {
        return Ok(());
    }
    for definition in definitions {
        default_of(cx, definition, "ALTER TABLE REPLACE COLUMNS")?;
    }
    let snapshot = table.snapshot(cx).await?;
    if !snapshot.protocol().supports(COLUMN_DEFAULTS) {
        // The reference takes it for a CREATE TABLE.
        return Err(
            DeltaError::new("WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED")
                .param("commandType", "CREATE TABLE"),
        );
    }
    Err(DeltaError::not_supported_yet("DEFAULT in REPLACE COLUMNS")
        .with_hint("ALTER TABLE … ALTER COLUMN … SET DEFAULT gives a column a default"))
}

fn default_of(cx: &Context, definition: &ColumnDefinition, statement: &str) -> Result<()> {
    let Some(default) = &definition.default else {
        return Ok(());
    };
    let column: Vec<&str> = definition
        .path
        .iter()
        .map(|part| part.value.as_str())
        .collect();
    if let Some(rule) = &definition.generated {
        let rule = deltaic_sql::render::expr(rule);
        return Err(generated_with_default(
            &column.join("."),
            &default.text,
            &rule,
        ));
    }
    if let Some(Identity {
        allow_explicit_insert,
        start,
        step,
    }) = definition.identity
    {
        return Err(DeltaError::new("IDENTITY_COLUMN_WITH_DEFAULT_VALUE")
            .param("colName", column.join("."))
            .param("defaultValue", &default.text)
            .param(
                "identityColumnSpec",
                format!(
                    "IdentityColumnSpec{{start={start}, step={step}, allowExplicitInsert={allow_explicit_insert}}}"
                ),
            ));
    }
    let checked = ColumnDefault {
        statement,
        column: &column,
        data_type: &definition.data_type,
        expr: &default.expr,
        text: &default.text,
    };
    deltaic_analyzer::check_default(&checked, &analysis::analyzer_options(cx))
}

/// `ALTER COLUMN … SET DEFAULT` of a column that exists.
pub(super) fn new_default(
    cx: &Context,
    column: &[String],
    field: &StructField,
    default: &ast::ColumnDefault,
) -> Result<()> {
    if let Some(rule) = field.generation_expression() {
        return Err(generated_with_default(&field.name, &default.text, rule));
    }
    let column: Vec<&str> = column.iter().map(String::as_str).collect();
    let checked = ColumnDefault {
        statement: "ALTER TABLE ALTER COLUMN",
        column: &column,
        data_type: &field.data_type,
        expr: &default.expr,
        text: &default.text,
    };
    deltaic_analyzer::check_default(&checked, &analysis::analyzer_options(cx))
}

fn generated_with_default(column: &str, default: &str, rule: &str) -> DeltaError {
    DeltaError::new("GENERATED_COLUMN_WITH_DEFAULT_VALUE")
        .param("colName", column)
        .param("defaultValue", default)
        .param("genExpr", rule)
}

/// Generated columns that are new or have another type than before. What another writer has put into the table's metadata is
/// left alone.
pub(super) async fn generated(
    cx: &Context,
    schema: &StructType,
    before: Option<&StructType>,
) -> Result<()> {
    let is_new = |field: &StructField| match before.and_then(|old| old.field(&field.name)) {
        Some(old) => {
            old.data_type != field.data_type
                || old.generation_expression() != field.generation_expression()
        }
        None => true,
    };
    let resolver = SessionResolver::new(cx);
    let options = analysis::analyzer_options(cx);
    deltaic_analyzer::check_generated_columns(schema, is_new, &resolver, &options).await
}

/// Generated and identity columns are Delta's.
pub(super) fn no_delta_columns(new: &NewTable) -> Result<()> {
    let schema = new.schema.as_ref();
    let has =
        |of: &dyn Fn(&StructField) -> bool| schema.is_some_and(|schema| schema.iter().any(of));
    let operation = if has(&|field| field.generation_expression().is_some()) {
        "generated columns"
    } else if has(&StructField::is_identity) {
        "identity column"
    } else {
        return Ok(());
    };
    let name = match &new.name {
        Some(name) => errors::quoted(&name.parts()),
        None => new.display.clone(),
    };
    Err(DeltaError::new("UNSUPPORTED_FEATURE.TABLE_OPERATION")
        .param("tableName", name)
        .param("operation", operation))
}

/// A constraint that is added to a table. Writes know the columns by their bare names, so the condition has to.
pub(super) async fn added_constraint(
    cx: &Context,
    name: &str,
    check: &ast::Check,
    schema: &StructType,
) -> Result<()> {
    let resolver = SessionResolver::new(cx);
    let options = analysis::analyzer_options(cx);
    let columns = Scope::table(schema, &[], None);
    let bound = deltaic_analyzer::bind_predicate(&check.expr, &columns, &resolver, &options)
        .await
        .map_err(|error| match error.class() {
            Some("DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN") => {
                DeltaError::new("DELTA_NON_BOOLEAN_CHECK_CONSTRAINT")
                    .param("name", name)
                    .param("expr", &check.text)
            }
            _ => error,
        })?;
    deltaic_analyzer::check_condition(bound.node(), rules(cx), &options)
}

/// Constraints among the properties of a new table.
pub(super) async fn constraints_of_table(
    cx: &Context,
    schema: &StructType,
    properties: &BTreeMap<String, String>,
) -> Result<()> {
    let scope = Scope::table(schema, &[], None);
    let resolver = SessionResolver::new(cx);
    let options = analysis::analyzer_options(cx);
    for (key, text) in properties {
        let Some(name) = key.strip_prefix(CONSTRAINT_PREFIX) else {
            continue;
        };
        let condition = deltaic_sql::parse_expr(text)?;
        let rules = rules(cx);
        deltaic_analyzer::check_constraint(name, &condition, &scope, rules, &resolver, &options)
            .await?;
    }
    Ok(())
}

fn rules(cx: &Context) -> CheckRules {
    match cx.conf.get(CHECKED) {
        Some(mode) if mode.trim().eq_ignore_ascii_case("ASSERT") => CheckRules::Listed,
        _ => CheckRules::Evaluable,
    }
}

/// The column at the end of a path, structs being entered.
pub(super) fn field_at<'a>(schema: &'a StructType, path: &[String]) -> Option<&'a StructField> {
    let (first, rest) = path.split_first()?;
    let field = schema.field(first)?;
    match (&field.data_type, rest.is_empty()) {
        (_, true) => Some(field),
        (DataType::Struct(inner), false) => field_at(inner, rest),
        _ => None,
    }
}
