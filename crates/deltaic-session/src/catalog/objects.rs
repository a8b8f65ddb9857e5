//! Tables and views in the database.

use std::collections::BTreeMap;

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::StructType;
use rusqlite::{OptionalExtension, Row, Transaction, params};

use crate::errors;

use super::database::Catalog;
use super::types::{
    CatalogObject, ObjectKind, ObjectName, Provider, SchemaName, TableRecord, ViewRecord,
};

const COLUMNS: &str = "catalog, schema, name, kind, provider, location, columns, partition_columns, comment, properties, \
                       created_ms, view_text, view_catalog, view_schema";

impl Catalog {
    /// What a name stands for, if anything.
    pub fn object(&self, name: &ObjectName) -> Result<Option<CatalogObject>> {
        let row = self.read(|db| {
            db.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM objects WHERE catalog = ?1 AND schema = ?2 AND name = ?3"
            ))?
            .query_row(
                params![name.catalog, name.schema, name.name],
                StoredObject::read,
            )
            .optional()
        })?;
        row.map(StoredObject::decode).transpose()
    }

    /// Names and kinds of the objects in a schema, sorted by name.
    pub fn objects(&self, schema: &SchemaName) -> Result<Vec<(String, ObjectKind)>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT name, kind FROM objects WHERE catalog = ?1 AND schema = ?2 ORDER BY name",
            )?;
            let rows = statement.query_map(params![schema.catalog, schema.schema], |row| {
                Ok((row.get(0)?, ObjectKind::parse(&row.get::<_, String>(1)?)))
            })?;
            rows.collect()
        })
    }

    /// Adds a table or view; false, and nothing changed, if the name is taken.
    pub fn create_object(&self, object: &CatalogObject) -> Result<bool> {
        let name = object.stored_name()?;
        self.write(|db| {
            let taken = exists(db, name).map_err(|error| self.failure(&error))?;
            if !taken {
                self.store(db, object)?;
            }
            Ok(!taken)
        })
    }

    /// Writes a table or view over whatever has its name.
    pub fn put_object(&self, object: &CatalogObject) -> Result<()> {
        self.write(|db| self.store(db, object))
    }

    /// Takes a name away; false if it was not there.
    pub fn drop_object(&self, name: &ObjectName) -> Result<bool> {
        self.write(|db| delete(db, name).map_err(|error| self.failure(&error)))
    }

    /// Gives an object another name in the same catalog. `move_files` runs inside the transaction and undoes it by
    /// failing. Answers false, with nothing changed, if the new name is taken or the old one gone.
    pub fn rename_object(
        &self,
        from: &ObjectName,
        to: &ObjectName,
        move_files: impl FnOnce() -> Result<()>,
    ) -> Result<bool> {
        self.write(|db| {
            if exists(db, to).map_err(|error| self.failure(&error))? {
                return Ok(false);
            }
            let moved = db
                .execute(
                    "UPDATE objects SET catalog = ?4, schema = ?5, name = ?6 WHERE catalog = ?1 AND schema = ?2 AND name = ?3",
                    params![from.catalog, from.schema, from.name, to.catalog, to.schema, to.name],
                )
                .map_err(|error| self.failure(&error))?;
            if moved == 1 {
                move_files()?;
            }
            Ok(moved == 1)
        })
    }

    /// The folder of a table: its own location or its place in the warehouse.
    pub fn table_path(&self, table: &TableRecord) -> Result<String> {
        match &table.location {
            Some(location) => Ok(location.clone()),
            None => self.default_table_path(&table.name),
        }
    }

    /// Where a managed table of this name lies or would lie.
    pub fn default_table_path(&self, name: &ObjectName) -> Result<String> {
        let schema = self.schema(&name.schema_name())?;
        Ok(self
            .warehouse()
            .table_path(name, schema.and_then(|schema| schema.location).as_deref()))
    }

    /// Whether a managed table of another name lies at a place.
    pub fn is_place_of_another(&self, place: &str, name: &ObjectName) -> Result<bool> {
        let found = self.read(|db| {
            db.prepare_cached(
                "SELECT 1 FROM objects WHERE location = ?1 AND kind = ?2 AND NOT (catalog = ?3 AND schema = ?4 AND name = ?5)",
            )?
            .query_row(
                params![
                    place,
                    ObjectKind::Managed.as_str(),
                    name.catalog,
                    name.schema,
                    name.name
                ],
                |_| Ok(()),
            )
            .optional()
        })?;
        Ok(found.is_some())
    }

    fn store(&self, db: &Transaction<'_>, object: &CatalogObject) -> Result<()> {
        let name = object.stored_name()?;
        // Another process may have dropped the schema since the statement looked.
        let known = db
            .query_row(
                "SELECT 1 FROM schemas WHERE catalog = ?1 AND name = ?2",
                params![name.catalog, name.schema],
                |_| Ok(()),
            )
            .optional()
            .map_err(|error| self.failure(&error))?;
        if known.is_none() {
            return Err(errors::schema_not_found(&name.catalog, &name.schema));
        }
        let run = || -> rusqlite::Result<()> {
            delete(db, name)?;
            match object {
                CatalogObject::Table(table) => db.execute(
                    &format!("INSERT INTO objects ({COLUMNS}) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,NULL,NULL,NULL)"),
                    params![
                        name.catalog,
                        name.schema,
                        name.name,
                        table.kind.as_str(),
                        table.provider.as_str(),
                        table.location,
                        table.schema.as_ref().map(StructType::to_json),
                        serde_json::json!(table.partition_columns).to_string(),
                        table.comment,
                        map_text(&table.properties),
                        table.created_ms,
                    ],
                )?,
                CatalogObject::View(view) => db.execute(
                    &format!("INSERT INTO objects ({COLUMNS}) VALUES (?1,?2,?3,'VIEW',NULL,NULL,?4,'[]',?5,?6,?7,?8,?9,?10)"),
                    params![
                        name.catalog,
                        name.schema,
                        name.name,
                        view.schema.to_json(),
                        view.comment,
                        map_text(&view.properties),
                        view.created_ms,
                        view.text,
                        view.context.catalog,
                        view.context.schema,
                    ],
                )?,
            };
            Ok(())
        };
        run().map_err(|error| self.failure(&error))
    }
}

