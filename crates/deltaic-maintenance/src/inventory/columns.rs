//! Which columns of an inventory's files matter, and where they stand.

use deltaic_protocol::error::Result;

use super::refused;

/// Places of the columns, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) bucket: usize,
    pub(super) key: usize,
    pub(super) size: usize,
    pub(super) modified: usize,
    /// `IsLatest` and `IsDeleteMarker`, where the inventory has all versions.
    pub(super) versions: Option<(usize, usize)>,
    /// How many columns there are.
    pub(super) count: usize,
}

impl Columns {
    /// Finds the columns by their names, written as in CSV (`LastModifiedDate`) or as in Parquet (`last_modified_date`).
    ///
    /// # Errors
    /// One that is needed is not there. Without its time an object's age is not known, and without `IsLatest` an inventory
    /// of versions would show old ones as objects.
    pub(super) fn find<'a>(place: &str, names: impl Iterator<Item = &'a str>) -> Result<Columns> {
        let names: Vec<String> = names
            .map(|name| name.trim().replace('_', "").to_ascii_lowercase())
            .collect();
        let optional = |name: &str| {
            let plain = name.to_ascii_lowercase();
            names.iter().position(|found| *found == plain)
        };
        let column = |name: &str| {
            optional(name).ok_or_else(|| {
                refused(place, &format!("it has no field {name}")).with_hint(
                    "add the fields Size and Last modified date to the bucket's inventory configuration, and wait for the next report",
                )
            })
        };
        let versions = match (optional("VersionId"), optional("IsLatest")) {
            (None, None) => None,
            _ => Some((column("IsLatest")?, column("IsDeleteMarker")?)),
        };
        Ok(Columns {
            bucket: column("Bucket")?,
            key: column("Key")?,
            size: column("Size")?,
            modified: column("LastModifiedDate")?,
            versions,
            count: names.len(),
        })
    }

    /// The columns that matter.
    pub(super) fn wanted(&self) -> Vec<usize> {
        let mut all = vec![self.bucket, self.key, self.size, self.modified];
        if let Some((latest, marker)) = self.versions {
            all.extend([latest, marker]);
        }
        all
    }
}
