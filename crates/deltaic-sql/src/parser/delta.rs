//! Delta's own commands (spec/delta.md section 7.1). Delta's parser runs before Spark's: text that it does not take whole
//! goes on to Spark's parser, which does not know the first word, so every mistake in these commands is reported there.

use deltaic_protocol::error::DeltaError;
use sqlparser::ast::Expr;

use super::{Follow, Parsed, Parser};
use crate::ast::{
    Convert, DescribeDetail, DescribeHistory, Generate, Inventory, Name, Optimize, Predicate,
    Reorg, ReorgAction, Repair, Restore, Statement, Vacuum, VacuumMode,
};
use crate::lexer::Kind;

impl Parser<'_> {
    /// `rule` up to the end of the text, or a failure at its first word.
    pub fn delta_command(
        &mut self,
        rule: impl FnOnce(&mut Self) -> Parsed<Statement>,
    ) -> Parsed<Statement> {
        let start = self.at;
        self.delta_only(rule).map_err(|_| self.stop_at(start))
    }

    /// `rule` up to the end of the text, or the cursor back.
    pub fn delta_only(
        &mut self,
        rule: impl FnOnce(&mut Self) -> Parsed<Statement>,
    ) -> Parsed<Statement> {
        self.attempt(|p| {
            p.at += 1;
            let statement = rule(p)?;
            p.expect_end()?;
            Ok(statement)
        })
    }

    /// Delta's parser takes names of at most three parts.
    pub fn check_parts(&mut self, name: &Name) {
        if let Name::Parts(parts) = name
            && parts.len() > 3
        {
            let dotted = parts
                .iter()
                .map(|part| part.value.as_str())
                .collect::<Vec<_>>()
                .join(".");
            self.late(
                DeltaError::new("DELTA_PARSING_ILLEGAL_TABLE_NAME").param("tableName", dotted),
            );
        }
    }

    fn delta_table(&mut self) -> Parsed<Name> {
        let name = self.name_or_path()?;
        self.check_parts(&name);
        Ok(name)
    }

    pub fn vacuum(&mut self) -> Parsed<Statement> {
        let mut vacuum = Vacuum {
            table: self.delta_table()?,
            mode: None,
            inventory: None,
            retain_hours: None,
            dry_run: false,
        };
        let start = self.at;
        let mut twice = Vec::new();
        loop {
            let (clause, again) = if let Some(word) = self.eat_any(&["LITE", "FULL"]) {
                let mode = if word == "LITE" {
                    VacuumMode::Lite
                } else {
                    VacuumMode::Full
                };
                ("LITE/FULL", vacuum.mode.replace(mode).is_some())
            } else if self.eat_seq(&["USING", "INVENTORY"]) {
                let inventory = self.inventory()?;
                ("INVENTORY", vacuum.inventory.replace(inventory).is_some())
            } else if self.eat("RETAIN") {
                let hours = self.hours()?;
                ("RETAIN", vacuum.retain_hours.replace(hours).is_some())
            } else if self.eat("DRY") {
                self.expect("RUN", Follow::Other)?;
                ("DRY RUN", std::mem::replace(&mut vacuum.dry_run, true))
            } else {
                break;
            };
            if again {
                twice.push(clause);
            }
        }
        // Delta looks for doubles in this order.
        if let Some(clause) = ["INVENTORY", "RETAIN", "DRY RUN", "LITE/FULL"]
            .into_iter()
            .find(|clause| twice.contains(clause))
        {
            let error = self
                .error_at("DUPLICATE_CLAUSES", start)
                .param("clauseName", clause);
            self.late(error);
        } else if vacuum.mode == Some(VacuumMode::Lite) && vacuum.inventory.is_some() {
            let error = self.error_at("_LEGACY_ERROR_TEMP_0035", start);
            self.late(error.param("message", "Inventory option is not compatible with LITE"));
        }
        Ok(Statement::Vacuum(Box::new(vacuum)))
    }

    fn inventory(&mut self) -> Parsed<Inventory> {
        if self.eat_symbol("(") {
            let query = Box::new(self.query()?);
            self.expect_symbol(")", Follow::Other)?;
            return Ok(Inventory::Query(query));
        }
        Ok(Inventory::Table(self.name()?))
    }

    /// `n HOURS`: a number with its sign, or a parameter.
    fn hours(&mut self) -> Parsed<Expr> {
        let hours = match self.parameter() {
            Some(parameter) => parameter,
            None if self.peek().kind == Kind::Integer
                || self.peek().kind == Kind::Number
                || self.is_symbol("-") =>
            {
                self.primary()?
            }
            None => return self.fail(),
        };
        self.expect("HOURS", Follow::Other)?;
        Ok(hours)
    }

    /// RESTORE takes a literal behind TIMESTAMP AS OF; any constant expression is taken here.
    pub fn restore(&mut self) -> Parsed<Statement> {
        if self.is("TABLE") && !self.peek_at(1).is("TO") && !self.peek_at(1).is_symbol(".") {
            self.at += 1;
        }
        let table = self.delta_table()?;
        self.eat("TO");
        let Some(travel) = self.temporal()? else {
            return self.fail();
        };
        Ok(Statement::Restore(Box::new(Restore { table, travel })))
    }

    /// Behind `DESCRIBE HISTORY`.
    pub fn describe_history(&mut self) -> Parsed<Statement> {
        self.expect("HISTORY", Follow::Name)?;
        let table = self.delta_table()?;
        let limit = if self.eat("LIMIT") {
            Some(match self.parameter() {
                Some(parameter) => parameter,
                None if self.peek().kind == Kind::Integer => self.primary()?,
                None => return self.fail(),
            })
        } else {
            None
        };
        Ok(Statement::DescribeHistory(DescribeHistory { table, limit }))
    }

    /// Behind `DESCRIBE DETAIL`.
    pub fn describe_detail(&mut self) -> Parsed<Statement> {
        self.expect("DETAIL", Follow::Name)?;
        Ok(Statement::DescribeDetail(DescribeDetail {
            table: self.delta_table()?,
        }))
    }

    pub fn optimize(&mut self) -> Parsed<Statement> {
        let table = self.delta_table()?;
        let full = self.eat("FULL");
        let predicate = self.predicate_clause()?;
        let zorder_by = if self.eat("ZORDER") {
            self.expect("BY", Follow::Other)?;
            if self.is_symbol("(") {
                self.parenthesized(Self::parts)?
            } else {
                self.comma_separated(Self::parts)?
            }
        } else {
            Vec::new()
        };
        Ok(Statement::Optimize(Box::new(Optimize {
            table,
            full,
            predicate,
            zorder_by,
        })))
    }

    fn predicate_clause(&mut self) -> Parsed<Option<Predicate>> {
        if !self.eat("WHERE") {
            return Ok(None);
        }
        let start = self.at;
        let expr = self.expr()?;
        Ok(Some(Predicate {
            expr,
            text: self.text_from(start).to_owned(),
        }))
    }

    pub fn reorg(&mut self) -> Parsed<Statement> {
        self.expect("TABLE", Follow::Name)?;
        let table = self.delta_table()?;
        let predicate = self.predicate_clause()?;
        self.expect("APPLY", Follow::Other)?;
        self.expect_symbol("(", Follow::Other)?;
        let action = match self.expect_any(&["PURGE", "UPGRADE"])? {
            "PURGE" => ReorgAction::Purge,
            _ => {
                self.expect("UNIFORM", Follow::Other)?;
                self.expect_symbol("(", Follow::Other)?;
                self.expect("ICEBERG_COMPAT_VERSION", Follow::Other)?;
                self.expect_symbol("=", Follow::Other)?;
                let at = self.at;
                let iceberg_compat_version =
                    i32::try_from(self.integer()?).map_err(|_| self.stop_at(at))?;
                self.expect_symbol(")", Follow::Other)?;
                ReorgAction::UpgradeUniform {
                    iceberg_compat_version,
                }
            }
        };
        self.expect_symbol(")", Follow::Other)?;
        Ok(Statement::Reorg(Box::new(Reorg {
            table,
            predicate,
            action,
        })))
    }

    pub fn convert(&mut self) -> Parsed<Statement> {
        self.expect_seq(&["TO", "DELTA"], Follow::Name)?;
        let table = self.delta_table()?;
        let mut convert = Convert {
            table,
            collect_statistics: true,
            partitioned_by: None,
        };
        if self.eat("NO") {
            self.expect("STATISTICS", Follow::Other)?;
            convert.collect_statistics = false;
        }
        if self.eat("PARTITIONED") {
            self.expect("BY", Follow::Other)?;
            convert.partitioned_by = Some(self.parenthesized(|p| {
                let name = p.ident()?;
                p.column(vec![name], false)
            })?);
        }
        if convert.collect_statistics && self.eat("NO") {
            self.expect("STATISTICS", Follow::Other)?;
            convert.collect_statistics = false;
        }
        Ok(Statement::Convert(Box::new(convert)))
    }

    /// FSCK REPAIR TABLE. Its modes that read the files' content are known and not supported.
    pub fn repair(&mut self) -> Parsed<Statement> {
        self.expect_seq(&["REPAIR", "TABLE"], Follow::Name)?;
        let table = self.delta_table()?;
        let modes: [&[&str]; 2] = [&["METADATA", "ONLY"], &["VERIFY", "ALL", "FILES"]];
        for mode in modes {
            if self.eat_seq(mode) {
                let what = format!("FSCK REPAIR TABLE … {}", mode.join(" "));
                self.late(DeltaError::not_supported_yet(what));
            }
        }
        let dry_run = self.eat("DRY");
        if dry_run {
            self.expect("RUN", Follow::Other)?;
        }
        Ok(Statement::Repair(Repair { table, dry_run }))
    }

    pub fn generate(&mut self) -> Parsed<Statement> {
        let mode = if self.peek().kind == Kind::Text {
            self.string()?
        } else {
            self.ident()?.value
        };
        self.expect_seq(&["FOR", "TABLE"], Follow::Name)?;
        Ok(Statement::Generate(Generate {
            mode,
            table: self.delta_table()?,
        }))
    }
}
