//! From DataFusion's expressions to the predicates of data skipping. What skipping does not understand becomes unknown,
//! so a file is never left out by mistake.

use arrow::datatypes::DataType as Arrow;
use datafusion::common::ScalarValue;
use datafusion::functions::core::getfield::GetFieldFunc;
use datafusion::logical_expr::expr::{InList, Like, ScalarFunction};
use datafusion::logical_expr::{Between, BinaryExpr, Cast, Expr, Operator};
use deltaic_log::skipping::{Column, Comparison, Predicate, Value};
use deltaic_protocol::schema::{DataType, StructType};

/// The part of a predicate that statistics and partition values can decide. `schema` is the table's.
pub(crate) fn to_predicate(expr: &Expr, schema: &StructType) -> Predicate {
    let go = |inner: &Expr| to_predicate(inner, schema);
    match expr {
        Expr::Alias(alias) => go(&alias.expr),
        Expr::Literal(ScalarValue::Boolean(value), _) => Predicate::Literal(*value),
        Expr::Literal(ScalarValue::Null, _) => Predicate::Literal(None),
        Expr::Not(inner) => Predicate::Not(Box::new(go(inner))),
        Expr::IsNull(inner) => column(inner, schema).map_or(Predicate::Unknown, Predicate::IsNull),
        Expr::IsNotNull(inner) => column(inner, schema).map_or(Predicate::Unknown, |column| {
            Predicate::Not(Box::new(Predicate::IsNull(column)))
        }),
        Expr::BinaryExpr(binary) => comparison(binary, schema),
        Expr::Between(Between {
            expr,
            negated,
            low,
            high,
        }) => {
            let (Some(column), Some(low), Some(high)) =
                (column(expr, schema), literal(low), literal(high))
            else {
                return Predicate::Unknown;
            };
            let inside = Predicate::And(vec![
                Predicate::Compare(column.clone(), Comparison::GreaterOrEqual, low),
                Predicate::Compare(column, Comparison::LessOrEqual, high),
            ]);
            if *negated {
                Predicate::Not(Box::new(inside))
            } else {
                inside
            }
        }
        Expr::InList(InList {
            expr,
            list,
            negated,
        }) => {
            let values: Option<Vec<Value>> = list.iter().map(literal).collect();
            let (Some(column), Some(values)) = (column(expr, schema), values) else {
                return Predicate::Unknown;
            };
            let inside = Predicate::In(column, values);
            if *negated {
                Predicate::Not(Box::new(inside))
            } else {
                inside
            }
        }
        Expr::Like(Like {
            negated: false,
            expr,
            pattern,
            escape_char: None,
            case_insensitive: false,
        }) => {
            let (Some(column), Some(Value::String(pattern))) =
                (column(expr, schema), literal(pattern))
            else {
                return Predicate::Unknown;
            };
            let prefix: String = pattern
                .chars()
                .take_while(|c| !matches!(c, '%' | '_' | '\\'))
                .collect();
            if prefix.is_empty() {
                Predicate::Unknown
            } else {
                starts_with(column, prefix, &pattern)
            }
        }
        _ => Predicate::Unknown,
    }
}

/// A prefix is all that a pattern says only if it ends right after it in `%`; otherwise it can merely rule files out.
fn starts_with(column: Column, prefix: String, pattern: &str) -> Predicate {
    let only = pattern.strip_prefix(prefix.as_str()) == Some("%");
    let begins = Predicate::StartsWith(column, prefix);
    if only {
        begins
    } else {
        Predicate::And(vec![begins, Predicate::Unknown])
    }
}

fn comparison(binary: &BinaryExpr, schema: &StructType) -> Predicate {
    let BinaryExpr { left, op, right } = binary;
    match op {
        Operator::And => {
            return Predicate::And(vec![
                to_predicate(left, schema),
                to_predicate(right, schema),
            ]);
        }
        Operator::Or => {
            return Predicate::Or(vec![
                to_predicate(left, schema),
                to_predicate(right, schema),
            ]);
        }
        _ => {}
    }
    let (column, value, flipped) = match (
        column(left, schema),
        literal(right),
        literal(left),
        column(right, schema),
    ) {
        (Some(column), Some(value), _, _) => (column, value, false),
        (_, _, Some(value), Some(column)) => (column, value, true),
        _ => return Predicate::Unknown,
    };
    let plain = match op {
        Operator::Eq => Comparison::Equal,
        Operator::NotEq => Comparison::NotEqual,
        Operator::Lt => {
            if flipped {
                Comparison::Greater
            } else {
                Comparison::Less
            }
        }
        Operator::LtEq => {
            if flipped {
                Comparison::GreaterOrEqual
            } else {
                Comparison::LessOrEqual
            }
        }
        Operator::Gt => {
            if flipped {
                Comparison::Less
            } else {
                Comparison::Greater
            }
        }
        Operator::GtEq => {
            if flipped {
                Comparison::LessOrEqual
            } else {
                Comparison::GreaterOrEqual
            }
        }
        Operator::IsNotDistinctFrom => return null_safe(column, value),
        Operator::IsDistinctFrom => return Predicate::Not(Box::new(null_safe(column, value))),
        _ => return Predicate::Unknown,
    };
    Predicate::Compare(column, plain, value)
}

