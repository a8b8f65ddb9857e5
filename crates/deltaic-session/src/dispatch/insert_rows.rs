//! The rows of an INSERT brought into the form of the table: which column of the source goes where, what stands in the
//! columns that get none, and the casts of a store assignment.

use std::collections::BTreeSet;

use datafusion::logical_expr::{Expr, LogicalPlan};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_sql::ast::{self, Insert};

use crate::analysis::{self, Planned, TableScope};
use crate::context::Context;
use crate::defaults;
use crate::errors;

/// The table that rows go to.
pub(crate) struct Destination {
    pub(crate) schema: StructType,
    pub(crate) partition_columns: Vec<String>,
    pub(crate) qualifier: Vec<String>,
    pub(crate) display: String,
    pub(crate) id: String,
    /// New columns of the source may become columns of the table.
    pub(crate) widen: bool,
}

/// Rows that fit the table.
pub(crate) struct Shaped {
    pub(crate) plan: LogicalPlan,
    /// The table's new schema, where it grows.
    pub(crate) schema: Option<StructType>,
    /// Roots of the Delta tables that the source reads.
    pub(crate) reads: BTreeSet<String>,
}

/// Where the values of a column come from.
enum Slot {
    /// A column of the source.
    Source(usize),
    /// A value of the PARTITION clause.
    Static(ast::Expr),
    /// The column's default, or NULL.
    Missing,
}

/// Brings the source of an INSERT into the table's form.
pub(crate) async fn shape(cx: &Context, insert: &Insert, to: &Destination, text: &str) -> Result<Shaped> {
    check_partition_clause(insert, to)?;
    let listed = listed_columns(insert, to)?;
    let source = defaults::fill(cx, &insert.source, &to.schema, listed.as_deref()).await?;
    let planned = analysis::query(cx, &source, text).await?;
    let mut schema = to.schema.clone();
    let slots = if insert.by_name {
        slots_by_name(insert, to, &planned, &mut schema)?
    } else {
        match &listed {
            Some(listed) => slots_by_list(insert, to, &planned, listed)?,
            None => slots_by_position(insert, to, &planned, &mut schema)?,
        }
    };
    let plan = project(cx, &planned, &schema, slots, text).await?;
    let plan = defaults::generate_rows(cx, plan, &schema, &to.qualifier).await?;
    let grown = schema.fields.len() != to.schema.fields.len();
    Ok(Shaped { plan, schema: grown.then_some(schema), reads: planned.reads })
}

fn check_partition_clause(insert: &Insert, to: &Destination) -> Result<()> {
    for (column, _) in &insert.partition {
        let name = &column.value;
        if !to.partition_columns.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            return Err(DeltaError::new("NON_PARTITION_COLUMN").param("columnName", errors::quoted(&[name])));
        }
    }
    if insert.if_partition_not_exists {
        return Err(DeltaError::new("UNSUPPORTED_FEATURE.TABLE_OPERATION")
            .param("tableName", errors::quoted(&to.qualifier))
            .param("operation", "INSERT OVERWRITE … IF NOT EXISTS"));
    }
    Ok(())
}

/// Positions of the columns in the statement's list.
fn listed_columns(insert: &Insert, to: &Destination) -> Result<Option<Vec<usize>>> {
    if insert.columns.is_empty() {
        return Ok(None);
    }
    let mut listed = Vec::new();
    for column in &insert.columns {
        let names: Vec<&str> = to.schema.fields.iter().map(|field| field.name.as_str()).collect();
        let at = to.schema.index_of(&column.value).ok_or_else(|| errors::unresolved_column(&[&column.value], &names))?;
        if listed.contains(&at) {
            return Err(DeltaError::new("COLUMN_ALREADY_EXISTS").param("columnName", errors::quoted(&[&column.value])));
        }
        listed.push(at);
    }
    Ok(Some(listed))
}

/// The value that the PARTITION clause gives to a column.
fn static_value(insert: &Insert, field: &StructField) -> Option<ast::Expr> {
    insert.partition.iter().find(|(name, _)| name.value.eq_ignore_ascii_case(&field.name)).and_then(|(_, value)| value.clone())
}

fn slots_by_list(insert: &Insert, to: &Destination, source: &Planned, listed: &[usize]) -> Result<Vec<Slot>> {
    if listed.len() != source.schema.fields.len() {
        let class = if listed.len() > source.schema.fields.len() {
            "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS"
        } else {
            "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS"
        };
        let table: Vec<String> = insert.columns.iter().map(|column| errors::quoted(&[&column.value])).collect();
        let data: Vec<String> = source.schema.fields.iter().map(|field| errors::quoted(&[&field.name])).collect();
        return Err(DeltaError::new(class)
            .param("tableName", errors::quoted(&to.qualifier))
            .param("tableColumns", table.join(", "))
            .param("dataColumns", data.join(", ")));
    }
    let slots = to.schema.fields.iter().enumerate().map(|(at, field)| {
        match (listed.iter().position(|own| *own == at), static_value(insert, field)) {
            (Some(from), _) => Slot::Source(from),
            (None, Some(value)) => Slot::Static(value),
            (None, None) => Slot::Missing,
        }
    });
    Ok(slots.collect())
}

