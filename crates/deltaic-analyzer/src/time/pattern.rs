//! Spark's datetime patterns (`yyyy-MM-dd HH:mm:ss.SSS`), for formatting and for reading.

use chrono::{Datelike, NaiveDate, NaiveTime, Timelike};
use chrono_tz::Tz;

use super::parse::{Zone, zone_of};
use super::{MICROS_PER_SECOND, from_wall, offset_at, to_wall, wall, wall_of};

/// A pattern taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Letter(char, usize),
    Text(String),
    Open,
    Close,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// The English name of a month, 1 to 12.
pub fn month_name(month: u32) -> &'static str {
    MONTHS[(month.clamp(1, 12) - 1) as usize]
}

/// The English name of a day of the week, 0 for Monday.
pub fn day_name(from_monday: u32) -> &'static str {
    DAYS[(from_monday % 7) as usize]
}

impl Pattern {
    /// Take a pattern apart. The error is the offending text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut items = Vec::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c.is_ascii_alphabetic() {
                let mut n = 1;
                while chars.peek() == Some(&c) {
                    chars.next();
                    n += 1;
                }
                if !"GyuMLdQqEaHhKkmsSVzOXxZDFT".contains(c) || c == 'T' {
                    return Err(c.to_string());
                }
                items.push(Item::Letter(c, n));
                continue;
            }
            match c {
                '\'' => {
                    let mut quoted = String::new();
                    loop {
                        match chars.next() {
                            Some('\'') if chars.peek() == Some(&'\'') => {
                                chars.next();
                                quoted.push('\'');
                            }
                            Some('\'') => break,
                            Some(other) => quoted.push(other),
                            None => return Err(text.to_owned()),
                        }
                    }
                    items.push(Item::Text(if quoted.is_empty() {
                        "'".to_owned()
                    } else {
                        quoted
                    }));
                }
                '[' => items.push(Item::Open),
                ']' => items.push(Item::Close),
                other => items.push(Item::Text(other.to_string())),
            }
        }
        Ok(Self { items })
    }

    /// An instant as the pattern writes it in `zone`.
    pub fn format(&self, micros: i64, zone: Tz) -> Option<String> {
        let offset = offset_at(micros, zone);
        let local = to_wall(micros, zone);
        let at = wall(local)?;
        let mut out = String::new();
        for item in &self.items {
            let (letter, n) = match item {
                Item::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Item::Open | Item::Close => continue,
                Item::Letter(letter, n) => (*letter, *n),
            };
            match letter {
                'G' => out.push_str(if at.year() > 0 { "AD" } else { "BC" }),
                'y' | 'u' if n == 2 => out.push_str(&format!("{:02}", at.year().rem_euclid(100))),
                'y' | 'u' => out.push_str(&format!("{:0n$}", at.year())),
                'M' | 'L' => match n {
                    1 => out.push_str(&at.month().to_string()),
                    2 => out.push_str(&format!("{:02}", at.month())),
                    3 => out.push_str(&month_name(at.month())[..3]),
                    _ => out.push_str(month_name(at.month())),
                },
                'Q' | 'q' => match n {
                    1 => out.push_str(&(at.month0() / 3 + 1).to_string()),
                    2 => out.push_str(&format!("{:02}", at.month0() / 3 + 1)),
                    3 => out.push_str(&format!("Q{}", at.month0() / 3 + 1)),
                    _ => out.push_str(["1st", "2nd", "3rd", "4th"][(at.month0() / 3) as usize]),
                },
                'd' => out.push_str(&format!("{:0n$}", at.day())),
                'D' => out.push_str(&format!("{:0n$}", at.ordinal())),
                'F' => out.push_str(&((at.day() - 1) / 7 + 1).to_string()),
                'E' => {
                    let name = day_name(at.weekday().num_days_from_monday());
                    out.push_str(if n <= 3 { &name[..3] } else { name });
                }
                'a' => out.push_str(if at.hour() < 12 { "AM" } else { "PM" }),
                'H' => out.push_str(&format!("{:0n$}", at.hour())),
                'k' => out.push_str(&format!(
                    "{:0n$}",
                    if at.hour() == 0 { 24 } else { at.hour() }
                )),
                'K' => out.push_str(&format!("{:0n$}", at.hour() % 12)),
                'h' => out.push_str(&format!("{:0n$}", (at.hour() + 11) % 12 + 1)),
                'm' => out.push_str(&format!("{:0n$}", at.minute())),
                's' => out.push_str(&format!("{:0n$}", at.second())),
                'S' => {
                    let fraction = format!("{:06}000", local.rem_euclid(MICROS_PER_SECOND));
                    out.push_str(&fraction[..n.min(9)]);
                }
                'V' => out.push_str(if zone == Tz::UTC { "UTC" } else { zone.name() }),
                'z' => out.push_str(if zone == Tz::UTC { "UTC" } else { zone.name() }),
                'X' if offset == 0 => out.push('Z'),
                'O' => {
                    out.push_str("GMT");
                    if offset != 0 {
                        let (sign, h, m) = parts(offset);
                        out.push_str(&if n >= 4 || m != 0 {
                            format!("{sign}{h:02}:{m:02}")
                        } else {
                            format!("{sign}{h}")
                        });
                    }
                }
                'X' | 'x' | 'Z' => {
                    let (sign, h, m) = parts(offset);
                    out.push_str(&match (letter, n) {
                        ('X' | 'x', 1) if m == 0 => format!("{sign}{h:02}"),
                        ('X' | 'x', 1 | 2 | 4) | ('Z', 1..=3) => format!("{sign}{h:02}{m:02}"),
                        ('Z', 4) => format!("GMT{sign}{h:02}:{m:02}"),
                        _ => format!("{sign}{h:02}:{m:02}"),
                    });
                }
                _ => return None,
            }
        }
        Some(out)
    }

    /// The instant that a text names; a text without a zone is read in `zone`. None where it does not fit.
    pub fn read(&self, text: &str, zone: Tz) -> Option<i64> {
        let mut at = Fields::default();
        let rest = read_items(&self.items, text, &mut at)?;
        if !rest.is_empty() {
            return None;
        }
        let wall = at.wall()?;
        Some(match at.zone {
            None => from_wall(wall, zone),
            Some(Zone::Fixed(seconds)) => wall - i64::from(seconds) * MICROS_PER_SECOND,
            Some(Zone::Named(tz)) => from_wall(wall, tz),
        })
    }
}

