//! The root of a table: which backend, and the absolute path in it, printed the way Hadoop prints paths.

use std::fmt;

use deltaic_protocol::error::{DeltaError, Result};

/// The backends of this release. S3 and Azure join here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// A path of the local file system.
    File,
    /// The in-process store.
    Memory,
}

impl Scheme {
    /// The scheme as it stands before the colon.
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::File => "file",
            Scheme::Memory => "memory",
        }
    }
}

/// An absolute place in a backend: decoded path, no `.`/`..` segments, no slash at the end (the file system's root is `/`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableRoot {
    scheme: Scheme,
    path: String,
}

impl TableRoot {
    /// The root for a scheme and an absolute decoded path; the path is normalised.
    pub fn new(scheme: Scheme, path: &str) -> TableRoot {
        TableRoot {
            scheme,
            path: normalize(path),
        }
    }

    /// Reads a path or URL as Hadoop does: `/a/b`, `file:/a/b`, `file:///a/b`, `memory:/x`; a path without a leading slash
    /// is taken from the working directory. Percent signs are characters like others.
    ///
    /// # Errors
    /// A scheme without a backend.
    pub fn parse(location: &str) -> Result<TableRoot> {
        match split_scheme(location) {
            Some(("file", rest)) => Ok(TableRoot::new(
                Scheme::File,
                &absolute_local(strip_authority(rest)),
            )),
            Some(("memory", rest)) => Ok(TableRoot::new(Scheme::Memory, strip_authority(rest))),
            Some((scheme, _)) => Err(no_backend(scheme, location)),
            None => Ok(TableRoot::new(Scheme::File, &absolute_local(location))),
        }
    }

    /// The backend.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The absolute decoded path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The last segment of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The root with further segments.
    pub fn join(&self, relative: &str) -> TableRoot {
        TableRoot::new(self.scheme, &format!("{}/{}", self.path, relative))
    }

    /// `path` relative to this root, if it lies below it; both absolute.
    pub fn relativize<'a>(&self, path: &'a str) -> Option<&'a str> {
        let base = self.path.strip_suffix('/').unwrap_or(&self.path);
        path.strip_prefix(base)?.strip_prefix('/')
    }

    /// The absolute path of a relative one; an absolute one stays.
    pub fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') {
            path.to_string()
        } else if path.is_empty() {
            self.path.clone()
        } else if self.path == "/" {
            format!("/{path}")
        } else {
            format!("{}/{}", self.path, path)
        }
    }

    /// How Hadoop prints a file of this table: `file:/a/b/p=1/x.parquet`.
    pub fn display(&self, path: &str) -> String {
        format!("{}:{}", self.scheme.as_str(), self.absolute(path))
    }
}

impl fmt::Display for TableRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.scheme.as_str(), self.path)
    }
}

/// Splits `scheme:rest` where the text before the colon is a URI scheme of at least two characters.
pub(crate) fn split_scheme(location: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = location.split_once(':')?;
    let mut chars = scheme.chars();
    let first = chars.next()?;
    let valid = first.is_ascii_alphabetic()
        && scheme.len() > 1
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    valid.then_some((scheme, rest))
}

/// Drops an empty authority: `///a` and `//a` (host `a` has no meaning for these backends) both become `/a`.
pub(crate) fn strip_authority(rest: &str) -> &str {
    match rest.strip_prefix("//") {
        Some(after) => match after.find('/') {
            Some(0) => after,
            _ => &rest[1..],
        },
        None => rest,
    }
}

/// The error for a location whose scheme has no backend, with Hadoop's text.
pub(crate) fn no_backend(scheme: &str, location: &str) -> DeltaError {
    DeltaError::unclassed(
        "org.apache.hadoop.fs.UnsupportedFileSystemException",
        format!("No FileSystem for scheme \"{scheme}\""),
    )
    .with_path(location)
    .with_hint("supported locations are local paths, file: and memory:")
}

fn absolute_local(path: &str) -> String {
    if path.starts_with('/') {
        return path.to_string();
    }
    match std::env::current_dir() {
        Ok(dir) => format!("{}/{}", dir.to_string_lossy(), path),
        Err(_) => format!("/{path}"),
    }
}

/// An absolute path with one slash between segments, without `.` and `..`.
pub(crate) fn normalize(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    format!("/{}", parts.join("/"))
}
