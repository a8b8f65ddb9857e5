//! INSERT, DELETE, UPDATE, TRUNCATE.

use sqlparser::ast::{Ident, With};

use super::{Follow, Parsed, Parser};
use crate::ast::{Assignment, Delete, Insert, InsertMode, Statement, Truncate, Update};

impl Parser<'_> {
    /// What begins with WITH: a query, or DML behind its CTEs.
    pub fn with_statement(&mut self) -> Parsed<Statement> {
        let with = self.ctes()?;
        if self.is("INSERT") {
            return self.insert(with);
        }
        if self.is_any(&["UPDATE", "DELETE", "MERGE"]) {
            let what = format!("WITH before {}", self.peek().value.to_ascii_uppercase());
            return self.unsupported(&what);
        }
        Ok(Statement::Query(Box::new(self.query_after(with)?)))
    }

    pub fn insert(&mut self, with: Option<With>) -> Parsed<Statement> {
        self.at += 1;
        let with_schema_evolution = self.schema_evolution()?;
        let overwrite = self.expect_any(&["INTO", "OVERWRITE"])? == "OVERWRITE";
        if overwrite && (self.is("DIRECTORY") || self.is_seq(&["LOCAL", "DIRECTORY"])) {
            return self.unsupported("INSERT OVERWRITE DIRECTORY");
        }
        if self.is("TABLE") && self.ident_of(self.peek_at(1)).is_some() {
            self.at += 1;
        }
        let table = self.name()?;
        let mut insert = Insert {
            table,
            mode: if overwrite {
                InsertMode::Overwrite
            } else {
                InsertMode::Into
            },
            with_schema_evolution,
            partition: self.partition_spec()?.unwrap_or_default(),
            if_partition_not_exists: false,
            by_name: false,
            columns: Vec::new(),
            source: Box::new(super::query::query_of(sqlparser::ast::SetExpr::Select(
                Box::new(super::select::select(
                    sqlparser::ast::helpers::attached_token::AttachedToken::empty(),
                    Vec::new(),
                )),
            ))),
        };
        insert.if_partition_not_exists = self.if_not_exists()?;
        insert.by_name = self.eat_seq(&["BY", "NAME"]);
        if insert.by_name && self.is_seq(&["REPLACE", "WHERE"]) {
            return self.fail();
        }
        if self.is("REPLACE") && !overwrite {
            insert.mode = self.replace_mode()?;
        }
        if !insert.by_name && self.is_symbol("(") && !self.query_begins_at(1) {
            insert.columns = self.parenthesized(Self::ident)?;
        }
        let own = if with.is_some() { None } else { self.ctes()? };
        insert.source = Box::new(self.query_after(with.or(own))?);
        Ok(Statement::Insert(Box::new(insert)))
    }

    /// `WITH SCHEMA EVOLUTION`
    pub fn schema_evolution(&mut self) -> Parsed<bool> {
        let found = self.eat("WITH");
        if found {
            self.expect_seq(&["SCHEMA", "EVOLUTION"], Follow::Other)?;
        }
        Ok(found)
    }

    fn replace_mode(&mut self) -> Parsed<InsertMode> {
        self.at += 1;
        match self.expect_any(&["WHERE", "USING", "ON"])? {
            "WHERE" => Ok(InsertMode::ReplaceWhere(self.expr()?)),
            "USING" => Ok(InsertMode::ReplaceUsing(self.parenthesized(Self::ident)?)),
            _ => Ok(InsertMode::ReplaceOn(self.expr()?)),
        }
    }

    pub fn delete(&mut self) -> Parsed<Statement> {
        self.at += 1;
        self.expect("FROM", Follow::Name)?;
        let table = self.name()?;
        let alias = self.target_alias()?;
        let condition = if self.eat("WHERE") {
            Some(self.expr()?)
        } else {
            None
        };
        Ok(Statement::Delete(Box::new(Delete {
            table,
            alias,
            condition,
        })))
    }

    pub fn update(&mut self) -> Parsed<Statement> {
        self.at += 1;
        let table = self.name()?;
        let alias = if self.set_begins() {
            None
        } else {
            self.target_alias()?
        };
        self.expect("SET", Follow::Name)?;
        let assignments = self.comma_separated(Self::assignment)?;
        let condition = if self.eat("WHERE") {
            Some(self.expr()?)
        } else {
            None
        };
        Ok(Statement::Update(Box::new(Update {
            table,
            alias,
            assignments,
            condition,
        })))
    }

    fn set_begins(&self) -> bool {
        self.is("SET") && !self.peek_at(1).is("SET")
    }

    /// The alias of a table that a statement changes.
    pub fn target_alias(&mut self) -> Parsed<Option<Ident>> {
        Ok(self.table_alias()?.map(|alias| alias.name))
    }

    pub fn assignment(&mut self) -> Parsed<Assignment> {
        let column = self.parts()?;
        if !self.eat_symbol("==") {
            self.expect_symbol("=", Follow::Expression)?;
        }
        Ok(Assignment {
            column,
            value: self.expr()?,
        })
    }

    pub fn truncate(&mut self) -> Parsed<Statement> {
        self.at += 1;
        self.expect("TABLE", Follow::Name)?;
        let table = self.name()?;
        Ok(Statement::Truncate(Truncate {
            table,
            partition: self.partition_spec()?,
        }))
    }
}
