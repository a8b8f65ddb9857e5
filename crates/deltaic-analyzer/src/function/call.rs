//! A call while it is bound: its arguments, the coercions that parameters ask for, and the errors of calls that do not
//! fit.

use std::sync::Arc;

use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use crate::error::{backticked, quoted};
use crate::kernel::{Env, Run};
use crate::names::{pretty, quoted_sql};
use crate::node::{CastMode, Imp, Kind, Node, Shown};
use crate::options::AnalyzerOptions;
use crate::types::{
    arrow_type, castable, decimal, is_integral, is_numeric, is_timestamp, same_type, shown, widen,
};

/// A function of the table.
pub struct Entry {
    /// Its name in lower case.
    pub name: &'static str,
    /// Fewest arguments.
    pub least: usize,
    /// Most arguments.
    pub most: usize,
    /// Makes the call.
    pub bind: fn(Call<'_>) -> Result<Node>,
}

/// Any number of arguments.
pub const MANY: usize = usize::MAX;

/// Shorthand for the tables.
pub const fn entry(
    name: &'static str,
    least: usize,
    most: usize,
    bind: fn(Call<'_>) -> Result<Node>,
) -> Entry {
    Entry {
        name,
        least,
        most,
        bind,
    }
}

/// A call of a function.
pub struct Call<'a> {
    /// The name in lower case.
    pub name: &'a str,
    /// The arguments.
    pub args: Vec<Node>,
    /// The session.
    pub env: Arc<Env>,
    /// The session's settings.
    pub options: &'a AnalyzerOptions,
    /// A number that no other call of the statement has.
    pub serial: u32,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum P {
    /// Anything.
    Any,
    /// STRING.
    Str,
    /// BINARY.
    Bin,
    /// STRING or BINARY.
    StrBin,
    /// INT.
    Int,
    /// BIGINT.
    Long,
    /// A whole number.
    Integral,
    /// DOUBLE.
    Double,
    /// A number.
    Num,
    /// BOOLEAN.
    Bool,
    /// DATE.
    Date,
    /// TIMESTAMP.
    Ts,
    /// TIMESTAMP or TIMESTAMP_NTZ.
    AnyTs,
    /// TIMESTAMP_NTZ.
    Ntz,
    /// Any array.
    Array,
    /// Any map.
    Map,
    /// DECIMAL(16, 6): seconds with their fraction.
    Seconds,
}

/// When a call gives NULL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nulls {
    /// Where an argument is.
    Args,
    /// Perhaps always.
    Always,
    /// Never.
    Never,
}

/// The implicit cast of a node to a type; None where there is none.
pub fn implicit(node: Node, to: &DataType, env: &Arc<Env>) -> std::result::Result<Node, Box<Node>> {
    if same_type(&node.ty, to) {
        return Ok(node);
    }
    if !castable::implicit(&node.ty, to) {
        return Err(Box::new(node));
    }
    Ok(cast(node, to, env))
}

/// A cast that nobody wrote.
pub fn cast(node: Node, to: &DataType, env: &Arc<Env>) -> Node {
    // Arrays of one type that differ in what may be NULL inside are different types for Arrow.
    if node.ty == *to || (same_type(&node.ty, to) && arrow_type(&node.ty) == arrow_type(to)) {
        return node;
    }
    let nullable = node.nullable || widen::forces_null(&node.ty, to);
    Node::new(
        Kind::Cast {
            child: Box::new(node),
            mode: CastMode::Ansi,
            explicit: false,
            env: Arc::clone(env),
        },
        to.clone(),
        nullable,
    )
}

impl P {
    fn shown(self) -> &'static str {
        match self {
            P::Any => "\"ANY\"",
            P::Str => "\"STRING\"",
            P::Bin => "\"BINARY\"",
            P::StrBin => "(\"STRING\" or \"BINARY\")",
            P::Int => "\"INT\"",
            P::Long => "\"BIGINT\"",
            P::Integral => "\"INTEGRAL\"",
            P::Double => "\"DOUBLE\"",
            P::Num => "\"NUMERIC\"",
            P::Bool => "\"BOOLEAN\"",
            P::Date => "\"DATE\"",
            P::Ts => "\"TIMESTAMP\"",
            P::AnyTs => "(\"TIMESTAMP\" or \"TIMESTAMP WITHOUT TIME ZONE\")",
            P::Ntz => "\"TIMESTAMP_NTZ\"",
            P::Array => "\"ARRAY\"",
            P::Map => "\"MAP\"",
            P::Seconds => "\"DECIMAL(16,6)\"",
        }
    }

