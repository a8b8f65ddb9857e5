//! Kernels of dates, timestamps and intervals, in the session's zone.

use arrow::array::ArrayRef;
use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};
use chrono_tz::Tz;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use super::values::{Number, number};
use crate::error::internal;
use crate::kernel::Batch;
use crate::time::parse::{Zone, zone_of};
use crate::time::pattern::{Pattern, day_name, month_name};
use crate::time::{self, MICROS_PER_DAY, MICROS_PER_SECOND, interval};

/// The wall time of a DATE, TIMESTAMP or TIMESTAMP_NTZ argument.
fn wall(b: &Batch<'_>, n: usize, r: usize) -> i64 {
    match &b.types[n] {
        DataType::Date => i64::from(b.date(n).value(r)) * MICROS_PER_DAY,
        DataType::Timestamp => time::to_wall(b.ts(n).value(r), b.env.zone),
        _ => b.ts(n).value(r),
    }
}

fn unwall(b: &Batch<'_>, micros: i64) -> i64 {
    if *b.ret == DataType::Timestamp {
        time::from_wall(micros, b.env.zone)
    } else {
        micros
    }
}

fn overflow(what: &str) -> DeltaError {
    DeltaError::new("DATETIME_OVERFLOW").param("operation", what)
}

/// A part of a date or time, by name; INT, but seconds with fraction are DECIMAL(8, 6).
pub fn part(b: &Batch<'_>, which: &str) -> Result<ArrayRef> {
    b.rows(|r| {
        let micros = wall(b, 0, r);
        let Some(at) = time::wall(micros) else {
            return Ok(None);
        };
        let date = at.date();
        Ok(Some(match which {
            "year" => date.year(),
            "quarter" => (date.month0() / 3 + 1) as i32,
            "month" => date.month() as i32,
            "week" => date.iso_week().week() as i32,
            "yearofweek" => date.iso_week().year(),
            "day" => date.day() as i32,
            "dayofweek" => date.weekday().num_days_from_sunday() as i32 + 1,
            "dayofweek_iso" => date.weekday().num_days_from_monday() as i32 + 1,
            "weekday" => date.weekday().num_days_from_monday() as i32,
            "dayofyear" => date.ordinal() as i32,
            "hour" => at.hour() as i32,
            "minute" => at.minute() as i32,
            _ => at.second() as i32,
        }))
    })
}

macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident = $which:literal;)*) => {
        $($(#[$doc])* pub fn $name(b: &Batch<'_>) -> Result<ArrayRef> {
            part(b, $which)
        })*
    };
}

parts! {
    /// `year`.
    year = "year";
    /// `quarter`.
    quarter = "quarter";
    /// `month`.
    month = "month";
    /// `weekofyear`.
    week = "week";
    /// The year that the ISO week belongs to.
    year_of_week = "yearofweek";
    /// `day`.
    day = "day";
    /// `dayofweek`: 1 for Sunday.
    day_of_week = "dayofweek";
    /// ISO day of the week: 1 for Monday.
    day_of_week_iso = "dayofweek_iso";
    /// `weekday`: 0 for Monday.
    weekday = "weekday";
    /// `dayofyear`.
    day_of_year = "dayofyear";
    /// `hour`.
    hour = "hour";
    /// `minute`.
    minute = "minute";
    /// `second`.
    second = "second";
}

/// `extract(SECOND FROM …)`: with the fraction, DECIMAL(8, 6).
pub fn seconds_with_fraction(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        Ok(Some(i128::from(
            wall(b, 0, r).rem_euclid(time::MICROS_PER_MINUTE),
        )))
    })
}

/// A part of an interval.
pub fn interval_part(b: &Batch<'_>) -> Result<ArrayRef> {
    // The salt says which: 0 year, 1 month, 2 day, 3 hour, 4 minute.
    match &b.types[0] {
        DataType::YearMonthInterval { .. } => b.rows(|r| {
            let months = b.year_month(0).value(r);
            Ok(Some(if b.env.salt == 0 {
                months / 12
            } else {
                months % 12
            }))
        }),
        _ => b.rows(|r| {
            let micros = b.day_time(0).value(r);
            Ok(Some(match b.env.salt {
                2 => micros / MICROS_PER_DAY,
                3 => micros % MICROS_PER_DAY / time::MICROS_PER_HOUR,
                _ => micros % time::MICROS_PER_HOUR / time::MICROS_PER_MINUTE,
            } as i32))
        }),
    }
}

