//! From a name in a statement to what it stands for (spec: delta, section 3.1; Spark's rules for names).
//!
//! In order: a temporary view; a table or view of the catalog; a path (``delta.`/p` ``, ``parquet.`/p` ``); and, where
//! nothing has the whole text as its name, a name with a version behind it (`t@v3`).

use deltaic_log::Snapshot;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_sql::{Name, Travel, travel};
use deltaic_storage::TableStore;

use crate::catalog::{CatalogObject, ObjectName, Provider, SchemaName, TableRecord, ViewRecord};
use crate::context::Context;
use crate::errors;

/// A Delta table by name or path; whether there is a log is not known yet.
#[derive(Debug, Clone)]
pub(crate) struct DeltaTable {
    pub(crate) store: TableStore,
    /// `None` for a table by path.
    pub(crate) record: Option<TableRecord>,
    /// `[catalog, schema, table]`, or `[delta, path]` with the path as it was written.
    pub(crate) qualifier: Vec<String>,
    /// A version that the name itself carried.
    pub(crate) travel: Option<Travel>,
}

/// A table of Parquet files.
#[derive(Debug, Clone)]
pub(crate) struct ParquetTable {
    pub(crate) store: TableStore,
    pub(crate) record: Option<TableRecord>,
    pub(crate) qualifier: Vec<String>,
}

/// What a name stands for.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Delta(Box<DeltaTable>),
    Parquet(ParquetTable),
    View(ViewRecord),
}

impl DeltaTable {
    /// `spark_catalog.default.t`, or ``delta.`/path` ``.
    pub(crate) fn display(&self) -> String {
        match self.record {
            Some(_) => self.qualifier.join("."),
            None => format!("delta.`{}`", self.path()),
        }
    }

    /// Each part in backticks.
    pub(crate) fn quoted(&self) -> String {
        errors::quoted(&self.qualifier)
    }

    /// `` `schema`.`table` ``, as Delta's own messages name a table of the catalog.
    pub(crate) fn short_quoted(&self) -> String {
        match &self.record {
            Some(record) => errors::quoted(&[&record.name.schema, &record.name.name]),
            None => format!("delta.`{}`", self.store.root()),
        }
    }

    /// The catalog's name of the table; none by path.
    pub(crate) fn catalog_name(&self) -> Option<String> {
        self.record.as_ref().map(|record| record.name.to_string())
    }

    /// The path as the statement has it.
    pub(crate) fn path(&self) -> &str {
        match &self.record {
            Some(_) => self.store.root().path(),
            None => self.qualifier.last().map_or("", String::as_str),
        }
    }

    /// The newest version, or nothing.
    pub(crate) async fn try_snapshot(&self, cx: &Context) -> Result<Option<Snapshot>> {
        cx.snapshot(&self.store)
            .await
            .map_err(|error| error.with_table(self.display()))
    }

    /// The newest version.
    ///
    /// # Errors
    /// As a query reports it: a path where nothing is, or a folder without a log.
    pub(crate) async fn snapshot(&self, cx: &Context) -> Result<Snapshot> {
        match self.try_snapshot(cx).await? {
            Some(snapshot) => Ok(snapshot),
            None if self.record.is_none() && !self.store.data().exists("").await? => {
                Err(errors::path_not_found(self.path()))
            }
            None => {
                let name = match self.record {
                    Some(_) => self.short_quoted(),
                    None => errors::quoted(&[self.path()]),
                };
                Err(DeltaError::new("DELTA_TABLE_NOT_FOUND")
                    .param("tableName", name)
                    .with_path(self.store.root().to_string()))
            }
        }
    }
}

impl Target {
    /// Names in front of a column.
    pub(crate) fn qualifier(&self) -> Vec<String> {
        match self {
            Target::Delta(table) => table.qualifier.clone(),
            Target::Parquet(table) => table.qualifier.clone(),
            Target::View(view) => view_qualifier(view),
        }
    }
}

/// `[catalog, schema, view]`, or `[view]` for a temporary one.
pub(crate) fn view_qualifier(view: &ViewRecord) -> Vec<String> {
    match &view.name {
        Some(name) => name.parts().iter().map(|part| (*part).to_owned()).collect(),
        None => vec![view.short_name.clone()],
    }
}

/// What a name stands for, or nothing; unqualified names are looked up in the schema `at`.
pub(crate) async fn lookup_in(
    cx: &Context,
    parts: &[String],
    at: &SchemaName,
) -> Result<Option<Target>> {
    if let Some(found) = lookup_whole(cx, parts, at).await? {
        return Ok(Some(found));
    }
    if !cx.conf.delta("timeTravel.resolveOnIdentifier.enabled") {
        return Ok(None);
    }
    let Some((last, front)) = parts.split_last() else {
        return Ok(None);
    };
    let Some((short, suffix)) = travel::split_suffix(last) else {
        return Ok(None);
    };
    let mut shorter = front.to_vec();
    shorter.push(short.to_owned());
    match lookup_whole(cx, &shorter, at).await? {
        Some(Target::Delta(mut table)) => {
            table.travel = Some(suffix);
            Ok(Some(Target::Delta(table)))
        }
        _ => Ok(None),
    }
}

/// What a name stands for in the current schema, or nothing.
pub(crate) async fn lookup(cx: &Context, parts: &[String]) -> Result<Option<Target>> {
    lookup_in(cx, parts, &cx.current).await
}

/// As [`lookup`], a missing name being an error that quotes it as it was written.
pub(crate) async fn target(cx: &Context, name: &Name) -> Result<(Target, Vec<String>)> {
    let parts = cx.texts(name).await?;
    match lookup(cx, &parts).await? {
        Some(target) => Ok((target, parts)),
        None => Err(not_found(&parts)),
    }
}

