//! The expression tree between SQL text and DataFusion: each node knows its Spark type and nullability.
//!
//! Names of columns, the texts in errors and in the log, coercion and folding all need an expression as Spark sees
//! it (implicit casts told from written ones, `now()` not yet a value), which DataFusion's `Expr` does not keep.

use std::sync::Arc;

use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::{Expr, LogicalPlan};
use deltaic_protocol::schema::DataType;

use crate::kernel::{Env, Run};

/// An expression with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Its type.
    pub ty: DataType,
    /// Can it be NULL?
    pub nullable: bool,
}

/// A column of some input. Two are the same when their ids are.
#[derive(Clone, Debug)]
pub struct Attr {
    /// Unique in a statement; Catalyst's `#12`.
    pub id: u32,
    /// The name as the statement spells it.
    pub name: String,
    /// Where DataFusion finds it.
    pub column: Column,
    /// Position and name in the table it is read from, where it is a column of one.
    pub origin: Option<Arc<str>>,
    /// `n` of a CHAR(n) column, whose values are filled up with spaces to that length.
    pub char_length: Option<usize>,
}

impl PartialEq for Attr {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// What a cast does with a value that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastMode {
    /// An error (NULL where ANSI mode is off).
    Ansi,
    /// NULL: `TRY_CAST`.
    Try,
    /// An error that names the column: the assignment of INSERT and UPDATE.
    Insert,
}

/// A two-sided operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Subtract,
    Multiply,
    Divide,
    IntegralDivide,
    Remainder,
    Equal,
    NullSafeEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
}

impl Op {
    /// The sign between the operands.
    pub fn symbol(self) -> &'static str {
        match self {
            Op::Add => "+",
            Op::Subtract => "-",
            Op::Multiply => "*",
            Op::Divide => "/",
            Op::IntegralDivide => "div",
            Op::Remainder => "%",
            Op::Equal => "=",
            Op::NullSafeEqual => "<=>",
            Op::Less => "<",
            Op::LessOrEqual => "<=",
            Op::Greater => ">",
            Op::GreaterOrEqual => ">=",
            Op::And => "AND",
            Op::Or => "OR",
            Op::BitAnd => "&",
            Op::BitOr => "|",
            Op::BitXor => "^",
        }
    }

    /// `=`, `<=>`, `<` and so on.
    pub fn is_comparison(self) -> bool {
        use Op::*;
        matches!(
            self,
            Equal | NullSafeEqual | Less | LessOrEqual | Greater | GreaterOrEqual
        )
    }

    /// `+` to `%`.
    pub fn is_arithmetic(self) -> bool {
        use Op::*;
        matches!(
            self,
            Add | Subtract | Multiply | Divide | IntegralDivide | Remainder
        )
    }

    /// The comparison with its sides exchanged.
    pub fn mirrored(self) -> Op {
        match self {
            Op::Less => Op::Greater,
            Op::LessOrEqual => Op::GreaterOrEqual,
            Op::Greater => Op::Less,
            Op::GreaterOrEqual => Op::LessOrEqual,
            other => other,
        }
    }
}

/// How a call is printed.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// `name(a, b)`.
    Call(String),
    /// A text with `{0}`, `{1}` for the arguments.
    Template(&'static str),
    /// A text that does not depend on the arguments.
    Text(String),
}

/// How a call is computed.
#[derive(Clone)]
pub enum Imp {
    /// By a kernel of ours.
    Kernel {
        /// Identifies the kernel.
        name: &'static str,
        /// The kernel.
        run: Run,
        /// Can a value make it fail?
        fallible: bool,
        /// Does it differ from call to call?
        volatile: bool,
        /// What it knows of the session.
        env: Arc<Env>,
    },
    /// By an expression of DataFusion over the lowered arguments.
    Native(fn(Vec<Expr>) -> Expr),
    /// As another expression.
    Replace(Box<Node>),
}

impl std::fmt::Debug for Imp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Imp::Kernel { name, .. } => write!(f, "Kernel({name})"),
            Imp::Native(_) => f.write_str("Native"),
            Imp::Replace(node) => write!(f, "Replace({node:?})"),
        }
    }
}

