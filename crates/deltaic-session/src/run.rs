//! Running statements.

use deltaic_protocol::error::Result;

use crate::context::Context;
use crate::dispatch;
use crate::parameters::Parameters;
use crate::result::SqlResult;
use crate::session::Session;

impl Session {
    /// Runs one statement.
    ///
    /// # Errors
    /// Whatever the reference would raise, with its class and text.
    pub async fn sql(&self, text: &str, parameters: Parameters) -> Result<SqlResult> {
        let cx = Context::new(self, parameters.into());
        // Boxed, so that callers do not see how deep the futures below are nested.
        let answer = Box::pin(dispatch::run(&cx, text)).await?;
        Ok(cx.finish(answer))
    }
}
