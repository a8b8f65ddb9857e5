//! Functions of dates, timestamps and intervals.

use datafusion::common::ScalarValue;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use super::call::{Call, Entry, Nulls, P, cast, entry};
use crate::error::quoted;
use crate::kernel::Run;
use crate::kernels::datetime as k;
use crate::node::{Kind, Node, Shown};
use crate::time;
use crate::types::{is_ansi_interval, is_timestamp, shown};

use DataType::{Date, Double, Integer, Long, String as Str, Timestamp, TimestampNtz};

/// A field of a date: timestamps are cut to their day.
fn date_field(mut c: Call<'_>, name: &'static str, run: Run) -> Result<Node> {
    if is_timestamp(&c.args[0].ty) {
        let env = c.env.clone();
        let first = c.args.remove(0);
        c.args.push(cast(first, &Date, &env));
    }
    Ok(c.coerced(&[P::Date])?
        .kernel(name, run, Integer, Nulls::Args))
}

fn time_field(c: Call<'_>, name: &'static str, run: Run) -> Result<Node> {
    Ok(c.coerced(&[P::AnyTs])?
        .kernel(name, run, Integer, Nulls::Args))
}

/// The functions.
pub const TABLE: &[Entry] = &[
    entry("year", 1, 1, |c| date_field(c, "year", k::year)),
    entry("quarter", 1, 1, |c| date_field(c, "quarter", k::quarter)),
    entry("month", 1, 1, |c| date_field(c, "month", k::month)),
    entry("weekofyear", 1, 1, |c| date_field(c, "week", k::week)),
    entry("day", 1, 1, |c| date_field(c, "day", k::day)),
    entry("dayofmonth", 1, 1, |c| date_field(c, "day", k::day)),
    entry("dayofweek", 1, 1, |c| {
        date_field(c, "day_of_week", k::day_of_week)
    }),
    entry("weekday", 1, 1, |c| date_field(c, "weekday", k::weekday)),
    entry("dayofyear", 1, 1, |c| {
        date_field(c, "day_of_year", k::day_of_year)
    }),
    entry("dayname", 1, 1, |c| {
        Ok(c.coerced(&[P::Date])?
            .kernel("day_name", k::day_names, Str, Nulls::Args))
    }),
    entry("monthname", 1, 1, |c| {
        Ok(c.coerced(&[P::Date])?
            .kernel("month_name", k::month_names, Str, Nulls::Args))
    }),
    entry("hour", 1, 1, |c| time_field(c, "hour", k::hour)),
    entry("minute", 1, 1, |c| time_field(c, "minute", k::minute)),
    entry("second", 1, 1, |c| time_field(c, "second", k::second)),
    entry("date_part", 2, 2, |c| part(c, None)),
    entry("datepart", 2, 2, |c| {
        part(c, Some("datepart({0} FROM {1})"))
    }),
    entry("extract", 2, 2, |c| part(c, Some("extract({0} FROM {1})"))),
    entry("current_date", 0, 0, current_date),
    entry("curdate", 0, 0, |c| {
        current_date(c.inner("current_date", vec![]))
    }),
    entry("current_timestamp", 0, 0, current_timestamp),
    entry("now", 0, 0, current_timestamp),
    entry("localtimestamp", 0, 0, |c| {
        let at = time::to_wall(c.options.now_us, c.options.zone);
        Ok(c.replaced(Node::literal(
            ScalarValue::TimestampMicrosecond(Some(at), None),
            TimestampNtz,
        )))
    }),
    entry("current_timezone", 0, 0, |c| {
        let by = Node::string(c.options.zone_name.clone());
        Ok(c.replaced(by))
    }),
    entry("date_add", 2, 2, |c| add_days(c, 0)),
    entry("dateadd", 2, 3, |c| {
        if c.args.len() == 3 {
            timestamp_add(c)
        } else {
            add_days(c.inner("date_add", c.args.clone()), 0)
        }
    }),
    entry("date_sub", 2, 2, |c| add_days(c, 1)),
    entry("timestampadd", 3, 3, timestamp_add),
    entry("datediff", 2, 3, date_diff),
    entry("date_diff", 2, 3, date_diff),
    entry("timestampdiff", 3, 3, timestamp_diff),
    entry("add_months", 2, 2, |c| {
        Ok(c.coerced(&[P::Date, P::Int])?
            .fallible("add_months", k::add_months, Date, Nulls::Args))
    }),
    entry("months_between", 2, 3, |c| {
        let c = c
            .or_default(3, || Node::boolean(true))
            .coerced(&[P::Ts, P::Ts, P::Bool])?;
        Ok(c.kernel("months_between", k::months_between, Double, Nulls::Args))
    }),
    entry("last_day", 1, 1, |c| {
        Ok(c.coerced(&[P::Date])?
            .kernel("last_day", k::last_day, Date, Nulls::Args))
    }),
    entry("next_day", 2, 2, |c| {
        Ok(c.coerced(&[P::Date, P::Str])?
            .fallible("next_day", k::next_day, Date, Nulls::Always))
    }),
    entry("trunc", 2, 2, |c| {
        Ok(c.coerced(&[P::Date, P::Str])?
            .kernel("trunc_date", k::trunc_date, Date, Nulls::Always))
    }),
    entry("date_trunc", 2, 2, |c| {
        Ok(c.coerced(&[P::Str, P::Ts])?.kernel(
            "trunc_time",
            k::trunc_time,
            Timestamp,
            Nulls::Always,
        ))
    }),
    entry("date_format", 2, 2, |c| {
        Ok(c.coerced(&[P::AnyTs, P::Str])?.fallible(
            "date_format",
            k::date_format,
            Str,
            Nulls::Args,
        ))
    }),
    entry("from_unixtime", 1, 2, |c| {
        let c = c
            .or_default(2, || Node::string("yyyy-MM-dd HH:mm:ss"))
            .coerced(&[P::Long, P::Str])?;
        Ok(c.fallible("from_unixtime", k::from_unixtime, Str, Nulls::Args))
    }),
    entry("to_date", 1, 2, |c| to_date(c, 0)),
    entry("try_to_date", 1, 2, |c| to_date(c, 1)),
    entry("to_timestamp", 1, 2, |c| to_timestamp(c, Timestamp, 0)),
    entry("try_to_timestamp", 1, 2, |c| to_timestamp(c, Timestamp, 1)),
    entry("to_timestamp_ltz", 1, 2, |c| to_timestamp(c, Timestamp, 0)),
    entry("to_timestamp_ntz", 1, 2, |c| {
        to_timestamp(c, TimestampNtz, 0)
    }),
    entry("unix_timestamp", 0, 2, |c| {
        if c.args.is_empty() {
            let now = current_timestamp(c.inner("current_timestamp", vec![]))?;
            let c = c.inner(c.name, vec![now]);
            return unix_timestamp(c);
        }
        unix_timestamp(c)
    }),
    entry("to_unix_timestamp", 1, 2, unix_timestamp),
    entry("unix_seconds", 1, 1, |c| since(c, 1_000_000)),
    entry("unix_millis", 1, 1, |c| since(c, 1_000)),
    entry("unix_micros", 1, 1, |c| since(c, 1)),
    entry("unix_date", 1, 1, |c| {
        Ok(c.coerced(&[P::Date])?
            .kernel("unix_date", k::unix_date, Integer, Nulls::Args))
    }),
    entry("date_from_unix_date", 1, 1, |c| {
        Ok(c.coerced(&[P::Int])?
            .kernel("date_from_unix", k::date_from_unix, Date, Nulls::Args))
    }),
    entry("timestamp_seconds", 1, 1, |c| {
        Ok(c.coerced(&[P::Num])?.salted(
            "from_epoch",
            k::from_epoch,
            1_000_000,
            Timestamp,
            Nulls::Args,
            true,
        ))
    }),
    entry("timestamp_millis", 1, 1, |c| {
        Ok(c.coerced(&[P::Integral])?.salted(
            "from_epoch",
            k::from_epoch,
            1_000,
            Timestamp,
            Nulls::Args,
            true,
        ))
    }),
    entry("timestamp_micros", 1, 1, |c| {
        Ok(c.coerced(&[P::Integral])?.salted(
            "from_epoch",
            k::from_epoch,
            1,
            Timestamp,
            Nulls::Args,
            true,
        ))
    }),
    entry("make_date", 3, 3, |c| {
        Ok(c.coerced(&[P::Int])?
            .fallible("make_date", k::make_date, Date, Nulls::Args))
    }),
    entry("make_timestamp", 6, 7, |c| make_timestamp(c, Timestamp, 0)),
    entry("try_make_timestamp", 6, 7, |c| {
        make_timestamp(c, Timestamp, 1)
    }),
    entry("make_timestamp_ltz", 6, 7, |c| {
        make_timestamp(c, Timestamp, 0)
    }),
    entry("make_timestamp_ntz", 6, 6, |c| {
        make_timestamp(c, TimestampNtz, 0)
    }),
    entry("make_ym_interval", 0, 2, |mut c| {
        for n in 1..=2 {
            c = c.or_default(n, || Node::int(0));
        }
        let ty = DataType::YearMonthInterval { start: 0, end: 1 };
        Ok(c.coerced(&[P::Int])?
            .kernel("make_year_month", k::make_year_month, ty, Nulls::Args))
    }),
    entry("make_dt_interval", 0, 4, |mut c| {
        for n in 1..=3 {
            c = c.or_default(n, || Node::int(0));
        }
        let zero = ScalarValue::Decimal128(Some(0), 18, 6);
        let c = c.or_default(4, || {
            Node::literal(
                zero,
                DataType::Decimal {
                    precision: 18,
                    scale: 6,
                },
            )
        });
        let ty = DataType::DayTimeInterval { start: 0, end: 3 };
        Ok(c.coerced(&[P::Int, P::Int, P::Int, P::Seconds])?.kernel(
            "make_day_time",
            k::make_day_time,
            ty,
            Nulls::Args,
        ))
    }),
    entry("from_utc_timestamp", 2, 2, |c| shift_zone(c, 0)),
    entry("to_utc_timestamp", 2, 2, |c| shift_zone(c, 1)),
    entry("convert_timezone", 2, 3, |c| {
        let c = if c.args.len() == 2 {
            let from = Node::string(c.options.zone_name.clone());
            c.inner(c.name, vec![from, c.arg(0), c.arg(1)])
        } else {
            c
        };
        let c = c.coerced(&[P::Str, P::Str, P::Ntz])?;
        Ok(c.fallible("convert_zone", k::convert_zone, TimestampNtz, Nulls::Args))
    }),
];

