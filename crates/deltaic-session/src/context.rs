//! What one statement sees: settings, names and time as they were at its start, and each table at one version.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use datafusion::execution::SessionState;
use deltaic_command::Profile;
use deltaic_datafusion::context::WriteContext;
use deltaic_log::Snapshot;
use deltaic_log::transaction::{CommitContext, CommitResult};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::StructType;
use deltaic_protocol::timestamp::Zone;
use deltaic_sql::Name;
use deltaic_storage::{TableRoot, TableStore};
use sqlparser::ast::Ident;

use crate::catalog::{Catalog, Provider, SchemaName, TableRecord};
use crate::conf::SessionConf;
use crate::errors;
use crate::result::SqlResult;
use crate::session::Session;
use crate::writes;
use deltaic_sql::Parameters;

const LAST_COMMIT: &str = "spark.databricks.delta.lastCommitVersionInSession";

/// The surroundings of one statement.
pub(crate) struct Context {
    pub(crate) session: Session,
    pub(crate) conf: SessionConf,
    pub(crate) current: SchemaName,
    /// Microseconds since the epoch.
    pub(crate) now_us: i64,
    pub(crate) parameters: Parameters,
    pinned: Mutex<HashMap<String, Snapshot>>,
    notes: Mutex<Vec<String>>,
}

impl Context {
    pub(crate) fn new(session: &Session, parameters: Parameters) -> Self {
        Context {
            session: session.clone(),
            conf: session.read_conf(Clone::clone),
            current: session.current_schema(),
            now_us: session.clock().now_ms().saturating_mul(1_000),
            parameters,
            pinned: Mutex::new(HashMap::new()),
            notes: Mutex::new(Vec::new()),
        }
    }