impl PartialEq for Imp {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Imp::Kernel {
                    name: a,
                    volatile,
                    env: e,
                    ..
                },
                Imp::Kernel {
                    name: b, env: f, ..
                },
            ) => a == b && e == f && !volatile,
            (Imp::Native(_), Imp::Native(_)) => true,
            (Imp::Replace(a), Imp::Replace(b)) => a == b,
            _ => false,
        }
    }
}

/// An aggregate function of Spark.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// Its name for lookup of the implementation.
    pub function: &'static str,
    /// Its name as printed.
    pub shown: String,
    /// Arguments, coerced.
    pub args: Vec<Node>,
    /// How many of them are printed (defaults that were added are not).
    pub shown_args: usize,
    /// `DISTINCT`.
    pub distinct: bool,
    /// `FILTER (WHERE …)`.
    pub filter: Option<Box<Node>>,
    /// `IGNORE NULLS`.
    pub ignore_nulls: bool,
    /// `WITHIN GROUP (ORDER BY …)`.
    pub order: Vec<SortKey>,
}

/// One key of an ordering.
#[derive(Clone, Debug, PartialEq)]
pub struct SortKey {
    /// What is compared.
    pub node: Node,
    /// Ascending?
    pub ascending: bool,
    /// NULLs before everything?
    pub nulls_first: bool,
}

/// The rows that a window function sees.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// ROWS, else RANGE.
    pub rows: bool,
    /// The first row.
    pub start: Bound,
    /// The last row.
    pub end: Bound,
}

/// One end of a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// From the first row of the partition.
    UnboundedPreceding,
    /// Some rows or an amount before.
    Preceding(ScalarValue, String),
    /// Here.
    Current,
    /// Some rows or an amount after.
    Following(ScalarValue, String),
    /// To the last row of the partition.
    UnboundedFollowing,
}

/// A window function over its window.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// The function: an aggregate, or a ranking function in the same clothes.
    pub function: Aggregate,
    /// `PARTITION BY`.
    pub partition: Vec<Node>,
    /// `ORDER BY`.
    pub order: Vec<SortKey>,
    /// The frame.
    pub frame: Frame,
}

/// What a subquery stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum SubqueryKind {
    /// `(SELECT …)` as a value.
    Scalar,
    /// `EXISTS (SELECT …)`.
    Exists,
    /// `x IN (SELECT …)`.
    In(Box<Node>),
}

/// A subquery inside an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Subquery {
    /// What it stands for.
    pub kind: SubqueryKind,
    /// Its plan.
    pub plan: Arc<LogicalPlan>,
    /// Columns of the query around it that it uses.
    pub outer: Vec<(Attr, DataType)>,
    /// A number for its name in texts.
    pub id: u32,
}

/// A function that gives rows: `explode` and its kin.
#[derive(Clone, Debug, PartialEq)]
pub struct Generator {
    /// `explode`, `posexplode`, `inline`, `stack`, `json_tuple`.
    pub function: &'static str,
    /// Name as printed.
    pub shown: String,
    /// Its arguments.
    pub args: Vec<Node>,
    /// `_outer`: a row of NULLs where there would be none.
    pub outer: bool,
    /// Names and types of its columns.
    pub columns: Vec<(String, DataType, bool)>,
}

/// The body of a lambda and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// Parameters, as columns of the body.
    pub params: Vec<(Attr, DataType)>,
    /// The body.
    pub body: Node,
}

/// The shapes of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A constant.
    Literal(ScalarValue),
    /// A column of the input.
    Attr(Attr),
    /// A column of the query around.
    Outer(Attr),
    /// `base.name` of a struct.
    Field {
        base: Box<Node>,
        ordinal: usize,
        name: String,
    },
    /// A cast; `explicit` where the statement says CAST.
    Cast {
        child: Box<Node>,
        mode: CastMode,
        explicit: bool,
        env: Arc<Env>,
    },
    /// A two-sided operator.
    Binary {
        op: Op,
        left: Box<Node>,
        right: Box<Node>,
        env: Arc<Env>,
    },
    /// `NOT x`.
    Not(Box<Node>),
    /// `x IS NULL`.
    IsNull(Box<Node>),
    /// `x IS NOT NULL`.
    IsNotNull(Box<Node>),
    /// `CASE WHEN`; `if_form` prints as IF.
    Case {
        branches: Vec<(Node, Node)>,
        otherwise: Option<Box<Node>>,
        if_form: bool,
    },
    /// `x IN (a, b)`.
    In { value: Box<Node>, list: Vec<Node> },
    /// `x LIKE pattern`.
    Like {
        value: Box<Node>,
        pattern: Box<Node>,
        escape: char,
        insensitive: bool,
    },
    /// A scalar function.
    Call {
        shown: Shown,
        args: Vec<Node>,
        imp: Imp,
    },
    /// An aggregate function.
    Aggregate(Box<Aggregate>),
    /// A window function.
    Window(Box<Window>),
    /// A subquery.
    Subquery(Box<Subquery>),
    /// A function that gives rows.
    Generator(Box<Generator>),
    /// A lambda, only as an argument.
    Lambda(Box<Lambda>),
    /// `x AS name`, also the use of such a name further right in the same list.
    Alias { child: Box<Node>, name: String },
    /// The word DEFAULT where a value of INSERT or UPDATE stands.
    Default,
}

