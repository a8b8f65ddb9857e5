//! SHOW COLUMNS, SHOW TBLPROPERTIES, SHOW CREATE TABLE, SHOW PARTITIONS.

use deltaic_log::Snapshot;
use deltaic_maintenance::alter::TableState;
use deltaic_maintenance::{clustering, identity, properties};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::TableProperty;
use deltaic_protocol::schema::{DataType, Lengths, StructField, StructType, metadata};
use deltaic_sql::ast::{
    ShowColumns, ShowCreateTable, ShowPartitions, ShowTblProperties, partition_texts,
};

use crate::catalog::{ObjectKind, TableRecord};
use crate::conf::SessionConf;
use crate::context::Context;
use crate::errors;
use crate::partitions;
use crate::resolve::{self, Target};
use crate::result::{SqlResult, Value, column, text_columns};

/// `SHOW COLUMNS`.
pub(super) async fn columns(cx: &Context, show: &ShowColumns) -> Result<SqlResult> {
    let mut parts = cx.texts(&show.table).await?;
    if let Some(schema) = &show.schema {
        let schema = cx.texts(schema).await?;
        let name = parts.pop().unwrap_or_default();
        if !parts.is_empty()
            && parts.last().map(|part| part.to_lowercase())
                != schema.last().map(|part| part.to_lowercase())
        {
            return Err(DeltaError::new("SHOW_COLUMNS_WITH_CONFLICT_NAMESPACE")
                .param("namespaceA", errors::quoted(&schema))
                .param("namespaceB", errors::quoted(&parts)));
        }
        parts = schema;
        parts.push(name);
    }
    let target = resolve::lookup(cx, &parts)
        .await?
        .ok_or_else(|| errors::not_found(&parts))?;
    let schema = schema_of(cx, &target).await?;
    let rows: Vec<Vec<Value>> = schema
        .fields
        .iter()
        .map(|field| vec![Value::text(&field.name)])
        .collect();
    SqlResult::from_rows(
        StructType::new([column("col_name", DataType::String, true)]),
        &rows,
    )
}

/// The columns of whatever a name stands for.
pub(super) async fn schema_of(cx: &Context, target: &Target) -> Result<StructType> {
    match target {
        Target::Delta(table) => Ok(table.snapshot(cx).await?.schema().as_ref().clone()),
        Target::Parquet(table) => crate::parquet::schema_of(table).await,
        Target::View(view) => Ok(view.schema.clone()),
    }
}

/// `SHOW TBLPROPERTIES`.
pub(super) async fn properties(cx: &Context, show: &ShowTblProperties) -> Result<SqlResult> {
    let (target, _) = resolve::target(cx, &show.table).await?;
    let (rows, name) = match &target {
        Target::Delta(table) => (
            properties::show(&TableState::of(&table.snapshot(cx).await?)),
            table.display(),
        ),
        Target::Parquet(table) => (
            table
                .record
                .as_ref()
                .map(record_properties)
                .unwrap_or_default(),
            table.qualifier.join("."),
        ),
        Target::View(view) => {
            let rows = view
                .properties
                .iter()
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            (rows, resolve::view_qualifier(view).join("."))
        }
    };
    let rows: Vec<(String, String)> = rows
        .into_iter()
        .map(|(key, value)| {
            let value = SessionConf::shown_property(&key, &value);
            (key, value)
        })
        .collect();
    let rows = match &show.key {
        None => rows,
        Some(key) => {
            let value = rows
                .into_iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value);
            vec![(
                key.clone(),
                value.unwrap_or_else(|| format!("Table {name} does not have property: {key}")),
            )]
        }
    };
    let rows: Vec<Vec<Value>> = rows
        .into_iter()
        .map(|(key, value)| vec![Value::text(key), Value::text(value)])
        .collect();
    SqlResult::from_rows(text_columns(&["key", "value"]), &rows)
}

