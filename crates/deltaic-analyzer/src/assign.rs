//! Assignment to the columns of a table: the source of INSERT brought to the table's columns, and the SET list of UPDATE.

use datafusion::common::ScalarValue;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{Expr, Ident, Query, SetExpr};

use crate::api::{Analyzed, Bound, finish};
use crate::binder::{Binder, Cx, Rel, Sight};
use crate::by_name;
use crate::constants::SessionConstants;
use crate::error::{backticked, internal};
use crate::evolve::{Meeting, Widening, reads_alike};
use crate::function::call::Nulls;
use crate::kernels::misc;
use crate::names::pretty;
use crate::node::{Kind, Node};
use crate::options::AnalyzerOptions;
use crate::relations::Relations;
use crate::resolver::Resolver;
use crate::scope::{Scope, ScopeColumn};
use crate::store::{Assignment, assigned};
use crate::types::struct_of;

/// Where an INSERT goes.
#[derive(Clone, Copy, Debug)]
pub struct InsertTarget<'a> {
    /// The table as error texts name it: `spark_catalog.default.t`.
    pub table: &'a str,
    /// Its columns.
    pub schema: &'a StructType,
    /// The column list of the statement; empty for all columns.
    pub columns: &'a [Ident],
    /// `BY NAME`.
    pub by_name: bool,
    /// `PARTITION (p = 3)`: columns with a constant.
    pub partition: &'a [(Ident, Option<Expr>)],
    /// Values may have fields that structs of the table lack; they stay, for the writer to accept or refuse.
    pub grows: bool,
    /// Which types the table's columns may grow to; none where they stay.
    pub widening: Option<Widening>,
}

/// The source of an INSERT in the columns of the table.
#[derive(Clone, Debug)]
pub struct Inserted {
    /// Every column of the table in its order, then those that the source has more.
    pub analyzed: Analyzed,
    /// For each column of the table: did the statement give it?
    pub given: Vec<bool>,
}

/// Analyses the source of an INSERT and assigns it to the table's columns. DEFAULT in its VALUES is the column's
/// default; columns that are not given are their default, NULL without one. Columns that the source has more stand at
/// the end, for the writer to accept or refuse.
///
/// # Errors
/// Those of a query; `DELTA_INSERT_COLUMN_ARITY_MISMATCH`, `INSERT_COLUMN_ARITY_MISMATCH`, `UNRESOLVED_COLUMN`,
/// `DATATYPE_MISMATCH` for a cast that does not exist.
pub async fn analyze_insert(
    source: &Query,
    target: &InsertTarget<'_>,
    r: &dyn Resolver,
    o: &AnalyzerOptions,
) -> Result<Inserted> {
    let mut source = source.clone();
    let constants = SessionConstants { options: o };
    let relations = Relations::collect(&[&source], r, &constants).await?;
    let binder = Binder::new(o, &relations, 0);
    let mut plan = Plan::of(target)?;
    plan.leave_out_identities(&mut source, target);
    plan.fill_defaults(&mut source, target)?;
    let rel = binder.query(&source, &Sight::default(), None)?;
    plan.assign(&binder, rel, target)
}

/// Where each column of the table comes from.
struct Plan {
    /// Positions in the table, in the order of the source's columns; None with BY NAME.
    order: Vec<usize>,
    /// Constants of the partition specification.
    constants: Vec<(usize, Expr)>,
    /// Columns of the statement's list that are not given after all.
    left_out: usize,
}

impl Plan {
    fn of(target: &InsertTarget<'_>) -> Result<Self> {
        let find = |name: &Ident| -> Result<usize> {
            target
                .schema
                .index_of(&name.value)
                .ok_or_else(|| Scope::unknown_column(target.schema, &name.value))
        };
        let mut constants = Vec::new();
        for (name, value) in target.partition {
            if let Some(e) = value {
                constants.push((find(name)?, e.clone()));
            }
        }
        let free = |n: &usize| !constants.iter().any(|(c, _)| c == n);
        let order = if target.columns.is_empty() {
            (0..target.schema.len()).filter(free).collect()
        } else {
            let mut seen = Vec::new();
            for name in target.columns {
                let n = find(name)?;
                if seen.contains(&n) {
                    return Err(DeltaError::new("COLUMN_ALREADY_EXISTS")
                        .param("columnName", format!("`{}`", name.value.to_lowercase())));
                }
                seen.push(n);
            }
            seen
        };
        Ok(Self {
            order,
            constants,
            left_out: 0,
        })
    }

