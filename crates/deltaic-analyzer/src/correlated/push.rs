//! The domain of a correlated subquery, and how each operator carries it along.

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, NullEquality, ScalarValue};
use datafusion::error::Result;
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::logical_plan::{EmptyRelation, FetchType, Limit, SkipType};
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, ExprFunctionExt, ExprSchemable, Join, JoinType, LogicalPlan,
    LogicalPlanBuilder, Subquery, lit, when,
};
use datafusion::optimizer::OptimizerConfig;

/// What a subquery asks of the rows around it: columns, and fields of columns.
pub(super) struct Domain<'a> {
    input: &'a LogicalPlan,
    /// As they stand in the subquery.
    units: Vec<Expr>,
    config: &'a dyn OptimizerConfig,
}

/// A part of the subquery with the domain beside it.
pub(super) struct Pushed {
    /// The columns of the part, then those of the domain.
    pub(super) plan: LogicalPlan,
    /// The domain's.
    pub(super) keys: Vec<Column>,
}

/// A column of the rows around, or a field of one.
fn is_unit(expr: &Expr) -> bool {
    match expr {
        Expr::OuterReferenceColumn(_, _) => true,
        Expr::ScalarFunction(f) => match f.args.split_first() {
            Some((first, rest)) => {
                is_unit(first)
                    && is_nested(first)
                    && f.func.signature().volatility
                        == datafusion::logical_expr::Volatility::Immutable
                    && rest.iter().all(|arg| matches!(arg, Expr::Literal(_, _)))
            }
            None => false,
        },
        _ => false,
    }
}

fn is_nested(unit: &Expr) -> bool {
    match unit {
        Expr::OuterReferenceColumn(field, _) => field.data_type().is_nested(),
        Expr::ScalarFunction(_) => true, // a field of a field; of which type the one is, the function judges
        _ => false,
    }
}

/// The column that a unit begins with.
fn base(unit: &Expr) -> Option<&Column> {
    match unit {
        Expr::OuterReferenceColumn(_, column) => Some(column),
        Expr::ScalarFunction(f) => base(f.args.first()?),
        _ => None,
    }
}

/// A unit as an expression over the rows around.
fn outside(unit: &Expr) -> Result<Expr> {
    let plain = unit.clone().transform(|e| {
        Ok(match e {
            Expr::OuterReferenceColumn(_, column) => Transformed::yes(Expr::Column(column)),
            other => Transformed::no(other),
        })
    });
    plain.map(|t| t.data)
}

