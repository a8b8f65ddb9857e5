//! Types of columns, and for each a few values: the edges of the type, values that lie close together, NULL.

use std::cmp::Ordering;

use chrono::{DateTime, Days, NaiveDate};
use deltaic_session::Value;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Small,
    Int,
    Long,
    Double,
    /// Precision and scale.
    Decimal(u8, i8),
    Text,
    Date,
    Instant,
    Local,
    Flag,
    Bytes,
    Record,
    List,
    Dict,
}

/// What a new column may be of.
pub const KINDS: [Kind; 14] = [
    Kind::Long,
    Kind::Text,
    Kind::Int,
    Kind::Small,
    Kind::Double,
    Kind::Decimal(10, 2),
    Kind::Date,
    Kind::Instant,
    Kind::Local,
    Kind::Flag,
    Kind::Bytes,
    Kind::Record,
    Kind::List,
    Kind::Dict,
];

impl Kind {
    /// The type in SQL.
    pub fn sql(self) -> String {
        match self {
            Kind::Small => "SMALLINT".to_owned(),
            Kind::Int => "INT".to_owned(),
            Kind::Long => "BIGINT".to_owned(),
            Kind::Double => "DOUBLE".to_owned(),
            Kind::Decimal(precision, scale) => format!("DECIMAL({precision},{scale})"),
            Kind::Text => "STRING".to_owned(),
            Kind::Date => "DATE".to_owned(),
            Kind::Instant => "TIMESTAMP".to_owned(),
            Kind::Local => "TIMESTAMP_NTZ".to_owned(),
            Kind::Flag => "BOOLEAN".to_owned(),
            Kind::Bytes => "BINARY".to_owned(),
            Kind::Record => "STRUCT<a: INT, b: STRING>".to_owned(),
            Kind::List => "ARRAY<INT>".to_owned(),
            Kind::Dict => "MAP<STRING, INT>".to_owned(),
        }
    }

    /// Whether columns of the type may be compared, and have statistics that say something.
    pub fn ordered(self) -> bool {
        !self.nested()
    }

    pub fn nested(self) -> bool {
        matches!(self, Kind::Record | Kind::List | Kind::Dict)
    }

    /// Whether tables may be partitioned by it.
    pub fn partitions(self) -> bool {
        !self.nested() && self != Kind::Bytes
    }

    /// Whether tables may be clustered by it.
    pub fn clusters(self) -> bool {
        !self.nested() && !matches!(self, Kind::Bytes | Kind::Flag)
    }

    /// The type that a column of this type may be widened to.
    pub fn wider(self, choice: u16) -> Option<Kind> {
        match (self, choice % 2) {
            (Kind::Small, 0) => Some(Kind::Int),
            (Kind::Small, _) | (Kind::Int, 0) => Some(Kind::Long),
            (Kind::Int, _) => Some(Kind::Double),
            (Kind::Decimal(10, 2), 0) => Some(Kind::Decimal(12, 2)),
            (Kind::Decimal(10, 2), _) => Some(Kind::Decimal(14, 4)),
            (Kind::Date, _) => Some(Kind::Local),
            _ => None,
        }
    }

    /// A value, one time of seven NULL.
    pub fn value(self, choice: u16) -> Value {
        if choice.is_multiple_of(7) {
            return Value::Null;
        }
        self.some(choice / 7)
    }

