//! Taking a feature's traces out of the newest version.

use deltaic_log::{Operation, Snapshot, Transaction};
use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, Metadata};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::{PropertyRules, key};
use deltaic_protocol::schema::metadata::TYPE_CHANGES;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use serde_json::{Value, json};

use super::check::CHECKPOINT_PROTECTION;
use super::traces::{self, PROVENANCE};
use super::{Drop, Rewrite, history, relisted, tombstones};
use crate::alter::{TableChange, TableState, field_json};
use crate::properties;

/// The domain in which row tracking keeps the highest id.
const ROW_TRACKING_DOMAIN: &str = "delta.rowTracking";

impl Drop<'_> {
    /// Takes the traces out; whether there were any.
    pub(super) async fn clear(&mut self) -> Result<bool> {
        let name = self.feature.name;
        match name {
            "deletionVectors" => return self.clear_vectors().await,
            CHECKPOINT_PROTECTION => return history::clear_protection(self).await,
            "vacuumProtocolCheck" => return Ok(false),
            "columnMapping"
            | "v2Checkpoint"
            | "typeWidening"
            | "typeWidening-preview"
            | "checkConstraints"
            | "inCommitTimestamp"
            | "rowTracking"
            | "domainMetadata" => {}
            other => {
                return Err(DeltaError::not_supported_yet(format!(
                    "DROP FEATURE {other}"
                )));
            }
        }
        if traces::is_clean(&self.snapshot, name).await? {
            return Ok(false);
        }
        match name {
            "checkConstraints" => return Err(constraints_first(&self.snapshot)),
            "columnMapping" => self.rewrite(Rewrite::ColumnMapping).await?,
            "v2Checkpoint" => {
                let classic = [(key::CHECKPOINT_POLICY.to_owned(), "classic".to_owned())];
                self.set(&classic).await?;
            }
            "inCommitTimestamp" => {
                let change = without_commit_timestamps(&TableState::of(&self.snapshot));
                self.change(change).await?;
            }
            "rowTracking" => self.clear_row_tracking().await?,
            "domainMetadata" => self.clear_domains().await?,
            _ => self.clear_widening().await?,
        }
        Ok(true)
    }

    async fn clear_vectors(&mut self) -> Result<bool> {
        let found = !traces::is_clean(&self.snapshot, "deletionVectors").await?;
        if found {
            self.unset(key::ENABLE_DELETION_VECTORS).await?;
            self.rewrite(Rewrite::DeletionVectors).await?;
        }
        if self.options.vector_tombstones {
            let now = self.context.clock.now_ms();
            let removes = tombstones::missing(&self.snapshot, now).await?;
            let mut transaction =
                Transaction::begin(&self.snapshot, Operation::new("Deletion Vector Tombstones"));
            transaction.stage_all(removes.into_iter().map(Action::Remove));
            self.commit(transaction).await?;
        }
        Ok(found)
    }

    async fn clear_widening(&mut self) -> Result<()> {
        self.unset(key::ENABLE_TYPE_WIDENING).await?;
        if traces::has_type_changes(self.snapshot.schema()) {
            self.rewrite(Rewrite::WidenedTypes).await?;
            let change = without_type_changes(&TableState::of(&self.snapshot));
            self.change(change).await?;
        }
        Ok(())
    }

    async fn clear_row_tracking(&mut self) -> Result<()> {
        let configuration = &self.snapshot.metadata().configuration;
        let is = |key: &str, value: &str| configuration.get(key).is_some_and(|v| v == value);
        if !is(key::ENABLE_ROW_TRACKING, "false") || !is(key::ROW_TRACKING_SUSPENDED, "true") {
            let off = [
                (key::ENABLE_ROW_TRACKING.to_owned(), "false".to_owned()),
                (key::ROW_TRACKING_SUSPENDED.to_owned(), "true".to_owned()),
            ];
            self.set(&off).await?;
        }
        let files = self.snapshot.files().await?;
        let tracked: Vec<Add> = files
            .iter()
            .filter(|add| add.base_row_id.is_some() || add.default_row_commit_version.is_some())
            .map(|add| Add {
                base_row_id: None,
                default_row_commit_version: None,
                ..add.as_ref().clone()
            })
            .collect();
        for (batch, files) in tracked
            .chunks(self.options.backfill_files.max(1))
            .enumerate()
        {
            let operation = Operation::new("ROW TRACKING UNBACKFILL").parameter("batchId", batch);
            let mut transaction = Transaction::begin(&self.snapshot, operation);
            transaction.read_files(files);
            transaction.stage_all(relisted(files.iter().cloned()));
            self.commit(transaction).await?;
        }
        Ok(())
    }

    async fn clear_domains(&mut self) -> Result<()> {
        let domains: Vec<_> = self.snapshot.domains().values().cloned().collect();
        let operation = Operation::new("DOMAIN METADATA CLEANUP")
            .metric("domainMetadataRemovedCount", domains.len());
        let mut transaction = Transaction::begin(&self.snapshot, operation);
        for mut domain in domains {
            domain.removed = true;
            transaction.domain(domain);
        }
        self.commit(transaction).await
    }

    async fn rewrite(&mut self, what: Rewrite) -> Result<()> {
        if let Some(result) = self.rewriter.rewrite(&self.snapshot, what).await? {
            self.took(result);
        }
        Ok(())
    }

    async fn set(&mut self, pairs: &[(String, String)]) -> Result<()> {
        let rules = PropertyRules::default();
        let change = properties::set(&TableState::of(&self.snapshot), pairs, &rules)?;
        self.change(change).await
    }

    pub(super) async fn unset(&mut self, key: &str) -> Result<()> {
        let change = properties::unset(&TableState::of(&self.snapshot), &[key.to_owned()])?;
        self.change(change).await
    }
}