impl Node {
    /// A node.
    pub fn new(kind: Kind, ty: DataType, nullable: bool) -> Self {
        Self { kind, ty, nullable }
    }

    /// A constant; nullable where it is NULL.
    pub fn literal(value: ScalarValue, ty: DataType) -> Self {
        let nullable = value.is_null();
        Self::new(Kind::Literal(value), ty, nullable)
    }

    /// A text constant.
    pub fn string(text: impl Into<String>) -> Self {
        Self::literal(ScalarValue::Utf8(Some(text.into())), DataType::String)
    }

    /// An INT constant.
    pub fn int(value: i32) -> Self {
        Self::literal(ScalarValue::Int32(Some(value)), DataType::Integer)
    }

    /// A BIGINT constant.
    pub fn long(value: i64) -> Self {
        Self::literal(ScalarValue::Int64(Some(value)), DataType::Long)
    }

    /// TRUE or FALSE.
    pub fn boolean(value: bool) -> Self {
        Self::literal(ScalarValue::Boolean(Some(value)), DataType::Boolean)
    }

    /// NULL without a type.
    pub fn null() -> Self {
        Self::literal(ScalarValue::Null, DataType::Void)
    }

    /// A column of the input.
    pub fn attr(attr: Attr, ty: DataType, nullable: bool) -> Self {
        Self::new(Kind::Attr(attr), ty, nullable)
    }

    /// `NOT self`.
    pub fn negated(self) -> Self {
        let nullable = self.nullable;
        Self::new(Kind::Not(Box::new(self)), DataType::Boolean, nullable)
    }

    /// `self IS NULL`.
    pub fn is_null(self) -> Self {
        Self::new(Kind::IsNull(Box::new(self)), DataType::Boolean, false)
    }

    /// `self IS NOT NULL`.
    pub fn is_not_null(self) -> Self {
        Self::new(Kind::IsNotNull(Box::new(self)), DataType::Boolean, false)
    }

    /// `self AS name`.
    pub fn aliased(self, name: impl Into<String>) -> Self {
        let (ty, nullable) = (self.ty.clone(), self.nullable);
        Self::new(
            Kind::Alias {
                child: Box::new(self),
                name: name.into(),
            },
            ty,
            nullable,
        )
    }

    /// The constant, if it is one.
    pub fn as_literal(&self) -> Option<&ScalarValue> {
        match &self.kind {
            Kind::Literal(v) => Some(v),
            _ => None,
        }
    }

    /// The text of a string constant.
    pub fn as_str(&self) -> Option<&str> {
        match self.as_literal()? {
            ScalarValue::Utf8(Some(s)) => Some(s),
            _ => None,
        }
    }

    /// The expression under aliases.
    pub fn unaliased(&self) -> &Node {
        match &self.kind {
            Kind::Alias { child, .. } => child.unaliased(),
            _ => self,
        }
    }

