//! ALTER TABLE on columns: ADD, DROP, RENAME, ALTER.

use deltaic_analyzer::types::castable;
use deltaic_command::{ColumnChange, ColumnPosition, NewColumn};
use deltaic_log::transaction::Transaction;
use deltaic_maintenance::{alter, clustering, identity};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, Lengths, StructField, StructType, metadata};
use deltaic_sql::ast::{self, AlterColumn, ColumnDefinition, ColumnPath};

use crate::analysis;
use crate::context::Context;
use crate::errors;
use crate::resolve::{self, DeltaTable, Target};
use crate::result::{SqlResult, Value};

use super::{definitions, properties};

/// `ADD COLUMNS`.
pub(super) async fn add(
    cx: &Context,
    target: Target,
    definitions: &[ColumnDefinition],
) -> Result<SqlResult> {
    definitions::defaults_of_added(cx, definitions)?;
    if definitions
        .iter()
        .any(|definition| definition.default.is_some())
    {
        return Err(DeltaError::new(
            "WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED",
        ));
    }
    match target {
        Target::Delta(table) => {
            let columns: Vec<NewColumn> = definitions.iter().map(new_column).collect();
            let fresh = || uuid::Uuid::new_v4().to_string();
            properties::change(cx, &table, |state| {
                alter::add_columns(state, &columns, &fresh)
            })
            .await
        }
        Target::Parquet(table) => properties::update_record(cx, table.record, |record| {
            let schema = record.schema.get_or_insert_default();
            for definition in definitions {
                schema.fields.push(field_of(definition));
            }
        }),
        Target::View(view) => Err(errors::view_not_table(
            &resolve::view_qualifier(&view),
            "ALTER TABLE ... ADD COLUMNS",
        )),
    }
}

/// `REPLACE COLUMNS`.
pub(super) async fn replace(
    cx: &Context,
    target: Target,
    definitions: &[ColumnDefinition],
) -> Result<SqlResult> {
    let table = delta(target, "ALTER TABLE ... REPLACE COLUMNS")?;
    definitions::defaults_of_replaced(cx, &table, definitions).await?;
    let columns: Vec<NewColumn> = definitions.iter().map(new_column).collect();
    let fresh = || uuid::Uuid::new_v4().to_string();
    properties::change(cx, &table, |state| {
        alter::replace_columns(state, &columns, &fresh)
    })
    .await
}

/// `DROP COLUMNS`.
pub(super) async fn drop(
    cx: &Context,
    target: Target,
    columns: &[ColumnPath],
    if_exists: bool,
) -> Result<SqlResult> {
    let table = delta(target, "ALTER TABLE ... DROP COLUMNS")?;
    let paths: Vec<Vec<String>> = columns.iter().map(path_of).collect();
    let snapshot = table.snapshot(cx).await?;
    let state = alter::TableState::of(&snapshot);
    if let Some(change) = alter::drop_columns(&state, &paths, if_exists)? {
        let result =
            alter::commit(&snapshot, change, &cx.commit_context(Some(table.display()))).await?;
        cx.committed(&result);
    }
    Ok(SqlResult::empty())
}

/// `RENAME COLUMN`.
pub(super) async fn rename(
    cx: &Context,
    target: Target,
    column: &ColumnPath,
    to: &str,
) -> Result<SqlResult> {
    let table = delta(target, "ALTER TABLE ... RENAME COLUMN")?;
    let path = path_of(column);
    properties::change(cx, &table, |state| alter::rename_column(state, &path, to)).await
}

/// `ALTER COLUMN`, one column after the other.
pub(super) async fn alter(
    cx: &Context,
    target: Target,
    changes: &[AlterColumn],
) -> Result<SqlResult> {
    let table = delta(target, "ALTER TABLE ... ALTER COLUMN")?;
    for change in changes {
        let path = path_of(&change.column);
        if let ast::ColumnChange::SetDefault(default) = &change.change {
            let snapshot = table.snapshot(cx).await?;
            if let Some(field) = definitions::field_at(snapshot.schema(), &path) {
                definitions::new_default(cx, &path, field, default)?;
            }
        }
        let mut steps = steps(&change.change, &path)?;
        let wanted = match &change.change {
            ast::ColumnChange::Type {
                data_type,
                char_type,
            } => Some((data_type, char_type)),
            ast::ColumnChange::Change(definition) => {
                Some((&definition.data_type, &definition.char_type))
            }
            _ => None,
        };
        if let Some((data_type, char_type)) = wanted {
            let snapshot = table.snapshot(cx).await?;
            let to = (data_type, lengths_of(char_type.as_deref()));
            let of_type = type_steps(&table, snapshot.schema(), &path, to)?;
            let is_only = matches!(change.change, ast::ColumnChange::Type { .. });
            steps.splice(0..0, of_type);
            if steps.is_empty() && is_only {
                steps.push(ColumnChange::Type(data_type.clone()));
            }
        }
        for step in steps {
            let decided = step;
            properties::change(cx, &table, |state| {
                alter::change_column(state, &path, &decided)
            })
            .await?;
            cx.unpin(&table.store);
        }
    }
    Ok(SqlResult::empty())
}

