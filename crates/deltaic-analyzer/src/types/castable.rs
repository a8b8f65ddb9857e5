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
            (Date | Timestamp, Boolean) => true,
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

/// May every value of `from` be brought into `to` without loss, as the STRICT policy asks?
pub fn up(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    const NUMBERS: [DataType; 6] = [Byte, Short, Integer, Long, Float, Double];
    let place = |of: &DataType| NUMBERS.iter().position(|number| number == of);
    let nullable = |from: bool, to: bool| !from || to;
    match (from, to) {
        _ if from == to => true,
        (Variant, _) => false,
        (
            _,
            Decimal {
                precision: p,
                scale: s,
            },
        ) if is_numeric(from) => {
            let (q, t) = as_decimal(from);
            p - s >= q - t && s >= &t
        }
        (
            Decimal {
                precision,
                scale: 0,
            },
            _,
        ) if is_integral(to) => *precision < as_decimal(to).0,
        _ if is_numeric(from) && is_numeric(to) => {
            matches!((place(from), place(to)), (Some(f), Some(t)) if f < t)
        }
        (Date, Timestamp | TimestampNtz)
        | (TimestampNtz, Timestamp)
        | (Timestamp, TimestampNtz)
        | (Timestamp, Long)
        | (Long, Timestamp)
        | (Void, _) => true,
        (_, String) => is_atomic(from) || *from == CalendarInterval,
        (Array(x), Array(y)) => {
            nullable(x.contains_null, y.contains_null) && up(&x.element_type, &y.element_type)
        }
        (Map(x), Map(y)) => {
            nullable(x.value_contains_null, y.value_contains_null)
                && up(&x.key_type, &y.key_type)
                && up(&x.value_type, &y.value_type)
        }
        (Struct(x), Struct(y)) => {
            x.fields.len() == y.fields.len()
                && x.fields.iter().zip(&y.fields).all(|(f, g)| {
                    nullable(f.nullable, g.nullable) && up(&f.data_type, &g.data_type)
                })
        }
        (YearMonthInterval { .. }, YearMonthInterval { .. })
        | (DayTimeInterval { .. }, DayTimeInterval { .. }) => true,
        _ => false,
    }
}

/// Precision and scale of the decimal that a number is compared with.
fn as_decimal(number: &DataType) -> (u8, u8) {
    match number {
        DataType::Decimal { precision, scale } => (*precision, *scale),
        DataType::Byte => (3, 0),
        DataType::Short => (5, 0),
        DataType::Integer => (10, 0),
        DataType::Long => (20, 0),
        DataType::Float => (14, 7),
        _ => (30, 15),
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
