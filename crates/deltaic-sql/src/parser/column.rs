//! Column definitions of CREATE TABLE and ADD COLUMNS, and table constraints.

use deltaic_protocol::error::DeltaError;
use deltaic_protocol::schema::DataType;
use sqlparser::ast::Ident;

use super::{Follow, Parsed, Parser};
use crate::ast::{
    Check, ColumnDefault, ColumnDefinition, ColumnPath, ColumnPosition, Constraint, ConstraintKind,
    Identity,
};
use crate::data_type::{char_type, to_spark};

impl Parser<'_> {
    /// A type as Spark's; what Spark does not have was refused where it was read.
    pub fn spark_type(&mut self) -> Parsed<(DataType, Option<String>)> {
        let sql = self.data_type()?;
        Ok((to_spark(&sql).unwrap_or(DataType::Void), char_type(&sql)))
    }

    /// `(a INT NOT NULL COMMENT 'x', CONSTRAINT c CHECK (a > 0), …)`.
    pub fn table_elements(&mut self) -> Parsed<(Vec<ColumnDefinition>, Vec<Constraint>)> {
        let mut columns = Vec::new();
        let mut constraints = Vec::new();
        self.expect_symbol("(", Follow::Name)?;
        loop {
            if self.constraint_begins() {
                constraints.push(self.constraint()?);
            } else {
                let name = self.ident()?;
                let mut column = self.column(vec![name.clone()], false)?;
                while let Some(constraint) = self.column_constraint(&name)? {
                    constraints.push(constraint);
                    self.column_options(&mut column, false)?;
                }
                columns.push(column);
            }
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol(")", Follow::Other)?;
        Ok((columns, constraints))
    }

    /// `a.b TYPE options [FIRST | AFTER c]`.
    pub fn added_column(&mut self) -> Parsed<ColumnDefinition> {
        let path = self.parts()?;
        self.column(path, true)
    }

    /// The type and the options of a column.
    pub fn column(&mut self, path: ColumnPath, positioned: bool) -> Parsed<ColumnDefinition> {
        let (data_type, char_type) = self.spark_type()?;
        let mut column = ColumnDefinition {
            path,
            data_type,
            char_type,
            nullable: true,
            comment: None,
            default: None,
            generated: None,
            identity: None,
            position: None,
        };
        self.column_options(&mut column, positioned)?;
        Ok(column)
    }

    /// `NOT NULL`, `COMMENT`, `DEFAULT` and the like, in any order.
    fn column_options(&mut self, column: &mut ColumnDefinition, positioned: bool) -> Parsed<()> {
        loop {
            let option = self.peek().value.to_ascii_uppercase();
            let twice = match option.as_str() {
                "NOT" => {
                    self.at += 1;
                    self.expect("NULL", Follow::Other)?;
                    !std::mem::replace(&mut column.nullable, false)
                }
                "COMMENT" => {
                    self.at += 1;
                    let comment = self.string()?;
                    column.comment.replace(comment).is_some()
                }
                "DEFAULT" => {
                    let default = self.column_default()?;
                    column.default.replace(default).is_some()
                }
                "GENERATED" if !positioned => self.generated(column)?,
                "FIRST" | "AFTER" if positioned => {
                    let position = self.position_clause()?;
                    column.position.replace(position).is_some()
                }
                _ => return Ok(()),
            };
            if twice {
                let name: Vec<&str> = column.path.iter().map(|part| part.value.as_str()).collect();
                let class = "CREATE_TABLE_COLUMN_DESCRIPTOR_DUPLICATE";
                let error = DeltaError::new(class)
                    .param("columnName", name.join("."))
                    .param("optionName", option);
                self.late(error);
            }
        }
    }

    pub fn column_default(&mut self) -> Parsed<ColumnDefault> {
        self.at += 1;
        let start = self.at;
        let expr = self.expr()?;
        Ok(ColumnDefault {
            expr,
            text: self.text_from(start).to_owned(),
        })
    }

    /// `FIRST` or `AFTER c`; the cursor is on the keyword.
    pub fn position_clause(&mut self) -> Parsed<ColumnPosition> {
        Ok(match self.expect_any(&["FIRST", "AFTER"])? {
            "FIRST" => ColumnPosition::First,
            _ => ColumnPosition::After(self.ident()?),
        })
    }

    /// `GENERATED ALWAYS AS (expr)` or `GENERATED (ALWAYS | BY DEFAULT) AS IDENTITY (…)`; says whether it stood there before.
    fn generated(&mut self, column: &mut ColumnDefinition) -> Parsed<bool> {
        let twice = column.generated.is_some() || column.identity.is_some();
        self.at += 1;
        let by_default = self.eat_seq(&["BY", "DEFAULT"]);
        if !by_default {
            self.expect("ALWAYS", Follow::Other)?;
        }
        self.expect("AS", Follow::Symbol("("))?;
        if self.eat("IDENTITY") {
            column.identity = Some(self.identity(by_default)?);
            return Ok(twice);
        }
        if by_default {
            return self.fail();
        }
        self.expect_symbol("(", Follow::Expression)?;
        column.generated = Some(self.expr()?);
        self.expect_symbol(")", Follow::Other)?;
        Ok(twice)
    }

    fn identity(&mut self, allow_explicit_insert: bool) -> Parsed<Identity> {
        let mut identity = Identity {
            allow_explicit_insert,
            start: 1,
            step: 1,
        };
        if self.eat_symbol("(") {
            while !self.eat_symbol(")") {
                if self.eat("START") {
                    self.expect("WITH", Follow::Expression)?;
                    identity.start = self.signed()?;
                } else {
                    self.expect("INCREMENT", Follow::Other)?;
                    self.expect("BY", Follow::Expression)?;
                    identity.step = self.signed()?;
                }
                self.eat_symbol(",");
            }
        }
        if identity.step == 0 {
            let error = DeltaError::new("IDENTITY_COLUMNS_ILLEGAL_STEP");
            self.late(error);
        }
        Ok(identity)
    }

    fn signed(&mut self) -> Parsed<i64> {
        let at = self.at;
        let value = self.unary_number()?;
        crate::literal::integer(&value).ok_or_else(|| self.stop_at(at))
    }

    fn unary_number(&mut self) -> Parsed<sqlparser::ast::Expr> {
        self.eat_symbol("+");
        self.primary()
    }

    pub fn constraint_begins(&self) -> bool {
        let after = self.peek_at(1);
        let unnamed = self.is("CHECK") && after.is_symbol("(")
            || self.is("PRIMARY") && after.is("KEY")
            || self.is("FOREIGN") && after.is("KEY")
            || self.is("UNIQUE") && after.is_symbol("(");
        let kinds = ["CHECK", "PRIMARY", "FOREIGN", "UNIQUE"];
        unnamed || self.is("CONSTRAINT") && kinds.iter().any(|kind| self.peek_at(2).is(kind))
    }

    /// `[CONSTRAINT name] CHECK (…) | PRIMARY KEY (…) | UNIQUE (…) | FOREIGN KEY (…) REFERENCES …`.
    pub fn constraint(&mut self) -> Parsed<Constraint> {
        let name = if self.eat("CONSTRAINT") {
            Some(self.ident()?)
        } else {
            None
        };
        let kind = match self.expect_any(&["CHECK", "PRIMARY", "UNIQUE", "FOREIGN"])? {
            "CHECK" => ConstraintKind::Check(self.check()?),
            "PRIMARY" => {
                self.expect("KEY", Follow::Symbol("("))?;
                ConstraintKind::PrimaryKey(self.parenthesized(Self::ident)?)
            }
            "UNIQUE" => ConstraintKind::Unique(self.parenthesized(Self::ident)?),
            _ => {
                self.expect("KEY", Follow::Symbol("("))?;
                let columns = self.parenthesized(Self::ident)?;
                self.expect("REFERENCES", Follow::Name)?;
                let table = self.name()?;
                let referred = self.referred()?;
                ConstraintKind::ForeignKey {
                    columns,
                    table,
                    referred,
                }
            }
        };
        self.characteristics(&kind);
        Ok(Constraint { name, kind })
    }

    /// A constraint among the options of a column, which is one of the table: `PRIMARY KEY`, `UNIQUE`, `REFERENCES t (c)` or
    /// `CHECK (…)`, with or without a name.
    fn column_constraint(&mut self, column: &Ident) -> Parsed<Option<Constraint>> {
        let named = self.is("CONSTRAINT");
        let first = if named { self.peek_at(2) } else { self.peek() };
        let kinds = ["CHECK", "PRIMARY", "UNIQUE", "REFERENCES"];
        if !kinds.iter().any(|kind| first.is(kind)) {
            return Ok(None);
        }
        if first.is("CHECK") {
            return self.constraint().map(Some);
        }
        let name = if self.eat("CONSTRAINT") {
            Some(self.ident()?)
        } else {
            None
        };
        let columns = vec![column.clone()];
        let kind = match self.expect_any(&["PRIMARY", "UNIQUE", "REFERENCES"])? {
            "PRIMARY" => {
                self.expect("KEY", Follow::Other)?;
                ConstraintKind::PrimaryKey(columns)
            }
            "UNIQUE" => ConstraintKind::Unique(columns),
            _ => {
                let table = self.name()?;
                let referred = self.referred()?;
                ConstraintKind::ForeignKey {
                    columns,
                    table,
                    referred,
                }
            }
        };
        self.characteristics(&kind);
        Ok(Some(Constraint { name, kind }))
    }

    /// `(c, …)` after the table that a key refers to.
    fn referred(&mut self) -> Parsed<Vec<Ident>> {
        if self.is_symbol("(") {
            self.parenthesized(Self::ident)
        } else {
            Ok(Vec::new())
        }
    }

    /// Only rows are checked by Delta, and only keys can be left unchecked.
    fn characteristics(&mut self, kind: &ConstraintKind) {
        loop {
            let start = self.at;
            let not = self.eat_seq(&["NOT", "ENFORCED"]);
            if !not && self.eat_any(&["ENFORCED", "RELY", "NORELY"]).is_none() {
                return;
            }
            if not && matches!(kind, ConstraintKind::Check(_)) {
                let error = self.error_at("UNSUPPORTED_CONSTRAINT_CHARACTERISTIC", start);
                let error = error.param("characteristic", "NOT ENFORCED");
                self.late(error.param("constraintType", "CHECK"));
            }
        }
    }

    /// `(expr)`, with the text that Delta keeps: the tokens, a blank between each two.
    fn check(&mut self) -> Parsed<Check> {
        self.expect_symbol("(", Follow::Expression)?;
        let start = self.at;
        let expr = self.expr()?;
        let text = self.joined_from(start);
        self.expect_symbol(")", Follow::Other)?;
        Ok(Check { expr, text })
    }
}
