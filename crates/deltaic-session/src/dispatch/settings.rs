//! `SET` and `RESET`.

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_sql::ast::{Reset, Set};

use deltaic_storage::cloud::is_cloud_option;

use crate::conf::SessionConf;
use crate::context::Context;
use crate::result::{SqlResult, Value, text_columns};

const ZONE: &str = "spark.sql.session.timeZone";

/// Reads or changes settings.
pub(super) async fn set(cx: &Context, set: &Set) -> Result<SqlResult> {
    match set {
        Set::All => {
            let rows = cx.session.read_conf(|conf| {
                conf.explicit()
                    .map(|(key, value)| row(&[key, &SessionConf::shown(key, value)]))
                    .collect::<Vec<_>>()
            });
            answer(&rows)
        }
        Set::Verbose => {
            let schema = text_columns(&["key", "value", "meaning", "Since version"]);
            let rows = cx.session.read_conf(SessionConf::documented);
            let rows: Vec<Vec<Value>> = rows
                .iter()
                .map(|(key, value, doc)| row(&[key, &SessionConf::shown(key, value), doc, ""]))
                .collect();
            SqlResult::from_rows(schema, &rows)
        }
        Set::Get { key } => {
            let value = cx.session.read_conf(|conf| conf.get(key));
            answer(&[row(&[
                key,
                &value.map_or_else(
                    || "<undefined>".to_owned(),
                    |value| SessionConf::shown(key, &value),
                ),
            ])])
        }
        Set::Value { key, value } => {
            cx.session.write_conf(|conf| conf.set(key, value))?;
            if is_cloud_option(key) {
                cx.session.reach_anew();
                return answer(&[row(&[key, &SessionConf::shown(key, value)])]);
            }
            answer(&[row(&[key, value])])
        }
        Set::TimeZone(zone) => {
            cx.session.write_conf(|conf| conf.set(ZONE, zone))?;
            answer(&[row(&[ZONE, zone])])
        }
        Set::TimeZoneLocal => {
            cx.session.write_conf(|conf| conf.set(ZONE, "UTC"))?;
            answer(&[row(&[ZONE, "UTC"])])
        }
        Set::TimeZoneInterval(expr) => {
            let zone = offset_zone(crate::analysis::constant(cx, expr).await?)?;
            cx.session.write_conf(|conf| conf.set(ZONE, &zone))?;
            answer(&[row(&[ZONE, &zone])])
        }
        Set::Variables { .. } => Err(DeltaError::not_supported_yet("SET VARIABLE")),
    }
}

/// Takes settings back to what the session started with.
pub(super) fn reset(cx: &Context, reset: &Reset) -> Result<SqlResult> {
    cx.session.write_conf(|conf| match &reset.key {
        Some(key) => conf.reset(key),
        None => {
            conf.reset_all();
            Ok(())
        }
    })?;
    if reset.key.as_deref().is_none_or(is_cloud_option) {
        cx.session.reach_anew();
    }
    Ok(SqlResult::empty())
}

fn row(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| Value::text(*text)).collect()
}

fn answer(rows: &[Vec<Value>]) -> Result<SqlResult> {
    SqlResult::from_rows(text_columns(&["key", "value"]), rows)
}

/// `+hh:mm` for an interval of at most 18 hours without a fraction of a minute.
fn offset_zone(interval: Value) -> Result<String> {
    let out_of_range = || DeltaError::new("INVALID_INTERVAL_FORMAT.TIMEZONE_INTERVAL_OUT_OF_RANGE");
    let Value::DayTime(micros) = interval else {
        return Err(out_of_range());
    };
    let seconds = micros / 1_000_000;
    if micros % 1_000_000 != 0 || seconds.abs() > 18 * 3_600 {
        return Err(out_of_range());
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let (hours, minutes, rest) = (
        seconds.abs() / 3_600,
        seconds.abs() / 60 % 60,
        seconds.abs() % 60,
    );
    let tail = if rest == 0 {
        String::new()
    } else {
        format!(":{rest:02}")
    };
    Ok(format!("{sign}{hours:02}:{minutes:02}{tail}"))
}
