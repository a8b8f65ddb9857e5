//! Paths in the log are URIs (protocol: "Add File and Remove File", `path`): encoded once on writing, decoded once on reading.

use percent_encoding::percent_decode_str;

/// The path of a file with its percent escapes decoded, once.
pub fn decode_path(path: &str) -> String {
    if !path.contains('%') {
        return path.to_owned();
    }
    percent_decode_str(path).decode_utf8_lossy().into_owned()
}

/// A decoded path as it stands in the log. Letters, digits, `-_.!~*'(),;:$&+=@/` and printable characters outside ASCII stay.
pub fn encode_path(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if stays(c) {
            out.push(c);
        } else {
            let mut buffer = [0u8; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                out.push('%');
                out.push(hex(byte >> 4));
                out.push(hex(byte & 15));
            }
        }
    }
    out
}

/// Whether a path in the log is absolute: it has a scheme or begins with `/`.
pub fn is_absolute(path: &str) -> bool {
    if path.starts_with('/') {
        return true;
    }
    let Some((scheme, _)) = path.split_once(':') else {
        return false;
    };
    let mut chars = scheme.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

fn stays(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || "-_.!~*'(),;:$&+=@/".contains(c)
    } else {
        !c.is_control() && !c.is_whitespace()
    }
}

pub(crate) fn hex(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16)
        .unwrap_or('0')
        .to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_encoded_as_the_reference_does() {
        for (decoded, encoded) in [
            ("p=with space/x", "p=with%20space/x"),
            ("p=a%2Fb", "p=a%252Fb"),
            ("p=%23%3F&/x", "p=%2523%253F&/x"),
            ("p=a+b", "p=a+b"),
            ("p=ü/日本", "p=ü/日本"),
            ("a\u{a0}b{}", "a%C2%A0b%7B%7D"),
            ("_2=bar+%2521", "_2=bar+%252521"),
        ] {
            assert_eq!(encode_path(decoded), encoded);
            assert_eq!(decode_path(encoded), decoded);
        }
    }

    #[test]
    fn schemes_and_slashes_make_a_path_absolute() {
        for path in ["/a", "file:/a", "s3a://b/c", "abfss://x@y/z"] {
            assert!(is_absolute(path), "{path}");
        }
        for path in ["a", "p=a:b/x", "%3A", "1:2"] {
            assert!(!is_absolute(path), "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_path_survives(path in ".{0,30}") {
            prop_assert_eq!(decode_path(&encode_path(&path)), path);
        }
    }
}
