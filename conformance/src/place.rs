//! Where a run keeps its warehouse: on the local disk, in memory, or on an object store of a test server. The directives of
//! scenarios see its files through [`Files`].

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use clap::ValueEnum;
use deltaic_session::SessionBuilder;
use deltaic_storage::cloud::CloudBackend;
use deltaic_storage::{StorageFactory, StorageOptions, TableStore, to_object_path};
use deltaic_testing::{Proxy, Server, onelake};
use futures::TryStreamExt;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::aged::AgedStore;

/// The kinds of stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Store {
    /// A folder of the local disk
    Local,
    /// The in-process store
    Memory,
    /// The S3 server that DELTAIC_TEST_S3 names
    S3,
    /// The Azure Blob Storage server that DELTAIC_TEST_AZURE names
    Azure,
    /// The same as OneLake, that DELTAIC_TEST_ONELAKE names
    Onelake,
}

impl Store {
    /// The variable that names its server.
    fn variable(self) -> Option<&'static str> {
        match self {
            Store::Local | Store::Memory => None,
            Store::S3 => Some("DELTAIC_TEST_S3"),
            Store::Azure => Some("DELTAIC_TEST_AZURE"),
            Store::Onelake => Some("DELTAIC_TEST_ONELAKE"),
        }
    }

    /// A text in which places of the warehouse are masked. On the local disk the reference prints some with a scheme and
    /// some without one; elsewhere it always prints one, so that the two are one mask.
    pub fn mask(self, text: String) -> String {
        match self {
            Store::Local => text,
            _ => text.replace("@WAREHOUSE_URI@", "@WAREHOUSE@"),
        }
    }

    /// Its name on the command line and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Store::Local => "local",
            Store::Memory => "memory",
            Store::S3 => "s3",
            Store::Azure => "azure",
            Store::Onelake => "onelake",
        }
    }
}

/// The files of a warehouse, by paths relative to it.
pub trait Files {
    /// All files below a folder, by their path in it, sorted, with their sizes. A folder that is not there has none.
    ///
    /// # Errors
    /// The store can not be read.
    fn list(&self, folder: &str) -> Result<Vec<(String, u64)>, String>;

    /// A file's text.
    ///
    /// # Errors
    /// It is missing or no text.
    fn read(&self, path: &str) -> Result<String, String>;

    /// Writes a file.
    ///
    /// # Errors
    /// The store can not be written.
    fn write(&self, path: &str, content: &[u8]) -> Result<(), String>;

    /// Removes a file.
    ///
    /// # Errors
    /// It is missing.
    fn remove(&self, path: &str) -> Result<(), String>;

    /// Gives a file a date.
    ///
    /// # Errors
    /// It is missing.
    fn set_time(&self, path: &str, time: SystemTime) -> Result<(), String>;
}

/// A warehouse of its own, which goes with this value where it is on the local disk.
pub struct Place {
    location: String,
    folder: TempDir,
    storage: StorageFactory,
    aged: Option<Arc<AgedStore>>,
    conf: Vec<(String, String)>,
    store: Store,
    /// What makes an Azure server behave as OneLake does.
    onelake: Option<Proxy>,
}

impl Place {
    /// An empty warehouse.
    ///
    /// # Errors
    /// No variable names the server, or its client can not be made.
    pub fn make(store: Store) -> Result<Self, String> {
        let folder = tempfile::Builder::new()
            .prefix("wh")
            .tempdir()
            .map_err(|e| e.to_string())?;
        let local = folder.path().canonicalize().map_err(|e| e.to_string())?;
        let mut place = Place {
            location: local.to_string_lossy().into_owned(),
            folder,
            storage: StorageFactory::default(),
            aged: None,
            conf: Vec::new(),
            store,
            onelake: None,
        };
        let name = place.name().to_owned();
        let Some(variable) = store.variable() else {
            if store == Store::Memory {
                place.location = format!("memory:/{name}");
            }
            return Ok(place);
        };
        let mut server = Server::named(variable)?;
        if store == Store::Onelake {
            let rules = onelake::rules(onelake::Options::default());
            let proxy = Proxy::start(&server.upstream()?, rules).map_err(|e| e.to_string())?;
            server = server.through(&proxy);
            place.onelake = Some(proxy);
        }
        place.location = match store {
            Store::Onelake => format!("{}/lh.Lakehouse/Tables/{name}", server.location),
            _ => format!("{}/{name}", server.location),
        };
        let options = StorageOptions {
            cloud: server.options,
            ..StorageOptions::default()
        };
        let plain = StorageFactory::new(&options);
        let root = plain.open(&place.location).map_err(|e| e.to_string())?;
        let prefix = root.root().prefix().to_owned();
        let aged = Arc::new(AgedStore::new(root.object_store()));
        place.storage = plain.with_bucket(&prefix, CloudBackend::new(aged.clone(), &prefix));
        place.aged = Some(aged);
        // As on other stores; the reference leaves the two commits out on S3 unless it is asked for them.
        place.conf.push((
            "spark.databricks.delta.vacuum.logging.enabled".to_owned(),
            "true".to_owned(),
        ));
        Ok(place)
    }

    fn name(&self) -> &str {
        self.folder
            .path()
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("wh")
    }

    /// The kind of store.
    pub fn store(&self) -> Store {
        self.store
    }

    /// The warehouse as a path or URL.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// The warehouse as the reference prints it: with a scheme.
    pub fn uri(&self) -> String {
        match self.store {
            Store::Local => format!("file:{}", self.location),
            _ => self.location.clone(),
        }
    }