    /// DEFAULT for an identity column in every row of VALUES means that the column is not given.
    fn leave_out_identities(&mut self, source: &mut Query, target: &InsertTarget<'_>) {
        let SetExpr::Values(values) = source.body.as_mut() else {
            return;
        };
        if target.by_name {
            return;
        }
        for n in (0..self.order.len()).rev() {
            let field = self.order.get(n).and_then(|c| target.schema.fields.get(*c));
            let all_default = values
                .rows
                .iter()
                .all(|row| row.content.get(n).is_some_and(is_default));
            // Rows without any value could not be told apart from no rows.
            let others = values.rows.iter().all(|row| row.content.len() > 1);
            if field.is_some_and(StructField::is_identity) && all_default && others {
                self.order.remove(n);
                self.left_out += 1;
                for row in &mut values.rows {
                    row.content.remove(n);
                }
            }
        }
    }

    /// DEFAULT in the rows of VALUES.
    fn fill_defaults(&self, source: &mut Query, target: &InsertTarget<'_>) -> Result<()> {
        let SetExpr::Values(values) = source.body.as_mut() else {
            return Ok(());
        };
        let lone = self.order.len() == 1;
        for row in &mut values.rows {
            for (n, cell) in row.content.iter_mut().enumerate() {
                if is_default(cell)
                    && let Some(field) =
                        self.order.get(n).and_then(|c| target.schema.fields.get(*c))
                {
                    // Explicit values of a column that is always generated are refused where it is filled.
                    if field.is_identity() && (lone || takes_values(field)) {
                        return Err(DeltaError::not_supported_yet(
                            "DEFAULT for an identity column, where other rows have values or the rows have nothing else,",
                        )
                        .with_hint("leave the column out of the INSERT's list"));
                    }
                    *cell = default_of(field)?;
                }
            }
        }
        Ok(())
    }

    fn assign(&self, binder: &Binder<'_>, rel: Rel, target: &InsertTarget<'_>) -> Result<Inserted> {
        let schema = target.schema;
        let columns: Vec<_> = rel.scope.visible().cloned().collect();
        let mut nodes: Vec<Option<Node>> = vec![None; schema.len()];
        let mut extra: Vec<(String, Node)> = Vec::new();
        if target.by_name {
            for c in &columns {
                match schema.index_of(&c.attr.name) {
                    Some(n) => nodes[n] = Some(c.node(&c.attr.name)),
                    None => extra.push((c.attr.name.clone(), c.node(&c.attr.name))),
                }
            }
        } else {
            self.check_count(columns.len(), target)?;
            for (n, c) in columns.iter().enumerate() {
                match self.order.get(n) {
                    Some(at) => nodes[*at] = Some(c.node(&c.attr.name)),
                    None => extra.push((c.attr.name.clone(), c.node(&c.attr.name))),
                }
            }
        }
        for (n, e) in &self.constants {
            nodes[*n] = Some(binder.constant(e)?);
        }
        let given: Vec<bool> = nodes.iter().map(Option::is_some).collect();
        let meeting = self.meeting(&columns, target);
        let mut list: Vec<(String, Node)> = Vec::with_capacity(schema.len() + extra.len());
        for (field, node) in schema.iter().zip(nodes) {
            let node = match node {
                Some(node) => node,
                None => binder.constant(&default_of(field)?)?,
            };
            let to = match target.grows {
                true => meeting.evolved(&field.data_type, &node.ty)?,
                false => field.data_type.clone(),
            };
            let node = match target.grows && meeting.by_name {
                true => {
                    let printed = pretty(&node, binder.options.zone);
                    by_name::ordered(node, &to, printed, &binder.env)?
                }
                false => node,
            };
            list.push((
                field.name.clone(),
                assigned(binder, node, &to, &field.name, Assignment::Insert)?,
            ));
        }
        list.extend(extra);
        let rel = binder.project(rel, &list)?;
        let rel = generated(binder, rel, schema, &given)?;
        Ok(Inserted {
            analyzed: finish(rel)?,
            given,
        })
    }

    /// How the fields of structs meet: by name where the table can read the source's columns as they are, else by position, as the
    /// columns do.
    fn meeting(&self, columns: &[ScopeColumn], target: &InsertTarget<'_>) -> Meeting {
        let widening = target.widening;
        let source: Vec<(&str, &DataType)> = columns
            .iter()
            .map(|column| (column.attr.name.as_str(), &column.ty))
            .collect();
        let wanted = |name: &str| {
            let named = |(own, _): &(&str, &DataType)| own.eq_ignore_ascii_case(name);
            source.iter().any(named)
        };
        let by_name = if target.by_name {
            let fields = target.schema.iter().filter(|field| wanted(&field.name));
            reads_alike(&StructType::new(fields.cloned()), &source, widening)
        } else {
            let fields: Vec<StructField> = self
                .order
                .iter()
                .map(|at| target.schema.fields[*at].clone())
                .collect();
            let known = source.len().min(fields.len());
            let in_place = fields
                .iter()
                .zip(&source)
                .all(|(f, (name, _))| f.name == *name);
            in_place && reads_alike(&StructType::new(fields), &source[..known], widening)
        };
        Meeting { by_name, widening }
    }

