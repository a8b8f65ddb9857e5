//! Which objects of an inventory are files of the table.

use deltaic_command::InventoryRow;
use deltaic_log::Snapshot;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_storage::{from_object_path, to_object_path};
use object_store::path::Path;

use super::manifest::Manifest;
use super::refused;
use crate::vacuum::{HiddenNames, nested_table_of};

/// Takes the objects below one table.
#[derive(Debug)]
pub(super) struct Sieve {
    location: String,
    bucket: String,
    /// Keys of the table begin so.
    prefix: String,
    /// What stands before a path in a row: `s3a://bucket`.
    before: String,
    hidden: HiddenNames,
}

impl Sieve {
    /// # Errors
    /// The inventory is of another bucket than the table's.
    pub(super) fn new(location: &str, manifest: &Manifest, snapshot: &Snapshot) -> Result<Sieve> {
        let table = snapshot.store().root();
        let bucket = table.bucket().container;
        if manifest.bucket != bucket {
            return Err(refused(
                location,
                &format!(
                    "it lists the bucket {}, and the table is in {bucket}",
                    manifest.bucket
                ),
            ));
        }
        let root = to_object_path(table.path());
        let prefix = match root.as_ref() {
            "" => String::new(),
            path => format!("{path}/"),
        };
        Ok(Sieve {
            location: location.to_owned(),
            bucket,
            prefix,
            before: table.prefix().to_owned(),
            hidden: HiddenNames::of(snapshot),
        })
    }

    /// Whether an object lies below the table; for most of a bucket the rest of a row need not be looked at.
    ///
    /// # Errors
    /// It is of another bucket.
    pub(super) fn takes(&self, bucket: &str, key: &str) -> Result<bool> {
        if bucket != self.bucket {
            return Err(self.refused(&format!(
                "it lists an object of the bucket {bucket} among those of {}",
                self.bucket
            )));
        }
        Ok(key.starts_with(&self.prefix))
    }

    /// The row of an object below the table. None for what stands for a folder, for hidden names, and for keys that no path
    /// of a file comes out as, such as `a//b`: VACUUM would delete by another key.
    pub(super) fn row(&self, key: &str, length: i64, modified_ms: i64) -> Option<InventoryRow> {
        if key.ends_with('/') || key.ends_with("_$folder$") {
            return None;
        }
        let place = Path::parse(key).ok().filter(|path| path.as_ref() == key)?;
        let path = from_object_path(&place);
        if to_object_path(&path) != place {
            return None;
        }
        let relative = path.get(self.prefix.len() + 1..)?;
        // The log of a table below this one is what shows that it is there.
        if self.hidden.hides_path(relative) && nested_table_of(relative).is_none() {
            return None;
        }
        Some(InventoryRow {
            path: format!("{}{path}", self.before),
            length,
            is_dir: false,
            modification_time: modified_ms,
        })
    }

    /// The error of an inventory that cannot be used.
    pub(super) fn refused(&self, reason: &str) -> DeltaError {
        refused(&self.location, reason)
    }
}
