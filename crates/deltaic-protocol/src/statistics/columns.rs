//! Which columns have statistics: the first leaves of the schema, or those that a property names.

use super::has_bounds;
use crate::column_list::{dotted_name, parse_column_list};
use crate::config::TableConfig;
use crate::error::{DeltaError, Result};
use crate::schema::{DataType, Leaf, StructField, StructType, quote_if_needed};

/// The choice of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatisticsColumns {
    /// Named columns, by logical names from the top; a struct stands for its leaves.
    named: Option<Vec<Vec<String>>>,
    /// How many leaves otherwise; none for all.
    first: Option<usize>,
    /// Columns that have statistics whatever the properties say: the clustering columns.
    always: Vec<Vec<String>>,
}

impl StatisticsColumns {
    /// The choice that the table's properties make.
    pub fn new(config: &TableConfig) -> Result<Self> {
        Ok(StatisticsColumns {
            named: config.stats_columns().and_then(parse_column_list),
            first: config.num_indexed_columns()?,
            always: Vec::new(),
        })
    }

    /// With columns that have statistics in any case.
    pub fn with_always(mut self, columns: Vec<Vec<String>>) -> Self {
        self.always = columns;
        self
    }

    /// The leaves that have statistics, in schema order. Partition columns have none and are not counted.
    pub fn select<'a>(
        &self,
        schema: &'a StructType,
        partition_columns: &[String],
    ) -> Vec<Leaf<'a>> {
        let is_partition = |leaf: &Leaf<'_>| {
            let top = leaf.path.first().map(|field| field.name.as_str());
            top.is_some_and(|top| {
                partition_columns
                    .iter()
                    .any(|c| c.eq_ignore_ascii_case(top))
            })
        };
        let leaves = schema
            .leaves()
            .into_iter()
            .filter(|leaf| !is_partition(leaf));
        leaves
            .enumerate()
            .filter(|(at, leaf)| {
                let names = leaf.names();
                let chosen = match &self.named {
                    Some(columns) => any_above(columns, &names),
                    None => self.first.is_none_or(|first| *at < first),
                };
                chosen || any_above(&self.always, &names)
            })
            .map(|(_, leaf)| leaf)
            .collect()
    }
}

fn any_above(columns: &[Vec<String>], names: &[&str]) -> bool {
    columns.iter().any(|column| {
        column.len() <= names.len()
            && column
                .iter()
                .zip(names)
                .all(|(a, b)| a.eq_ignore_ascii_case(b))
    })
}

/// Whether the named columns can have statistics: they are no partition columns, they exist, their types have bounds (what is
/// in a struct that is named as a whole may have none), and no leaf is named twice. A text that is no list names nothing.
///
/// # Errors
/// The reference's classes.
pub fn check_stats_columns(
    text: &str,
    schema: &StructType,
    partition_columns: &[String],
) -> Result<()> {
    let mut leaves = Vec::new();
    for column in parse_column_list(text).unwrap_or_default() {
        let shown = dotted_name(&column);
        if partition_columns
            .iter()
            .any(|own| own.eq_ignore_ascii_case(&shown))
        {
            let class = "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN";
            return Err(DeltaError::new(class).param("column", shown));
        }
        let data = StructType::new(
            schema
                .iter()
                .filter(|field| !partition_columns.contains(&field.name))
                .cloned(),
        );
        let field = find(&column, &data)?;
        match &field.data_type {
            DataType::Struct(inner) => named_leaves(&shown, inner, &mut leaves),
            other if has_bounds(other) => leaves.push(quote_if_needed(&shown)),
            other => {
                let class = "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE";
                return Err(DeltaError::new(class)
                    .param("column", shown)
                    .param("type", other.class_text()));
            }
        }
    }
    let mut twice: Vec<&String> = Vec::new();
    for (at, leaf) in leaves.iter().enumerate() {
        if leaves[..at].contains(leaf) && !twice.contains(&leaf) {
            twice.push(leaf);
        }
    }
    if twice.is_empty() {
        return Ok(());
    }
    let twice: Vec<&str> = twice.into_iter().map(String::as_str).collect();
    Err(DeltaError::new("DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS").param("columns", twice.join(",")))
}

/// The field at a path through structs.
fn find<'a>(column: &[String], schema: &'a StructType) -> Result<&'a StructField> {
    let mut at = schema;
    for (depth, name) in column.iter().enumerate() {
        let path = dotted_name(&column[..=depth]);
        let field = at.field(name).ok_or_else(|| {
            DeltaError::new("DELTA_COLUMN_NOT_FOUND_IN_SCHEMA")
                .param("columnName", path.as_str())
                .param("tableSchema", schema.tree_string())
        })?;
        match &field.data_type {
            _ if depth + 1 == column.len() => return Ok(field),
            DataType::Struct(inner) => at = inner,
            other => {
                return Err(DeltaError::new("DELTA_COLUMN_PATH_NOT_NESTED")
                    .param("columnPath", path)
                    .param("other", other.class_text())
                    .param("column", dotted_name(column))
                    .param("schema", schema.tree_string()));
            }
        }
    }
    Err(DeltaError::internal("a column without a name"))
}

fn named_leaves(name: &str, schema: &StructType, out: &mut Vec<String>) {
    for field in schema {
        let name = format!("{name}.{}", field.name);
        match &field.data_type {
            DataType::Struct(inner) => named_leaves(&name, inner, out),
            _ => out.push(name),
        }
    }
}
