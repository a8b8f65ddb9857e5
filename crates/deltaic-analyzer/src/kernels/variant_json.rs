//! Variants as text: their JSON, and their schema.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::NaiveDateTime;
use chrono_tz::Tz;
use deltaic_protocol::schema::{ArrayType, DataType, StructField, StructType};
use parquet_variant::Variant;

use crate::text;
use crate::time;
use crate::types::{is_numeric, widen};

/// The value as JSON text; nothing if the bytes are no variant. Moments are told in a zone.
pub fn variant_json(metadata: &[u8], value: &[u8], zone: Tz) -> Option<String> {
    let variant = Variant::try_new(metadata, value).ok()?;
    let mut out = String::new();
    write(&variant, zone, &mut out);
    Some(out)
}

/// Appends the JSON of a variant.
pub fn write(variant: &Variant<'_, '_>, zone: Tz, out: &mut String) {
    match variant {
        Variant::Null => out.push_str("null"),
        Variant::BooleanTrue => out.push_str("true"),
        Variant::BooleanFalse => out.push_str("false"),
        Variant::Int8(value) => out.push_str(&value.to_string()),
        Variant::Int16(value) => out.push_str(&value.to_string()),
        Variant::Int32(value) => out.push_str(&value.to_string()),
        Variant::Int64(value) => out.push_str(&value.to_string()),
        Variant::Float(value) => number(&text::float(*value), value.is_finite(), out),
        Variant::Double(value) => number(&text::double(*value), value.is_finite(), out),
        Variant::Decimal4(value) => decimal(value.integer().into(), value.scale(), out),
        Variant::Decimal8(value) => decimal(value.integer().into(), value.scale(), out),
        Variant::Decimal16(value) => decimal(value.integer(), value.scale(), out),
        Variant::Date(date) => quote(&date.to_string(), out),
        Variant::Time(time) => quote(&time.to_string(), out),
        Variant::TimestampMicros(at) | Variant::TimestampNanos(at) => {
            let micros = at.timestamp_micros();
            let wall = time::format_wall(time::to_wall(micros, zone));
            quote(
                &format!("{wall}{}", offset(time::offset_at(micros, zone))),
                out,
            );
        }
        Variant::TimestampNtzMicros(at) | Variant::TimestampNtzNanos(at) => {
            quote(&wall(*at), out);
        }
        Variant::Binary(bytes) => quote(&STANDARD.encode(bytes), out),
        Variant::Uuid(id) => quote(&id.to_string(), out),
        Variant::String(text) => quote(text, out),
        Variant::ShortString(text) => quote(text.as_str(), out),
        Variant::Object(object) => {
            out.push('{');
            for (index, (name, value)) in object.iter().enumerate() {
                separate(index, out);
                quote(name, out);
                out.push(':');
                write(&value, zone, out);
            }
            out.push('}');
        }
        Variant::List(list) => {
            out.push('[');
            for (index, value) in list.iter().enumerate() {
                separate(index, out);
                write(&value, zone, out);
            }
            out.push(']');
        }
    }
}

fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}

/// JSON has no infinite numbers; Spark writes them as strings.
fn number(text: &str, finite: bool, out: &mut String) {
    if finite {
        out.push_str(text);
    } else {
        quote(text, out);
    }
}

/// Without the zeros at the end that the scale would ask for.
fn decimal(unscaled: i128, scale: u8, out: &mut String) {
    let (unscaled, scale) = stripped(unscaled, scale);
    out.push_str(&text::decimal(unscaled, scale));
}

/// A decimal without zeros at the end of its fraction.
pub fn stripped(mut unscaled: i128, mut scale: u8) -> (i128, u8) {
    while scale > 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    (unscaled, scale)
}

fn wall(at: NaiveDateTime) -> String {
    time::format_wall(at.and_utc().timestamp_micros())
}