    /// Direct children, in order.
    pub fn children(&self) -> Vec<&Node> {
        match &self.kind {
            Kind::Literal(_) | Kind::Attr(_) | Kind::Outer(_) | Kind::Default => vec![],
            Kind::Field { base: c, .. }
            | Kind::Cast { child: c, .. }
            | Kind::Not(c)
            | Kind::IsNull(c)
            | Kind::IsNotNull(c)
            | Kind::Alias { child: c, .. } => vec![c],
            Kind::Binary { left, right, .. } => vec![left, right],
            Kind::Like { value, pattern, .. } => vec![value, pattern],
            Kind::Case {
                branches,
                otherwise,
                ..
            } => {
                let mut all: Vec<&Node> = branches.iter().flat_map(|(w, t)| [w, t]).collect();
                all.extend(otherwise.as_deref());
                all
            }
            Kind::In { value, list } => std::iter::once(&**value).chain(list).collect(),
            Kind::Call {
                args,
                imp: Imp::Replace(inner),
                ..
            } => args.iter().chain(std::iter::once(&**inner)).collect(),
            Kind::Call { args, .. } => args.iter().collect(),
            Kind::Generator(g) => g.args.iter().collect(),
            Kind::Lambda(l) => vec![&l.body],
            Kind::Aggregate(a) => aggregate_children(a),
            Kind::Window(w) => {
                let mut all = aggregate_children(&w.function);
                all.extend(&w.partition);
                all.extend(w.order.iter().map(|k| &k.node));
                all
            }
            Kind::Subquery(s) => match &s.kind {
                SubqueryKind::In(value) => vec![value],
                _ => vec![],
            },
        }
    }

    /// The same node over changed children.
    pub fn map_children(self, f: &mut dyn FnMut(Node) -> Node) -> Node {
        let Node { kind, ty, nullable } = self;
        let mut boxed = |n: Box<Node>| Box::new(f(*n));
        let kind = match kind {
            Kind::Literal(_) | Kind::Attr(_) | Kind::Outer(_) | Kind::Default => kind,
            Kind::Field {
                base,
                ordinal,
                name,
            } => Kind::Field {
                base: boxed(base),
                ordinal,
                name,
            },
            Kind::Cast {
                child,
                mode,
                explicit,
                env,
            } => Kind::Cast {
                child: boxed(child),
                mode,
                explicit,
                env,
            },
            Kind::Not(c) => Kind::Not(boxed(c)),
            Kind::IsNull(c) => Kind::IsNull(boxed(c)),
            Kind::IsNotNull(c) => Kind::IsNotNull(boxed(c)),
            Kind::Alias { child, name } => Kind::Alias {
                child: boxed(child),
                name,
            },
            Kind::Binary {
                op,
                left,
                right,
                env,
            } => Kind::Binary {
                op,
                left: boxed(left),
                right: boxed(right),
                env,
            },
            Kind::Like {
                value,
                pattern,
                escape,
                insensitive,
            } => Kind::Like {
                value: boxed(value),
                pattern: boxed(pattern),
                escape,
                insensitive,
            },
            Kind::Case {
                branches,
                otherwise,
                if_form,
            } => Kind::Case {
                branches: branches.into_iter().map(|(w, t)| (f(w), f(t))).collect(),
                otherwise: otherwise.map(|n| Box::new(f(*n))),
                if_form,
            },
            Kind::In { value, list } => Kind::In {
                value: boxed(value),
                list: list.into_iter().map(f).collect(),
            },
            Kind::Call { shown, args, imp } => {
                let args = args.into_iter().map(&mut *f).collect();
                let imp = match imp {
                    Imp::Replace(inner) => Imp::Replace(Box::new(f(*inner))),
                    other => other,
                };
                Kind::Call { shown, args, imp }
            }
            Kind::Generator(mut g) => {
                g.args = g.args.into_iter().map(f).collect();
                Kind::Generator(g)
            }
            Kind::Lambda(l) => Kind::Lambda(Box::new(Lambda {
                params: l.params,
                body: f(l.body),
            })),
            Kind::Aggregate(a) => Kind::Aggregate(Box::new(map_aggregate(*a, f))),
            Kind::Window(w) => {
                let Window {
                    function,
                    partition,
                    order,
                    frame,
                } = *w;
                Kind::Window(Box::new(Window {
                    function: map_aggregate(function, f),
                    partition: partition.into_iter().map(&mut *f).collect(),
                    order: map_keys(order, f),
                    frame,
                }))
            }
            Kind::Subquery(mut s) => {
                if let SubqueryKind::In(value) = s.kind {
                    s.kind = SubqueryKind::In(Box::new(f(*value)));
                }
                Kind::Subquery(s)
            }
        };
        Node { kind, ty, nullable }
    }

