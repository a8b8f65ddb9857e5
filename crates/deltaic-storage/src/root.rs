//! The root of a table: which backend, and the absolute path in it, printed the way Hadoop prints paths.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use deltaic_protocol::error::{DeltaError, Result};

mod web;

/// The kinds of backends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// A path of the local file system.
    File,
    /// The in-process store.
    Memory,
    /// S3 and what speaks its protocol.
    S3,
    /// Azure Blob Storage (ADLS Gen2) and OneLake.
    Azure,
}

impl Scheme {
    /// The backend of a URL's scheme.
    pub(crate) fn parse(scheme: &str) -> Option<Scheme> {
        Some(match scheme {
            "file" => Scheme::File,
            "memory" => Scheme::Memory,
            "s3" | "s3a" | "s3n" => Scheme::S3,
            "abfs" | "abfss" | "az" | "azure" | "adl" | "wasb" | "wasbs" => Scheme::Azure,
            _ => return None,
        })
    }

    /// Whether it is a store on the network, with buckets or containers.
    pub fn is_cloud(self) -> bool {
        matches!(self, Scheme::S3 | Scheme::Azure)
    }
}

/// The bucket or container of a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// Name of the bucket, container or workspace.
    pub container: String,
    /// The storage account, where the location names one.
    pub account: Option<String>,
    /// OneLake.
    pub fabric: bool,
    /// The region, where the location names one.
    pub region: Option<String>,
    /// The address of the account, where it does not follow from its name.
    pub endpoint: Option<String>,
}

/// An absolute place in a backend: decoded path, no `.`/`..` segments, no slash at the end (the file system's root is `/`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableRoot {
    scheme: Scheme,
    /// What stands before the path when it is printed: `file:`, `s3a://bucket`.
    prefix: String,
    path: String,
    region: Aside,
}

/// What a location says beside the place: two that differ in it are the same place.
#[derive(Debug, Clone, Default)]
struct Aside(Option<String>);

impl PartialEq for Aside {
    fn eq(&self, _other: &Aside) -> bool {
        true
    }
}

impl Eq for Aside {}

impl Ord for Aside {
    fn cmp(&self, _other: &Aside) -> Ordering {
        Ordering::Equal
    }
}

impl PartialOrd for Aside {
    fn partial_cmp(&self, other: &Aside) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Aside {
    fn hash<H: Hasher>(&self, _state: &mut H) {}
}

impl TableRoot {
    /// The root for a local or in-process backend and an absolute decoded path; the path is normalised.
    pub fn new(scheme: Scheme, path: &str) -> TableRoot {
        let prefix = match scheme {
            Scheme::Memory => "memory:",
            _ => "file:",
        };
        TableRoot {
            scheme,
            prefix: prefix.to_owned(),
            path: normalize(path),
            region: Aside::default(),
        }
    }

    /// Reads a path or URL as Hadoop does: `/a/b`, `file:/a/b`, `file:///a/b`, `memory:/x`, `s3://bucket/a`,
    /// `abfss://container@account.dfs.core.windows.net/a`; a path without a leading slash is taken from the working
    /// directory. Percent signs are characters like others.
    ///
    /// Web addresses of S3, Azure and OneLake are read too, with percent escapes, and become the same place as its Hadoop
    /// form: `https://onelake.dfs.fabric.microsoft.com/WORKSPACE/ITEM/Tables/t` is
    /// `abfss://WORKSPACE@onelake.dfs.fabric.microsoft.com/ITEM/Tables/t`.
    ///
    /// # Errors
    /// A scheme without a backend, a file of another machine, a URL without bucket or container or with credentials, a web address with a query.
    pub fn parse(location: &str) -> Result<TableRoot> {
        let Some((written, rest)) = split_scheme(location) else {
            return Ok(TableRoot::new(Scheme::File, &absolute_local(location)));
        };
        match Scheme::parse(&written.to_lowercase()) {
            Some(Scheme::File) => match of_this_machine(rest) {
                Some(path) => Ok(TableRoot::new(Scheme::File, &absolute_local(path))),
                None => Err(other_machine(location)),
            },
            Some(Scheme::Memory) => Ok(TableRoot::new(Scheme::Memory, in_process(rest))),
            Some(scheme) => {
                let (authority, path) = authority_of(rest).ok_or_else(|| no_bucket(location))?;
                match authority.rsplit_once('@') {
                    Some((user, bucket)) if user.contains(':') => {
                        return Err(with_secrets(written, bucket, path));
                    }
                    // No bucket has a colon: what follows it is the beginning of a secret with a slash in it.
                    None if authority.contains(':') => {
                        let bucket = path.rsplit_once('@').map_or("", |(_, rest)| rest);
                        return Err(with_secrets(written, bucket, ""));
                    }
                    _ => {}
                }
                Ok(TableRoot {
                    scheme,
                    prefix: format!("{}://{authority}", written.to_lowercase()),
                    path: normalize(path),
                    region: Aside::default(),
                })
            }
            None if written.eq_ignore_ascii_case("https") => {
                let place = web::place(location, rest)?;
                Ok(TableRoot {
                    scheme: place.scheme,
                    prefix: place.prefix,
                    path: normalize(&place.path),
                    region: Aside(place.region),
                })
            }
            None => Err(no_backend(written, location)),
        }
    }