/// `CLUSTER BY`; no columns for NONE.
pub(super) async fn cluster_by(
    cx: &Context,
    target: Target,
    wanted: &[ColumnPath],
) -> Result<SqlResult> {
    let table = match target {
        Target::Delta(table) => table,
        Target::Parquet(_) => {
            return Err(DeltaError::new("DELTA_ALTER_TABLE_CLUSTER_BY_NOT_ALLOWED"));
        }
        Target::View(view) => {
            return Err(errors::view_not_table(
                &resolve::view_qualifier(&view),
                "ALTER TABLE ... CLUSTER BY",
            ));
        }
    };
    let wanted: Vec<Vec<String>> = wanted.iter().map(path_of).collect();
    let snapshot = table.snapshot(cx).await?;
    let limit = properties::max_clustering_columns(cx);
    let context = cx.commit_context(Some(table.display()));
    if let Some(result) = clustering::alter(&snapshot, &wanted, limit, &context).await? {
        cx.committed(&result);
    }
    Ok(SqlResult::empty())
}

/// `SYNC IDENTITY`: the next value follows the furthest one in the table.
pub(super) async fn sync_identity(
    cx: &Context,
    target: Target,
    column: &ColumnPath,
) -> Result<SqlResult> {
    let Target::Delta(table) = target else {
        return Err(DeltaError::new(
            "DELTA_IDENTITY_COLUMNS_ALTER_NON_DELTA_FORMAT",
        ));
    };
    let path = path_of(column);
    let snapshot = table.snapshot(cx).await?;
    let state = alter::TableState::of(&snapshot);
    let function = if identity::descends(&state, &path)? {
        "min"
    } else {
        "max"
    };
    let name = path.last().map_or("", String::as_str);
    let sql = format!(
        "SELECT {function}({}) FROM {}",
        errors::quoted(&[name]),
        errors::quoted(&table.qualifier)
    );
    let planned = analysis::query(cx, &deltaic_sql::parse_query(&sql)?).await?;
    let schema = planned.schema.clone();
    let batches = analysis::collect(cx, planned).await?;
    let rows = SqlResult {
        schema,
        batches,
        ..SqlResult::empty()
    }
    .rows();
    let furthest = match rows.first().and_then(|row| row.first()) {
        Some(Value::Long(value)) => Some(*value),
        _ => None,
    };
    let may_lower = cx
        .conf
        .delta("identityColumn.allowSyncIdentityToLowerHighWaterMark.enabled");
    let change = identity::sync(&state, &path, furthest, may_lower)?;
    let mut transaction = Transaction::begin(&snapshot, change.operation);
    transaction.set_metadata(change.metadata);
    // The furthest value was found by reading all rows.
    transaction.read_whole_table();
    let context = cx.commit_context(Some(table.display()));
    let result = transaction.commit(&context).await?.into_result()?;
    cx.committed(&result);
    Ok(SqlResult::empty())
}

fn steps(change: &ast::ColumnChange, path: &[String]) -> Result<Vec<ColumnChange>> {
    Ok(match change {
        // What a type changes depends on the column; see `type_steps`.
        ast::ColumnChange::Type { .. } => Vec::new(),
        ast::ColumnChange::Comment(comment) => vec![ColumnChange::Comment(comment.clone())],
        ast::ColumnChange::SetNotNull => vec![ColumnChange::SetNotNull],
        ast::ColumnChange::DropNotNull => vec![ColumnChange::DropNotNull],
        ast::ColumnChange::Position(position) => {
            vec![ColumnChange::Position(position_of(position))]
        }
        ast::ColumnChange::SetDefault(default) => {
            vec![ColumnChange::Default(Some(default.text.clone()))]
        }
        ast::ColumnChange::DropDefault => vec![ColumnChange::Default(None)],
        ast::ColumnChange::Change(definition) => {
            let same = definition.path.last().map(|name| name.value.to_lowercase())
                == path.last().map(|name| name.to_lowercase());
            if !same {
                return Err(DeltaError::not_supported_yet(
                    "CHANGE COLUMN with a new name",
                ));
            }
            let mut steps = Vec::new();
            if let Some(comment) = &definition.comment {
                steps.push(ColumnChange::Comment(comment.clone()));
            }
            if let Some(position) = &definition.position {
                steps.push(ColumnChange::Position(position_of(position)));
            }
            steps
        }
    })
}

