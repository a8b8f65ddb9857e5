//! Deletion vectors (protocol: "Deletion Vectors"): which rows of a file are gone. Here are the descriptor, the payload (a bitmap of
//! row positions), and the framing of payloads in a `deletion_vector_<uuid>.bin` file. Endianness is mixed by design: framing is
//! big-endian, payload little-endian.

mod descriptor;
mod file;
#[cfg(test)]
mod tests;
pub mod z85;

pub use descriptor::{DeletionVectorDescriptor, DeletionVectorLocation};
pub use file::{DeletionVectorFile, FORMAT_VERSION, read_frame};

use crate::error::{DeltaError, ErrorKind, Result};
use roaring::{RoaringBitmap, RoaringTreemap};

/// Magic number of the payload that the protocol describes.
const MAGIC_PORTABLE: u32 = 1_681_511_377;
/// Magic number of an older payload: dense keys, each bitmap with its length in front.
const MAGIC_NATIVE: u32 = 1_681_511_376;

/// A set of row positions within a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeletionVector {
    pub rows: RoaringTreemap,
}

impl FromIterator<u64> for DeletionVector {
    fn from_iter<T: IntoIterator<Item = u64>>(rows: T) -> Self {
        DeletionVector {
            rows: rows.into_iter().collect(),
        }
    }
}

fn damaged(what: impl Into<String>) -> DeltaError {
    DeltaError::unclassed("java.io.IOException", what).with_kind(ErrorKind::Corrupt)
}

impl DeletionVector {
    /// Number of rows that are gone.
    pub fn cardinality(&self) -> u64 {
        self.rows.len()
    }

    /// Whether that row is gone.
    pub fn contains(&self, row: u64) -> bool {
        self.rows.contains(row)
    }

    /// The payload in the protocol's format.
    pub fn to_payload(&self) -> Vec<u8> {
        let mut out = MAGIC_PORTABLE.to_le_bytes().to_vec();
        // Writing into memory does not fail.
        let _ = self.rows.serialize_into(&mut out);
        out
    }

    /// Reads a payload in either format. Fails if it is neither or damaged.
    pub fn from_payload(payload: &[u8]) -> Result<Self> {
        let Some((magic, rest)) = payload.split_first_chunk::<4>() else {
            return Err(damaged("Unexpected end of a deletion vector"));
        };
        let rows = match u32::from_le_bytes(*magic) {
            MAGIC_PORTABLE => RoaringTreemap::deserialize_from(rest)
                .map_err(|e| damaged("Damaged deletion vector").with_source(e))?,
            MAGIC_NATIVE => native(rest)?,
            other => {
                let text = format!("Unexpected RoaringBitmapArray magic number {other}");
                return Err(damaged(text));
            }
        };
        Ok(DeletionVector { rows })
    }

    /// Reads a payload and holds its size and row count against the descriptor.
    pub fn from_described(payload: &[u8], descriptor: &DeletionVectorDescriptor) -> Result<Self> {
        if i64::try_from(payload.len()) != Ok(i64::from(descriptor.size_in_bytes)) {
            return Err(DeltaError::new("DELTA_DELETION_VECTOR_SIZE_MISMATCH"));
        }
        let vector = Self::from_payload(payload)?;
        if i64::try_from(vector.cardinality()) != Ok(descriptor.cardinality) {
            return Err(DeltaError::new(
                "DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH",
            ));
        }
        Ok(vector)
    }
}

fn native(bytes: &[u8]) -> Result<RoaringTreemap> {
    let short = || damaged("Unexpected end of a deletion vector");
    let number = |bytes: &[u8]| -> Result<usize> {
        let chunk = bytes.first_chunk::<4>().ok_or_else(short)?;
        usize::try_from(i32::from_le_bytes(*chunk)).map_err(|_| short())
    };
    let count = number(bytes)?;
    let mut rest = bytes.get(4..).unwrap_or_default();
    let mut maps = Vec::new();
    for key in 0..count {
        let size = number(rest)?;
        let body = rest.get(4..4 + size).ok_or_else(short)?;
        let bitmap = RoaringBitmap::deserialize_from(body)
            .map_err(|e| damaged("Damaged deletion vector").with_source(e))?;
        maps.push((u32::try_from(key).map_err(|_| short())?, bitmap));
        rest = rest.get(4 + size..).unwrap_or_default();
    }
    Ok(RoaringTreemap::from_bitmaps(maps))
}
