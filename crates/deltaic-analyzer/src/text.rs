//! Values as text, the way Spark's cast to STRING, its literals and its `show` print them.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalMonthDayNanoType, IntervalYearMonthType,
    TimestampMicrosecondType,
};
use chrono_tz::Tz;
use deltaic_protocol::schema::DataType;

use crate::time::{self, interval};

/// Appends the text of one value; NULL is `null`.
pub fn write_value(array: &ArrayRef, row: usize, ty: &DataType, zone: Tz, out: &mut String) {
    if array.is_null(row) {
        out.push_str("null");
        return;
    }
    match ty {
        DataType::Void => out.push_str("null"),
        DataType::Boolean => out.push_str(if array.as_boolean().value(row) {
            "true"
        } else {
            "false"
        }),
        DataType::Byte => out.push_str(&array.as_primitive::<Int8Type>().value(row).to_string()),
        DataType::Short => out.push_str(&array.as_primitive::<Int16Type>().value(row).to_string()),
        DataType::Integer => {
            out.push_str(&array.as_primitive::<Int32Type>().value(row).to_string())
        }
        DataType::Long => out.push_str(&array.as_primitive::<Int64Type>().value(row).to_string()),
        DataType::Float => out.push_str(&float(array.as_primitive::<Float32Type>().value(row))),
        DataType::Double => out.push_str(&double(array.as_primitive::<Float64Type>().value(row))),
        DataType::Decimal { scale, .. } => {
            out.push_str(&decimal(
                array.as_primitive::<Decimal128Type>().value(row),
                *scale,
            ));
        }
        DataType::String => match array.data_type() {
            arrow::datatypes::DataType::Utf8View => out.push_str(array.as_string_view().value(row)),
            arrow::datatypes::DataType::LargeUtf8 => {
                out.push_str(array.as_string::<i64>().value(row))
            }
            _ => out.push_str(array.as_string::<i32>().value(row)),
        },
        DataType::Binary => out.push_str(&String::from_utf8_lossy(
            array.as_binary::<i32>().value(row),
        )),
        DataType::Date => out.push_str(&time::format_date(
            array.as_primitive::<Date32Type>().value(row),
        )),
        DataType::Timestamp => {
            out.push_str(&time::format_timestamp(
                array.as_primitive::<TimestampMicrosecondType>().value(row),
                zone,
            ));
        }
        DataType::TimestampNtz => {
            out.push_str(&time::format_wall(
                array.as_primitive::<TimestampMicrosecondType>().value(row),
            ));
        }
        DataType::YearMonthInterval { start, end } => {
            let months = array.as_primitive::<IntervalYearMonthType>().value(row);
            out.push_str(&interval::year_month_text(i64::from(months), *start, *end));
        }
        DataType::DayTimeInterval { start, end } => {
            let micros = array.as_primitive::<DurationMicrosecondType>().value(row);
            out.push_str(&interval::day_time_text(micros, *start, *end));
        }
        DataType::CalendarInterval => {
            let v = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
            out.push_str(&format!(
                "{} months {} days {} microseconds",
                v.months,
                v.days,
                v.nanoseconds / 1000
            ));
        }
        DataType::Variant => out.push_str("<variant>"),
        DataType::Array(a) => {
            let items = array.as_list::<i32>().value(row);
            out.push('[');
            for n in 0..items.len() {
                if n > 0 {
                    out.push_str(", ");
                }
                write_value(&items, n, &a.element_type, zone, out);
            }
            out.push(']');
        }
        DataType::Map(m) => {
            let entries = array.as_map().value(row);
            let (keys, values) = (entries.column(0), entries.column(1));
            out.push('{');
            for n in 0..entries.len() {
                if n > 0 {
                    out.push_str(", ");
                }
                write_value(keys, n, &m.key_type, zone, out);
                out.push_str(" -> ");
                write_value(values, n, &m.value_type, zone, out);
            }
            out.push('}');
        }
        DataType::Struct(s) => {
            let fields = array.as_struct();
            out.push('{');
            for (n, f) in s.fields.iter().enumerate() {
                if n > 0 {
                    out.push_str(", ");
                }
                write_value(fields.column(n), row, &f.data_type, zone, out);
            }
            out.push('}');
        }
    }
}

/// The text of one value.
pub fn value_text(array: &ArrayRef, row: usize, ty: &DataType, zone: Tz) -> String {
    let mut out = String::new();
    write_value(array, row, ty, zone, &mut out);
    out
}

/// An unscaled decimal as digits with a point.
pub fn decimal(unscaled: i128, scale: u8) -> String {
    let scale = usize::from(scale);
    let digits = unscaled.unsigned_abs().to_string();
    let sign = if unscaled < 0 { "-" } else { "" };
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

/// A DOUBLE as Java prints it: `1.0`, `1.0E10`, `NaN`, `Infinity`.
pub fn double(v: f64) -> String {
    if v.is_nan() || v.is_infinite() || v == 0.0 {
        return special(v);
    }
    java_form(&format!("{v:e}"))
}

/// A FLOAT as Java prints it.
pub fn float(v: f32) -> String {
    if v.is_nan() || v.is_infinite() || v == 0.0 {
        return special(f64::from(v));
    }
    java_form(&format!("{v:e}"))
}

fn special(v: f64) -> String {
    if v.is_nan() {
        "NaN".to_owned()
    } else if v == 0.0 {
        if v.is_sign_negative() { "-0.0" } else { "0.0" }.to_owned()
    } else if v > 0.0 {
        "Infinity".to_owned()
    } else {
        "-Infinity".to_owned()
    }
}

/// From `d.ddde±x`: plain between 10^-3 and 10^7, else with an exponent.
fn java_form(scientific: &str) -> String {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let (sign, mantissa) = mantissa
        .strip_prefix('-')
        .map_or(("", mantissa), |m| ("-", m));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{first}{rest}");
    if !(-3..7).contains(&exponent) {
        let fraction = if rest.is_empty() { "0" } else { rest };
        return format!("{sign}{first}.{fraction}E{exponent}");
    }
    if exponent < 0 {
        let zeros = "0".repeat((-exponent - 1) as usize);
        return format!("{sign}0.{zeros}{digits}");
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits:0<whole$}.0");
    }
    format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_in_java() {
        for (v, want) in [
            (1.0, "1.0"),
            (1.5, "1.5"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (1e7, "1.0E7"),
            (9_999_999.0, "9999999.0"),
            (123_456_789.0, "1.23456789E8"),
            (-2.5e-10, "-2.5E-10"),
            (1e300, "1.0E300"),
            (1.7976931348623157e308, "1.7976931348623157E308"),
            (100.0, "100.0"),
        ] {
            assert_eq!(double(v), want);
        }
        assert_eq!(float(3.4), "3.4");
        assert_eq!(double(f64::NAN), "NaN");
        assert_eq!(double(-0.0), "-0.0");
    }

    #[test]
    fn decimals_keep_their_scale() {
        assert_eq!(decimal(100, 2), "1.00");
        assert_eq!(decimal(-5, 3), "-0.005");
        assert_eq!(decimal(7, 0), "7");
    }
}
