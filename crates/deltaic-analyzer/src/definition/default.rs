//! DEFAULT values of columns: constants of the column's type, which may be those of the moment such as `current_date()`.

use std::ops::ControlFlow;

use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{Expr, Query, Visit, Visitor};

use crate::binder::Binder;
use crate::error::backticked;
use crate::fold::evaluate;
use crate::node::{CastMode, Kind, Node};
use crate::options::AnalyzerOptions;
use crate::relations::Relations;
use crate::types::{decimal, is_atomic, is_float, is_timestamp, same_type, shown};

use super::differs_between_rows;

/// A DEFAULT clause.
#[derive(Clone, Copy, Debug)]
pub struct ColumnDefault<'a> {
    /// The statement it stands in, as error texts name it: `CREATE TABLE`.
    pub statement: &'a str,
    /// The column's name, its parents first.
    pub column: &'a [&'a str],
    /// The column's type.
    pub data_type: &'a DataType,
    /// The value.
    pub expr: &'a Expr,
    /// The value as written.
    pub text: &'a str,
}

/// Checks a DEFAULT clause.
///
/// # Errors
/// `INVALID_DEFAULT_VALUE` with its subclasses; `DELTA_OPERATION_NOT_SUPPORTED_FOR_DATATYPES`; those of functions that do not exist or are called wrongly; those of
/// computing the value.
pub fn check_default(default: &ColumnDefault<'_>, o: &AnalyzerOptions) -> Result<()> {
    if has_subquery(default.expr) {
        return Err(invalid(
            DeltaError::new("INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION"),
            default,
        ));
    }
    let relations = Relations::default();
    let binder = Binder::new(o, &relations, 0);
    let unresolved = || DeltaError::new("INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION");
    let node = match binder.constant(default.expr) {
        Ok(node) if node.any(&|n| matches!(n.kind, Kind::Default)) => {
            return Err(invalid(unresolved(), default));
        }
        Ok(node) => node,
        Err(error) if is_of_call(&error) => return Err(error),
        Err(error) => return Err(invalid(unresolved(), default).with_source(error)),
    };
    if !fits(&binder, &node, default.data_type) {
        let error = DeltaError::new("INVALID_DEFAULT_VALUE.DATA_TYPE")
            .param("expectedType", shown(default.data_type))
            .param("actualType", shown(&node.ty));
        return Err(invalid(error, default));
    }
    if differs_between_rows(&node) {
        return Err(invalid(
            DeltaError::new("INVALID_DEFAULT_VALUE.NON_DETERMINISTIC"),
            default,
        ));
    }
    if !node.is_foldable() {
        return Err(invalid(
            DeltaError::new("INVALID_DEFAULT_VALUE.NOT_CONSTANT"),
            default,
        ));
    }
    let value = evaluate(&node)?;
    if !value.is_null() && holds_variant(default.data_type) {
        let list = format!(
            "[{}: {}]",
            default.column.join("."),
            default.data_type.sql()
        );
        return Err(
            DeltaError::new("DELTA_OPERATION_NOT_SUPPORTED_FOR_DATATYPES")
                .param("operation", "COLUMN DEFAULT")
                .param("dataTypeList", list),
        );
    }
    Ok(())
}

/// Columns of such types have no default but NULL (protocol section "Variant Data Type").
fn holds_variant(ty: &DataType) -> bool {
    match ty {
        DataType::Variant => true,
        DataType::Array(array) => holds_variant(&array.element_type),
        DataType::Map(map) => holds_variant(&map.key_type) || holds_variant(&map.value_type),
        DataType::Struct(fields) => fields.iter().any(|field| holds_variant(&field.data_type)),
        _ => false,
    }
}

fn invalid(error: DeltaError, default: &ColumnDefault<'_>) -> DeltaError {
    error
        .param("statement", default.statement)
        .param("colName", backticked(default.column))
        .param("defaultValue", default.text)
}

/// Errors that Spark raises while it looks for a function, before it asks what the expression is for.
fn is_of_call(error: &DeltaError) -> bool {
    error.class().is_some_and(|class| {
        class == "UNRESOLVED_ROUTINE"
            || class.starts_with("WRONG_NUM_ARGS")
            || class.starts_with("UNSUPPORTED_FEATURE")
    })
}

struct Subqueries;

impl Visitor for Subqueries {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

fn has_subquery(e: &Expr) -> bool {
    e.visit(&mut Subqueries).is_break()
}

/// Whether the type goes up to the column's, or the constant has a value there: `INT DEFAULT 5L`, `DATE DEFAULT '2020-01-01'`.
fn fits(binder: &Binder<'_>, node: &Node, to: &DataType) -> bool {
    if goes_up(&node.ty, to) {
        return true;
    }
    let plain = |ty: &DataType| {
        !matches!(
            ty,
            DataType::Boolean | DataType::Array(_) | DataType::Map(_) | DataType::Struct(_)
        )
    };
    if !node.is_foldable() || !plain(&node.ty) || !plain(to) {
        return false;
    }
    binder
        .cast(node.clone(), to.clone(), CastMode::Try)
        .and_then(|cast| evaluate(&cast))
        .is_ok_and(|value| !value.is_null())
}

/// Does every value of `from` have the same value in `to`? Spark's rule for types that go up.
fn goes_up(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    match (from, to) {
        _ if same_type(from, to) => true,
        (Void, _) => true,
        (_, Decimal { precision, scale }) if digits(from).is_some() => {
            digits(from).is_some_and(|own| decimal::wider(own, (*precision, *scale)) == to.clone())
        }
        (Decimal { .. }, Float | Double) => false,
        (_, String) => is_atomic(from),
        (Date, Timestamp | TimestampNtz) => true,
        _ if is_timestamp(from) && is_timestamp(to) => true,
        (Array(x), Array(y)) => {
            (y.contains_null || !x.contains_null) && goes_up(&x.element_type, &y.element_type)
        }
        (Map(x), Map(y)) => {
            (y.value_contains_null || !x.value_contains_null)
                && goes_up(&x.key_type, &y.key_type)
                && goes_up(&x.value_type, &y.value_type)
        }
        (Struct(x), Struct(y)) => {
            x.fields.len() == y.fields.len()
                && x.fields.iter().zip(&y.fields).all(|(f, g)| {
                    (g.nullable || !f.nullable) && goes_up(&f.data_type, &g.data_type)
                })
        }
        _ => match (rank(from), rank(to)) {
            (Some(from), Some(to)) => from < to,
            _ => false,
        },
    }
}

/// Precision and scale of the decimal that holds every value of an exact number's type.
fn digits(ty: &DataType) -> Option<(u8, u8)> {
    decimal::for_type(ty).filter(|_| !is_float(ty))
}

fn rank(ty: &DataType) -> Option<u8> {
    match ty {
        DataType::Byte => Some(0),
        DataType::Short => Some(1),
        DataType::Integer => Some(2),
        DataType::Long => Some(3),
        DataType::Float => Some(4),
        DataType::Double => Some(5),
        _ => None,
    }
}
