//! Expressions of the AST to nodes: operators, CASE, CAST, and what each kind of expression needs.

use std::sync::Arc;

use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{
    AccessExpr, BinaryOperator, CastKind, CeilFloorKind, DateTimeField, Expr, Subscript,
    TrimWhereField, UnaryOperator, Value,
};

use crate::binder::{Binder, Cx};
use crate::error::{quoted, unsupported};
use crate::function::call::{P, shown_as};
use crate::function::misc::cast_error;
use crate::function::operator;
use crate::kernels::arithmetic;
use crate::names::pretty;
use crate::node::{CastMode, Kind, Node, Op, Shown};
use crate::types::{castable, is_ansi_interval, shown, widen};

impl Binder<'_> {
    /// Any expression.
    pub fn expr(&self, e: &Expr, cx: &Cx<'_>) -> Result<Node> {
        Ok(match e {
            Expr::Identifier(name) => self.name(std::slice::from_ref(name), cx)?,
            Expr::CompoundIdentifier(parts) => self.name(parts, cx)?,
            Expr::CompoundFieldAccess { root, access_chain } => {
                let mut node = self.expr(root, cx)?;
                for step in access_chain {
                    node = match step {
                        AccessExpr::Dot(Expr::Identifier(name)) => self.field(node, &name.value)?,
                        AccessExpr::Subscript(Subscript::Index { index }) => {
                            let index = self.expr(index, cx)?;
                            self.item(node, index)?
                        }
                        other => return Err(unsupported(format!("the access {other}"))),
                    };
                }
                node
            }
            Expr::Value(v) => self.literal(&v.value)?,
            Expr::TypedString(t) => self.typed_string(t)?,
            Expr::Interval(i) => self.interval(i)?,
            Expr::Nested(inner) => self.expr(inner, cx)?,
            Expr::Named { expr, name } => self.expr(expr, cx)?.aliased(name.value.clone()),
            Expr::BinaryOp { left, op, right } => self.binary(left, op, right, cx)?,
            Expr::UnaryOp { op, expr } => self.unary(*op, expr, cx)?,
            Expr::IsNull(c) => self.expr(c, cx)?.is_null(),
            Expr::IsNotNull(c) => self.expr(c, cx)?.is_not_null(),
            Expr::IsTrue(c) => self.is_truth(c, Some(true), false, cx)?,
            Expr::IsNotTrue(c) => self.is_truth(c, Some(true), true, cx)?,
            Expr::IsFalse(c) => self.is_truth(c, Some(false), false, cx)?,
            Expr::IsNotFalse(c) => self.is_truth(c, Some(false), true, cx)?,
            Expr::IsUnknown(c) => self.boolean(c, cx)?.is_null(),
            Expr::IsNotUnknown(c) => self.boolean(c, cx)?.is_not_null(),
            Expr::IsDistinctFrom(a, b) => self.compare(Op::NullSafeEqual, a, b, cx)?.negated(),
            Expr::IsNotDistinctFrom(a, b) => self.compare(Op::NullSafeEqual, a, b, cx)?,
            Expr::Between {
                expr,
                negated,
                low,
                high,
            } => {
                let args = vec![
                    self.expr(expr, cx)?,
                    self.expr(low, cx)?,
                    self.expr(high, cx)?,
                ];
                let node = self.scalar_call("between", args)?;
                if *negated { node.negated() } else { node }
            }
            Expr::InList {
                expr,
                list,
                negated,
            } => {
                let value = self.expr(expr, cx)?;
                let list = list
                    .iter()
                    .map(|e| self.expr(e, cx))
                    .collect::<Result<Vec<_>>>()?;
                let node = operator::in_list(value, list, &self.env, self.options)?;
                if *negated { node.negated() } else { node }
            }
            Expr::InSubquery {
                expr,
                subquery,
                negated,
            } => {
                let value = self.expr(expr, cx)?;
                let node = self.in_subquery(value, subquery, cx)?;
                if *negated { node.negated() } else { node }
            }
            Expr::Exists { subquery, negated } => {
                let node = self.exists(subquery, cx)?;
                if *negated { node.negated() } else { node }
            }
            Expr::Subquery(query) => self.scalar_subquery(query, cx)?,
            Expr::Like {
                negated,
                expr,
                pattern,
                escape_char,
                ..
            } => self.like(
                *negated,
                expr,
                pattern,
                escape_char.as_ref().map(|v| &v.value),
                false,
                cx,
            )?,
            Expr::ILike {
                negated,
                expr,
                pattern,
                escape_char,
                ..
            } => self.like(
                *negated,
                expr,
                pattern,
                escape_char.as_ref().map(|v| &v.value),
                true,
                cx,
            )?,
            Expr::RLike {
                negated,
                expr,
                pattern,
                ..
            } => {
                let node =
                    self.scalar_call("rlike", vec![self.expr(expr, cx)?, self.expr(pattern, cx)?])?;
                if *negated { node.negated() } else { node }
            }
            Expr::Case {
                operand,
                conditions,
                else_result,
                ..
            } => {
                let operand = operand.as_ref().map(|o| self.expr(o, cx)).transpose()?;
                let mut branches = Vec::new();
                for c in conditions {
                    let when = self.expr(&c.condition, cx)?;
                    let when = match &operand {
                        Some(o) => operator::comparison(
                            Op::Equal,
                            o.clone(),
                            when,
                            &self.env,
                            self.options,
                        )?,
                        None => when,
                    };
                    branches.push((when, self.expr(&c.result, cx)?));
                }
                let otherwise = else_result.as_ref().map(|e| self.expr(e, cx)).transpose()?;
                operator::case(branches, otherwise, false, &self.env, self.options)?
            }
            Expr::Cast {
                kind,
                expr,
                data_type,
                ..
            } => {
                let child = self.expr(expr, cx)?;
                let Some(to) = deltaic_sql::data_type::to_spark(data_type) else {
                    return Err(DeltaError::new("UNSUPPORTED_DATATYPE")
                        .param("typeName", quoted(data_type)));
                };
                let mode = match kind {
                    CastKind::TryCast | CastKind::SafeCast => CastMode::Try,
                    _ => CastMode::Ansi,
                };
                self.cast(child, to, mode)?
            }
            Expr::Extract { field, expr, .. } => {
                let field = match field {
                    DateTimeField::Custom(name) => name.value.clone(),
                    other => other.to_string(),
                };
                self.scalar_call("extract", vec![Node::string(field), self.expr(expr, cx)?])?
            }
            Expr::Position { expr, r#in } => {
                self.scalar_call("position", vec![self.expr(expr, cx)?, self.expr(r#in, cx)?])?
            }
            Expr::Ceil { expr, field } => self.ceil_floor("ceil", expr, field, cx)?,
            Expr::Floor { expr, field } => self.ceil_floor("floor", expr, field, cx)?,
            Expr::Trim {
                trim_where,
                trim_what,
                expr,
                ..
            } => {
                let text = self.expr(expr, cx)?;
                let mut args = vec![text];
                if let Some(what) = trim_what {
                    args.push(self.expr(what, cx)?);
                }
                let (name, template): (_, Option<&'static str>) = match (trim_where, args.len()) {
                    (Some(TrimWhereField::Leading), 2) => {
                        ("ltrim", Some("TRIM(LEADING {1} FROM {0})"))
                    }
                    (Some(TrimWhereField::Leading), _) => ("ltrim", Some("ltrim({0})")),
                    (Some(TrimWhereField::Trailing), 2) => {
                        ("rtrim", Some("TRIM(TRAILING {1} FROM {0})"))
                    }
                    (Some(TrimWhereField::Trailing), _) => ("rtrim", Some("rtrim({0})")),
                    (_, 2) => ("btrim", Some("TRIM(BOTH {1} FROM {0})")),
                    _ => ("trim", None),
                };
                if args.len() == 2 && name != "btrim" {
                    args.swap(0, 1);
                }
                let node = self.scalar_call(name, args)?;
                match template {
                    Some(t) => shown_as(node, Shown::Template(t)),
                    None => node,
                }
            }
            Expr::Function(f) => self.function(f, cx)?,
            Expr::Tuple(fields) => {
                let args = fields
                    .iter()
                    .map(|f| self.expr(f, cx))
                    .collect::<Result<Vec<_>>>()?;
                self.scalar_call("struct", args)?
            }
            Expr::Collate { expr, .. } => self.expr(expr, cx)?,
            Expr::Lambda(_) => {
                return Err(DeltaError::new(
                    "INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION",
                )
                .param("class", "expression"));
            }
            other => return Err(unsupported(format!("the expression {other}"))),
        })
    }

    /// A condition: BOOLEAN, or NULL.
    pub fn boolean(&self, e: &Expr, cx: &Cx<'_>) -> Result<Node> {
        let node = self.expr(e, cx)?;
        Ok(match node.ty {
            DataType::Boolean => node,
            DataType::Void | DataType::String => {
                crate::function::call::cast(node, &DataType::Boolean, &self.env)
            }
            _ => return Err(self.not_boolean(&node)),
        })
    }

    /// The error of a condition of another type.
    pub fn not_boolean(&self, node: &Node) -> DeltaError {
        DeltaError::new("DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN")
            .param("sqlExpr", quoted(pretty(node, self.options.zone)))
            .param("filter", quoted(pretty(node, self.options.zone)))
            .param("type", shown(&node.ty))
    }

    fn is_truth(&self, c: &Expr, value: Option<bool>, negated: bool, cx: &Cx<'_>) -> Result<Node> {
        let node = self.boolean(c, cx)?;
        let constant = Node::boolean(value.unwrap_or(true));
        let by = operator::comparison(Op::NullSafeEqual, node, constant, &self.env, self.options)?;
        Ok(if negated { by.negated() } else { by })
    }

    fn compare(&self, op: Op, a: &Expr, b: &Expr, cx: &Cx<'_>) -> Result<Node> {
        operator::comparison(
            op,
            self.expr(a, cx)?,
            self.expr(b, cx)?,
            &self.env,
            self.options,
        )
    }

    fn binary(&self, left: &Expr, op: &BinaryOperator, right: &Expr, cx: &Cx<'_>) -> Result<Node> {
        use BinaryOperator as B;
        let (l, r) = (self.expr(left, cx)?, self.expr(right, cx)?);
        let (env, o) = (&self.env, self.options);
        match op {
            B::Plus => operator::arithmetic(Op::Add, l, r, env, o),
            B::Minus => operator::arithmetic(Op::Subtract, l, r, env, o),
            B::Multiply => operator::arithmetic(Op::Multiply, l, r, env, o),
            B::Divide => operator::arithmetic(Op::Divide, l, r, env, o),
            B::Modulo => operator::arithmetic(Op::Remainder, l, r, env, o),
            B::MyIntegerDivide | B::DuckIntegerDivide => {
                operator::arithmetic(Op::IntegralDivide, l, r, env, o)
            }
            B::Eq => operator::comparison(Op::Equal, l, r, env, o),
            B::Spaceship => operator::comparison(Op::NullSafeEqual, l, r, env, o),
            B::NotEq => Ok(operator::comparison(Op::Equal, l, r, env, o)?.negated()),
            B::Lt => operator::comparison(Op::Less, l, r, env, o),
            B::LtEq => operator::comparison(Op::LessOrEqual, l, r, env, o),
            B::Gt => operator::comparison(Op::Greater, l, r, env, o),
            B::GtEq => operator::comparison(Op::GreaterOrEqual, l, r, env, o),
            B::And => operator::logical(Op::And, l, r, env, o),
            B::Or => operator::logical(Op::Or, l, r, env, o),
            B::BitwiseAnd => operator::bits(Op::BitAnd, l, r, env, o),
            B::BitwiseOr => operator::bits(Op::BitOr, l, r, env, o),
            B::BitwiseXor => operator::bits(Op::BitXor, l, r, env, o),
            B::StringConcat => self.scalar_call("concat", vec![l, r]),
            B::PGBitwiseShiftLeft => self.scalar_call("shiftleft", vec![l, r]),
            B::PGBitwiseShiftRight => self.scalar_call("shiftright", vec![l, r]),
            B::Custom(s) if s == ">>>" => self.scalar_call("shiftrightunsigned", vec![l, r]),
            other => Err(unsupported(format!("the operator {other}"))),
        }
    }

    fn unary(&self, op: UnaryOperator, e: &Expr, cx: &Cx<'_>) -> Result<Node> {
        match op {
            UnaryOperator::Not | UnaryOperator::BangNot => {
                let node = self.expr(e, cx)?;
                match node.ty {
                    DataType::Boolean => Ok(node.negated()),
                    DataType::Void | DataType::String => {
                        Ok(
                            crate::function::call::cast(node, &DataType::Boolean, &self.env)
                                .negated(),
                        )
                    }
                    _ => Err(DeltaError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
                        .param(
                            "sqlExpr",
                            quoted(format!("(NOT {})", pretty(&node, self.options.zone))),
                        )
                        .param("paramIndex", "first")
                        .param("requiredType", "\"BOOLEAN\"")
                        .param("inputSql", quoted(pretty(&node, self.options.zone)))
                        .param("inputType", shown(&node.ty))),
                }
            }
            UnaryOperator::Minus => {
                let node = self.expr(e, cx)?;
                let call = self.call("negative", vec![node]);
                let call = if is_ansi_interval(&call.args[0].ty) {
                    call
                } else {
                    call.coerced(&[P::Num])?
                };
                let ty = call.args[0].ty.clone();
                let node = call.fallible(
                    "negate",
                    arithmetic::negate,
                    ty,
                    crate::function::call::Nulls::Args,
                );
                Ok(shown_as(node, Shown::Template("(- {0})")))
            }
            UnaryOperator::Plus => {
                let node = self.scalar_call("positive", vec![self.expr(e, cx)?])?;
                Ok(node)
            }
            UnaryOperator::BitwiseNot => {
                let call = self
                    .call("~", vec![self.expr(e, cx)?])
                    .coerced(&[P::Integral])?;
                let ty = call.args[0].ty.clone();
                let node = call.kernel(
                    "bit_not",
                    arithmetic::bit_not,
                    ty,
                    crate::function::call::Nulls::Args,
                );
                Ok(shown_as(node, Shown::Template("~{0}")))
            }
            other => Err(unsupported(format!("the operator {other}"))),
        }
    }

    /// A cast that the statement asks for.
    pub fn cast(&self, child: Node, to: DataType, mode: CastMode) -> Result<Node> {
        let allowed = castable::ansi(&child.ty, &to)
            || (!self.options.ansi && castable::legacy(&child.ty, &to));
        if !allowed {
            return Err(cast_error(&child, &to, &pretty(&child, self.options.zone)));
        }
        let nullable = child.nullable
            || mode == CastMode::Try
            || widen::forces_null(&child.ty, &to)
            || (!self.options.ansi && castable::can_fail(&child.ty, &to));
        let env = Arc::clone(&self.env);
        Ok(Node::new(
            Kind::Cast {
                child: Box::new(child),
                mode,
                explicit: true,
                env,
            },
            to,
            nullable,
        ))
    }

    fn like(
        &self,
        negated: bool,
        e: &Expr,
        pattern: &Expr,
        escape: Option<&Value>,
        insensitive: bool,
        cx: &Cx<'_>,
    ) -> Result<Node> {
        let escape = match escape {
            None => '\\',
            Some(v) => match v {
                Value::SingleQuotedString(s) | Value::DoubleQuotedString(s)
                    if s.chars().count() == 1 =>
                {
                    s.chars().next().unwrap_or('\\')
                }
                other => {
                    return Err(
                        DeltaError::new("INVALID_ESCAPE_CHAR").param("sqlExpr", quoted(other))
                    );
                }
            },
        };
        let call = self
            .call("like", vec![self.expr(e, cx)?, self.expr(pattern, cx)?])
            .coerced(&[P::Str])?;
        let nullable = call.args.iter().any(|a| a.nullable);
        let kind = Kind::Like {
            value: Box::new(call.arg(0)),
            pattern: Box::new(call.arg(1)),
            escape,
            insensitive,
        };
        let node = Node::new(kind, DataType::Boolean, nullable);
        Ok(if negated { node.negated() } else { node })
    }

    fn ceil_floor(&self, name: &str, e: &Expr, field: &CeilFloorKind, cx: &Cx<'_>) -> Result<Node> {
        let mut args = vec![self.expr(e, cx)?];
        if let CeilFloorKind::Scale(v) = field {
            args.push(self.literal(&v.value)?);
        }
        self.scalar_call(name, args)
    }
}