/// `dayname` and `monthname`.
pub fn day_names(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        Ok(time::date(b.date(0).value(r))
            .map(|d| day_name(d.weekday().num_days_from_monday())[..3].to_owned()))
    })
}
/// See [`day_names`].
pub fn month_names(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(time::date(b.date(0).value(r)).map(|d| month_name(d.month())[..3].to_owned())))
}

/// `date_add(date, days)` and `date_sub` (`env.salt` 1).
pub fn add_days(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let n = b.i32(1).value(r);
        Ok(Some(b.date(0).value(r).wrapping_add(if b.env.salt == 1 {
            n.wrapping_neg()
        } else {
            n
        })))
    })
}

/// `datediff(end, start)`.
pub fn date_diff(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(Some(b.date(0).value(r) - b.date(1).value(r))))
}

/// `add_months(date, n)`, also a date plus a year-month interval.
pub fn add_months(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let months = match &b.types[1] {
            DataType::YearMonthInterval { .. } => b.year_month(1).value(r),
            _ => b.i32(1).value(r),
        };
        time::add_months(b.date(0).value(r), months.into())
            .map(Some)
            .ok_or_else(|| overflow("add months to a date"))
    })
}

/// A timestamp plus a year-month interval.
pub fn add_months_to_time(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let months = b.year_month(1).value(r);
        let moved = time::add_months_to_wall(wall(b, 0, r), months.into())
            .ok_or_else(|| overflow("add months to a timestamp"))?;
        Ok(Some(unwall(b, moved)))
    })
}

/// A timestamp plus a day-time interval: whole days on the wall, the rest in real time.
pub fn add_time(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let micros = b.day_time(1).value(r);
        let at = b.ts(0).value(r);
        if b.types[0] == DataType::TimestampNtz {
            return Ok(at.checked_add(micros));
        }
        let (days, rest) = (micros / MICROS_PER_DAY, micros % MICROS_PER_DAY);
        let at = if days == 0 {
            at
        } else {
            let moved = time::to_wall(at, b.env.zone).checked_add(days * MICROS_PER_DAY);
            time::from_wall(
                moved.ok_or_else(|| overflow("add an interval to a timestamp"))?,
                b.env.zone,
            )
        };
        at.checked_add(rest)
            .map(Some)
            .ok_or_else(|| overflow("add an interval to a timestamp"))
    })
}

/// A calendar interval added to a timestamp or date: months, then days, on the wall, then time.
pub fn add_calendar(b: &Batch<'_>) -> Result<ArrayRef> {
    use arrow::array::AsArray;
    let amounts = b.args[1].as_primitive::<arrow::datatypes::IntervalMonthDayNanoType>();
    let add = |r: usize, from: i64| {
        let v = amounts.value(r);
        time::add_months_to_wall(from, v.months.into())
            .map(|at| at + i64::from(v.days) * MICROS_PER_DAY)
            .ok_or_else(|| overflow("add an interval"))
    };
    if *b.ret == DataType::Date {
        return b.rows(|r| {
            let at = add(r, wall(b, 0, r))? + amounts.value(r).nanoseconds / 1000;
            Ok(Some(at.div_euclid(MICROS_PER_DAY) as i32))
        });
    }
    b.rows(|r| {
        Ok(Some(
            unwall(b, add(r, wall(b, 0, r))?) + amounts.value(r).nanoseconds / 1000,
        ))
    })
}

/// The difference of two timestamps as a day-time interval.
pub fn subtract_times(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(Some(b.ts(0).value(r) - b.ts(1).value(r))))
}

/// The difference of two dates as an interval of days.
pub fn subtract_dates(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        Ok(Some(
            i64::from(b.date(0).value(r) - b.date(1).value(r)) * MICROS_PER_DAY,
        ))
    })
}

/// Sum and difference (`env.salt` 1) of two intervals of a kind.
pub fn add_intervals(b: &Batch<'_>) -> Result<ArrayRef> {
    let negative = b.env.salt == 1;
    let bad = || DeltaError::new("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION");
    match b.ret {
        DataType::YearMonthInterval { .. } => b.rows(|r| {
            let (x, y) = (b.year_month(0).value(r), b.year_month(1).value(r));
            (if negative {
                x.checked_sub(y)
            } else {
                x.checked_add(y)
            })
            .map(Some)
            .ok_or_else(bad)
        }),
        _ => b.rows(|r| {
            let (x, y) = (b.day_time(0).value(r), b.day_time(1).value(r));
            (if negative {
                x.checked_sub(y)
            } else {
                x.checked_add(y)
            })
            .map(Some)
            .ok_or_else(bad)
        }),
    }
}

