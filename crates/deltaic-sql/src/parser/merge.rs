//! MERGE with all of Spark's clauses.

use deltaic_protocol::error::DeltaError;

use super::{Follow, Parsed, Parser};
use crate::ast::{Merge, MergeAction, MergeClause, MergeSource, Statement};

impl Parser<'_> {
    pub fn merge(&mut self) -> Parsed<Statement> {
        self.at += 1;
        let with_schema_evolution = self.schema_evolution()?;
        self.expect("INTO", Follow::Name)?;
        let table = self.name()?;
        let alias = self.target_alias()?;
        self.expect("USING", Follow::Name)?;
        let source = self.merge_source()?;
        let source_alias = self.target_alias()?;
        self.expect("ON", Follow::Expression)?;
        let condition = self.expr()?;
        let mut merge = Merge {
            with_schema_evolution,
            table,
            alias,
            source,
            source_alias,
            condition,
            matched: Vec::new(),
            not_matched: Vec::new(),
            not_matched_by_source: Vec::new(),
        };
        while self.eat_seq(&["WHEN", "MATCHED"]) {
            let clause = self.merge_clause(Self::matched_action)?;
            merge.matched.push(clause);
        }
        while self.is_seq(&["WHEN", "NOT", "MATCHED"]) && !self.by_source() {
            self.at += 3;
            self.eat_seq(&["BY", "TARGET"]);
            let clause = self.merge_clause(Self::not_matched_action)?;
            merge.not_matched.push(clause);
        }
        while self.is_seq(&["WHEN", "NOT", "MATCHED"]) && self.by_source() {
            self.at += 5;
            let clause = self.merge_clause(Self::matched_action)?;
            merge.not_matched_by_source.push(clause);
        }
        if self.is("WHEN") {
            return Err(self.stop_at(self.at + 1));
        }
        self.check_merge(&merge);
        Ok(Statement::Merge(Box::new(merge)))
    }

    fn by_source(&self) -> bool {
        self.peek_at(3).is("BY") && self.peek_at(4).is("SOURCE")
    }

    fn merge_source(&mut self) -> Parsed<MergeSource> {
        if self.eat_symbol("(") {
            let query = Box::new(self.query()?);
            self.expect_symbol(")", Follow::Other)?;
            return Ok(MergeSource::Query(query));
        }
        let name = self.name()?;
        let suffix = self.at_suffix();
        let travel = self.temporal()?.or(suffix);
        Ok(MergeSource::Table { name, travel })
    }

    fn merge_clause(
        &mut self,
        action: impl FnOnce(&mut Self) -> Parsed<MergeAction>,
    ) -> Parsed<MergeClause> {
        let condition = if self.eat("AND") {
            Some(self.expr()?)
        } else {
            None
        };
        self.expect("THEN", Follow::Other)?;
        Ok(MergeClause {
            condition,
            action: action(self)?,
        })
    }

    fn matched_action(&mut self) -> Parsed<MergeAction> {
        if self.expect_any(&["DELETE", "UPDATE"])? == "DELETE" {
            return Ok(MergeAction::Delete);
        }
        self.expect("SET", Follow::Name)?;
        if self.eat_symbol("*") {
            return Ok(MergeAction::UpdateAll);
        }
        Ok(MergeAction::Update(self.comma_separated(Self::assignment)?))
    }

    fn not_matched_action(&mut self) -> Parsed<MergeAction> {
        self.expect("INSERT", Follow::Symbol("("))?;
        if self.eat_symbol("*") {
            return Ok(MergeAction::InsertAll);
        }
        let columns = self.parenthesized(Self::parts)?;
        self.expect("VALUES", Follow::Symbol("("))?;
        let values = self.parenthesized(Self::expr)?;
        if columns.len() != values.len() {
            let error = DeltaError::new("_LEGACY_ERROR_TEMP_0006");
            self.late(error);
        }
        Ok(MergeAction::Insert { columns, values })
    }

    fn check_merge(&mut self, merge: &Merge) {
        let unconditional = |clauses: &[MergeClause]| {
            clauses
                .split_last()
                .is_some_and(|(_, before)| before.iter().any(|clause| clause.condition.is_none()))
        };
        let class = if merge.matched.is_empty()
            && merge.not_matched.is_empty()
            && merge.not_matched_by_source.is_empty()
        {
            "MERGE_WITHOUT_WHEN"
        } else if unconditional(&merge.matched) {
            "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION"
        } else if unconditional(&merge.not_matched) {
            "NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION"
        } else if unconditional(&merge.not_matched_by_source) {
            "NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION"
        } else {
            return;
        };
        let error = DeltaError::new(class);
        self.late(error);
    }
}
