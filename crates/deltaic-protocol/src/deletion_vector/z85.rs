//! Z85: four bytes, big-endian, as five printable characters (RFC 32 of ZeroMQ).

const ALPHABET: &[u8; 85] =
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/// Encodes bytes; the last group is filled with zero bytes.
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(4) * 5);
    for group in bytes.chunks(4) {
        let mut full = [0u8; 4];
        full[..group.len()].copy_from_slice(group);
        let mut value = u32::from_be_bytes(full);
        let mut digits = [0u8; 5];
        for digit in digits.iter_mut().rev() {
            *digit = ALPHABET[(value % 85) as usize];
            value /= 85;
        }
        out.extend(digits.map(char::from));
    }
    out
}

/// Decodes text whose length is a multiple of five; none if it is not Z85. A group above 32 bits wraps, as in the reference, which reads
/// such vectors of other writers.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(5) {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() / 5 * 4);
    for group in text.as_bytes().chunks(5) {
        let mut value: u32 = 0;
        for byte in group {
            let digit = ALPHABET.iter().position(|letter| letter == byte)?;
            let digit = u32::try_from(digit).ok()?;
            value = value.wrapping_mul(85).wrapping_add(digit);
        }
        out.extend(value.to_be_bytes());
    }
    Some(out)
}
