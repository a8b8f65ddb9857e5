//! ALTER of tables, views and schemas. Constraints, features, clustering and SYNC IDENTITY are Delta's own grammar.

use super::create::SCHEMA_WORDS;
use super::{Follow, Parsed, Parser};
use crate::ast::{
    AlterColumn, AlterSchema, AlterSchemaAction, AlterTable, AlterTableAction, AlterView,
    AlterViewAction, ColumnChange, Name, PartitionSpec, Statement,
};
use crate::lexer::Kind;

impl Parser<'_> {
    /// What follows ALTER.
    pub fn alter(&mut self) -> Parsed<Statement> {
        self.at += 1;
        if self.eat("TABLE") {
            let name = self.name()?;
            let action = self.table_action()?;
            self.check_delta_name(&name, &action);
            return Ok(Statement::AlterTable(Box::new(AlterTable { name, action })));
        }
        if self.eat("VIEW") {
            let name = self.name()?;
            let action = self.view_action()?;
            return Ok(Statement::AlterView(Box::new(AlterView { name, action })));
        }
        if self.is_any(&SCHEMA_WORDS) {
            self.at += 1;
            let name = self.name()?;
            let action = self.schema_action()?;
            return Ok(Statement::AlterSchema(Box::new(AlterSchema {
                name,
                action,
            })));
        }
        self.fail()
    }

    /// Delta's parser takes names of up to three parts.
    fn check_delta_name(&mut self, name: &Name, action: &AlterTableAction) {
        use AlterTableAction as A;
        if matches!(
            action,
            A::AddConstraint(_)
                | A::DropConstraint { .. }
                | A::DropFeature { .. }
                | A::ClusterBy(_)
                | A::SyncIdentity { .. }
        ) {
            self.check_parts(name);
        }
    }

    fn table_action(&mut self) -> Parsed<AlterTableAction> {
        let partition = self.partition_spec()?;
        let start = self.at;
        let Some(verb) = self.eat_any(&[
            "ADD", "DROP", "RENAME", "SET", "UNSET", "ALTER", "CHANGE", "REPLACE", "RECOVER",
            "CLUSTER",
        ]) else {
            return self.fail();
        };
        match verb {
            "ADD" => self.add(),
            "DROP" => self.drop_part(),
            "RENAME" => self.rename(partition),
            "SET" => self.set_part(partition),
            "UNSET" => {
                self.expect("TBLPROPERTIES", Follow::Symbol("("))?;
                let if_exists = self.if_exists();
                Ok(AlterTableAction::UnsetProperties {
                    keys: self.property_keys()?,
                    if_exists,
                })
            }
            "ALTER" | "CHANGE" => self.alter_column(verb == "CHANGE"),
            "REPLACE" => {
                self.expect("COLUMNS", Follow::Symbol("("))?;
                Ok(AlterTableAction::ReplaceColumns(
                    self.parenthesized(Self::added_column)?,
                ))
            }
            "RECOVER" => {
                self.expect("PARTITIONS", Follow::Other)?;
                Ok(AlterTableAction::RecoverPartitions)
            }
            _ if self.eat("BY") => Ok(AlterTableAction::ClusterBy(self.cluster_columns()?)),
            _ => Err(self.stop_at(start + 1)),
        }
    }

    fn add(&mut self) -> Parsed<AlterTableAction> {
        if self.eat_any(&["COLUMNS", "COLUMN"]).is_some() {
            let columns = if self.is_symbol("(") {
                self.parenthesized(Self::added_column)?
            } else {
                self.comma_separated(Self::added_column)?
            };
            return Ok(AlterTableAction::AddColumns(columns));
        }
        if self.is("CONSTRAINT") || self.constraint_begins() {
            return Ok(AlterTableAction::AddConstraint(self.constraint()?));
        }
        let if_not_exists = self.if_not_exists()?;
        let mut partitions: Vec<(PartitionSpec, Option<sqlparser::ast::Expr>)> = Vec::new();
        while let Some(spec) = self.partition_spec()? {
            let location = if self.eat("LOCATION") {
                Some(self.string_or_parameter()?)
            } else {
                None
            };
            partitions.push((spec, location));
        }
        if partitions.is_empty() {
            return self.fail();
        }
        Ok(AlterTableAction::AddPartitions {
            if_not_exists,
            partitions,
        })
    }

    fn drop_part(&mut self) -> Parsed<AlterTableAction> {
        if self.eat_any(&["COLUMNS", "COLUMN"]).is_some() {
            let if_exists = self.if_exists();
            let columns = if self.is_symbol("(") {
                self.parenthesized(Self::column_path)?
            } else {
                self.comma_separated(Self::column_path)?
            };
            return Ok(AlterTableAction::DropColumns { columns, if_exists });
        }
        if self.eat("CONSTRAINT") {
            let if_exists = self.if_exists();
            let name = self.ident()?;
            let cascade = self.eat_any(&["RESTRICT", "CASCADE"]) == Some("CASCADE");
            return Ok(AlterTableAction::DropConstraint {
                name,
                if_exists,
                cascade,
            });
        }
        if self.is("FEATURE") && !self.ends_at(1) {
            self.at += 1;
            let feature = if self.peek().kind == Kind::Text {
                self.string()?
            } else {
                self.ident()?.value
            };
            let truncate_history = self.eat("TRUNCATE");
            if truncate_history {
                self.expect("HISTORY", Follow::Other)?;
            }
            return Ok(AlterTableAction::DropFeature {
                feature,
                truncate_history,
            });
        }
        let if_exists = self.if_exists();
        let mut partitions = Vec::new();
        while let Some(spec) = self.partition_spec()? {
            partitions.push(spec);
            if !self.eat_symbol(",") {
                break;
            }
        }
        if partitions.is_empty() {
            return self.fail();
        }
        Ok(AlterTableAction::DropPartitions {
            if_exists,
            partitions,
            purge: self.eat("PURGE"),
        })
    }

    fn rename(&mut self, partition: Option<PartitionSpec>) -> Parsed<AlterTableAction> {
        if let Some(from) = partition {
            self.expect("TO", Follow::Other)?;
            return match self.partition_spec()? {
                Some(to) => Ok(AlterTableAction::RenamePartition { from, to }),
                None => self.fail(),
            };
        }
        if self.eat("COLUMN") {
            let column = self.column_path()?;
            self.expect("TO", Follow::Name)?;
            return Ok(AlterTableAction::RenameColumn {
                column,
                to: self.ident()?,
            });
        }
        if !self.eat("TO") {
            return self.fail();
        }
        Ok(AlterTableAction::Rename { to: self.name()? })
    }

    fn set_part(&mut self, partition: Option<PartitionSpec>) -> Parsed<AlterTableAction> {
        match self.eat_any(&["TBLPROPERTIES", "LOCATION", "SERDE", "SERDEPROPERTIES"]) {
            Some("TBLPROPERTIES") => Ok(AlterTableAction::SetProperties(self.properties()?)),
            Some("LOCATION") => Ok(AlterTableAction::SetLocation {
                location: self.string_or_parameter()?,
                partition,
            }),
            Some("SERDE") => {
                self.string()?;
                if self.eat_seq(&["WITH", "SERDEPROPERTIES"]) {
                    self.properties()?;
                }
                Ok(AlterTableAction::SetSerde)
            }
            Some(_) => {
                self.properties()?;
                Ok(AlterTableAction::SetSerde)
            }
            None => self.fail(),
        }
    }

    fn alter_column(&mut self, change: bool) -> Parsed<AlterTableAction> {
        self.eat("COLUMN");
        let column = self.column_path()?;
        if self.eat_seq(&["SYNC", "IDENTITY"]) {
            return Ok(AlterTableAction::SyncIdentity { column });
        }
        // Hive's form names the column again and gives its type.
        let words = ["TYPE", "COMMENT", "SET", "DROP", "FIRST", "AFTER"];
        if change && !self.is_any(&words) && self.ident_of(self.peek()).is_some() {
            let name = self.ident()?;
            let definition = Box::new(self.column(vec![name], true)?);
            return Ok(AlterTableAction::AlterColumns(vec![AlterColumn {
                column,
                change: ColumnChange::Change(definition),
            }]));
        }
        let mut columns = vec![AlterColumn {
            column,
            change: self.column_change()?,
        }];
        while !change && self.eat_symbol(",") {
            let column = self.column_path()?;
            columns.push(AlterColumn {
                column,
                change: self.column_change()?,
            });
        }
        Ok(AlterTableAction::AlterColumns(columns))
    }

    fn column_change(&mut self) -> Parsed<ColumnChange> {
        match self.eat_any(&["TYPE", "COMMENT", "SET", "DROP"]) {
            Some("TYPE") => {
                let (data_type, char_type) = self.spark_type()?;
                Ok(ColumnChange::Type {
                    data_type,
                    char_type,
                })
            }
            Some("COMMENT") => Ok(ColumnChange::Comment(self.string()?)),
            Some(verb) => {
                let set = verb == "SET";
                if self.is("DEFAULT") {
                    if set {
                        return Ok(ColumnChange::SetDefault(self.column_default()?));
                    }
                    self.at += 1;
                    return Ok(ColumnChange::DropDefault);
                }
                if !self.eat("NOT") {
                    return self.fail();
                }
                self.expect("NULL", Follow::Other)?;
                Ok(if set {
                    ColumnChange::SetNotNull
                } else {
                    ColumnChange::DropNotNull
                })
            }
            None => Ok(ColumnChange::Position(self.position_clause()?)),
        }
    }

    fn view_action(&mut self) -> Parsed<AlterViewAction> {
        if self.eat("RENAME") {
            self.expect("TO", Follow::Name)?;
            return Ok(AlterViewAction::Rename { to: self.name()? });
        }
        if self.eat("SET") {
            self.expect("TBLPROPERTIES", Follow::Symbol("("))?;
            return Ok(AlterViewAction::SetProperties(self.properties()?));
        }
        if self.eat("UNSET") {
            self.expect("TBLPROPERTIES", Follow::Symbol("("))?;
            let if_exists = self.if_exists();
            return Ok(AlterViewAction::UnsetProperties {
                keys: self.property_keys()?,
                if_exists,
            });
        }
        self.eat("AS");
        let from = self.at;
        let query = Box::new(self.query()?);
        Ok(AlterViewAction::As {
            query,
            text: self.text_from(from).to_owned(),
        })
    }

    fn schema_action(&mut self) -> Parsed<AlterSchemaAction> {
        if self.eat("UNSET") {
            self.expect_any(&["DBPROPERTIES", "PROPERTIES"])?;
            let if_exists = self.if_exists();
            return Ok(AlterSchemaAction::UnsetProperties {
                keys: self.property_keys()?,
                if_exists,
            });
        }
        if !self.eat("SET") {
            return self.fail();
        }
        match self.expect_any(&["DBPROPERTIES", "PROPERTIES", "LOCATION"])? {
            "LOCATION" => Ok(AlterSchemaAction::SetLocation(self.string_or_parameter()?)),
            _ => Ok(AlterSchemaAction::SetProperties(self.properties()?)),
        }
    }
}
