//! The type that two values meet in, by the rules of ANSI mode.

use deltaic_protocol::schema::{DataType, StructType};

use super::decimal;
use super::{array_of, field, is_decimal, is_float, is_integral, map_of, precedence};

/// The tightest type that holds both without strings being promoted and decimals widened.
pub fn tightest(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType::*;
    if a == b {
        return Some(a.clone());
    }
    match (a, b) {
        (Void, other) | (other, Void) => return Some(other.clone()),
        (Decimal { precision, scale }, whole) | (whole, Decimal { precision, scale })
            if is_integral(whole) =>
        {
            return decimal::holds_integral((*precision, *scale), whole).then_some(Decimal {
                precision: *precision,
                scale: *scale,
            });
        }
        (Date, Timestamp)
        | (Timestamp, Date)
        | (Timestamp, TimestampNtz)
        | (TimestampNtz, Timestamp) => {
            return Some(Timestamp);
        }
        (Date, TimestampNtz) | (TimestampNtz, Date) => return Some(TimestampNtz),
        (YearMonthInterval { start: s1, end: e1 }, YearMonthInterval { start: s2, end: e2 }) => {
            return Some(YearMonthInterval {
                start: *s1.min(s2),
                end: *e1.max(e2),
            });
        }
        (DayTimeInterval { start: s1, end: e1 }, DayTimeInterval { start: s2, end: e2 }) => {
            return Some(DayTimeInterval {
                start: *s1.min(s2),
                end: *e1.max(e2),
            });
        }
        _ => {}
    }
    if let (Some(x), Some(y)) = (precedence(a), precedence(b)) {
        let wider = if x > y { a } else { b };
        return Some(if *wider == Float {
            Double
        } else {
            wider.clone()
        });
    }
    complex(a, b, &tightest)
}

/// The wider of two decimals, or of a decimal and another number.
fn with_decimal(a: &DataType, b: &DataType) -> Option<DataType> {
    if !is_decimal(a) && !is_decimal(b) {
        return None;
    }
    if is_float(a) || is_float(b) {
        return Some(DataType::Double);
    }
    Some(decimal::wider(decimal::for_type(a)?, decimal::for_type(b)?))
}

/// A string takes the type of the other side; whole numbers meet it as BIGINT, fractions as DOUBLE.
pub fn with_string(a: &DataType, b: &DataType) -> Option<DataType> {
    match (a, b) {
        (DataType::String, DataType::String) => Some(DataType::String),
        (DataType::String, other) | (other, DataType::String) => match other {
            _ if is_integral(other) => Some(DataType::Long),
            _ if is_decimal(other) || is_float(other) => Some(DataType::Double),
            DataType::Void => Some(DataType::String),
            DataType::Boolean
            | DataType::Binary
            | DataType::Date
            | DataType::Timestamp
            | DataType::TimestampNtz => Some(other.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// The type that both can be cast to implicitly, strings promoted.
pub fn wider(a: &DataType, b: &DataType) -> Option<DataType> {
    tightest(a, b)
        .or_else(|| with_decimal(a, b))
        .or_else(|| with_string(a, b))
        .or_else(|| complex(a, b, &wider))
}

/// The common type of any number of values; VOID of none.
pub fn common<'a>(types: impl IntoIterator<Item = &'a DataType>) -> Option<DataType> {
    types
        .into_iter()
        .try_fold(DataType::Void, |so_far, next| wider(&so_far, next))
}

fn complex(
    a: &DataType,
    b: &DataType,
    rule: &dyn Fn(&DataType, &DataType) -> Option<DataType>,
) -> Option<DataType> {
    match (a, b) {
        (DataType::Array(x), DataType::Array(y)) => {
            let element = rule(&x.element_type, &y.element_type)?;
            let forced =
                forces_null(&x.element_type, &element) || forces_null(&y.element_type, &element);
            Some(array_of(
                element,
                x.contains_null || y.contains_null || forced,
            ))
        }
        (DataType::Map(x), DataType::Map(y)) => {
            let key = rule(&x.key_type, &y.key_type)?;
            let value = rule(&x.value_type, &y.value_type)?;
            let forced = forces_null(&x.value_type, &value) || forces_null(&y.value_type, &value);
            Some(map_of(
                key,
                value,
                x.value_contains_null || y.value_contains_null || forced,
            ))
        }
        (DataType::Struct(x), DataType::Struct(y)) => {
            if x.fields.len() != y.fields.len() {
                return None;
            }
            let fields = x
                .fields
                .iter()
                .zip(&y.fields)
                .map(|(f, g)| {
                    if !f.name.eq_ignore_ascii_case(&g.name) {
                        return None;
                    }
                    let ty = rule(&f.data_type, &g.data_type)?;
                    let forced = forces_null(&f.data_type, &ty) || forces_null(&g.data_type, &ty);
                    Some(field(
                        f.name.clone(),
                        ty,
                        f.nullable || g.nullable || forced,
                    ))
                })
                .collect::<Option<Vec<_>>>()?;
            Some(DataType::Struct(StructType { fields }))
        }
        _ => None,
    }
}

/// Can a cast from `from` to `to` turn a value into NULL?
pub fn forces_null(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    match (from, to) {
        (Void, Void) => false,
        (Void, _) => true,
        (String, String | Binary) => false,
        _ => false,
    }
}
