//! Kernels of checksums and hashes: `md5`, `crc32`, and Spark's Murmur3 `hash`.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalYearMonthType, TimestampMicrosecondType,
};
use deltaic_protocol::Result;
use deltaic_protocol::schema::DataType;

use crate::kernel::Batch;

/// `md5(bytes)`.
pub fn md5(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        Ok(Some(
            md5_of(b.bin(0).value(r))
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect::<String>(),
        ))
    })
}

/// `crc32(bytes)`.
pub fn crc32(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(Some(i64::from(crc32fast::hash(b.bin(0).value(r))))))
}

/// `hash(a, b, …)`.
pub fn murmur3(b: &Batch<'_>) -> Result<ArrayRef> {
    b.all_rows(|r| {
        let mut seed = 42;
        for (array, ty) in b.args.iter().zip(b.types) {
            seed = value(array, r, ty, seed);
        }
        Ok(Some(seed as i32))
    })
}

fn value(array: &ArrayRef, r: usize, ty: &DataType, seed: u32) -> u32 {
    if array.is_null(r) {
        return seed;
    }
    match ty {
        DataType::Boolean => int(i32::from(array.as_boolean().value(r)), seed),
        DataType::Byte => int(array.as_primitive::<Int8Type>().value(r).into(), seed),
        DataType::Short => int(array.as_primitive::<Int16Type>().value(r).into(), seed),
        DataType::Integer => int(array.as_primitive::<Int32Type>().value(r), seed),
        DataType::Date => int(array.as_primitive::<Date32Type>().value(r), seed),
        DataType::YearMonthInterval { .. } => {
            int(array.as_primitive::<IntervalYearMonthType>().value(r), seed)
        }
        DataType::Long => long(array.as_primitive::<Int64Type>().value(r), seed),
        DataType::Timestamp | DataType::TimestampNtz => long(
            array.as_primitive::<TimestampMicrosecondType>().value(r),
            seed,
        ),
        DataType::DayTimeInterval { .. } => long(
            array.as_primitive::<DurationMicrosecondType>().value(r),
            seed,
        ),
        DataType::Float => {
            let v = array.as_primitive::<Float32Type>().value(r);
            int((if v == 0.0 { 0.0 } else { v }).to_bits() as i32, seed)
        }
        DataType::Double => {
            let v = array.as_primitive::<Float64Type>().value(r);
            long((if v == 0.0 { 0.0 } else { v }).to_bits() as i64, seed)
        }
        DataType::Decimal { precision, .. } => {
            let v = array.as_primitive::<Decimal128Type>().value(r);
            if *precision <= 18 {
                long(v as i64, seed)
            } else {
                bytes(shortest(v), seed)
            }
        }
        DataType::String => bytes(array.as_string::<i32>().value(r).as_bytes(), seed),
        DataType::Binary => bytes(array.as_binary::<i32>().value(r), seed),
        DataType::Array(a) => {
            let items = array.as_list::<i32>().value(r);
            (0..items.len()).fold(seed, |seed, n| value(&items, n, &a.element_type, seed))
        }
        DataType::Struct(s) => {
            let columns = array.as_struct().columns();
            s.fields
                .iter()
                .zip(columns)
                .fold(seed, |seed, (f, c)| value(c, r, &f.data_type, seed))
        }
        DataType::Map(m) => {
            let entries = array.as_map().value(r);
            (0..entries.len()).fold(seed, |seed, n| {
                let seed = value(entries.column(0), n, &m.key_type, seed);
                value(entries.column(1), n, &m.value_type, seed)
            })
        }
        _ => seed,
    }
}

/// Big-endian two's complement in as few bytes as hold it.
fn shortest(v: i128) -> Vec<u8> {
    let all = v.to_be_bytes();
    let mut start = 0;
    while start < 15 {
        let sign_fits = (all[start] == 0 && all[start + 1] < 0x80)
            || (all[start] == 0xFF && all[start + 1] >= 0x80);
        if !sign_fits {
            break;
        }
        start += 1;
    }
    all[start..].to_vec()
}

fn mix_k(k: u32) -> u32 {
    k.wrapping_mul(0xCC9E_2D51)
        .rotate_left(15)
        .wrapping_mul(0x1B87_3593)
}

fn mix_h(h: u32, k: u32) -> u32 {
    (h ^ k)
        .rotate_left(13)
        .wrapping_mul(5)
        .wrapping_add(0xE654_6B64)
}

fn finish(mut h: u32, length: u32) -> u32 {
    h ^= length;
    h ^= h >> 16;
    h = h.wrapping_mul(0x85EB_CA6B);
    h ^= h >> 13;
    h = h.wrapping_mul(0xC2B2_AE35);
    h ^ (h >> 16)
}

fn int(v: i32, seed: u32) -> u32 {
    finish(mix_h(seed, mix_k(v as u32)), 4)
}

fn long(v: i64, seed: u32) -> u32 {
    let h = mix_h(seed, mix_k(v as u32));
    finish(mix_h(h, mix_k((v >> 32) as u32)), 8)
}

/// Whole words, then each byte that is left as a word of its own, as Spark does it.
fn bytes(data: impl AsRef<[u8]>, seed: u32) -> u32 {
    let data = data.as_ref();
    let words = data.chunks_exact(4);
    let rest = words.remainder();
    let h = words.fold(seed, |h, w| {
        mix_h(h, mix_k(u32::from_le_bytes([w[0], w[1], w[2], w[3]])))
    });
    let h = rest
        .iter()
        .fold(h, |h, b| mix_h(h, mix_k(i32::from(*b as i8) as u32)));
    finish(h, data.len() as u32)
}

/// MD5 of some bytes (RFC 1321).
fn md5_of(data: &[u8]) -> [u8; 16] {
    const SHIFTS: [[u32; 4]; 4] = [
        [7, 12, 17, 22],
        [5, 9, 14, 20],
        [4, 11, 16, 23],
        [6, 10, 15, 21],
    ];
    let table: Vec<u32> = (0..64)
        .map(|i| ((f64::from(i) + 1.0).sin().abs() * 4_294_967_296.0) as u32)
        .collect();
    let mut state: [u32; 4] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476];
    let mut message = data.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend((data.len() as u64).wrapping_mul(8).to_le_bytes());
    for block in message.chunks_exact(64) {
        let words: Vec<u32> = block
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
            .collect();
        let [mut a, mut b, mut c, mut d] = state;
        for i in 0..64 {
            let (f, g) = match i / 16 {
                0 => ((b & c) | (!b & d), i),
                1 => ((d & b) | (!d & c), (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), (7 * i) % 16),
            };
            let sum = a
                .wrapping_add(f)
                .wrapping_add(table[i])
                .wrapping_add(words[g]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[i / 16][i % 4]));
        }
        for (s, v) in state.iter_mut().zip([a, b, c, d]) {
            *s = s.wrapping_add(v);
        }
    }
    let mut out = [0; 16];
    for (n, word) in state.iter().enumerate() {
        out[4 * n..4 * n + 4].copy_from_slice(&word.to_le_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn md5_matches_known_sums() {
        let hex = |s: &str| {
            md5_of(s.as_bytes())
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect::<String>()
        };
        assert_eq!(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex("Spark"), "8cde774d6f7333752ed72cacddb05126");
    }

    #[test]
    fn murmur3_matches_spark() {
        assert_eq!(int(0, 42) as i32, 933_211_791);
        assert_eq!(bytes("Spark", 42) as i32, 228_093_765);
    }
}