/// What leaves with the feature's name.
pub(super) fn at_downgrade(
    feature: &str,
    snapshot: &Snapshot,
    metadata: &mut Metadata,
    transaction: &mut Transaction,
) {
    if feature != "rowTracking" {
        return;
    }
    // Names of columns in old files; ids that are given later must not be mistaken for theirs.
    for key in [
        key::ROW_TRACKING_SUSPENDED,
        key::ROW_TRACKING_ID_COLUMN,
        key::ROW_TRACKING_COMMIT_VERSION_COLUMN,
    ] {
        metadata.configuration.remove(key);
    }
    if let Some(domain) = snapshot.domain(ROW_TRACKING_DOMAIN) {
        let mut domain = domain.clone();
        domain.removed = true;
        transaction.domain(domain);
    }
}

fn constraints_first(snapshot: &Snapshot) -> DeltaError {
    let names: Vec<String> = snapshot
        .config()
        .check_constraints()
        .iter()
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    DeltaError::new("DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE")
        .param("constraints", names.join(", "))
}

/// In-commit timestamps off, and forgotten since when they were on.
fn without_commit_timestamps(state: &TableState) -> TableChange {
    let mut metadata = state.metadata.clone();
    let configuration = &mut metadata.configuration;
    let mut changed = traces::present(configuration, &PROVENANCE);
    for key in &changed {
        configuration.remove(*key);
    }
    if configuration
        .get(key::ENABLE_IN_COMMIT_TIMESTAMPS)
        .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
    {
        changed.push(key::ENABLE_IN_COMMIT_TIMESTAMPS);
        configuration.insert(
            key::ENABLE_IN_COMMIT_TIMESTAMPS.to_owned(),
            "false".to_owned(),
        );
    }
    TableChange {
        metadata,
        protocol: None,
        operation: Operation::new("UNSET TBLPROPERTIES")
            .text_parameter("properties", json!(changed).to_string())
            .parameter("ifExists", true),
    }
}

/// The schema without the types that files had before.
fn without_type_changes(state: &TableState) -> TableChange {
    let mut schema = state.schema.clone();
    let mut shown = Vec::new();
    forget_changes(&mut schema, &mut Vec::new(), &mut shown);
    let metadata = Metadata {
        schema_string: schema.to_json(),
        ..state.metadata.clone()
    };
    TableChange {
        metadata,
        protocol: None,
        operation: Operation::new("DROP FEATURE")
            .text_parameter("columns", Value::Array(shown).to_string()),
    }
}

fn forget_changes(schema: &mut StructType, path: &mut Vec<String>, shown: &mut Vec<Value>) {
    for field in &mut schema.fields {
        if field.metadata.contains_key(TYPE_CHANGES) {
            shown.push(json!({ "column": field_json(path, field) }));
            field.metadata.remove(TYPE_CHANGES);
        }
        let StructField {
            name, data_type, ..
        } = field;
        path.push(name.clone());
        forget_in_type(data_type, path, shown);
        path.pop();
    }
}

fn forget_in_type(data_type: &mut DataType, path: &mut Vec<String>, shown: &mut Vec<Value>) {
    let mut step = |name: &str, inner: &mut DataType| {
        path.push(name.to_owned());
        forget_in_type(inner, path, shown);
        path.pop();
    };
    match data_type {
        DataType::Struct(inner) => forget_changes(inner, path, shown),
        DataType::Array(array) => step("element", &mut array.element_type),
        DataType::Map(map) => {
            step("key", &mut map.key_type);
            step("value", &mut map.value_type);
        }
        _ => {}
    }
}