fn current_date(c: Call<'_>) -> Result<Node> {
    let day = time::day_of(c.options.now_us, c.options.zone);
    Ok(c.replaced(Node::literal(ScalarValue::Date32(Some(day)), Date)))
}

fn current_timestamp(c: Call<'_>) -> Result<Node> {
    let at = ScalarValue::TimestampMicrosecond(
        Some(c.options.now_us),
        Some(deltaic_log::arrow_schema::UTC.into()),
    );
    Ok(c.replaced(Node::literal(at, Timestamp)))
}

fn add_days(c: Call<'_>, salt: u64) -> Result<Node> {
    Ok(c.coerced(&[P::Date, P::Int])?.salted(
        "add_days",
        k::add_days,
        salt,
        Date,
        Nulls::Args,
        false,
    ))
}

/// The unit that stands as a bare word (or a text) in the first place.
fn unit_of(c: &Call<'_>) -> String {
    match &c.args[0].kind {
        Kind::Literal(ScalarValue::Utf8(Some(s))) => s.clone(),
        _ => crate::names::pretty(&c.args[0], c.options.zone),
    }
}

fn timestamp_add(c: Call<'_>) -> Result<Node> {
    let unit = Node::string(unit_of(&c).to_uppercase());
    let c = c
        .inner("timestampadd", vec![unit, c.arg(1), c.arg(2)])
        .coerced(&[P::Str, P::Long, P::AnyTs])?;
    let ty = c.args[2].ty.clone();
    Ok(c.fallible("timestamp_add", k::timestamp_add, ty, Nulls::Args))
}

