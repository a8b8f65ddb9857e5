//! Catalogs and schemas: USE, CREATE, DROP, ALTER, DESCRIBE, COMMENT ON, SHOW.

use std::collections::BTreeMap;

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::DataType;
use deltaic_sql::ast::{
    AlterSchema, AlterSchemaAction, CreateCatalog, CreateSchema, DescribeCatalog, DescribeSchema,
    Drop, Name, ShowCatalogs, ShowSchemas, Use,
};

use deltaic_storage::TableRoot;

use crate::analysis;
use crate::catalog::{DropSchema, SchemaName, SchemaRecord};
use crate::conf::SessionConf;
use crate::context::{Context, schema_name};
use crate::errors;
use crate::names;
use crate::pattern::matches_pattern;
use crate::result::{SqlResult, Value, column, text_columns};

use super::properties_of;

/// `USE`.
pub(super) async fn use_namespace(cx: &Context, target: &Use) -> Result<SqlResult> {
    let next = match target {
        Use::Catalog(name) => {
            let parts = cx.texts(name).await?;
            let catalog = parts.join(".");
            known_catalog(cx, &catalog)?;
            SchemaName::new(&catalog, crate::catalog::DEFAULT_SCHEMA)
        }
        Use::Namespace { name, .. } => {
            let parts = cx.texts(name).await?;
            match parts.as_slice() {
                // A plain name is a schema of the current catalog, else a catalog.
                [only] => {
                    let schema = SchemaName::new(&cx.current.catalog, only);
                    if cx.catalog().schema(&schema)?.is_none() && cx.catalog().has_catalog(only)? {
                        SchemaName::new(only, crate::catalog::DEFAULT_SCHEMA)
                    } else {
                        schema
                    }
                }
                _ => schema_name(cx, &parts)?,
            }
        }
    };
    if cx.catalog().schema(&next)?.is_none() {
        return Err(errors::schema_not_found(&next.catalog, &next.schema));
    }
    cx.session.set_current(next);
    Ok(SqlResult::empty())
}

/// `CREATE SCHEMA`.
pub(super) async fn create_schema(cx: &Context, create: &CreateSchema) -> Result<SqlResult> {
    let name = cx.schema(&create.name).await?;
    let location = match &create.location {
        Some(expr) => {
            let location = analysis::location(cx, expr).await?;
            // One that no table can be at, or that has credentials in it, is not kept.
            TableRoot::parse(&location)?;
            Some(location)
        }
        None => None,
    };
    names::check(&name.schema)?;
    let record = SchemaRecord {
        name: name.clone(),
        comment: create.comment.clone(),
        location,
        properties: properties_of(&create.properties)?.into_iter().collect(),
    };
    if !cx.catalog().create_schema(&record)? && !create.if_not_exists {
        return Err(DeltaError::new("SCHEMA_ALREADY_EXISTS")
            .param("schemaName", errors::quoted(&[&name.schema])));
    }
    Ok(SqlResult::empty())
}

/// `DROP SCHEMA`; with CASCADE the files of managed tables go too.
pub(super) async fn drop_schema(cx: &Context, drop: &Drop) -> Result<SqlResult> {
    let name = match cx.schema(&drop.name).await {
        Ok(name) => name,
        Err(_) if drop.if_exists => return Ok(SqlResult::empty()),
        Err(error) => return Err(error),
    };
    if cx.catalog().schema(&name)?.is_none() {
        return if drop.if_exists {
            Ok(SqlResult::empty())
        } else {
            Err(errors::schema_not_found(&name.catalog, &name.schema))
        };
    }
    if name.schema == crate::catalog::DEFAULT_SCHEMA {
        return Err(DeltaError::new("UNSUPPORTED_FEATURE.DROP_DATABASE")
            .param("database", errors::quoted(&name_parts(&name))));
    }
    loop {
        if drop.cascade {
            drop_objects(cx, &name).await?;
        }
        // Never with the names in it: a table that another process makes meanwhile would stay as files without a name.
        match cx.catalog().drop_schema(&name)? {
            DropSchema::NotEmpty if drop.cascade => {}
            DropSchema::NotEmpty => {
                return Err(DeltaError::new("SCHEMA_NOT_EMPTY")
                    .param("schemaName", errors::quoted(&[&name.schema])));
            }
            DropSchema::Dropped | DropSchema::Missing => return Ok(SqlResult::empty()),
        }
    }
}

