//! A walk over all names and expressions of a statement, for changing them in place.

use std::ops::ControlFlow;

use deltaic_protocol::error::{DeltaError, Result};
use sqlparser::ast::{Expr, Query, TableFactor, VisitMut, VisitorMut};

use crate::ast::{
    AlterSchemaAction, AlterTableAction, AlterViewAction, Assignment, ColumnChange,
    ColumnDefinition, Constraint, ConstraintKind, CreateSource, InsertMode, Inventory, MergeAction,
    MergeSource, Name, PartitionField, PartitionSpec, Property, Set, Statement, Travel, Use,
    ViewBody,
};

/// What to do with the parts of a statement. Expressions come with the inner ones first.
pub(crate) trait Edit {
    fn expr(&mut self, expr: &mut Expr) -> Result<()>;
    /// The name of a statement's object.
    fn name(&mut self, name: &mut Name) -> Result<()>;
    /// A relation in a query.
    fn relation(&mut self, factor: &mut TableFactor) -> Result<()>;
}

/// Edits an expression with everything in it.
pub(crate) fn expr(expr: &mut Expr, edit: &mut impl Edit) -> Result<()> {
    run(expr, edit)
}

/// Edits a query with everything in it.
pub(crate) fn query(query: &mut Query, edit: &mut impl Edit) -> Result<()> {
    run(query, edit)
}

struct Adapter<'a, E>(&'a mut E);

impl<E: Edit> VisitorMut for Adapter<'_, E> {
    type Break = Box<DeltaError>;

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        flow(self.0.expr(expr))
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Self::Break> {
        flow(self.0.relation(factor))
    }
}

fn flow(result: Result<()>) -> ControlFlow<Box<DeltaError>> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(Box::new(error)),
    }
}

fn run(node: &mut impl VisitMut, edit: &mut impl Edit) -> Result<()> {
    match node.visit(&mut Adapter(edit)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(*error),
    }
}

/// A walk over one statement.
struct Walk<'a, E>(&'a mut E);

/// Edits a whole statement.
pub(crate) fn statement(statement: &mut Statement, edit: &mut impl Edit) -> Result<()> {
    Walk(edit).statement(statement)
}

