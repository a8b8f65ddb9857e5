//! Kernels: what Spark's operators and functions compute where DataFusion's own would differ.

pub mod aggregates;
pub mod arithmetic;
pub mod arrays;
pub mod cast;
pub mod cast_context;
pub mod cast_text;
pub mod collections;
pub mod datetime;
pub mod decimal;
pub mod hash;
pub mod json;
pub mod lambda;
pub mod math;
pub mod membership;
pub mod misc;
pub mod numbers;
pub mod regex;
pub mod strings;
pub mod values;
pub mod variant;
pub mod variant_build;
pub mod variant_json;
pub mod variant_path;
