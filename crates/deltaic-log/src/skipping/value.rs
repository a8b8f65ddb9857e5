//! Values that predicates compare with, and their order as Spark has it.

use std::cmp::Ordering;

use deltaic_protocol::partition::Scalar;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::statistics::from_json_bound;

/// A literal of a column's type. Values of unlike kinds do not compare, which counts as "unknown".
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL; comparing with it gives NULL.
    Null,
    /// BOOLEAN.
    Boolean(bool),
    /// TINYINT, SMALLINT, INT and BIGINT.
    Integer(i64),
    /// FLOAT (widened) and DOUBLE.
    Double(f64),
    /// DECIMAL: unscaled value and scale.
    Decimal(i128, u8),
    /// STRING, CHAR and VARCHAR; ordered by their UTF-8 bytes.
    String(String),
    /// BINARY.
    Binary(Vec<u8>),
    /// DATE, days since 1970-01-01.
    Date(i32),
    /// TIMESTAMP (UTC) and TIMESTAMP_NTZ, microseconds since 1970-01-01 00:00.
    Timestamp(i64),
}

impl Value {
    /// The order of two values; `None` where they do not compare. NaN equals NaN and is above all else, as in Spark.
    pub fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            (Self::Double(a), Self::Double(b)) => Some(match (a.is_nan(), b.is_nan()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => a.partial_cmp(b)?,
            }),
            (Self::Decimal(a, s), Self::Decimal(b, t)) => {
                let scale = (*s).max(*t);
                Some(rescaled(*a, *s, scale)?.cmp(&rescaled(*b, *t, scale)?))
            }
            (Self::String(a), Self::String(b)) => Some(a.cmp(b)),
            (Self::Binary(a), Self::Binary(b)) => Some(a.cmp(b)),
            (Self::Date(a), Self::Date(b)) => Some(a.cmp(b)),
            (Self::Timestamp(a), Self::Timestamp(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }

    pub(crate) fn is_float(&self) -> bool {
        matches!(self, Self::Double(_))
    }

    pub(crate) fn is_nan(&self) -> bool {
        matches!(self, Self::Double(d) if d.is_nan())
    }

    /// Reads a bound as statistics write it. `None` where it is absent or not of the type.
    pub(crate) fn from_statistics(json: &serde_json::Value, data_type: &DataType) -> Option<Self> {
        from_json_bound(json, data_type).map(Self::from)
    }
}

fn rescaled(unscaled: i128, from: u8, to: u8) -> Option<i128> {
    unscaled.checked_mul(10i128.checked_pow(u32::from(to - from))?)
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Boolean(b) => Self::Boolean(b),
            Scalar::Byte(i) => Self::Integer(i64::from(i)),
            Scalar::Short(i) => Self::Integer(i64::from(i)),
            Scalar::Integer(i) => Self::Integer(i64::from(i)),
            Scalar::Long(i) => Self::Integer(i),
            Scalar::Float(f) => Self::Double(f64::from(f)),
            Scalar::Double(d) => Self::Double(d),
            Scalar::Decimal {
                unscaled, scale, ..
            } => Self::Decimal(unscaled, scale),
            Scalar::String(s) => Self::String(s),
            Scalar::Binary(b) => Self::Binary(b),
            Scalar::Date(d) => Self::Date(d),
            Scalar::Timestamp(t) | Scalar::TimestampNtz(t) => Self::Timestamp(t),
        }
    }
}