/// An interval times a number, or (`env.salt` 1) divided by one.
pub fn scale_interval(b: &Batch<'_>) -> Result<ArrayRef> {
    let bad = || DeltaError::new("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION");
    let scaled = |r: usize, v: i64| -> Result<f64> {
        let factor = match number(&b.args[1], r, &b.types[1]) {
            Some(Number::Whole(n)) => n as f64,
            Some(Number::Decimal(n, s)) => crate::text::decimal(n, s).parse().unwrap_or(f64::NAN),
            Some(Number::Float(n)) => n.into(),
            Some(Number::Double(n)) => n,
            None => f64::NAN,
        };
        if b.env.salt == 1 && factor == 0.0 {
            return Err(DeltaError::new("INTERVAL_DIVIDED_BY_ZERO"));
        }
        Ok(if b.env.salt == 1 {
            v as f64 / factor
        } else {
            v as f64 * factor
        })
    };
    let exact = |r: usize, v: i64| -> Option<Option<i64>> {
        match number(&b.args[1], r, &b.types[1]) {
            Some(Number::Whole(n)) if b.env.salt == 0 => Some(v.checked_mul(n)),
            _ => None,
        }
    };
    let out = |r: usize, v: i64| -> Result<i64> {
        if let Some(v) = exact(r, v) {
            return v.ok_or_else(bad);
        }
        let v = scaled(r, v)?.round();
        if v.is_finite() && v.abs() < 9.2e18 {
            Ok(v as i64)
        } else {
            Err(bad())
        }
    };
    match b.ret {
        DataType::YearMonthInterval { .. } => b.rows(|r| {
            out(r, b.year_month(0).value(r).into())
                .and_then(|v| i32::try_from(v).map_err(|_| bad()))
                .map(Some)
        }),
        _ => b.rows(|r| out(r, b.day_time(0).value(r)).map(Some)),
    }
}

/// `last_day(date)`.
pub fn last_day(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        Ok(time::date(b.date(0).value(r))
            .and_then(time::last_day)
            .map(time::days))
    })
}

/// `next_day(date, day of week)`.
pub fn next_day(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let name = b.str(1).value(r).to_ascii_uppercase();
        let wanted = match name.as_str() {
            "MO" | "MON" | "MONDAY" => 0,
            "TU" | "TUE" | "TUESDAY" => 1,
            "WE" | "WED" | "WEDNESDAY" => 2,
            "TH" | "THU" | "THURSDAY" => 3,
            "FR" | "FRI" | "FRIDAY" => 4,
            "SA" | "SAT" | "SATURDAY" => 5,
            "SU" | "SUN" | "SUNDAY" => 6,
            _ if !b.env.ansi => return Ok(None),
            _ => {
                return Err(
                    DeltaError::new("ILLEGAL_DAY_OF_WEEK").param("string", b.str(1).value(r))
                );
            }
        };
        let day = b.date(0).value(r);
        let Some(at) = time::date(day) else {
            return Ok(None);
        };
        let ahead = (wanted + 7 - at.weekday().num_days_from_monday() as i32 - 1) % 7 + 1;
        Ok(Some(day + ahead))
    })
}

/// `months_between(end, start, round off)`.
pub fn months_between(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let (Some(x), Some(y)) = (time::wall(wall(b, 0, r)), time::wall(wall(b, 1, r))) else {
            return Ok(None);
        };
        let months = f64::from((x.year() - y.year()) * 12 + x.month() as i32 - y.month() as i32);
        let is_last = |d: NaiveDate| time::last_day(d) == Some(d);
        if x.day() == y.day() || (is_last(x.date()) && is_last(y.date())) {
            return Ok(Some(months));
        }
        let seconds =
            f64::from(x.num_seconds_from_midnight()) - f64::from(y.num_seconds_from_midnight());
        let days = f64::from(x.day()) - f64::from(y.day());
        let out = months + (days + seconds / 86_400.0) / 31.0;
        Ok(Some(if b.bool(2).value(r) {
            (out * 1e8).round() / 1e8
        } else {
            out
        }))
    })
}

/// `trunc(date, unit)`.
pub fn trunc_date(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(time::truncate_day(b.date(0).value(r), b.str(1).value(r))))
}

/// `date_trunc(unit, timestamp)`.
pub fn trunc_time(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(time::truncate(wall(b, 1, r), b.str(0).value(r)).map(|at| unwall(b, at))))
}

