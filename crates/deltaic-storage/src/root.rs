//! The root of a table: which backend, and the absolute path in it, printed the way Hadoop prints paths.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use deltaic_protocol::error::{DeltaError, Result};
use percent_encoding::percent_decode_str;

mod container;
mod credentials;
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

impl Bucket {
    /// Whether two spellings may mean one bucket. An account that one of them leaves out is in the options.
    fn may_be(&self, other: &Bucket) -> bool {
        let same = |one: &str, other: &str| one.eq_ignore_ascii_case(other);
        if self.fabric && other.fabric {
            // Hosts differ by region; a workspace has a name and an identifier.
            return same(&self.container, &other.container)
                || is_identifier(&self.container) != is_identifier(&other.container);
        }
        let accounts = self.account.as_deref().zip(other.account.as_deref());
        same(&self.container, &other.container)
            && accounts.is_none_or(|(one, other)| same(one, other))
    }
}

/// An absolute place in a backend: decoded path, no `.`/`..` segments, no slash at the end (the file system's root is `/`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableRoot {
    scheme: Scheme,
    /// What stands before the path when it is printed: `file:`, `s3a://bucket`.
    prefix: String,
    path: String,
    aside: Aside,
}

/// What a location says beside the place: two that differ in it are the same place.
#[derive(Debug, Clone, Default)]
struct Aside {
    region: Option<String>,
    /// The account of locations that name a container alone, as the options have it.
    account: Option<String>,
}

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
            aside: Aside::default(),
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
    /// A scheme without a backend, a file of another machine, a URL without bucket or container or with
    /// credentials or a signature, a web address with a query.
    pub fn parse(location: &str) -> Result<TableRoot> {
        let Some((written, rest)) = split_scheme(location) else {
            return Ok(TableRoot::new(Scheme::File, &absolute_local(location)));
        };
        if let Some(refusal) = credentials::refusal(written, rest) {
            return Err(refusal);
        }
        match Scheme::parse(&written.to_lowercase()) {
            Some(Scheme::File) => match of_this_machine(rest) {
                Some(path) => Ok(TableRoot::new(Scheme::File, &absolute_local(path))),
                None => Err(other_machine(location)),
            },
            Some(Scheme::Memory) => Ok(TableRoot::new(Scheme::Memory, in_process(rest))),
            Some(scheme) => {
                let (authority, path) = authority_of(rest)
                    .filter(|(authority, _)| names_bucket(scheme, authority))
                    .ok_or_else(|| no_bucket(location))?;
                Ok(TableRoot {
                    scheme,
                    prefix: format!("{}://{authority}", written.to_lowercase()),
                    path: normalize(path),
                    aside: Aside::default(),
                })
            }
            None if written.eq_ignore_ascii_case("https") => {
                let place = web::place(location, rest)?;
                Ok(TableRoot {
                    scheme: place.scheme,
                    prefix: place.prefix,
                    path: normalize(&place.path),
                    aside: Aside {
                        region: place.region,
                        account: None,
                    },
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
                endpoint: web::endpoint(host),
            },
            None => Bucket {
                container: authority.to_owned(),
                account: None,
                fabric: false,
                region: self.aside.region.clone(),
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
        match Scheme::parse(&written.to_lowercase()) {
            Some(scheme) if scheme != self.scheme => return None,
            Some(Scheme::File) => return of_this_machine(rest),
            Some(Scheme::Memory) => return Some(in_process(rest)),
            Some(_) => {}
            None if written.eq_ignore_ascii_case("https") => {}
            None => return None,
        }
        let (authority, path) = authority_of(rest)?;
        if self.prefix.split_once("://") == Some((written, authority)) {
            return Some(path);
        }
        let other = TableRoot::parse(uri).ok()?;
        if other.scheme != self.scheme || !self.is_in_container_of(&other) {
            return None;
        }
        if !written.eq_ignore_ascii_case("https") {
            return Some(path);
        }
        // A web address may have the container before the path.
        let decoded = percent_decode_str(path).decode_utf8().ok()?;
        let is_all = normalize(&decoded) == other.path;
        let inner = || Some(&path[path.get(1..)?.find('/')? + 1..]);
        if is_all { Some(path) } else { inner() }
    }

    /// Whether both lie in one bucket or container, however their locations spell it.
    fn is_in_container_of(&self, other: &TableRoot) -> bool {
        let authority = |root: &TableRoot| {
            root.prefix
                .split_once("://")
                .map(|(_, rest)| rest.to_owned())
        };
        let (Some(mine), Some(theirs)) = (authority(self), authority(other)) else {
            return false;
        };
        let account = self.aside.account.as_deref();
        mine == theirs
            || (self.scheme == Scheme::Azure && container::is_same(&mine, &theirs, account))
    }

    /// Whether the path of an action that cannot be resolved may all the same mean a file of this root's bucket, container or disk:
    /// by another spelling of it, or by a scheme of which nobody here knows where it leads. False only for what is another place
    /// for certain.
    pub fn may_hold(&self, uri: &str) -> bool {
        let Some((written, _)) = split_scheme(uri) else {
            return true;
        };
        match Scheme::parse(&written.to_lowercase()) {
            Some(scheme) if scheme != self.scheme => false,
            None if !written.to_lowercase().starts_with("http") => true,
            None if !self.scheme.is_cloud() => false,
            _ => TableRoot::parse(uri).map_or(true, |other| {
                other.scheme == self.scheme && self.bucket().may_be(&other.bucket())
            }),
        }
    }

    /// Whether an absolute decoded path, which is not below this root by its letters, may be so by another name: an item of OneLake
    /// has a name and an identifier.
    pub fn may_be_below(&self, absolute: &str) -> bool {
        let item = |path: &str| {
            let (item, inside) = path.strip_prefix('/')?.split_once('/')?;
            Some((item.to_owned(), inside.to_owned()))
        };
        let (Some((mine, folder)), Some((theirs, place))) = (item(&self.path), item(absolute))
        else {
            return false;
        };
        let below = |folder: &str, place: &str| {
            let begins = place.get(..folder.len());
            begins.is_some_and(|begins| begins.eq_ignore_ascii_case(folder))
                && place[folder.len()..].starts_with('/')
        };
        self.bucket().fabric
            && (is_identifier(&mine) != is_identifier(&theirs)
                || mine.eq_ignore_ascii_case(&theirs))
            && below(&folder, &place)
    }

    /// The root with the account that the options name, for locations that name a container alone.
    pub(crate) fn with_account(mut self, account: Option<String>) -> TableRoot {
        self.aside.account = account;
        self
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

/// Whether a name of OneLake is the identifier of a workspace or an item.
fn is_identifier(name: &str) -> bool {
    name.len() == 36
        && name.char_indices().all(|(at, c)| match at {
            8 | 13 | 18 | 23 => c == '-',
            _ => c.is_ascii_hexdigit(),
        })
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

/// Whether an authority has the name of a bucket or container, and of an account where it has room for one. An address of a
/// server, with a port or in brackets, is none.
fn names_bucket(scheme: Scheme, authority: &str) -> bool {
    match authority.split_once('@') {
        Some((container, host)) => !container.is_empty() && !host.is_empty(),
        None => scheme != Scheme::S3 || !authority.contains([':', '[', ']']),
    }
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
    .with_hint(
        "s3://BUCKET/PATH, abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH; the address of a server is given by the option \
         aws_endpoint or azure_endpoint",
    )
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
