//! The predicates that skipping understands. What a query says beyond them becomes [`Predicate::Unknown`].

use deltaic_protocol::schema::DataType;

use super::Value;

/// A column as statistics and partition values name it.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Physical names from the top-level column down to the leaf.
    pub path: Vec<String>,
    /// The type of the leaf.
    pub data_type: DataType,
}

impl Column {
    /// A top-level column.
    pub fn new(physical_name: impl Into<String>, data_type: DataType) -> Self {
        Self {
            path: vec![physical_name.into()],
            data_type,
        }
    }
}

/// How a column is compared with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// A predicate over columns, in SQL's three-valued logic.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// Anything may be the case.
    Unknown,
    /// TRUE, FALSE or NULL.
    Literal(Option<bool>),
    /// All of them; true if empty.
    And(Vec<Predicate>),
    /// Any of them; false if empty.
    Or(Vec<Predicate>),
    /// NOT.
    Not(Box<Predicate>),
    /// `column IS NULL`; the negation is IS NOT NULL.
    IsNull(Column),
    /// `column <comparison> value`.
    Compare(Column, Comparison, Value),
    /// `column <=> value`, the value not being NULL (for NULL, use [`Predicate::IsNull`]).
    NullSafeEqual(Column, Value),
    /// `column IN (values)`.
    In(Column, Vec<Value>),
    /// `column LIKE 'prefix%'`.
    StartsWith(Column, String),
}