/// The last pattern, taken apart.
#[derive(Default)]
struct Patterns(Option<(String, Pattern)>);

impl Patterns {
    fn get(&mut self, text: &str) -> Result<&Pattern> {
        if self.0.as_ref().is_none_or(|(t, _)| t != text) {
            let pattern = Pattern::parse(text).map_err(|letter| {
                DeltaError::new("INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER")
                    .param("c", letter)
                    .param("pattern", text)
            })?;
            self.0 = Some((text.to_owned(), pattern));
        }
        match &self.0 {
            Some((_, p)) => Ok(p),
            None => Err(internal("no pattern")),
        }
    }
}

/// `date_format(timestamp, pattern)`.
pub fn date_format(b: &Batch<'_>) -> Result<ArrayRef> {
    let mut patterns = Patterns::default();
    b.rows(|r| {
        let micros = b.ts(0).value(r);
        let zone = if b.types[0] == DataType::Timestamp {
            b.env.zone
        } else {
            Tz::UTC
        };
        Ok(patterns.get(b.str(1).value(r))?.format(micros, zone))
    })
}

/// `from_unixtime(seconds, pattern)`.
pub fn from_unixtime(b: &Batch<'_>) -> Result<ArrayRef> {
    let mut patterns = Patterns::default();
    b.rows(|r| {
        let micros = b.i64(0).value(r).saturating_mul(MICROS_PER_SECOND);
        Ok(patterns.get(b.str(1).value(r))?.format(micros, b.env.zone))
    })
}

/// Text by a pattern, as microseconds; a misfit is an error, or NULL where `env.salt` is 1.
fn read(b: &Batch<'_>, r: usize, patterns: &mut Patterns, zone: Tz) -> Result<Option<i64>> {
    let (text, pattern) = (b.str(0).value(r), b.str(1).value(r));
    match patterns.get(pattern)?.read(text, zone) {
        Some(at) => Ok(Some(at)),
        None if b.env.salt == 1 || !b.env.ansi => Ok(None),
        None => Err(DeltaError::new("CANNOT_PARSE_TIMESTAMP")
            .param(
                "message",
                format!("Text '{text}' could not be parsed at index 0"),
            )
            .param("func", "`try_to_timestamp`")
            .param("ansiConfig", crate::error::ANSI_CONFIG)),
    }
}

/// `to_timestamp(text, pattern)` of either kind.
pub fn parse_timestamp(b: &Batch<'_>) -> Result<ArrayRef> {
    let mut patterns = Patterns::default();
    let zone = if *b.ret == DataType::TimestampNtz {
        Tz::UTC
    } else {
        b.env.zone
    };
    b.rows(|r| read(b, r, &mut patterns, zone))
}

/// `to_date(text, pattern)`.
pub fn parse_date(b: &Batch<'_>) -> Result<ArrayRef> {
    let mut patterns = Patterns::default();
    b.rows(|r| {
        Ok(read(b, r, &mut patterns, Tz::UTC)?.map(|at| at.div_euclid(MICROS_PER_DAY) as i32))
    })
}

/// `unix_timestamp(text, pattern)`.
pub fn parse_unix(b: &Batch<'_>) -> Result<ArrayRef> {
    let mut patterns = Patterns::default();
    b.rows(
        |r| Ok(read(b, r, &mut patterns, b.env.zone)?.map(|at| at.div_euclid(MICROS_PER_SECOND))),
    )
}

/// `unix_seconds`, `unix_millis`, `unix_micros`: the salt is the divisor.
pub fn since_epoch(b: &Batch<'_>) -> Result<ArrayRef> {
    let divisor = (b.env.salt as i64).max(1);
    b.rows(|r| Ok(Some(b.ts(0).value(r).div_euclid(divisor))))
}

/// `timestamp_seconds`, `timestamp_millis`, `timestamp_micros`: the salt is the factor.
pub fn from_epoch(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let factor = b.env.salt as i64;
        match number(&b.args[0], r, &b.types[0]) {
            Some(Number::Whole(v)) => {
                let micros = v.checked_mul(factor);
                micros
                    .map(Some)
                    .ok_or_else(|| super::arithmetic::overflow(&DataType::Long, ""))
            }
            Some(Number::Double(v)) => Ok(v.is_finite().then_some((v * factor as f64) as i64)),
            Some(Number::Float(v)) => Ok(v
                .is_finite()
                .then_some((f64::from(v) * factor as f64) as i64)),
            Some(Number::Decimal(v, s)) => {
                let exact = super::decimal::rescale(
                    arrow::datatypes::i256::from_i128(v * i128::from(factor)),
                    s.into(),
                    0,
                    super::decimal::Rounding::Down,
                );
                Ok(exact.to_i128().and_then(|v| i64::try_from(v).ok()))
            }
            None => Ok(None),
        }
    })
}

