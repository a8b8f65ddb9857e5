//! Works on folders of tables that have begun: a marker in a folder counts only if this very database knows its work.
//! A database at the same path on another machine, or one made anew, does not.

use deltaic_protocol::error::Result;
use rusqlite::{OptionalExtension, params};

use super::{Catalog, ObjectName};

impl Catalog {
    /// Notes a work on the folder of a table of that name, before its marker is written.
    pub fn begin_work(&self, work: &str, name: &ObjectName) -> Result<()> {
        self.write(|db| {
            db.execute(
                "INSERT INTO unfinished (work, name) VALUES (?1, ?2)",
                params![work, name.parts().join(".")],
            )
            .map_err(|error| self.failure(&error))?;
            Ok(())
        })
    }

    /// Whether a work on a table of that name was begun here and has not ended.
    pub fn has_work(&self, work: &str, name: &ObjectName) -> Result<bool> {
        let found: Option<String> = self.read(|db| {
            db.query_row(
                "SELECT name FROM unfinished WHERE work = ?1",
                [work],
                |row| row.get(0),
            )
            .optional()
        })?;
        Ok(found.is_some_and(|found| found == name.parts().join(".")))
    }

    /// Whether any work on a table of that name was begun here and has not ended.
    pub fn has_works_on(&self, name: &ObjectName) -> Result<bool> {
        let found: Option<i64> = self.read(|db| {
            db.query_row(
                "SELECT 1 FROM unfinished WHERE name = ?1 LIMIT 1",
                [name.parts().join(".")],
                |row| row.get(0),
            )
            .optional()
        })?;
        Ok(found.is_some())
    }

    /// Forgets the works on tables of that name.
    pub fn end_works(&self, name: &ObjectName) -> Result<()> {
        self.write(|db| {
            db.execute(
                "DELETE FROM unfinished WHERE name = ?1",
                [name.parts().join(".")],
            )
            .map_err(|error| self.failure(&error))?;
            Ok(())
        })
    }
}
