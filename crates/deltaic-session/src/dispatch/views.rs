//! Views: CREATE, ALTER, DROP; and CACHE TABLE, which can make one.

use std::collections::BTreeMap;

use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::schema::{StructType, metadata};
use deltaic_sql::ast::{
    AlterView, AlterViewAction, Cache, CreateMode, CreateView, Drop, Ident, Query, ViewBody,
    ViewKind,
};

use crate::analysis;
use crate::catalog::{CatalogObject, ObjectName, ViewRecord};
use crate::context::Context;
use crate::errors;
use crate::names;
use crate::resolve;
use crate::result::SqlResult;

use super::properties_of;

/// `CREATE VIEW`.
pub(super) async fn create(cx: &Context, create: &CreateView) -> Result<SqlResult> {
    let ViewBody::Query { query, text: body } = &create.body else {
        return Err(DeltaError::not_supported_yet(
            "CREATE TEMPORARY VIEW … USING",
        ));
    };
    let parts = cx.texts(&create.name).await?;
    let permanent = create.kind == ViewKind::Permanent;
    let qualifier: Vec<String> = if permanent {
        let name = resolve::object_name(cx, &parts, &cx.current)?;
        name.parts().iter().map(|part| (*part).to_owned()).collect()
    } else {
        vec![parts.last().cloned().unwrap_or_default()]
    };
    let schema = columns_of(cx, query, &create.columns, &parts, &qualifier, permanent).await?;
    let mut view = ViewRecord {
        name: None,
        short_name: parts.last().cloned().unwrap_or_default(),
        text: body.clone(),
        schema,
        context: cx.current.clone(),
        comment: create.comment.clone(),
        properties: properties_of(&create.properties)?
            .into_iter()
            .collect::<BTreeMap<_, _>>(),
        created_ms: cx.now_us.div_euclid(1_000),
    };
    if create.kind != ViewKind::Permanent {
        if create.kind == ViewKind::GlobalTemporary {
            view.short_name = format!("global_temp.{}", view.short_name);
        } else if parts.len() > 1 {
            return Err(DeltaError::new("TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS")
                .param("actualName", errors::quoted(&parts)));
        }
        return keep_temporary(cx, view, create.mode);
    }
    let name = existing_place(cx, &parts)?;
    names::check(&name.name)?;
    view.short_name.clone_from(&name.name);
    view.name = Some(name.clone());
    let object = CatalogObject::View(view);
    match (create.mode, cx.catalog().object(&name)?) {
        (CreateMode::CreateIfNotExists, Some(_)) => {}
        (CreateMode::CreateOrReplace | CreateMode::Replace, Some(CatalogObject::Table(_))) => {
            return Err(errors::table_not_view(
                &name.parts(),
                "CREATE OR REPLACE VIEW",
            ));
        }
        (CreateMode::CreateOrReplace | CreateMode::Replace, _) => {
            cx.catalog().put_object(&object)?
        }
        (_, found) => {
            if found.is_some() || !cx.catalog().create_object(&object)? {
                return Err(DeltaError::new("TABLE_OR_VIEW_ALREADY_EXISTS")
                    .param("relationName", errors::quoted(&name.parts())));
            }
        }
    }
    Ok(SqlResult::empty())
}

fn keep_temporary(cx: &Context, view: ViewRecord, mode: CreateMode) -> Result<SqlResult> {
    if cx.session.temporary_view(&view.short_name).is_some() {
        match mode {
            CreateMode::CreateIfNotExists => return Ok(SqlResult::empty()),
            CreateMode::Create => {
                return Err(DeltaError::new("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS")
                    .param("relationName", errors::quoted(&[&view.short_name])));
            }
            CreateMode::CreateOrReplace | CreateMode::Replace => {}
        }
    }
    cx.session.put_temporary_view(view);
    Ok(SqlResult::empty())
}