fn offset(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.abs() / 60;
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

fn quote(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// The type that a variant has of itself: whole numbers are BIGINT, an array's elements what they have in common.
pub fn type_of(variant: &Variant<'_, '_>) -> DataType {
    match variant {
        Variant::Null => DataType::Void,
        Variant::BooleanTrue | Variant::BooleanFalse => DataType::Boolean,
        Variant::Int8(_) | Variant::Int16(_) | Variant::Int32(_) | Variant::Int64(_) => {
            DataType::Long
        }
        Variant::Float(_) => DataType::Float,
        Variant::Double(_) => DataType::Double,
        Variant::Decimal4(value) => decimal_type(value.integer().into(), value.scale()),
        Variant::Decimal8(value) => decimal_type(value.integer().into(), value.scale()),
        Variant::Decimal16(value) => decimal_type(value.integer(), value.scale()),
        Variant::Date(_) => DataType::Date,
        Variant::TimestampMicros(_) | Variant::TimestampNanos(_) => DataType::Timestamp,
        Variant::TimestampNtzMicros(_) | Variant::TimestampNtzNanos(_) => DataType::TimestampNtz,
        Variant::Binary(_) => DataType::Binary,
        Variant::String(_) | Variant::ShortString(_) | Variant::Uuid(_) | Variant::Time(_) => {
            DataType::String
        }
        Variant::Object(object) => DataType::Struct(StructType::new(
            object
                .iter()
                .map(|(name, value)| StructField::nullable(name, type_of(&value))),
        )),
        Variant::List(list) => {
            let element = list
                .iter()
                .map(|value| type_of(&value))
                .reduce(|a, b| merged(&a, &b));
            DataType::Array(Box::new(ArrayType {
                element_type: element.unwrap_or(DataType::Void),
                contains_null: true,
            }))
        }
    }
}

fn decimal_type(unscaled: i128, scale: u8) -> DataType {
    let (unscaled, scale) = stripped(unscaled, scale);
    let digits = unscaled.unsigned_abs().to_string().len();
    let precision = u8::try_from(digits).unwrap_or(38).max(scale);
    DataType::Decimal { precision, scale }
}

/// What two variants have in common: VARIANT where that is nothing else.
fn merged(a: &DataType, b: &DataType) -> DataType {
    match (a, b) {
        _ if a == b => a.clone(),
        (DataType::Void, other) | (other, DataType::Void) => other.clone(),
        (DataType::Struct(left), DataType::Struct(right)) => {
            let mut fields = left.fields.clone();
            for field in &right.fields {
                match fields.iter_mut().find(|known| known.name == field.name) {
                    Some(known) => known.data_type = merged(&known.data_type, &field.data_type),
                    None => fields.push(field.clone()),
                }
            }
            fields.sort_by(|x, y| x.name.cmp(&y.name));
            DataType::Struct(StructType::new(fields))
        }
        (DataType::Array(left), DataType::Array(right)) => DataType::Array(Box::new(ArrayType {
            element_type: merged(&left.element_type, &right.element_type),
            contains_null: true,
        })),
        _ if is_numeric(a) && is_numeric(b) => widen::common([a, b]).unwrap_or(DataType::Variant),
        _ => DataType::Variant,
    }
}

/// A type as `schema_of_variant` prints it.
pub fn schema_text(ty: &DataType) -> String {
    match ty {
        DataType::Struct(inner) => {
            let fields: Vec<String> = inner
                .fields
                .iter()
                .map(|field| format!("{}: {}", name(&field.name), schema_text(&field.data_type)))
                .collect();
            format!("OBJECT<{}>", fields.join(", "))
        }
        DataType::Array(inner) => format!("ARRAY<{}>", schema_text(&inner.element_type)),
        other => other.sql(),
    }
}

fn name(name: &str) -> String {
    let plain = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match plain {
        true => name.to_owned(),
        false => format!("`{}`", name.replace('`', "``")),
    }
}

#[cfg(test)]
mod tests {
    use parquet_variant::VariantBuilder;

    use super::variant_json;

    #[test]
    fn scalars_objects_and_lists_are_json() {
        let mut builder = VariantBuilder::new();
        let mut object = builder.new_object();
        object.insert("a", 1_i8);
        object.insert("b", "two \"quoted\"");
        object.insert("c", 1.0e10_f64);
        let mut list = object.new_list("d");
        list.append_value(true);
        list.append_value(());
        list.finish();
        object.finish();
        let (metadata, value) = builder.finish();
        assert_eq!(
            variant_json(&metadata, &value, chrono_tz::Tz::UTC).as_deref(),
            Some(r#"{"a":1,"b":"two \"quoted\"","c":1.0E10,"d":[true,null]}"#)
        );
    }

    #[test]
    fn bytes_that_are_no_variant_have_no_text() {
        assert_eq!(variant_json(&[], &[], chrono_tz::Tz::UTC), None);
    }
}
