//! A folder of Delta tables as a catalog of DataFusion: `<root>/<table>` in schema `default`, `<root>/<schema>.db/<table>`
//! in others.
//!
//! Every reference in a statement gets one pinned version. A name may ask for another one: `t@v3`, or `t@` and a time
//! `yyyyMMddHHmmssSSS` (quote it where the SQL dialect needs that). Two of them, `t@v3..v5`, ask for the changes from the one to
//! the other, both inclusive, and `t@v3..` for all from that one on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::error::{DataFusionError, Result};
use deltaic_log::changes::{ChangeBound, ChangeOptions, resolve_range};
use deltaic_log::{Snapshot, history};
use deltaic_protocol::error::Result as DeltaResult;
use deltaic_protocol::timestamp::{Zone, parse_compact};
use deltaic_storage::{LOG_DIR, StorageFactory, TableRoot};
use futures::StreamExt;

use super::inserts::Inserts;
use super::open::Version;
use crate::changes::DeltaChanges;
use crate::error::wrap;
use crate::provider::DeltaTableProvider;

/// The schema whose tables lie directly in the catalog's folder.
pub const DEFAULT_SCHEMA: &str = "default";
const SCHEMA_SUFFIX: &str = ".db";

/// A catalog over a folder.
#[derive(Debug)]
pub struct DeltaCatalog {
    schemas: BTreeMap<String, Arc<DeltaSchema>>,
}

/// The tables of one schema.
#[derive(Debug)]
pub struct DeltaSchema {
    factory: StorageFactory,
    root: TableRoot,
    zone: Zone,
    names: BTreeSet<String>,
    /// The newest versions seen, brought up to date at each use instead of being loaded anew.
    held: Mutex<BTreeMap<String, Snapshot>>,
}

impl DeltaCatalog {
    /// Looks at a folder. Tables that come later are found by name too, but are not listed.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub async fn open(location: &str) -> Result<DeltaCatalog> {
        DeltaCatalog::with_factory(StorageFactory::default(), location, Zone::utc()).await
    }

    /// Looks at a folder of a store. `zone` is the zone of times in names.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub async fn with_factory(
        factory: StorageFactory,
        location: &str,
        zone: Zone,
    ) -> Result<DeltaCatalog> {
        let root = TableRoot::parse(location).map_err(wrap)?;
        let mut schemas = BTreeMap::new();
        let top = folders(&factory, &root).await.map_err(wrap)?;
        for folder in &top {
            if let Some(name) = folder.strip_suffix(SCHEMA_SUFFIX) {
                let schema = DeltaSchema::open(&factory, root.join(folder), &zone)
                    .await
                    .map_err(wrap)?;
                schemas.insert(name.to_string(), Arc::new(schema));
            }
        }
        let default = DeltaSchema::open(&factory, root, &zone)
            .await
            .map_err(wrap)?;
        schemas.insert(DEFAULT_SCHEMA.to_string(), Arc::new(default));
        Ok(DeltaCatalog { schemas })
    }
}

impl CatalogProvider for DeltaCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.schemas.keys().cloned().collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let found = self.schemas.get(name)?;
        Some(Arc::clone(found) as Arc<dyn SchemaProvider>)
    }
}

impl DeltaSchema {
    async fn open(
        factory: &StorageFactory,
        root: TableRoot,
        zone: &Zone,
    ) -> DeltaResult<DeltaSchema> {
        let mut names = BTreeSet::new();
        for folder in folders(factory, &root).await? {
            let table = factory.open_root(root.join(&folder))?;
            if !folder.ends_with(SCHEMA_SUFFIX) && table.data().exists(LOG_DIR).await? {
                names.insert(folder);
            }
        }
        Ok(DeltaSchema {
            factory: factory.clone(),
            root,
            zone: zone.clone(),
            names,
            held: Mutex::new(BTreeMap::new()),
        })
    }

