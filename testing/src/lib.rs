//! What tests share and no program needs: a proxy between a client and a server of object storage that fails on purpose,
//! plays OneLake, and counts requests.
//!
//! ```no_run
//! use deltaic_testing::{Action, Proxy, Rule};
//!
//! // Every 7th commit is made, and its answer lost.
//! let proxy = Proxy::start("127.0.0.1:9000", [Rule::on("PUT")
//!     .path("_delta_log/")
//!     .every(7)
//!     .then(Action::ApplyThenReset)])?;
//! let endpoint = proxy.url();
//! # Ok::<(), std::io::Error>(())
//! ```

mod http;
mod log;
pub mod onelake;
mod proxy;
mod rule;
mod server;

pub use http::RequestHead;
pub use log::{KeyClass, Request, RequestLog};
pub use proxy::Proxy;
pub use rule::{Action, Answer, Rule};
pub use server::Server;
