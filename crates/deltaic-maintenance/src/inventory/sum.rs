//! The sums by which a manifest knows its files: a file that has changed since is not the one that it means.

use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_storage::TableStore;
use md5::{Digest, Md5};

use super::refused;

/// Bytes of a file that one request fetches.
const PIECE: u64 = 4 << 20;

/// The sum of a file that is being read.
pub(super) struct Sum {
    place: String,
    expected: String,
    seen: Md5,
}

impl Sum {
    /// For a file at a place, if the manifest has a sum (`MD5checksum`, hexadecimal) for it.
    pub(super) fn new(place: String, expected: &str) -> Option<Sum> {
        let expected = expected.trim().to_ascii_lowercase();
        (!expected.is_empty()).then(|| Sum {
            place,
            expected,
            seen: Md5::new(),
        })
    }

    /// The next bytes of the file.
    pub(super) fn take(&mut self, piece: &[u8]) {
        self.seen.update(piece);
    }

    /// Nothing follows.
    ///
    /// # Errors
    /// The file is not the one that the manifest means.
    pub(super) fn end(self) -> Result<()> {
        let seen = self.seen.finalize();
        let seen: String = seen.iter().map(|byte| format!("{byte:02x}")).collect();
        match seen == self.expected {
            true => Ok(()),
            false => Err(changed(&self.place)),
        }
    }

    /// Reads a whole file for its sum, where it is read in no order afterwards.
    ///
    /// # Errors
    /// The file cannot be read, or is not the one that the manifest means.
    pub(super) async fn check(mut self, store: &TableStore, path: &str, size: u64) -> Result<()> {
        let mut at = 0;
        while at < size {
            let end = (at + PIECE).min(size);
            self.take(&store.data().read_range(path, at..end).await?);
            at = end;
        }
        self.end()
    }
}

fn changed(place: &str) -> DeltaError {
    refused(
        place,
        "its MD5 sum is not the one that the manifest says: it was changed or damaged",
    )
    .with_kind(ErrorKind::Corrupt)
}
