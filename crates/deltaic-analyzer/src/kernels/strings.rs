//! Kernels of text: parts of it, padding, searching, and the functions that count characters.

use arrow::array::{Array, ArrayRef};
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use crate::error::internal;
use crate::kernel::Batch;
use crate::text;

/// A small generator of pseudo-random numbers (SplitMix64).
pub struct Lcg(u64);

impl Lcg {
    /// An odd number whose multiples lie far apart (splitmix64).
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    /// For one row of a statement; up to 2²⁰ numbers do not meet those of other rows.
    pub fn of_row(seed: u64, row: u64) -> Self {
        Self(seed.wrapping_add(Self::STEP.wrapping_mul(row << 20)))
    }
    /// The next 64 bits.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// From 0 up to, not with, 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

macro_rules! text_to_text {
    ($($(#[$doc:meta])* $name:ident = $f:expr;)*) => {
        $($(#[$doc])* pub fn $name(b: &Batch<'_>) -> Result<ArrayRef> {
            let s = b.str(0);
            let f: fn(&str) -> String = $f;
            b.rows(|r| Ok(Some(f(s.value(r)))))
        })*
    };
}

text_to_text! {
    /// `upper`.
    upper = |s| s.to_uppercase();
    /// `lower`.
    lower = |s| s.to_lowercase();
    /// `reverse` of text.
    reverse = |s| s.chars().rev().collect();
    /// `initcap`: the first letter of each word upper, the rest lower; words end at blanks.
    initcap = |s| {
        let mut start = true;
        s.chars().flat_map(|c| {
            let out: Vec<char> = if start { c.to_uppercase().collect() } else { c.to_lowercase().collect() };
            start = c == ' ';
            out
        }).collect()
    };
    /// `quote`.
    quote = |s| format!("'{}'", s.replace('\'', "\\'"));
}

/// `length`: characters of text, bytes of binary.
pub fn length(b: &Batch<'_>) -> Result<ArrayRef> {
    match &b.types[0] {
        DataType::Binary => b.rows(|r| Ok(Some(b.bin(0).value(r).len() as i32))),
        _ => b.rows(|r| Ok(Some(b.str(0).value(r).chars().count() as i32))),
    }
}

/// `octet_length`.
pub fn octets(b: &Batch<'_>) -> Result<ArrayRef> {
    match &b.types[0] {
        DataType::Binary => b.rows(|r| Ok(Some(b.bin(0).value(r).len() as i32))),
        _ => b.rows(|r| Ok(Some(b.str(0).value(r).len() as i32))),
    }
}

/// `bit_length`.
pub fn bits(b: &Batch<'_>) -> Result<ArrayRef> {
    match &b.types[0] {
        DataType::Binary => b.rows(|r| Ok(Some(b.bin(0).value(r).len() as i32 * 8))),
        _ => b.rows(|r| Ok(Some(b.str(0).value(r).len() as i32 * 8))),
    }
}

/// The range that `substring(_, from, length)` means in `size` units.
fn window(size: usize, from: i32, length: i32) -> std::ops::Range<usize> {
    let size = size as i64;
    let from = i64::from(from);
    let start = if from > 0 {
        from - 1
    } else if from < 0 {
        size + from
    } else {
        0
    };
    let end = start.saturating_add(i64::from(length));
    let clamp = |v: i64| v.clamp(0, size) as usize;
    let (start, end) = (clamp(start), clamp(end));
    start..end.max(start)
}

/// `substring(text or binary, from, length)`.
pub fn substring(b: &Batch<'_>) -> Result<ArrayRef> {
    let (from, length) = (b.i32(1), b.i32(2));
    match &b.types[0] {
        DataType::Binary => b.rows(|r| {
            let v = b.bin(0).value(r);
            Ok(Some(
                v[window(v.len(), from.value(r), length.value(r))].to_vec(),
            ))
        }),
        _ => b.rows(|r| {
            let s = b.str(0).value(r);
            let w = window(s.chars().count(), from.value(r), length.value(r));
            Ok(Some(
                s.chars().skip(w.start).take(w.len()).collect::<String>(),
            ))
        }),
    }
}

/// `left(text, n)`.
pub fn left(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        Ok(Some(
            b.str(0)
                .value(r)
                .chars()
                .take(b.i32(1).value(r).max(0) as usize)
                .collect::<String>(),
        ))
    })
}

/// `right(text, n)`.
pub fn right(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let s = b.str(0).value(r);
        let keep = b.i32(1).value(r).max(0) as usize;
        let skip = s.chars().count().saturating_sub(keep);
        Ok(Some(s.chars().skip(skip).collect::<String>()))
    })
}

