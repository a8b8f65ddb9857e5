//! A session of Spark SQL over Delta tables: catalog, settings, and one function that runs a statement.
//!
//! ```no_run
//! # async fn run() -> deltaic_protocol::error::Result<()> {
//! use deltaic_session::{Parameters, SessionBuilder, ShowOptions};
//!
//! let session = SessionBuilder::new("/tmp/warehouse").build()?;
//! session.sql("CREATE TABLE t (id BIGINT)", Parameters::None).await?;
//! let answer = session.sql("SELECT * FROM t", Parameters::None).await?;
//! println!("{}", answer.show(ShowOptions::default()));
//! # Ok(())
//! # }
//! ```

mod analysis;
mod cache;
pub mod catalog;
mod changes;
mod conf;
mod context;
mod dispatch;
mod engine;
mod errors;
mod files;
mod names;
mod parameters;
mod parquet;
mod partitions;
mod pattern;
mod places;
mod relations;
mod resolve;
mod result;
mod run;
mod session;
mod time_travel;
mod writes;

pub use conf::SessionConf;
pub use parameters::Parameters;
pub use result::{ShowOptions, SqlResult, Value, error_json, java_double};
pub use session::{Session, SessionBuilder};