fn record_properties(record: &TableRecord) -> Vec<(String, String)> {
    record
        .properties
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// `SHOW CREATE TABLE`: a statement that makes the same table again.
pub(super) async fn create_table(cx: &Context, show: &ShowCreateTable) -> Result<SqlResult> {
    let (target, _) = resolve::target(cx, &show.table).await?;
    let text = match &target {
        Target::Delta(table) => {
            let snapshot = table.snapshot(cx).await?;
            let external = table
                .record
                .as_ref()
                .is_none_or(|record| record.kind == ObjectKind::External);
            let location = external.then(|| snapshot.store().root().to_string());
            let metadata = snapshot.metadata();
            let pairs: Vec<(String, String)> = metadata
                .configuration
                .iter()
                // What the table has worked out for itself cannot be set.
                .filter(|(key, _)| TableProperty::find(key).is_none_or(|known| known.editable))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            let name = match &table.record {
                Some(_) => errors::quoted_if_needed(&table.qualifier),
                None => table.display(),
            };
            statement_text(&TableText {
                name,
                schema: snapshot.schema(),
                provider: "delta",
                partitions: snapshot.partition_columns(),
                clustering: clustering::columns(&snapshot)
                    .iter()
                    .map(|path| errors::quoted_if_needed(path))
                    .collect(),
                comment: metadata.description.as_deref(),
                location,
                properties: pairs,
            })
        }
        Target::Parquet(table) => {
            let schema = crate::parquet::schema_of(table).await?;
            let record = table.record.as_ref();
            let external = record.is_none_or(|record| record.kind == ObjectKind::External);
            statement_text(&TableText {
                name: errors::quoted_if_needed(&table.qualifier),
                schema: &schema,
                provider: "parquet",
                partitions: record
                    .map(|record| record.partition_columns.as_slice())
                    .unwrap_or_default(),
                clustering: Vec::new(),
                comment: record.and_then(|record| record.comment.as_deref()),
                location: external.then(|| table.store.root().to_string()),
                properties: record.map(record_properties).unwrap_or_default(),
            })
        }
        Target::View(view) => {
            let columns: Vec<String> = view
                .schema
                .fields
                .iter()
                .map(|field| format!("  {}", field_name(field)))
                .collect();
            format!(
                "CREATE VIEW {} (\n{})\nAS {}\n",
                errors::quoted_if_needed(&resolve::view_qualifier(view)),
                columns.join(",\n"),
                view.text
            )
        }
    };
    SqlResult::from_rows(
        text_columns(&["createtab_stmt"]),
        &[vec![Value::text(text)]],
    )
}

struct TableText<'a> {
    name: String,
    schema: &'a StructType,
    provider: &'a str,
    partitions: &'a [String],
    clustering: Vec<String>,
    comment: Option<&'a str>,
    location: Option<String>,
    properties: Vec<(String, String)>,
}

fn statement_text(table: &TableText<'_>) -> String {
    let columns: Vec<String> = table.schema.fields.iter().map(column_text).collect();
    let mut out = format!(
        "CREATE TABLE {} (\n  {})\nUSING {}\n",
        table.name,
        columns.join(",\n  "),
        table.provider
    );
    if !table.partitions.is_empty() {
        out.push_str(&format!(
            "PARTITIONED BY ({})\n",
            errors_list(table.partitions)
        ));
    }
    if !table.clustering.is_empty() {
        out.push_str(&format!("CLUSTER BY ({})\n", table.clustering.join(", ")));
    }
    if let Some(comment) = table.comment {
        out.push_str(&format!("COMMENT '{}'\n", escaped(comment)));
    }
    if let Some(location) = &table.location {
        out.push_str(&format!("LOCATION '{}'\n", escaped(location)));
    }
    if !table.properties.is_empty() {
        let pairs: Vec<String> = table
            .properties
            .iter()
            .map(|(key, value)| {
                let value = SessionConf::shown_property(key, value);
                format!("'{}' = '{}'", escaped(key), escaped(&value))
            })
            .collect();
        out.push_str(&format!("TBLPROPERTIES (\n  {})\n", pairs.join(",\n  ")));
    }
    out
}

fn errors_list(names: &[String]) -> String {
    let names: Vec<String> = names
        .iter()
        .map(|name| errors::quoted_if_needed(&[name]))
        .collect();
    names.join(", ")
}

fn field_name(field: &StructField) -> String {
    errors::quoted_if_needed(&[&field.name])
}

