//! Kernels between numbers, bytes and their notations.

use arrow::array::ArrayRef;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use super::decimal::{self, Rounding};
use super::strings::grouped;
use super::values::{Number, number};
use crate::error::internal;
use crate::kernel::Batch;

/// `bin(n)`.
pub fn bin(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(Some(format!("{:b}", b.i64(0).value(r)))))
}

/// `hex` of a number, of text or of bytes.
pub fn hex(b: &Batch<'_>) -> Result<ArrayRef> {
    match &b.types[0] {
        DataType::Long => b.rows(|r| Ok(Some(format!("{:X}", b.i64(0).value(r))))),
        DataType::Binary => b.rows(|r| Ok(Some(hex_of(b.bin(0).value(r))))),
        _ => b.rows(|r| Ok(Some(hex_of(b.str(0).value(r).as_bytes())))),
    }
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02X}")).collect()
}

/// Bytes of a hexadecimal text; an odd first digit stands alone.
pub fn unhexed(text: &str) -> Option<Vec<u8>> {
    let padded = if text.len() % 2 == 1 {
        format!("0{text}")
    } else {
        text.to_owned()
    };
    (0..padded.len() / 2)
        .map(|n| u8::from_str_radix(padded.get(2 * n..2 * n + 2)?, 16).ok())
        .collect()
}

/// `unhex(text)`.
pub fn unhex(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(unhexed(b.str(0).value(r))))
}

/// `base64(bytes)`.
pub fn base64(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(Some(STANDARD.encode(b.bin(0).value(r)))))
}

/// `unbase64(text)`.
pub fn unbase64(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let text: String = b
            .str(0)
            .value(r)
            .chars()
            .filter(|c| !c.is_whitespace())
            .collect();
        STANDARD.decode(&text).map(Some).map_err(|_| {
            DeltaError::new("CONVERSION_INVALID_INPUT")
                .param("str", format!("'{text}'"))
                .param("fmt", "'BASE64'")
                .param("targetType", "\"BINARY\"")
                .param("suggestion", "`try_to_binary`")
        })
    })
}

/// `conv(text, from base, to base)`.
pub fn conv(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let (from, to) = (b.i32(1).value(r), b.i32(2).value(r));
        if !(2..=36).contains(&from) || !(2..=36).contains(&to.abs()) {
            return Ok(None);
        }
        let text = b.str(0).value(r).trim();
        if text.is_empty() {
            return Ok(None);
        }
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |d| (true, d));
        let mut value: u64 = 0;
        for c in digits.chars() {
            let Some(d) = c.to_digit(from as u32) else {
                break;
            };
            value = match value
                .checked_mul(from as u64)
                .and_then(|v| v.checked_add(u64::from(d)))
            {
                Some(v) => v,
                None if b.env.ansi => {
                    return Err(DeltaError::new("ARITHMETIC_OVERFLOW")
                        .param("message", "Overflow in function conv()")
                        .param("alternative", "")
                        .param("config", crate::error::ANSI_CONFIG));
                }
                None => u64::MAX,
            };
        }
        let signed = to < 0;
        let value = if negative {
            (value as i64).wrapping_neg() as u64
        } else {
            value
        };
        let (minus, magnitude) = if signed && (value as i64) < 0 {
            (true, (value as i64).unsigned_abs())
        } else {
            (false, value)
        };
        let mut out = String::new();
        let (mut rest, base) = (magnitude, to.unsigned_abs());
        loop {
            let d = char::from_digit((rest % u64::from(base)) as u32, base).unwrap_or('0');
            out.insert(0, d.to_ascii_uppercase());
            rest /= u64::from(base);
            if rest == 0 {
                break;
            }
        }
        Ok(Some(if minus { format!("-{out}") } else { out }))
    })
}

/// `format_number(x, d)`.
pub fn format_number(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let digits = b.i32(1).value(r);
        if digits < 0 {
            return Ok(None);
        }
        let text = match number(&b.args[0], r, &b.types[0]) {
            Some(Number::Whole(v)) => decimal::parse(&v.to_string()),
            Some(Number::Decimal(v, s)) => decimal::parse(&crate::text::decimal(v, s)),
            Some(Number::Float(v)) => decimal::parse(&format!("{:e}", f64::from(v))),
            Some(Number::Double(v)) => decimal::parse(&format!("{v:e}")),
            None => None,
        };
        let Some((v, scale)) = text else {
            return Ok(Some("\u{FFFD}".to_owned()));
        };
        let rounded = decimal::rescale(v, scale, digits, Rounding::HalfEven);
        let out = match rounded.to_i128() {
            Some(v) => crate::text::decimal(v, digits.min(38) as u8),
            None => return Err(internal("a number with too many digits to format")),
        };
        Ok(Some(grouped(&out)))
    })
}

/// `to_number`, `to_char` are not here; `to_binary(text, format)` is.
pub fn to_binary(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let (s, format) = (b.str(0).value(r), b.str(1).value(r).to_ascii_lowercase());
        let out = match format.as_str() {
            "hex" => unhexed(s),
            "utf-8" | "utf8" => Some(s.as_bytes().to_vec()),
            "base64" => STANDARD.decode(s).ok(),
            _ => None,
        };
        match out {
            Some(v) => Ok(Some(v)),
            None if b.env.salt == 1 => Ok(None),
            None => Err(DeltaError::new("CONVERSION_INVALID_INPUT")
                .param("str", format!("'{s}'"))
                .param("fmt", format!("'{}'", format.to_ascii_uppercase()))
                .param("targetType", "\"BINARY\"")
                .param("suggestion", "`try_to_binary`")),
        }
    })
}
