//! `CAST` between Spark's types, with the errors of ANSI mode.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, new_null_array};
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, DurationMicrosecondType, IntervalYearMonthType,
    TimestampMicrosecondType, i256,
};
use deltaic_protocol::Result;
use deltaic_protocol::schema::DataType;

use super::cast_context::Context;
use super::cast_text;
use super::decimal::{self, Rounding};
use super::values::{Number, number};
use crate::error::internal;
use crate::kernel::Batch;
use crate::node::CastMode;
use crate::text;
use crate::time::{self, MICROS_PER_DAY, MICROS_PER_SECOND};
use crate::types::{arrow_type, is_integral, is_numeric};

/// The kernel of an ANSI cast.
pub fn ansi(b: &Batch<'_>) -> Result<ArrayRef> {
    one(b, CastMode::Ansi)
}

/// The kernel of `TRY_CAST`.
pub fn try_cast(b: &Batch<'_>) -> Result<ArrayRef> {
    one(b, CastMode::Try)
}

/// The kernel of a cast that assigns to a column.
pub fn insert(b: &Batch<'_>) -> Result<ArrayRef> {
    one(b, CastMode::Insert)
}

fn one(b: &Batch<'_>, mode: CastMode) -> Result<ArrayRef> {
    let context = Context { mode, env: b.env };
    context.array(&b.args[0], &b.types[0], b.ret)
}

