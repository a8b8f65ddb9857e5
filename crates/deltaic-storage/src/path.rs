//! Paths of data files: from the URI text in an action to a place in the store (protocol section 1.4, "Paths").
//!
//! The log writes `add.path` as a URI: relative to the table, or absolute with a scheme. It is decoded exactly once, so a
//! folder that is itself named `a%20b` stands as `a%2520b` in the log.

use deltaic_protocol::error::{DeltaError, Result};
use object_store::path::Path as ObjectPath;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::object_path::to_object_path;
use crate::root::{Scheme, TableRoot, no_backend, normalize, other_machine, split_scheme};

/// A file of a table, decoded: relative to the table's root, or absolute in the same backend.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DataPath {
    root: TableRoot,
    path: String,
}

impl DataPath {
    /// Decodes the path of an action. An absolute path below the root becomes relative.
    ///
    /// # Errors
    /// Another backend's scheme; a file of another machine; a relative path that leaves the table; bytes that are not UTF-8.
    pub fn resolve(root: &TableRoot, log_path: &str) -> Result<DataPath> {
        let place = match (root.own(log_path), split_scheme(log_path)) {
            (Some(path), _) => path,
            (None, Some((scheme, rest))) if rest.starts_with('/') => {
                return Err(match Scheme::parse(&scheme.to_lowercase()) {
                    Some(Scheme::File) if root.scheme() == Scheme::File => other_machine(log_path),
                    _ => no_backend(scheme, log_path),
                });
            }
            _ => log_path,
        };
        DataPath::from_decoded(root, &decode_uri_path(place)?)
    }

    /// A path that is decoded already.
    ///
    /// # Errors
    /// A relative path that leaves the table.
    pub fn from_decoded(root: &TableRoot, decoded: &str) -> Result<DataPath> {
        if decoded.starts_with('/') {
            let absolute = normalize(decoded);
            let path = match root.relativize(&absolute) {
                Some(relative) if !relative.is_empty() => relative.to_string(),
                _ => absolute,
            };
            return Ok(DataPath {
                root: root.clone(),
                path,
            });
        }
        let mut depth = 0i64;
        for part in decoded.split('/') {
            match part {
                "" | "." => {}
                ".." => depth -= 1,
                _ => depth += 1,
            }
            if depth < 0 {
                return Err(DeltaError::unclassed(
                    "java.lang.IllegalArgumentException",
                    format!("The path {decoded} lies outside of the table {root}"),
                )
                .with_path(root.to_string()));
            }
        }
        let plain = decoded
            .split('/')
            .all(|part| !matches!(part, "" | "." | ".."));
        let path = if plain {
            decoded.to_string()
        } else {
            normalize(decoded)[1..].to_string()
        };
        Ok(DataPath {
            root: root.clone(),
            path,
        })
    }

    /// The decoded path as [`crate::DataStore`] takes it: relative, or absolute with a leading `/`.
    pub fn as_str(&self) -> &str {
        &self.path
    }

    /// The path relative to the table, if the file lies in it.
    pub fn relative(&self) -> Option<&str> {
        (!self.path.starts_with('/')).then_some(self.path.as_str())
    }

    /// The absolute decoded path in the backend.
    pub fn absolute(&self) -> String {
        self.root.absolute(&self.path)
    }

    /// The file's address as Spark prints it in errors: with scheme, percent-encoded.
    pub fn uri(&self) -> String {
        self.root.place(&encode_uri_path(&self.absolute()))
    }

    /// The location of the file in [`crate::TableStore::object_store`]; exact for every name.
    pub fn object_path(&self) -> ObjectPath {
        to_object_path(&self.absolute())
    }
}

impl std::fmt::Display for DataPath {
    /// As Hadoop prints it: `file:/a/b/x.parquet`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.root.display(&self.path))
    }
}

/// Decodes percent escapes once. A percent sign without two hexadecimal digits stays as it is.
///
/// # Errors
/// The decoded bytes are not UTF-8.
pub fn decode_uri_path(text: &str) -> Result<String> {
    percent_decode_str(text)
        .decode_utf8()
        .map(|decoded| decoded.into_owned())
        .map_err(|error| {
            DeltaError::unclassed(
                "java.net.URISyntaxException",
                format!("Malformed escape in path {text}: {error}"),
            )
            .with_path(text)
        })
}

/// What `java.net.URI` quotes in a path, besides all that is not ASCII-printable. Characters outside of ASCII stay.
const QUOTED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Encodes a decoded path as `add.path` carries it (as `java.net.URI` does: characters outside of ASCII stay as they are).
pub fn encode_uri_path(decoded: &str) -> String {
    let mut out = String::with_capacity(decoded.len());
    for piece in decoded.split_inclusive(|c: char| !c.is_ascii()) {
        let ascii_end = piece
            .char_indices()
            .find(|(_, c)| !c.is_ascii())
            .map_or(piece.len(), |(at, _)| at);
        out.extend(utf8_percent_encode(&piece[..ascii_end], QUOTED));
        out.push_str(&piece[ascii_end..]);
    }
    out
}