impl CatalogObject {
    /// The name under which the object is stored.
    fn stored_name(&self) -> Result<&ObjectName> {
        match self {
            CatalogObject::Table(table) => Ok(&table.name),
            CatalogObject::View(view) => view.name.as_ref().ok_or_else(|| {
                DeltaError::unclassed(
                    "java.lang.IllegalStateException",
                    "a temporary view is not stored in the catalog",
                )
            }),
        }
    }
}

/// Properties as JSON text.
pub(super) fn map_text(map: &BTreeMap<String, String>) -> String {
    serde_json::to_string(map).unwrap_or_else(|_| "{}".to_owned())
}

fn exists(db: &Transaction<'_>, name: &ObjectName) -> rusqlite::Result<bool> {
    db.query_row(
        "SELECT 1 FROM objects WHERE catalog = ?1 AND schema = ?2 AND name = ?3",
        params![name.catalog, name.schema, name.name],
        |_| Ok(()),
    )
    .optional()
    .map(|found| found.is_some())
}

fn delete(db: &Transaction<'_>, name: &ObjectName) -> rusqlite::Result<bool> {
    db.execute(
        "DELETE FROM objects WHERE catalog = ?1 AND schema = ?2 AND name = ?3",
        params![name.catalog, name.schema, name.name],
    )
    .map(|gone| gone == 1)
}

/// A row as it is stored.
struct StoredObject {
    name: ObjectName,
    kind: ObjectKind,
    provider: Option<String>,
    location: Option<String>,
    columns: Option<String>,
    partition_columns: String,
    comment: Option<String>,
    properties: String,
    created_ms: i64,
    view: Option<(String, SchemaName)>,
}

impl StoredObject {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let text: Option<String> = row.get(11)?;
        let context = SchemaName {
            catalog: row.get::<_, Option<String>>(12)?.unwrap_or_default(),
            schema: row.get::<_, Option<String>>(13)?.unwrap_or_default(),
        };
        Ok(StoredObject {
            name: ObjectName {
                catalog: row.get(0)?,
                schema: row.get(1)?,
                name: row.get(2)?,
            },
            kind: ObjectKind::parse(&row.get::<_, String>(3)?),
            provider: row.get(4)?,
            location: row.get(5)?,
            columns: row.get(6)?,
            partition_columns: row.get(7)?,
            comment: row.get(8)?,
            properties: row.get(9)?,
            created_ms: row.get(10)?,
            view: text.map(|text| (text, context)),
        })
    }

    fn decode(self) -> Result<CatalogObject> {
        let schema = self
            .columns
            .as_deref()
            .map(StructType::from_json)
            .transpose()?;
        let properties = serde_json::from_str(&self.properties).unwrap_or_default();
        if let Some((text, context)) = self.view {
            return Ok(CatalogObject::View(ViewRecord {
                short_name: self.name.name.clone(),
                name: Some(self.name),
                text,
                schema: schema.unwrap_or_else(|| StructType { fields: Vec::new() }),
                context,
                comment: self.comment,
                properties,
                created_ms: self.created_ms,
            }));
        }
        Ok(CatalogObject::Table(TableRecord {
            name: self.name,
            kind: self.kind,
            provider: self
                .provider
                .as_deref()
                .and_then(Provider::parse)
                .unwrap_or(Provider::Delta),
            location: self.location,
            schema,
            partition_columns: serde_json::from_str(&self.partition_columns).unwrap_or_default(),
            comment: self.comment,
            properties,
            created_ms: self.created_ms,
        }))
    }
}
