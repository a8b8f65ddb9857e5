//! Which columns have statistics: the first leaves of the schema, or those that a property names.

use super::has_bounds;
use crate::config::TableConfig;
use crate::error::{DeltaError, Result};
use crate::schema::{DataType, Leaf, StructField, StructType};
use std::collections::BTreeSet;

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

/// Reads a list such as ``a, b.c, `x,y` ``: columns between commas, names between dots, odd names in backticks. None if it is no such list.
pub fn parse_column_list(text: &str) -> Option<Vec<Vec<String>>> {
    let mut columns = Vec::new();
    let mut column = Vec::new();
    let mut rest = text.trim();
    if rest.is_empty() {
        return Some(columns);
    }
    loop {
        rest = rest.trim_start();
        let name;
        if let Some(quoted) = rest.strip_prefix('`') {
            (name, rest) = quoted_name(quoted)?;
        } else {
            let end = rest.find([',', '.']).unwrap_or(rest.len());
            let (head, tail) = rest.split_at_checked(end)?;
            let head = head.trim_end();
            if head.is_empty() || head.contains('`') {
                return None;
            }
            (name, rest) = (head.to_owned(), tail);
        }
        column.push(name);
        rest = rest.trim_start();
        match rest.chars().next() {
            None => {
                columns.push(column);
                return Some(columns);
            }
            Some(',') => columns.push(std::mem::take(&mut column)),
            Some('.') => {}
            Some(_) => return None,
        }
        rest = rest.get(1..)?;
    }
}

/// A name up to its closing backtick; two backticks are one.
fn quoted_name(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('`')?;
        name.push_str(rest.get(..end)?);
        rest = rest.get(end + 1..)?;
        match rest.strip_prefix('`') {
            Some(after) => {
                name.push('`');
                rest = after;
            }
            None => return Some((name, rest)),
        }
    }
}

/// Whether the named columns can have statistics: they exist, are no partition columns, are of a type with bounds, and are named
/// once. Fails in the reference's classes.
pub fn check_stats_columns(
    text: &str,
    schema: &StructType,
    partition_columns: &[String],
) -> Result<()> {
    let Some(columns) = parse_column_list(text) else {
        return Err(DeltaError::requirement(format!(
            "{} needs to be a list of columns.",
            crate::properties::key::DATA_SKIPPING_STATS_COLUMNS
        )));
    };
    let mut seen = BTreeSet::new();
    let mut twice = Vec::new();
    for column in &columns {
        let shown = column.join(".");
        let Some(field) = schema.field_at(column) else {
            return Err(DeltaError::new("DELTA_COLUMN_NOT_FOUND_IN_SCHEMA")
                .param("columnName", shown)
                .param("tableSchema", schema.tree_string()));
        };
        let top = column.first().map(String::as_str).unwrap_or_default();
        if partition_columns
            .iter()
            .any(|c| c.eq_ignore_ascii_case(top))
        {
            let class = "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN";
            return Err(DeltaError::new(class).param("column", shown));
        }
        check_type(&shown, field)?;
        if !seen.insert(shown.to_lowercase()) {
            twice.push(shown);
        }
    }
    if twice.is_empty() {
        return Ok(());
    }
    Err(DeltaError::new("DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS").param("columns", twice.join(",")))
}

fn check_type(name: &str, field: &StructField) -> Result<()> {
    match &field.data_type {
        DataType::Struct(inner) => inner
            .iter()
            .try_for_each(|field| check_type(&format!("{name}.{}", field.name), field)),
        other if has_bounds(other) => Ok(()),
        other => Err(
            DeltaError::new("DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE")
                .param("column", name)
                .param("type", other.sql()),
        ),
    }
}
