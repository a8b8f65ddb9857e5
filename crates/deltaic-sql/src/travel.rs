//! Time travel: how it stands in sqlparser's relations, and how to read it back. Nothing may drop it silently, so
//! [`relation`] is the one way to take a table apart.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName, ObjectNamePart, TableFactor, TableVersion, Value, ValueWithSpan,
};
use sqlparser::tokenizer::Span;

use crate::ast::{Name, Travel};

/// Name of the function that carries `t@yyyyMMddHHmmssSSS` in [`TableVersion::Function`].
const COMPACT: &str = "@";

/// The name and the snapshot of a table; `None` for relations that are no table (subqueries, table functions).
pub fn relation(factor: &TableFactor) -> Option<(Name, Option<Travel>)> {
    match factor {
        TableFactor::Table {
            name,
            version,
            args: None,
            ..
        } => Some((self::name(name), version.as_ref().and_then(self::travel))),
        _ => None,
    }
}

/// A relation's name as a [`Name`].
pub fn name(name: &ObjectName) -> Name {
    if let [ObjectNamePart::Function(function)] = name.0.as_slice()
        && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))] = function.args.as_slice()
    {
        return Name::Identifier(Box::new(expr.clone()));
    }
    Name::Parts(
        name.0
            .iter()
            .filter_map(|part| part.as_ident().cloned())
            .collect(),
    )
}

/// The snapshot that a table factor's version means.
pub fn travel(version: &TableVersion) -> Option<Travel> {
    Some(match version {
        TableVersion::VersionAsOf(expr) => Travel::Version(expr.clone()),
        TableVersion::TimestampAsOf(expr) | TableVersion::ForSystemTimeAsOf(expr) => {
            Travel::Timestamp(expr.clone())
        }
        TableVersion::Function(Expr::Function(function)) => {
            let FunctionArguments::List(list) = &function.args else {
                return None;
            };
            match list.args.as_slice() {
                [FunctionArg::Unnamed(FunctionArgExpr::Expr(digits))] => {
                    Travel::Compact(crate::literal::text_of(digits)?)
                }
                _ => return None,
            }
        }
        TableVersion::Function(_) | TableVersion::Changes { .. } => return None,
    })
}

/// The table factor's version for a snapshot.
pub(crate) fn table_version(travel: Travel) -> TableVersion {
    match travel {
        Travel::Version(expr) => TableVersion::VersionAsOf(expr),
        Travel::Timestamp(expr) => TableVersion::TimestampAsOf(expr),
        Travel::Compact(digits) => TableVersion::Function(Expr::Function(Function {
            name: Ident::new(COMPACT).into(),
            uses_odbc_syntax: false,
            parameters: FunctionArguments::None,
            args: FunctionArguments::List(FunctionArgumentList {
                duplicate_treatment: None,
                args: vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(
                    crate::literal::string(digits, Span::empty()),
                ))],
                clauses: Vec::new(),
            }),
            filter: None,
            null_treatment: None,
            over: None,
            within_group: Vec::new(),
        })),
    }
}

/// Splits `t@v3` and `t@20260103000000000`, which stand for a snapshot where no table has the whole text as its name
/// (spec/delta.md section 3.1). For names in backticks, and paths.
pub fn split_suffix(part: &str) -> Option<(&str, Travel)> {
    let (name, suffix) = part.rsplit_once('@')?;
    let travel = parse_suffix(suffix, Span::empty())?;
    (!name.is_empty()).then_some((name, travel))
}

/// `v3` or 17 digits.
pub(crate) fn parse_suffix(suffix: &str, span: Span) -> Option<Travel> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if suffix.len() == 17 && digits(suffix) {
        return Some(Travel::Compact(suffix.to_owned()));
    }
    let version = suffix
        .strip_prefix(['v', 'V'])
        .filter(|version| digits(version))?;
    let value = Value::Number(version.to_owned(), false);
    Some(Travel::Version(Expr::Value(ValueWithSpan { value, span })))
}

/// The 17 digits `yyyyMMddHHmmssSSS` as `yyyy-MM-dd HH:mm:ss.SSS`; `None` where they are no time of day.
pub fn compact_timestamp(digits: &str) -> Option<String> {
    let part = |from: usize, to: usize| digits.get(from..to);
    let number = |from, to| part(from, to).and_then(|text| text.parse::<u32>().ok());
    let date = chrono::NaiveDate::from_ymd_opt(
        number(0, 4)?.try_into().ok()?,
        number(4, 6)?,
        number(6, 8)?,
    )?;
    let time = date.and_hms_milli_opt(
        number(8, 10)?,
        number(10, 12)?,
        number(12, 14)?,
        number(14, 17)?,
    )?;
    (digits.len() == 17).then(|| time.format("%Y-%m-%d %H:%M:%S%.3f").to_string())
}