/// `concat` of texts.
pub fn concat(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        Ok(Some(
            (0..b.args.len())
                .map(|n| b.str(n).value(r))
                .collect::<String>(),
        ))
    })
}

/// `concat` of binaries.
pub fn concat_binary(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        Ok(Some(
            (0..b.args.len())
                .flat_map(|n| b.bin(n).value(r).to_vec())
                .collect::<Vec<u8>>(),
        ))
    })
}

/// `concat_ws(separator, …)`: texts and arrays of texts; NULLs are skipped.
pub fn concat_ws(b: &Batch<'_>) -> Result<ArrayRef> {
    b.all_rows(|r| {
        if b.args[0].is_null(r) {
            return Ok(None);
        }
        let mut parts: Vec<String> = Vec::new();
        for n in 1..b.args.len() {
            if b.args[n].is_null(r) {
                continue;
            }
            match &b.types[n] {
                DataType::Array(a) => {
                    let items = b.list(n).value(r);
                    parts.extend(
                        (0..items.len())
                            .filter(|i| !items.is_null(*i))
                            .map(|i| text::value_text(&items, i, &a.element_type, b.env.zone)),
                    );
                }
                _ => parts.push(b.str(n).value(r).to_owned()),
            }
        }
        Ok(Some(parts.join(b.str(0).value(r))))
    })
}

/// `trim`, `ltrim`, `rtrim` with the characters to cut; `env.salt`: 0 both, 1 left, 2 right.
pub fn trim(b: &Batch<'_>) -> Result<ArrayRef> {
    let side = b.env.salt;
    b.rows(|r| {
        let mut s = b.str(0).value(r);
        let cut: Vec<char> = if b.args.len() > 1 {
            b.str(1).value(r).chars().collect()
        } else {
            vec![' ']
        };
        if side != 2 {
            s = s.trim_start_matches(|c| cut.contains(&c));
        }
        if side != 1 {
            s = s.trim_end_matches(|c| cut.contains(&c));
        }
        Ok(Some(s.to_owned()))
    })
}

/// `replace(text, search, by)`.
pub fn replace(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let (s, search) = (b.str(0).value(r), b.str(1).value(r));
        Ok(Some(if search.is_empty() {
            s.to_owned()
        } else {
            s.replace(search, b.str(2).value(r))
        }))
    })
}

/// `repeat(text, n)`.
pub fn repeat(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        Ok(Some(
            b.str(0).value(r).repeat(b.i32(1).value(r).max(0) as usize),
        ))
    })
}

/// `space(n)`.
pub fn space(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(Some(" ".repeat(b.i32(0).value(r).max(0) as usize))))
}

/// `lpad` (`env.salt` 0) and `rpad` (1).
pub fn pad(b: &Batch<'_>) -> Result<ArrayRef> {
    let right = b.env.salt == 1;
    b.rows(|r| {
        let (s, width) = (b.str(0).value(r), b.i32(1).value(r).max(0) as usize);
        let fill: Vec<char> = b.str(2).value(r).chars().collect();
        let have = s.chars().count();
        if have >= width || fill.is_empty() {
            return Ok(Some(s.chars().take(width).collect::<String>()));
        }
        let padding: String = fill.iter().cycle().take(width - have).collect();
        Ok(Some(if right {
            format!("{s}{padding}")
        } else {
            format!("{padding}{s}")
        }))
    })
}

