//! Rewrites expressions over the table's columns into expressions over one file's columns.
//!
//! A struct field access keeps its shape (`get_field(column, 'physical name')`), because the Parquet reader recognises
//! only that form and otherwise drops the predicate. All other differences become a [`ReshapeExpr`] around the column.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::common::{ScalarValue, exec_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::functions::core::getfield::GetFieldFunc;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::expressions::{CastExpr, Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_expr_adapter::{PhysicalExprAdapter, PhysicalExprAdapterFactory};
use deltaic_protocol::error::DeltaError;

use crate::columns::mapping::{ColumnMap, FieldMap, MappingMode, has_field_ids};
use crate::columns::reshape::Reshape;

/// Makes the rewriter for each file of a scan.
#[derive(Debug, Clone)]
pub struct DeltaAdapterFactory {
    columns: Arc<ColumnMap>,
}

impl DeltaAdapterFactory {
    /// A factory for a table's columns.
    pub fn new(columns: Arc<ColumnMap>) -> DeltaAdapterFactory {
        DeltaAdapterFactory { columns }
    }
}

impl PhysicalExprAdapterFactory for DeltaAdapterFactory {
    fn create(
        &self,
        logical_file_schema: SchemaRef,
        physical_file_schema: SchemaRef,
    ) -> Result<Arc<dyn PhysicalExprAdapter>> {
        if self.columns.mode == MappingMode::Id
            && !physical_file_schema.fields().is_empty()
            && !has_field_ids(physical_file_schema.fields())
        {
            let text = "Spark read schema expects field Ids, but Parquet file schema doesn't contain any field Ids. Please remove \
                        the field ids from Spark schema or ignore missing ids by setting \
                        `spark.sql.parquet.fieldId.read.ignoreMissing = true`";
            return Err(DataFusionError::External(Box::new(DeltaError::unclassed(
                "java.lang.RuntimeException",
                text,
            ))));
        }
        Ok(Arc::new(DeltaAdapter {
            columns: Arc::clone(&self.columns),
            logical: logical_file_schema,
            physical: physical_file_schema,
        }))
    }
}

#[derive(Debug)]
struct DeltaAdapter {
    columns: Arc<ColumnMap>,
    logical: SchemaRef,
    physical: SchemaRef,
}

impl PhysicalExprAdapter for DeltaAdapter {
    fn rewrite(&self, expr: Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
        if let Some(access) = self.field_access(&expr)? {
            return Ok(access);
        }
        if let Some(column) = expr.downcast_ref::<Column>() {
            return self.column(column);
        }
        let children = expr
            .children()
            .into_iter()
            .map(|child| self.rewrite(Arc::clone(child)))
            .collect::<Result<Vec<_>>>()?;
        if children.is_empty() {
            Ok(expr)
        } else {
            expr.with_new_children(children)
        }
    }
}

impl DeltaAdapter {
    fn column(&self, column: &Column) -> Result<Arc<dyn PhysicalExpr>> {
        let Some(map) = self.columns.column(column.name()) else {
            // Row numbers and the like: the reader makes them, both schemas have them.
            let at = self.physical.index_of(column.name())?;
            return Ok(Arc::new(Column::new(column.name(), at)));
        };
        let logical = self.logical.field_with_name(column.name())?;
        match map.find(self.columns.mode, self.physical.fields()) {
            None => null_of(logical),
            Some(at) => {
                let physical = self.physical.field(at);
                let shape = Reshape::plan(
                    self.columns.mode,
                    map,
                    logical.data_type(),
                    physical.data_type(),
                    column.name(),
                )?;
                Ok(wrap(
                    Arc::new(Column::new(physical.name(), at)),
                    shape,
                    logical,
                ))
            }
        }
    }

