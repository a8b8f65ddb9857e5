//! A table in a folder of its own, and SQL over it.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;
use deltaic_datafusion::application::session::session_context;
use deltaic_datafusion::{
    Append, CreateTable, Delete, DeltaTableProvider, DmlReport, Update, WriteContext, WriteReport,
    append, create_table, delete, update,
};
use deltaic_log::{CommitContext, Snapshot};
use deltaic_protocol::action::{Action, Add};
use deltaic_protocol::error::DeltaError;
use deltaic_protocol::properties::{PropertyChanges, PropertyRules};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_storage::{StorageFactory, TableStore};
use tempfile::TempDir;

pub struct Table {
    pub folder: TempDir,
    pub store: TableStore,
    pub commit: CommitContext,
    pub ctx: SessionContext,
}

pub fn schema(columns: &[(&str, DataType)]) -> StructType {
    StructType::new(
        columns
            .iter()
            .map(|(name, data_type)| StructField::nullable(*name, data_type.clone())),
    )
}

pub fn properties(given: &[(&str, &str)]) -> PropertyChanges {
    PropertyChanges::for_create([], given.iter().copied(), &PropertyRules::default()).unwrap()
}

impl Table {
    pub fn empty() -> Table {
        Table::with_factory(StorageFactory::default())
    }

    pub fn with_factory(factory: StorageFactory) -> Table {
        let folder = TempDir::new().unwrap();
        let store = factory
            .open(folder.path().join("t").to_str().unwrap())
            .unwrap();
        Table {
            folder,
            store,
            commit: CommitContext::default(),
            ctx: session_context(),
        }
    }

    pub async fn new(
        columns: &[(&str, DataType)],
        partition_by: &[&str],
        given: &[(&str, &str)],
    ) -> Table {
        let table = Table::empty();
        table.define(columns, partition_by, given).await;
        table
    }

    pub async fn define(
        &self,
        columns: &[(&str, DataType)],
        partition_by: &[&str],
        given: &[(&str, &str)],
    ) {
        let mut request = CreateTable::new(schema(columns));
        request.partition_by = partition_by.iter().map(|name| name.to_string()).collect();
        request.properties = properties(given);
        self.create(request).await.unwrap();
    }

    pub async fn create(&self, request: CreateTable) -> Result<WriteReport, DeltaError> {
        let existing = Snapshot::try_load(&self.store).await.unwrap();
        let state = self.ctx.state();
        create_table(
            &WriteContext::new(&state, &self.commit),
            &self.store,
            existing.as_ref(),
            request,
        )
        .await
    }

    pub async fn snapshot(&self) -> Snapshot {
        Snapshot::load(&self.store, None).await.unwrap()
    }

    /// Makes the table known as `t`, in a version.
    pub async fn register(&self, version: Option<i64>) -> DeltaTableProvider {
        let snapshot = Snapshot::load(&self.store, version).await.unwrap();
        let provider = DeltaTableProvider::try_new(snapshot).unwrap();
        self.ctx.deregister_table("t").unwrap();
        self.ctx
            .register_table("t", Arc::new(provider.clone()))
            .unwrap();
        provider
    }

    pub async fn try_query(&self, sql: &str) -> datafusion::error::Result<Vec<RecordBatch>> {
        self.register(None).await;
        self.ctx.sql(sql).await?.collect().await
    }

    pub async fn query(&self, sql: &str) -> String {
        let batches = self.try_query(sql).await.unwrap();
        pretty(&batches)
    }

    pub async fn query_at(&self, version: i64, sql: &str) -> String {
        self.register(Some(version)).await;
        pretty(&self.ctx.sql(sql).await.unwrap().collect().await.unwrap())
    }

    pub async fn insert(&self, sql: &str) -> WriteReport {
        self.try_insert(sql).await.unwrap()
    }

    pub async fn try_insert(&self, sql: &str) -> Result<WriteReport, DeltaError> {
        let snapshot = self.snapshot().await;
        let input = self.ctx.sql(sql).await.unwrap().logical_plan().clone();
        let state = self.ctx.state();
        append(
            &WriteContext::new(&state, &self.commit),
            &snapshot,
            Append::new(input),
        )
        .await
    }

