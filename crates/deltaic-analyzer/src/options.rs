//! What a statement is analysed with: session settings, its parameters and the moment it runs at.

use chrono_tz::Tz;
use sqlparser::ast::Expr;

/// Values bound to `:name` and `?`.
#[derive(Clone, Debug, Default)]
pub enum Parameters {
    /// None were given: any marker is unbound.
    #[default]
    None,
    /// `:name`, as SQL literals or constructor calls.
    Named(Vec<(String, Expr)>),
    /// `?`, in order.
    Positional(Vec<Expr>),
}

/// What an assignment to a column makes of a value of another type (`spark.sql.storeAssignmentPolicy`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreAssignment {
    /// A cast, with an error for a value that does not fit.
    #[default]
    Ansi,
    /// A cast, with NULL for a text that is no value; numbers that do not fit lose their upper bits.
    Legacy,
    /// A cast only where no value can be lost by it.
    Strict,
}

/// Settings of one analysis. Times and identity are given, never read from the machine.
#[derive(Clone, Debug)]
pub struct AnalyzerOptions {
    /// `spark.sql.session.timeZone`.
    pub zone: Tz,
    /// Its name as the session holds it (`UTC`, `+01:00`), for `current_timezone()`.
    pub zone_name: String,
    /// `current_timestamp()`, microseconds since the epoch, UTC.
    pub now_us: i64,
    /// `current_catalog()`.
    pub catalog: String,
    /// `current_schema()`.
    pub schema: String,
    /// `current_user()`.
    pub user: String,
    /// `version()`.
    pub version: String,
    /// `spark.sql.ansi.enabled`; off turns the errors of casts, arithmetic and indexes into NULL.
    pub ansi: bool,
    /// `spark.sql.storeAssignmentPolicy`.
    pub store_assignment: StoreAssignment,
    /// UPDATE goes by `spark.sql.ansi.enabled` instead (`updateAndMergeCastingFollowsAnsiEnabledFlag`).
    pub update_follows_ansi: bool,
    /// `spark.sql.caseSensitive`.
    pub case_sensitive: bool,
    /// `spark.sql.groupByOrdinal` and `spark.sql.orderByOrdinal`.
    pub ordinals: bool,
    /// What `:name` and `?` stand for.
    pub parameters: Parameters,
    /// Partitions that `range(…)` has where none are named (`spark.default.parallelism`; the reference ran with 1).
    pub default_parallelism: usize,
    /// Seed of `rand()`, `uuid()` and `shuffle()` where the statement names none.
    pub seed: u64,
}

impl Default for AnalyzerOptions {
    fn default() -> Self {
        Self {
            zone: Tz::UTC,
            zone_name: "UTC".to_owned(),
            now_us: 0,
            catalog: "spark_catalog".to_owned(),
            schema: "default".to_owned(),
            user: "root".to_owned(),
            version: "4.1.4".to_owned(),
            ansi: true,
            store_assignment: StoreAssignment::Ansi,
            update_follows_ansi: false,
            case_sensitive: false,
            ordinals: true,
            parameters: Parameters::None,
            default_parallelism: 1,
            seed: 42,
        }
    }
}
