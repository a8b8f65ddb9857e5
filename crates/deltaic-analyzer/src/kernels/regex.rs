//! Kernels of regular expressions. Patterns are Java's; what both engines write alike works.

use arrow::array::{ArrayRef, StringArray};
use arrow::buffer::NullBuffer;
use deltaic_protocol::{DeltaError, Result};
use regex::Regex;

use super::arrays;
use crate::kernel::Batch;

/// The last pattern, compiled.
#[derive(Default)]
struct Cache(Option<(String, Regex)>);

impl Cache {
    fn get(&mut self, pattern: &str, function: &str) -> Result<&Regex> {
        if self.0.as_ref().is_none_or(|(text, _)| text != pattern) {
            let regex = Regex::new(pattern).map_err(|_| {
                DeltaError::new("INVALID_PARAMETER_VALUE.PATTERN")
                    .param("functionName", format!("`{function}`"))
                    .param("parameter", "`regexp`")
                    .param("value", format!("'{pattern}'"))
            })?;
            self.0 = Some((pattern.to_owned(), regex));
        }
        match &self.0 {
            Some((_, regex)) => Ok(regex),
            None => Err(crate::error::internal("no pattern")),
        }
    }
}

/// `rlike`.
pub fn rlike(b: &Batch<'_>) -> Result<ArrayRef> {
    let mut cache = Cache::default();
    b.rows(|r| {
        Ok(Some(
            cache
                .get(b.str(1).value(r), "rlike")?
                .is_match(b.str(0).value(r)),
        ))
    })
}

/// `regexp_replace(text, pattern, by, from)`.
pub fn replace(b: &Batch<'_>) -> Result<ArrayRef> {
    let mut cache = Cache::default();
    b.rows(|r| {
        let (s, by, from) = (
            b.str(0).value(r),
            java_template(b.str(2).value(r)),
            b.i32(3).value(r),
        );
        let regex = cache.get(b.str(1).value(r), "regexp_replace")?;
        let at = s
            .char_indices()
            .nth((from.max(1) - 1) as usize)
            .map_or(s.len(), |(n, _)| n);
        Ok(Some(format!(
            "{}{}",
            &s[..at],
            regex.replace_all(&s[at..], by.as_str())
        )))
    })
}

/// `$1` of Java as the regex crate writes it; a backslash keeps the next character.
fn java_template(by: &str) -> String {
    let mut out = String::new();
    let mut chars = by.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('$') => out.push_str("$$"),
                Some(other) => out.push(other),
                None => {}
            },
            '$' => {
                let mut group = String::new();
                while let Some(d) = chars.peek().filter(|d| d.is_ascii_digit()) {
                    group.push(*d);
                    chars.next();
                }
                out.push_str(&if group.is_empty() {
                    "$".to_owned()
                } else {
                    format!("${{{group}}}")
                });
            }
            other => out.push(other),
        }
    }
    out
}

fn group_error(function: &str, groups: usize, index: i32) -> DeltaError {
    DeltaError::new("INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX")
        .param("parameter", "`idx`")
        .param("functionName", format!("`{function}`"))
        .param("groupCount", groups)
        .param("groupIndex", index)
}

/// `regexp_extract(text, pattern, group)`.
pub fn extract(b: &Batch<'_>) -> Result<ArrayRef> {
    let mut cache = Cache::default();
    b.rows(|r| {
        let index = b.i32(2).value(r);
        let regex = cache.get(b.str(1).value(r), "regexp_extract")?;
        let groups = regex.captures_len() - 1;
        if index < 0 || index as usize > groups {
            return Err(group_error("regexp_extract", groups, index));
        }
        let found = regex
            .captures(b.str(0).value(r))
            .and_then(|c| c.get(index as usize).map(|m| m.as_str().to_owned()));
        Ok(Some(found.unwrap_or_default()))
    })
}

/// `regexp_extract_all(text, pattern, group)`.
pub fn extract_all(b: &Batch<'_>) -> Result<ArrayRef> {
    let mut cache = Cache::default();
    let (mut values, mut lengths, mut valid): (Vec<String>, Vec<usize>, Vec<bool>) =
        (vec![], vec![], vec![]);
    for r in 0..b.rows {
        valid.push(!b.any_null(r));
        let before = values.len();
        if !b.any_null(r) {
            let index = b.i32(2).value(r);
            let regex = cache.get(b.str(1).value(r), "regexp_extract_all")?;
            let groups = regex.captures_len() - 1;
            if index < 0 || index as usize > groups {
                return Err(group_error("regexp_extract_all", groups, index));
            }
            values.extend(regex.captures_iter(b.str(0).value(r)).map(|c| {
                c.get(index as usize)
                    .map_or(String::new(), |m| m.as_str().to_owned())
            }));
        }
        lengths.push(values.len() - before);
    }
    arrays::build(
        b,
        std::sync::Arc::new(StringArray::from(values)),
        lengths,
        Some(NullBuffer::from(valid)),
    )
}

/// `regexp_count(text, pattern)`.
pub fn count(b: &Batch<'_>) -> Result<ArrayRef> {
    let mut cache = Cache::default();
    b.rows(|r| {
        Ok(Some(
            cache
                .get(b.str(1).value(r), "regexp_count")?
                .find_iter(b.str(0).value(r))
                .count() as i32,
        ))
    })
}

/// `regexp_substr(text, pattern)`.
pub fn substring(b: &Batch<'_>) -> Result<ArrayRef> {
    let mut cache = Cache::default();
    b.rows(|r| {
        Ok(cache
            .get(b.str(1).value(r), "regexp_substr")?
            .find(b.str(0).value(r))
            .map(|m| m.as_str().to_owned()))
    })
}

/// `regexp_instr(text, pattern)`: from 1.
pub fn instr(b: &Batch<'_>) -> Result<ArrayRef> {
    let mut cache = Cache::default();
    b.rows(|r| {
        let s = b.str(0).value(r);
        let found = cache.get(b.str(1).value(r), "regexp_instr")?.find(s);
        Ok(Some(
            found.map_or(0, |m| s[..m.start()].chars().count() as i32 + 1),
        ))
    })
}

/// `split(text, pattern, limit)`.
pub fn split(b: &Batch<'_>) -> Result<ArrayRef> {
    let mut cache = Cache::default();
    let (mut values, mut lengths, mut valid): (Vec<String>, Vec<usize>, Vec<bool>) =
        (vec![], vec![], vec![]);
    for r in 0..b.rows {
        valid.push(!b.any_null(r));
        if b.any_null(r) {
            lengths.push(0);
            continue;
        }
        let (s, pattern, limit) = (b.str(0).value(r), b.str(1).value(r), b.i32(2).value(r));
        let parts: Vec<String> = if s.is_empty() {
            vec![String::new()]
        } else if pattern.is_empty() {
            let chars: Vec<String> = s.chars().map(String::from).collect();
            if limit > 0 && chars.len() > limit as usize {
                chars[..limit as usize].to_vec()
            } else {
                chars
            }
        } else {
            let regex = cache.get(pattern, "split")?;
            if limit > 0 {
                regex.splitn(s, limit as usize).map(str::to_owned).collect()
            } else {
                regex.split(s).map(str::to_owned).collect()
            }
        };
        lengths.push(parts.len());
        values.extend(parts);
    }
    arrays::build(
        b,
        std::sync::Arc::new(StringArray::from(values)),
        lengths,
        Some(NullBuffer::from(valid)),
    )
}
