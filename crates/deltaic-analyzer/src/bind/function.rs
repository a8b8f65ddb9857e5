//! Calls of functions: which kind of function a name is, and its arguments.

use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    LambdaFunction, NullTreatment, OneOrManyWithParens,
};

use crate::binder::{Binder, Cx};
use crate::error::{backticked, quoted, unsupported};
use crate::function::aggregate::{self, Clauses};
use crate::function::call::{unresolved_routine, wrong_arguments};
use crate::function::{self, generator, lambda};
use crate::node::{Attr, Kind, Lambda, Node};

/// Functions whose first argument may be a bare word that names a unit.
const UNIT_FIRST: [&str; 6] = [
    "timestampadd",
    "dateadd",
    "date_add",
    "timestampdiff",
    "datediff",
    "date_diff",
];

impl Binder<'_> {
    /// `name(args) [FILTER …] [OVER …]`.
    pub fn function(&self, f: &Function, cx: &Cx<'_>) -> Result<Node> {
        let parts: Vec<String> = f
            .name
            .0
            .iter()
            .filter_map(|p| p.as_ident().map(|i| i.value.clone()))
            .collect();
        let name = match parts.as_slice() {
            [name] => name.to_lowercase(),
            [.., builtin, name] if builtin.eq_ignore_ascii_case("builtin") => name.to_lowercase(),
            _ => return Err(unresolved_routine(&parts, self.options)),
        };
        if let Some(over) = &f.over {
            return self.windowed(&name, f, over, cx);
        }
        if lambda::takes_lambdas(&name) && has_lambda(f) {
            return self.higher_order(&name, f, cx);
        }
        if aggregate::is_aggregate(&name) {
            return self.aggregate(&name, f, cx);
        }
        if aggregate::is_ranking(&name) {
            return Err(DeltaError::new("WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE")
                .param("funcName", quoted(format!("{name}()"))));
        }
        let args = self.arguments(&name, f, cx)?;
        if generator::is_generator(&name) {
            return generator::generator(self.call(&name, args));
        }
        if function::scalar(&name).is_none() {
            return Err(unresolved_routine(&parts, self.options));
        }
        if f.filter.is_some() || is_distinct(f) {
            let clause = if is_distinct(f) {
                "DISTINCT"
            } else {
                "FILTER clause"
            };
            return Err(
                DeltaError::new("INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX")
                    .param("prettyName", backticked(&parts))
                    .param("syntax", clause),
            );
        }
        self.scalar_call(&name, args)
    }

    /// A scalar function over bound arguments.
    pub fn scalar_call(&self, name: &str, args: Vec<Node>) -> Result<Node> {
        let Some(entry) = function::scalar(name) else {
            return Err(unresolved_routine(&[name.to_owned()], self.options));
        };
        if args.len() < entry.least || args.len() > entry.most {
            return Err(wrong_arguments(name, entry.least, entry.most, args.len()));
        }
        if args.iter().any(|a| matches!(a.kind, Kind::Generator(_))) {
            return Err(
                DeltaError::new("UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS")
                    .param("expression", quoted(name)),
            );
        }
        (entry.bind)(self.call(name, args))
    }

    /// The arguments of a call; a star is every column.
    fn arguments(&self, name: &str, f: &Function, cx: &Cx<'_>) -> Result<Vec<Node>> {
        let list = match &f.args {
            FunctionArguments::None => return Ok(vec![]),
            FunctionArguments::Subquery(query) => {
                return Ok(vec![self.scalar_subquery(query, cx)?]);
            }
            FunctionArguments::List(list) => list,
        };
        let mut out = Vec::new();
        for (n, arg) in list.args.iter().enumerate() {
            match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(word)))
                    if n == 0
                        && list.args.len() == 3
                        && UNIT_FIRST.contains(&name)
                        && crate::time::interval::unit(&word.value).is_some() =>
                {
                    out.push(Node::string(word.value.to_uppercase()));
                }
                FunctionArg::Unnamed(FunctionArgExpr::Expr(e))
                | FunctionArg::Named {
                    arg: FunctionArgExpr::Expr(e),
                    ..
                }
                | FunctionArg::ExprNamed {
                    arg: FunctionArgExpr::Expr(e),
                    ..
                } => out.push(self.expr(e, cx)?),
                FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => {
                    out.extend(cx.scope.visible().map(|c| c.node(&c.attr.name)))
                }
                FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(q)) => {
                    let parts: Vec<String> =
                        q.0.iter()
                            .filter_map(|p| p.as_ident().map(|i| i.value.clone()))
                            .collect();
                    let texts: Vec<&str> = parts.iter().map(String::as_str).collect();
                    match cx.scope.under(&texts, self.options.case_sensitive) {
                        Some(columns) => {
                            out.extend(columns.into_iter().map(|c| c.node(&c.attr.name)))
                        }
                        None => return Err(cx.scope.unresolved(&texts)),
                    }
                }
                other => return Err(unsupported(format!("the argument {other}"))),
            }
        }
        Ok(out)
    }

    /// The call of an aggregate function without a window.
    fn aggregate(&self, name: &str, f: &Function, cx: &Cx<'_>) -> Result<Node> {
        let args = self.aggregate_arguments(name, f, cx)?;
        let clauses = self.clauses(f, cx)?;
        if args.iter().any(Node::has_aggregate) {
            return Err(DeltaError::new("NESTED_AGGREGATE_FUNCTION"));
        }
        aggregate::aggregate(self.call(name, args), clauses)
    }

    /// `count(*)` counts a constant.
    pub fn aggregate_arguments(&self, name: &str, f: &Function, cx: &Cx<'_>) -> Result<Vec<Node>> {
        if name == "count" && is_star(f) {
            return Ok(vec![Node::int(1)]);
        }
        self.arguments(name, f, cx)
    }

    /// DISTINCT, FILTER, IGNORE NULLS and WITHIN GROUP of a call.
    pub fn clauses(&self, f: &Function, cx: &Cx<'_>) -> Result<Clauses> {
        Ok(Clauses {
            distinct: is_distinct(f),
            filter: f.filter.as_ref().map(|e| self.boolean(e, cx)).transpose()?,
            ignore_nulls: f.null_treatment == Some(NullTreatment::IgnoreNulls),
            order: self.sort_keys(&f.within_group, cx)?,
        })
    }

    fn higher_order(&self, name: &str, f: &Function, cx: &Cx<'_>) -> Result<Node> {
        let FunctionArguments::List(list) = &f.args else {
            return Err(wrong_arguments(name, 2, 4, 0));
        };
        let mut args: Vec<Node> = Vec::new();
        let mut lambdas = 0;
        for arg in &list.args {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) = arg else {
                return Err(unsupported(format!("the argument {arg}")));
            };
            match e {
                Expr::Lambda(l) => {
                    let plain: Vec<Node> = args
                        .iter()
                        .filter(|a| !matches!(a.kind, Kind::Lambda(_)))
                        .cloned()
                        .collect();
                    args.push(self.lambda(name, &plain, lambdas, l, cx)?);
                    lambdas += 1;
                }
                e => args.push(self.expr(e, cx)?),
            }
        }
        lambda::call(name, args, &self.env)
    }

    fn lambda(
        &self,
        name: &str,
        plain: &[Node],
        n: usize,
        l: &LambdaFunction,
        cx: &Cx<'_>,
    ) -> Result<Node> {
        let names: Vec<String> = match &l.params {
            OneOrManyWithParens::One(p) => vec![p.name.value.clone()],
            OneOrManyWithParens::Many(all) => all.iter().map(|p| p.name.value.clone()).collect(),
        };
        let types = lambda::parameters(name, plain, n, names.len())?;
        if types.len() != names.len() {
            return Err(
                DeltaError::new("INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH")
                    .param("expectedNumArgs", names.len())
                    .param("actualNumArgs", types.len()),
            );
        }
        let mut params: Vec<(Attr, DataType)> = Vec::new();
        let depth = cx.lambdas.borrow().len();
        for (name, (ty, nullable)) in names.iter().zip(types) {
            let attr = self.new_attr(name);
            params.push((attr.clone(), ty.clone()));
            cx.lambdas
                .borrow_mut()
                .push((name.clone(), Node::attr(attr, ty, nullable)));
        }
        let body = self.expr(&l.body, cx);
        cx.lambdas.borrow_mut().truncate(depth);
        let body = body?;
        let (ty, nullable) = (body.ty.clone(), body.nullable);
        Ok(Node::new(
            Kind::Lambda(Box::new(Lambda { params, body })),
            ty,
            nullable,
        ))
    }
}

fn has_lambda(f: &Function) -> bool {
    match &f.args {
        FunctionArguments::List(list) => list.args.iter().any(|a| {
            matches!(
                a,
                FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Lambda(_)))
            )
        }),
        _ => false,
    }
}

fn is_distinct(f: &Function) -> bool {
    matches!(&f.args, FunctionArguments::List(list) if list.duplicate_treatment == Some(DuplicateTreatment::Distinct))
}

fn is_star(f: &Function) -> bool {
    matches!(&f.args, FunctionArguments::List(list) if matches!(list.args.as_slice(), [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]))
}