impl<E: Edit> Walk<'_, E> {
    fn name(&mut self, name: &mut Name) -> Result<()> {
        if let Name::Identifier(inner) = name {
            expr(inner, self.0)?;
        }
        self.0.name(name)
    }

    fn names<'n>(&mut self, names: impl IntoIterator<Item = &'n mut Name>) -> Result<()> {
        names.into_iter().try_for_each(|name| self.name(name))
    }

    fn exprs<'n>(&mut self, exprs: impl IntoIterator<Item = &'n mut Expr>) -> Result<()> {
        exprs.into_iter().try_for_each(|inner| expr(inner, self.0))
    }

    fn properties(&mut self, properties: &mut [Property]) -> Result<()> {
        self.exprs(properties.iter_mut().map(|property| &mut property.value))
    }

    fn partition(&mut self, spec: &mut PartitionSpec) -> Result<()> {
        self.exprs(spec.iter_mut().filter_map(|(_, value)| value.as_mut()))
    }

    fn travel(&mut self, travel: &mut Travel) -> Result<()> {
        match travel {
            Travel::Version(inner) | Travel::Timestamp(inner) => expr(inner, self.0),
            Travel::Compact(_) => Ok(()),
        }
    }

    fn query(&mut self, inner: &mut Query) -> Result<()> {
        query(inner, self.0)
    }

    fn assignments(&mut self, assignments: &mut [Assignment]) -> Result<()> {
        self.exprs(
            assignments
                .iter_mut()
                .map(|assignment| &mut assignment.value),
        )
    }

    fn columns(&mut self, columns: &mut [ColumnDefinition]) -> Result<()> {
        columns.iter_mut().try_for_each(|column| {
            self.exprs(column.default.as_mut().map(|default| &mut default.expr))?;
            self.exprs(column.generated.as_mut())
        })
    }

    fn constraints(&mut self, constraints: &mut [Constraint]) -> Result<()> {
        constraints
            .iter_mut()
            .try_for_each(|constraint| match &mut constraint.kind {
                ConstraintKind::Check(check) => expr(&mut check.expr, self.0),
                ConstraintKind::ForeignKey { table, .. } => self.name(table),
                ConstraintKind::PrimaryKey(_) | ConstraintKind::Unique(_) => Ok(()),
            })
    }

    fn statement(&mut self, statement: &mut Statement) -> Result<()> {
        use Statement as S;
        match statement {
            S::Query(inner) | S::DescribeQuery(inner) => self.query(inner),
            S::Insert(insert) => {
                self.name(&mut insert.table)?;
                self.partition(&mut insert.partition)?;
                if let InsertMode::ReplaceWhere(condition) | InsertMode::ReplaceOn(condition) =
                    &mut insert.mode
                {
                    expr(condition, self.0)?;
                }
                self.query(&mut insert.source)
            }
            S::Delete(delete) => {
                self.name(&mut delete.table)?;
                self.exprs(delete.condition.as_mut())
            }
            S::Update(update) => {
                self.name(&mut update.table)?;
                self.assignments(&mut update.assignments)?;
                self.exprs(update.condition.as_mut())
            }
            S::Merge(merge) => {
                self.name(&mut merge.table)?;
                match &mut merge.source {
                    MergeSource::Table { name, travel } => {
                        self.name(name)?;
                        if let Some(travel) = travel {
                            self.travel(travel)?;
                        }
                    }
                    MergeSource::Query(source) => self.query(source)?,
                }
                expr(&mut merge.condition, self.0)?;
                let clauses = merge
                    .matched
                    .iter_mut()
                    .chain(&mut merge.not_matched)
                    .chain(&mut merge.not_matched_by_source);
                for clause in clauses {
                    self.exprs(clause.condition.as_mut())?;
                    match &mut clause.action {
                        MergeAction::Update(assignments) => self.assignments(assignments)?,
                        MergeAction::Insert { values, .. } => self.exprs(values)?,
                        MergeAction::Delete | MergeAction::UpdateAll | MergeAction::InsertAll => {}
                    }
                }
                Ok(())
            }
            S::CreateTable(table) => {
                self.name(&mut table.name)?;
                self.columns(table.columns.as_deref_mut().unwrap_or_default())?;
                self.constraints(&mut table.constraints)?;
                for field in &mut table.partitioned_by {
                    match field {
                        PartitionField::Transform(transform) => expr(transform, self.0)?,
                        PartitionField::Column(column) => {
                            self.columns(std::slice::from_mut(column))?
                        }
                        PartitionField::Name(_) => {}
                    }
                }
                self.exprs(table.location.as_mut())?;
                self.properties(&mut table.properties)?;
                self.properties(&mut table.options)?;
                match &mut table.source {
                    CreateSource::Columns => Ok(()),
                    CreateSource::Query(source) => self.query(source),
                    CreateSource::Like(source) => self.name(source),
                    CreateSource::ShallowClone { source, travel } => {
                        self.name(source)?;
                        travel.as_mut().map_or(Ok(()), |travel| self.travel(travel))
                    }
                }
            }
            S::CreateView(view) => {
                self.name(&mut view.name)?;
                self.properties(&mut view.properties)?;
                match &mut view.body {
                    ViewBody::Query { query, .. } => self.query(query),
                    ViewBody::Using { options, .. } => self.properties(options),
                }
            }
            S::CreateSchema(schema) => {
                self.name(&mut schema.name)?;
                self.exprs(schema.location.as_mut())?;
                self.properties(&mut schema.properties)
            }
            S::CreateCatalog(catalog) => {
                self.name(&mut catalog.name)?;
                self.exprs(catalog.location.as_mut())?;
                self.properties(&mut catalog.properties)
            }
            S::AlterTable(alter) => {
                self.name(&mut alter.name)?;
                self.table_action(&mut alter.action)
            }
            S::AlterView(alter) => {
                self.name(&mut alter.name)?;
                match &mut alter.action {
                    AlterViewAction::Rename { to } => self.name(to),
                    AlterViewAction::SetProperties(properties) => self.properties(properties),
                    AlterViewAction::UnsetProperties { .. } => Ok(()),
                    AlterViewAction::As { query, .. } => self.query(query),
                }
            }
            S::AlterSchema(alter) => {
                self.name(&mut alter.name)?;
                match &mut alter.action {
                    AlterSchemaAction::SetProperties(properties) => self.properties(properties),
                    AlterSchemaAction::UnsetProperties { .. } => Ok(()),
                    AlterSchemaAction::SetLocation(location) => expr(location, self.0),
                }
            }
            S::DropTable(drop)
            | S::DropView(drop)
            | S::DropSchema(drop)
            | S::DropCatalog(drop)
            | S::Uncache(drop) => self.name(&mut drop.name),
            S::CommentOn(comment) => self.name(&mut comment.name),
            S::Use(Use::Namespace { name, .. } | Use::Catalog(name)) => self.name(name),
            S::Set(Set::TimeZoneInterval(interval)) => expr(interval, self.0),
            S::Set(Set::Variables { assignments }) => {
                self.exprs(assignments.iter_mut().map(|(_, value)| value))
            }
            S::Set(_)
            | S::Reset(_)
            | S::ShowCurrentNamespace
            | S::ShowCatalogs(_)
            | S::ClearCache => Ok(()),
            S::Truncate(truncate) => {
                self.name(&mut truncate.table)?;
                truncate
                    .partition
                    .as_mut()
                    .map_or(Ok(()), |spec| self.partition(spec))
            }
            S::RefreshTable(name) => self.name(name),
            S::Vacuum(vacuum) => {
                self.name(&mut vacuum.table)?;
                self.exprs(vacuum.retain_hours.as_mut())?;
                match &mut vacuum.inventory {
                    None => Ok(()),
                    Some(Inventory::Table(name)) => self.name(name),
                    Some(Inventory::Query(query)) => self.query(query),
                }
            }
            S::Restore(restore) => {
                self.name(&mut restore.table)?;
                self.travel(&mut restore.travel)
            }
            S::DescribeHistory(history) => {
                self.name(&mut history.table)?;
                self.exprs(history.limit.as_mut())
            }
            S::DescribeDetail(detail) => self.name(&mut detail.table),
            S::DescribeTable(describe) => {
                self.name(&mut describe.table)?;
                describe
                    .partition
                    .as_mut()
                    .map_or(Ok(()), |spec| self.partition(spec))
            }
            S::DescribeSchema(describe) => self.name(&mut describe.schema),
            S::DescribeCatalog(describe) => self.name(&mut describe.catalog),
            S::DescribeFunction(describe) => self.name(&mut describe.function),
            S::ShowTables(show) | S::ShowViews(show) => self.names(show.schema.as_mut()),
            S::ShowTableExtended(show) => {
                self.names(show.schema.as_mut())?;
                show.partition
                    .as_mut()
                    .map_or(Ok(()), |spec| self.partition(spec))
            }
            S::ShowSchemas(show) => self.names(show.catalog.as_mut()),
            S::ShowColumns(show) => {
                self.name(&mut show.table)?;
                self.names(show.schema.as_mut())
            }
            S::ShowTblProperties(show) => self.name(&mut show.table),
            S::ShowCreateTable(show) => self.name(&mut show.table),
            S::ShowPartitions(show) => {
                self.name(&mut show.table)?;
                show.partition
                    .as_mut()
                    .map_or(Ok(()), |spec| self.partition(spec))
            }
            S::ShowFunctions(show) => self.names(show.schema.as_mut()),
            S::Optimize(optimize) => {
                self.name(&mut optimize.table)?;
                self.exprs(
                    optimize
                        .predicate
                        .as_mut()
                        .map(|predicate| &mut predicate.expr),
                )
            }
            S::Reorg(reorg) => {
                self.name(&mut reorg.table)?;
                self.exprs(
                    reorg
                        .predicate
                        .as_mut()
                        .map(|predicate| &mut predicate.expr),
                )
            }
            S::Convert(convert) => self.name(&mut convert.table),
            S::Generate(generate) => self.name(&mut generate.table),
            S::Repair(repair) => self.name(&mut repair.table),
            S::RepairPartitions(table) => self.name(table),
            S::Analyze(analyze) => {
                self.names(analyze.name.as_mut())?;
                analyze
                    .partition
                    .as_mut()
                    .map_or(Ok(()), |spec| self.partition(spec))
            }
            S::Explain(explain) => self.statement(&mut explain.statement),
            S::Cache(cache) => {
                self.name(&mut cache.name)?;
                self.properties(&mut cache.options)?;
                cache
                    .query
                    .as_mut()
                    .map_or(Ok(()), |query| self.query(query))
            }
        }
    }

    fn table_action(&mut self, action: &mut AlterTableAction) -> Result<()> {
        use AlterTableAction as A;
        match action {
            A::Rename { to } => self.name(to),
            A::SetProperties(properties) => self.properties(properties),
            A::AddColumns(columns) | A::ReplaceColumns(columns) => self.columns(columns),
            A::AlterColumns(columns) => columns.iter_mut().try_for_each(|column| match &mut column
                .change
            {
                ColumnChange::SetDefault(default) => expr(&mut default.expr, self.0),
                ColumnChange::Change(definition) => self.columns(std::slice::from_mut(definition)),
                _ => Ok(()),
            }),
            A::AddConstraint(constraint) => self.constraints(std::slice::from_mut(constraint)),
            A::SetLocation {
                location,
                partition,
            } => {
                expr(location, self.0)?;
                partition
                    .as_mut()
                    .map_or(Ok(()), |spec| self.partition(spec))
            }
            A::AddPartitions { partitions, .. } => {
                partitions.iter_mut().try_for_each(|(spec, location)| {
                    self.partition(spec)?;
                    self.exprs(location.as_mut())
                })
            }
            A::DropPartitions { partitions, .. } => partitions
                .iter_mut()
                .try_for_each(|spec| self.partition(spec)),
            A::RenamePartition { from, to } => {
                self.partition(from)?;
                self.partition(to)
            }
            A::UnsetProperties { .. }
            | A::DropColumns { .. }
            | A::RenameColumn { .. }
            | A::DropConstraint { .. }
            | A::ClusterBy(_)
            | A::DropFeature { .. }
            | A::SyncIdentity { .. }
            | A::RecoverPartitions
            | A::SetSerde => Ok(()),
        }
    }
}
