//! Values in messages, as the reference prints the JVM's objects.

use datafusion::common::ScalarValue;
use deltaic_protocol::partition::Scalar;
use deltaic_protocol::timestamp::{Zone, format_timestamp_ntz};

use crate::values::to_scalar;

/// The text of a value.
pub(crate) fn show(value: &ScalarValue, zone: &Zone) -> String {
    match to_scalar(value) {
        Some(Scalar::Null) => "null".to_string(),
        Some(Scalar::String(text)) => text,
        Some(Scalar::Binary(_)) => "[B".to_string(),
        // `java.sql.Timestamp` has at least one digit of fraction, `LocalDateTime` a `T`.
        Some(Scalar::Timestamp(micros)) => {
            let text = format_timestamp_ntz(zone.to_local(micros));
            if text.contains('.') {
                text
            } else {
                format!("{text}.0")
            }
        }
        Some(Scalar::TimestampNtz(micros)) => format_timestamp_ntz(micros).replacen(' ', "T", 1),
        Some(scalar) => match scalar.to_folder_text("", zone) {
            Ok(text) => text.unwrap_or_default(),
            Err(_) => value.to_string(),
        },
        None => value.to_string(),
    }
}