fn null_safe(column: Column, value: Value) -> Predicate {
    match value {
        Value::Null => Predicate::IsNull(column),
        value => Predicate::NullSafeEqual(column, value),
    }
}

/// A column, a field of a struct column, or either of them under a cast that keeps order and value.
fn column(expr: &Expr, schema: &StructType) -> Option<Column> {
    match expr {
        Expr::Alias(alias) => column(&alias.expr, schema),
        Expr::Cast(Cast { expr, field }) => {
            let inner = column(expr, schema)?;
            keeps_order(&inner.data_type, field.data_type()).then_some(inner)
        }
        _ => {
            let mut path = Vec::new();
            access(expr, &mut path)?;
            let mut fields = schema;
            let mut out = Vec::with_capacity(path.len());
            let (last, parents) = path.split_last()?;
            for name in parents {
                let field = fields.field_exact(name)?;
                out.push(field.physical_name().to_string());
                match &field.data_type {
                    DataType::Struct(inner) => fields = inner,
                    _ => return None,
                }
            }
            let leaf = fields.field_exact(last)?;
            out.push(leaf.physical_name().to_string());
            Some(Column {
                path: out,
                data_type: leaf.data_type.clone(),
            })
        }
    }
}

fn access(expr: &Expr, path: &mut Vec<String>) -> Option<()> {
    match expr {
        Expr::Column(column) => path.push(column.name.clone()),
        Expr::ScalarFunction(ScalarFunction { func, args })
            if func.inner().is::<GetFieldFunc>() =>
        {
            let (base, keys) = args.split_first()?;
            access(base, path)?;
            for key in keys {
                match key {
                    Expr::Literal(name, _) => path.push(name.try_as_str().flatten()?.to_string()),
                    _ => return None,
                }
            }
        }
        _ => return None,
    }
    Some(())
}

fn keeps_order(from: &DataType, to: &Arrow) -> bool {
    match from {
        DataType::Byte => matches!(to, Arrow::Int8 | Arrow::Int16 | Arrow::Int32 | Arrow::Int64),
        DataType::Short => matches!(to, Arrow::Int16 | Arrow::Int32 | Arrow::Int64),
        DataType::Integer => matches!(to, Arrow::Int32 | Arrow::Int64),
        DataType::Long => matches!(to, Arrow::Int64),
        DataType::Float | DataType::Double => matches!(to, Arrow::Float64),
        DataType::Decimal { precision, scale } => {
            matches!(to, Arrow::Decimal128(p, s) if i16::from(*s) >= i16::from(*scale) && i16::from(*p) - i16::from(*s) >= i16::from(*precision) - i16::from(*scale))
        }
        DataType::String => matches!(to, Arrow::Utf8 | Arrow::Utf8View | Arrow::LargeUtf8),
        _ => false,
    }
}

fn literal(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Literal(value, _) => value_of(value),
        Expr::Alias(alias) => literal(&alias.expr),
        _ => None,
    }
}

/// A scalar as skipping compares it.
pub(crate) fn value_of(value: &ScalarValue) -> Option<Value> {
    if value.is_null() {
        return Some(Value::Null);
    }
    Some(match value {
        ScalarValue::Boolean(Some(v)) => Value::Boolean(*v),
        ScalarValue::Int8(Some(v)) => Value::Integer(i64::from(*v)),
        ScalarValue::Int16(Some(v)) => Value::Integer(i64::from(*v)),
        ScalarValue::Int32(Some(v)) => Value::Integer(i64::from(*v)),
        ScalarValue::Int64(Some(v)) => Value::Integer(*v),
        ScalarValue::Float32(Some(v)) => Value::Double(f64::from(*v)),
        ScalarValue::Float64(Some(v)) => Value::Double(*v),
        ScalarValue::Decimal128(Some(v), _, scale) => {
            Value::Decimal(*v, u8::try_from(*scale).ok()?)
        }
        ScalarValue::Utf8(Some(v))
        | ScalarValue::LargeUtf8(Some(v))
        | ScalarValue::Utf8View(Some(v)) => Value::String(v.clone()),
        ScalarValue::Binary(Some(v))
        | ScalarValue::LargeBinary(Some(v))
        | ScalarValue::BinaryView(Some(v)) => Value::Binary(v.clone()),
        ScalarValue::Date32(Some(v)) => Value::Date(*v),
        ScalarValue::TimestampMicrosecond(Some(v), _) => Value::Timestamp(*v),
        _ => return None,
    })
}