/// The place of a name whose schema must exist.
fn existing_place(cx: &Context, parts: &[String]) -> Result<ObjectName> {
    let name = resolve::object_name(cx, parts, &cx.current)?;
    if cx.catalog().schema(&name.schema_name())?.is_none() {
        return Err(errors::schema_not_found(&name.catalog, &name.schema));
    }
    Ok(name)
}

/// The columns of a view: those of its query, under the names that the statement gives.
async fn columns_of(
    cx: &Context,
    query: &Query,
    names: &[(Ident, Option<String>)],
    view: &[String],
    qualifier: &[String],
    permanent: bool,
) -> Result<StructType> {
    let planned = analysis::query(cx, query).await?;
    if let Some(seen) = planned
        .views
        .iter()
        .find(|seen| seen.qualifier == qualifier)
    {
        let name = errors::quoted(&seen.qualifier);
        return Err(DeltaError::new("RECURSIVE_VIEW")
            .param("viewIdent", &name)
            .param("newPath", format!("{name} -> {name}")));
    }
    if permanent && let Some(seen) = planned.views.iter().find(|seen| seen.temporary) {
        return Err(DeltaError::new("INVALID_TEMP_OBJ_REFERENCE")
            .param("obj", "VIEW")
            .param("objName", errors::quoted(qualifier))
            .param("tempObj", "VIEW")
            .param("tempObjName", errors::quoted(&seen.qualifier)));
    }
    let mut schema = planned.schema;
    if !names.is_empty() && names.len() != schema.fields.len() {
        let class = if names.len() > schema.fields.len() {
            "CREATE_VIEW_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS"
        } else {
            "CREATE_VIEW_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS"
        };
        let list = |names: Vec<&str>| {
            let quoted: Vec<String> = names.iter().map(|name| errors::quoted(&[name])).collect();
            quoted.join(", ")
        };
        return Err(DeltaError::new(class)
            .param("viewName", errors::quoted(view))
            .param(
                "viewColumns",
                list(names.iter().map(|(name, _)| name.value.as_str()).collect()),
            )
            .param(
                "dataColumns",
                list(
                    schema
                        .fields
                        .iter()
                        .map(|field| field.name.as_str())
                        .collect(),
                ),
            ));
    }
    for (field, (name, comment)) in schema.fields.iter_mut().zip(names) {
        field.name.clone_from(&name.value);
        if let Some(comment) = comment {
            field
                .metadata
                .insert(metadata::COMMENT.to_owned(), comment.as_str().into());
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    for field in &schema.fields {
        if !seen.insert(field.name.to_lowercase()) {
            return Err(DeltaError::new("COLUMN_ALREADY_EXISTS")
                .param("columnName", errors::quoted(&[field.name.to_lowercase()])));
        }
    }
    Ok(schema)
}

/// `ALTER VIEW`.
pub(super) async fn alter(cx: &Context, alter: &AlterView) -> Result<SqlResult> {
    let parts = cx.texts(&alter.name).await?;
    if let [name] = parts.as_slice()
        && let Some(mut view) = cx.session.temporary_view(name)
        && let AlterViewAction::As { query, text: body } = &alter.action
    {
        view.schema = columns_of(cx, query, &[], &parts, &parts, false).await?;
        view.text.clone_from(body);
        cx.session.put_temporary_view(view);
        return Ok(SqlResult::empty());
    }
    let name = resolve::object_name(cx, &parts, &cx.current)?;
    let mut view = match cx.catalog().object(&name)? {
        Some(CatalogObject::View(view)) => view,
        Some(CatalogObject::Table(_)) => {
            return Err(errors::table_not_view(
                &name.parts(),
                operation_of(&alter.action),
            ));
        }
        None => return Err(errors::not_found(&parts)),
    };
    match &alter.action {
        AlterViewAction::SetProperties(pairs) => view.properties.extend(properties_of(pairs)?),
        AlterViewAction::UnsetProperties { keys, .. } => {
            for key in keys {
                view.properties.remove(key);
            }
        }
        AlterViewAction::As { query, text: body } => {
            let own: Vec<String> = name.parts().iter().map(|part| (*part).to_owned()).collect();
            view.schema = columns_of(cx, query, &[], &parts, &own, true).await?;
            view.text.clone_from(body);
            view.context = cx.current.clone();
        }
        AlterViewAction::Rename { to } => {
            let to = cx.texts(to).await?;
            let to = resolve::object_name(cx, &to, &name.schema_name())?;
            if to.schema_name() != name.schema_name() {
                return Err(DeltaError::new("CANNOT_RENAME_ACROSS_SCHEMA").param("type", "view"));
            }
            if !cx.catalog().rename_object(&name, &to, || Ok(()))? {
                return Err(errors::already_exists(&to.schema, &to.name));
            }
            return Ok(SqlResult::empty());
        }
    }
    cx.catalog().put_object(&CatalogObject::View(view))?;
    Ok(SqlResult::empty())
}

fn operation_of(action: &AlterViewAction) -> &'static str {
    match action {
        AlterViewAction::Rename { .. } => "ALTER VIEW ... RENAME TO",
        AlterViewAction::SetProperties(_) => "ALTER VIEW ... SET TBLPROPERTIES",
        AlterViewAction::UnsetProperties { .. } => "ALTER VIEW ... UNSET TBLPROPERTIES",
        AlterViewAction::As { .. } => "ALTER VIEW ... AS",
    }
}

/// `DROP VIEW`.
pub(super) async fn drop(cx: &Context, drop: &Drop) -> Result<SqlResult> {
    let parts = cx.texts(&drop.name).await?;
    let temporary = match parts.as_slice() {
        [name] => cx.session.drop_temporary_view(name),
        [schema, name] if schema.eq_ignore_ascii_case("global_temp") => cx
            .session
            .drop_temporary_view(&format!("global_temp.{name}")),
        _ => false,
    };
    if temporary {
        return Ok(SqlResult::empty());
    }
    let name = match resolve::object_name(cx, &parts, &cx.current) {
        Ok(name) => name,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return if drop.if_exists {
                Ok(SqlResult::empty())
            } else {
                Err(errors::not_found(&parts))
            };
        }
        Err(error) => return Err(error),
    };
    match cx.catalog().object(&name)? {
        Some(CatalogObject::View(_)) => {
            cx.catalog().drop_object(&name)?;
            Ok(SqlResult::empty())
        }
        Some(CatalogObject::Table(table)) => Err(DeltaError::new("WRONG_COMMAND_FOR_OBJECT_TYPE")
            .param("operation", "DROP VIEW")
            .param("requiredType", "VIEW")
            .param("objectName", name.to_string())
            .param("foundType", table.kind.as_str())
            .param("alternative", "DROP TABLE")),
        None if drop.if_exists => Ok(SqlResult::empty()),
        None => Err(errors::not_found(&name.parts())),
    }
}

/// `CACHE TABLE`: checks the name; with a query, makes the temporary view that it stands for.
pub(super) async fn cache(cx: &Context, cache: &Cache) -> Result<SqlResult> {
    match &cache.query {
        None => {
            resolve::target(cx, &cache.name).await?;
        }
        Some(query) => {
            let parts = cx.texts(&cache.name).await?;
            let schema = columns_of(cx, query, &[], &parts, &parts, false).await?;
            let view = ViewRecord {
                name: None,
                short_name: parts.last().cloned().unwrap_or_default(),
                text: query.to_string(),
                schema,
                context: cx.current.clone(),
                comment: None,
                properties: BTreeMap::new(),
                created_ms: cx.now_us.div_euclid(1_000),
            };
            keep_temporary(cx, view, CreateMode::Create)?;
        }
    }
    Ok(SqlResult::empty())
}