    fn check_count(&self, have: usize, target: &InsertTarget<'_>) -> Result<()> {
        let wanted = self.order.len();
        if !target.columns.is_empty() && have != wanted {
            let class = if have < wanted {
                "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS"
            } else {
                "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS"
            };
            let table: Vec<&str> = target.table.split('.').collect();
            let list = |names: Vec<String>| {
                names
                    .iter()
                    .map(|n| format!("`{n}`"))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            return Err(DeltaError::new(class)
                .param("tableName", backticked(&table))
                .param(
                    "tableColumns",
                    list(target.columns.iter().map(|c| c.value.clone()).collect()),
                )
                .param(
                    "dataColumns",
                    list(
                        (1..=have + self.left_out)
                            .map(|n| format!("col{n}"))
                            .collect(),
                    ),
                ));
        }
        if have < wanted {
            return Err(DeltaError::new("DELTA_INSERT_COLUMN_ARITY_MISMATCH")
                .param("tableName", target.table)
                .param("columnName", "not enough data columns")
                .param("numColumns", target.schema.len())
                .param("insertColumns", have + self.constants.len()));
        }
        Ok(())
    }
}

/// GENERATED BY DEFAULT.
fn takes_values(field: &StructField) -> bool {
    use deltaic_protocol::schema::metadata::IDENTITY_ALLOW_EXPLICIT_INSERT;
    let value = field.metadata.get(IDENTITY_ALLOW_EXPLICIT_INSERT);
    value.and_then(serde_json::Value::as_bool) == Some(true)
}

/// The keyword DEFAULT in place of a value.
fn is_default(cell: &Expr) -> bool {
    matches!(cell, Expr::Identifier(i) if i.quote_style.is_none() && i.value.eq_ignore_ascii_case("default"))
}

/// The default of a column as an expression; NULL without one.
fn default_of(field: &StructField) -> Result<Expr> {
    deltaic_sql::parse_expr(field.current_default().unwrap_or("NULL"))
}

/// Generated columns that were not given, computed from the others.
fn generated(binder: &Binder<'_>, rel: Rel, schema: &StructType, given: &[bool]) -> Result<Rel> {
    let wanted = |n: usize, f: &StructField| !given[n] && f.generation_expression().is_some();
    if !schema.iter().enumerate().any(|(n, f)| wanted(n, f)) {
        return Ok(rel);
    }
    let scope = rel.scope.clone();
    let sight = Sight::default();
    let cx = Cx::new(&scope, None, &sight);
    let mut list: Vec<(String, Node)> = Vec::with_capacity(scope.columns.len());
    for (n, c) in scope.columns.iter().enumerate() {
        let node = match schema.fields.get(n) {
            Some(f) if wanted(n, f) => {
                let e = deltaic_sql::parse_expr(f.generation_expression().unwrap_or("NULL"))?;
                assigned(
                    binder,
                    binder.expr(&e, &cx)?,
                    &f.data_type,
                    &f.name,
                    Assignment::Insert,
                )?
            }
            _ => c.node(&c.attr.name),
        };
        list.push((c.attr.name.clone(), node));
    }
    binder.project(rel, &list)
}

/// The SET list of an UPDATE: for each column of the table that changes, its new value over the table's row.
///
/// # Errors
/// `UNRESOLVED_COLUMN` for a column that the table lacks, `DELTA_CONFLICT_SET_COLUMN` for one set twice, and those of
/// the expressions.
pub async fn bind_update(
    list: &[(Vec<Ident>, Expr)],
    scope: &Scope,
    schema: &StructType,
    r: &dyn Resolver,
    o: &AnalyzerOptions,
) -> Result<Vec<(String, Bound)>> {
    let constants = SessionConstants { options: o };
    let nodes: Vec<&Expr> = list.iter().map(|(_, e)| e).collect();
    let relations = Relations::collect(&nodes, r, &constants).await?;
    let last = scope.columns.iter().map(|c| c.attr.id).max().unwrap_or(0);
    let binder = Binder::new(o, &relations, last);
    let sight = Sight::default();
    let cx = Cx::new(scope, None, &sight);
    let mut sets: Vec<(usize, Vec<String>, Node)> = Vec::new();
    for (path, e) in list {
        let texts: Vec<&str> = path.iter().map(|p| p.value.as_str()).collect();
        let Some((column, used)) = scope.find(&texts, o.case_sensitive)? else {
            return Err(scope.unresolved(&texts));
        };
        let Some(n) = schema.index_of(column.attr.origin.as_deref().unwrap_or(&column.attr.name))
        else {
            return Err(scope.unresolved(&texts));
        };
        let inner: Vec<String> = texts[used..].iter().map(|t| (*t).to_owned()).collect();
        let (ty, field) = leaf(&schema.fields[n], &inner, &texts)?;
        let node = binder.expr(e, &cx)?;
        let node = if matches!(node.kind, Kind::Default) {
            binder.constant(&if inner.is_empty() {
                default_of(field)?
            } else {
                deltaic_sql::parse_expr("NULL")?
            })?
        } else {
            node
        };
        let printed = pretty(&node, o.zone);
        let node = by_name::rearranged(node, &ty, printed, &binder.env)?;
        let node = assigned(&binder, node, &ty, &texts.join("."), Assignment::Update)?;
        if node.is_foldable() {
            // Spark computes constants while it plans, so their errors come before any row is looked at.
            crate::fold::evaluate(&node)?;
        }
        let clash = sets
            .iter()
            .find(|(c, p, _)| *c == n && (starts(p, &inner) || starts(&inner, p)));
        if let Some((_, p, _)) = clash {
            let name = |p: &[String]| {
                backticked(
                    &std::iter::once(&schema.fields[n].name)
                        .chain(p)
                        .collect::<Vec<_>>(),
                )
            };
            return Err(DeltaError::new("DELTA_CONFLICT_SET_COLUMN")
                .param("columnList", format!("[{}, {}]", name(p), name(&inner))));
        }
        sets.push((n, inner, node));
    }
    let mut out = Vec::new();
    for (n, field) in schema.iter().enumerate() {
        let mine: Vec<(&[String], &Node)> = sets
            .iter()
            .filter(|(c, ..)| *c == n)
            .map(|(_, p, node)| (p.as_slice(), node))
            .collect();
        if mine.is_empty() {
            continue;
        }
        let Some(base) = scope.columns.get(n).map(|c| c.node(&c.attr.name)) else {
            return Err(internal("a column out of place"));
        };
        let node = rebuilt(&binder, base, &mine)?;
        out.push((field.name.clone(), Bound::of(node, scope, o)?));
    }
    Ok(out)
}

fn starts(a: &[String], b: &[String]) -> bool {
    a.len() <= b.len() && a.iter().zip(b).all(|(x, y)| x.eq_ignore_ascii_case(y))
}

fn leaf<'f>(
    field: &'f StructField,
    path: &[String],
    whole: &[&str],
) -> Result<(DataType, &'f StructField)> {
    let Some((first, rest)) = path.split_first() else {
        return Ok((field.data_type.clone(), field));
    };
    let DataType::Struct(s) = &field.data_type else {
        return Err(
            DeltaError::new("DELTA_UNSUPPORTED_NESTED_FIELD_IN_OPERATION")
                .param("operation", "UPDATE")
                .param("fieldName", backticked(whole)),
        );
    };
    match s.field(first) {
        Some(inner) => leaf(inner, rest, whole),
        None => Err(DeltaError::new("DELTA_CANNOT_RESOLVE_COLUMN")
            .param("columnName", whole.join("."))
            .param("schema", DataType::Struct(s.clone()).simple_string())),
    }
}