    fn accept(self, node: Node, env: &Arc<Env>) -> std::result::Result<Node, Box<Node>> {
        let ty = node.ty.clone();
        let void = ty == DataType::Void;
        let to = |node: Node, t: DataType| implicit(node, &t, env);
        match self {
            P::Any => Ok(node),
            P::Str => to(node, DataType::String),
            P::Bin => match ty {
                DataType::Binary => Ok(node),
                DataType::String | DataType::Void => Ok(cast(node, &DataType::Binary, env)),
                _ => Err(Box::new(node)),
            },
            P::StrBin => {
                if ty == DataType::Binary {
                    Ok(node)
                } else {
                    to(node, DataType::String)
                }
            }
            P::Int => to(node, DataType::Integer),
            P::Long => to(node, DataType::Long),
            P::Integral => match ty {
                _ if is_integral(&ty) => Ok(node),
                DataType::String | DataType::Void => Ok(cast(node, &DataType::Long, env)),
                _ => Err(Box::new(node)),
            },
            P::Double => to(node, DataType::Double),
            P::Num if is_numeric(&ty) => Ok(node),
            P::Num if void || ty == DataType::String => Ok(cast(node, &DataType::Double, env)),
            P::Num => Err(Box::new(node)),
            P::Bool => to(node, DataType::Boolean),
            P::Date => to(node, DataType::Date),
            P::Ts => to(node, DataType::Timestamp),
            P::AnyTs if is_timestamp(&ty) => Ok(node),
            P::AnyTs => to(node, DataType::Timestamp),
            P::Ntz => to(node, DataType::TimestampNtz),
            P::Array if matches!(ty, DataType::Array(_)) => Ok(node),
            P::Map if matches!(ty, DataType::Map(_)) => Ok(node),
            P::Array | P::Map => Err(Box::new(node)),
            P::Seconds => {
                let target = DataType::Decimal {
                    precision: 16,
                    scale: 6,
                };
                if is_numeric(&ty) || void || ty == DataType::String {
                    Ok(cast(node, &target, env))
                } else {
                    Err(Box::new(node))
                }
            }
        }
    }
}

const ORDINALS: [&str; 10] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
];

/// `first`, `second`, … of a position from 0.
pub fn ordinal(n: usize) -> String {
    ORDINALS
        .get(n)
        .map_or_else(|| format!("{}th", n + 1), |w| (*w).to_owned())
}

impl<'a> Call<'a> {
    /// The arguments by their parameters; more arguments than parameters take the last one.
    pub fn coerced(mut self, params: &[P]) -> Result<Self> {
        let whole = self.printed();
        let zone = self.options.zone;
        let args = std::mem::take(&mut self.args);
        for (n, arg) in args.into_iter().enumerate() {
            let param = params.get(n).or(params.last()).copied().unwrap_or(P::Any);
            match param.accept(arg, &self.env) {
                Ok(arg) => self.args.push(arg),
                Err(arg) => {
                    return Err(DeltaError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
                        .param("sqlExpr", quoted(whole))
                        .param("paramIndex", ordinal(n))
                        .param("requiredType", param.shown())
                        .param("inputSql", quoted_sql(&arg, zone))
                        .param("inputType", shown(&arg.ty)));
                }
            }
        }
        Ok(self)
    }

    /// The call as Spark prints it.
    pub fn printed(&self) -> String {
        let args: Vec<String> = self
            .args
            .iter()
            .map(|a| pretty(a, self.options.zone))
            .collect();
        format!("{}({})", self.name, args.join(", "))
    }

    /// The arguments cast to what they have in common.
    pub fn unified(mut self) -> Result<Self> {
        let Some(common) = widen::common(self.args.iter().map(|a| &a.ty)) else {
            let types: Vec<String> = self.args.iter().map(|a| shown(&a.ty)).collect();
            return Err(DeltaError::new("DATATYPE_MISMATCH.DATA_DIFF_TYPES")
                .param("sqlExpr", quoted(self.printed()))
                .param("functionName", format!("`{}`", self.name))
                .param("dataType", format!("({})", types.join(" or "))));
        };
        let args = std::mem::take(&mut self.args);
        self.args = args
            .into_iter()
            .map(|a| cast(a, &common, &self.env))
            .collect();
        Ok(self)
    }

    /// With one more argument at the end where there are fewer than `n`.
    pub fn or_default(mut self, n: usize, value: impl FnOnce() -> Node) -> Self {
        if self.args.len() < n {
            self.args.push(value());
        }
        self
    }

    /// The call of a kernel that cannot fail.
    pub fn kernel(self, name: &'static str, run: Run, ret: DataType, nulls: Nulls) -> Node {
        self.made(name, run, ret, nulls, false, None)
    }

    /// The call of a kernel that a value can make fail.
    pub fn fallible(self, name: &'static str, run: Run, ret: DataType, nulls: Nulls) -> Node {
        self.made(name, run, ret, nulls, true, None)
    }

    /// The call of a kernel with a parameter in `env.salt`.
    pub fn salted(
        self,
        name: &'static str,
        run: Run,
        salt: u64,
        ret: DataType,
        nulls: Nulls,
        fallible: bool,
    ) -> Node {
        self.made(name, run, ret, nulls, fallible, Some(salt))
    }

