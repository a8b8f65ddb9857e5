//! Whole-file operations of the local disk, blocking.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

/// A name for an unfinished write beside `target`; short, so that it fits wherever the target's name fits.
pub(super) fn temporary_beside(target: &Path) -> PathBuf {
    let name = format!(".{}.tmp", uuid::Uuid::new_v4().simple());
    match target.parent() {
        Some(parent) => parent.join(name),
        None => PathBuf::from(name),
    }
}

/// Runs `make`, making the parent folder of `target` when it is missing. Another process may remove an empty folder in
/// between, so this is tried a few times.
pub(super) fn with_parent<T>(
    target: &Path,
    mut make: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    let mut tries = 0;
    loop {
        match make() {
            Err(error) if error.kind() == ErrorKind::NotFound && tries < 5 => {
                tries += 1;
                if let Some(parent) = target.parent() {
                    std::fs::create_dir_all(parent)?;
                }
            }
            other => return other,
        }
    }
}

/// Opens a file for writing that must not exist.
pub(super) fn open_new(target: &Path) -> io::Result<File> {
    with_parent(target, || {
        OpenOptions::new().write(true).create_new(true).open(target)
    })
}

/// Writes a temporary file beside `target`.
fn write_temporary(
    target: &Path,
    content: &[Bytes],
    durable: bool,
    folders: Folders,
) -> io::Result<PathBuf> {
    let open = || {
        let temporary = temporary_beside(target);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)?;
        Ok((file, temporary))
    };
    let (mut file, temporary) = match folders {
        Folders::Make => with_parent(target, open)?,
        Folders::Need => open()?,
    };
    let written = write_all(&mut file, content, durable);
    drop(file);
    match written {
        Ok(()) => Ok(temporary),
        Err(error) => {
            let _ = std::fs::remove_file(&temporary);
            Err(error)
        }
    }
}

fn write_all(file: &mut File, content: &[Bytes], durable: bool) -> io::Result<()> {
    for piece in content {
        file.write_all(piece)?;
    }
    if durable { file.sync_all() } else { Ok(()) }
}

/// What to do where the folder of a new file is not there.
#[derive(Debug, Clone, Copy)]
pub(super) enum Folders {
    Make,
    /// Fail.
    Need,
}

/// Put-if-absent, whole or not at all; `false` if the name is taken.
pub(super) fn create(
    target: &Path,
    content: &[Bytes],
    durable: bool,
    folders: Folders,
) -> io::Result<bool> {
    // A name that is taken is seen without writing a byte; the link decides the races.
    if std::fs::symlink_metadata(target).is_ok() {
        return Ok(false);
    }
    let temporary = write_temporary(target, content, durable, folders)?;
    let linked = std::fs::hard_link(&temporary, target);
    let outcome = match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) if no_hard_links(&error) => {
            create_without_links(&temporary, target, content, durable)
        }
        Err(error) => Err(error),
    };
    let _ = std::fs::remove_file(&temporary);
    if durable && matches!(outcome, Ok(true)) {
        sync_parent(target);
    }
    outcome
}

/// Whether an error of `link` says that this file system has no hard links.
fn no_hard_links(error: &io::Error) -> bool {
    // EPERM is what Linux answers on file systems without links (FAT, some FUSE and network mounts).
    matches!(
        error.kind(),
        ErrorKind::Unsupported | ErrorKind::PermissionDenied | ErrorKind::TooManyLinks
    )
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn create_without_links(
    temporary: &Path,
    target: &Path,
    content: &[Bytes],
    durable: bool,
) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, temporary, CWD, target, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            create_in_place(target, content, durable)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn create_without_links(
    _: &Path,
    target: &Path,
    content: &[Bytes],
    durable: bool,
) -> io::Result<bool> {
    create_in_place(target, content, durable)
}

/// Creates a file exclusively and writes it in place; `false` if the name is taken. A failed write removes the file, a
/// crash leaves a part of it.
pub(super) fn create_in_place(target: &Path, content: &[Bytes], durable: bool) -> io::Result<bool> {
    let mut file = match open_new(target) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(error),
    };
    match write_all(&mut file, content, durable) {
        Ok(()) => Ok(true),
        Err(error) => {
            drop(file);
            let _ = std::fs::remove_file(target);
            Err(error)
        }
    }
}

/// Atomic replacement.
pub(super) fn replace(
    target: &Path,
    content: &[Bytes],
    durable: bool,
    folders: Folders,
) -> io::Result<()> {
    let temporary = write_temporary(target, content, durable, folders)?;
    match std::fs::rename(&temporary, target) {
        Ok(()) => {
            if durable {
                sync_parent(target);
            }
            Ok(())
        }
        Err(error) => {
            let _ = std::fs::remove_file(&temporary);
            Err(error)
        }
    }
}

/// Makes a new directory entry durable. Not every file system can sync a folder; the file's content is safe either way.
fn sync_parent(target: &Path) {
    if let Some(parent) = target.parent()
        && let Ok(folder) = File::open(parent)
    {
        let _ = folder.sync_all();
    }
}

/// The whole content.
pub(super) fn read(path: &Path) -> io::Result<Bytes> {
    Ok(Bytes::from(std::fs::read(path)?))
}

/// A part of the content, cut at the end of the file.
pub(super) fn read_range(path: &Path, range: Range<u64>) -> io::Result<Bytes> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(range.start))?;
    let length = range.end.saturating_sub(range.start);
    let mut content = Vec::with_capacity(usize::try_from(length.min(1 << 26)).unwrap_or(0));
    file.take(length).read_to_end(&mut content)?;
    Ok(Bytes::from(content))
}

/// Milliseconds since 1970 of a modification time; also before 1970.
pub(super) fn modified_ms(metadata: &std::fs::Metadata) -> i64 {
    let Ok(time) = metadata.modified() else {
        return 0;
    };
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    }
}

/// Sets the modification time of a file or directory.
pub(super) fn set_modified(path: &Path, modified_ms: i64) -> io::Result<()> {
    let distance = Duration::from_millis(modified_ms.unsigned_abs());
    let time: SystemTime = if modified_ms < 0 {
        UNIX_EPOCH - distance
    } else {
        UNIX_EPOCH + distance
    };
    File::open(path)?.set_modified(time)
}
