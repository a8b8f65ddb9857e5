//! Functions that take lambdas: which parameters a lambda has, and what the call gives.

use std::sync::Arc;

use deltaic_protocol::Result;
use deltaic_protocol::schema::DataType;

use super::call::cast;
use crate::error::{internal, unsupported};
use crate::kernel::{Batch, Env};
use crate::node::{Imp, Kind, Node, Shown};
use crate::types::{array_of, map_of};

/// The functions and, per name, how many lambdas they take.
const NAMES: [&str; 12] = [
    "transform",
    "filter",
    "exists",
    "any_match",
    "forall",
    "all_match",
    "aggregate",
    "reduce",
    "zip_with",
    "transform_keys",
    "transform_values",
    "map_filter",
];

/// Does the function of this name take lambdas?
pub fn takes_lambdas(name: &str) -> bool {
    NAMES.contains(&name) || name == "array_sort"
}

/// The types (and nullability) of the parameters of the lambda at place `n`, after the plain arguments.
pub fn parameters(
    name: &str,
    plain: &[Node],
    n: usize,
    count: usize,
) -> Result<Vec<(DataType, bool)>> {
    let item = |node: Option<&Node>| match node.map(|n| &n.ty) {
        Some(DataType::Array(a)) => Ok((a.element_type.clone(), a.contains_null)),
        _ => Err(internal(format!("{name} of something that is no array"))),
    };
    let entry = || match plain.first().map(|n| &n.ty) {
        Some(DataType::Map(m)) => Ok(vec![
            (m.key_type.clone(), false),
            (m.value_type.clone(), m.value_contains_null),
        ]),
        _ => Err(internal(format!("{name} of something that is no map"))),
    };
    match name {
        "transform" | "filter" => {
            let mut all = vec![item(plain.first())?, (DataType::Integer, false)];
            all.truncate(count.max(1));
            Ok(all)
        }
        "exists" | "any_match" | "forall" | "all_match" => Ok(vec![item(plain.first())?]),
        "aggregate" | "reduce" => {
            let Some(state) = plain.get(1) else {
                return Err(internal("aggregate without a start"));
            };
            let state = (state.ty.clone(), true);
            if n == 0 {
                Ok(vec![state, item(plain.first())?])
            } else {
                Ok(vec![state])
            }
        }
        "zip_with" => Ok(vec![
            (item(plain.first())?.0, true),
            (item(plain.get(1))?.0, true),
        ]),
        "array_sort" => {
            let one = item(plain.first())?;
            Ok(vec![one.clone(), one])
        }
        "transform_keys" | "transform_values" | "map_filter" => entry(),
        _ => Err(unsupported(format!("a lambda in {name}"))),
    }
}

/// The call over bound arguments, lambdas among them.
pub fn call(name: &str, mut args: Vec<Node>, env: &Arc<Env>) -> Result<Node> {
    let body = |args: &[Node]| {
        args.iter().find_map(|a| match &a.kind {
            Kind::Lambda(l) => Some((l.body.ty.clone(), l.body.nullable)),
            _ => None,
        })
    };
    let Some((ty, nullable)) = body(&args) else {
        return Err(internal(format!("{name} without a lambda")));
    };
    let first = args.first().map_or(DataType::Void, |a| a.ty.clone());
    let (key, value) = match &first {
        DataType::Map(m) => (
            m.key_type.clone(),
            (m.value_type.clone(), m.value_contains_null),
        ),
        _ => (DataType::Void, (DataType::Void, true)),
    };
    let (function, ret) = match name {
        "transform" => ("transform", array_of(ty, nullable)),
        "filter" => ("filter", first),
        "exists" | "any_match" => ("exists", DataType::Boolean),
        "forall" | "all_match" => ("forall", DataType::Boolean),
        "zip_with" => ("zip_with", array_of(ty, nullable)),
        "array_sort" => ("array_sort", first),
        "transform_keys" => ("transform_keys", map_of(ty, value.0, value.1)),
        "transform_values" => ("transform_values", map_of(key, ty, nullable)),
        "map_filter" => ("map_filter", first),
        _ => {
            // The state keeps the type of its start; what merges into it is cast to that.
            let state = args.get(1).map_or(DataType::Void, |a| a.ty.clone());
            let mut ret = state.clone();
            for (n, a) in args.iter_mut().enumerate().skip(2) {
                if let Kind::Lambda(l) = &mut a.kind {
                    if n == 2 {
                        l.body = cast(l.body.clone(), &state, env);
                    } else {
                        ret = l.body.ty.clone();
                    }
                }
            }
            ("aggregate", ret)
        }
    };
    let mut printed = args.clone();
    if function == "aggregate" && printed.len() == 3 {
        // Spark adds the identity as the last step, and prints it.
        let identity =
            Shown::Text("lambdafunction(namedlambdavariable(), namedlambdavariable())".to_owned());
        let imp = Imp::Replace(Box::new(Node::null()));
        printed.push(Node::new(
            Kind::Call {
                shown: identity,
                args: vec![],
                imp,
            },
            ret.clone(),
            true,
        ));
    }
    let imp = Imp::Kernel {
        name: function,
        run: never,
        fallible: true,
        volatile: false,
        env: Arc::clone(env),
    };
    let nullable = args.iter().any(|a| a.nullable);
    let inner = Node::new(
        Kind::Call {
            shown: Shown::Call(name.to_owned()),
            args,
            imp,
        },
        ret.clone(),
        nullable,
    );
    let imp = Imp::Replace(Box::new(inner));
    Ok(Node::new(
        Kind::Call {
            shown: Shown::Call(name.to_owned()),
            args: printed,
            imp,
        },
        ret,
        nullable,
    ))
}

/// Calls with lambdas are lowered on their own; this is never run.
fn never(_: &Batch<'_>) -> Result<arrow::array::ArrayRef> {
    Err(internal("a lambda that was not lowered"))
}