    /// `get_field(… get_field(column, 'a') …, 'b')` over struct columns, in its nested and its flat form.
    fn field_access(&self, expr: &Arc<dyn PhysicalExpr>) -> Result<Option<Arc<dyn PhysicalExpr>>> {
        let Some(function) = ScalarFunctionExpr::try_downcast_func::<GetFieldFunc>(expr.as_ref())
        else {
            return Ok(None);
        };
        let mut path: Vec<String> = Vec::new();
        let Some(column) = access_path(expr, &mut path) else {
            return Ok(None);
        };
        let Some(mut map) = self.columns.column(column.name()) else {
            return Ok(None);
        };
        let mut logical: FieldRef = Arc::new(self.logical.field_with_name(column.name())?.clone());
        let mut fields: &FieldMap;
        let root = map.find(self.columns.mode, self.physical.fields());
        let mut physical: Option<FieldRef> = root.map(|at| Arc::clone(&self.physical.fields()[at]));
        let mut keys: Vec<String> = Vec::new();
        for name in &path {
            let DataType::Struct(children) = logical.data_type() else {
                return Ok(None);
            };
            let Some(next) = children.iter().find(|field| field.name() == name) else {
                return Ok(None);
            };
            fields = match map.child(name) {
                Some(child) => child,
                None => return Ok(None),
            };
            physical = match physical.as_ref().map(|field| field.data_type()) {
                Some(DataType::Struct(have)) => fields
                    .find(self.columns.mode, have)
                    .map(|at| Arc::clone(&have[at])),
                Some(_) => return Ok(None),
                None => None,
            };
            if let Some(found) = &physical {
                keys.push(found.name().clone());
            }
            logical = Arc::clone(next);
            map = fields;
        }
        let (Some(at), Some(leaf)) = (root, physical) else {
            return null_of(&logical).map(Some);
        };
        let shape = Reshape::plan(
            self.columns.mode,
            map,
            logical.data_type(),
            leaf.data_type(),
            &path.join("."),
        )?;
        let mut args: Vec<Arc<dyn PhysicalExpr>> =
            vec![Arc::new(Column::new(self.physical.field(at).name(), at))];
        args.extend(keys.into_iter().map(|key| {
            Arc::new(Literal::new(ScalarValue::Utf8(Some(key)))) as Arc<dyn PhysicalExpr>
        }));
        let access = ScalarFunctionExpr::try_new(
            Arc::new(function.fun().clone()),
            args,
            &self.physical,
            Arc::new(function.config_options().clone()),
        )?;
        Ok(Some(wrap(Arc::new(access), shape, &logical)))
    }
}

fn access_path(expr: &Arc<dyn PhysicalExpr>, path: &mut Vec<String>) -> Option<Column> {
    if let Some(column) = expr.downcast_ref::<Column>() {
        return Some(column.clone());
    }
    let function = ScalarFunctionExpr::try_downcast_func::<GetFieldFunc>(expr.as_ref())?;
    let (base, keys) = function.args().split_first()?;
    let column = access_path(base, path)?;
    for key in keys {
        path.push(
            key.downcast_ref::<Literal>()?
                .value()
                .try_as_str()
                .flatten()?
                .to_string(),
        );
    }
    Some(column)
}

fn null_of(field: &Field) -> Result<Arc<dyn PhysicalExpr>> {
    Ok(Arc::new(Literal::new(ScalarValue::try_new_null(
        field.data_type(),
    )?)))
}

fn wrap(expr: Arc<dyn PhysicalExpr>, shape: Reshape, logical: &Field) -> Arc<dyn PhysicalExpr> {
    match shape {
        Reshape::Keep => expr,
        // The pruning rules know plain casts.
        Reshape::Cast(to) => Arc::new(CastExpr::new(expr, to, None)),
        shape => Arc::new(ReshapeExpr {
            input: expr,
            shape,
            to: logical.data_type().clone(),
        }),
    }
}

/// A column of a file in the form that the table's schema gives it.
#[derive(Debug, Clone)]
pub struct ReshapeExpr {
    input: Arc<dyn PhysicalExpr>,
    shape: Reshape,
    to: DataType,
}

impl PartialEq for ReshapeExpr {
    fn eq(&self, other: &Self) -> bool {
        self.input.eq(&other.input) && self.shape == other.shape
    }
}

impl Eq for ReshapeExpr {}

impl Hash for ReshapeExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.input.hash(state);
        self.shape.hash(state);
    }
}

impl fmt::Display for ReshapeExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reshape({})", self.input)
    }
}

impl PhysicalExpr for ReshapeExpr {
    fn data_type(&self, _input_schema: &Schema) -> Result<DataType> {
        Ok(self.to.clone())
    }

    fn nullable(&self, _input_schema: &Schema) -> Result<bool> {
        Ok(true)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let array = self.input.evaluate(batch)?.into_array(batch.num_rows())?;
        Ok(ColumnarValue::Array(self.shape.apply(&array)?))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.input]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        match (children.pop(), children.is_empty()) {
            (Some(input), true) => Ok(Arc::new(ReshapeExpr {
                input,
                shape: self.shape.clone(),
                to: self.to.clone(),
            })),
            _ => exec_err!("a reshaped column has one input"),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.input.fmt_sql(f)
    }
}
