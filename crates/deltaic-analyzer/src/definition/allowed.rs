//! The expressions that Delta lets definitions use (Delta 4.3's list of allowed user-provided expressions, by the names that
//! SQL has for them).

use crate::node::{Imp, Kind, Node, Shown};

/// Functions for generated columns and CHECK constraints. The operators have shapes of their own among nodes.
///
/// Delta's list has `now` too, by the side of a rule that keeps out what differs between statements; here the rule holds for
/// `now` as it does for `current_timestamp`, since no UPDATE could keep such a column.
const FUNCTIONS: &str = "assert_true between coalesce greatest if iff ifnull isnan isnotnull isnull least nanvl not nullif nvl nvl2 \
     typeof when abs acos acosh asin asinh atan atan2 atanh bin bit_count bround cbrt ceil ceiling conv cos cosh \
     cot degrees div e exp expm1 factorial floor hex hypot ln log log10 log1p log2 mod negative pi pmod positive \
     pow power radians rint round shiftleft shiftright shiftrightunsigned sign signum sin sinh sqrt tan tanh \
     ascii base64 bit_length char char_length character_length charindex chr concat concat_ws crc32 decode elt \
     encode find_in_set format_number format_string hash initcap instr lcase left len length levenshtein like \
     locate lower lpad ltrim md5 octet_length overlay parse_url position printf regexp regexp_extract regexp_like \
     regexp_replace repeat replace right rlike rpad rtrim sentences sha sha1 sha2 soundex space split str_to_map \
     substr substring substring_index translate trim ucase unbase64 unhex upper xpath xpath_boolean xpath_double \
     xpath_float xpath_int xpath_long xpath_number xpath_short xpath_string xxhash64 add_months date_add \
     date_diff date_format date_part date_sub date_trunc dateadd datediff datepart day dayofmonth dayofweek \
     dayofyear extract from_unixtime from_utc_timestamp hour last_day make_date make_interval make_timestamp \
     make_timestamp_ltz make_timestamp_ntz minute month months_between next_day quarter second timestampadd \
     timestampdiff to_date to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_utc_timestamp \
     trunc try_to_timestamp unix_timestamp weekday weekofyear year aggregate array array_contains array_distinct \
     array_except array_intersect array_join array_max array_min array_position array_remove array_repeat \
     array_sort array_union arrays_overlap arrays_zip cardinality element_at exists filter flatten forall map \
     map_concat map_entries map_filter map_from_arrays map_from_entries map_keys map_values map_zip_with \
     named_struct reduce reverse sequence size slice sort_array struct transform transform_keys transform_values \
     zip_with from_csv from_json get_json_object schema_of_csv schema_of_json to_csv to_json bigint binary \
     boolean date decimal double float int smallint string timestamp tinyint";

/// More of them for CHECK constraints, where what a condition said once need not be said again.
const IN_CHECKS: &str = "array_append array_compact array_insert array_prepend array_size contains curdate current_date \
     current_timestamp endswith ilike now startswith to_number try_add try_divide try_multiply try_subtract \
     try_to_binary try_to_number";

/// Signs before an expression.
const SIGNS: &[&str] = &["(+ {0})", "(- {0})", "~{0}"];

/// Sums of intervals are on the list as sums of numbers are.
const KERNELS: &[&str] = &["add_intervals"];

/// Dates moved by intervals, timestamps by months, and values of maps: for CHECK constraints alone.
const KERNELS_IN_CHECKS: &[&str] = &["add_days", "add_months", "add_months_to_time", "map_value"];

/// May a generated column use it? Its arguments are asked for on their own.
pub fn in_generated(node: &Node) -> bool {
    match &node.kind {
        Kind::Lambda(_) | Kind::Outer(_) | Kind::Default => false,
        Kind::Like { insensitive, .. } => !insensitive,
        Kind::Call {
            shown: Shown::Template(text),
            ..
        } if SIGNS.contains(text) => true,
        Kind::Call { .. } => is_called(node, FUNCTIONS) || is_computed_by(node, KERNELS),
        _ => true,
    }
}

/// May a CHECK constraint use it?
pub fn in_check(node: &Node) -> bool {
    match &node.kind {
        Kind::Lambda(_) | Kind::Like { .. } => true,
        _ => {
            in_generated(node)
                || is_called(node, IN_CHECKS)
                || is_computed_by(node, KERNELS_IN_CHECKS)
        }
    }
}

fn is_called(node: &Node, names: &str) -> bool {
    function_name(node).is_some_and(|name| names.split_whitespace().any(|known| known == name))
}

/// The name by which SQL calls a function, in lower case; none for operators.
pub fn function_name(node: &Node) -> Option<String> {
    let Kind::Call { shown, .. } = &node.kind else {
        return None;
    };
    let text = match shown {
        Shown::Call(name) => return Some(name.to_lowercase()),
        Shown::Template(text) => text,
        Shown::Text(text) => text.as_str(),
    };
    let (name, _) = text.split_once('(')?;
    let is_name = name.starts_with(|c: char| c.is_alphabetic())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then(|| name.to_lowercase())
}

fn is_computed_by(node: &Node, kernels: &[&str]) -> bool {
    function_name(node).is_none() && computed_by(node).is_some_and(|name| kernels.contains(&name))
}

/// The kernel of an operator, also where it stands for another expression.
fn computed_by(node: &Node) -> Option<&'static str> {
    match &node.kind {
        Kind::Call { imp, .. } => match imp {
            Imp::Kernel { name, .. } => Some(name),
            Imp::Replace(by) => computed_by(by),
            Imp::Native(_) => None,
        },
        Kind::Cast { child, .. } => computed_by(child),
        _ => None,
    }
}
