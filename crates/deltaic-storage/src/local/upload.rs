//! Multipart writes on the local disk.
//!
//! A new file grows under its final name (a writer's name is unique, and what a crash leaves there VACUUM removes). Only
//! when the name is taken the parts go to a temporary file that replaces it at the end.

use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path as OsPath, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::FutureExt;
use object_store::{Error, MultipartUpload, PutPayload, PutResult, Result, UploadPart};

use super::failure::object_error;
use super::fs;

/// An upload that has begun.
#[derive(Debug)]
pub(super) struct LocalUpload {
    target: PathBuf,
    /// Where the parts are written; equal to `target` for a new file.
    writing: PathBuf,
    file: Arc<Mutex<Option<File>>>,
    offset: u64,
    durable: bool,
}

impl LocalUpload {
    /// Opens the file for the parts.
    pub(super) fn start(target: &OsPath, durable: bool) -> io::Result<LocalUpload> {
        let (writing, file) = match fs::open_new(target) {
            Ok(file) => (target.to_path_buf(), file),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let temporary = fs::temporary_beside(target);
                let file = fs::open_new(&temporary)?;
                (temporary, file)
            }
            Err(error) => return Err(error),
        };
        let target = target.to_path_buf();
        Ok(LocalUpload {
            target,
            writing,
            file: Arc::new(Mutex::new(Some(file))),
            offset: 0,
            durable,
        })
    }
}

async fn blocking<T, F>(path: PathBuf, work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> io::Result<T> + Send + 'static,
{
    tokio::task::spawn_blocking(move || work().map_err(|error| object_error(&path, error)))
        .await
        .map_err(|source| Error::JoinError { source })?
}

fn closed() -> io::Error {
    io::Error::other("the upload has ended already")
}

#[async_trait]
impl MultipartUpload for LocalUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let offset = self.offset;
        self.offset += data.content_length() as u64;
        let file = Arc::clone(&self.file);
        blocking(self.writing.clone(), move || {
            let mut guard = file.lock().unwrap_or_else(PoisonError::into_inner);
            let file = guard.as_mut().ok_or_else(closed)?;
            file.seek(SeekFrom::Start(offset))?;
            data.iter().try_for_each(|piece| file.write_all(piece))
        })
        .boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let file = self
            .file
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let (writing, target, durable) = (self.writing.clone(), self.target.clone(), self.durable);
        blocking(self.target.clone(), move || {
            let file = file.ok_or_else(closed)?;
            if durable {
                file.sync_all()?;
            }
            drop(file);
            if writing == target {
                Ok(())
            } else {
                std::fs::rename(&writing, &target)
            }
        })
        .await?;
        Ok(PutResult {
            e_tag: None,
            version: None,
        })
    }

    async fn abort(&mut self) -> Result<()> {
        drop(
            self.file
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        let writing = self.writing.clone();
        blocking(self.writing.clone(), move || {
            match std::fs::remove_file(&writing) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        })
        .await
    }
}
