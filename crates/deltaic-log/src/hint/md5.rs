//! MD5 (RFC 1321), the digest that the `_last_checkpoint` pointer carries over its own content.
//!
//! It guards against torn writes, not against an adversary; nothing else in the project uses it.

/// Per-round left rotations, four per group of sixteen steps.
const SHIFTS: [[u32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];

/// The lower-case hexadecimal MD5 of `data`.
pub(crate) fn md5_hex(data: &[u8]) -> String {
    let table: Vec<u32> = (0..64)
        .map(|i| ((f64::from(i) + 1.0).sin().abs() * 4_294_967_296.0) as u32)
        .collect();
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded(data).chunks_exact(64) {
        let words: Vec<u32> = block
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
            .collect();
        let [mut a, mut b, mut c, mut d] = state;
        for i in 0..64 {
            let (mix, word) = match i / 16 {
                0 => ((b & c) | (!b & d), i),
                1 => ((d & b) | (!d & c), (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), (7 * i) % 16),
            };
            let sum = a
                .wrapping_add(mix)
                .wrapping_add(table[i])
                .wrapping_add(words[word]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[i / 16][i % 4]));
        }
        for (s, v) in state.iter_mut().zip([a, b, c, d]) {
            *s = s.wrapping_add(v);
        }
    }
    state
        .iter()
        .flat_map(|s| s.to_le_bytes())
        .map(|b| format!("{b:02x}"))
        .collect()
}

/// The message with its padding: a one bit, zeros, and the bit length, to a multiple of 64 bytes.
fn padded(data: &[u8]) -> Vec<u8> {
    let mut out = data.to_vec();
    out.push(0x80);
    while out.len() % 64 != 56 {
        out.push(0);
    }
    out.extend_from_slice(&(data.len() as u64).wrapping_mul(8).to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::md5_hex;

    #[test]
    fn the_vectors_of_the_rfc_hold() {
        assert_eq!(md5_hex(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(
            md5_hex(b"message digest"),
            "f96b697d7cb7938d525a2f31aaf161d0"
        );
        let digits = "1234567890".repeat(8);
        assert_eq!(
            md5_hex(digits.as_bytes()),
            "57edf4a22be3c955ac49da2e2107b67a"
        );
    }
}