/// `instr(text, search)`: from 1, 0 where it is missing.
pub fn instr(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(Some(find(b.str(0).value(r), b.str(1).value(r), 1))))
}

/// `locate(search, text, from)`.
pub fn locate(b: &Batch<'_>) -> Result<ArrayRef> {
    b.all_rows(|r| {
        if b.args[2].is_null(r) {
            return Ok(Some(0));
        }
        if b.args[0].is_null(r) || b.args[1].is_null(r) {
            return Ok(None);
        }
        let from = b.i32(2).value(r);
        Ok(Some(if from < 1 {
            0
        } else {
            find(b.str(1).value(r), b.str(0).value(r), from as usize)
        }))
    })
}

fn find(text: &str, search: &str, from: usize) -> i32 {
    let Some((start, _)) = text.char_indices().chain([(text.len(), ' ')]).nth(from - 1) else {
        return 0;
    };
    match text[start..].find(search) {
        Some(at) => (text[..start + at].chars().count() + 1) as i32,
        None => 0,
    }
}

/// `startswith`, `endswith`, `contains`.
pub fn starts_with(b: &Batch<'_>) -> Result<ArrayRef> {
    test(b, |a, p| a.starts_with(p))
}
/// See [`starts_with`].
pub fn ends_with(b: &Batch<'_>) -> Result<ArrayRef> {
    test(b, |a, p| a.ends_with(p))
}
/// See [`starts_with`].
pub fn contains(b: &Batch<'_>) -> Result<ArrayRef> {
    test(b, |a, p| p.is_empty() || a.windows(p.len()).any(|w| w == p))
}

fn test(b: &Batch<'_>, f: fn(&[u8], &[u8]) -> bool) -> Result<ArrayRef> {
    match &b.types[0] {
        DataType::Binary => b.rows(|r| Ok(Some(f(b.bin(0).value(r), b.bin(1).value(r))))),
        _ => b.rows(|r| {
            Ok(Some(f(
                b.str(0).value(r).as_bytes(),
                b.str(1).value(r).as_bytes(),
            )))
        }),
    }
}

/// `translate(text, from, to)`.
pub fn translate(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let from: Vec<char> = b.str(1).value(r).chars().collect();
        let to: Vec<char> = b.str(2).value(r).chars().collect();
        let out =
            b.str(0)
                .value(r)
                .chars()
                .filter_map(|c| match from.iter().position(|f| *f == c) {
                    Some(n) => to.get(n).copied(),
                    None => Some(c),
                });
        Ok(Some(out.collect::<String>()))
    })
}

/// `levenshtein(a, b)`.
pub fn levenshtein(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(Some(distance(b.str(0).value(r), b.str(1).value(r)) as i32)))
}

/// How many characters must change to get from one text to the other.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut now = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let change = before[j] + usize::from(x != *y);
            now.push(change.min(before[j + 1] + 1).min(now[j] + 1));
        }
        before = now;
    }
    before.last().copied().unwrap_or(0)
}

/// `ascii(text)`.
pub fn ascii(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        Ok(Some(
            b.str(0).value(r).chars().next().map_or(0, |c| c as i32),
        ))
    })
}

/// `chr(n)`.
pub fn chr(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let n = b.i64(0).value(r);
        Ok(Some(if n < 0 {
            String::new()
        } else {
            char::from((n & 0xFF) as u8).to_string()
        }))
    })
}

/// `substring_index(text, separator, n)`.
pub fn substring_index(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let (s, separator, n) = (b.str(0).value(r), b.str(1).value(r), b.i32(2).value(r));
        if separator.is_empty() || n == 0 {
            return Ok(Some(String::new()));
        }
        let parts: Vec<&str> = s.split(separator).collect();
        let count = n.unsigned_abs() as usize;
        if count >= parts.len() {
            return Ok(Some(s.to_owned()));
        }
        Ok(Some(if n > 0 {
            parts[..count].join(separator)
        } else {
            parts[parts.len() - count..].join(separator)
        }))
    })
}