    /// A value that is not NULL.
    pub fn some(self, choice: u16) -> Value {
        let at = usize::from(choice);
        match self {
            Kind::Small => Value::Long(pick(&[1, 2, 0, -1, 7, 300, 32_767, -32_768], at)),
            Kind::Int => Value::Long(pick(
                &[1, 2, 0, -1, 7, 300, 2_147_483_647, -2_147_483_648],
                at,
            )),
            Kind::Long => Value::Long(pick(
                &[1, 2, 0, -1, 7, 10_000_000_000, i64::MAX, i64::MIN],
                at,
            )),
            Kind::Double => Value::Double(pick(
                &[
                    1.0,
                    1.5,
                    0.0,
                    -0.0,
                    -1.5,
                    1e300,
                    f64::NAN,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    0.1,
                ],
                at,
            )),
            Kind::Decimal(precision, scale) => {
                let biggest = 10_i128.pow(precision.into()) - 1;
                Value::Decimal(pick(&[100, 150, 0, -150, 1, biggest, -biggest], at), scale)
            }
            Kind::Text => Value::text(text(at)),
            Kind::Date => Value::Date(pick(
                &[18_321, 18_322, 0, -1, -141_428, 2_932_896, -719_162],
                at,
            )),
            Kind::Instant | Kind::Local => {
                let micros = pick(
                    &[
                        1_577_934_245_123_456,
                        1_577_934_245_123_457,
                        1_577_934_245_123_000,
                        0,
                        -1,
                        1_577_836_800_000_000,
                        -12_219_292_800_000_000,
                        253_402_300_799_999_999,
                    ],
                    at,
                );
                if self == Kind::Instant {
                    Value::Timestamp(micros)
                } else {
                    Value::TimestampNtz(micros)
                }
            }
            Kind::Flag => Value::Boolean(at % 2 == 0),
            Kind::Bytes => {
                Value::Binary(pick(&[&b"a"[..], b"ab", b"", b"\x00", b"\xff\x01"], at).to_vec())
            }
            Kind::Record => record(at),
            Kind::List => Value::Array(match at % 4 {
                0 => vec![Value::Long(1), Value::Long(2)],
                1 => Vec::new(),
                2 => vec![Value::Null],
                _ => vec![Value::Long(7)],
            }),
            Kind::Dict => Value::Map(match at % 3 {
                0 => vec![(Value::text("k"), Value::Long(1))],
                1 => Vec::new(),
                _ => vec![
                    (Value::text("k"), Value::Null),
                    (Value::text("z"), Value::Long(2)),
                ],
            }),
        }
    }

    /// A value in SQL.
    pub fn literal(self, value: &Value) -> String {
        match value {
            Value::Null => "NULL".to_owned(),
            Value::Boolean(flag) => flag.to_string(),
            Value::Long(number) if self == Kind::Long => format!("{number}L"),
            Value::Long(number) => number.to_string(),
            Value::Double(number) => format!("CAST('{}' AS DOUBLE)", double(*number)),
            Value::Decimal(unscaled, scale) => {
                format!("CAST('{}' AS {})", decimal(*unscaled, *scale), self.sql())
            }
            Value::String(text) => format!("'{text}'"),
            Value::Binary(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
                format!("X'{digits}'")
            }
            Value::Date(days) => format!("DATE '{}'", day(*days)),
            Value::Timestamp(micros) => format!("TIMESTAMP '{}Z'", moment(*micros)),
            Value::TimestampNtz(micros) => format!("TIMESTAMP_NTZ '{}'", moment(*micros)),
            Value::Struct(fields) => {
                let a = Kind::Int.literal(&fields[0].1);
                let b = Kind::Text.literal(&fields[1].1);
                format!("CAST(named_struct('a', {a}, 'b', {b}) AS {})", self.sql())
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| Kind::Int.literal(item)).collect();
                format!("CAST(array({}) AS {})", items.join(", "), self.sql())
            }
            Value::Map(pairs) => {
                let pairs: Vec<String> = pairs
                    .iter()
                    .map(|(key, value)| {
                        format!("{}, {}", Kind::Text.literal(key), Kind::Int.literal(value))
                    })
                    .collect();
                format!("CAST(map({}) AS {})", pairs.join(", "), self.sql())
            }
            other => panic!("{other:?} is of no kind"),
        }
    }
}

fn pick<T: Copy>(values: &[T], at: usize) -> T {
    values[at % values.len()]
}

