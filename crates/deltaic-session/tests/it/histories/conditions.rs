//! Conditions on rows: chosen by numbers, written as SQL, and decided over rows of the model in three-valued logic.

use std::cmp::Ordering;

use deltaic_session::Value;
use proptest::prelude::*;

use super::kinds::{Kind, compare};
use super::state::{Column, State};

/// Numbers that become a condition once the columns are known.
#[derive(Debug, Clone)]
pub enum Choice {
    Leaf(u16, u16, u16, u16),
    Not(Box<Choice>),
    And(Box<Choice>, Box<Choice>),
    Or(Box<Choice>, Box<Choice>),
}

/// Any condition.
pub fn choice() -> impl Strategy<Value = Choice> {
    let leaf = any::<(u16, u16, u16, u16)>().prop_map(|(a, b, c, d)| Choice::Leaf(a, b, c, d));
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Choice::Not(Box::new(inner))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Choice::And(Box::new(a), Box::new(b))),
            (inner.clone(), inner).prop_map(|(a, b)| Choice::Or(Box::new(a), Box::new(b))),
        ]
    })
}

const OPERATORS: [&str; 7] = ["=", "<", "<=", ">", ">=", "<>", "<=>"];

/// A condition over columns, which are named by their ids.
#[derive(Debug, Clone)]
pub enum Condition {
    Constant(Option<bool>),
    Compare(u32, usize, Value),
    /// A field of a record.
    Field(u32, usize, Value),
    Columns(u32, usize, u32),
    Null(u32, bool),
    In(u32, Vec<Value>, bool),
    Between(u32, Value, Value),
    Prefix(u32, String),
    Remainder(u32, i64, i64),
    Size(u32, i64),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

impl Choice {
    /// The condition over these columns.
    pub fn over(&self, columns: &[&Column]) -> Condition {
        match self {
            Choice::Leaf(a, b, c, d) => leaf(columns, *a, *b, *c, *d),
            Choice::Not(inner) => Condition::Not(Box::new(inner.over(columns))),
            Choice::And(a, b) => {
                Condition::And(Box::new(a.over(columns)), Box::new(b.over(columns)))
            }
            Choice::Or(a, b) => Condition::Or(Box::new(a.over(columns)), Box::new(b.over(columns))),
        }
    }
}

fn leaf(columns: &[&Column], a: u16, b: u16, c: u16, d: u16) -> Condition {
    if columns.is_empty() || a % 29 == 28 {
        return Condition::Constant([Some(true), Some(false), None][usize::from(b % 3)]);
    }
    let column = columns[usize::from(a) % columns.len()];
    let id = column.id;
    let operator = usize::from(c) % OPERATORS.len();
    if b.is_multiple_of(9) {
        return Condition::Null(id, c.is_multiple_of(2));
    }
    match column.kind {
        Kind::Record => Condition::Field(id, operator, Kind::Int.value(d)),
        Kind::List | Kind::Dict => Condition::Size(id, i64::from(d % 3)),
        kind => ordered(columns, column, kind, b, c, d),
    }
}

fn ordered(columns: &[&Column], column: &Column, kind: Kind, b: u16, c: u16, d: u16) -> Condition {
    let id = column.id;
    let operator = usize::from(c) % OPERATORS.len();
    let twin = columns
        .iter()
        .find(|other| other.id != id && other.kind == kind);
    match b % 9 {
        1 => Condition::In(
            id,
            vec![kind.some(d), kind.some(d / 7), kind.value(c)],
            c.is_multiple_of(3),
        ),
        2 => Condition::Between(id, kind.some(c), kind.some(d)),
        3 if kind == Kind::Text => Condition::Prefix(
            id,
            ["a", "ab", "zzz", "A b/", ""][usize::from(d % 5)].to_owned(),
        ),
        3 if matches!(kind, Kind::Small | Kind::Int | Kind::Long) => {
            Condition::Remainder(id, i64::from(d % 3) + 2, i64::from(c % 2))
        }
        4 if twin.is_some() => Condition::Columns(id, operator, twin.unwrap().id),
        _ => Condition::Compare(id, operator, kind.value(d)),
    }
}

impl Condition {
    /// The condition in SQL.
    pub fn sql(&self, state: &State) -> String {
        let quoted = |id: &u32| state.column(*id).quoted();
        let literal = |id: &u32, value: &Value| state.column(*id).kind.literal(value);
        match self {
            Condition::Constant(None) => "CAST(NULL AS BOOLEAN)".to_owned(),
            Condition::Constant(Some(value)) => value.to_string(),
            Condition::Compare(id, operator, value) => {
                format!(
                    "{} {} {}",
                    quoted(id),
                    OPERATORS[*operator],
                    literal(id, value)
                )
            }
            Condition::Field(id, operator, value) => {
                format!(
                    "{}.a {} {}",
                    quoted(id),
                    OPERATORS[*operator],
                    Kind::Int.literal(value)
                )
            }
            Condition::Columns(a, operator, b) => {
                format!("{} {} {}", quoted(a), OPERATORS[*operator], quoted(b))
            }
            Condition::Null(id, null) => {
                format!("{} IS {}NULL", quoted(id), if *null { "" } else { "NOT " })
            }
            Condition::In(id, values, not) => {
                let values: Vec<String> = values.iter().map(|value| literal(id, value)).collect();
                format!(
                    "{} {}IN ({})",
                    quoted(id),
                    if *not { "NOT " } else { "" },
                    values.join(", ")
                )
            }
            Condition::Between(id, low, high) => {
                format!(
                    "{} BETWEEN {} AND {}",
                    quoted(id),
                    literal(id, low),
                    literal(id, high)
                )
            }
            Condition::Prefix(id, text) => format!("{} LIKE '{text}%'", quoted(id)),
            Condition::Remainder(id, by, rest) => format!("{} % {by} = {rest}", quoted(id)),
            Condition::Size(id, size) => format!("size({}) = {size}", quoted(id)),
            Condition::Not(inner) => format!("NOT ({})", inner.sql(state)),
            Condition::And(a, b) => format!("({}) AND ({})", a.sql(state), b.sql(state)),
            Condition::Or(a, b) => format!("({}) OR ({})", a.sql(state), b.sql(state)),
        }
    }

