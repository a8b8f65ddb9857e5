//! A value in the type of the column that it is stored in: the casts of the session's policy, with the errors that name the column.

use std::sync::Arc;

use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use crate::api::Bound;
use crate::binder::Binder;
use crate::function::misc::cast_error;
use crate::kernel::Env;
use crate::names::pretty;
use crate::node::{CastMode, Kind, Node};
use crate::options::{AnalyzerOptions, StoreAssignment};
use crate::relations::Relations;
use crate::scope::Scope;
use crate::types::{castable, same_type, shown, widen};

/// Which statement assigns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assignment {
    /// INSERT.
    Insert,
    /// UPDATE and MERGE.
    Update,
}

/// A value in the type of the column that it goes to.
pub(crate) fn assigned(
    binder: &Binder<'_>,
    node: Node,
    to: &DataType,
    column: &str,
    kind: Assignment,
) -> Result<Node> {
    if same_type(&node.ty, to) {
        return Ok(node);
    }
    if let (DataType::Struct(f), DataType::Struct(t)) = (&node.ty, to)
        && f.fields.len() < t.fields.len()
    {
        return Err(DeltaError::new("DELTA_INSERT_COLUMN_ARITY_MISMATCH")
            .param("tableName", column)
            .param(
                "columnName",
                format!("not enough nested fields in {column}"),
            )
            .param("numColumns", t.fields.len())
            .param("insertColumns", f.fields.len()));
    }
    let options = binder.options;
    let session = kind == Assignment::Update && options.update_follows_ansi;
    // How the cast runs: whether it fails, and the column that it then names.
    let (ansi, names_column) = match options.store_assignment {
        _ if session => (options.ansi, false),
        StoreAssignment::Ansi => (true, true),
        StoreAssignment::Legacy => (false, false),
        StoreAssignment::Strict => {
            if !castable::up(&node.ty, to) {
                return Err(no_up_cast(&node, to, &pretty(&node, options.zone)));
            }
            (options.ansi, false)
        }
    };
    let exists = match ansi {
        true => castable::ansi(&node.ty, to),
        // Numbers as bytes are the one cast of that mode that is not here.
        false => {
            castable::legacy(&node.ty, to) && *to != DataType::Binary
                || castable::ansi(&node.ty, to)
        }
    };
    if !exists {
        return Err(cast_error(&node, to, &pretty(&node, options.zone)));
    }
    let label = match kind {
        Assignment::Insert => format!("`{column}`"),
        Assignment::Update => format!("update `{column}`"),
    };
    let env = Arc::new(Env {
        column: names_column.then_some(label),
        ansi,
        ..binder.env.as_ref().clone()
    });
    let nullable = node.nullable || !ansi || widen::forces_null(&node.ty, to);
    // Whether a field may be null is for the table's checks to say, which name it.
    Ok(Node::new(
        Kind::Cast {
            child: Box::new(node),
            mode: CastMode::Insert,
            explicit: false,
            env,
        },
        to.as_nullable(),
        nullable,
    ))
}

/// The error of a value that only a cast that may lose something brings into the column's type.
fn no_up_cast(node: &Node, to: &DataType, printed: &str) -> DeltaError {
    DeltaError::new("CANNOT_UP_CAST_DATATYPE")
        .param("expression", printed)
        .param("sourceType", shown(&node.ty))
        .param("targetType", shown(to))
        .param(
            "details",
            "The type path of the target object is:\n\nYou can either add an explicit cast to the input data or choose a higher \
             precision type of the field in the target object",
        )
}

/// A bound value in the type of a column.
///
/// # Errors
/// `DATATYPE_MISMATCH` for a cast that does not exist; values that do not fit fail when the expression runs.
pub fn store_assignment(
    b: &Bound,
    to: &DataType,
    column: &str,
    kind: Assignment,
    scope: &Scope,
    o: &AnalyzerOptions,
) -> Result<Bound> {
    let relations = Relations::default();
    let last = scope.columns.iter().map(|c| c.attr.id).max().unwrap_or(0);
    let binder = Binder::new(o, &relations, last);
    Bound::of(
        assigned(&binder, b.node().clone(), to, column, kind)?,
        scope,
        o,
    )
}
