//! A session: a catalog, settings, temporary views, and the snapshots that were read last.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::prelude::SessionContext;
use deltaic_command::Profile;
use deltaic_log::Later;
use deltaic_protocol::clock::{Clock, SystemClock};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_storage::StorageFactory;
use deltaic_storage::cloud::is_cloud_option;

use crate::cache::SnapshotCache;
use crate::catalog::{Catalog, DEFAULT_SCHEMA, SESSION_CATALOG, SchemaName, ViewRecord, Warehouse};
use crate::conf::SessionConf;
use crate::engine;

/// How a session is made. Fields that are left alone have the usual values.
#[derive(Debug, Clone)]
pub struct SessionBuilder {
    /// Root folder of the warehouse: a path or a URL.
    pub warehouse: String,
    /// The catalog database; `<warehouse>/.deltaic/catalog.db` where none is named. A warehouse that is not on a local
    /// disk needs one.
    pub catalog_path: Option<PathBuf>,
    /// The release whose answers are given.
    pub profile: Profile,
    /// The present.
    pub clock: Arc<dyn Clock>,
    /// Settings that the session starts with, and options of object stores (`AWS_*`, `AZURE_*`, `fs.s3a.*`, `fs.azure.*`).
    pub conf: Vec<(String, String)>,
    /// Where tables are opened.
    pub storage: StorageFactory,
    /// The user's name.
    pub user: String,
    /// Memory of the session's statements in bytes: operators that hold many rows write them to temporary files when a third of
    /// it is reserved. `None` leaves them as much as they ask for.
    pub memory_limit: Option<u64>,
}

impl Default for SessionBuilder {
    fn default() -> Self {
        SessionBuilder {
            warehouse: "spark-warehouse".to_owned(),
            catalog_path: None,
            profile: Profile::default(),
            clock: Arc::new(SystemClock),
            conf: Vec::new(),
            storage: StorageFactory::default(),
            user: std::env::var("USER").unwrap_or_else(|_| "root".to_owned()),
            memory_limit: None,
        }
    }
}

impl SessionBuilder {
    /// A builder for a warehouse.
    pub fn new(warehouse: impl Into<String>) -> Self {
        SessionBuilder {
            warehouse: warehouse.into(),
            ..SessionBuilder::default()
        }
    }

    /// Makes the session. Nothing is opened or made on disk before the first statement that needs it.
    ///
    /// # Errors
    /// A warehouse whose scheme has no backend, or a setting with a value that it does not take.
    pub fn build(self) -> Result<Session> {
        let root = deltaic_storage::TableRoot::parse(&self.warehouse)?;
        let file = match self.catalog_path {
            Some(file) => file,
            None if root.scheme() == deltaic_storage::Scheme::File => PathBuf::from(root.path())
                .join(".deltaic")
                .join("catalog.db"),
            None if root.scheme() == deltaic_storage::Scheme::Memory => {
                std::env::temp_dir().join(format!("deltaic-{}.db", uuid::Uuid::new_v4()))
            }
            None => {
                return Err(DeltaError::unclassed(
                    "java.lang.IllegalArgumentException",
                    format!("The warehouse {root} is in an object store: its catalog needs a place on a local disk"),
                )
                .with_path(root.to_string())
                .with_hint("--catalog PATH, or DELTAIC_CATALOG, names the file of the catalog"));
            }
        };
        let warehouse = match root.scheme() {
            deltaic_storage::Scheme::File => root.path().to_owned(),
            _ => root.to_string(),
        };
        // Options of object stores hold secrets: they are no settings that SET shows.
        let (options, settings): (Vec<_>, Vec<_>) = self
            .conf
            .into_iter()
            .partition(|(key, _)| is_cloud_option(key));
        let conf = SessionConf::new(
            [
                ("spark.sql.warehouse.dir".to_owned(), root.to_string()),
                (
                    "deltaic.profile".to_owned(),
                    self.profile.as_str().to_owned(),
                ),
            ]
            .into_iter()
            .chain(settings),
        )?;
        let state = State {
            conf,
            current: SchemaName::new(SESSION_CATALOG, DEFAULT_SCHEMA),
            temporary_views: BTreeMap::new(),
        };
        Ok(Session {
            shared: Arc::new(Shared {
                catalog: Catalog::new(file, Warehouse::new(&warehouse)),
                storage: self.storage.with_cloud_options(options),
                reached: Mutex::new(None),
                later: Later::default(),
                clock: self.clock,
                cache: SnapshotCache::default(),
                engine: engine::new_context(self.memory_limit)?,
                user: self.user,
                progress: Mutex::new(None),
                state: Mutex::new(state),
            }),
        })
    }
}

/// A session of Spark SQL. Clones are the same session; statements of one session run one after the other.
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
}

/// Told how far long work has come: done, and of how much.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

