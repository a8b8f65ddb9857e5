//! Constants of a statement: names by IDENTIFIER, points in time, arguments of table functions.

use datafusion::common::ScalarValue;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};
use deltaic_sql::Name;
use sqlparser::ast::{Expr, Ident};

use crate::binder::{Binder, Cx, Sight};
use crate::error::{backticked, quoted};
use crate::fold::{cast_constant, evaluate, whole};
use crate::names::pretty;
use crate::node::Node;
use crate::options::AnalyzerOptions;
use crate::relations::{Constants, Relations};
use crate::resolver::{ArgumentValue, TableFunctionArgument, Travel};
use crate::scope::Scope;
use crate::types::{castable, shown};

/// Constants bound with the session's settings alone.
pub struct SessionConstants<'a> {
    /// The settings.
    pub options: &'a AnalyzerOptions,
}

impl SessionConstants<'_> {
    fn with<T>(&self, f: impl FnOnce(&Binder<'_>) -> Result<T>) -> Result<T> {
        let relations = Relations::default();
        f(&Binder::new(self.options, &relations, 0))
    }
}

impl Constants for SessionConstants<'_> {
    fn relation_name(&self, name: &Name) -> Result<Vec<Ident>> {
        self.with(|b| b.relation_name(name))
    }
    fn travel(&self, travel: &deltaic_sql::Travel) -> Result<Travel> {
        self.with(|b| b.travel(travel))
    }
    fn table_argument(&self, e: &Expr) -> Result<TableFunctionArgument> {
        self.with(|b| b.table_argument(e))
    }
    fn knows_table_function(&self, name: &str) -> bool {
        self.with(|b| Ok(b.knows_table_function(name)))
            .unwrap_or(false)
    }
}

impl Binder<'_> {
    /// An expression over no columns.
    pub fn constant(&self, e: &Expr) -> Result<Node> {
        let (scope, sight) = (Scope::default(), Sight::default());
        self.expr(e, &Cx::new(&scope, None, &sight))
    }

    /// The text that IDENTIFIER(…) names something by.
    pub fn identifier_text(&self, e: &Expr) -> Result<String> {
        let node = self.constant(e)?;
        let text = pretty(&node, self.options.zone);
        let fail = |class: &'static str| {
            DeltaError::new(class)
                .param("name", "IDENTIFIER")
                .param("expr", text.clone())
        };
        if !node.is_foldable() {
            return Err(fail("NOT_A_CONSTANT_STRING.NOT_CONSTANT"));
        }
        if node.ty != DataType::String {
            return Err(match node.ty {
                DataType::Void => fail("NOT_A_CONSTANT_STRING.NULL"),
                _ => fail("NOT_A_CONSTANT_STRING.WRONG_TYPE").param("dataType", shown(&node.ty)),
            });
        }
        match evaluate(&node)? {
            ScalarValue::Utf8(Some(s)) => Ok(s),
            _ => Err(fail("NOT_A_CONSTANT_STRING.NULL")),
        }
    }
}

