//! The precision and scale of DECIMAL results, as Spark computes them with loss of precision allowed.

use deltaic_protocol::schema::DataType;

/// Digits that a decimal can have at most.
pub const MAX_PRECISION: u8 = 38;
const MINIMUM_ADJUSTED_SCALE: i32 = 6;

/// The type of DECIMAL(p, s) where p may exceed the bound: scale is given up first, but not below 6.
pub fn adjusted(precision: i32, scale: i32) -> DataType {
    let max = i32::from(MAX_PRECISION);
    if precision <= max {
        return decimal(precision, scale);
    }
    if scale < 0 {
        return decimal(max, scale);
    }
    let whole = precision - scale;
    let least = scale.min(MINIMUM_ADJUSTED_SCALE);
    decimal(max, (max - whole).max(least))
}

/// The type of DECIMAL(p, s) with both cut to 38.
pub fn bounded(precision: i32, scale: i32) -> DataType {
    decimal(precision.min(38), scale.min(38))
}

fn decimal(precision: i32, scale: i32) -> DataType {
    DataType::Decimal {
        precision: precision.clamp(1, 38) as u8,
        scale: scale.clamp(0, 38) as u8,
    }
}

/// Precision and scale of the decimal that holds every value of a numeric type.
pub fn for_type(ty: &DataType) -> Option<(u8, u8)> {
    Some(match ty {
        DataType::Byte => (3, 0),
        DataType::Short => (5, 0),
        DataType::Integer => (10, 0),
        DataType::Long => (20, 0),
        DataType::Float => (14, 7),
        DataType::Double => (30, 15),
        DataType::Decimal { precision, scale } => (*precision, *scale),
        DataType::Void | DataType::String => return None,
        _ => return None,
    })
}

/// Precision and scale of the smallest decimal of a whole number.
pub fn for_integer(value: i64) -> (u8, u8) {
    (value.unsigned_abs().to_string().len() as u8, 0)
}

/// The result type of `+` and `-`.
pub fn sum((p1, s1): (u8, u8), (p2, s2): (u8, u8)) -> DataType {
    let [p1, s1, p2, s2] = [p1, s1, p2, s2].map(i32::from);
    let scale = s1.max(s2);
    adjusted((p1 - s1).max(p2 - s2) + scale + 1, scale)
}

/// The result type of `*`.
pub fn product((p1, s1): (u8, u8), (p2, s2): (u8, u8)) -> DataType {
    let [p1, s1, p2, s2] = [p1, s1, p2, s2].map(i32::from);
    adjusted(p1 + p2 + 1, s1 + s2)
}

/// The result type of `/`.
pub fn quotient((p1, s1): (u8, u8), (p2, s2): (u8, u8)) -> DataType {
    let [p1, s1, p2, s2] = [p1, s1, p2, s2].map(i32::from);
    let whole = p1 - s1 + s2;
    let scale = MINIMUM_ADJUSTED_SCALE.max(s1 + p2 + 1);
    adjusted(whole + scale, scale)
}

/// The result type of `%`.
pub fn remainder((p1, s1): (u8, u8), (p2, s2): (u8, u8)) -> DataType {
    let [p1, s1, p2, s2] = [p1, s1, p2, s2].map(i32::from);
    let scale = s1.max(s2);
    adjusted((p1 - s1).min(p2 - s2) + scale, scale)
}

/// The decimal that holds both.
pub fn wider((p1, s1): (u8, u8), (p2, s2): (u8, u8)) -> DataType {
    let [p1, s1, p2, s2] = [p1, s1, p2, s2].map(i32::from);
    let scale = s1.max(s2);
    bounded((p1 - s1).max(p2 - s2) + scale, scale)
}

/// Does `DECIMAL(p, s)` hold every value of a whole type?
pub fn holds_integral((p, s): (u8, u8), ty: &DataType) -> bool {
    for_type(ty).is_some_and(|(ip, _)| i32::from(p) - i32::from(s) >= i32::from(ip))
}