/// The Delta table that a statement of Delta's is about.
///
/// # Errors
/// The name is not there, is a view, or is a table or path of another kind.
pub(crate) async fn delta_target(
    cx: &Context,
    name: &Name,
    operation: &str,
) -> Result<(DeltaTable, Snapshot)> {
    let (target, parts) = target(cx, name).await?;
    match target {
        Target::Delta(table) => match table.try_snapshot(cx).await? {
            Some(snapshot) => Ok((*table, snapshot)),
            None if table.record.is_none() => Err(errors::no_table_at(
                name,
                &table.store,
                table.path(),
                operation,
            )),
            None => Err(table
                .snapshot(cx)
                .await
                .err()
                .unwrap_or_else(|| errors::delta_only(operation))),
        },
        // The reference looks for what RESTORE names among Delta tables, and for a format and path among names.
        Target::Parquet(table) if operation == "RESTORE" || table.record.is_none() => {
            Err(not_found(&parts))
        }
        Target::Parquet(_) => Err(errors::delta_only(operation)),
        Target::View(_) if operation == "RESTORE" => Err(errors::delta_only(operation)),
        Target::View(view) => Err(errors::view_not_table(&view_qualifier(&view), operation)),
    }
}

/// The three parts of a name that may be made or dropped: `table`, `schema.table` or `catalog.schema.table`.
///
/// # Errors
/// Too many parts, or a catalog that is not there.
pub(crate) fn object_name(cx: &Context, parts: &[String], at: &SchemaName) -> Result<ObjectName> {
    match parts {
        [name] => Ok(at.object(name)),
        [schema, name] => Ok(SchemaName::new(&at.catalog, schema).object(name)),
        [catalog, schema, name] => {
            if !cx.catalog().has_catalog(catalog)? {
                return Err(errors::catalog_not_found(catalog));
            }
            Ok(ObjectName::new(catalog, schema, name))
        }
        [first, middle @ .., _] => {
            if cx.catalog().has_catalog(first)? {
                Err(errors::too_many_levels(first, middle))
            } else {
                Err(errors::too_many_levels(
                    &at.catalog,
                    &parts[..parts.len() - 1],
                ))
            }
        }
        [] => Err(DeltaError::internal("a name without parts")),
    }
}

/// The error for a name that stands for nothing.
pub(crate) fn not_found(parts: &[String]) -> DeltaError {
    errors::not_found(parts)
}

async fn lookup_whole(cx: &Context, parts: &[String], at: &SchemaName) -> Result<Option<Target>> {
    let temporary = match parts {
        [name] => cx.session.temporary_view(name),
        [schema, name] if schema.eq_ignore_ascii_case("global_temp") => {
            cx.session.temporary_view(&format!("global_temp.{name}"))
        }
        _ => None,
    };
    if let Some(view) = temporary {
        return Ok(Some(Target::View(view)));
    }
    let name = match object_name(cx, parts, at) {
        Ok(name) => Some(name),
        Err(error)
            if error.kind() == ErrorKind::NotFound
                || error.class() == Some("CATALOG_NOT_FOUND") =>
        {
            None
        }
        Err(error) => return Err(error),
    };
    if let Some(name) = name
        && let Some(object) = cx.catalog().object(&name)?
    {
        return stored_target(cx, object).map(Some);
    }
    let [format, path] = parts else {
        return Ok(None);
    };
    match Provider::parse(format) {
        Some(Provider::Delta) if path.starts_with('/') || path.contains(':') => {
            delta_path(cx, format, path).await.map(Some)
        }
        Some(Provider::Parquet) => {
            let store = cx.store(&cx.qualify_path(path)?)?;
            let qualifier = vec!["parquet".to_owned(), path.clone()];
            Ok(Some(Target::Parquet(ParquetTable {
                store,
                record: None,
                qualifier,
            })))
        }
        _ => Ok(None),
    }
}

/// What the catalog has stored under a name.
pub(crate) fn stored_target(cx: &Context, object: CatalogObject) -> Result<Target> {
    match object {
        CatalogObject::View(view) => Ok(Target::View(view)),
        CatalogObject::Table(record) => {
            let store = cx.store(&cx.catalog().table_path(&record)?)?;
            let qualifier = record
                .name
                .parts()
                .iter()
                .map(|part| (*part).to_owned())
                .collect();
            Ok(match record.provider {
                Provider::Delta => Target::Delta(Box::new(DeltaTable {
                    store,
                    record: Some(record),
                    qualifier,
                    travel: None,
                })),
                Provider::Parquet => Target::Parquet(ParquetTable {
                    store,
                    record: Some(record),
                    qualifier,
                }),
            })
        }
    }
}

/// A Delta table by path; a version behind the path counts where there is no table at the whole text.
pub(crate) async fn delta_path(cx: &Context, format: &str, path: &str) -> Result<Target> {
    let whole = |path: &str, travel: Option<Travel>| -> Result<Target> {
        let store = cx.store(path)?;
        let qualifier = vec![format.to_lowercase(), path.to_owned()];
        Ok(Target::Delta(Box::new(DeltaTable {
            store,
            record: None,
            qualifier,
            travel,
        })))
    };
    if let Some((short, suffix)) = travel::split_suffix(path)
        && cx.conf.delta("timeTravel.resolveOnIdentifier.enabled")
        && cx.snapshot(&cx.store(path)?).await?.is_none()
    {
        return whole(short, Some(suffix));
    }
    whole(path, None)
}
