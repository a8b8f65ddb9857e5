//! The descriptor: where a vector lies and how big it is.

use serde::{Deserialize, Serialize};

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

impl DeletionVectorDescriptor {
    /// Identifies the vector in replay: storage type, path and, where there is one, `@offset`.
    pub fn unique_id(&self) -> String {
        match self.offset {
            Some(offset) => format!("{}{}@{offset}", self.storage_type, self.path_or_inline_dv),
            None => format!("{}{}", self.storage_type, self.path_or_inline_dv),
        }
    }
}