struct Shared {
    catalog: Catalog,
    /// As the session began.
    storage: StorageFactory,
    /// With the settings for object stores that were made since then, where there are any.
    reached: Mutex<Option<StorageFactory>>,
    later: Later,
    clock: Arc<dyn Clock>,
    cache: SnapshotCache,
    engine: SessionContext,
    user: String,
    progress: Mutex<Option<Progress>>,
    state: Mutex<State>,
}

struct State {
    conf: SessionConf,
    current: SchemaName,
    temporary_views: BTreeMap<String, ViewRecord>,
}

impl Session {
    /// The value of a setting: what was set, else its default.
    pub fn conf(&self, key: &str) -> Option<String> {
        self.read_conf(|conf| conf.get(key))
    }

    /// Sets a setting.
    ///
    /// # Errors
    /// A value that the key does not take.
    pub fn set_conf(&self, key: &str, value: &str) -> Result<()> {
        self.write_conf(|conf| conf.set(key, value))
    }

    /// Drops everything that is known of tables; the next statement reads their logs anew.
    pub fn refresh(&self) {
        self.shared.cache.clear();
    }

    /// The current catalog and schema.
    pub fn current(&self) -> (String, String) {
        let current = self.current_schema();
        (current.catalog, current.schema)
    }

    /// Names for completion: catalogs, schemas of the current catalog, tables and views of the current schema.
    ///
    /// # Errors
    /// The catalog cannot be read.
    pub fn names(&self) -> Result<Vec<String>> {
        let current = self.current_schema();
        let mut names: Vec<String> = self
            .catalog()
            .catalogs()?
            .into_iter()
            .map(|catalog| catalog.name)
            .collect();
        names.extend(self.catalog().schemas(&current.catalog)?);
        names.extend(
            self.catalog()
                .objects(&current)?
                .into_iter()
                .map(|(name, _)| name),
        );
        names.extend(
            self.temporary_views()
                .into_iter()
                .map(|view| view.short_name),
        );
        Ok(names)
    }

    /// From now on long work tells this how far it has come.
    pub fn set_progress(&self, progress: Option<Progress>) {
        *self
            .shared
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = progress;
    }

    pub(crate) fn progress(&self) -> Option<Progress> {
        self.shared
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The user's name.
    pub fn user(&self) -> &str {
        &self.shared.user
    }

    /// Names of the built-in functions.
    pub(crate) fn function_names(&self) -> Vec<String> {
        engine::function_names(&self.shared.engine)
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.shared.catalog
    }

    /// Waits for what follows the commits of earlier statements (on object stores a statement does not wait for the
    /// version checksum of its commit), and returns what went wrong there. For the end of a program; what is not waited
    /// for may be lost with it, and nothing needs it.
    pub async fn settle(&self) -> Vec<String> {
        self.shared.later.finish().await
    }

    pub(crate) fn later(&self) -> &Later {
        &self.shared.later
    }

    pub(crate) fn storage(&self) -> StorageFactory {
        self.reached()
            .as_ref()
            .unwrap_or(&self.shared.storage)
            .clone()
    }

    /// Object stores are reached with the settings that there are now, and nothing of what was read of tables is kept.
    pub(crate) fn reach_anew(&self) {
        let options: Vec<(String, String)> = self.read_conf(|conf| {
            conf.explicit()
                .filter(|(key, _)| is_cloud_option(key))
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect()
        });
        *self.reached() = Some(self.shared.storage.clone().with_cloud_options(options));
        self.refresh();
    }

    fn reached(&self) -> std::sync::MutexGuard<'_, Option<StorageFactory>> {
        self.shared
            .reached
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    pub(crate) fn cache(&self) -> &SnapshotCache {
        &self.shared.cache
    }

    pub(crate) fn engine(&self) -> &SessionContext {
        &self.shared.engine
    }

    pub(crate) fn read_conf<T>(&self, read: impl FnOnce(&SessionConf) -> T) -> T {
        read(&self.state().conf)
    }

    pub(crate) fn write_conf<T>(&self, write: impl FnOnce(&mut SessionConf) -> T) -> T {
        write(&mut self.state().conf)
    }

    pub(crate) fn current_schema(&self) -> SchemaName {
        self.state().current.clone()
    }

    pub(crate) fn set_current(&self, schema: SchemaName) {
        self.state().current = schema;
    }

    pub(crate) fn temporary_view(&self, name: &str) -> Option<ViewRecord> {
        self.state()
            .temporary_views
            .get(&name.to_lowercase())
            .cloned()
    }

    /// Temporary views by name.
    pub(crate) fn temporary_views(&self) -> Vec<ViewRecord> {
        self.state().temporary_views.values().cloned().collect()
    }

    /// Keeps a temporary view under its lower-case name.
    pub(crate) fn put_temporary_view(&self, view: ViewRecord) {
        self.state()
            .temporary_views
            .insert(view.short_name.to_lowercase(), view);
    }

    /// Whether there was such a view.
    pub(crate) fn drop_temporary_view(&self, name: &str) -> bool {
        self.state()
            .temporary_views
            .remove(&name.to_lowercase())
            .is_some()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session({})", self.catalog().warehouse().root())
    }
}