    /// The answer with the session's zone and the statement's notes.
    pub(crate) fn finish(&self, mut answer: SqlResult) -> SqlResult {
        answer.zone = self.zone();
        answer
            .notes
            .append(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner));
        answer
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        self.session.catalog()
    }

    pub(crate) fn zone(&self) -> Zone {
        self.conf.zone()
    }

    pub(crate) fn profile(&self) -> Profile {
        self.conf.profile()
    }

    /// Whether INSERT OVERWRITE replaces only the partitions in which there are new rows.
    pub(crate) fn dynamic_overwrite(&self) -> bool {
        let mode = self.conf.get("spark.sql.sources.partitionOverwriteMode");
        mode.is_some_and(|mode| mode.trim().eq_ignore_ascii_case("dynamic"))
            && self.conf.delta("dynamicPartitionOverwrite.enabled")
    }

    /// A remark for people.
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text.into());
    }

    /// The parts of a name as identifiers; `IDENTIFIER(…)` is evaluated.
    pub(crate) async fn idents(&self, name: &Name) -> Result<Vec<Ident>> {
        match name {
            Name::Parts(parts) => Ok(parts.clone()),
            Name::Path(path) => Ok(vec![Ident::new("delta"), Ident::with_quote('`', path)]),
            Name::Identifier(_) => Err(DeltaError::internal("an IDENTIFIER clause was not bound")),
        }
    }

    /// The parts of a name.
    pub(crate) async fn texts(&self, name: &Name) -> Result<Vec<String>> {
        Ok(self
            .idents(name)
            .await?
            .into_iter()
            .map(|part| part.value)
            .collect())
    }

    /// The schema that a name means.
    pub(crate) async fn schema(&self, name: &Name) -> Result<SchemaName> {
        let parts = self.texts(name).await?;
        schema_name(self, &parts)
    }

    /// A path as given, relative ones taken from the warehouse's root.
    pub(crate) fn qualify_path(&self, path: &str) -> Result<String> {
        if path.trim().is_empty() {
            return Err(DeltaError::unclassed(
                "java.lang.IllegalArgumentException",
                "Can not create a Path from an empty string",
            ));
        }
        if path.starts_with('/') || path.contains(':') {
            Ok(path.to_owned())
        } else {
            Ok(format!("{}/{path}", self.catalog().warehouse().root()))
        }
    }

    /// A path as Hadoop prints it: `file:/a/b`.
    pub(crate) fn display_path(&self, path: &str) -> String {
        TableRoot::parse(path).map_or_else(|_| path.to_owned(), |root| root.to_string())
    }

    /// Opens the stores of a place.
    pub(crate) fn store(&self, path: &str) -> Result<TableStore> {
        let store = self.session.storage().open(path)?;
        Ok(
            match self.conf.delta("deltaLog.minorCompaction.useForReads") {
                true => store,
                false => store.without_compacted_logs(),
            },
        )
    }

    /// The newest version of a table, the same one for the whole statement; nothing where there is no log.
    pub(crate) async fn snapshot(&self, store: &TableStore) -> Result<Option<Snapshot>> {
        let key = store.root().to_string();
        if let Some(known) = self.pins().get(&key) {
            return Ok(Some(known.clone()));
        }
        let fresh = self.session.cache().newest(store).await?;
        if let Some(snapshot) = &fresh {
            self.pins().insert(key, snapshot.clone());
        }
        Ok(fresh)
    }

    /// Forgets what the statement has seen of a table, before it looks again after its own change.
    pub(crate) fn unpin(&self, store: &TableStore) {
        self.pins().remove(&store.root().to_string());
    }

    /// The surroundings of a commit on a table of that name.
    pub(crate) fn commit_context(&self, table_name: Option<String>) -> CommitContext {
        let user_metadata = self
            .conf
            .get("spark.databricks.delta.commitInfo.userMetadata");
        CommitContext {
            clock: std::sync::Arc::clone(self.session.clock()),
            user_metadata,
            table_name,
            max_attempts: self
                .conf
                .get("spark.databricks.delta.maxCommitAttempts")
                .and_then(|text| text.trim().parse().ok())
                .unwrap_or(10_000_000),
            write_checksum: self.conf.delta("writeChecksumFile.enabled"),
            checksum_mismatch_is_fatal: self.conf.delta("checksum.mismatch.fatal"),
            later: Some(self.session.later().clone()),
            ..CommitContext::default()
        }
    }

    /// The surroundings of a statement that writes.
    pub(crate) fn write_context<'a>(
        &self,
        state: &'a SessionState,
        commit: &'a CommitContext,
    ) -> WriteContext<'a> {
        let mut writer = WriteContext::new(state, commit);
        writer.zone = self.zone();
        writer.tells_dynamic_overwrite = self.profile() != Profile::Delta40;
        writer.options = writes::options(&self.conf);
        writer
    }

    /// As [`Self::write_context`], for a statement that an application may repeat.
    ///
    /// # Errors
    /// Only one of the two settings that name the application's transaction is set.
    pub(crate) fn repeatable_write_context<'a>(
        &self,
        state: &'a SessionState,
        commit: &'a CommitContext,
    ) -> Result<WriteContext<'a>> {
        let mut writer = self.write_context(state, commit);
        writer.options.transaction = writes::transaction(&self.conf)?;
        Ok(writer)
    }

    /// After a statement that an application may repeat, done now or before: the version stands for no other statement, where
    /// the session asks for that.
    pub(crate) fn repeatable_write_is_done(&self) {
        if self.conf.flag(writes::AUTO_RESET) {
            self.session
                .write_conf(|conf| conf.unset(writes::TXN_VERSION));
        }
    }

    /// Notes a commit: the session's setting and the known snapshot follow.
    pub(crate) fn committed(&self, result: &CommitResult) {
        self.session.cache().keep(result.snapshot.clone());
        if !result.skipped {
            self.committed_version(result.version);
        }
        for warning in &result.warnings {
            self.note(warning.clone());
        }
    }

    /// Waits for what follows the commits of earlier statements.
    pub(crate) async fn settle(&self) {
        for warning in self.session.settle().await {
            self.note(warning);
        }
    }

    /// Notes the version of a commit.
    pub(crate) fn committed_version(&self, version: i64) {
        self.session
            .write_conf(|conf| conf.note(LAST_COMMIT, version.to_string()));
    }

    /// The columns of a table.
    pub(crate) async fn table_schema(&self, table: &TableRecord) -> Result<StructType> {
        if table.provider == Provider::Delta {
            let store = self.store(&self.catalog().table_path(table)?)?;
            if let Some(snapshot) = self.snapshot(&store).await? {
                return Ok(snapshot.schema().as_ref().clone());
            }
        }
        Ok(table.schema.clone().unwrap_or_default())
    }

    fn pins(&self) -> std::sync::MutexGuard<'_, HashMap<String, Snapshot>> {
        self.pinned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A schema from its parts: `schema` in the current catalog or `catalog.schema`.
pub(crate) fn schema_name(cx: &Context, parts: &[String]) -> Result<SchemaName> {
    match parts {
        [schema] => Ok(SchemaName::new(&cx.current.catalog, schema)),
        [catalog, schema] if cx.catalog().has_catalog(catalog)? => {
            Ok(SchemaName::new(catalog, schema))
        }
        [catalog, rest @ ..] if cx.catalog().has_catalog(catalog)? => {
            Err(errors::too_many_levels(catalog, rest))
        }
        [catalog, schema] => Err(errors::schema_not_found(catalog, schema)),
        _ => Err(errors::too_many_levels(&cx.current.catalog, parts)),
    }
}