fn is_volatile(plan: &LogicalPlan) -> Result<bool> {
    let mut volatile = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|e| {
            volatile |= e.is_volatile();
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(volatile)
}

/// LIMIT and OFFSET, where both are known: rows to skip, and rows to take if not all.
pub(super) fn fetched(limit: &Limit) -> Option<(usize, Option<usize>)> {
    match (limit.get_skip_type().ok()?, limit.get_fetch_type().ok()?) {
        (SkipType::Literal(skip), FetchType::Literal(fetch)) => Some((skip, fetch)),
        _ => None,
    }
}

impl<'a> Domain<'a> {
    /// What `subquery` asks of `input`; `None` where it asks for something else too, or where the rows of `input` would not be the
    /// same a second time.
    pub(super) fn of(
        input: &'a LogicalPlan,
        subquery: &LogicalPlan,
        config: &'a dyn OptimizerConfig,
    ) -> Result<Option<Self>> {
        let mut units: Vec<Expr> = Vec::new();
        subquery.apply_with_subqueries(|node| {
            node.apply_expressions(|expr| {
                expr.apply(|e| {
                    if is_unit(e) {
                        if !units.contains(e) {
                            units.push(e.clone());
                        }
                        return Ok(TreeNodeRecursion::Jump);
                    }
                    Ok(TreeNodeRecursion::Continue)
                })
            })
        })?;
        // Those of subqueries further in that ask for columns of this subquery are none of the domain's.
        units.retain(|unit| base(unit).is_some_and(|column| input.schema().has_column(column)));
        if units.is_empty() || is_volatile(input)? {
            return Ok(None);
        }
        Ok(Some(Self {
            input,
            units,
            config,
        }))
    }

    fn fresh(&self, what: &str) -> String {
        self.config.alias_generator().next(what)
    }

    /// The different values, each once, under new names.
    fn values(&self) -> Result<(LogicalPlan, Vec<Column>)> {
        let names: Vec<String> = self.units.iter().map(|_| self.fresh("__outer")).collect();
        let units: Result<Vec<Expr>> = self
            .units
            .iter()
            .zip(&names)
            .map(|(unit, name)| Ok(outside(unit)?.alias(name)))
            .collect();
        let plan = LogicalPlanBuilder::from(self.input.clone())
            .project(units?)?
            .distinct()?
            .build()?;
        let keys = names.into_iter().map(Column::new_unqualified).collect();
        Ok((plan, keys))
    }

    /// The rows around with a column for each unit.
    pub(super) fn around(&self, input: &LogicalPlan) -> Result<(LogicalPlan, Vec<Column>)> {
        let mut columns: Vec<Expr> = input
            .schema()
            .columns()
            .into_iter()
            .map(Expr::Column)
            .collect();
        let mut keys = Vec::new();
        for unit in &self.units {
            let name = self.fresh("__key");
            columns.push(outside(unit)?.alias(&name));
            keys.push(Column::new_unqualified(name));
        }
        let plan = LogicalPlanBuilder::from(input.clone())
            .project(columns)?
            .build()?;
        Ok((plan, keys))
    }

    /// Whether a part of the subquery asks for anything of the domain.
    fn is_asked_by(&self, plan: &LogicalPlan) -> Result<bool> {
        let mut asked = false;
        plan.apply_with_subqueries(|node| {
            node.apply_expressions(|expr| {
                asked |= expr.exists(|e| Ok(self.units.contains(e)))?;
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        Ok(asked)
    }

    /// An expression of the subquery with the domain's columns in it.
    fn inside(&self, expr: Expr, keys: &[Column]) -> Result<Expr> {
        let inner = expr.transform_down(|e| {
            if let Some(at) = self.units.iter().position(|unit| *unit == e) {
                let key = Expr::Column(keys[at].clone());
                return Ok(Transformed::new(key, true, TreeNodeRecursion::Jump));
            }
            Ok(match e {
                Expr::ScalarSubquery(s) => {
                    Transformed::yes(Expr::ScalarSubquery(self.further_in(s, keys)?))
                }
                Expr::Exists(mut e) => {
                    e.subquery = self.further_in(e.subquery, keys)?;
                    Transformed::yes(Expr::Exists(e))
                }
                Expr::InSubquery(mut e) => {
                    e.subquery = self.further_in(e.subquery, keys)?;
                    Transformed::yes(Expr::InSubquery(e))
                }
                other => Transformed::no(other),
            })
        });
        inner.map(|t| t.data)
    }

    /// A subquery in the subquery asks the domain's columns now.
    fn further_in(&self, subquery: Subquery, keys: &[Column]) -> Result<Subquery> {
        let schema = self.input.schema();
        let plan = subquery
            .subquery
            .as_ref()
            .clone()
            .transform_down_with_subqueries(|node| {
                node.map_expressions(|expr| {
                    expr.transform_down(|e| {
                        let Some(at) = self.units.iter().position(|unit| *unit == e) else {
                            return Ok(Transformed::no(e));
                        };
                        let field = outside(&e)?.to_field(schema)?.1;
                        let outer = Expr::OuterReferenceColumn(field, keys[at].clone());
                        Ok(Transformed::new(outer, true, TreeNodeRecursion::Jump))
                    })
                })
            })?;
        let outer_ref_columns = plan.data.all_out_ref_exprs();
        Ok(Subquery {
            subquery: std::sync::Arc::new(plan.data),
            outer_ref_columns,
            ..subquery
        })
    }

    fn all_inside(
        &self,
        exprs: impl IntoIterator<Item = Expr>,
        keys: &[Column],
    ) -> Result<Vec<Expr>> {
        let named = NamePreserver::new_for_projection();
        exprs
            .into_iter()
            .map(|expr| {
                let name = named.save(&expr);
                Ok(name.restore(self.inside(expr, keys)?))
            })
            .collect()
    }

    /// A part of the subquery, run for the whole domain.
    pub(super) fn push(&self, plan: &LogicalPlan) -> Result<Option<Pushed>> {
        if !self.is_asked_by(plan)? {
            let (values, keys) = self.values()?;
            let plan = LogicalPlanBuilder::from(plan.clone())
                .cross_join(values)?
                .build()?;
            return Ok(Some(Pushed { plan, keys }));
        }
        match plan {
            LogicalPlan::Filter(filter) => {
                let Some(Pushed { plan, keys }) = self.push(&filter.input)? else {
                    return Ok(None);
                };
                let condition = self.inside(filter.predicate.clone(), &keys)?;
                let plan = LogicalPlanBuilder::from(plan).filter(condition)?.build()?;
                Ok(Some(Pushed { plan, keys }))
            }
            LogicalPlan::Projection(projection) => {
                let Some(Pushed { plan, keys }) = self.push(&projection.input)? else {
                    return Ok(None);
                };
                let exprs = self.all_inside(projection.expr.iter().cloned(), &keys)?;
                projected(plan, exprs, keys).map(Some)
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let Some(Pushed { plan, keys }) = self.push(&alias.input)? else {
                    return Ok(None);
                };
                let columns = alias.input.schema().columns().into_iter().map(|column| {
                    let name = column.name.clone();
                    Expr::Column(column).alias_qualified(Some(alias.alias.clone()), name)
                });
                projected(plan, columns.collect(), keys).map(Some)
            }
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Sort(sort) => self.push(&sort.input),
            LogicalPlan::Limit(limit) => self.limit(limit),
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let Some(Pushed { plan, keys }) = self.push(input)? else {
                    return Ok(None);
                };
                let plan = LogicalPlanBuilder::from(plan).distinct()?.build()?;
                Ok(Some(Pushed { plan, keys }))
            }
            LogicalPlan::Union(union) => self.union(&union.inputs),
            LogicalPlan::Join(join) => self.join(join),
            _ => Ok(None),
        }
    }

    fn aggregate(&self, aggregate: &Aggregate) -> Result<Option<Pushed>> {
        let Some(Pushed { plan, keys }) = self.push(&aggregate.input)? else {
            return Ok(None);
        };
        if !aggregate.group_expr.is_empty() {
            if aggregate
                .group_expr
                .iter()
                .any(|e| matches!(e, Expr::GroupingSet(_)))
            {
                return Ok(None);
            }
            let mut groups = self.all_inside(aggregate.group_expr.iter().cloned(), &keys)?;
            groups.extend(keys.iter().cloned().map(Expr::Column));
            let values = self.all_inside(aggregate.aggr_expr.iter().cloned(), &keys)?;
            let plan = LogicalPlanBuilder::from(plan)
                .aggregate(groups, values)?
                .build()?;
            let columns = aggregate.schema.columns().into_iter().map(Expr::Column);
            return projected(plan, columns.collect(), keys).map(Some);
        }
        // Where no row passes, the aggregate of no rows stands; it is the same for all.
        let names: Vec<String> = aggregate
            .aggr_expr
            .iter()
            .map(|_| self.fresh("__some"))
            .collect();
        let defaults: Vec<String> = aggregate
            .aggr_expr
            .iter()
            .map(|_| self.fresh("__none"))
            .collect();
        let mut values = Vec::new();
        let mut of_nothing = Vec::new();
        for ((expr, name), default) in aggregate.aggr_expr.iter().zip(&names).zip(&defaults) {
            let bare = expr.clone().unalias();
            values.push(self.inside(bare.clone(), &keys)?.alias(name));
            of_nothing.push(self.unasked(bare)?.alias(default));
        }
        let groups: Vec<Expr> = keys.iter().cloned().map(Expr::Column).collect();
        let marker = self.fresh("__found");
        let some = LogicalPlanBuilder::from(plan).aggregate(groups.clone(), values)?;
        let some_columns = groups
            .into_iter()
            .chain(
                names
                    .iter()
                    .map(|name| Expr::Column(Column::new_unqualified(name))),
            )
            .chain([lit(true).alias(&marker)]);
        let some = some.project(some_columns.collect::<Vec<_>>())?.build()?;
        let nothing = LogicalPlan::EmptyRelation(EmptyRelation {
            produce_one_row: false,
            schema: std::sync::Arc::clone(aggregate.input.schema()),
        });
        let nothing = LogicalPlanBuilder::from(nothing)
            .aggregate(Vec::<Expr>::new(), of_nothing)?
            .build()?;
        let (domain, own) = self.values()?;
        let joined = LogicalPlanBuilder::from(domain)
            .join_detailed(
                some,
                JoinType::Left,
                (own.clone(), keys),
                None,
                NullEquality::NullEqualsNull,
            )?
            .cross_join(nothing)?
            .build()?;
        let column = |name: &String| Expr::Column(Column::new_unqualified(name));
        let mut columns = Vec::new();
        for ((target, name), default) in aggregate
            .schema
            .columns()
            .into_iter()
            .zip(&names)
            .zip(&defaults)
        {
            let value = when(column(&marker).is_null(), column(default)).otherwise(column(name))?;
            columns.push(value.alias_qualified(target.relation, target.name));
        }
        projected(joined, columns, own).map(Some)
    }

    /// An expression that sees no row, so that it does not matter what the domain says.
    fn unasked(&self, expr: Expr) -> Result<Expr> {
        let schema = self.input.schema();
        let inner = expr.transform_down(|e| {
            if !self.units.contains(&e) {
                return Ok(Transformed::no(e));
            }
            let null = ScalarValue::try_from(&outside(&e)?.get_type(schema)?)?;
            Ok(Transformed::new(lit(null), true, TreeNodeRecursion::Jump))
        });
        inner.map(|t| t.data)
    }

    /// So many rows for each value of the domain.
    fn limit(&self, limit: &Limit) -> Result<Option<Pushed>> {
        let Some((skip, fetch)) = fetched(limit) else {
            return Ok(None);
        };
        let Some(Pushed { plan, keys }) = self.push(&limit.input)? else {
            return Ok(None);
        };
        let mut order = Vec::new();
        if let LogicalPlan::Sort(sort) = limit.input.as_ref() {
            for key in &sort.expr {
                let expr = self.inside(key.expr.clone(), &keys)?;
                order.push(expr.sort(key.asc, key.nulls_first));
            }
        }
        let name = self.fresh("__row");
        let by: Vec<Expr> = keys.iter().cloned().map(Expr::Column).collect();
        let number = row_number().partition_by(by).order_by(order).build()?;
        let at = Expr::Column(Column::new_unqualified(&name));
        let number_of = |rows: usize| lit(u64::try_from(rows).unwrap_or(u64::MAX));
        let mut within = at.clone().gt(number_of(skip));
        if let Some(fetch) = fetch {
            within = within.and(at.lt_eq(number_of(skip.saturating_add(fetch))));
        }
        let plan = LogicalPlanBuilder::from(plan)
            .window(vec![number.alias(&name)])?
            .filter(within)?
            .build()?;
        let columns = limit.input.schema().columns().into_iter().map(Expr::Column);
        projected(plan, columns.collect(), keys).map(Some)
    }

    fn union(&self, inputs: &[std::sync::Arc<LogicalPlan>]) -> Result<Option<Pushed>> {
        let mut whole: Option<(LogicalPlanBuilder, Vec<Column>)> = None;
        for input in inputs {
            let Some(Pushed { plan, keys }) = self.push(input)? else {
                return Ok(None);
            };
            whole = Some(match whole {
                None => (LogicalPlanBuilder::from(plan), keys),
                Some((builder, keys)) => (builder.union(plan)?, keys),
            });
        }
        let Some((builder, keys)) = whole else {
            return Ok(None);
        };
        let plan = builder.build()?;
        Ok(Some(Pushed { plan, keys }))
    }

    /// Both sides are run for the domain, and rows meet where they are of one value of it.
    fn join(&self, join: &Join) -> Result<Option<Pushed>> {
        if !matches!(join.join_type, JoinType::Inner | JoinType::Left) {
            return Ok(None);
        }
        let (Some(left), Some(right)) = (self.push(&join.left)?, self.push(&join.right)?) else {
            return Ok(None);
        };
        let mut conditions = Vec::new();
        for (one, other) in &join.on {
            let (one, other) = (
                self.inside(one.clone(), &left.keys)?,
                self.inside(other.clone(), &left.keys)?,
            );
            conditions.push(match join.null_equality {
                NullEquality::NullEqualsNothing => one.eq(other),
                NullEquality::NullEqualsNull => datafusion::logical_expr::binary_expr(
                    one,
                    datafusion::logical_expr::Operator::IsNotDistinctFrom,
                    other,
                ),
            });
        }
        if let Some(filter) = &join.filter {
            conditions.push(self.inside(filter.clone(), &left.keys)?);
        }
        let plan = LogicalPlanBuilder::from(left.plan)
            .join_detailed(
                right.plan,
                join.join_type,
                (left.keys.clone(), right.keys),
                conditions.into_iter().reduce(Expr::and),
                NullEquality::NullEqualsNull,
            )?
            .build()?;
        let columns = join.schema.columns().into_iter().map(Expr::Column);
        projected(plan, columns.collect(), left.keys).map(Some)
    }
}

/// These columns and those of the domain, in this order.
fn projected(plan: LogicalPlan, mut columns: Vec<Expr>, keys: Vec<Column>) -> Result<Pushed> {
    columns.extend(keys.iter().cloned().map(Expr::Column));
    let plan = LogicalPlanBuilder::from(plan).project(columns)?.build()?;
    Ok(Pushed { plan, keys })
}