/// `unix_date(date)` and `date_from_unix_date(days)`.
pub fn unix_date(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(Some(b.date(0).value(r))))
}
/// See [`unix_date`].
pub fn date_from_unix(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| Ok(Some(b.i32(0).value(r))))
}

fn invalid_fields(what: &str) -> DeltaError {
    DeltaError::new("DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION")
        .param("rangeMessage", what)
        .param("ansiConfig", crate::error::ANSI_CONFIG)
}

/// `make_date(year, month, day)`.
pub fn make_date(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let (y, m, d) = (b.i32(0).value(r), b.i32(1).value(r), b.i32(2).value(r));
        match date_of(y, m, d) {
            Ok(date) => Ok(Some(time::days(date))),
            Err(_) if !b.env.ansi => Ok(None),
            Err(text) => Err(invalid_fields(&text)),
        }
    })
}

fn date_of(y: i32, m: i32, d: i32) -> std::result::Result<NaiveDate, String> {
    if !(1..=12).contains(&m) {
        return Err(format!(
            "Invalid value for MonthOfYear (valid values 1 - 12): {m}"
        ));
    }
    if !(1..=31).contains(&d) {
        return Err(format!(
            "Invalid value for DayOfMonth (valid values 1 - 28/31): {d}"
        ));
    }
    NaiveDate::from_ymd_opt(y, m as u32, d as u32).ok_or_else(|| {
        if m == 2 && d == 29 {
            format!("Invalid date 'February 29' as '{y}' is not a leap year")
        } else {
            format!("Invalid date '{} {d}'", month_name(m as u32).to_uppercase())
        }
    })
}

/// `make_timestamp(year, month, day, hour, minute, seconds[, zone])`; seconds are DECIMAL(16, 6). NULL where `env.salt`
/// is 1 and the parts do not fit.
pub fn make_timestamp(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let n = |i: usize| b.i32(i).value(r);
        let micros = b.dec(5).value(r) as i64;
        let (mut minute_more, mut second) = (0, micros.div_euclid(MICROS_PER_SECOND));
        if second == 60 && micros % MICROS_PER_SECOND == 0 {
            (minute_more, second) = (1, 0);
        }
        let made = date_of(n(0), n(1), n(2)).and_then(|date| {
            let time = NaiveTime::from_hms_micro_opt(
                n(3) as u32,
                n(4) as u32,
                u32::try_from(second).unwrap_or(99),
                micros.rem_euclid(MICROS_PER_SECOND) as u32,
            );
            time.map(|t| time::wall_of(date, t) + minute_more * time::MICROS_PER_MINUTE)
                .ok_or_else(|| {
                    if !(0..24).contains(&n(3)) {
                        format!(
                            "Invalid value for HourOfDay (valid values 0 - 23): {}",
                            n(3)
                        )
                    } else if !(0..60).contains(&n(4)) {
                        format!(
                            "Invalid value for MinuteOfHour (valid values 0 - 59): {}",
                            n(4)
                        )
                    } else {
                        format!("Invalid value for SecondOfMinute (valid values 0 - 59): {second}")
                    }
                })
        });
        match made {
            Ok(wall) if b.args.len() > 6 => {
                let name = b.str(6).value(r);
                match zone_of(name) {
                    Some(Zone::Fixed(seconds)) => {
                        Ok(Some(wall - i64::from(seconds) * MICROS_PER_SECOND))
                    }
                    Some(Zone::Named(zone)) => Ok(Some(time::from_wall(wall, zone))),
                    None => Err(bad_zone(name)),
                }
            }
            Ok(wall) => Ok(Some(unwall(b, wall))),
            Err(_) if b.env.salt == 1 || !b.env.ansi => Ok(None),
            Err(text) => Err(invalid_fields(&text)),
        }
    })
}

fn bad_zone(name: &str) -> DeltaError {
    DeltaError::new("INVALID_TIMEZONE").param("timeZone", name)
}