    fn made(
        self,
        name: &'static str,
        run: Run,
        ret: DataType,
        nulls: Nulls,
        fallible: bool,
        salt: Option<u64>,
    ) -> Node {
        let nullable = match nulls {
            Nulls::Args => self.args.iter().any(|a| a.nullable),
            Nulls::Always => true,
            Nulls::Never => false,
        };
        let env = match salt {
            Some(salt) => Arc::new(Env {
                salt,
                ..self.env.as_ref().clone()
            }),
            None => self.env,
        };
        let imp = Imp::Kernel {
            name,
            run,
            fallible,
            volatile: false,
            env,
        };
        Node::new(
            Kind::Call {
                shown: Shown::Call(self.name.to_owned()),
                args: self.args,
                imp,
            },
            ret,
            nullable,
        )
    }

    /// The call of a kernel that gives something else each time.
    pub fn volatile(self, name: &'static str, run: Run, ret: DataType, salt: u64) -> Node {
        let env = Arc::new(Env {
            salt,
            ..self.env.as_ref().clone()
        });
        let imp = Imp::Kernel {
            name,
            run,
            fallible: false,
            volatile: true,
            env,
        };
        Node::new(
            Kind::Call {
                shown: Shown::Call(self.name.to_owned()),
                args: self.args,
                imp,
            },
            ret,
            false,
        )
    }

    /// The call as another expression, printed with its own name and arguments.
    pub fn replaced(self, by: Node) -> Node {
        let (ty, nullable) = (by.ty.clone(), by.nullable);
        let shown = Shown::Call(self.name.to_owned());
        Node::new(
            Kind::Call {
                shown,
                args: self.args,
                imp: Imp::Replace(Box::new(by)),
            },
            ty,
            nullable,
        )
    }

    /// Argument `n`.
    pub fn arg(&self, n: usize) -> Node {
        self.args[n].clone()
    }

    /// The same call under another name with other arguments, for its parts.
    pub fn inner(&self, name: &'a str, args: Vec<Node>) -> Call<'a> {
        Call {
            name,
            args,
            env: Arc::clone(&self.env),
            options: self.options,
            serial: self.serial,
        }
    }

    /// The text constant that argument `n` must be.
    pub fn constant_text(&self, n: usize) -> Result<String> {
        let arg = &self.args[n];
        if let Some(text) = arg.as_str() {
            return Ok(text.to_owned());
        }
        Err(DeltaError::new("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT")
            .param("sqlExpr", quoted(self.printed()))
            .param("inputName", format!("`{}`", ordinal(n)))
            .param("inputType", shown(&arg.ty))
            .param("inputExpr", quoted_sql(arg, self.options.zone)))
    }
}

/// Changes how a call is printed.
pub fn shown_as(mut node: Node, as_: Shown) -> Node {
    if let Kind::Call { shown, .. } = &mut node.kind {
        *shown = as_;
    }
    node
}

/// Prints the call in capitals, as Spark does for the functions of mathematics.
pub fn capital(node: Node) -> Node {
    let name = match &node.kind {
        Kind::Call {
            shown: Shown::Call(name),
            ..
        } => name.to_uppercase(),
        _ => return node,
    };
    shown_as(node, Shown::Call(name))
}

/// `WRONG_NUM_ARGS` of a call.
pub fn wrong_arguments(name: &str, least: usize, most: usize, actual: usize) -> DeltaError {
    let expected = match (least, most) {
        (l, m) if l == m => l.to_string(),
        (l, MANY) => format!("> {}", l.saturating_sub(1)),
        (l, m) if m == l + 1 => format!("[{l}, {m}]"),
        (l, m) => format!(
            "[{}]",
            (l..=m)
                .map(|n| n.to_string())
                .collect::<Vec<_>>()
                .join(", ")
        ),
    };
    DeltaError::new("WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
        .param("functionName", format!("`{name}`"))
        .param("expectedNum", expected)
        .param("actualNum", actual)
        .param("docroot", "https://spark.apache.org/docs/latest")
}

/// `UNRESOLVED_ROUTINE` with the search path of the session.
pub fn unresolved_routine(parts: &[String], options: &AnalyzerOptions) -> DeltaError {
    DeltaError::new("UNRESOLVED_ROUTINE")
        .param("routineName", backticked(parts))
        .param(
            "searchPath",
            format!(
                "[`system`.`builtin`, `system`.`session`, {}]",
                backticked(&[&options.catalog, &options.schema])
            ),
        )
}

/// Makes a decimal out of a whole number as its literal would be, else by its type.
pub fn decimal_parts(node: &Node) -> Option<(u8, u8)> {
    if is_integral(&node.ty)
        && let Some(v) = node.as_literal().and_then(crate::fold::whole)
    {
        return Some(decimal::for_integer(v));
    }
    decimal::for_type(&node.ty)
}