/// `split_part(text, separator, n)`.
pub fn split_part(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let (s, separator, n) = (b.str(0).value(r), b.str(1).value(r), b.i32(2).value(r));
        if n == 0 {
            return Err(DeltaError::new("INVALID_INDEX_OF_ZERO"));
        }
        let parts: Vec<&str> = if separator.is_empty() {
            vec![s]
        } else {
            s.split(separator).collect()
        };
        let at = if n > 0 {
            n as usize - 1
        } else {
            parts.len().wrapping_sub(n.unsigned_abs() as usize)
        };
        Ok(Some(parts.get(at).copied().unwrap_or_default().to_owned()))
    })
}

/// `find_in_set(text, comma separated)`.
pub fn find_in_set(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let s = b.str(0).value(r);
        Ok(Some(
            b.str(1)
                .value(r)
                .split(',')
                .position(|p| p == s)
                .map_or(0, |n| n as i32 + 1),
        ))
    })
}

/// `elt(n, a, b, …)`.
pub fn elt(b: &Batch<'_>) -> Result<ArrayRef> {
    let size = b.args.len() as i32 - 1;
    b.all_rows(|r| {
        if b.args[0].is_null(r) {
            return Ok(None);
        }
        let n = b.i32(0).value(r);
        if n < 1 || n > size {
            if !b.env.ansi {
                return Ok(None);
            }
            return Err(DeltaError::new("INVALID_ARRAY_INDEX")
                .param("indexValue", n)
                .param("arraySize", size)
                .param("ansiConfig", crate::error::ANSI_CONFIG));
        }
        let n = n as usize;
        Ok((!b.args[n].is_null(r)).then(|| b.str(n).value(r).to_owned()))
    })
}

/// `overlay(text, by, from, length)`.
pub fn overlay(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let chars: Vec<char> = b.str(0).value(r).chars().collect();
        let by = b.str(1).value(r);
        let from = (b.i32(2).value(r) - 1).clamp(0, chars.len() as i32) as usize;
        let length = b.i32(3).value(r);
        let length = if length < 0 {
            by.chars().count()
        } else {
            length as usize
        };
        let rest = chars
            .get((from + length).min(chars.len())..)
            .unwrap_or_default();
        Ok(Some(
            chars[..from].iter().collect::<String>() + by + &rest.iter().collect::<String>(),
        ))
    })
}

/// `soundex(text)`.
pub fn soundex(b: &Batch<'_>) -> Result<ArrayRef> {
    fn code(c: char) -> Option<char> {
        Some(match c.to_ascii_uppercase() {
            'B' | 'F' | 'P' | 'V' => '1',
            'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => '2',
            'D' | 'T' => '3',
            'L' => '4',
            'M' | 'N' => '5',
            'R' => '6',
            _ => return None,
        })
    }
    b.rows(|r| {
        let s = b.str(0).value(r);
        let Some(first) = s.chars().next().filter(char::is_ascii_alphabetic) else {
            return Ok(Some(s.to_owned()));
        };
        let mut out = first.to_ascii_uppercase().to_string();
        let mut last = code(first);
        for c in s.chars().skip(1).filter(char::is_ascii_alphabetic) {
            let now = code(c);
            if let Some(digit) = now
                && now != last
            {
                out.push(digit);
            }
            if !matches!(c.to_ascii_uppercase(), 'H' | 'W') {
                last = now;
            }
            if out.len() == 4 {
                break;
            }
        }
        Ok(Some(format!("{out:0<4}")))
    })
}

/// `encode(text, charset)` and `decode(binary, charset)`.
pub fn encode(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let (s, charset) = (b.str(0).value(r), b.str(1).value(r));
        Ok(Some(match charset.to_ascii_uppercase().as_str() {
            "UTF-8" | "UTF8" => s.as_bytes().to_vec(),
            "US-ASCII" | "ISO-8859-1" => s
                .chars()
                .map(|c| if c as u32 <= 255 { c as u8 } else { b'?' })
                .collect(),
            "UTF-16BE" => s.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            "UTF-16LE" => s.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            "UTF-16" => [0xFE, 0xFF]
                .into_iter()
                .chain(s.encode_utf16().flat_map(u16::to_be_bytes))
                .collect(),
            other => return Err(bad_charset("`encode`", other)),
        }))
    })
}

