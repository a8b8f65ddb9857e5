//! Literals with Spark's types: numbers by their size and suffix, typed strings, intervals, binary.

use datafusion::common::ScalarValue;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};
use deltaic_sql::interval::IntervalValue;
use sqlparser::ast::{DataType as SqlType, Interval, TypedString, Value};

use crate::binder::Binder;
use crate::error::{internal, quoted, unsupported};
use crate::kernels::{decimal, numbers};
use crate::node::Node;
use crate::time;
use crate::types;

impl Binder<'_> {
    /// A literal.
    pub fn literal(&self, value: &Value) -> Result<Node> {
        Ok(match value {
            Value::Number(text, long) => self.number(text, *long)?,
            Value::SingleQuotedString(s)
            | Value::DoubleQuotedString(s)
            | Value::EscapedStringLiteral(s)
            | Value::SingleQuotedRawStringLiteral(s)
            | Value::DoubleQuotedRawStringLiteral(s)
            | Value::NationalStringLiteral(s)
            | Value::UnicodeStringLiteral(s)
            | Value::TripleSingleQuotedString(s)
            | Value::TripleDoubleQuotedString(s) => Node::string(s.clone()),
            Value::HexStringLiteral(text) => match numbers::unhexed(text) {
                Some(bytes) => Node::literal(ScalarValue::Binary(Some(bytes)), DataType::Binary),
                None => {
                    return Err(DeltaError::new("INVALID_TYPED_LITERAL")
                        .param("valueType", "\"X\"")
                        .param("value", format!("'{text}'")));
                }
            },
            Value::Boolean(b) => Node::boolean(*b),
            Value::Null => Node::null(),
            Value::Placeholder(text) => return Err(unbound(text)),
            other => return Err(unsupported(format!("the literal {other}"))),
        })
    }

    fn number(&self, text: &str, long: bool) -> Result<Node> {
        if long {
            return match text.parse::<i64>() {
                Ok(v) => Ok(Node::long(v)),
                Err(_) => Err(out_of_range(text, "bigint")),
            };
        }
        let (digits, suffix) = deltaic_sql::literal::split_suffix(text);
        let node = match suffix {
            "L" => digits.parse().ok().map(Node::long),
            "S" => digits
                .parse()
                .ok()
                .map(|v| Node::literal(ScalarValue::Int16(Some(v)), DataType::Short)),
            "Y" => digits
                .parse()
                .ok()
                .map(|v| Node::literal(ScalarValue::Int8(Some(v)), DataType::Byte)),
            "F" => digits
                .parse()
                .ok()
                .map(|v| Node::literal(ScalarValue::Float32(Some(v)), DataType::Float)),
            "D" => digits
                .parse()
                .ok()
                .map(|v| Node::literal(ScalarValue::Float64(Some(v)), DataType::Double)),
            "BD" => return decimal_literal(digits),
            _ if digits.contains(['e', 'E']) => digits
                .parse()
                .ok()
                .map(|v| Node::literal(ScalarValue::Float64(Some(v)), DataType::Double)),
            _ if digits.contains('.') => return decimal_literal(digits),
            _ => match (digits.parse::<i32>(), digits.parse::<i64>()) {
                (Ok(v), _) => Some(Node::int(v)),
                (_, Ok(v)) => Some(Node::long(v)),
                _ => return decimal_literal(digits),
            },
        };
        node.ok_or_else(|| out_of_range(text, "number"))
    }

    /// `DATE '…'`, `TIMESTAMP '…'`, `TIMESTAMP_NTZ '…'`.
    pub fn typed_string(&self, typed: &TypedString) -> Result<Node> {
        let text = match &typed.value.value {
            Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) => s.as_str(),
            other => return Err(internal(format!("the typed literal {other}"))),
        };
        let o = self.options;
        let today = time::day_of(o.now_us, o.zone);
        let utc = || Some(deltaic_log::arrow_schema::UTC.into());
        let (name, value) = match &typed.data_type {
            SqlType::Date => (
                "DATE",
                time::parse::date(text).map(|d| (ScalarValue::Date32(Some(d)), DataType::Date)),
            ),
            SqlType::TimestampNtz(_) => (
                "TIMESTAMP_NTZ",
                time::parse::timestamp_ntz(text, false).map(|t| {
                    (
                        ScalarValue::TimestampMicrosecond(Some(t), None),
                        DataType::TimestampNtz,
                    )
                }),
            ),
            SqlType::Timestamp(..) => (
                "TIMESTAMP",
                time::parse::timestamp(text, o.zone, today).map(|t| {
                    (
                        ScalarValue::TimestampMicrosecond(Some(t), utc()),
                        DataType::Timestamp,
                    )
                }),
            ),
            other => return Err(unsupported(format!("a literal of the type {other}"))),
        };
        match value {
            Some((v, ty)) => Ok(Node::literal(v, ty)),
            None => Err(DeltaError::new("INVALID_TYPED_LITERAL")
                .param("valueType", quoted(name))
                .param("value", format!("'{text}'"))),
        }
    }

    /// `INTERVAL …`.
    pub fn interval(&self, interval: &Interval) -> Result<Node> {
        let value = deltaic_sql::interval::value(interval)?;
        let ty = value.data_type();
        let scalar = match value {
            IntervalValue::YearMonth { months, .. } => ScalarValue::IntervalYearMonth(Some(months)),
            IntervalValue::DayTime { micros, .. } => ScalarValue::DurationMicrosecond(Some(micros)),
        };
        Ok(Node::literal(scalar, ty))
    }
}

fn out_of_range(text: &str, name: &str) -> DeltaError {
    DeltaError::new("INVALID_NUMERIC_LITERAL_RANGE")
        .param("rawStrippedQualifier", text)
        .param("minValue", i64::MIN)
        .param("maxValue", i64::MAX)
        .param("typeName", name)
}

/// `1.50` is DECIMAL(3, 2).
fn decimal_literal(digits: &str) -> Result<Node> {
    let too_many = || {
        DeltaError::new("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION")
            .param(
                "precision",
                digits.bytes().filter(u8::is_ascii_digit).count(),
            )
            .param("maxPrecision", types::decimal::MAX_PRECISION)
    };
    let (value, scale) = decimal::parse(digits).ok_or_else(too_many)?;
    let value = value.to_i128().ok_or_else(too_many)?;
    let significant = value.unsigned_abs().to_string().len() as i32;
    let scale = u8::try_from(scale)
        .ok()
        .filter(|s| *s <= types::decimal::MAX_PRECISION)
        .ok_or_else(too_many)?;
    let precision = significant.max(i32::from(scale));
    if precision > i32::from(types::decimal::MAX_PRECISION) {
        return Err(too_many());
    }
    let precision = precision as u8;
    Ok(Node::literal(
        ScalarValue::Decimal128(Some(value), precision, scale as i8),
        DataType::Decimal { precision, scale },
    ))
}

/// A parameter that no value was given for.
pub fn unbound(text: &str) -> DeltaError {
    let name = text
        .strip_prefix(':')
        .unwrap_or(if text == "?" { "_0" } else { text });
    DeltaError::new("UNBOUND_SQL_PARAMETER").param("name", name)
}