    /// Rewrites from the leaves up.
    pub fn transform_up(self, f: &mut dyn FnMut(Node) -> Node) -> Node {
        let node = self.map_children(&mut |c| c.transform_up(f));
        f(node)
    }

    /// Rewrites from the root down; `f` gives Err(node) to go on with its children.
    pub fn transform_down(self, f: &mut dyn FnMut(Node) -> Result<Node, Box<Node>>) -> Node {
        match f(self) {
            Ok(done) => done,
            Err(node) => node.map_children(&mut |c| c.transform_down(f)),
        }
    }

    /// Does any node satisfy `f`?
    pub fn any(&self, f: &dyn Fn(&Node) -> bool) -> bool {
        f(self) || self.children().iter().any(|c| c.any(f))
    }

    /// Contains an aggregate that is not inside a window function's call?
    pub fn has_aggregate(&self) -> bool {
        match &self.kind {
            Kind::Aggregate(_) => true,
            Kind::Window(w) => w
                .function
                .args
                .iter()
                .chain(&w.partition)
                .chain(w.order.iter().map(|k| &k.node))
                .any(Node::has_aggregate),
            _ => self.children().iter().any(|c| c.has_aggregate()),
        }
    }

    /// Contains a window function?
    pub fn has_window(&self) -> bool {
        self.any(&|n| matches!(n.kind, Kind::Window(_)))
    }

    /// Contains a function that gives rows?
    pub fn has_generator(&self) -> bool {
        self.any(&|n| matches!(n.kind, Kind::Generator(_)))
    }

    /// Contains a subquery?
    pub fn has_subquery(&self) -> bool {
        self.any(&|n| matches!(n.kind, Kind::Subquery(_)))
    }

    /// Gives the same value for the same input?
    pub fn is_deterministic(&self) -> bool {
        !self.any(&|n| {
            matches!(
                &n.kind,
                Kind::Call {
                    imp: Imp::Kernel { volatile: true, .. },
                    ..
                }
            )
        })
    }

    /// Columns of the input that it reads.
    pub fn attributes(&self) -> Vec<&Attr> {
        let mut out = Vec::new();
        self.collect_attributes(&mut out);
        out
    }

    fn collect_attributes<'a>(&'a self, out: &mut Vec<&'a Attr>) {
        match &self.kind {
            Kind::Attr(a) => out.push(a),
            _ => {
                for child in self.children() {
                    child.collect_attributes(out);
                }
            }
        }
        if let Kind::Subquery(s) = &self.kind {
            out.extend(s.outer.iter().map(|(a, _)| a));
        }
    }

    /// Depends on nothing but constants, so that it can be computed now.
    pub fn is_foldable(&self) -> bool {
        match &self.kind {
            Kind::Literal(_) => true,
            Kind::Attr(_)
            | Kind::Outer(_)
            | Kind::Aggregate(_)
            | Kind::Window(_)
            | Kind::Subquery(_)
            | Kind::Generator(_)
            | Kind::Lambda(_)
            | Kind::Default => false,
            Kind::Call {
                imp: Imp::Kernel { volatile: true, .. },
                ..
            } => false,
            Kind::Call {
                imp: Imp::Replace(inner),
                ..
            } => inner.is_foldable(),
            _ => self.children().iter().all(|c| c.is_foldable()),
        }
    }
}

fn aggregate_children(a: &Aggregate) -> Vec<&Node> {
    let mut all: Vec<&Node> = a.args.iter().collect();
    all.extend(a.filter.as_deref());
    all.extend(a.order.iter().map(|k| &k.node));
    all
}

fn map_keys(keys: Vec<SortKey>, f: &mut dyn FnMut(Node) -> Node) -> Vec<SortKey> {
    keys.into_iter()
        .map(|k| SortKey {
            node: f(k.node),
            ..k
        })
        .collect()
}

fn map_aggregate(a: Aggregate, f: &mut dyn FnMut(Node) -> Node) -> Aggregate {
    let Aggregate {
        function,
        shown,
        args,
        shown_args,
        distinct,
        filter,
        ignore_nulls,
        order,
    } = a;
    Aggregate {
        function,
        shown,
        args: args.into_iter().map(&mut *f).collect(),
        shown_args,
        distinct,
        filter: filter.map(|n| Box::new(f(*n))),
        ignore_nulls,
        order: map_keys(order, f),
    }
}