fn timestamp_diff(c: Call<'_>) -> Result<Node> {
    let unit = Node::string(unit_of(&c).to_uppercase());
    let c = c
        .inner("timestampdiff", vec![unit, c.arg(1), c.arg(2)])
        .coerced(&[P::Str, P::Ts, P::Ts])?;
    Ok(c.fallible("timestamp_diff", k::timestamp_diff, Long, Nulls::Args))
}

fn date_diff(c: Call<'_>) -> Result<Node> {
    if c.args.len() == 3 {
        return timestamp_diff(c);
    }
    Ok(c.coerced(&[P::Date])?
        .kernel("date_diff", k::date_diff, Integer, Nulls::Args))
}

fn to_date(c: Call<'_>, salt: u64) -> Result<Node> {
    if c.args.len() == 1 || c.args[0].ty != Str {
        let first = c.args[0].clone();
        let by = if salt == 1 {
            tried(first, &Date, &c)
        } else {
            cast(first, &Date, &c.env)
        };
        return castable(&c, &Date).map(|()| c.replaced(by));
    }
    Ok(c.coerced(&[P::Str])?.salted(
        "parse_date",
        k::parse_date,
        salt,
        Date,
        Nulls::Always,
        salt == 0,
    ))
}

fn to_timestamp(c: Call<'_>, ty: DataType, salt: u64) -> Result<Node> {
    if c.args.len() == 1 || c.args[0].ty != Str {
        let first = c.args[0].clone();
        let by = if salt == 1 {
            tried(first, &ty, &c)
        } else {
            cast(first, &ty, &c.env)
        };
        return castable(&c, &ty).map(|()| c.replaced(by));
    }
    Ok(c.coerced(&[P::Str])?.salted(
        "parse_timestamp",
        k::parse_timestamp,
        salt,
        ty,
        Nulls::Always,
        salt == 0,
    ))
}