fn column_text(field: &StructField) -> String {
    let mut out = format!(
        "{} {}",
        field_name(field),
        Lengths::of(field).sql(&field.data_type)
    );
    if !field.nullable {
        out.push_str(" NOT NULL");
    }
    if let Some(rule) = field.generation_expression() {
        out.push_str(&format!(" GENERATED ALWAYS AS ({rule})"));
    }
    if let (Some(start), Some(step)) = (
        field.number(metadata::IDENTITY_START),
        field.number(metadata::IDENTITY_STEP),
    ) {
        let kind = if identity::allows_explicit_insert(field) {
            "BY DEFAULT"
        } else {
            "ALWAYS"
        };
        out.push_str(&format!(
            " GENERATED {kind} AS IDENTITY (START WITH {start} INCREMENT BY {step})"
        ));
    }
    if let Some(default) = field.current_default() {
        out.push_str(&format!(" DEFAULT {default}"));
    }
    if let Some(comment) = field.comment() {
        out.push_str(&format!(" COMMENT '{}'", escaped(comment)));
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}

/// `SHOW PARTITIONS`: the partitions of the newest version, one typed column for each partition column.
pub(super) async fn partitions(cx: &Context, show: &ShowPartitions) -> Result<SqlResult> {
    let (target, _) = resolve::target(cx, &show.table).await?;
    let table = match &target {
        Target::Delta(table) => table,
        Target::View(view) => {
            return Err(errors::view_not_table(
                &resolve::view_qualifier(view),
                "SHOW PARTITIONS",
            ));
        }
        Target::Parquet(table) => return parquet_partitions(table).await,
    };
    let snapshot = table.snapshot(cx).await?;
    if snapshot.partition_columns().is_empty() {
        return Err(
            DeltaError::new("DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_TABLE")
                .param("tableName", table.display()),
        );
    }
    let wanted = show
        .partition
        .as_ref()
        .map(partition_texts)
        .unwrap_or_default();
    for (key, _) in &wanted {
        if !snapshot
            .partition_columns()
            .iter()
            .any(|name| name.eq_ignore_ascii_case(key))
        {
            return Err(
                DeltaError::new("DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_COLUMN")
                    .param("badCols", format!("[{key}]")),
            );
        }
    }
    let (schema, rows) = partition_rows(cx, &snapshot).await?;
    let rows: Vec<Vec<Value>> = rows
        .into_iter()
        .filter(|row| {
            wanted.iter().all(|(key, text)| {
                let at = schema
                    .fields
                    .iter()
                    .position(|field| field.name.eq_ignore_ascii_case(key));
                let own = at.and_then(|at| row.get(at));
                text.is_none() || own.map(partitions::plain_text) == text.clone()
            })
        })
        .collect();
    SqlResult::from_rows(schema, &rows)
}

async fn partition_rows(
    cx: &Context,
    snapshot: &Snapshot,
) -> Result<(StructType, Vec<Vec<Value>>)> {
    let fields: Vec<StructField> = snapshot
        .partition_columns()
        .iter()
        .filter_map(|name| snapshot.schema().field(name).cloned())
        .collect();
    let zone = cx.zone();
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for add in snapshot.files().await?.iter() {
        let mut row = Vec::new();
        for field in &fields {
            let text = add
                .partition_values
                .get(field.physical_name())
                .and_then(Option::as_deref);
            row.push(partitions::value(text, field, &zone)?);
        }
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows.sort_by(|a, b| partitions::compare_rows(a, b));
    let schema = StructType::new(
        fields
            .into_iter()
            .map(|field| StructField::nullable(field.name, field.data_type)),
    );
    Ok((schema, rows))
}

async fn parquet_partitions(table: &resolve::ParquetTable) -> Result<SqlResult> {
    let columns = table
        .record
        .as_ref()
        .map(|record| record.partition_columns.clone())
        .unwrap_or_default();
    if columns.is_empty() {
        return Err(
            DeltaError::new("INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY")
                .param("name", errors::quoted(&table.qualifier)),
        );
    }
    let mut folders: Vec<String> = crate::parquet::files_of(table)
        .await?
        .into_iter()
        .filter_map(|file| file.rsplit_once('/').map(|(folder, _)| folder.to_owned()))
        .collect();
    folders.sort();
    folders.dedup();
    let rows: Vec<Vec<Value>> = folders
        .into_iter()
        .map(|folder| vec![Value::text(folder)])
        .collect();
    SqlResult::from_rows(text_columns(&["partition"]), &rows)
}
