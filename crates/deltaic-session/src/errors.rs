//! Errors about names, made in one place: the reference quotes names differently from statement to statement.

use deltaic_protocol::error::{DeltaError, ErrorKind};
use deltaic_sql::Name;
use deltaic_storage::TableStore;

/// A name with each part in backticks.
pub(crate) fn quoted<S: AsRef<str>>(parts: &[S]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| format!("`{}`", part.as_ref().replace('`', "``")))
        .collect();
    parts.join(".")
}

/// A name with backticks only where a part needs them.
pub(crate) fn quoted_if_needed<S: AsRef<str>>(parts: &[S]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| part_quoted_if_needed(part.as_ref()))
        .collect();
    parts.join(".")
}

fn part_quoted_if_needed(part: &str) -> String {
    let plain = !part.is_empty()
        && part
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !part.bytes().all(|byte| byte.is_ascii_digit());
    if plain {
        part.to_owned()
    } else {
        format!("`{}`", part.replace('`', "``"))
    }
}

/// No table or view of that name; quoted as it was written.
pub(crate) fn not_found<S: AsRef<str>>(parts: &[S]) -> DeltaError {
    DeltaError::new("TABLE_OR_VIEW_NOT_FOUND")
        .param("relationName", quoted(parts))
        .with_hint("SHOW TABLES lists the tables of the current schema")
}

/// The schema is not there.
pub(crate) fn schema_not_found(catalog: &str, schema: &str) -> DeltaError {
    DeltaError::new("SCHEMA_NOT_FOUND")
        .param("schemaName", quoted(&[catalog, schema]))
        .with_hint("SHOW SCHEMAS lists the schemas of the current catalog")
}

/// The catalog is not there.
pub(crate) fn catalog_not_found(catalog: &str) -> DeltaError {
    DeltaError::new("CATALOG_NOT_FOUND")
        .param("catalogName", quoted(&[catalog]))
        .param("config", format!("\"spark.sql.catalog.{catalog}\""))
        .with_hint("CREATE CATALOG makes one; SHOW CATALOGS lists them")
}

/// The name is taken; schema and table as they are printed.
pub(crate) fn already_exists(schema: &str, table: &str) -> DeltaError {
    DeltaError::new("TABLE_OR_VIEW_ALREADY_EXISTS").param("relationName", quoted(&[schema, table]))
}

/// A name with more schema levels than the catalog has.
pub(crate) fn too_many_levels<S: AsRef<str>>(catalog: &str, namespace: &[S]) -> DeltaError {
    DeltaError::new("REQUIRES_SINGLE_PART_NAMESPACE")
        .param("sessionCatalog", catalog)
        .param("namespace", quoted(namespace))
}

/// A statement that needs a table met a view.
pub(crate) fn view_not_table<S: AsRef<str>>(view: &[S], operation: &str) -> DeltaError {
    DeltaError::new("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
        .param("viewName", quoted(view))
        .param("operation", operation)
}

/// `ALTER TABLE` on a view: the message names the statement for views.
pub(crate) fn alter_table_on_view<S: AsRef<str>>(view: &[S], operation: &str) -> DeltaError {
    DeltaError::new("EXPECT_TABLE_NOT_VIEW.USE_ALTER_VIEW")
        .param("viewName", quoted(view))
        .param("operation", operation)
}

/// A statement that needs a view met a table.
pub(crate) fn table_not_view<S: AsRef<str>>(table: &[S], operation: &str) -> DeltaError {
    DeltaError::new("EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE")
        .param("tableName", quoted(table))
        .param("operation", operation)
}

/// Time travel on something that has no history.
pub(crate) fn no_time_travel<S: AsRef<str>>(relation: &[S]) -> DeltaError {
    DeltaError::new("UNSUPPORTED_FEATURE.TIME_TRAVEL").param("relationId", quoted(relation))
}

/// A path where nothing is.
pub(crate) fn path_not_found(path: &str) -> DeltaError {
    DeltaError::new("PATH_NOT_FOUND")
        .param("path", path)
        .with_path(path)
}

/// A statement for Delta tables met a path that is none.
pub(crate) fn not_delta_path(path: &str, operation: &str) -> DeltaError {
    DeltaError::new("DELTA_TABLE_ONLY_OPERATION")
        .param("tableName", quoted(&[path]))
        .param("operation", operation)
        .with_kind(ErrorKind::NotFound)
        .with_path(path)
}

/// There is no Delta table at a path: in words that differ by statement, and by whether the path is a string or a name.
pub(crate) fn no_table_at(
    name: &Name,
    store: &TableStore,
    path: &str,
    operation: &str,
) -> DeltaError {
    match (operation, name) {
        ("RESTORE", _) => DeltaError::unclassed(
            "java.io.FileNotFoundException",
            format!("No such file or directory: {}/_delta_log", store.root()),
        )
        .with_path(path),
        ("VACUUM", Name::Parts(_)) => DeltaError::new("DELTA_MISSING_DELTA_TABLE")
            .param("tableName", quoted(&[path]))
            .with_path(path),
        _ => not_delta_path(path, operation),
    }
}

/// A statement for Delta tables met a table of another format.
pub(crate) fn delta_only(operation: &str) -> DeltaError {
    DeltaError::new("DELTA_ONLY_OPERATION").param("operation", operation)
}