fn parts(offset: i32) -> (char, i32, i32) {
    let sign = if offset < 0 { '-' } else { '+' };
    (sign, offset.abs() / 3600, offset.abs() / 60 % 60)
}

#[derive(Default)]
struct Fields {
    year: Option<i32>,
    month: Option<u32>,
    day: Option<u32>,
    day_of_year: Option<u32>,
    hour: Option<u32>,
    minute: Option<u32>,
    second: Option<u32>,
    micro: Option<u32>,
    half: Option<u32>,
    twelve: Option<u32>,
    zone: Option<Zone>,
}

impl Fields {
    fn wall(&self) -> Option<i64> {
        let year = self.year.unwrap_or(1970);
        let date = match self.day_of_year {
            Some(n) => NaiveDate::from_yo_opt(year, n)?,
            None => NaiveDate::from_ymd_opt(year, self.month.unwrap_or(1), self.day.unwrap_or(1))?,
        };
        let hour = match (self.hour, self.twelve) {
            (Some(h), _) => h,
            (None, Some(h)) => h % 12 + self.half.unwrap_or(0) * 12,
            (None, None) => 0,
        };
        let time = NaiveTime::from_hms_micro_opt(
            hour,
            self.minute.unwrap_or(0),
            self.second.unwrap_or(0),
            self.micro.unwrap_or(0),
        )?;
        Some(wall_of(date, time))
    }
}

fn read_items<'a>(items: &[Item], mut text: &'a str, at: &mut Fields) -> Option<&'a str> {
    let mut n = 0;
    while let Some(item) = items.get(n) {
        // Digits that stand together are taken by their width, else as many as there are.
        let joined = matches!(items.get(n + 1), Some(Item::Letter(c, w)) if is_number(*c, *w));
        match item {
            Item::Text(t) => text = text.strip_prefix(t.as_str())?,
            Item::Close => {}
            Item::Open => {
                let depth_end = closing(items, n);
                let mut trial = Fields {
                    zone: at.zone,
                    ..copy(at)
                };
                if let Some(rest) = read_items(&items[n + 1..depth_end], text, &mut trial) {
                    *at = trial;
                    text = rest;
                }
                n = depth_end;
            }
            Item::Letter(letter, width) => text = read_letter(*letter, *width, joined, text, at)?,
        }
        n += 1;
    }
    Some(text)
}

fn copy(at: &Fields) -> Fields {
    Fields { ..*at }
}

fn closing(items: &[Item], open: usize) -> usize {
    let mut depth = 0;
    for (n, item) in items.iter().enumerate().skip(open) {
        match item {
            Item::Open => depth += 1,
            Item::Close => {
                depth -= 1;
                if depth == 0 {
                    return n;
                }
            }
            _ => {}
        }
    }
    items.len()
}

fn is_number(letter: char, width: usize) -> bool {
    matches!(
        letter,
        'y' | 'u' | 'd' | 'D' | 'H' | 'h' | 'k' | 'K' | 'm' | 's' | 'S'
    ) || (matches!(letter, 'M' | 'L') && width <= 2)
}