/// Drops all tables and views of a schema.
async fn drop_objects(cx: &Context, schema: &SchemaName) -> Result<()> {
    for (table, _) in cx.catalog().objects(schema)? {
        super::drop::drop_object(cx, &schema.object(&table)).await?;
    }
    Ok(())
}

/// `ALTER SCHEMA`.
pub(super) async fn alter_schema(cx: &Context, alter: &AlterSchema) -> Result<SqlResult> {
    let mut record = existing_schema(cx, &alter.name).await?;
    match &alter.action {
        AlterSchemaAction::SetProperties(properties) => {
            record.properties.extend(properties_of(properties)?)
        }
        AlterSchemaAction::UnsetProperties { keys, .. } => {
            for key in keys {
                record.properties.remove(key);
            }
        }
        AlterSchemaAction::SetLocation(location) => {
            record.location = Some(analysis::location(cx, location).await?)
        }
    }
    cx.catalog().update_schema(&record)?;
    Ok(SqlResult::empty())
}

/// `COMMENT ON SCHEMA`.
pub(super) async fn comment_on_schema(
    cx: &Context,
    name: &Name,
    comment: Option<&str>,
) -> Result<SqlResult> {
    let mut record = existing_schema(cx, name).await?;
    record.comment = Some(comment.unwrap_or_default().to_owned());
    cx.catalog().update_schema(&record)?;
    Ok(SqlResult::empty())
}

/// `DESCRIBE SCHEMA`.
pub(super) async fn describe_schema(cx: &Context, describe: &DescribeSchema) -> Result<SqlResult> {
    let record = existing_schema(cx, &describe.schema).await?;
    let location = match &record.location {
        Some(location) => cx.display_path(location),
        None => cx.display_path(&cx.catalog().warehouse().schema_path(&record.name)),
    };
    let mut rows = vec![
        ("Catalog Name", record.name.catalog.clone()),
        ("Namespace Name", record.name.schema.clone()),
        ("Comment", record.comment.clone().unwrap_or_default()),
        ("Location", location),
        ("Owner", cx.session.user().to_owned()),
    ];
    if describe.extended {
        rows.push(("Properties", pairs_text(&record.properties)));
    }
    info_answer(&rows)
}

/// `SHOW SCHEMAS`.
pub(super) async fn show_schemas(cx: &Context, show: &ShowSchemas) -> Result<SqlResult> {
    let catalog = match &show.catalog {
        Some(name) => cx.texts(name).await?.join("."),
        None => cx.current.catalog.clone(),
    };
    known_catalog(cx, &catalog)?;
    let names = cx.catalog().schemas(&catalog)?;
    list("namespace", names, show.pattern.as_deref())
}

/// `CREATE CATALOG`.
pub(super) async fn create_catalog(cx: &Context, create: &CreateCatalog) -> Result<SqlResult> {
    let name = cx.texts(&create.name).await?.join(".");
    names::check_catalog(&name)?;
    if !cx
        .catalog()
        .create_catalog(&name, create.comment.as_deref())?
        && !create.if_not_exists
    {
        return Err(DeltaError::new("CATALOG_ALREADY_EXISTS")
            .param("catalogName", errors::quoted(&[&name])));
    }
    Ok(SqlResult::empty())
}