/// What a new type changes of a column: the type that is stored, the lengths of CHAR and VARCHAR.
fn type_steps(
    table: &DeltaTable,
    schema: &StructType,
    path: &[String],
    (data_type, lengths): (&DataType, Lengths),
) -> Result<Vec<ColumnChange>> {
    let top = path.first().and_then(|name| schema.field(name));
    let old = top.map_or(Lengths::Any, |top| Lengths::of(top).at(&path[1..]).clone());
    let field = definitions::field_at(schema, path);
    let same_lengths = old == lengths || (old.is_any() && lengths.is_any());
    let Some(field) = field else {
        if !same_lengths {
            return Err(DeltaError::not_supported_yet(
                "ALTER COLUMN of CHAR and VARCHAR inside an array or map",
            ));
        }
        return Ok(vec![ColumnChange::Type(data_type.clone())]);
    };
    if !may_become((&field.data_type, &old), (data_type, &lengths)) {
        let name = errors::quoted(path);
        return Err(DeltaError::new("NOT_SUPPORTED_CHANGE_COLUMN")
            .param("table", errors::quoted(&table.qualifier))
            .param("originName", &name)
            .param("originType", format!("\"{}\"", old.sql(&field.data_type)))
            .param("newName", &name)
            .param("newType", format!("\"{}\"", lengths.sql(data_type))));
    }
    let mut steps = Vec::new();
    if field.data_type != *data_type {
        steps.push(ColumnChange::Type(data_type.clone()));
    }
    if !same_lengths {
        steps.push(ColumnChange::Lengths(lengths));
    }
    Ok(steps)
}

/// Whether every value of one type goes over to the other, as ALTER COLUMN asks before the table says what it can.
fn may_become(from: (&DataType, &Lengths), to: (&DataType, &Lengths)) -> bool {
    match (from.1, to.1) {
        (Lengths::Char(old), Lengths::Char(new)) => old == new,
        (Lengths::Char(old) | Lengths::VarChar(old), Lengths::VarChar(new)) => old <= new,
        (_, Lengths::Char(_) | Lengths::VarChar(_)) => false,
        _ => castable::up(from.0, to.0),
    }
}

fn lengths_of(declared: Option<&str>) -> Lengths {
    declared.and_then(Lengths::parse).unwrap_or(Lengths::Any)
}

fn delta(target: Target, operation: &str) -> Result<DeltaTable> {
    match target {
        Target::Delta(table) => Ok(*table),
        Target::Parquet(table) => Err(DeltaError::new("UNSUPPORTED_FEATURE.TABLE_OPERATION")
            .param("tableName", errors::quoted(&table.qualifier))
            .param("operation", operation)),
        Target::View(view) => Err(errors::view_not_table(
            &resolve::view_qualifier(&view),
            operation,
        )),
    }
}

fn path_of(column: &ColumnPath) -> Vec<String> {
    column.iter().map(|part| part.value.clone()).collect()
}

fn position_of(position: &ast::ColumnPosition) -> ColumnPosition {
    match position {
        ast::ColumnPosition::First => ColumnPosition::First,
        ast::ColumnPosition::After(name) => ColumnPosition::After(name.value.clone()),
    }
}

fn new_column(definition: &ColumnDefinition) -> NewColumn {
    NewColumn {
        path: path_of(&definition.path),
        data_type: definition.data_type.clone(),
        lengths: lengths_of(definition.char_type.as_deref()),
        nullable: definition.nullable,
        comment: definition.comment.clone(),
        position: definition.position.as_ref().map(position_of),
    }
}

/// A column of a definition as a field of a schema.
pub(super) fn field_of(definition: &ColumnDefinition) -> StructField {
    let name = definition
        .path
        .last()
        .map_or("", |part| part.value.as_str());
    let mut field = StructField::new(name, definition.data_type.clone(), definition.nullable);
    if let Some(comment) = &definition.comment {
        field = field.with_comment(comment);
    }
    if let Some(char_type) = &definition.char_type {
        field = field.with_metadata(metadata::CHAR_VARCHAR_TYPE, char_type.as_str());
    }
    field
}