fn castable(c: &Call<'_>, to: &DataType) -> Result<()> {
    if crate::types::castable::ansi(&c.args[0].ty, to) {
        return Ok(());
    }
    Err(DeltaError::new("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION")
        .param("sqlExpr", quoted(c.printed()))
        .param("srcType", shown(&c.args[0].ty))
        .param("targetType", shown(to)))
}

fn tried(node: Node, to: &DataType, c: &Call<'_>) -> Node {
    let kind = Kind::Cast {
        child: Box::new(node),
        mode: crate::node::CastMode::Try,
        explicit: false,
        env: c.env.clone(),
    };
    Node::new(kind, to.clone(), true)
}

fn unix_timestamp(c: Call<'_>) -> Result<Node> {
    let c = c.or_default(2, || Node::string("yyyy-MM-dd HH:mm:ss"));
    let first = c.args[0].clone();
    if first.ty == Str || first.ty == DataType::Void {
        return Ok(c.coerced(&[P::Str])?.salted(
            "parse_unix",
            k::parse_unix,
            0,
            Long,
            Nulls::Always,
            true,
        ));
    }
    let by = c.inner("unix_seconds", vec![cast(first, &Timestamp, &c.env)]);
    let by = by.salted(
        "since_epoch",
        k::since_epoch,
        1_000_000,
        Long,
        Nulls::Args,
        false,
    );
    Ok(c.replaced(by))
}

fn since(c: Call<'_>, divisor: u64) -> Result<Node> {
    Ok(c.coerced(&[P::Ts])?.salted(
        "since_epoch",
        k::since_epoch,
        divisor,
        Long,
        Nulls::Args,
        false,
    ))
}

