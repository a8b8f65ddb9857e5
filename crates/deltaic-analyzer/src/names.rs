//! The two ways Spark prints an expression: as the name of a column (also in error texts), and as Catalyst's
//! `toString`, which Delta writes into the log.

use chrono_tz::Tz;
use datafusion::common::ScalarValue;
use deltaic_protocol::schema::DataType;

use crate::error::quote_if_needed;
use crate::node::{
    Aggregate, Bound, CastMode, Kind, Node, Op, Shown, SortKey, SubqueryKind, Window,
};
use crate::text;

#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// Names of columns: no casts that nobody wrote, texts without quotes.
    Pretty,
    /// `Expression.toString`.
    Catalyst,
    /// `toString` of an expression that was only parsed: `('p = 2)`.
    Unresolved,
    /// `Expression.sql` of an expression that was only parsed: `(p = 'x')`.
    Sql,
    /// `Expression.sql` of an analysed expression, with the casts that nobody wrote: `(n = CAST(5 AS BIGINT))`.
    Analyzed,
}

/// How the parameter of a lambda prints.
const LAMBDA_VARIABLE: &str = "namedlambdavariable()";

struct Printer {
    style: Style,
    zone: Tz,
}

/// The name of the column that holds the expression, where it has no alias.
pub fn column_name(node: &Node, zone: Tz) -> String {
    match &node.kind {
        Kind::Alias { name, .. } => name.clone(),
        Kind::Attr(a) | Kind::Outer(a) => a.name.clone(),
        Kind::Field { name, .. } => name.clone(),
        // A cast of something that has a name keeps the name.
        Kind::Cast { child, .. } if matches!(child.kind, Kind::Attr(_) | Kind::Outer(_)) => {
            column_name(child, zone)
        }
        _ => pretty(node, zone),
    }
}

/// The expression as SQL, as column names and error texts show it.
pub fn pretty(node: &Node, zone: Tz) -> String {
    Printer {
        style: Style::Pretty,
        zone,
    }
    .node(node)
}

/// The expression in the quotes of error texts.
pub fn quoted_sql(node: &Node, zone: Tz) -> String {
    format!("\"{}\"", pretty(node, zone))
}

/// `Expression.toString`: `(v#12 = v5)`.
pub fn catalyst(node: &Node, zone: Tz) -> String {
    Printer {
        style: Style::Catalyst,
        zone,
    }
    .node(node)
}

/// `Expression.toString` before any name was resolved: `('p = 2)`.
pub fn unresolved(node: &Node, zone: Tz) -> String {
    Printer {
        style: Style::Unresolved,
        zone,
    }
    .node(node)
}

/// `Expression.sql`: `(p = 'x')`.
pub fn sql(node: &Node, zone: Tz) -> String {
    Printer {
        style: Style::Sql,
        zone,
    }
    .node(node)
}

/// `Expression.sql` after analysis: `(n = CAST(5 AS BIGINT))`.
pub fn analyzed(node: &Node, zone: Tz) -> String {
    Printer {
        style: Style::Analyzed,
        zone,
    }
    .node(node)
}

