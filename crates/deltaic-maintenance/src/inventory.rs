//! Amazon S3 Inventory as a source of VACUUM's candidates: a manifest and its files, CSV (gzip) or Parquet, as a stream of
//! inventory rows.
//!
//! An inventory lists a whole bucket, so memory does not grow with it: files are read one after the other and in pieces, and
//! rows outside of the table are dropped where they are read. Only the newest versions count, and no delete markers. All that
//! is unclear ends the stream with an error, upon which VACUUM deletes nothing; what an inventory does not list stays.

mod columns;
mod csv;
mod manifest;
mod parquet;
mod sieve;
mod sum;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_storage::{Scheme, StorageFactory, TableStore};
use futures::{StreamExt, TryStreamExt, stream};

use self::manifest::{DataFile, Format, Manifest};
use self::sieve::Sieve;
use self::sum::Sum;
use crate::vacuum::InventoryStream;

/// The rows below a table of the inventory whose `manifest.json` is at `location`, without names that a listing of the table
/// would not show VACUUM.
///
/// The manifest's own bucket holds its files too, under the keys that it names. A copy on another store is found when the
/// folders around it are those of the bucket.
///
/// # Errors
/// A table that is not on S3; a manifest that is no JSON object of an S3 Inventory, is of another bucket, or names files as
/// ORC; a configuration without the fields that VACUUM needs; a store that fails. Errors in the files come with the stream.
pub async fn rows(
    factory: &StorageFactory,
    location: &str,
    snapshot: &Snapshot,
) -> Result<InventoryStream> {
    let table = snapshot.store().root();
    if table.scheme() != Scheme::S3 {
        return Err(refused(
            location,
            &format!("it is of an S3 bucket, and the table {table} is not in one"),
        ));
    }
    let (folder, name) = location
        .rsplit_once('/')
        .filter(|(_, name)| !name.is_empty())
        .ok_or_else(|| refused(location, "it is not the location of a file"))?;
    let store = factory.open(folder)?;
    let manifest = Manifest::parse(location, &store.data().read(name).await?)?;
    let sieve = Arc::new(Sieve::new(location, &manifest, snapshot)?);
    let base = base(&store, location, &manifest).await?;
    let files = manifest.files.into_iter().map(Ok);
    let format = manifest.format;
    Ok(stream::iter(files)
        .and_then(move |file: DataFile| {
            let (store, sieve) = (store.clone(), Arc::clone(&sieve));
            let path = format!("{base}{}", file.key);
            async move {
                check_size(&store, &path, &file).await?;
                let sum = Sum::new(store.root().display(&path), &file.md5);
                match &format {
                    Format::Csv(columns) => {
                        let columns = *columns;
                        Ok(csv::rows(store, path, file.size, columns, sieve, sum))
                    }
                    Format::Parquet => {
                        // Parquet is read from its end.
                        if let Some(sum) = sum {
                            sum.check(&store, &path, file.size).await?;
                        }
                        parquet::rows(store, path, file.size, sieve).await
                    }
                }
            }
        })
        .try_flatten()
        .boxed())
}

/// What stands before the keys of the files, `/` at its end.
async fn base(store: &TableStore, location: &str, manifest: &Manifest) -> Result<String> {
    let first = match manifest.files.first() {
        Some(first) if !store.root().scheme().is_cloud() => first,
        _ => return Ok("/".to_owned()),
    };
    let mut folder = store.root().path();
    loop {
        let base = format!("{}/", folder.trim_end_matches('/'));
        if let Some(meta) = store.data().stat(&format!("{base}{}", first.key)).await?
            && !meta.is_dir
        {
            return Ok(base);
        }
        match folder.rsplit_once('/') {
            Some((above, _)) if folder != "/" => folder = above,
            _ => break,
        }
    }
    Err(refused(
        location,
        &format!("its file {} is in no folder around it", first.key),
    )
    .with_kind(ErrorKind::NotFound))
}

/// A file that is not as long as the manifest says is not the one that it means.
async fn check_size(store: &TableStore, path: &str, file: &DataFile) -> Result<()> {
    let place = store.root().display(path);
    let found = store.data().stat(path).await?.filter(|meta| !meta.is_dir);
    match found {
        None => Err(
            refused(&place, "the manifest names it, and it is not there")
                .with_kind(ErrorKind::NotFound),
        ),
        Some(meta) if meta.size != file.size => Err(refused(
            &place,
            &format!(
                "it has {} bytes, and the manifest says {}",
                meta.size, file.size
            ),
        )
        .with_kind(ErrorKind::Corrupt)),
        Some(_) => Ok(()),
    }
}

/// The error of an inventory, or a file of one, that cannot be used.
fn refused(place: &str, reason: &str) -> DeltaError {
    DeltaError::unclassed(
        "java.lang.IllegalArgumentException",
        format!("The inventory {place} cannot be used: {reason}"),
    )
    .with_kind(ErrorKind::Data)
    .with_path(place)
    .with_hint("nothing was deleted; VACUUM without an inventory lists the table itself")
}
