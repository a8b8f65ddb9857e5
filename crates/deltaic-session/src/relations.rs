//! Relations for the analyser: names in a query become pinned tables and views.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use deltaic_analyzer::{
    Relation, Resolver, TableFunctionArgument, TableRelation, Travel, ViewRelation,
};
use deltaic_command::TimeTravel;
use deltaic_datafusion::DeltaTableProvider;
use deltaic_datafusion::scan::metadata::FileMetadata;
use deltaic_log::Snapshot;
use deltaic_protocol::error::{DeltaError, Result};
use sqlparser::ast::Ident;

use crate::catalog::{SchemaName, ViewRecord};
use crate::changes;
use crate::context::Context;
use crate::errors;
use crate::parquet;
use crate::resolve::{self, DeltaTable, Target, view_qualifier};
use crate::time_travel;

/// Looks names up in the session's catalog and remembers which Delta tables were read.
pub(crate) struct SessionResolver<'a> {
    cx: &'a Context,
    reads: Mutex<BTreeSet<String>>,
    views: Mutex<Vec<SeenView>>,
}

/// A view that a query stands on, itself or through other views.
#[derive(Debug, Clone)]
pub(crate) struct SeenView {
    pub(crate) qualifier: Vec<String>,
    pub(crate) temporary: bool,
}

impl<'a> SessionResolver<'a> {
    pub(crate) fn new(cx: &'a Context) -> Self {
        SessionResolver {
            cx,
            reads: Mutex::new(BTreeSet::new()),
            views: Mutex::default(),
        }
    }

    /// Roots of the Delta tables that were resolved.
    pub(crate) fn reads(&self) -> BTreeSet<String> {
        self.reads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The views that were resolved.
    pub(crate) fn views(&self) -> Vec<SeenView> {
        self.views
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn note_read(&self, root: String) {
        self.reads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(root);
    }

    async fn find(
        &self,
        name: &[Ident],
        travel: Option<Travel>,
        at: &SchemaName,
    ) -> Result<Relation> {
        let parts: Vec<String> = name.iter().map(|part| part.value.clone()).collect();
        match resolve::lookup_in(self.cx, &parts, at).await? {
            None => Err(resolve::not_found(&parts)),
            Some(Target::View(view)) => {
                if travel.is_some() {
                    return Err(errors::no_time_travel(&view_qualifier(&view)));
                }
                self.views
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(SeenView {
                        qualifier: view_qualifier(&view),
                        temporary: view.name.is_none(),
                    });
                Ok(Relation::View(view_relation(view)))
            }
            Some(Target::Parquet(table)) => {
                if travel.is_some() {
                    return Err(errors::no_time_travel(&table.qualifier));
                }
                let files = parquet::open(&table, self.cx.zone()).await?.with_metadata();
                let schema = files.schema.clone();
                let metadata = files.metadata().map(FileMetadata::field);
                Ok(Relation::Table(TableRelation {
                    provider: Arc::new(files),
                    schema,
                    metadata,
                    qualifier: table.qualifier,
                }))
            }
            Some(Target::Delta(table)) => self.delta(*table, travel).await.map(Relation::Table),
        }
    }

    async fn delta(&self, table: DeltaTable, travel: Option<Travel>) -> Result<TableRelation> {
        let latest = table.snapshot(self.cx).await;
        let moment = match (&table.travel, travel) {
            (Some(_), Some(_)) => {
                return Err(DeltaError::new(
                    "DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS",
                ));
            }
            (Some(suffix), None) => Some(time_travel::moment(self.cx, suffix, None)?),
            (None, Some(Travel::Version(text))) => Some(time_travel::version(&text)?),
            (None, Some(Travel::Timestamp { micros, text })) => {
                Some(TimeTravel::Timestamp { micros, text })
            }
            (None, None) => None,
        };
        let snapshot = match (&moment, latest) {
            (Some(moment), Ok(latest)) => {
                time_travel::snapshot_at(self.cx, &latest, moment).await?
            }
            // A torn line in a newer commit does not take the versions before it.
            (Some(TimeTravel::Version(version)), Err(error))
                if error
                    .class()
                    .is_some_and(|class| class.starts_with("MALFORMED_RECORD_IN_PARSING")) =>
            {
                match Snapshot::load(&table.store, Some(*version)).await {
                    Ok(older) => older,
                    Err(_) => return Err(error),
                }
            }
            (_, latest) => latest?,
        };
        if snapshot.schema().fields.is_empty() {
            return Err(DeltaError::new("DELTA_READ_TABLE_WITHOUT_COLUMNS")
                .param("tableName", table.quoted()));
        }
        self.note_read(snapshot.store().root().to_string());
        let schema = snapshot.schema().as_ref().clone();
        let provider = DeltaTableProvider::try_new(snapshot)?.with_zone(self.cx.zone());
        // A table whose row tracking is broken can still be read.
        let provider = provider.clone().with_metadata().unwrap_or(provider);
        let metadata = provider.metadata().map(FileMetadata::field);
        Ok(TableRelation {
            provider: Arc::new(provider),
            schema,
            metadata,
            qualifier: table.qualifier,
        })
    }
}

fn view_relation(view: ViewRecord) -> ViewRelation {
    ViewRelation {
        qualifier: view_qualifier(&view),
        temporary: view.name.is_none(),
        text: view.text,
        catalog: view.context.catalog,
        schema: view.context.schema,
        columns: Some(view.schema),
    }
}

#[async_trait]
impl Resolver for SessionResolver<'_> {
    async fn relation(&self, name: &[Ident], travel: Option<Travel>) -> Result<Relation> {
        self.find(name, travel, &self.cx.current).await
    }

    async fn relation_in(
        &self,
        name: &[Ident],
        travel: Option<Travel>,
        catalog: &str,
        schema: &str,
    ) -> Result<Relation> {
        self.find(name, travel, &SchemaName::new(catalog, schema))
            .await
    }

    async fn table_function(
        &self,
        name: &str,
        arguments: &[TableFunctionArgument],
        at: Option<(&str, &str)>,
    ) -> Result<Option<TableRelation>> {
        let Some(function) = changes::Function::parse(name) else {
            return Ok(None);
        };
        let at = match at {
            Some((catalog, schema)) => SchemaName::new(catalog, schema),
            None => self.cx.current.clone(),
        };
        let (relation, root) = changes::relation(self.cx, function, arguments, &at).await?;
        self.note_read(root);
        Ok(Some(relation))
    }
}
