//! How a classed error travels through DataFusion and comes out again, and the few constructors that many files share.
//!
//! Kernels and planners return [`DeltaError`]; DataFusion only knows its own error. [`wrap`] boxes ours into
//! `DataFusionError::External`; [`unwrap`] walks the chain of sources and takes it out again, whatever layers
//! (context, Arrow, shared) lie around it.

use std::error::Error;

use datafusion::error::DataFusionError;
use deltaic_protocol::{DeltaError, Result};

/// Our error as one of DataFusion's, so that it can pass through plans and kernels.
pub fn wrap(error: DeltaError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The classed error inside an error of DataFusion; one without a class is an `INTERNAL_ERROR` with its text.
pub fn unwrap(error: DataFusionError) -> DeltaError {
    let mut at: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(e) = at {
        if let Some(found) = e.downcast_ref::<DeltaError>() {
            return found.clone();
        }
        if let Some(found) = e.downcast_ref::<Box<DeltaError>>() {
            return DeltaError::clone(found);
        }
        at = inner(e);
    }
    plain(&error)
}

/// The next error inside: what `source()` says, or what the wrappers that hide it hold.
fn inner<'a>(e: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    if let Some(df) = e.downcast_ref::<DataFusionError>() {
        match df {
            DataFusionError::External(boxed) => return Some(boxed.as_ref()),
            DataFusionError::ArrowError(arrow, _) => return Some(arrow.as_ref()),
            DataFusionError::Context(_, boxed) | DataFusionError::Diagnostic(_, boxed) => {
                return Some(boxed.as_ref());
            }
            DataFusionError::Shared(shared) => return Some(shared.as_ref()),
            DataFusionError::Collection(all) => {
                return all.first().map(|first| first as &(dyn Error + 'static));
            }
            _ => {}
        }
    }
    if let Some(arrow::error::ArrowError::ExternalError(boxed)) =
        e.downcast_ref::<arrow::error::ArrowError>()
    {
        return Some(boxed.as_ref());
    }
    e.source()
}

fn plain(error: &DataFusionError) -> DeltaError {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(text) => {
            DeltaError::unclassed("java.lang.OutOfMemoryError", text.clone())
        }
        DataFusionError::Execution(text)
            if text.contains("more than one row") || text.contains("returned more than one") =>
        {
            DeltaError::new("SCALAR_SUBQUERY_TOO_MANY_ROWS")
        }
        root => internal(root.to_string()),
    }
}

/// Something that must not happen, or that the engine below refuses without a class.
pub fn internal(text: impl Into<String>) -> DeltaError {
    DeltaError::new("INTERNAL_ERROR").param("message", text.into())
}

/// A clause or function that is understood but not offered.
pub fn unsupported(what: impl std::fmt::Display) -> DeltaError {
    DeltaError::unclassed(
        "org.apache.spark.sql.AnalysisException",
        format!("{what} is not supported yet"),
    )
}

/// Turn the error of a DataFusion call into ours.
pub trait Ours<T> {
    /// The same result with the error unwrapped.
    fn ours(self) -> Result<T>;
}

impl<T> Ours<T> for std::result::Result<T, DataFusionError> {
    fn ours(self) -> Result<T> {
        self.map_err(unwrap)
    }
}

impl<T> Ours<T> for std::result::Result<T, arrow::error::ArrowError> {
    fn ours(self) -> Result<T> {
        self.map_err(|e| unwrap(DataFusionError::from(e)))
    }
}

/// A value in the quotes that error messages use for SQL text, `"x"`.
pub fn quoted(text: impl std::fmt::Display) -> String {
    format!("\"{text}\"")
}

/// A name with its parts in backticks, `` `a`.`b` ``.
pub fn backticked<S: AsRef<str>>(parts: &[S]) -> String {
    parts
        .iter()
        .map(|p| format!("`{}`", p.as_ref().replace('`', "``")))
        .collect::<Vec<_>>()
        .join(".")
}

/// One part of a name, in backticks only where it needs them.
pub fn quote_if_needed(part: &str) -> String {
    let plain = !part.is_empty()
        && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !part.bytes().all(|b| b.is_ascii_digit());
    if plain {
        part.to_owned()
    } else {
        format!("`{}`", part.replace('`', "``"))
    }
}

/// The configuration that the texts of ANSI errors name, in their quotes.
pub const ANSI_CONFIG: &str = "\"spark.sql.ansi.enabled\"";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_classed_error_survives_every_wrapper() {
        let make = || DeltaError::new("DIVIDE_BY_ZERO").param("config", ANSI_CONFIG);
        let arrow = || arrow::error::ArrowError::ExternalError(Box::new(wrap(make())));
        let cases = [
            wrap(make()),
            wrap(make()).context("while testing"),
            DataFusionError::from(arrow()),
            DataFusionError::Shared(Arc::new(wrap(make()))),
            DataFusionError::External(Box::new(DataFusionError::External(Box::new(make())))),
            DataFusionError::Shared(Arc::new(DataFusionError::from(arrow()).context("deep"))),
            DataFusionError::Collection(vec![wrap(make())]),
        ];
        for case in cases {
            assert_eq!(unwrap(case).class(), Some("DIVIDE_BY_ZERO"));
        }
    }

    #[test]
    fn an_error_of_the_engine_keeps_its_text() {
        let e = unwrap(DataFusionError::Plan("no such thing".to_owned()));
        assert_eq!(e.class(), Some("INTERNAL_ERROR"));
        assert!(e.text().contains("no such thing"), "{}", e.text());
    }
}
