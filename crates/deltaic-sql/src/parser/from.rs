//! FROM: tables with their time travel, subqueries, table functions, joins, samples.

use sqlparser::ast::{
    Join, JoinConstraint, JoinOperator, LateralView, ObjectName, ObjectNamePart, SetExpr,
    TableAlias, TableAliasColumnDef, TableFactor, TableFunctionArgs, TableSample,
    TableSampleBucket, TableSampleKind, TableSampleModifier, TableSampleQuantity, TableSampleSeed,
    TableSampleSeedModifier, TableSampleUnit, TableWithJoins, Value, ValueWithSpan,
};

use super::query::query_of;
use super::{Follow, Parsed, Parser};
use crate::ast::Travel;
use crate::lexer::Kind;

/// The operator of a join for its condition.
type MakeJoin = fn(JoinConstraint) -> JoinOperator;

impl Parser<'_> {
    /// `FROM relation, … LATERAL VIEW …`.
    pub fn relations_clause(&mut self) -> Parsed<(Vec<TableWithJoins>, Vec<LateralView>)> {
        self.expect("FROM", Follow::Name)?;
        let relations = self.comma_separated(Self::relation)?;
        Ok((relations, self.lateral_views()?))
    }

    fn relation(&mut self) -> Parsed<TableWithJoins> {
        let lateral = self.lateral();
        let relation = self.relation_primary(lateral)?;
        let mut joins = Vec::new();
        while let Some(join) = self.join()? {
            joins.push(join);
        }
        Ok(TableWithJoins { relation, joins })
    }

    fn lateral(&mut self) -> bool {
        let found = self.is("LATERAL") && !self.peek_at(1).is("VIEW");
        self.at += usize::from(found);
        found
    }

    /// One relation, without joins.
    pub fn relation_primary(&mut self, lateral: bool) -> Parsed<TableFactor> {
        self.nested(|p| {
            if p.is_symbol("(") {
                return p.either(|p| p.derived(lateral), Self::nested_join);
            }
            if p.is("VALUES") && !p.ends_at(1) {
                let values = p.values()?;
                let alias = p.table_alias()?;
                let subquery = Box::new(query_of(SetExpr::Values(values)));
                return Ok(TableFactor::Derived {
                    lateral,
                    subquery,
                    alias,
                    sample: None,
                });
            }
            p.named_relation(lateral)
        })
    }

    fn derived(&mut self, lateral: bool) -> Parsed<TableFactor> {
        self.expect_symbol("(", Follow::Other)?;
        let subquery = Box::new(self.query()?);
        self.expect_symbol(")", Follow::Other)?;
        let sample = self.sample()?;
        let alias = self.table_alias()?;
        Ok(TableFactor::Derived {
            lateral,
            subquery,
            alias,
            sample,
        })
    }

    fn nested_join(&mut self) -> Parsed<TableFactor> {
        self.expect_symbol("(", Follow::Other)?;
        let table_with_joins = Box::new(self.relation()?);
        self.expect_symbol(")", Follow::Other)?;
        let alias = self.table_alias()?;
        Ok(TableFactor::NestedJoin {
            table_with_joins,
            alias,
        })
    }

    fn named_relation(&mut self, lateral: bool) -> Parsed<TableFactor> {
        let mut name = self.object_name()?;
        if self.eat_symbol("(") {
            return self.table_function(name, lateral);
        }
        let suffix_at = self.at;
        let suffix = self.at_suffix();
        let written = self.text_from(suffix_at).to_owned();
        let mut travel = self.temporal()?;
        match (suffix, &travel) {
            // Both forms at once: the name keeps the suffix, as in backticks, and whoever resolves it refuses the pair.
            (Some(_), Some(_)) => {
                if let Some(ObjectNamePart::Identifier(last)) = name.0.last_mut() {
                    last.value.push_str(&written);
                    last.quote_style = Some('`');
                }
            }
            (Some(suffix), None) => travel = Some(suffix),
            (None, _) => {}
        }
        let sample = self.sample()?;
        let alias = self.table_alias()?;
        let mut factor = self.table_factor(name, travel, alias);
        if let TableFactor::Table { sample: slot, .. } = &mut factor {
            *slot = sample;
        }
        Ok(factor)
    }

    /// A table's node.
    pub fn table_factor(
        &self,
        name: ObjectName,
        travel: Option<Travel>,
        alias: Option<TableAlias>,
    ) -> TableFactor {
        TableFactor::Table {
            name,
            alias,
            args: None,
            with_hints: Vec::new(),
            version: travel.map(crate::travel::table_version),
            with_ordinality: false,
            partitions: Vec::new(),
            json_path: None,
            sample: None,
            index_hints: Vec::new(),
        }
    }

    fn table_function(&mut self, name: ObjectName, lateral: bool) -> Parsed<TableFactor> {
        self.at -= 1;
        let sqlparser::ast::Expr::Function(function) = self.call(name)? else {
            return self.fail();
        };
        let args = match function.args {
            sqlparser::ast::FunctionArguments::List(list) => list.args,
            _ => Vec::new(),
        };
        let alias = self.table_alias()?;
        if lateral {
            return Ok(TableFactor::Function {
                lateral,
                name: function.name,
                args,
                with_ordinality: false,
                alias,
            });
        }
        let mut factor = self.table_factor(function.name, None, alias);
        if let TableFactor::Table { args: slot, .. } = &mut factor {
            *slot = Some(TableFunctionArgs {
                args,
                settings: None,
            });
        }
        Ok(factor)
    }

    /// `[FOR] VERSION AS OF …` and its kin. VERSION alone may be an alias, so two words decide.
    pub fn temporal(&mut self) -> Parsed<Option<Travel>> {
        let ahead = usize::from(self.is("FOR"));
        let word = self.peek_at(ahead);
        let version = word.is("VERSION") || word.is("SYSTEM_VERSION");
        let timestamp = word.is("TIMESTAMP") || word.is("SYSTEM_TIME");
        if !(version || timestamp) || ahead == 0 && !self.peek_at(1).is("AS") {
            return Ok(None);
        }
        self.at += ahead + 1;
        self.expect("AS", Follow::Other)?;
        self.expect(
            "OF",
            if timestamp {
                Follow::Expression
            } else {
                Follow::Text
            },
        )?;
        if timestamp {
            return Ok(Some(Travel::Timestamp(self.value_expr()?)));
        }
        Ok(Some(Travel::Version(self.version()?)))
    }

    /// A whole number, a string or a parameter.
    fn version(&mut self) -> Parsed<sqlparser::ast::Expr> {
        if self.peek().kind == Kind::Integer {
            self.primary()
        } else {
            self.string_or_parameter()
        }
    }

    /// `[AS] a [(x, y)]`.
    pub fn table_alias(&mut self) -> Parsed<Option<TableAlias>> {
        let explicit = self.eat("AS");
        if !explicit && (!self.alias_follows() || self.attempt_strict().is_none()) {
            return Ok(None);
        }
        let name = self.strict_ident()?;
        let columns = if self.is_symbol("(") {
            self.column_aliases()?
        } else {
            Vec::new()
        };
        Ok(Some(TableAlias {
            explicit,
            name,
            columns,
            at: None,
        }))
    }

    fn attempt_strict(&mut self) -> Option<()> {
        let at = self.at;
        let found = self.strict_ident().ok().map(|_| ());
        self.at = at;
        found
    }

    pub fn column_aliases(&mut self) -> Parsed<Vec<TableAliasColumnDef>> {
        self.parenthesized(|p| {
            Ok(TableAliasColumnDef {
                name: p.ident()?,
                data_type: None,
            })
        })
    }

    fn join(&mut self) -> Parsed<Option<Join>> {
        let natural = self.eat("NATURAL");
        let Some(make) = self.join_type()? else {
            return if natural { self.fail() } else { Ok(None) };
        };
        let lateral = self.lateral();
        let relation = self.relation_primary(lateral)?;
        let constraint = if natural {
            JoinConstraint::Natural
        } else if self.eat("ON") {
            JoinConstraint::On(self.expr()?)
        } else if self.is("USING") && self.peek_at(1).is_symbol("(") {
            self.at += 1;
            JoinConstraint::Using(self.parenthesized(|p| Ok(p.ident()?.into()))?)
        } else {
            JoinConstraint::None
        };
        Ok(Some(Join {
            relation,
            global: false,
            join_operator: make(constraint),
        }))
    }

    fn join_type(&mut self) -> Parsed<Option<MakeJoin>> {
        use JoinOperator as J;
        let make: MakeJoin = match self.eat_any(&[
            "JOIN", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI",
        ]) {
            Some("JOIN") => return Ok(Some(J::Join)),
            Some("INNER") => J::Inner,
            Some("CROSS") => J::CrossJoin,
            Some("LEFT") => match self.eat_any(&["OUTER", "SEMI", "ANTI"]) {
                Some("SEMI") => J::LeftSemi,
                Some("ANTI") => J::LeftAnti,
                Some(_) => J::LeftOuter,
                None => J::Left,
            },
            Some("RIGHT") => {
                if self.eat("OUTER") {
                    J::RightOuter
                } else {
                    J::Right
                }
            }
            Some("FULL") => {
                self.eat("OUTER");
                J::FullOuter
            }
            Some("SEMI") => J::LeftSemi,
            Some(_) => J::LeftAnti,
            None => return Ok(None),
        };
        self.expect("JOIN", Follow::Name)?;
        Ok(Some(make))
    }

    /// `TABLESAMPLE (10 PERCENT | 5 ROWS | BUCKET 1 OUT OF 4) [REPEATABLE (seed)]`.
    fn sample(&mut self) -> Parsed<Option<TableSampleKind>> {
        if !(self.is("TABLESAMPLE") && self.peek_at(1).is_symbol("(")) {
            return Ok(None);
        }
        self.at += 2;
        let mut quantity = None;
        let mut bucket = None;
        if self.eat("BUCKET") {
            let first = self.number_value()?;
            self.expect_seq(&["OUT", "OF"], Follow::Other)?;
            bucket = Some(TableSampleBucket {
                bucket: first,
                total: self.number_value()?,
                on: None,
            });
        } else {
            let value = self.expr()?;
            let unit = match self.expect_any(&["PERCENT", "ROWS"])? {
                "PERCENT" => TableSampleUnit::Percent,
                _ => TableSampleUnit::Rows,
            };
            quantity = Some(TableSampleQuantity {
                parenthesized: true,
                value,
                unit: Some(unit),
            });
        }
        self.expect_symbol(")", Follow::Other)?;
        let seed = if self.eat("REPEATABLE") {
            self.expect_symbol("(", Follow::Other)?;
            let value = self.number_value()?;
            self.expect_symbol(")", Follow::Other)?;
            Some(TableSampleSeed {
                modifier: TableSampleSeedModifier::Repeatable,
                value,
            })
        } else {
            None
        };
        let modifier = TableSampleModifier::TableSample;
        let sample = TableSample {
            modifier,
            name: None,
            quantity,
            seed,
            bucket,
            offset: None,
        };
        Ok(Some(TableSampleKind::BeforeTableAlias(Box::new(sample))))
    }

    fn number_value(&mut self) -> Parsed<ValueWithSpan> {
        let token = self.peek().clone();
        let digits = self.integer()?.to_string();
        Ok(ValueWithSpan {
            value: Value::Number(digits, false),
            span: self.span_of(&token),
        })
    }
}