    /// A session's builder on this warehouse.
    pub fn builder(&self) -> SessionBuilder {
        let mut builder = SessionBuilder::new(self.location.clone());
        builder.storage = self.storage.clone();
        builder.conf.clone_from(&self.conf);
        if self.store != Store::Local {
            builder.catalog_path = Some(self.folder.path().join("catalog.db"));
        }
        builder
    }

    /// The warehouse's files.
    ///
    /// # Errors
    /// The store can not be opened.
    pub fn files<'a>(&'a self, runtime: &'a Runtime) -> Result<Box<dyn Files + 'a>, String> {
        if self.store == Store::Local {
            return Ok(Box::new(Disk(PathBuf::from(&self.location))));
        }
        let root = self
            .storage
            .open(&self.location)
            .map_err(|e| e.to_string())?;
        Ok(Box::new(Objects {
            root,
            aged: self.aged.clone(),
            runtime,
        }))
    }

    /// Makes what lies in a local folder available beside the warehouse; its location.
    ///
    /// # Errors
    /// A file can not be read or written.
    pub fn upload(&self, runtime: &Runtime, folder: &Path, name: &str) -> Result<String, String> {
        if self.store == Store::Local {
            return Ok(folder.to_string_lossy().into_owned());
        }
        let files = self.files(runtime)?;
        let disk = Disk(folder.to_path_buf());
        for (path, _) in disk.list("")? {
            let content = fs::read(folder.join(&path)).map_err(|e| format!("{path}: {e}"))?;
            files.write(&format!("{name}/{path}"), &content)?;
            let time = fs::metadata(folder.join(&path)).and_then(|found| found.modified());
            files.set_time(&format!("{name}/{path}"), time.map_err(|e| e.to_string())?)?;
        }
        Ok(format!("{}/{name}", self.location))
    }
}

/// A folder of the local disk.
pub struct Disk(pub PathBuf);

impl Files for Disk {
    fn list(&self, folder: &str) -> Result<Vec<(String, u64)>, String> {
        let base = self.0.join(folder);
        let mut found = Vec::new();
        let mut folders = vec![base.clone()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries.flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let size = entry.metadata().map_err(|e| at(&path, e))?.len();
                let relative = path.strip_prefix(&base).unwrap_or(&path);
                found.push((relative.to_string_lossy().into_owned(), size));
            }
        }
        found.sort();
        Ok(found)
    }

    fn read(&self, path: &str) -> Result<String, String> {
        let path = self.0.join(path);
        fs::read_to_string(&path).map_err(|e| at(&path, e))
    }

    fn write(&self, path: &str, content: &[u8]) -> Result<(), String> {
        let path = self.0.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|e| at(parent, e))?;
        }
        fs::write(&path, content).map_err(|e| at(&path, e))
    }

    fn remove(&self, path: &str) -> Result<(), String> {
        let path = self.0.join(path);
        fs::remove_file(&path).map_err(|e| at(&path, e))?;
        if let Some(name) = path.file_name() {
            let checksum = path.with_file_name(format!(".{}.crc", name.to_string_lossy()));
            if checksum.exists() {
                fs::remove_file(&checksum).map_err(|e| at(&checksum, e))?;
            }
        }
        Ok(())
    }

    fn set_time(&self, path: &str, time: SystemTime) -> Result<(), String> {
        let path = self.0.join(path);
        let file = fs::OpenOptions::new().write(true).open(&path);
        file.and_then(|file| file.set_modified(time))
            .map_err(|e| at(&path, e))
    }
}

fn at(path: &Path, error: std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// A warehouse on a store without folders.
struct Objects<'a> {
    root: TableStore,
    aged: Option<Arc<AgedStore>>,
    runtime: &'a Runtime,
}

impl Files for Objects<'_> {
    fn list(&self, folder: &str) -> Result<Vec<(String, u64)>, String> {
        let listed = self.root.data().list(folder, None);
        let entries: Vec<_> = self
            .runtime
            .block_on(listed.try_collect())
            .map_err(|e: deltaic_protocol::error::DeltaError| e.to_string())?;
        let base = format!("{}/", folder.trim_end_matches('/'));
        let mut found: Vec<(String, u64)> = entries
            .into_iter()
            .filter(|entry| !entry.is_dir)
            .map(|entry| {
                let relative = entry.path.strip_prefix(&base).unwrap_or(&entry.path);
                (relative.to_owned(), entry.size)
            })
            .collect();
        found.sort();
        Ok(found)
    }

    fn read(&self, path: &str) -> Result<String, String> {
        let content = self
            .runtime
            .block_on(self.root.data().read(path))
            .map_err(|e| e.to_string())?;
        String::from_utf8(content.to_vec()).map_err(|e| format!("{path}: {e}"))
    }

    fn write(&self, path: &str, content: &[u8]) -> Result<(), String> {
        let content = Bytes::copy_from_slice(content);
        self.runtime
            .block_on(self.root.data().create(path, content))
            .map(|_| ())
            .map_err(|e| e.to_string())
    }

    fn remove(&self, path: &str) -> Result<(), String> {
        let data = self.root.data();
        self.runtime.block_on(async {
            match data.stat(path).await.map_err(|e| e.to_string())? {
                Some(_) => data
                    .delete_file(path)
                    .await
                    .map(|_| ())
                    .map_err(|e| e.to_string()),
                None => Err(format!("{path}: not there")),
            }
        })
    }

    fn set_time(&self, path: &str, time: SystemTime) -> Result<(), String> {
        let since = time
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        match &self.aged {
            Some(aged) => {
                let key = to_object_path(&self.root.root().absolute(path));
                aged.set_modified(&key, DateTime::<Utc>::from(time));
                Ok(())
            }
            None => {
                let millis = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
                self.runtime
                    .block_on(self.root.data().set_modified(path, millis))
                    .map_err(|e| e.to_string())
            }
        }
    }
}
