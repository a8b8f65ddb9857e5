//! Catalogs and schemas in the database.

use std::collections::BTreeMap;

use deltaic_protocol::error::Result;
use rusqlite::{OptionalExtension, Row, params};

use super::database::Catalog;
use super::types::{CatalogRecord, SchemaName, SchemaRecord};
use super::{DEFAULT_SCHEMA, FIRST_CATALOGS};

const SCHEMA_COLUMNS: &str = "catalog, name, comment, location, properties";

/// What became of a schema that was to be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropSchema {
    Dropped,
    Missing,
    /// It holds objects.
    NotEmpty,
}

impl Catalog {
    /// Names of all catalogs, sorted.
    pub fn catalogs(&self) -> Result<Vec<CatalogRecord>> {
        self.read(|db| {
            let mut statement =
                db.prepare_cached("SELECT name, comment FROM catalogs ORDER BY name")?;
            let rows = statement.query_map([], |row| {
                Ok(CatalogRecord {
                    name: row.get(0)?,
                    comment: row.get(1)?,
                })
            })?;
            rows.collect()
        })
    }

    /// Whether a catalog exists.
    pub fn has_catalog(&self, name: &str) -> Result<bool> {
        let name = name.to_lowercase();
        self.read(|db| {
            db.prepare_cached("SELECT 1 FROM catalogs WHERE name = ?1")?
                .query_row([name], |_| Ok(()))
                .optional()
        })
        .map(|found| found.is_some())
    }

    /// Makes a catalog with its `default` schema; false if it was there.
    pub fn create_catalog(&self, name: &str, comment: Option<&str>) -> Result<bool> {
        let name = name.to_lowercase();
        self.write(|db| {
            let made = db
                .execute("INSERT OR IGNORE INTO catalogs (name, comment) VALUES (?1, ?2)", params![name, comment])
                .map_err(|error| self.failure(&error))?;
            if made == 1 {
                db.execute(
                    "INSERT INTO schemas (catalog, name, comment) VALUES (?1, ?2, 'default database')",
                    params![name, DEFAULT_SCHEMA],
                )
                .map_err(|error| self.failure(&error))?;
            }
            Ok(made == 1)
        })
    }

    /// Drops a catalog that holds nothing but an empty `default` schema. The catalogs that every warehouse has stay.
    pub fn drop_catalog(&self, name: &str) -> Result<DropSchema> {
        let name = name.to_lowercase();
        self.write(|db| {
            let run = || -> rusqlite::Result<DropSchema> {
                let schemas: i64 = db.query_row(
                    "SELECT count(*) FROM schemas WHERE catalog = ?1 AND name <> ?2",
                    params![name, DEFAULT_SCHEMA],
                    |row| row.get(0),
                )?;
                let objects: i64 = db.query_row(
                    "SELECT count(*) FROM objects WHERE catalog = ?1",
                    [&name],
                    |row| row.get(0),
                )?;
                if FIRST_CATALOGS.contains(&name.as_str()) || schemas + objects > 0 {
                    return Ok(DropSchema::NotEmpty);
                }
                db.execute("DELETE FROM schemas WHERE catalog = ?1", [&name])?;
                let gone = db.execute("DELETE FROM catalogs WHERE name = ?1", [&name])?;
                Ok(if gone == 1 {
                    DropSchema::Dropped
                } else {
                    DropSchema::Missing
                })
            };
            run().map_err(|error| self.failure(&error))
        })
    }

    /// Names of the schemas of a catalog, sorted.
    pub fn schemas(&self, catalog: &str) -> Result<Vec<String>> {
        let catalog = catalog.to_lowercase();
        self.read(|db| {
            let mut statement =
                db.prepare_cached("SELECT name FROM schemas WHERE catalog = ?1 ORDER BY name")?;
            let rows = statement.query_map([catalog], |row| row.get(0))?;
            rows.collect()
        })
    }

    /// A schema, if it exists.
    pub fn schema(&self, name: &SchemaName) -> Result<Option<SchemaRecord>> {
        self.read(|db| {
            db.prepare_cached(&format!(
                "SELECT {SCHEMA_COLUMNS} FROM schemas WHERE catalog = ?1 AND name = ?2"
            ))?
            .query_row(params![name.catalog, name.schema], schema_of)
            .optional()
        })
    }

    /// Makes a schema; false if it was there.
    pub fn create_schema(&self, schema: &SchemaRecord) -> Result<bool> {
        self.write(|db| {
            db.execute(
                "INSERT OR IGNORE INTO schemas (catalog, name, comment, location, properties) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    schema.name.catalog,
                    schema.name.schema,
                    schema.comment,
                    schema.location,
                    super::objects::map_text(&schema.properties)
                ],
            )
            .map(|made| made == 1)
            .map_err(|error| self.failure(&error))
        })
    }

    /// Writes comment, properties and place of a schema that exists. Managed tables that are there stay where they are: their
    /// place is written down with them, in the same transaction.
    pub fn update_schema(&self, schema: &SchemaRecord) -> Result<()> {
        let known = self.schema(&schema.name)?;
        let place = match known.and_then(|known| known.location) {
            Some(location) => location.trim_end_matches('/').to_owned(),
            None => self.warehouse().schema_path(&schema.name),
        };
        let moves = schema
            .location
            .as_ref()
            .is_some_and(|location| location.trim_end_matches('/') != place);
        self.write(|db| {
            if moves {
                db.execute(
                    "UPDATE objects SET location = ?3 || '/' || name
                     WHERE catalog = ?1 AND schema = ?2 AND kind = 'MANAGED' AND location IS NULL",
                    params![schema.name.catalog, schema.name.schema, place],
                )
                .map_err(|error| self.failure(&error))?;
            }
            db.execute(
                "UPDATE schemas SET comment = ?3, location = ?4, properties = ?5 WHERE catalog = ?1 AND name = ?2",
                params![
                    schema.name.catalog,
                    schema.name.schema,
                    schema.comment,
                    schema.location,
                    super::objects::map_text(&schema.properties)
                ],
            )
            .map(|_| ())
            .map_err(|error| self.failure(&error))
        })
    }

    /// Drops a schema that holds nothing.
    pub fn drop_schema(&self, name: &SchemaName) -> Result<DropSchema> {
        self.write(|db| {
            let run = || -> rusqlite::Result<DropSchema> {
                let key = params![name.catalog, name.schema];
                let objects: i64 = db.query_row(
                    "SELECT count(*) FROM objects WHERE catalog = ?1 AND schema = ?2",
                    key,
                    |row| row.get(0),
                )?;
                if objects > 0 {
                    return Ok(DropSchema::NotEmpty);
                }
                let gone =
                    db.execute("DELETE FROM schemas WHERE catalog = ?1 AND name = ?2", key)?;
                Ok(if gone == 1 {
                    DropSchema::Dropped
                } else {
                    DropSchema::Missing
                })
            };
            run().map_err(|error| self.failure(&error))
        })
    }
}

fn schema_of(row: &Row<'_>) -> rusqlite::Result<SchemaRecord> {
    let properties: String = row.get(4)?;
    Ok(SchemaRecord {
        name: SchemaName {
            catalog: row.get(0)?,
            schema: row.get(1)?,
        },
        comment: row.get(2)?,
        location: row.get(3)?,
        properties: serde_json::from_str::<BTreeMap<String, String>>(&properties)
            .unwrap_or_default(),
    })
}
