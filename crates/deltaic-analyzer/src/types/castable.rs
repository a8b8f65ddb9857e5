//! Which casts exist: explicit ones in ANSI mode, those an assignment to a column makes, those a call makes silently.

use deltaic_protocol::schema::DataType;

use super::{
    is_ansi_interval, is_atomic, is_datetime, is_float, is_integral, is_numeric, is_timestamp,
};

/// Does `CAST(from AS to)` exist in ANSI mode?
pub fn ansi(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    match (from, to) {
        _ if from == to => true,
        (Void, _) => true,
        (Variant, _) => !matches!(to, YearMonthInterval { .. } | DayTimeInterval { .. }),
        (_, Variant) => becomes_variant(from),
        (_, String) => true,
        (String, _) => !matches!(to, Array(_) | Map(_) | Struct(_) | Void),
        (Boolean, _) => is_numeric(to),
        (_, Boolean) => is_numeric(from),
        _ if is_numeric(from) && is_numeric(to) => true,
        _ if is_numeric(from) && *to == Timestamp => true,
        (Timestamp, _) if is_numeric(to) => true,
        _ if is_datetime(from) && is_datetime(to) => true,
        (YearMonthInterval { .. }, YearMonthInterval { .. })
        | (DayTimeInterval { .. }, DayTimeInterval { .. }) => true,
        (YearMonthInterval { start, end } | DayTimeInterval { start, end }, _) => {
            start == end && is_numeric(to) && !is_float(to)
        }
        (_, YearMonthInterval { start, end } | DayTimeInterval { start, end }) => {
            start == end && is_numeric(from) && !is_float(from)
        }
        (Array(x), Array(y)) => ansi(&x.element_type, &y.element_type),
        (Map(x), Map(y)) => ansi(&x.key_type, &y.key_type) && ansi(&x.value_type, &y.value_type),
        (Struct(x), Struct(y)) => {
            x.fields.len() == y.fields.len()
                && x.fields
                    .iter()
                    .zip(&y.fields)
                    .all(|(f, g)| ansi(&f.data_type, &g.data_type))
        }
        _ => false,
    }
}

/// Does the cast exist with ANSI mode off? Such a cast is refused with a hint at the setting.
pub fn legacy(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    ansi(from, to)
        || match (from, to) {
            (_, Boolean) => is_datetime(from),
            (Boolean, Timestamp) => true,
            (Date, _) => is_numeric(to),
            (_, Binary) => is_integral(from),
            (Array(x), Array(y)) => legacy(&x.element_type, &y.element_type),
            (Map(x), Map(y)) => {
                legacy(&x.key_type, &y.key_type) && legacy(&x.value_type, &y.value_type)
            }
            (Struct(x), Struct(y)) => {
                x.fields.len() == y.fields.len()
                    && x.fields
                        .iter()
                        .zip(&y.fields)
                        .all(|(f, g)| legacy(&f.data_type, &g.data_type))
            }
            _ => false,
        }
}

/// May a value of `from` be stored in a column of `to` under the ANSI policy?
pub fn store_assign(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    match (from, to) {
        _ if from == to => true,
        (Void, _) => true,
        _ if is_numeric(from) && is_numeric(to) => true,
        (_, String) => is_atomic(from),
        _ if is_datetime(from) && is_datetime(to) => true,
        (YearMonthInterval { .. }, YearMonthInterval { .. })
        | (DayTimeInterval { .. }, DayTimeInterval { .. }) => true,
        _ if is_ansi_interval(from) && is_integral(to) => ansi(from, to),
        _ if is_ansi_interval(to) && is_integral(from) => ansi(from, to),
        (Array(x), Array(y)) => {
            (y.contains_null || !x.contains_null) && store_assign(&x.element_type, &y.element_type)
        }
        (Map(x), Map(y)) => {
            (y.value_contains_null || !x.value_contains_null)
                && store_assign(&x.key_type, &y.key_type)
                && store_assign(&x.value_type, &y.value_type)
        }
        (Struct(x), Struct(y)) => {
            x.fields.len() == y.fields.len()
                && x.fields.iter().zip(&y.fields).all(|(f, g)| {
                    (g.nullable || !f.nullable) && store_assign(&f.data_type, &g.data_type)
                })
        }
        _ => false,
    }
}

/// May a call pass `from` where it declares `to`?
pub fn implicit(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        _ if from == to => true,
        _ if super::is_fractional(from) && is_integral(to) => false,
        (DataType::String, _) => is_atomic(to) && !is_ansi_interval(to),
        (DataType::Array(x), DataType::Array(y)) => implicit(&x.element_type, &y.element_type),
        _ => store_assign(from, to),
    }
}

/// Can the cast fail or lose a value at run time (as opposed to being refused)?
pub fn can_fail(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    match (from, to) {
        _ if from == to => false,
        (Void, _) | (_, String) => false,
        (String, Binary) => false,
        (String, _) => true,
        (Boolean, _) => matches!(to, Decimal { .. }),
        (_, Boolean) => false,
        (Date, _) | (TimestampNtz, _) => false,
        (Timestamp, _) if is_datetime(to) => false,
        (
            Decimal {
                precision: p1,
                scale: s1,
            },
            Decimal {
                precision: p2,
                scale: s2,
            },
        ) => i32::from(*p2) - i32::from(*s2) < i32::from(*p1) - i32::from(*s1) || s2 < s1,
        (_, Decimal { precision, scale }) if is_integral(from) => {
            !super::decimal::holds_integral((*precision, *scale), from)
        }
        (Decimal { .. }, _) if is_float(to) => false,
        _ if is_numeric(from) && is_float(to) => false,
        _ if is_integral(from) && is_integral(to) => {
            super::precedence(from) > super::precedence(to)
        }
        _ if is_timestamp(from) && is_float(to) => false,
        (Array(x), Array(y)) => can_fail(&x.element_type, &y.element_type),
        (Map(x), Map(y)) => {
            can_fail(&x.key_type, &y.key_type) || can_fail(&x.value_type, &y.value_type)
        }
        (Struct(x), Struct(y)) => x
            .fields
            .iter()
            .zip(&y.fields)
            .any(|(f, g)| can_fail(&f.data_type, &g.data_type)),
        _ => true,
    }
}
/// Whether a cast makes variants of a type: objects come from `to_variant_object` alone.
fn becomes_variant(from: &DataType) -> bool {
    match from {
        DataType::Array(array) => becomes_variant(&array.element_type),
        DataType::Struct(_)
        | DataType::Map(_)
        | DataType::CalendarInterval
        | DataType::YearMonthInterval { .. }
        | DataType::DayTimeInterval { .. } => false,
        _ => true,
    }
}
