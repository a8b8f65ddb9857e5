//! The file that holds payloads: a version byte, then for each payload its size, the payload and a CRC-32.

use super::DeletionVectorDescriptor;
use crate::error::{DeltaError, Result};
use std::ops::Range;

/// First byte of every file of deletion vectors.
pub const FORMAT_VERSION: u8 = 1;

/// Collects payloads into one file.
#[derive(Debug, Clone)]
pub struct DeletionVectorFile {
    bytes: Vec<u8>,
}

impl Default for DeletionVectorFile {
    fn default() -> Self {
        DeletionVectorFile {
            bytes: vec![FORMAT_VERSION],
        }
    }
}

impl DeletionVectorFile {
    /// Appends a payload. Answers its `offset` and `sizeInBytes` for the descriptor; none once the file would pass 2 GiB.
    pub fn push(&mut self, payload: &[u8]) -> Option<(i32, i32)> {
        let offset = i32::try_from(self.bytes.len()).ok()?;
        let size = i32::try_from(payload.len()).ok()?;
        self.bytes.extend(size.to_be_bytes());
        self.bytes.extend(payload);
        self.bytes.extend(crc32fast::hash(payload).to_be_bytes());
        Some((offset, size))
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether no payload was appended.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() <= 1
    }

    /// The file's content.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl DeletionVectorDescriptor {
    /// Bytes of the file that hold this vector's frame: size, payload, CRC. Without an offset the frame begins after the version.
    pub fn frame_range(&self) -> Range<u64> {
        let start = u64::try_from(self.offset.unwrap_or(1)).unwrap_or(1);
        let size = u64::try_from(self.size_in_bytes).unwrap_or(0);
        start..start + 4 + size + 4
    }
}

/// The payload of a frame, with size and CRC checked. `frame` are the bytes of
/// [`frame_range`](DeletionVectorDescriptor::frame_range).
pub fn read_frame<'a>(frame: &'a [u8], descriptor: &DeletionVectorDescriptor) -> Result<&'a [u8]> {
    let mismatch = || DeltaError::new("DELTA_DELETION_VECTOR_SIZE_MISMATCH");
    let (size, rest) = frame.split_first_chunk::<4>().ok_or_else(mismatch)?;
    if i32::from_be_bytes(*size) != descriptor.size_in_bytes {
        return Err(mismatch());
    }
    let size = usize::try_from(descriptor.size_in_bytes).map_err(|_| mismatch())?;
    let payload = rest.get(..size).ok_or_else(mismatch)?;
    let crc = rest.get(size..size + 4).ok_or_else(mismatch)?;
    if crc != crc32fast::hash(payload).to_be_bytes() {
        return Err(DeltaError::new("DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH"));
    }
    Ok(payload)
}