/// See [`encode`].
pub fn decode(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let (v, charset) = (b.bin(0).value(r), b.str(1).value(r));
        let wide = |f: fn([u8; 2]) -> u16| -> String {
            let units: Vec<u16> = v.chunks_exact(2).map(|c| f([c[0], c[1]])).collect();
            String::from_utf16_lossy(&units)
        };
        Ok(Some(match charset.to_ascii_uppercase().as_str() {
            "UTF-8" | "UTF8" => String::from_utf8_lossy(v).into_owned(),
            "US-ASCII" | "ISO-8859-1" => v.iter().map(|b| *b as char).collect(),
            "UTF-16BE" | "UTF-16" => wide(u16::from_be_bytes),
            "UTF-16LE" => wide(u16::from_le_bytes),
            other => return Err(bad_charset("`decode`", other)),
        }))
    })
}

fn bad_charset(function: &str, charset: &str) -> DeltaError {
    DeltaError::new("INVALID_PARAMETER_VALUE.CHARSET")
        .param("functionName", function)
        .param("parameter", "`charset`")
        .param("charset", charset)
        .param(
            "charsets",
            "'iso-8859-1', 'us-ascii', 'utf-16', 'utf-16be', 'utf-16le', 'utf-32', 'utf-8'",
        )
}

/// `mask(text, upper, lower, digit, other)`.
pub fn mask(b: &Batch<'_>) -> Result<ArrayRef> {
    let by = |n: usize, r: usize| {
        (!b.args[n].is_null(r))
            .then(|| b.str(n).value(r).chars().next())
            .flatten()
    };
    b.all_rows(|r| {
        if b.args[0].is_null(r) {
            return Ok(None);
        }
        let (upper, lower, digit, other) = (by(1, r), by(2, r), by(3, r), by(4, r));
        let out = b.str(0).value(r).chars().map(|c| {
            let replacement = if c.is_uppercase() {
                upper
            } else if c.is_lowercase() {
                lower
            } else if c.is_ascii_digit() {
                digit
            } else {
                other
            };
            replacement.unwrap_or(c)
        });
        Ok(Some(out.collect::<String>()))
    })
}

/// `format_string(format, …)`: Java's `%d %s %f %x %e %b %c %%` with flags, width and precision.
pub fn format_string(b: &Batch<'_>) -> Result<ArrayRef> {
    b.all_rows(|r| {
        if b.args[0].is_null(r) {
            return Ok(None);
        }
        let format: Vec<char> = b.str(0).value(r).chars().collect();
        let (mut out, mut at, mut next) = (String::new(), 0, 1);
        while let Some(c) = format.get(at) {
            at += 1;
            if *c != '%' {
                out.push(*c);
                continue;
            }
            let start = at;
            while format
                .get(at)
                .is_some_and(|c| "-+ 0,(#.$".contains(*c) || c.is_ascii_digit())
            {
                at += 1;
            }
            let mut flags: String = format[start..at].iter().collect();
            let Some(kind) = format.get(at).copied() else {
                return Err(internal("a format that ends in %"));
            };
            at += 1;
            if kind == '%' || kind == 'n' {
                out.push(if kind == '%' { '%' } else { '\n' });
                continue;
            }
            let mut n = next;
            if let Some((position, rest)) = flags.clone().split_once('$') {
                n = position.parse().unwrap_or(next);
                flags = rest.to_owned();
            } else {
                next += 1;
            }
            if n >= b.args.len() {
                return Err(DeltaError::unclassed(
                    "java.util.MissingFormatArgumentException",
                    format!("Format specifier '%{flags}{kind}'"),
                ));
            }
            out.push_str(&format_one(b, n, r, &flags, kind));
        }
        Ok(Some(out))
    })
}