    pub async fn delete(&self, predicate: Option<&str>) -> DmlReport {
        self.try_delete(predicate).await.unwrap()
    }

    pub async fn try_delete(&self, predicate: Option<&str>) -> Result<DmlReport, DeltaError> {
        let provider = self.register(None).await;
        let predicate = self.expr(predicate).await;
        let state = self.ctx.state();
        let request = Delete {
            predicate,
            qualifier: Some("t".into()),
            predicate_text: None,
        };
        delete(
            &WriteContext::new(&state, &self.commit),
            provider.snapshot(),
            request,
        )
        .await
    }

    pub async fn update(&self, assignments: &[(&str, &str)], predicate: Option<&str>) -> DmlReport {
        self.try_update(assignments, predicate).await.unwrap()
    }

    pub async fn try_update(
        &self,
        assignments: &[(&str, &str)],
        predicate: Option<&str>,
    ) -> Result<DmlReport, DeltaError> {
        let provider = self.register(None).await;
        let predicate = self.expr(predicate).await;
        let mut bound = Vec::new();
        for (name, sql) in assignments {
            bound.push((name.to_string(), self.expr(Some(sql)).await.unwrap()));
        }
        let state = self.ctx.state();
        let request = Update {
            assignments: bound,
            predicate,
            qualifier: Some("t".into()),
            ..Update::default()
        };
        update(
            &WriteContext::new(&state, &self.commit),
            provider.snapshot(),
            request,
        )
        .await
    }

    /// An expression over `t`, bound as DataFusion's SQL planner does it, subqueries included.
    async fn expr(&self, sql: Option<&str>) -> Option<datafusion::logical_expr::Expr> {
        let sql = sql?;
        let plan = self
            .ctx
            .sql(&format!("SELECT ({sql}) AS x FROM t"))
            .await
            .unwrap()
            .into_unoptimized_plan();
        let datafusion::logical_expr::LogicalPlan::Projection(projection) = plan else {
            panic!("a projection")
        };
        let datafusion::logical_expr::Expr::Alias(alias) = projection.expr[0].clone() else {
            panic!("an alias")
        };
        Some(*alias.expr)
    }

    /// The actions of a commit.
    pub async fn actions(&self, version: i64) -> Vec<Action> {
        deltaic_log::commit::read_commit(&self.store, version)
            .await
            .unwrap()
    }

    pub async fn adds(&self, version: i64) -> Vec<Add> {
        self.actions(version)
            .await
            .into_iter()
            .filter_map(|action| {
                if let Action::Add(add) = action {
                    Some(add)
                } else {
                    None
                }
            })
            .collect()
    }

    pub async fn metrics(&self, version: i64) -> std::collections::BTreeMap<String, String> {
        let info = self
            .actions(version)
            .await
            .into_iter()
            .find_map(|action| match action {
                Action::CommitInfo(info) => Some(info),
                _ => None,
            });
        info.unwrap().operation_metrics.unwrap_or_default()
    }

    /// The files of the folder, log left out.
    pub fn files(&self) -> Vec<String> {
        let mut out = Vec::new();
        walk(&self.folder.path().join("t"), "", &mut out);
        out.sort();
        out
    }
}

fn walk(folder: &std::path::Path, prefix: &str, out: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if name == "_delta_log" {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), &format!("{name}/"), out);
        } else {
            out.push(name);
        }
    }
}

pub fn pretty(batches: &[RecordBatch]) -> String {
    pretty_format_batches(batches).unwrap().to_string()
}

/// The cells of a result, rows on lines, cells between bars.
pub fn cells(batches: &[RecordBatch]) -> Vec<String> {
    let text = pretty(batches);
    text.lines()
        .filter(|line| line.starts_with('|'))
        .skip(1)
        .map(|line| {
            line.trim_matches('|')
                .split('|')
                .map(str::trim)
                .collect::<Vec<_>>()
                .join("|")
        })
        .collect()
}

pub async fn rows(table: &Table, sql: &str) -> Vec<String> {
    cells(&table.try_query(sql).await.unwrap())
}