    /// A table at a version.
    ///
    /// # Errors
    /// The table's log cannot be read, or there is no such version.
    pub async fn provider(
        &self,
        name: &str,
        version: Version,
    ) -> DeltaResult<Option<DeltaTableProvider>> {
        let Some(newest) = self.newest(name).await? else {
            return Ok(None);
        };
        let snapshot = match version {
            Version::Latest => newest,
            Version::At(version) => newest.at_version(version).await?,
            Version::AsOf(millis) => {
                let version = history::version_at_timestamp(&newest, millis).await?;
                newest
                    .at_version(version.into_version(millis, &self.zone)?)
                    .await?
            }
        };
        Ok(Some(
            DeltaTableProvider::try_new(snapshot)?
                .with_zone(self.zone.clone())
                .with_inserts(Arc::new(Inserts)),
        ))
    }

    /// The changes of a table.
    ///
    /// # Errors
    /// The table's log cannot be read, or the range is not in its history.
    pub async fn changes(
        &self,
        name: &str,
        start: ChangeBound,
        end: Option<ChangeBound>,
    ) -> DeltaResult<Option<DeltaChanges>> {
        let Some(newest) = self.newest(name).await? else {
            return Ok(None);
        };
        let range = resolve_range(&newest, start, end, &self.zone, false).await?;
        let changes = DeltaChanges::try_new(&newest, range, ChangeOptions::default()).await?;
        Ok(Some(changes.with_zone(self.zone.clone())))
    }

    async fn newest(&self, name: &str) -> DeltaResult<Option<Snapshot>> {
        let held = self
            .held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .cloned();
        let newest = match held {
            Some(snapshot) => Some(snapshot.update().await?),
            None if name.is_empty() || name.contains('/') => None,
            None => Snapshot::try_load(&self.factory.open_root(self.root.join(name))?).await?,
        };
        if let Some(newest) = &newest {
            self.held
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(name.to_string(), newest.clone());
        }
        Ok(newest)
    }

    /// The table and the range of changes in a name.
    fn range<'a>(&self, name: &'a str) -> Option<(&'a str, ChangeBound, Option<ChangeBound>)> {
        let (table, range) = name.rsplit_once('@')?;
        let (start, end) = range.split_once("..")?;
        let bound = |text: &str| match self.version(text)? {
            Version::At(version) => Some(ChangeBound::Version(version)),
            Version::AsOf(millis) => Some(ChangeBound::Timestamp(millis)),
            Version::Latest => None,
        };
        let end = match end {
            "" => None,
            end => Some(bound(end)?),
        };
        Some((table, bound(start)?, end))
    }

    /// The table and the version in a name.
    fn split<'a>(&self, name: &'a str) -> (&'a str, Version) {
        name.rsplit_once('@')
            .and_then(|(table, at)| Some((table, self.version(at)?)))
            .unwrap_or((name, Version::Latest))
    }

    /// `v3`, or a time.
    fn version(&self, text: &str) -> Option<Version> {
        let number = text
            .strip_prefix(['v', 'V'])
            .and_then(|digits| digits.parse().ok());
        match number {
            Some(version) => Some(Version::At(version)),
            None => {
                parse_compact(text, &self.zone).map(|micros| Version::AsOf(micros.div_euclid(1000)))
            }
        }
    }
}

#[async_trait]
impl SchemaProvider for DeltaSchema {
    fn table_names(&self) -> Vec<String> {
        self.names.iter().cloned().collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        if let Some((table, start, end)) = self.range(name) {
            let found = self.changes(table, start, end).await.map_err(wrap)?;
            return Ok(found.map(|changes| Arc::new(changes) as Arc<dyn TableProvider>));
        }
        let (table, version) = self.split(name);
        let found = self.provider(table, version).await.map_err(wrap)?;
        Ok(found.map(|provider| Arc::new(provider) as Arc<dyn TableProvider>))
    }

    fn table_exist(&self, name: &str) -> bool {
        let table = match self.range(name) {
            Some((table, ..)) => table,
            None => self.split(name).0,
        };
        self.names.contains(table)
    }
}

/// The names of the folders directly in a folder.
async fn folders(factory: &StorageFactory, root: &TableRoot) -> DeltaResult<Vec<String>> {
    let store = factory.open_root(root.clone())?;
    let mut listing = store.data().list("", Some(Arc::new(|_: &str| false)));
    let mut out = Vec::new();
    while let Some(entry) = listing.next().await {
        let entry = entry?;
        let hidden = entry.path.starts_with(['_', '.']);
        if entry.is_dir && !hidden {
            out.push(entry.path);
        }
    }
    Ok(out)
}
