//! The descriptor: where a vector lies and how big it is.

use super::{DeletionVector, z85};
use crate::error::{DeltaError, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Characters of a UUID in Z85.
const UUID_CHARACTERS: usize = 20;

/// Where a deletion vector is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletionVectorDescriptor {
    /// `u` relative to the table by UUID, `i` inline, `p` absolute path.
    pub storage_type: String,
    /// What the storage type says: prefix and Z85 of the UUID, Z85 of the payload, or a URI-encoded path.
    pub path_or_inline_dv: String,
    /// Byte position of the size field in the file; never present inline. Absent and 0 are different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<i32>,
    /// Bytes of the payload.
    pub size_in_bytes: i32,
    /// Number of rows deleted.
    pub cardinality: i64,
}

/// Where to get the payload from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeletionVectorLocation {
    /// The payload itself.
    Inline(Vec<u8>),
    /// A file below the table's root, as a decoded path with `/`.
    Relative(String),
    /// A file anywhere, as in the log: an absolute, URI-encoded path.
    Absolute(String),
}

impl DeletionVectorDescriptor {
    /// A vector in a `deletion_vector_<uuid>.bin` below the table's root, in a folder `prefix` unless that is empty.
    pub fn on_disk(prefix: &str, uuid: Uuid, offset: i32, size: i32, cardinality: i64) -> Self {
        DeletionVectorDescriptor {
            storage_type: "u".to_owned(),
            path_or_inline_dv: format!("{prefix}{}", z85::encode(uuid.as_bytes())),
            offset: Some(offset),
            size_in_bytes: size,
            cardinality,
        }
    }

    /// A vector inside the log.
    pub fn inline(vector: &DeletionVector) -> Self {
        let payload = vector.to_payload();
        DeletionVectorDescriptor {
            storage_type: "i".to_owned(),
            path_or_inline_dv: z85::encode(&payload),
            offset: None,
            size_in_bytes: i32::try_from(payload.len()).unwrap_or(i32::MAX),
            cardinality: i64::try_from(vector.cardinality()).unwrap_or(i64::MAX),
        }
    }

    /// Identifies the vector in replay: storage type, path and, where there is one, `@offset`.
    pub fn unique_id(&self) -> String {
        match self.offset {
            Some(offset) => format!("{}{}@{offset}", self.storage_type, self.path_or_inline_dv),
            None => format!("{}{}", self.storage_type, self.path_or_inline_dv),
        }
    }

    /// Where the payload lies. Fails on a storage type or text that the protocol does not know.
    pub fn location(&self) -> Result<DeletionVectorLocation> {
        let text = self.path_or_inline_dv.as_str();
        let wrong = || {
            let shown = format!("{}{text}", self.storage_type);
            DeltaError::unclassed(
                "java.lang.IllegalArgumentException",
                format!("Invalid deletion vector descriptor: {shown}"),
            )
            .with_kind(ErrorKind::Corrupt)
        };
        match self.storage_type.as_str() {
            "u" => {
                let at = text.len().checked_sub(UUID_CHARACTERS).ok_or_else(wrong)?;
                let (prefix, id) = text.split_at_checked(at).ok_or_else(wrong)?;
                let bytes = z85::decode(id).ok_or_else(wrong)?;
                let uuid = Uuid::from_slice(&bytes).map_err(|_| wrong())?;
                Ok(DeletionVectorLocation::Relative(file_path(prefix, uuid)))
            }
            "i" => {
                let mut bytes = z85::decode(text).ok_or_else(wrong)?;
                let size = usize::try_from(self.size_in_bytes).map_err(|_| wrong())?;
                if size > bytes.len() {
                    return Err(DeltaError::new("DELTA_DELETION_VECTOR_SIZE_MISMATCH"));
                }
                bytes.truncate(size);
                Ok(DeletionVectorLocation::Inline(bytes))
            }
            "p" => Ok(DeletionVectorLocation::Absolute(text.to_owned())),
            _ => Err(wrong()),
        }
    }
}

/// Path below the table's root of the file with that UUID.
pub(crate) fn file_path(prefix: &str, uuid: Uuid) -> String {
    let name = format!("deletion_vector_{}.bin", uuid.as_hyphenated());
    if prefix.is_empty() {
        name
    } else {
        format!("{prefix}/{name}")
    }
}
