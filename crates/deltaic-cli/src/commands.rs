//! One module per command of the program.

pub mod detail;
pub mod history;
pub mod properties;
pub mod restore;
pub mod sql;
pub mod vacuum;

use deltaic_session::SqlResult;

use crate::arguments::Common;
use crate::engine::{Engine, Parameters, absolute};
use crate::failure::Failed;
use crate::output::Printer;
use crate::progress::Progress;

/// Open a session, run one statement with progress, and print its answer.
async fn one(common: &Common, statement: &str) -> Result<(), Failed> {
    let engine = Engine::open(common)?;
    let answer = watched(&engine, common, statement).await?;
    Printer::whole(common.output).answer(&answer)
}

async fn watched(engine: &Engine, common: &Common, statement: &str) -> Result<SqlResult, Failed> {
    let parameters = Parameters::default();
    let work = engine.sql_or_interrupt(statement, &parameters);
    Ok(Progress::new(common.quiet).watch(statement, work).await?)
}

/// How a table is named in a statement: a path where the text holds a slash or begins with a dot, else a name of the
/// catalog as it is typed.
fn table_text(target: &str) -> String {
    if target.contains('/') || target.starts_with('.') {
        return format!("delta.`{}`", absolute(target).replace('`', "``"));
    }
    target.to_owned()
}

/// A string literal.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::{quoted, table_text};

    #[test]
    fn a_slash_or_a_dot_in_front_makes_a_path() {
        assert_eq!(table_text("main.shop.orders"), "main.shop.orders");
        assert_eq!(table_text("/lake/a`b"), "delta.`/lake/a``b`");
        assert_eq!(table_text("memory:/x"), "delta.`memory:/x`");
        assert!(table_text("./lake").starts_with("delta.`/"));
    }

    #[test]
    fn quotes_and_backslashes_are_escaped() {
        assert_eq!(quoted(r"it's \x"), r"'it\'s \\x'");
    }
}
