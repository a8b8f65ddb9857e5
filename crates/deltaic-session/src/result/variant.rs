//! A variant as the JSON text that Spark shows for it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::NaiveDateTime;
use parquet_variant::Variant;

use super::numbers;

/// The value as JSON text; nothing if the bytes are no variant.
pub(super) fn json(metadata: &[u8], value: &[u8]) -> Option<String> {
    let variant = Variant::try_new(metadata, value).ok()?;
    let mut out = String::new();
    write(&variant, &mut out);
    Some(out)
}

fn write(variant: &Variant<'_, '_>, out: &mut String) {
    match variant {
        Variant::Null => out.push_str("null"),
        Variant::BooleanTrue => out.push_str("true"),
        Variant::BooleanFalse => out.push_str("false"),
        Variant::Int8(value) => out.push_str(&value.to_string()),
        Variant::Int16(value) => out.push_str(&value.to_string()),
        Variant::Int32(value) => out.push_str(&value.to_string()),
        Variant::Int64(value) => out.push_str(&value.to_string()),
        Variant::Float(value) => number(&numbers::java_float(*value), value.is_finite(), out),
        Variant::Double(value) => number(&numbers::java_double(*value), value.is_finite(), out),
        Variant::Decimal4(value) => decimal(value.integer().into(), value.scale(), out),
        Variant::Decimal8(value) => decimal(value.integer().into(), value.scale(), out),
        Variant::Decimal16(value) => decimal(value.integer(), value.scale(), out),
        Variant::Date(date) => quote(&date.to_string(), out),
        Variant::Time(time) => quote(&time.to_string(), out),
        Variant::TimestampMicros(time) | Variant::TimestampNanos(time) => {
            quote(&format!("{}+00:00", moment(time.naive_utc())), out);
        }
        Variant::TimestampNtzMicros(time) | Variant::TimestampNtzNanos(time) => {
            quote(&moment(*time), out);
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
                write(&value, out);
            }
            out.push('}');
        }
        Variant::List(list) => {
            out.push('[');
            for (index, value) in list.iter().enumerate() {
                separate(index, out);
                write(&value, out);
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
fn decimal(mut unscaled: i128, scale: u8, out: &mut String) {
    let mut scale = i8::try_from(scale).unwrap_or(i8::MAX);
    while scale > 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    out.push_str(&numbers::plain_decimal(unscaled, scale));
}

fn moment(time: NaiveDateTime) -> String {
    numbers::date_time_text(time)
}

fn quote(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use parquet_variant::VariantBuilder;

    use super::json;

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
            json(&metadata, &value).as_deref(),
            Some(r#"{"a":1,"b":"two \"quoted\"","c":1.0E10,"d":[true,null]}"#)
        );
    }

    #[test]
    fn bytes_that_are_no_variant_have_no_text() {
        assert_eq!(json(&[], &[]), None);
    }
}