/// A number with so many decimals, rounded half up from the digits that it is shown with, as Java's Formatter does it.
fn half_up(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let shown = format!("{}", value.abs());
    let (whole, fraction) = shown.split_once('.').unwrap_or((&shown, ""));
    let mut digits: Vec<u8> = whole.bytes().map(|b| b - b'0').collect();
    digits.extend(
        fraction
            .bytes()
            .map(|b| b - b'0')
            .chain(std::iter::repeat(0))
            .take(decimals),
    );
    if fraction
        .as_bytes()
        .get(decimals)
        .is_some_and(|b| *b >= b'5')
    {
        let mut at = digits.len();
        loop {
            if at == 0 {
                digits.insert(0, 1);
                break;
            }
            at -= 1;
            if digits[at] < 9 {
                digits[at] += 1;
                break;
            }
            digits[at] = 0;
        }
    }
    let text: String = digits.iter().map(|d| char::from(d + b'0')).collect();
    let (whole, fraction) = text.split_at(text.len() - decimals);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    match decimals {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{fraction}"),
    }
}

fn format_one(b: &Batch<'_>, n: usize, r: usize, flags: &str, kind: char) -> String {
    let (flag, size) = flags.split_at(
        flags
            .find(|c: char| ('1'..='9').contains(&c) || c == '.')
            .unwrap_or(flags.len()),
    );
    let (width, precision) = size
        .split_once('.')
        .map_or((size, None), |(w, p)| (w, Some(p)));
    let (width, precision) = (
        width.parse::<usize>().unwrap_or(0),
        precision.and_then(|p| p.parse::<usize>().ok()),
    );
    let plain = text::value_text(&b.args[n], r, &b.types[n], b.env.zone);
    let float = || plain.parse::<f64>().unwrap_or(f64::NAN);
    let mut body = if b.args[n].is_null(r) {
        "null".to_owned()
    } else {
        match kind {
            'f' => half_up(float(), precision.unwrap_or(6)),
            'e' | 'E' => {
                let text = format!("{:.*e}", precision.unwrap_or(6), float());
                let (m, e) = text.split_once('e').unwrap_or((&text, "0"));
                let e: i32 = e.parse().unwrap_or(0);
                format!("{m}e{}{:02}", if e < 0 { '-' } else { '+' }, e.abs())
            }
            'x' | 'X' => plain
                .parse::<i64>()
                .map_or(plain.clone(), |v| match &b.types[n] {
                    DataType::Integer => format!("{:x}", v as i32),
                    _ => format!("{v:x}"),
                }),
            'o' => plain
                .parse::<i64>()
                .map_or(plain.clone(), |v| format!("{v:o}")),
            'c' => plain
                .parse::<u32>()
                .ok()
                .and_then(char::from_u32)
                .map_or(plain.clone(), |c| c.to_string()),
            's' | 'S' => precision.map_or(plain.clone(), |p| plain.chars().take(p).collect()),
            _ => plain.clone(),
        }
    };
    if flag.contains(',') && matches!(kind, 'd' | 'f') {
        body = grouped(&body);
    }
    if flag.contains('+') && matches!(kind, 'd' | 'f' | 'e') && !body.starts_with('-') {
        body.insert(0, '+');
    }
    if kind.is_ascii_uppercase() {
        body = body.to_uppercase();
    }
    let missing = width.saturating_sub(body.chars().count());
    if flag.contains('-') {
        body + &" ".repeat(missing)
    } else if flag.contains('0') {
        let sign = usize::from(body.starts_with(['-', '+']));
        body[..sign].to_owned() + &"0".repeat(missing) + &body[sign..]
    } else {
        " ".repeat(missing) + &body
    }
}

/// Thousands with commas.
pub fn grouped(number: &str) -> String {
    let (sign, rest) = number.strip_prefix('-').map_or(("", number), |r| ("-", r));
    let (whole, fraction) = rest
        .split_once('.')
        .map_or((rest, None), |(w, f)| (w, Some(f)));
    let mut out = String::new();
    for (n, c) in whole.chars().enumerate() {
        if n > 0 && (whole.len() - n).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    match fraction {
        Some(f) => format!("{sign}{out}.{f}"),
        None => format!("{sign}{out}"),
    }
}