    /// Whether it holds for a row.
    pub fn holds(&self, state: &State, row: &[Value]) -> Option<bool> {
        let value = |id: &u32| &row[state.place(*id)];
        match self {
            Condition::Constant(value) => *value,
            Condition::Compare(id, operator, literal) => decide(*operator, value(id), literal),
            Condition::Field(id, operator, literal) => match value(id) {
                Value::Struct(fields) => decide(*operator, &fields[0].1, literal),
                _ => decide(*operator, &Value::Null, literal),
            },
            Condition::Columns(a, operator, b) => decide(*operator, value(a), value(b)),
            Condition::Null(id, null) => Some((*value(id) == Value::Null) == *null),
            Condition::In(id, values, not) => {
                let any = values
                    .iter()
                    .map(|literal| decide(0, value(id), literal))
                    .reduce(or)
                    .unwrap();
                if *not { any.map(|any| !any) } else { any }
            }
            Condition::Between(id, low, high) => {
                and(decide(4, value(id), low), decide(2, value(id), high))
            }
            Condition::Prefix(id, text) => match value(id) {
                Value::String(own) => Some(own.starts_with(text)),
                _ => None,
            },
            Condition::Remainder(id, by, rest) => match value(id) {
                Value::Long(number) => Some(number % by == *rest),
                Value::Double(number) => Some(number % *by as f64 == *rest as f64),
                _ => None,
            },
            Condition::Size(id, size) => match value(id) {
                Value::Array(items) => Some(items.len() as i64 == *size),
                Value::Map(pairs) => Some(pairs.len() as i64 == *size),
                _ => None,
            },
            Condition::Not(inner) => inner.holds(state, row).map(|held| !held),
            Condition::And(a, b) => and(a.holds(state, row), b.holds(state, row)),
            Condition::Or(a, b) => or(a.holds(state, row), b.holds(state, row)),
        }
    }

    /// Ids of the columns that it reads.
    pub fn reads(&self) -> Vec<u32> {
        match self {
            Condition::Constant(_) => Vec::new(),
            Condition::Columns(a, _, b) => vec![*a, *b],
            Condition::Compare(id, ..)
            | Condition::Field(id, ..)
            | Condition::Null(id, _)
            | Condition::In(id, ..)
            | Condition::Between(id, ..)
            | Condition::Prefix(id, _)
            | Condition::Remainder(id, ..)
            | Condition::Size(id, _) => vec![*id],
            Condition::Not(inner) => inner.reads(),
            Condition::And(a, b) | Condition::Or(a, b) => [a.reads(), b.reads()].concat(),
        }
    }
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    and(a.map(|a| !a), b.map(|b| !b)).map(|neither| !neither)
}

fn decide(operator: usize, a: &Value, b: &Value) -> Option<bool> {
    if operator == 6 {
        return Some(match compare(a, b) {
            Some(order) => order == Ordering::Equal,
            None => *a == Value::Null && *b == Value::Null,
        });
    }
    let order = compare(a, b)?;
    Some(match operator {
        0 => order == Ordering::Equal,
        1 => order == Ordering::Less,
        2 => order != Ordering::Greater,
        3 => order == Ordering::Greater,
        4 => order != Ordering::Less,
        _ => order != Ordering::Equal,
    })
}
