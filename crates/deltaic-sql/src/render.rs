//! Statements and expressions back to text. `parse(render(command)) = command` holds for the commands of Delta and the catalog.

use sqlparser::ast::{Expr, Query, TableFactor, Value, ValueWithSpan};

use crate::ast::{
    AlterTableAction, Inventory, Name, PartitionSpec, Property, ReorgAction, Set, Statement,
    Travel, Use, VacuumMode,
};
use crate::visit::{self, Edit};

/// An expression as SQL that parses to it again.
pub fn expr(expr: &Expr) -> String {
    let mut copy = expr.clone();
    match visit::expr(&mut copy, &mut Escape) {
        Ok(()) => copy.to_string(),
        Err(_) => expr.to_string(),
    }
}

/// A query as SQL.
pub fn query(query: &Query) -> String {
    let mut copy = query.clone();
    match visit::query(&mut copy, &mut Escape) {
        Ok(()) => copy.to_string(),
        Err(_) => query.to_string(),
    }
}

/// sqlparser prints strings by other rules: backslashes stay, which Spark reads as escapes, and so do doubled quotes.
struct Escape;

impl Edit for Escape {
    fn expr(&mut self, expr: &mut Expr) -> deltaic_protocol::error::Result<()> {
        match expr {
            Expr::Value(ValueWithSpan {
                value: Value::SingleQuotedString(text),
                ..
            }) => *text = escaped(text),
            Expr::TypedString(typed) => {
                if let Value::SingleQuotedString(text) = &mut typed.value.value {
                    *text = escaped(text);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn name(&mut self, _: &mut Name) -> deltaic_protocol::error::Result<()> {
        Ok(())
    }

    fn relation(&mut self, _: &mut TableFactor) -> deltaic_protocol::error::Result<()> {
        Ok(())
    }
}

/// With the escapes that sqlparser prints as they are.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}

/// A string literal.
pub fn string(text: &str) -> String {
    format!("'{}'", escaped(text))
}

/// An identifier, in backticks where it needs them.
pub fn ident(text: &str) -> String {
    let plain = !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit());
    if plain {
        text.to_owned()
    } else {
        format!("`{}`", text.replace('`', "``"))
    }
}

/// A name.
pub fn name(name: &Name) -> String {
    match name {
        Name::Parts(parts) => parts
            .iter()
            .map(|part| {
                if part.quote_style.is_some() {
                    format!("`{}`", part.value.replace('`', "``"))
                } else {
                    part.value.clone()
                }
            })
            .collect::<Vec<_>>()
            .join("."),
        Name::Identifier(inner) => format!("IDENTIFIER({})", expr(inner)),
        Name::Path(path) => string(path),
    }
}

/// The temporal clause.
pub fn travel(travel: &Travel) -> String {
    match travel {
        Travel::Version(version) => format!("VERSION AS OF {}", expr(version)),
        Travel::Timestamp(timestamp) => format!("TIMESTAMP AS OF {}", expr(timestamp)),
        Travel::Compact(digits) => format!("@{digits}"),
    }
}

fn properties(list: &[Property]) -> String {
    let each: Vec<String> = list
        .iter()
        .map(|property| format!("{} = {}", string(&property.key), expr(&property.value)))
        .collect();
    format!("({})", each.join(", "))
}

fn keys(list: &[String]) -> String {
    format!(
        "({})",
        list.iter()
            .map(|key| string(key))
            .collect::<Vec<_>>()
            .join(", ")
    )
}

fn path(parts: &[sqlparser::ast::Ident]) -> String {
    name(&Name::Parts(parts.to_vec()))
}

fn paths(list: &[Vec<sqlparser::ast::Ident>]) -> String {
    format!(
        "({})",
        list.iter()
            .map(|parts| path(parts))
            .collect::<Vec<_>>()
            .join(", ")
    )
}

fn partition(spec: &PartitionSpec) -> String {
    let each: Vec<String> = spec
        .iter()
        .map(|(key, value)| {
            let key = path(std::slice::from_ref(key));
            value
                .as_ref()
                .map_or_else(|| key.clone(), |value| format!("{key} = {}", expr(value)))
        })
        .collect();
    format!("PARTITION ({})", each.join(", "))
}

/// A statement of Delta's own grammar or a simple one of the catalog; `None` for the others.
pub fn statement(statement: &Statement) -> Option<String> {
    let mut out: Vec<String> = Vec::new();
    let mut add = |text: String| out.push(text);
    match statement {
        Statement::Query(inner) => add(query(inner)),
        Statement::Vacuum(vacuum) => {
            add(format!("VACUUM {}", name(&vacuum.table)));
            match vacuum.mode {
                Some(VacuumMode::Full) => add("FULL".into()),
                Some(VacuumMode::Lite) => add("LITE".into()),
                None => {}
            }
            match &vacuum.inventory {
                Some(Inventory::Table(table)) => add(format!("USING INVENTORY {}", name(table))),
                Some(Inventory::Query(inner)) => add(format!("USING INVENTORY ({})", query(inner))),
                None => {}
            }
            if let Some(hours) = &vacuum.retain_hours {
                add(format!("RETAIN {} HOURS", expr(hours)));
            }
            if vacuum.dry_run {
                add("DRY RUN".into());
            }
        }
        Statement::Restore(restore) => add(format!(
            "RESTORE TABLE {} TO {}",
            name(&restore.table),
            travel(&restore.travel)
        )),
        Statement::DescribeHistory(history) => {
            add(format!("DESCRIBE HISTORY {}", name(&history.table)));
            if let Some(limit) = &history.limit {
                add(format!("LIMIT {}", expr(limit)));
            }
        }
        Statement::DescribeDetail(detail) => {
            add(format!("DESCRIBE DETAIL {}", name(&detail.table)))
        }
        Statement::Optimize(optimize) => {
            add(format!("OPTIMIZE {}", name(&optimize.table)));
            if optimize.full {
                add("FULL".into());
            }
            if let Some(predicate) = &optimize.predicate {
                add(format!("WHERE {}", predicate.text));
            }
            if !optimize.zorder_by.is_empty() {
                add(format!("ZORDER BY {}", paths(&optimize.zorder_by)));
            }
        }
        Statement::Reorg(reorg) => {
            add(format!("REORG TABLE {}", name(&reorg.table)));
            if let Some(predicate) = &reorg.predicate {
                add(format!("WHERE {}", predicate.text));
            }
            add(match reorg.action {
                ReorgAction::Purge => "APPLY (PURGE)".into(),
                ReorgAction::UpgradeUniform {
                    iceberg_compat_version,
                } => {
                    format!(
                        "APPLY (UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = {iceberg_compat_version}))"
                    )
                }
            });
        }
        Statement::Generate(generate) => add(format!(
            "GENERATE {} FOR TABLE {}",
            ident(&generate.mode),
            name(&generate.table)
        )),
        Statement::Repair(repair) => {
            add(format!("FSCK REPAIR TABLE {}", name(&repair.table)));
            if repair.dry_run {
                add("DRY RUN".into());
            }
        }
        Statement::RepairPartitions(table) => add(format!("MSCK REPAIR TABLE {}", name(table))),
        Statement::AlterTable(alter) => add(format!(
            "ALTER TABLE {} {}",
            name(&alter.name),
            action(&alter.action)?
        )),
        Statement::DropTable(drop)
        | Statement::DropView(drop)
        | Statement::DropSchema(drop)
        | Statement::DropCatalog(drop) => {
            let object = match statement {
                Statement::DropTable(_) => "TABLE",
                Statement::DropView(_) => "VIEW",
                Statement::DropSchema(_) => "SCHEMA",
                _ => "CATALOG",
            };
            let exists = if drop.if_exists { "IF EXISTS " } else { "" };
            add(format!("DROP {object} {exists}{}", name(&drop.name)));
            if drop.cascade {
                add("CASCADE".into());
            }
            if drop.purge {
                add("PURGE".into());
            }
        }
        Statement::Use(Use::Catalog(catalog)) => add(format!("USE CATALOG {}", name(catalog))),
        Statement::Use(Use::Namespace {
            name: namespace,
            keyword,
        }) => {
            add(format!(
                "USE {}{}",
                if *keyword { "SCHEMA " } else { "" },
                name(namespace)
            ));
        }
        Statement::Set(Set::Value { key, value }) => add(format!("SET {key} = {value}")),
        Statement::Set(Set::Get { key }) => add(format!("SET {key}")),
        Statement::Set(Set::All) => add("SET".into()),
        Statement::Set(Set::Verbose) => add("SET -v".into()),
        Statement::Truncate(truncate) => {
            add(format!("TRUNCATE TABLE {}", name(&truncate.table)));
            if let Some(spec) = &truncate.partition {
                add(partition(spec));
            }
        }
        Statement::RefreshTable(table) => add(format!("REFRESH TABLE {}", name(table))),
        Statement::ShowTblProperties(show) => {
            add(format!("SHOW TBLPROPERTIES {}", name(&show.table)));
            if let Some(key) = &show.key {
                add(format!("({})", string(key)));
            }
        }
        Statement::ShowCreateTable(show) => {
            add(format!(
                "SHOW CREATE TABLE {}{}",
                name(&show.table),
                if show.as_serde { " AS SERDE" } else { "" }
            ));
        }
        Statement::ShowPartitions(show) => {
            add(format!("SHOW PARTITIONS {}", name(&show.table)));
            if let Some(spec) = &show.partition {
                add(partition(spec));
            }
        }
        Statement::Delete(delete) => {
            add(format!("DELETE FROM {}", name(&delete.table)));
            if let Some(alias) = &delete.alias {
                add(format!("AS {}", path(std::slice::from_ref(alias))));
            }
            if let Some(condition) = &delete.condition {
                add(format!("WHERE {}", expr(condition)));
            }
        }
        _ => return None,
    }
    Some(out.join(" "))
}

fn action(action: &AlterTableAction) -> Option<String> {
    use AlterTableAction as A;
    Some(match action {
        A::Rename { to } => format!("RENAME TO {}", name(to)),
        A::SetProperties(list) => format!("SET TBLPROPERTIES {}", properties(list)),
        A::UnsetProperties {
            keys: list,
            if_exists,
        } => {
            format!(
                "UNSET TBLPROPERTIES {}{}",
                if *if_exists { "IF EXISTS " } else { "" },
                keys(list)
            )
        }
        A::DropColumns { columns, if_exists } => format!(
            "DROP COLUMNS {}{}",
            if *if_exists { "IF EXISTS " } else { "" },
            paths(columns)
        ),
        A::RenameColumn { column, to } => format!(
            "RENAME COLUMN {} TO {}",
            path(column),
            path(std::slice::from_ref(to))
        ),
        A::DropConstraint {
            name: constraint,
            if_exists,
            cascade,
        } => format!(
            "DROP CONSTRAINT {}{}{}",
            if *if_exists { "IF EXISTS " } else { "" },
            path(std::slice::from_ref(constraint)),
            if *cascade { " CASCADE" } else { "" }
        ),
        A::ClusterBy(columns) if columns.is_empty() => "CLUSTER BY NONE".into(),
        A::ClusterBy(columns) => format!("CLUSTER BY {}", paths(columns)),
        A::DropFeature {
            feature,
            truncate_history,
        } => {
            format!(
                "DROP FEATURE {}{}",
                string(feature),
                if *truncate_history {
                    " TRUNCATE HISTORY"
                } else {
                    ""
                }
            )
        }
        A::SyncIdentity { column } => format!("ALTER COLUMN {} SYNC IDENTITY", path(column)),
        A::RecoverPartitions => "RECOVER PARTITIONS".into(),
        _ => return None,
    })
}
