//! Values of Arrow as literals of the kernel's predicates.

use delta_kernel::arrow::array::{Array, AsArray};
use delta_kernel::arrow::datatypes::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use delta_kernel::expressions::Scalar;
use delta_kernel::schema::{DataType, PrimitiveType};

/// The literal of a value that is not NULL; none where the type has no order, or the value none (NaN).
pub fn literal(kind: &DataType, array: &dyn Array, row: usize) -> Option<Scalar> {
    let DataType::Primitive(kind) = kind else {
        return None;
    };
    macro_rules! of {
        ($arrow:ty) => {
            array.as_primitive_opt::<$arrow>()?.value(row)
        };
    }
    Some(match kind {
        PrimitiveType::Boolean => Scalar::Boolean(array.as_boolean_opt()?.value(row)),
        PrimitiveType::Byte => Scalar::Byte(of!(Int8Type)),
        PrimitiveType::Short => Scalar::Short(of!(Int16Type)),
        PrimitiveType::Integer => Scalar::Integer(of!(Int32Type)),
        PrimitiveType::Long => Scalar::Long(of!(Int64Type)),
        PrimitiveType::Float => Scalar::Float(Some(of!(Float32Type)).filter(|v| !v.is_nan())?),
        PrimitiveType::Double => Scalar::Double(Some(of!(Float64Type)).filter(|v| !v.is_nan())?),
        PrimitiveType::Decimal(of) => {
            Scalar::decimal(of!(Decimal128Type), of.precision(), of.scale()).ok()?
        }
        PrimitiveType::String => {
            Scalar::String(array.as_string_opt::<i32>()?.value(row).to_owned())
        }
        PrimitiveType::Date => Scalar::Date(of!(Date32Type)),
        PrimitiveType::Timestamp => Scalar::Timestamp(of!(TimestampMicrosecondType)),
        PrimitiveType::TimestampNtz => Scalar::TimestampNtz(of!(TimestampMicrosecondType)),
        _ => return None,
    })
}