/// A struct with some of its fields replaced.
fn rebuilt(binder: &Binder<'_>, base: Node, sets: &[(&[String], &Node)]) -> Result<Node> {
    if let Some((_, node)) = sets.iter().find(|(p, _)| p.is_empty()) {
        return Ok((*node).clone());
    }
    let DataType::Struct(s) = base.ty.clone() else {
        return Err(internal("a field of something that is no struct"));
    };
    let mut fields = Vec::new();
    let mut values = Vec::new();
    for f in &s.fields {
        let old = binder.field(base.clone(), &f.name)?;
        let mine: Vec<(&[String], &Node)> = sets
            .iter()
            .filter(|(p, _)| p[0].eq_ignore_ascii_case(&f.name))
            .map(|(p, n)| (&p[1..], *n))
            .collect();
        let value = if mine.is_empty() {
            old
        } else {
            rebuilt(binder, old, &mine)?
        };
        fields.push((f.name.clone(), f.data_type.clone(), f.nullable));
        values.push(value);
    }
    Ok(binder.call("struct", values).kernel(
        "struct",
        misc::make_struct,
        struct_of(fields),
        Nulls::Never,
    ))
}

/// NULL in the type of a column.
pub fn null_of(ty: &DataType) -> Result<ScalarValue> {
    ScalarValue::try_from(&crate::types::arrow_type(ty)).map_err(crate::error::unwrap)
}
