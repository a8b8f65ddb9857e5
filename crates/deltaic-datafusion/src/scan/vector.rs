//! A deletion vector that is not loaded yet (protocol section "Deletion Vectors").

use std::ops::Range;

use deltaic_protocol::deletion_vector::{
    DeletionVector, DeletionVectorDescriptor, DeletionVectorLocation, read_frame,
};
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_storage::TableStore;
use roaring::RoaringTreemap;

/// Where a file's deletion vector is.
#[derive(Debug, Clone)]
pub struct VectorFile {
    store: TableStore,
    descriptor: DeletionVectorDescriptor,
}

impl VectorFile {
    /// The vector of a descriptor in a table.
    pub fn new(store: &TableStore, descriptor: DeletionVectorDescriptor) -> VectorFile {
        VectorFile {
            store: store.clone(),
            descriptor,
        }
    }

    /// The table's store.
    pub fn store(&self) -> &TableStore {
        &self.store
    }

    /// What the log says of it.
    pub fn descriptor(&self) -> &DeletionVectorDescriptor {
        &self.descriptor
    }

    /// Loads it; size, checksum and number of rows are checked.
    ///
    /// # Errors
    /// The file is missing (`FileNotFoundException`) or damaged.
    pub async fn load(&self) -> Result<RoaringTreemap> {
        let path = match self.descriptor.location()? {
            DeletionVectorLocation::Inline(payload) => {
                return Ok(DeletionVector::from_described(&payload, &self.descriptor)?.rows);
            }
            DeletionVectorLocation::Relative(decoded) => self.store.data_path(&decoded)?,
            DeletionVectorLocation::Absolute(encoded) => self.store.resolve(&encoded)?,
        };
        let shown = path.to_string();
        let Range { start, end } = self.descriptor.frame_range();
        let frame = self
            .store
            .data()
            .read_range(path.as_str(), start..end)
            .await
            .map_err(|error| {
                if error.kind() == ErrorKind::NotFound {
                    DeltaError::new("FAILED_READ_FILE.FILE_NOT_EXIST")
                        .param("path", &shown)
                        .with_path(&shown)
                        .with_source(error)
                } else {
                    error
                }
            })?;
        let payload =
            read_frame(&frame, &self.descriptor).map_err(|error| error.with_path(&shown))?;
        Ok(DeletionVector::from_described(payload, &self.descriptor)
            .map_err(|error| error.with_path(&shown))?
            .rows)
    }
}