impl Constants for Binder<'_> {
    fn relation_name(&self, name: &Name) -> Result<Vec<Ident>> {
        let parts = match name {
            Name::Parts(parts) => return Ok(parts.clone()),
            Name::Path(path) => return Ok(vec![Ident::new("delta"), Ident::with_quote('`', path)]),
            Name::Identifier(e) => match deltaic_sql::parse_name(&self.identifier_text(e)?)? {
                Name::Parts(parts) => parts,
                other => return self.relation_name(&other),
            },
        };
        if parts.len() > 3 {
            let texts: Vec<&str> = parts.iter().map(|p| p.value.as_str()).collect();
            return Err(DeltaError::new("IDENTIFIER_TOO_MANY_NAME_PARTS")
                .param("identifier", backticked(&texts))
                .param("limit", 3));
        }
        Ok(parts)
    }

    fn travel(&self, travel: &deltaic_sql::Travel) -> Result<Travel> {
        let zone = self.options.zone;
        match travel {
            deltaic_sql::Travel::Version(e) => {
                let node = self.constant(e)?;
                let value = evaluate(&node)?;
                let text = match whole(&value) {
                    Some(v) => v.to_string(),
                    None => crate::names::literal_text(&value, &node.ty, zone),
                };
                Ok(Travel::Version(text))
            }
            deltaic_sql::Travel::Timestamp(e) => {
                let node = self.constant(e).map_err(over_columns)?;
                let micros = self.instant(&node)?;
                Ok(Travel::Timestamp {
                    micros,
                    text: pretty(&node, zone),
                })
            }
            deltaic_sql::Travel::Compact(digits) => {
                let invalid = || {
                    DeltaError::new("DELTA_INVALID_TIMESTAMP_FORMAT")
                        .param("timestamp", digits)
                        .param("format", "yyyyMMddHHmmssSSS")
                };
                let text = deltaic_sql::travel::compact_timestamp(digits).ok_or_else(invalid)?;
                let micros = crate::time::parse::timestamp(&text, zone, 0).ok_or_else(invalid)?;
                Ok(Travel::Timestamp { micros, text })
            }
        }
    }

    fn table_argument(&self, e: &Expr) -> Result<TableFunctionArgument> {
        let node = self.constant(e)?;
        if !node.is_foldable() {
            return Ok(TableFunctionArgument::not_constant(e));
        }
        let value = match (evaluate(&node)?, &node.ty) {
            (v, _) if v.is_null() => ArgumentValue::Null,
            (ScalarValue::Utf8(Some(s)), _) => ArgumentValue::String(s),
            (ScalarValue::TimestampMicrosecond(Some(t), _), DataType::Timestamp) => {
                ArgumentValue::Timestamp(t)
            }
            (_, DataType::Date) => {
                match cast_constant(node.clone(), &DataType::Timestamp, &self.env)? {
                    ScalarValue::TimestampMicrosecond(Some(t), _) => ArgumentValue::Timestamp(t),
                    _ => ArgumentValue::Other,
                }
            }
            (v, _) => whole(&v).map_or(ArgumentValue::Other, ArgumentValue::Long),
        };
        Ok(TableFunctionArgument {
            value,
            is_literal: matches!(node.kind, crate::node::Kind::Literal(_)),
            sql: pretty(&node, self.options.zone),
            data_type: node.ty,
        })
    }

    fn knows_table_function(&self, name: &str) -> bool {
        name == "range" || crate::function::generator::is_generator(name)
    }
}

impl Binder<'_> {
    /// The instant that TIMESTAMP AS OF means.
    pub fn instant(&self, node: &Node) -> Result<i64> {
        let text = quoted(pretty(node, self.options.zone));
        let fail = |class: &'static str| DeltaError::new(class).param("expr", text.clone());
        if node.any(&|n| {
            matches!(
                n.kind,
                crate::node::Kind::Attr(_)
                    | crate::node::Kind::Subquery(_)
                    | crate::node::Kind::Aggregate(_)
            )
        }) {
            return Err(fail("INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.UNEVALUABLE"));
        }
        if !node.is_deterministic() {
            return Err(fail("INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.NON_DETERMINISTIC"));
        }
        if !castable::ansi(&node.ty, &DataType::Timestamp) {
            return Err(fail("INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT"));
        }
        match cast_constant(node.clone(), &DataType::Timestamp, &self.env) {
            Ok(ScalarValue::TimestampMicrosecond(Some(t), _)) => Ok(t),
            Ok(_) => Err(fail("INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT")),
            Err(e) if node.ty != DataType::String => Err(e),
            Err(_) => Err(fail("INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT")),
        }
    }
}

/// An expression that names a column is refused as Spark's parser does it.
fn over_columns(error: DeltaError) -> DeltaError {
    match error.class() {
        Some(class) if class.starts_with("UNRESOLVED_COLUMN") => {
            DeltaError::new("_LEGACY_ERROR_TEMP_0056")
                .param("reason", "timestamp expression cannot refer to any columns")
        }
        _ => error,
    }
}