impl Context<'_> {
    /// Cast all rows of an array.
    pub fn array(&self, array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
        use DataType::*;
        if from == to {
            return Ok(Arc::clone(array));
        }
        match (from, to) {
            (Void, _) => Ok(new_null_array(&arrow_type(to), array.len())),
            (_, String) => self.rows(array, to, |row| {
                Ok(Some(text::value_text(array, row, from, self.env.zone)))
            }),
            (String, _) => cast_text::from_string(self, array, to),
            (Array(f), Array(t)) => self.list(array, &f.element_type, &t.element_type, to),
            (Map(_), Map(_)) => self.map(array, from, to),
            (Struct(f), Struct(t)) => {
                let source = array.as_struct();
                let columns = f
                    .fields
                    .iter()
                    .zip(&t.fields)
                    .zip(source.columns())
                    .map(|((f, t), c)| self.array(c, &f.data_type, &t.data_type))
                    .collect::<Result<Vec<_>>>()?;
                let ArrowType::Struct(fields) = arrow_type(to) else {
                    return Err(internal("a struct that is none"));
                };
                StructArray::try_new_with_length(
                    fields,
                    columns,
                    source.nulls().cloned(),
                    array.len(),
                )
                .map(|s| Arc::new(s) as ArrayRef)
                .map_err(|e| internal(e.to_string()))
            }
            _ => self.scalar(array, from, to),
        }
    }

    fn list(
        &self,
        array: &ArrayRef,
        from: &DataType,
        to: &DataType,
        whole: &DataType,
    ) -> Result<ArrayRef> {
        let source = array.as_list::<i32>();
        let values = self.array(source.values(), from, to)?;
        let ArrowType::List(field) = arrow_type(whole) else {
            return Err(internal("an array that is none"));
        };
        let field = if values.null_count() > 0 {
            Arc::new(field.as_ref().clone().with_nullable(true))
        } else {
            field
        };
        ListArray::try_new(
            field,
            source.offsets().clone(),
            values,
            source.nulls().cloned(),
        )
        .map(|l| Arc::new(l) as ArrayRef)
        .map_err(|e| internal(e.to_string()))
    }

    fn map(&self, array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
        let (DataType::Map(f), DataType::Map(t), ArrowType::Map(entry, sorted)) =
            (from, to, arrow_type(to))
        else {
            return Err(internal("a map that is none"));
        };
        let source = array.as_map();
        let keys = self.array(source.keys(), &f.key_type, &t.key_type)?;
        let values = self.array(source.values(), &f.value_type, &t.value_type)?;
        let ArrowType::Struct(fields) = entry.data_type() else {
            return Err(internal("a map that is none"));
        };
        let entries = StructArray::try_new(fields.clone(), vec![keys, values], None)
            .map_err(|e| internal(e.to_string()))?;
        MapArray::try_new(
            Arc::clone(&entry),
            source.offsets().clone(),
            entries,
            source.nulls().cloned(),
            sorted,
        )
        .map(|m| Arc::new(m) as ArrayRef)
        .map_err(|e| internal(e.to_string()))
    }

    fn scalar(&self, array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
        use DataType::*;
        let zone = self.env.zone;
        let overflow = |row: usize| self.overflow(array, row, from, to);
        match (from, to) {
            // These casts exist only where errors are NULL.
            (Date, _) if *to == Boolean || is_numeric(to) => {
                Ok(new_null_array(&arrow_type(to), array.len()))
            }
            (Timestamp, Boolean) => {
                let source = array.as_primitive::<TimestampMicrosecondType>();
                self.rows(array, to, |row| Ok(Some(source.value(row) != 0)))
            }
            (Boolean, Timestamp) => {
                let source = array.as_boolean();
                self.rows(array, to, |row| Ok(Some(i64::from(source.value(row)))))
            }
            (Boolean, _) if is_numeric(to) => {
                let source = array.as_boolean();
                self.numbers(array, from, to, |row| {
                    Some(Number::Whole(i64::from(source.value(row))))
                })
            }
            (_, Boolean) if is_numeric(from) => self.rows(array, to, |row| {
                Ok(number(array, row, from).map(|n| match n {
                    Number::Whole(v) => v != 0,
                    Number::Decimal(v, _) => v != 0,
                    Number::Float(v) => v != 0.0,
                    Number::Double(v) => v != 0.0,
                }))
            }),
            _ if is_numeric(from) && is_numeric(to) => {
                self.numbers(array, from, to, |row| number(array, row, from))
            }
            (_, Timestamp) if is_numeric(from) => {
                self.rows(array, to, |row| match number(array, row, from) {
                    Some(Number::Whole(v)) => Ok(Some(v.saturating_mul(MICROS_PER_SECOND))),
                    Some(Number::Decimal(v, scale)) => {
                        let micros = decimal::rescale(
                            i256::from_i128(v),
                            i32::from(scale),
                            6,
                            Rounding::Down,
                        );
                        micros
                            .to_i128()
                            .and_then(|m| i64::try_from(m).ok())
                            .map(Some)
                            .ok_or_else(|| overflow(row))
                    }
                    Some(Number::Float(v)) => self
                        .seconds(f64::from(v))
                        .map(Some)
                        .ok_or_else(|| self.invalid(array, row, from, to)),
                    Some(Number::Double(v)) => self
                        .seconds(v)
                        .map(Some)
                        .ok_or_else(|| self.invalid(array, row, from, to)),
                    None => Ok(None),
                })
            }
            (Timestamp, _) if is_numeric(to) => {
                let source = array.as_primitive::<TimestampMicrosecondType>();
                self.numbers(array, from, to, |row| {
                    let micros = source.value(row);
                    Some(match to {
                        Float | Double => Number::Double(micros as f64 / MICROS_PER_SECOND as f64),
                        Decimal { .. } => Number::Decimal(i128::from(micros), 6),
                        _ => Number::Whole(micros.div_euclid(MICROS_PER_SECOND)),
                    })
                })
            }
            (Date, Timestamp | TimestampNtz) => {
                let source = array.as_primitive::<Date32Type>();
                self.rows(array, to, |row| {
                    let day = source.value(row);
                    Ok(Some(if *to == Timestamp {
                        time::start_of_day(day, zone)
                    } else {
                        i64::from(day) * MICROS_PER_DAY
                    }))
                })
            }
            (Timestamp | TimestampNtz, Date) => {
                let source = array.as_primitive::<TimestampMicrosecondType>();
                self.rows(array, to, |row| {
                    let micros = source.value(row);
                    Ok(Some(if *from == Timestamp {
                        time::day_of(micros, zone)
                    } else {
                        micros.div_euclid(MICROS_PER_DAY) as i32
                    }))
                })
            }
            (Timestamp, TimestampNtz) => {
                let source = array.as_primitive::<TimestampMicrosecondType>();
                self.rows(array, to, |row| {
                    Ok(Some(time::to_wall(source.value(row), zone)))
                })
            }
            (TimestampNtz, Timestamp) => {
                let source = array.as_primitive::<TimestampMicrosecondType>();
                self.rows(array, to, |row| {
                    Ok(Some(time::from_wall(source.value(row), zone)))
                })
            }
            (YearMonthInterval { .. }, YearMonthInterval { end, .. }) => {
                let source = array.as_primitive::<IntervalYearMonthType>();
                self.rows(array, to, |row| {
                    let months = source.value(row);
                    Ok(Some(if *end == 0 { months / 12 * 12 } else { months }))
                })
            }
            (DayTimeInterval { .. }, DayTimeInterval { end, .. }) => {
                let source = array.as_primitive::<DurationMicrosecondType>();
                let unit = cast_text::day_time_unit(*end);
                self.rows(array, to, |row| {
                    Ok(Some(if *end == 3 {
                        source.value(row)
                    } else {
                        source.value(row) / unit * unit
                    }))
                })
            }
            (YearMonthInterval { end, .. }, _) if is_numeric(to) => {
                let source = array.as_primitive::<IntervalYearMonthType>();
                self.numbers(array, from, to, |row| {
                    Some(Number::Whole(
                        i64::from(source.value(row)) / if *end == 0 { 12 } else { 1 },
                    ))
                })
            }
            (DayTimeInterval { end, .. }, _) if is_numeric(to) => {
                let source = array.as_primitive::<DurationMicrosecondType>();
                let unit = cast_text::day_time_unit(*end);
                self.numbers(array, from, to, |row| {
                    Some(if *end == 3 && !is_integral(to) {
                        Number::Decimal(i128::from(source.value(row)), 6)
                    } else {
                        Number::Whole(source.value(row) / unit)
                    })
                })
            }
            (_, YearMonthInterval { end, .. }) if is_numeric(from) => self.rows(array, to, |row| {
                let months = whole(number(array, row, from))
                    .and_then(|v| v.checked_mul(if *end == 0 { 12 } else { 1 }));
                months
                    .and_then(|m| i32::try_from(m).ok())
                    .map(Some)
                    .ok_or_else(|| overflow(row))
            }),
            (_, DayTimeInterval { end, .. }) if is_numeric(from) => {
                let unit = cast_text::day_time_unit(*end);
                self.rows(array, to, |row| {
                    whole(number(array, row, from))
                        .and_then(|v| v.checked_mul(unit))
                        .map(Some)
                        .ok_or_else(|| overflow(row))
                })
            }
            (Binary, _) | (_, Binary) => Err(internal(format!(
                "no cast from {} to {}",
                from.sql(),
                to.sql()
            ))),
            _ => Err(internal(format!(
                "no cast from {} to {}",
                from.sql(),
                to.sql()
            ))),
        }
    }

    fn seconds(&self, v: f64) -> Option<i64> {
        v.is_finite()
            .then_some((v * MICROS_PER_SECOND as f64) as i64)
    }

    /// Numbers into another numeric type.
    fn numbers(
        &self,
        array: &ArrayRef,
        from: &DataType,
        to: &DataType,
        value: impl Fn(usize) -> Option<Number>,
    ) -> Result<ArrayRef> {
        macro_rules! whole {
            ($native:ty) => {
                self.rows(array, to, |row| {
                    let Some(n) = value(row) else { return Ok(None) };
                    match whole(Some(n)).and_then(|v| <$native>::try_from(v).ok()) {
                        Some(v) => Ok(Some(v)),
                        None if !self.env.ansi && self.mode != CastMode::Try => {
                            Ok(Some(match n {
                                // Java casts floating numbers to INT first where the type is smaller, and stops at its ends.
                                Number::Float(_) | Number::Double(_) if size_of::<$native>() <= 4 => {
                                    saturated(n) as $native
                                }
                                _ => wrapped(n) as $native,
                            }))
                        }
                        None => Err(self.overflow(array, row, from, to)),
                    }
                })
            };
        }
        match to {
            DataType::Byte => whole!(i8),
            DataType::Short => whole!(i16),
            DataType::Integer => whole!(i32),
            DataType::Long => whole!(i64),
            DataType::Float => self.rows(array, to, |row| {
                Ok(value(row).map(|n| match n {
                    Number::Whole(v) => v as f32,
                    Number::Decimal(v, s) => text::decimal(v, s).parse().unwrap_or(f32::NAN),
                    Number::Float(v) => v,
                    Number::Double(v) => v as f32,
                }))
            }),
            DataType::Double => self.rows(array, to, |row| {
                Ok(value(row).map(|n| match n {
                    Number::Whole(v) => v as f64,
                    Number::Decimal(v, s) => text::decimal(v, s).parse().unwrap_or(f64::NAN),
                    Number::Float(v) => f64::from(v),
                    Number::Double(v) => v,
                }))
            }),
            DataType::Decimal { precision, scale } => self.rows(array, to, |row| {
                let Some(n) = value(row) else { return Ok(None) };
                let (unscaled, from_scale) = match n {
                    Number::Whole(v) => (i256::from_i128(i128::from(v)), 0),
                    Number::Decimal(v, s) => (i256::from_i128(v), i32::from(s)),
                    Number::Float(v) if !v.is_finite() => return Ok(None),
                    Number::Double(v) if !v.is_finite() => return Ok(None),
                    Number::Float(v) => {
                        decimal::parse(&format!("{v:e}")).unwrap_or((power_of_75(), 0))
                    }
                    Number::Double(v) => {
                        decimal::parse(&format!("{v:e}")).unwrap_or((power_of_75(), 0))
                    }
                };
                if from_scale - i32::from(*scale) > 76 {
                    return Ok(Some(0));
                }
                let scaled =
                    decimal::rescale(unscaled, from_scale, i32::from(*scale), Rounding::HalfUp);
                match decimal::fit(scaled, *precision) {
                    Some(v) => Ok(Some(v)),
                    None if self.mode == CastMode::Insert => {
                        Err(self.overflow(array, row, from, to))
                    }
                    None => Err(decimal::out_of_range(
                        &decimal::show(unscaled, from_scale),
                        *precision,
                        *scale,
                    )),
                }
            }),
            _ => Err(internal(format!("{} is no number", to.sql()))),
        }
    }
}

fn power_of_75() -> i256 {
    decimal::power(75)
}

/// A number without its fraction, where 64 bits hold it.
fn whole(n: Option<Number>) -> Option<i64> {
    let float = |v: f64| {
        let v = v.trunc();
        (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0)
            .contains(&v)
            .then_some(v as i64)
    };
    match n? {
        Number::Whole(v) => Some(v),
        Number::Decimal(v, s) => {
            decimal::rescale(i256::from_i128(v), i32::from(s), 0, Rounding::Down)
                .to_i128()
                .and_then(|v| i64::try_from(v).ok())
        }
        Number::Float(v) => float(f64::from(v)),
        Number::Double(v) => float(v),
    }
}

fn saturated(n: Number) -> i32 {
    match n {
        Number::Float(v) => v as i32,
        Number::Double(v) => v as i32,
        other => wrapped(other) as i32,
    }
}

fn wrapped(n: Number) -> i64 {
    match n {
        Number::Whole(v) => v,
        Number::Decimal(v, s) => {
            decimal::rescale(i256::from_i128(v), i32::from(s), 0, Rounding::Down)
                .to_i128()
                .unwrap_or(0) as i64
        }
        Number::Float(v) => v as i64,
        Number::Double(v) => v as i64,
    }
}
