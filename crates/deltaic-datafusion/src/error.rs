//! Classed errors across DataFusion: `wrap` boxes a [`DeltaError`] into a [`DataFusionError`], `unwrap` finds it again
//! through every wrapper that DataFusion, Arrow and Parquet put around it.

use std::error::Error;

use arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use deltaic_protocol::error::DeltaError;

/// Boxes a classed error so that it can pass through DataFusion.
pub fn wrap(error: DeltaError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The classed error inside; an error of DataFusion itself becomes one without a Delta class.
pub fn unwrap(error: DataFusionError) -> DeltaError {
    if let Some(found) = find::<DeltaError>(&error) {
        return found.clone();
    }
    match root(&error) {
        DataFusionError::ResourcesExhausted(text) => {
            crate::memory::refused(text).with_source(error)
        }
        DataFusionError::ArrowError(arrow, _)
            if matches!(arrow.as_ref(), ArrowError::DivideByZero) =>
        {
            DeltaError::new("DIVIDE_BY_ZERO").param("config", "\"spark.sql.ansi.enabled\"")
        }
        DataFusionError::Execution(text)
            if text.contains("subquery returned more than one row") =>
        {
            DeltaError::new("SCALAR_SUBQUERY_TOO_MANY_ROWS")
        }
        DataFusionError::NotImplemented(text) => DeltaError::not_supported_yet(text.clone()),
        _ => {
            let text = error.strip_backtrace();
            DeltaError::new("INTERNAL_ERROR")
                .param("message", &text)
                .with_source(error)
        }
    }
}

/// The first error of type `T` in the chain of causes.
pub(crate) fn find<T: Error + 'static>(error: &DataFusionError) -> Option<&T> {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(current) = next {
        if let Some(found) = current.downcast_ref::<T>() {
            return Some(found);
        }
        next = match current.downcast_ref::<DataFusionError>() {
            // `source` of these wrappers skips the error that they hold itself.
            Some(DataFusionError::External(inner)) => Some(inner.as_ref()),
            Some(DataFusionError::Shared(inner)) => Some(inner.as_ref()),
            Some(DataFusionError::Context(_, inner)) => Some(inner.as_ref()),
            Some(DataFusionError::Diagnostic(_, inner)) => Some(inner.as_ref()),
            Some(DataFusionError::Collection(inner)) => {
                inner.first().map(|first| first as &(dyn Error + 'static))
            }
            Some(DataFusionError::ArrowError(inner, _)) => Some(inner.as_ref()),
            Some(DataFusionError::ParquetError(inner)) => Some(inner.as_ref()),
            Some(DataFusionError::ObjectStore(inner)) => Some(inner.as_ref()),
            _ => match current.downcast_ref::<ArrowError>() {
                Some(ArrowError::ExternalError(inner)) => Some(inner.as_ref()),
                _ => match current.downcast_ref::<std::io::Error>() {
                    Some(io) => io.get_ref().map(|inner| inner as &(dyn Error + 'static)),
                    None => current.source(),
                },
            },
        };
    }
    None
}

fn root(error: &DataFusionError) -> &DataFusionError {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => root(inner),
        DataFusionError::Shared(inner) => root(inner),
        DataFusionError::Collection(inner) => inner.first().map_or(error, root),
        DataFusionError::External(inner) => {
            inner.downcast_ref::<DataFusionError>().map_or(error, root)
        }
        _ => error,
    }
}

/// `?` on results of DataFusion in functions that answer classed errors.
pub(crate) trait Classed<T> {
    /// The same result with a classed error.
    fn classed(self) -> Result<T, DeltaError>;
}

impl<T> Classed<T> for Result<T, DataFusionError> {
    fn classed(self) -> Result<T, DeltaError> {
        self.map_err(unwrap)
    }
}

impl<T> Classed<T> for Result<T, ArrowError> {
    fn classed(self) -> Result<T, DeltaError> {
        self.map_err(|error| unwrap(DataFusionError::from(error)))
    }
}