fn in_zone(micros: i64, name: &str, back: bool) -> Result<i64> {
    match zone_of(name) {
        Some(Zone::Fixed(seconds)) => {
            let shift = i64::from(seconds) * MICROS_PER_SECOND;
            Ok(if back { micros - shift } else { micros + shift })
        }
        Some(Zone::Named(zone)) => Ok(if back {
            time::from_wall(micros, zone)
        } else {
            time::to_wall(micros, zone)
        }),
        None => Err(bad_zone(name)),
    }
}

/// `from_utc_timestamp(timestamp, zone)` and `to_utc_timestamp` (`env.salt` 1).
pub fn shift_zone(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| in_zone(b.ts(0).value(r), b.str(1).value(r), b.env.salt == 1).map(Some))
}

/// `convert_timezone(from, to, timestamp_ntz)`.
pub fn convert_zone(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let instant = in_zone(b.ts(2).value(r), b.str(0).value(r), true)?;
        in_zone(instant, b.str(1).value(r), false).map(Some)
    })
}

/// `timestampadd(unit, amount, timestamp)`.
pub fn timestamp_add(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let unit = unit_of("`TIMESTAMPADD`", b.str(0).value(r))?;
        let amount = b.i64(1).value(r);
        let bad = || overflow("add to a timestamp");
        if let Some(months) = unit.months() {
            let months = months.checked_mul(amount).ok_or_else(bad)?;
            return Ok(Some(unwall(
                b,
                time::add_months_to_wall(wall(b, 2, r), months).ok_or_else(bad)?,
            )));
        }
        let micros = unit
            .micros()
            .and_then(|m| m.checked_mul(amount))
            .ok_or_else(bad)?;
        if matches!(unit, interval::Unit::Day | interval::Unit::Week) {
            return Ok(Some(unwall(
                b,
                wall(b, 2, r).checked_add(micros).ok_or_else(bad)?,
            )));
        }
        b.ts(2)
            .value(r)
            .checked_add(micros)
            .map(Some)
            .ok_or_else(bad)
    })
}

/// Whole months between two moments, as Java counts them: the day of the month and the time of day decide whether the last
/// month is whole.
fn whole_months(start: NaiveDateTime, end: NaiveDateTime) -> i64 {
    let mut last = end.date();
    if last > start.date() && end.time() < start.time() {
        last = last.pred_opt().unwrap_or(last);
    } else if last < start.date() && end.time() > start.time() {
        last = last.succ_opt().unwrap_or(last);
    }
    let packed =
        |d: NaiveDate| (i64::from(d.year()) * 12 + i64::from(d.month0())) * 32 + i64::from(d.day());
    (packed(last) - packed(start.date())) / 32
}

/// `timestampdiff(unit, start, end)`: whole units.
pub fn timestamp_diff(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let unit = unit_of("`TIMESTAMPDIFF`", b.str(0).value(r))?;
        let (start, end) = (wall(b, 1, r), wall(b, 2, r));
        if let Some(size) = unit.months() {
            let (Some(x), Some(y)) = (time::wall(start), time::wall(end)) else {
                return Ok(None);
            };
            return Ok(Some(whole_months(x, y) / size));
        }
        let size = unit.micros().unwrap_or(1);
        if matches!(unit, interval::Unit::Day | interval::Unit::Week) {
            return Ok(Some((end - start) / size));
        }
        Ok(Some((b.ts(2).value(r) - b.ts(1).value(r)) / size))
    })
}

fn unit_of(function: &str, name: &str) -> Result<interval::Unit> {
    let lower = name.to_ascii_lowercase();
    let known = if lower == "dayofyear" {
        Some(interval::Unit::Day)
    } else {
        interval::unit(&lower)
    };
    known.ok_or_else(|| {
        DeltaError::new("INVALID_PARAMETER_VALUE.DATETIME_UNIT")
            .param("functionName", function)
            .param("parameter", "`unit`")
            .param("invalidValue", format!("'{name}'"))
    })
}

/// `make_ym_interval(years, months)` and `make_dt_interval(days, hours, minutes, seconds)`.
pub fn make_year_month(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        Ok(b.i32(0)
            .value(r)
            .checked_mul(12)
            .and_then(|m| m.checked_add(b.i32(1).value(r))))
    })
}
/// See [`make_year_month`].
pub fn make_day_time(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let n = |i: usize| i64::from(b.i32(i).value(r));
        let whole =
            n(0) * MICROS_PER_DAY + n(1) * time::MICROS_PER_HOUR + n(2) * time::MICROS_PER_MINUTE;
        Ok(whole.checked_add(b.dec(3).value(r) as i64))
    })
}
