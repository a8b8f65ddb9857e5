//! Object stores of tables in a DataFusion runtime.
//!
//! A scan registers the store of its table; a process that only decodes plans registers those of a [`StorageFactory`], or
//! uses [`DeltaObjectStores`], which makes them when they are asked for. Stores are keyed by the whole authority, user part
//! included (`abfss://container@account`), where DataFusion's own registry would mix two containers of one account.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use datafusion::error::Result;
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use datafusion::execution::runtime_env::RuntimeEnv;
use deltaic_storage::StorageFactory;
use object_store::ObjectStore;
use url::Url;

use crate::error::wrap;

/// Places that stand for the backends of a factory.
const BACKENDS: [&str; 2] = ["file:/", "memory:/"];

/// Registers the backends of a factory.
///
/// # Errors
/// A backend's URL cannot be read.
pub fn register(runtime: &RuntimeEnv, factory: &StorageFactory) -> Result<()> {
    for (url, store) in backends(factory)? {
        runtime.register_object_store(&url, store);
    }
    Ok(())
}

fn backends(factory: &StorageFactory) -> Result<Vec<(Url, Arc<dyn ObjectStore>)>> {
    BACKENDS
        .iter()
        .map(|place| {
            let store = factory.open(place).map_err(wrap)?;
            let url = Url::parse(store.object_store_url()).map_err(|error| {
                datafusion::common::exec_datafusion_err!("{}: {error}", store.object_store_url())
            })?;
            Ok((url, store.object_store()))
        })
        .collect()
}

/// A registry that knows the backends of a factory from the start.
#[derive(Debug)]
pub struct DeltaObjectStores {
    own: RwLock<BTreeMap<String, Arc<dyn ObjectStore>>>,
    others: DefaultObjectStoreRegistry,
}

impl DeltaObjectStores {
    /// A registry for a factory.
    ///
    /// # Errors
    /// A backend's URL cannot be read.
    pub fn new(factory: &StorageFactory) -> Result<DeltaObjectStores> {
        let own = backends(factory)?
            .into_iter()
            .map(|(url, store)| (key(&url), store))
            .collect();
        Ok(DeltaObjectStores {
            own: RwLock::new(own),
            others: DefaultObjectStoreRegistry::new(),
        })
    }
}

/// Scheme and authority, with the user part.
fn key(url: &Url) -> String {
    format!("{}://{}", url.scheme(), url.authority())
}

impl ObjectStoreRegistry for DeltaObjectStores {
    fn register_store(
        &self,
        url: &Url,
        store: Arc<dyn ObjectStore>,
    ) -> Option<Arc<dyn ObjectStore>> {
        self.own
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key(url), store)
    }

    fn deregister_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        match self
            .own
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&key(url))
        {
            Some(store) => Ok(store),
            None => self.others.deregister_store(url),
        }
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        match self
            .own
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key(url))
        {
            Some(store) => Ok(Arc::clone(store)),
            None => self.others.get_store(url),
        }
    }
}