fn make_timestamp(c: Call<'_>, ty: DataType, salt: u64) -> Result<Node> {
    let c = c.coerced(&[P::Int, P::Int, P::Int, P::Int, P::Int, P::Seconds, P::Str])?;
    Ok(c.salted(
        "make_timestamp",
        k::make_timestamp,
        salt,
        ty,
        Nulls::Args,
        true,
    ))
}

fn shift_zone(c: Call<'_>, salt: u64) -> Result<Node> {
    Ok(c.coerced(&[P::Ts, P::Str])?.salted(
        "shift_zone",
        k::shift_zone,
        salt,
        Timestamp,
        Nulls::Args,
        true,
    ))
}

/// `extract(FIELD FROM source)` and its kin.
fn part(c: Call<'_>, template: Option<&'static str>) -> Result<Node> {
    let field = unit_of(&c);
    let source = c.arg(1);
    let inner = |name: &'static str, run: Run, date: bool| -> Result<Node> {
        let call = c.inner(name, vec![source.clone()]);
        if date {
            date_field(call, name, run)
        } else {
            time_field(call, name, run)
        }
    };
    let lower = field.to_ascii_lowercase();
    let by = if is_ansi_interval(&source.ty) {
        interval_part(&c, &lower, source.clone())?
    } else {
        match lower.as_str() {
            "year" | "y" | "years" | "yr" | "yrs" => inner("year", k::year, true)?,
            "yearofweek" => inner("year_of_week", k::year_of_week, true)?,
            "quarter" | "qtr" => inner("quarter", k::quarter, true)?,
            "month" | "mon" | "mons" | "months" => inner("month", k::month, true)?,
            "week" | "w" | "weeks" => inner("week", k::week, true)?,
            "day" | "d" | "days" => inner("day", k::day, true)?,
            "dayofweek" | "dow" => inner("day_of_week", k::day_of_week, true)?,
            "dayofweek_iso" | "dow_iso" => inner("day_of_week_iso", k::day_of_week_iso, true)?,
            "doy" => inner("day_of_year", k::day_of_year, true)?,
            "hour" | "h" | "hours" | "hr" | "hrs" => inner("hour", k::hour, false)?,
            "minute" | "m" | "min" | "mins" | "minutes" => inner("minute", k::minute, false)?,
            "second" | "s" | "sec" | "seconds" | "secs" => {
                let call = c
                    .inner("second", vec![source.clone()])
                    .coerced(&[P::AnyTs])?;
                let ty = DataType::Decimal {
                    precision: 8,
                    scale: 6,
                };
                call.kernel(
                    "seconds_with_fraction",
                    k::seconds_with_fraction,
                    ty,
                    Nulls::Args,
                )
            }
            _ => return Err(invalid_field(&field, &source)),
        }
    };
    let name = Node::string(field);
    let node = c.inner(c.name, vec![name, source]).replaced(by);
    Ok(match template {
        Some(t) => super::call::shown_as(node, Shown::Template(t)),
        None => node,
    })
}

fn invalid_field(field: &str, source: &Node) -> DeltaError {
    DeltaError::new("INVALID_EXTRACT_FIELD")
        .param("field", format!("`{field}`"))
        .param("expr", shown(&source.ty))
}

fn interval_part(c: &Call<'_>, field: &str, source: Node) -> Result<Node> {
    let year_month = matches!(source.ty, DataType::YearMonthInterval { .. });
    let salt = match (field, year_month) {
        ("year" | "years", true) => 0,
        ("month" | "months", true) => 1,
        ("day" | "days", false) => 2,
        ("hour" | "hours", false) => 3,
        ("minute" | "minutes", false) => 4,
        _ => return Err(invalid_field(field, &source)),
    };
    let call = c.inner("extract", vec![source]);
    Ok(call.salted(
        "interval_part",
        k::interval_part,
        salt,
        Integer,
        Nulls::Args,
        false,
    ))
}