/// `DROP CATALOG`.
pub(super) async fn drop_catalog(cx: &Context, drop: &Drop) -> Result<SqlResult> {
    let name = cx.texts(&drop.name).await?.join(".").to_lowercase();
    if !cx.catalog().has_catalog(&name)? {
        return if drop.if_exists {
            Ok(SqlResult::empty())
        } else {
            Err(errors::catalog_not_found(&name))
        };
    }
    if drop.cascade {
        for schema in cx.catalog().schemas(&name)? {
            let schema = SchemaName::new(&name, &schema);
            drop_objects(cx, &schema).await?;
            if schema.schema != crate::catalog::DEFAULT_SCHEMA {
                cx.catalog().drop_schema(&schema)?;
            }
        }
    }
    match cx.catalog().drop_catalog(&name)? {
        DropSchema::NotEmpty => {
            Err(DeltaError::new("CATALOG_NOT_EMPTY").param("catalogName", errors::quoted(&[&name])))
        }
        DropSchema::Dropped | DropSchema::Missing => {
            if cx.current.catalog == name {
                cx.session.set_current(SchemaName::new(
                    crate::catalog::SESSION_CATALOG,
                    crate::catalog::DEFAULT_SCHEMA,
                ));
            }
            Ok(SqlResult::empty())
        }
    }
}

/// `DESCRIBE CATALOG`.
pub(super) async fn describe_catalog(
    cx: &Context,
    describe: &DescribeCatalog,
) -> Result<SqlResult> {
    let name = cx.texts(&describe.catalog).await?.join(".").to_lowercase();
    let record = cx
        .catalog()
        .catalogs()?
        .into_iter()
        .find(|catalog| catalog.name == name);
    let record = record.ok_or_else(|| errors::catalog_not_found(&name))?;
    let mut rows = vec![
        ("Catalog Name", record.name),
        ("Comment", record.comment.unwrap_or_default()),
    ];
    if describe.extended {
        rows.push(("Owner", cx.session.user().to_owned()));
        rows.push(("Catalog Type", "Regular".to_owned()));
    }
    info_answer(&rows)
}

/// `SHOW CATALOGS`.
pub(super) fn show_catalogs(cx: &Context, show: &ShowCatalogs) -> Result<SqlResult> {
    let names = cx
        .catalog()
        .catalogs()?
        .into_iter()
        .map(|catalog| catalog.name)
        .collect();
    list("catalog", names, show.pattern.as_deref())
}

/// `SHOW CURRENT NAMESPACE`.
pub(super) fn show_current(cx: &Context) -> Result<SqlResult> {
    let row = vec![
        Value::text(&cx.current.catalog),
        Value::text(&cx.current.schema),
    ];
    SqlResult::from_rows(text_columns(&["catalog", "namespace"]), &[row])
}

async fn existing_schema(cx: &Context, name: &Name) -> Result<SchemaRecord> {
    let name = cx.schema(name).await?;
    cx.catalog()
        .schema(&name)?
        .ok_or_else(|| errors::schema_not_found(&name.catalog, &name.schema))
}

fn known_catalog(cx: &Context, name: &str) -> Result<()> {
    if cx.catalog().has_catalog(name)? {
        Ok(())
    } else {
        Err(errors::catalog_not_found(name))
    }
}

fn name_parts(name: &SchemaName) -> [&str; 2] {
    [&name.catalog, &name.schema]
}

fn list(title: &str, names: Vec<String>, pattern: Option<&str>) -> Result<SqlResult> {
    let rows: Vec<Vec<Value>> = names
        .into_iter()
        .filter(|name| pattern.is_none_or(|pattern| matches_pattern(pattern, name)))
        .map(|name| vec![Value::text(name)])
        .collect();
    SqlResult::from_rows(text_columns(&[title]), &rows)
}

fn info_answer(rows: &[(&str, String)]) -> Result<SqlResult> {
    let schema = deltaic_protocol::schema::StructType {
        fields: vec![
            column("info_name", DataType::String, false),
            column("info_value", DataType::String, true),
        ],
    };
    let rows: Vec<Vec<Value>> = rows
        .iter()
        .map(|(name, value)| vec![Value::text(*name), Value::text(value)])
        .collect();
    SqlResult::from_rows(schema, &rows)
}

/// Properties as DESCRIBE SCHEMA EXTENDED prints them: `((a,1), (b,2))`, nothing where there are none.
fn pairs_text(properties: &BTreeMap<String, String>) -> String {
    if properties.is_empty() {
        return String::new();
    }
    let pairs: Vec<String> = properties
        .iter()
        .map(|(key, value)| format!("({key},{})", SessionConf::shown_property(key, value)))
        .collect();
    format!("({})", pairs.join(", "))
}
