//! Statements that change rows through a temporary view: possible where the view shows a Delta table as it is.

use deltaic_sql::ast::{Ident, Query};
use sqlparser::ast::{Expr, ObjectName, SelectItem, SetExpr, TableFactor};

use deltaic_protocol::error::Result;

use crate::catalog::ViewRecord;
use crate::context::Context;
use crate::resolve::{self, DeltaTable, Target};

/// The table that a temporary view shows with all of its columns, in their order, under their names, and with all of its rows.
pub(super) async fn table_of(cx: &Context, view: &ViewRecord) -> Result<Option<DeltaTable>> {
    if view.name.is_some() {
        return Ok(None);
    }
    let Some((name, columns)) = plain_query(&view.text) else {
        return Ok(None);
    };
    let parts: Vec<String> = name
        .0
        .iter()
        .filter_map(|part| part.as_ident())
        .map(|part| part.value.clone())
        .collect();
    let table = match resolve::lookup_in(cx, &parts, &view.context).await? {
        Some(Target::Delta(table)) if table.travel.is_none() && parts.len() == name.0.len() => {
            *table
        }
        _ => return Ok(None),
    };
    let Some(snapshot) = table.try_snapshot(cx).await? else {
        return Ok(None);
    };
    let schema = snapshot.schema();
    let same_columns = view.schema.len() == schema.len()
        && view
            .schema
            .iter()
            .zip(schema.iter())
            .all(|(shown, own)| shown.name == own.name && shown.data_type == own.data_type);
    let named_in_order = match columns {
        None => true,
        Some(columns) => {
            columns.len() == schema.len()
                && columns
                    .iter()
                    .zip(schema.names())
                    .all(|(column, own)| column.value.eq_ignore_ascii_case(own))
        }
    };
    Ok((same_columns && named_in_order).then_some(table))
}

/// The table of `SELECT * FROM t` or `SELECT a, b FROM t`, with the columns that are named; nothing for any other query.
fn plain_query(text: &str) -> Option<(ObjectName, Option<Vec<Ident>>)> {
    let query = deltaic_sql::parse_query(text).ok()?;
    let plain = deltaic_sql::parse_query("SELECT * FROM t").ok()?;
    let (name, projection) = table_and_columns(&query)?;
    let (_, star) = table_and_columns(&plain)?;
    // What differs in nothing else has no other clause.
    let mut like = plain.clone();
    let SetExpr::Select(select) = like.body.as_mut() else {
        return None;
    };
    select.projection = projection.to_vec();
    select.from.clone_from(from_of(&query)?);
    if like != query {
        return None;
    }
    let columns = match projection == star {
        true => None,
        false => Some(projection.iter().map(column).collect::<Option<Vec<_>>>()?),
    };
    Some((name.clone(), columns))
}

fn from_of(query: &Query) -> Option<&Vec<sqlparser::ast::TableWithJoins>> {
    match query.body.as_ref() {
        SetExpr::Select(select) => Some(&select.from),
        _ => None,
    }
}

/// The one table of a query, read as it is, and what is selected from it.
fn table_and_columns(query: &Query) -> Option<(&ObjectName, &[SelectItem])> {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return None;
    };
    let [from] = select.from.as_slice() else {
        return None;
    };
    let TableFactor::Table { name, alias, .. } = &from.relation else {
        return None;
    };
    let renames = alias
        .as_ref()
        .is_some_and(|alias| !alias.columns.is_empty());
    let mut bare = from.clone();
    bare.relation = TableFactor::Table {
        name: name.clone(),
        alias: alias.clone(),
        args: None,
        with_hints: Vec::new(),
        version: None,
        with_ordinality: false,
        partitions: Vec::new(),
        json_path: None,
        sample: None,
        index_hints: Vec::new(),
    };
    let plain = bare == *from && from.joins.is_empty() && !renames;
    plain.then_some((name, select.projection.as_slice()))
}

/// The column that an item is, under its own name.
fn column(item: &SelectItem) -> Option<Ident> {
    match item {
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(name.clone()),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => parts.last().cloned(),
        _ => None,
    }
}
