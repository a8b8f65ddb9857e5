//! Data skipping: can any row of a file satisfy a predicate, judged by the file's statistics and partition values alone
//! (protocol section "Per-file Statistics")?
//!
//! Everything here is pure. The answer errs on one side only: a file whose statistics leave room for a match is kept.
//! A predicate evaluates to the set of truth values that its rows may have, so that negation is exact and a caller can also
//! ask whether *every* row matches.

mod facts;
mod partition;
mod predicate;
mod value;

#[cfg(test)]
mod tests;

pub use facts::{ColumnFacts, FileFacts, Nulls, StatisticsFacts};
pub use partition::partition_values;
pub use predicate::{Column, Comparison, Predicate};
pub use value::Value;

/// Which truth values rows of a file may have under a predicate. `true` means "cannot be ruled out".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Some row may satisfy the predicate.
    pub may_be_true: bool,
    /// Some row may contradict it.
    pub may_be_false: bool,
    /// For some row it may be NULL.
    pub may_be_null: bool,
}

impl Outcome {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self {
        may_be_true: true,
        may_be_false: true,
        may_be_null: true,
    };
    /// True for every row.
    pub const TRUE: Self = Self {
        may_be_true: true,
        may_be_false: false,
        may_be_null: false,
    };
    /// False for every row.
    pub const FALSE: Self = Self {
        may_be_true: false,
        may_be_false: true,
        may_be_null: false,
    };
    /// NULL for every row.
    pub const NULL: Self = Self {
        may_be_true: false,
        may_be_false: false,
        may_be_null: true,
    };

    /// Every row satisfies the predicate.
    pub fn is_always_true(self) -> bool {
        !self.may_be_false && !self.may_be_null
    }

    fn negated(self) -> Self {
        Self {
            may_be_true: self.may_be_false,
            may_be_false: self.may_be_true,
            may_be_null: self.may_be_null,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            may_be_true: self.may_be_true && other.may_be_true,
            may_be_false: self.may_be_false || other.may_be_false,
            may_be_null: (self.may_be_null && (other.may_be_true || other.may_be_null))
                || (other.may_be_null && (self.may_be_true || self.may_be_null)),
        }
    }

    fn or(self, other: Self) -> Self {
        self.negated().and(other.negated()).negated()
    }
}

impl Predicate {
    /// The truth values that rows of a file may have.
    pub fn evaluate(&self, file: &dyn FileFacts) -> Outcome {
        match self {
            Self::Unknown => Outcome::UNKNOWN,
            Self::Literal(Some(true)) => Outcome::TRUE,
            Self::Literal(Some(false)) => Outcome::FALSE,
            Self::Literal(None) => Outcome::NULL,
            Self::And(all) => all
                .iter()
                .fold(Outcome::TRUE, |acc, p| acc.and(p.evaluate(file))),
            Self::Or(any) => any
                .iter()
                .fold(Outcome::FALSE, |acc, p| acc.or(p.evaluate(file))),
            Self::Not(inner) => inner.evaluate(file).negated(),
            Self::IsNull(column) => match file.facts(column).nulls {
                Nulls::None => Outcome::FALSE,
                Nulls::All => Outcome::TRUE,
                Nulls::Possible => Outcome {
                    may_be_null: false,
                    ..Outcome::UNKNOWN
                },
            },
            Self::Compare(column, comparison, value) => {
                compare(&file.facts(column), *comparison, value)
            }
            Self::NullSafeEqual(column, value) => {
                let equal = compare(&file.facts(column), Comparison::Equal, value);
                Outcome {
                    may_be_false: equal.may_be_false || equal.may_be_null,
                    may_be_null: false,
                    ..equal
                }
            }
            Self::In(column, values) => {
                let facts = file.facts(column);
                values.iter().fold(Outcome::FALSE, |acc, v| {
                    acc.or(compare(&facts, Comparison::Equal, v))
                })
            }
            Self::StartsWith(column, prefix) => starts_with(&file.facts(column), prefix),
        }
    }

    /// Whether a file can hold a matching row; `false` is proof that it holds none.
    pub fn may_match(&self, file: &dyn FileFacts) -> bool {
        self.evaluate(file).may_be_true
    }
}

/// `column <comparison> value`, row by row.
fn compare(facts: &ColumnFacts, comparison: Comparison, value: &Value) -> Outcome {
    use std::cmp::Ordering::{Equal, Greater, Less};
    if facts.nulls == Nulls::All || matches!(value, Value::Null) {
        return Outcome::NULL;
    }
    // How the value lies to the bounds; `None` where there is no bound or the two cannot be compared.
    let low = facts.min.as_ref().and_then(|min| value.order(min));
    let high = facts.max.as_ref().and_then(|max| value.order(max));
    let above_all = high == Some(Greater);
    let below_all = low == Some(Less);
    let only_value = facts.exact && low == Some(Equal) && high == Some(Equal);
    // NaN sorts above everything and no writer's maximum can be trusted to know of it.
    let nan_possible = value.is_float() && !facts.exact;
    let value_is_nan = value.is_nan();
    let (may_be_true, may_be_false) = match comparison {
        Comparison::Equal => {
            let possible = if value_is_nan {
                true
            } else {
                !above_all && !below_all
            };
            (possible, !only_value)
        }
        Comparison::NotEqual => {
            let possible = if value_is_nan {
                true
            } else {
                !above_all && !below_all
            };
            (!only_value, possible)
        }
        Comparison::Less => {
            let none = matches!(low, Some(Less | Equal));
            let all = above_all && (!nan_possible || value_is_nan);
            (!none, !all || nan_possible)
        }
        Comparison::LessOrEqual => {
            let all = matches!(high, Some(Greater | Equal));
            (!below_all, !all || nan_possible)
        }
        Comparison::Greater => {
            let none = matches!(high, Some(Greater | Equal)) && !nan_possible;
            (!none, !below_all)
        }
        Comparison::GreaterOrEqual => {
            let all = matches!(low, Some(Less | Equal));
            (!above_all || nan_possible, !all)
        }
    };
    Outcome {
        may_be_true,
        may_be_false,
        may_be_null: facts.nulls != Nulls::None,
    }
}

fn starts_with(facts: &ColumnFacts, prefix: &str) -> Outcome {
    if facts.nulls == Nulls::All {
        return Outcome::NULL;
    }
    let below = matches!(&facts.max, Some(Value::String(max)) if max.as_str() < prefix);
    let above = matches!(&facts.min, Some(Value::String(min)) if min.as_str() > prefix && !min.starts_with(prefix));
    let both = facts.exact
        && matches!((&facts.min, &facts.max), (Some(Value::String(a)), Some(Value::String(b))) if a == b && a.starts_with(prefix));
    Outcome {
        may_be_true: !below && !above,
        may_be_false: !both,
        may_be_null: facts.nulls != Nulls::None,
    }
}