/// Texts that share beginnings, that paths must escape, and that statistics cut.
fn text(at: usize) -> String {
    let long = "z".repeat(40);
    match at % 11 {
        0 => "a".to_owned(),
        1 => "ab".to_owned(),
        2 => "abc".to_owned(),
        3 => String::new(),
        4 => "A b/c=d%20:e".to_owned(),
        5 => format!("{long}a"),
        6 => format!("{long}b"),
        7 => format!("{}\u{10FFFF}\u{10FFFF}", "y".repeat(31)),
        8 => "é€\u{1F600}".to_owned(),
        9 => "NULL".to_owned(),
        _ => " b ".to_owned(),
    }
}

fn record(at: usize) -> Value {
    let (a, b) = match at % 4 {
        0 => (Value::Long(1), Value::text("x")),
        1 => (Value::Null, Value::text("")),
        2 => (Value::Long(2), Value::Null),
        _ => (Value::Null, Value::Null),
    };
    Value::Struct(vec![("a".to_owned(), a), ("b".to_owned(), b)])
}

fn double(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned()
    } else {
        format!("{number:e}")
    }
}

fn decimal(unscaled: i128, scale: i8) -> String {
    let unit = 10_i128.pow(u32::try_from(scale).unwrap());
    let sign = if unscaled < 0 { "-" } else { "" };
    let size = unscaled.abs();
    format!(
        "{sign}{}.{:0width$}",
        size / unit,
        size % unit,
        width = usize::try_from(scale).unwrap()
    )
}

/// The date of a day.
pub fn date(days: i32) -> NaiveDate {
    let epoch = NaiveDate::default();
    let count = Days::new(days.unsigned_abs().into());
    if days < 0 {
        epoch.checked_sub_days(count)
    } else {
        epoch.checked_add_days(count)
    }
    .unwrap()
}

fn day(days: i32) -> String {
    date(days).format("%Y-%m-%d").to_string()
}

fn moment(micros: i64) -> String {
    DateTime::from_timestamp_micros(micros)
        .unwrap()
        .format("%Y-%m-%d %H:%M:%S%.6f")
        .to_string()
}

/// How SQL orders two values of one type; nothing where one is NULL.
pub fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    Some(match (a, b) {
        (Value::Null, _) | (_, Value::Null) => return None,
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        (Value::Long(a), Value::Long(b)) => a.cmp(b),
        // NaN is the greatest number and equal to itself; the zeros are equal.
        (Value::Double(a), Value::Double(b)) => (a + 0.0)
            .partial_cmp(&(b + 0.0))
            .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())),
        (Value::Decimal(a, own), Value::Decimal(b, other)) => {
            let scale = |unscaled: &i128, from: &i8| {
                unscaled * 10_i128.pow(u32::try_from(10 - from).unwrap())
            };
            scale(a, own).cmp(&scale(b, other))
        }
        // A column may be wider than the values that a constraint compares it with.
        (Value::Double(_), Value::Long(number)) => {
            return compare(a, &Value::Double(*number as f64));
        }
        (Value::TimestampNtz(_), Value::Date(_)) => return compare(a, &widened(b, Kind::Local)),
        (Value::String(a), Value::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Binary(a), Value::Binary(b)) => a.cmp(b),
        (Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Value::Timestamp(a), Value::Timestamp(b))
        | (Value::TimestampNtz(a), Value::TimestampNtz(b)) => a.cmp(b),
        other => panic!("{other:?} have no order"),
    })
}

/// A value of one type as one of a wider type.
pub fn widened(value: &Value, to: Kind) -> Value {
    match (value, to) {
        (Value::Long(number), Kind::Double) => Value::Double(*number as f64),
        (Value::Decimal(unscaled, scale), Kind::Decimal(_, wide)) => Value::Decimal(
            unscaled * 10_i128.pow(u32::try_from(wide - scale).unwrap()),
            wide,
        ),
        (Value::Date(days), Kind::Local) => Value::TimestampNtz(i64::from(*days) * 86_400_000_000),
        (same, _) => same.clone(),
    }
}