    /// The bucket or container of a place in the cloud; an empty one elsewhere.
    pub fn bucket(&self) -> Bucket {
        let authority = self.prefix.split_once("://").map_or("", |(_, rest)| rest);
        match authority.split_once('@') {
            Some((container, host)) => Bucket {
                container: container.to_owned(),
                account: host.split('.').next().map(str::to_owned),
                fabric: host.ends_with("fabric.microsoft.com"),
                region: None,
                endpoint: web::private_endpoint(host),
            },
            None => Bucket {
                container: authority.to_owned(),
                account: None,
                fabric: false,
                region: self.region.0.clone(),
                endpoint: None,
            },
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
        TableRoot {
            path: normalize(&format!("{}/{relative}", self.path)),
            ..self.clone()
        }
    }

    /// What stands before the path when it is printed: `file:`, `s3a://bucket`.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// An absolute decoded path of this backend as Hadoop prints it.
    pub fn place(&self, absolute: &str) -> String {
        format!("{}{absolute}", self.prefix)
    }

    /// The path part of an absolute URI text, if it lies in the same bucket, container or disk as this root. Percent
    /// escapes stay as they are.
    pub(crate) fn own<'a>(&self, uri: &'a str) -> Option<&'a str> {
        let (written, rest) = split_scheme(uri)?;
        let scheme = Scheme::parse(&written.to_lowercase())?;
        if scheme != self.scheme {
            return None;
        }
        match scheme {
            Scheme::File => return of_this_machine(rest),
            Scheme::Memory => return Some(in_process(rest)),
            _ => {}
        }
        let (authority, path) = authority_of(rest)?;
        let mine = self.prefix.split_once("://").map(|(_, rest)| rest);
        (mine == Some(authority)).then_some(path)
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
        self.place(&self.absolute(path))
    }
}

impl fmt::Display for TableRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.prefix, self.path)
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

/// Authority and path of `//authority/path`; nothing where there is no authority.
fn authority_of(rest: &str) -> Option<(&str, &str)> {
    let after = rest.strip_prefix("//")?;
    let (authority, path) = match after.find('/') {
        Some(at) => after.split_at(at),
        None => (after, "/"),
    };
    (!authority.is_empty()).then_some((authority, path))
}

/// The path of a file of this machine, which may say so: `/a`, `///a` and `//localhost/a` are `/a`. Nothing for `//host/a`.
fn of_this_machine(rest: &str) -> Option<&str> {
    match authority_of(rest) {
        Some((host, path)) => host.eq_ignore_ascii_case("localhost").then_some(path),
        None => Some(rest.strip_prefix("//").unwrap_or(rest)),
    }
}

/// Without the slashes of an authority, which has no meaning within a process: `///a` and `//a` both become `/a`.
fn in_process(rest: &str) -> &str {
    match rest.strip_prefix("//") {
        Some(after) if after.starts_with('/') => after,
        Some(_) => &rest[1..],
        None => rest,
    }
}

/// The error for a file of another machine, with Hadoop's text.
pub(crate) fn other_machine(location: &str) -> DeltaError {
    DeltaError::unclassed(
        "java.lang.IllegalArgumentException",
        format!("Wrong FS: {location}, expected: file:///"),
    )
    .with_path(location)
    .with_hint("the file lies on another machine; file:/PATH is a file of this one")
}

/// The error for a location whose scheme has no backend, with Hadoop's text.
pub(crate) fn no_backend(scheme: &str, location: &str) -> DeltaError {
    DeltaError::unclassed(
        "org.apache.hadoop.fs.UnsupportedFileSystemException",
        format!("No FileSystem for scheme \"{scheme}\""),
    )
    .with_path(location)
    .with_hint(
        "supported locations are local paths, file:, memory:, s3:, s3a:, abfs:, abfss:, az:, and https: addresses of S3, Azure and \
         OneLake",
    )
}

/// The error for a URL of an object store that names no bucket.
fn no_bucket(location: &str) -> DeltaError {
    DeltaError::unclassed(
        "java.lang.IllegalArgumentException",
        format!("The location {location} names no bucket or container"),
    )
    .with_path(location)
    .with_hint("s3://BUCKET/PATH, abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH")
}

/// The error for a location with a user and a password, which it does not repeat.
fn with_secrets(scheme: &str, bucket: &str, path: &str) -> DeltaError {
    let location = format!("{scheme}://{bucket}{path}");
    DeltaError::unclassed(
        "java.lang.IllegalArgumentException",
        format!("The location {location} was given with credentials in it"),
    )
    .with_path(location)
    .with_hint("give credentials as options (aws_access_key_id, aws_secret_access_key) or variables, and the location without them")
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