fn slots_by_position(insert: &Insert, to: &Destination, source: &Planned, schema: &mut StructType) -> Result<Vec<Slot>> {
    let mut slots = Vec::new();
    let mut next = 0;
    let mut open = 0;
    for field in &to.schema.fields {
        match static_value(insert, field) {
            Some(value) => slots.push(Slot::Static(value)),
            None => {
                open += 1;
                slots.push(if next < source.schema.fields.len() { Slot::Source(next) } else { Slot::Missing });
                next += 1;
            }
        }
    }
    let given = source.schema.fields.len();
    if given < open {
        return Err(DeltaError::new("DELTA_INSERT_COLUMN_ARITY_MISMATCH")
            .param("tableName", &to.display)
            .param("columnName", "not enough data columns")
            .param("numColumns", to.schema.fields.len())
            .param("insertColumns", given + to.schema.fields.len() - open));
    }
    if given > open {
        let extra = &source.schema.fields[open..];
        grow(to, schema, extra)?;
        slots.extend((open..given).map(Slot::Source));
    }
    Ok(slots)
}

fn slots_by_name(insert: &Insert, to: &Destination, source: &Planned, schema: &mut StructType) -> Result<Vec<Slot>> {
    let mut slots: Vec<Slot> = to
        .schema
        .fields
        .iter()
        .map(|field| static_value(insert, field).map_or(Slot::Missing, Slot::Static))
        .collect();
    let mut extra = Vec::new();
    let mut more = Vec::new();
    for (from, field) in source.schema.fields.iter().enumerate() {
        match to.schema.index_of(&field.name) {
            Some(at) => {
                if matches!(slots[at], Slot::Source(_)) {
                    return Err(DeltaError::new("COLUMN_ALREADY_EXISTS").param("columnName", errors::quoted(&[&field.name])));
                }
                slots[at] = Slot::Source(from);
            }
            None => {
                extra.push(field.clone());
                more.push(Slot::Source(from));
            }
        }
    }
    if !extra.is_empty() {
        grow(to, schema, &extra)?;
        slots.extend(more);
    }
    Ok(slots)
}

/// Adds columns to the schema, or refuses them.
fn grow(to: &Destination, schema: &mut StructType, extra: &[StructField]) -> Result<()> {
    let mut wider = to.schema.clone();
    wider.fields.extend(extra.iter().map(|field| StructField::nullable(&field.name, field.data_type.as_nullable())));
    if !to.widen {
        return Err(schema_mismatch(to, &wider));
    }
    for field in extra {
        if field.data_type == DataType::Void {
            return Err(DeltaError::new("DELTA_NULL_SCHEMA_IN_STREAMING_WRITE").with_text(format!(
                "Column {} has no type and cannot become a column of the table",
                field.name
            )));
        }
    }
    *schema = wider;
    Ok(())
}

/// The error for rows with other columns than the table's.
fn schema_mismatch(to: &Destination, data: &StructType) -> DeltaError {
    let whole = DeltaError::new("DELTA_METADATA_MISMATCH");
    let detail = DeltaError::new("DELTA_METADATA_MISMATCH.SCHEMA_MISMATCH")
        .param("id", &to.id)
        .param("tableSchema", to.schema.as_nullable().tree_string())
        .param("dataSchema", data.as_nullable().tree_string());
    let own = detail.text();
    let own = own.strip_prefix(&whole.text()).unwrap_or(&own).trim_start().to_owned();
    whole
        .with_sub_error(DeltaError::new("DELTA_METADATA_MISMATCH.SCHEMA_MISMATCH").with_text(own))
        .with_hint("SET spark.databricks.delta.schema.autoMerge.enabled = true lets a write add columns")
}

/// The source's columns in the order and types of the table.
async fn project(
    cx: &Context,
    planned: &Planned,
    schema: &StructType,
    slots: Vec<Slot>,
    text: &str,
) -> Result<LogicalPlan> {
    let nothing = TableScope { schema: StructType::default(), qualifier: Vec::new(), alias: None };
    let mut columns: Vec<Expr> = Vec::new();
    for (field, slot) in schema.fields.iter().zip(slots) {
        let value = match slot {
            Slot::Source(from) => {
                let bound = analysis::output(planned, from)?;
                analysis::assign(cx, bound, &field.data_type, &field.name)?
            }
            Slot::Static(expr) => {
                let bound = analysis::value(cx, &expr, &nothing, text).await?;
                analysis::assign(cx, bound, &field.data_type, &field.name)?
            }
            Slot::Missing => defaults::expression(cx, field).await?,
        };
        columns.push(value.alias(&field.name));
    }
    analysis::project(planned.plan.clone(), columns)
}
