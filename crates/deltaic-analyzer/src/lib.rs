//! Spark SQL's analysis on DataFusion: queries and expressions of sqlparser's AST to plans and expressions that give
//! Spark's types, names, rows and errors.
//!
//! The way of an expression: AST, then [`node::Node`] (typed as Spark types it, casts told apart, printable as Spark
//! prints it), then DataFusion's `Expr`. Relations are resolved before binding, by the host's [`Resolver`].

mod api;
mod assign;
mod bind;
mod binder;
mod by_name;
mod constants;
mod definition;
mod filter;
mod fold;
mod function;
mod kernels;
mod plan;
mod range;
mod relations;
mod value;

pub mod correlated;
pub mod error;
pub mod evolve;
pub mod kernel;
pub mod lower;
pub mod names;
pub mod node;
pub mod options;
pub mod resolver;
pub mod scope;
pub mod store;
pub mod text;
pub mod time;
pub mod types;

pub use api::{
    Analyzed, Bound, Constant, analyze_query, bind_expr, bind_local, bind_predicate, constant,
    constant_as, environment, relation_name, row_count, scope_of, travel,
};
pub use assign::{InsertTarget, Inserted, analyze_insert, bind_update, null_of};
pub use definition::{
    CheckRules, ColumnDefault, check_condition, check_constraint, check_default,
    check_generated_columns,
};
pub use evolve::Widening;
pub use kernels::variant_json::variant_json;
pub use options::{AnalyzerOptions, Parameters, StoreAssignment};
pub use resolver::{
    ArgumentValue, Relation, Resolver, TableFunctionArgument, TableRelation, Travel, ViewRelation,
};
pub use scope::Scope;
pub use store::{Assignment, store_assignment};
