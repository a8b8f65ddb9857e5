//! The rows of an INSERT in the form of the table, and what becomes of columns that the table does not have.

use std::collections::BTreeSet;

use datafusion::logical_expr::LogicalPlan;
use deltaic_analyzer::{InsertTarget, Widening};
use deltaic_command::Profile;
use deltaic_datafusion::{IdentityColumn, fill_identities};
use deltaic_maintenance::alter::evolve;
use deltaic_maintenance::identity;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_sql::ast::Insert;

use crate::analysis;
use crate::context::Context;
use crate::errors;

/// The table that rows go to.
pub(crate) struct Destination {
    pub(crate) schema: StructType,
    pub(crate) partition_columns: Vec<String>,
    pub(crate) qualifier: Vec<String>,
    pub(crate) display: String,
    pub(crate) id: String,
    pub(crate) profile: Profile,
    /// New columns of the source may become columns of the table.
    pub(crate) widen: bool,
    /// Structs of the source may have fields that the table lacks, to be added or refused.
    pub(crate) grows: bool,
    /// Which types its columns may grow to.
    pub(crate) widening: Option<Widening>,
}

/// Rows that fit the table.
pub(crate) struct Shaped {
    pub(crate) plan: LogicalPlan,
    /// The identity columns whose values the plan makes.
    pub(crate) identities: Vec<IdentityColumn>,
    /// The table's new schema, where it grows.
    pub(crate) schema: Option<StructType>,
    /// Roots of the Delta tables that the source reads.
    pub(crate) reads: BTreeSet<String>,
}

/// Brings the source of an INSERT into the table's form.
pub(crate) async fn shape(cx: &Context, insert: &Insert, to: &Destination) -> Result<Shaped> {
    check_partition_clause(insert, to)?;
    let target = InsertTarget {
        table: &to.display,
        schema: &to.schema,
        columns: &insert.columns,
        by_name: insert.by_name,
        partition: &insert.partition,
        grows: to.grows,
        widening: to.widening,
    };
    let (planned, given) = analysis::insert(cx, &insert.source, &target).await?;
    refuse_identities(&to.schema, &given)?;
    let extra = planned
        .schema
        .fields
        .get(to.schema.fields.len()..)
        .unwrap_or_default();
    let known = planned
        .schema
        .fields
        .get(..to.schema.fields.len())
        .unwrap_or_default();
    let given_types = known.iter().map(|field| &field.data_type);
    let evolved = evolve::with_types(&to.schema, given_types);
    let schema = match (extra, evolved) {
        ([], None) => None,
        (extra, evolved) => {
            let schema = evolved.unwrap_or_else(|| to.schema.clone());
            Some(grown(to, schema, extra)?)
        }
    };
    let (plan, identities) = fill_identities(planned.plan, &to.schema, &given)?;
    let plan = match identities.is_empty() {
        true => plan,
        false => analysis::follow_identities(cx, plan, &to.schema, &given)?,
    };
    Ok(Shaped {
        plan,
        identities,
        schema,
        reads: planned.reads,
    })
}

/// Values of GENERATED ALWAYS columns come from the table alone.
fn refuse_identities(schema: &StructType, given: &[bool]) -> Result<()> {
    for (field, given) in schema.iter().zip(given) {
        if *given && field.is_identity() && !identity::allows_explicit_insert(field) {
            return Err(
                DeltaError::new("DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED")
                    .param("colName", &field.name),
            );
        }
    }
    Ok(())
}

fn check_partition_clause(insert: &Insert, to: &Destination) -> Result<()> {
    for (column, _) in &insert.partition {
        let name = &column.value;
        if !to
            .partition_columns
            .iter()
            .any(|own| own.eq_ignore_ascii_case(name))
        {
            return Err(DeltaError::new("NON_PARTITION_COLUMN")
                .param("columnName", errors::quoted(&[name])));
        }
    }
    if insert.if_partition_not_exists {
        return Err(DeltaError::new("UNSUPPORTED_FEATURE.TABLE_OPERATION")
            .param("tableName", errors::quoted(&to.qualifier))
            .param("operation", "INSERT OVERWRITE … IF NOT EXISTS"));
    }
    Ok(())
}

/// The schema with columns that the source has more, or the refusal to add them.
fn grown(to: &Destination, mut wider: StructType, extra: &[StructField]) -> Result<StructType> {
    wider.fields.extend(
        extra
            .iter()
            .map(|field| StructField::nullable(&field.name, field.data_type.as_nullable())),
    );
    if !to.widen {
        return Err(schema_mismatch(to, &wider));
    }
    Ok(wider)
}

/// The error for rows with other columns than the table's.
fn schema_mismatch(to: &Destination, data: &StructType) -> DeltaError {
    if to.profile == Profile::Delta40 {
        // The older release lost the bars of the trees.
        let tree = |schema: &StructType| schema.as_nullable().tree_string().replace(" |-- ", "-- ");
        let text = format!(
            "A schema mismatch detected when writing to the Delta table (Table ID: {}).\n\
             To enable schema migration using DataFrameWriter or DataStreamWriter, please set:\n\
             '.option(\"mergeSchema\", \"true\")'.\n\
             For other operations, set the session configuration\n\
             spark.databricks.delta.schema.autoMerge.enabled to \"true\". See the documentation\n\
             specific to the operation for details.\n\n\
             Table schema:\n{}\n\nData schema:\n{}\n\n         ",
            to.id,
            tree(&to.schema),
            tree(data)
        );
        return DeltaError::new("_LEGACY_ERROR_TEMP_DELTA_0007")
            .param("message", &text)
            .with_text(text);
    }
    let whole = DeltaError::new("DELTA_METADATA_MISMATCH");
    let detail = DeltaError::new("DELTA_METADATA_MISMATCH.SCHEMA_MISMATCH")
        .param("id", &to.id)
        .param("tableSchema", to.schema.as_nullable().tree_string())
        .param("dataSchema", data.as_nullable().tree_string());
    let own = detail.text();
    let own = own
        .strip_prefix(&whole.text())
        .unwrap_or(&own)
        .trim_start()
        .to_owned();
    whole
        .with_sub_error(DeltaError::new("DELTA_METADATA_MISMATCH.SCHEMA_MISMATCH").with_text(own))
        .with_hint(
            "SET spark.databricks.delta.schema.autoMerge.enabled = true lets a write add columns",
        )
}
