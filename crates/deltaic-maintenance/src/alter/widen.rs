//! Which types a column may change to without rewriting its files (protocol section "Type Widening").

use deltaic_protocol::schema::DataType;

/// As [`is_widening`], where both types are whole numbers, fractions, decimals or dates.
pub fn widens_within_family(from: &DataType, to: &DataType) -> bool {
    use DataType::{Byte, Decimal, Double, Integer, Long, Short};
    let crosses = matches!(
        (from, to),
        (Byte | Short | Integer | Long, Decimal { .. }) | (Byte | Short | Integer, Double)
    );
    is_widening(from, to) && !crosses
}

/// Whether values of `from` in files that are there can be read as `to`.
pub fn is_widening(from: &DataType, to: &DataType) -> bool {
    use DataType::{Byte, Date, Decimal, Double, Float, Integer, Long, Short, TimestampNtz};
    match (from, to) {
        (Byte, Short | Integer | Long | Double)
        | (Short, Integer | Long | Double)
        | (Integer, Long | Double)
        | (Float, Double)
        | (Date, TimestampNtz) => true,
        (Byte | Short | Integer, Decimal { precision, scale }) => {
            i32::from(*precision) - i32::from(*scale) >= 10
        }
        (Long, Decimal { precision, scale }) => i32::from(*precision) - i32::from(*scale) >= 20,
        (
            Decimal { precision, scale },
            Decimal {
                precision: wider,
                scale: finer,
            },
        ) => {
            let digits = |precision: u8, scale: u8| i32::from(precision) - i32::from(scale);
            finer >= scale
                && digits(*wider, *finer) >= digits(*precision, *scale)
                && (wider, finer) != (precision, scale)
        }
        _ => false,
    }
}