/// The text of a constant without quotes or a type in front; NULL is `NULL`.
pub fn literal_text(value: &ScalarValue, ty: &DataType, zone: Tz) -> String {
    if value.is_null() {
        return "NULL".to_owned();
    }
    match (value.to_array(), ty) {
        (Ok(array), DataType::Binary) => match value {
            ScalarValue::Binary(Some(bytes)) => hex(bytes),
            _ => text::value_text(&array, 0, ty, zone),
        },
        (Ok(array), _) => text::value_text(&array, 0, ty, zone),
        (Err(_), _) => value.to_string(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02X}")).collect()
}

impl Printer {
    fn list(&self, nodes: &[Node]) -> String {
        nodes
            .iter()
            .map(|n| self.node(n))
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn node(&self, node: &Node) -> String {
        let catalyst = matches!(self.style, Style::Catalyst | Style::Unresolved);
        match &node.kind {
            Kind::Literal(v) => self.literal(v, &node.ty),
            Kind::Attr(a) if self.style == Style::Unresolved => format!("'{}", a.name),
            Kind::Attr(a) if a.name == LAMBDA_VARIABLE => a.name.clone(),
            Kind::Attr(a) if matches!(self.style, Style::Sql | Style::Analyzed) => {
                quote_if_needed(&a.name)
            }
            Kind::Attr(a) if catalyst => {
                format!(
                    "{}#{}{}",
                    a.name,
                    a.id,
                    if node.ty == DataType::Long { "L" } else { "" }
                )
            }
            Kind::Attr(a) => a.name.clone(),
            Kind::Outer(a) if catalyst => {
                format!(
                    "outer({}#{}{})",
                    a.name,
                    a.id,
                    if node.ty == DataType::Long { "L" } else { "" }
                )
            }
            Kind::Outer(a) => format!("outer({})", a.name),
            Kind::Field { base, name, .. } => format!("{}.{name}", self.node(base)),
            Kind::Cast {
                child,
                mode,
                explicit,
                ..
            } => match (self.style, mode) {
                (Style::Pretty | Style::Sql | Style::Unresolved, _) if !explicit => {
                    self.node(child)
                }
                (Style::Unresolved, _) => {
                    format!("cast({} as {})", self.node(child), node.ty.simple_string())
                }
                (Style::Catalyst, CastMode::Try) => format!(
                    "try_cast({} as {})",
                    self.node(child),
                    node.ty.simple_string()
                ),
                (Style::Catalyst, _) => {
                    format!("cast({} as {})", self.node(child), node.ty.simple_string())
                }
                (_, CastMode::Try) => {
                    format!("TRY_CAST({} AS {})", self.node(child), node.ty.sql())
                }
                (_, _) => format!("CAST({} AS {})", self.node(child), node.ty.sql()),
            },
            Kind::Binary {
                op, left, right, ..
            } => {
                format!("({} {} {})", self.node(left), op.symbol(), self.node(right))
            }
            Kind::Not(c) if catalyst => match &c.kind {
                Kind::Binary {
                    op: Op::Equal,
                    left,
                    right,
                    ..
                } => format!("NOT ({} = {})", self.node(left), self.node(right)),
                _ => format!("NOT {}", self.node(c)),
            },
            Kind::Not(c) => format!("(NOT {})", self.node(c)),
            Kind::IsNull(c) if catalyst => format!("isnull({})", self.node(c)),
            Kind::IsNull(c) => format!("({} IS NULL)", self.node(c)),
            Kind::IsNotNull(c) if catalyst => format!("isnotnull({})", self.node(c)),
            Kind::IsNotNull(c) => format!("({} IS NOT NULL)", self.node(c)),
            Kind::Case {
                branches,
                otherwise,
                if_form: true,
            } => {
                let (when, then) = branches
                    .first()
                    .map(|(w, t)| (self.node(w), self.node(t)))
                    .unwrap_or_default();
                let other = otherwise.as_ref().map(|o| self.node(o)).unwrap_or_default();
                if catalyst {
                    format!("if ({when}) {then} else {other}")
                } else {
                    format!("(IF({when}, {then}, {other}))")
                }
            }
            Kind::Case {
                branches,
                otherwise,
                ..
            } => {
                let mut out = "CASE".to_owned();
                for (when, then) in branches {
                    out.push_str(&format!(
                        " WHEN {} THEN {}",
                        self.node(when),
                        self.node(then)
                    ));
                }
                if let Some(other) = otherwise {
                    out.push_str(&format!(" ELSE {}", self.node(other)));
                }
                out.push_str(" END");
                out
            }
            Kind::In { value, list } if catalyst && list.len() > 10 => {
                let mut items: Vec<String> = list.iter().map(|n| self.node(n)).collect();
                items.sort();
                format!("{} INSET {}", self.node(value), items.join(", "))
            }
            Kind::In { value, list } if catalyst => {
                let items: Vec<String> = list.iter().map(|n| self.node(n)).collect();
                format!("{} IN ({})", self.node(value), items.join(","))
            }
            Kind::In { value, list } => format!("({} IN ({}))", self.node(value), self.list(list)),
            Kind::Like {
                value,
                pattern,
                insensitive: true,
                ..
            } => {
                format!("ilike({}, {})", self.node(value), self.node(pattern))
            }
            Kind::Like {
                value,
                pattern,
                escape,
                ..
            } => {
                let end = if *escape == '\\' {
                    String::new()
                } else {
                    format!(" ESCAPE '{escape}'")
                };
                format!("{} LIKE {}{end}", self.node(value), self.node(pattern))
            }
            Kind::Call { shown, args, imp } => match (shown, imp) {
                (Shown::Text(t), _) => t.clone(),
                (_, crate::node::Imp::Replace(inner)) if self.style == Style::Catalyst => {
                    self.node(inner)
                }
                (Shown::Call(name), _) => format!("{name}({})", self.list(args)),
                (Shown::Template(t), _) => args
                    .iter()
                    .enumerate()
                    .fold((*t).to_owned(), |out, (n, a)| {
                        out.replace(&format!("{{{n}}}"), &self.node(a))
                    }),
            },
            Kind::Aggregate(a) => self.aggregate(a),
            Kind::Window(w) => self.window(w),
            Kind::Subquery(s) => {
                let outer = s
                    .outer
                    .iter()
                    .map(|(a, ty)| self.node(&Node::attr(a.clone(), ty.clone(), true)))
                    .collect::<Vec<_>>()
                    .join(", ");
                let id = if catalyst {
                    format!("#{} ", s.id)
                } else {
                    String::new()
                };
                let id = id.trim_end();
                match &s.kind {
                    SubqueryKind::Scalar if catalyst => format!("scalar-subquery{id} [{outer}]"),
                    SubqueryKind::Scalar => format!("scalarsubquery({outer})"),
                    SubqueryKind::Exists if catalyst => format!("exists{id} [{outer}]"),
                    SubqueryKind::Exists => format!("exists({outer})"),
                    SubqueryKind::In(value) if catalyst => {
                        format!("{} IN (list{id} [{outer}])", self.node(value))
                    }
                    SubqueryKind::In(value) => {
                        format!("({} IN (listquery({outer})))", self.node(value))
                    }
                }
            }
            Kind::Generator(g) => format!("{}({})", g.shown, self.list(&g.args)),
            Kind::Lambda(l) => {
                let params = l
                    .params
                    .iter()
                    .map(|_| LAMBDA_VARIABLE)
                    .collect::<Vec<_>>()
                    .join(", ");
                let body = if catalyst {
                    self.node(&l.body)
                } else {
                    self.node(&anonymous(&l.body, &l.params))
                };
                format!("lambdafunction({body}, {params})")
            }
            Kind::Alias { child, name } if catalyst => self.node(child) + " AS " + name,
            Kind::Alias { child, name } => {
                format!("{} AS {}", self.node(child), quote_if_needed(name))
            }
            Kind::Default => "DEFAULT".to_owned(),
        }
    }

    fn literal(&self, v: &ScalarValue, ty: &DataType) -> String {
        let catalyst = matches!(self.style, Style::Catalyst | Style::Unresolved);
        if v.is_null() {
            return if catalyst { "null" } else { "NULL" }.to_owned();
        }
        let plain = literal_text(v, ty, self.zone);
        if catalyst {
            return if *ty == DataType::Binary {
                format!("0x{plain}")
            } else {
                plain
            };
        }
        match ty {
            DataType::Date => format!("DATE '{plain}'"),
            DataType::Timestamp => format!("TIMESTAMP '{plain}'"),
            DataType::TimestampNtz => format!("TIMESTAMP_NTZ '{plain}'"),
            DataType::Binary => format!("X'{plain}'"),
            DataType::String if matches!(self.style, Style::Sql | Style::Analyzed) => {
                format!("'{}'", plain.replace('\\', "\\\\").replace('\'', "\\'"))
            }
            _ if self.style == Style::Analyzed => match ty {
                DataType::Byte => plain + "Y",
                DataType::Short => plain + "S",
                DataType::Long => plain + "L",
                DataType::Double => plain + "D",
                DataType::Decimal { .. } => plain + "BD",
                DataType::Float => format!("CAST({plain} AS FLOAT)"),
                _ => plain,
            },
            _ => plain,
        }
    }

    fn aggregate(&self, a: &Aggregate) -> String {
        let args = self.list(a.args.get(..a.shown_args).unwrap_or(&a.args));
        let distinct = match (a.distinct, self.style) {
            (false, _) => "",
            (true, Style::Catalyst | Style::Unresolved) => "distinct ",
            (true, _) => "DISTINCT ",
        };
        let mut out = format!("{}({distinct}{args})", a.shown);
        if a.ignore_nulls {
            out.push_str(" ignore nulls");
        }
        if !a.order.is_empty() {
            let keys: Vec<String> = a.order.iter().map(|k| self.key(k)).collect();
            out.push_str(&format!(" WITHIN GROUP (ORDER BY {})", keys.join(", ")));
        }
        if let Some(filter) = &a.filter {
            out.push_str(&format!(" FILTER (WHERE {})", self.node(filter)));
        }
        out
    }

    fn key(&self, k: &SortKey) -> String {
        let direction = if k.ascending { "ASC" } else { "DESC" };
        let nulls = if k.nulls_first {
            "NULLS FIRST"
        } else {
            "NULLS LAST"
        };
        format!("{} {direction} {nulls}", self.node(&k.node))
    }

    fn window(&self, w: &Window) -> String {
        let mut parts = Vec::new();
        if !w.partition.is_empty() {
            parts.push(format!("PARTITION BY {}", self.list(&w.partition)));
        }
        if !w.order.is_empty() {
            let keys: Vec<String> = w.order.iter().map(|k| self.key(k)).collect();
            parts.push(format!("ORDER BY {}", keys.join(", ")));
        }
        let unit = if w.frame.rows { "ROWS" } else { "RANGE" };
        parts.push(format!(
            "{unit} BETWEEN {} AND {}",
            bound(&w.frame.start),
            bound(&w.frame.end)
        ));
        format!("{} OVER ({})", self.aggregate(&w.function), parts.join(" "))
    }
}

fn bound(b: &Bound) -> String {
    match b {
        Bound::UnboundedPreceding => "UNBOUNDED PRECEDING".to_owned(),
        Bound::Preceding(_, text) => format!("{text} PRECEDING"),
        Bound::Current => "CURRENT ROW".to_owned(),
        Bound::Following(_, text) => format!("{text} FOLLOWING"),
        Bound::UnboundedFollowing => "UNBOUNDED FOLLOWING".to_owned(),
    }
}

/// The body of a lambda with its parameters named as Spark prints them.
fn anonymous(body: &Node, params: &[(crate::node::Attr, DataType)]) -> Node {
    body.clone().transform_up(&mut |mut n| {
        if let Kind::Attr(a) = &mut n.kind
            && params.iter().any(|(p, _)| p == a)
        {
            a.name = LAMBDA_VARIABLE.to_owned();
        }
        n
    })
}