fn read_letter<'a>(
    letter: char,
    width: usize,
    joined: bool,
    text: &'a str,
    at: &mut Fields,
) -> Option<&'a str> {
    let have = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = |least: usize, most: usize| -> Option<(u32, &'a str)> {
        let most = if joined { width } else { most };
        let n = have.min(most);
        (n >= least).then_some(())?;
        Some((text[..n].parse().ok()?, &text[n..]))
    };
    let rest = match letter {
        'G' => return text.strip_prefix("AD").or_else(|| text.strip_prefix("BC")),
        'y' | 'u' => {
            let (negative, body) = match text.strip_prefix('-') {
                Some(rest) => (true, rest),
                None => (false, text),
            };
            let have = body.bytes().take_while(u8::is_ascii_digit).count();
            let most = if width == 2 {
                2
            } else if joined {
                width
            } else {
                7
            };
            let n = have.min(most);
            (n >= width.min(4)).then_some(())?;
            let year: i32 = body[..n].parse().ok()?;
            at.year = Some(if width == 2 {
                2000 + year
            } else if negative {
                -year
            } else {
                year
            });
            &body[n..]
        }
        'M' | 'L' if width <= 2 => {
            let (v, rest) = number(width, 2)?;
            at.month = Some(v);
            rest
        }
        'M' | 'L' => {
            let (n, name) = MONTHS.iter().enumerate().find_map(|(n, name)| {
                let name = if width == 3 { &name[..3] } else { name };
                text.get(..name.len())
                    .is_some_and(|t| t.eq_ignore_ascii_case(name))
                    .then_some((n, name))
            })?;
            at.month = Some(n as u32 + 1);
            &text[name.len()..]
        }
        'd' => {
            let (v, rest) = number(width, 2)?;
            at.day = Some(v);
            rest
        }
        'D' => {
            let (v, rest) = number(width, 3)?;
            at.day_of_year = Some(v);
            rest
        }
        'E' => {
            let name = DAYS.iter().find_map(|name| {
                let name = if width <= 3 { &name[..3] } else { name };
                text.get(..name.len())
                    .is_some_and(|t| t.eq_ignore_ascii_case(name))
                    .then_some(name)
            })?;
            &text[name.len()..]
        }
        'a' => {
            let word = text.get(..2)?;
            at.half = Some(match word.to_ascii_uppercase().as_str() {
                "AM" => 0,
                "PM" => 1,
                _ => return None,
            });
            &text[2..]
        }
        'H' | 'k' => {
            let (v, rest) = number(width, 2)?;
            at.hour = Some(if letter == 'k' { v % 24 } else { v });
            rest
        }
        'h' | 'K' => {
            let (v, rest) = number(width, 2)?;
            at.twelve = Some(v);
            rest
        }
        'm' => {
            let (v, rest) = number(width, 2)?;
            at.minute = Some(v);
            rest
        }
        's' => {
            let (v, rest) = number(width, 2)?;
            at.second = Some(v);
            rest
        }
        'S' => {
            let n = have.min(width.min(9));
            (n > 0 && (n == width || !joined)).then_some(())?;
            let kept = &text[..n.min(6)];
            at.micro = Some(format!("{kept:0<6}").parse().ok()?);
            &text[n..]
        }
        'X' | 'x' | 'Z' | 'V' | 'z' | 'O' => {
            let n = text
                .bytes()
                .take_while(|b| {
                    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b':' | b'/' | b'_')
                })
                .count();
            at.zone = Some(zone_of(&text[..n])?);
            &text[n..]
        }
        _ => return None,
    };
    Some(rest)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn patterns_format_and_read_back() {
        let at = 1_777_627_845_123_000; // 2026-05-01 09:30:45.123 UTC
        for (pattern, text) in [
            ("yyyy-MM-dd HH:mm:ss", "2026-05-01 09:30:45"),
            ("yyyyMMddHHmmssSSS", "20260501093045123"),
            ("d MMM yyyy", "1 May 2026"),
            ("EEEE, MMMM d, y", "Friday, May 1, 2026"),
            ("hh:mm a", "09:30 AM"),
            ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2026-05-01T09:30:45.123Z"),
        ] {
            assert_eq!(
                Pattern::parse(pattern)
                    .unwrap()
                    .format(at, Tz::UTC)
                    .as_deref(),
                Some(text)
            );
            assert!(
                Pattern::parse(pattern)
                    .unwrap()
                    .read(text, Tz::UTC)
                    .is_some(),
                "{pattern}"
            );
        }
        let read = Pattern::parse("yyyyMMddHHmmssSSS")
            .unwrap()
            .read("20260501093045123", Tz::UTC);
        assert_eq!(read, Some(at));
    }
}
