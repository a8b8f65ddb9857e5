//! Functions about the session, types, JSON, random numbers and errors; and casts that look like functions.

use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use super::call::{Call, Entry, Nulls, P, cast, entry};
use crate::error::quoted;
use crate::kernels::{json, misc, variant, variant_path};
use crate::names::pretty;
use crate::node::{Imp, Kind, Node, Shown};
use crate::types::{castable, shown};

use DataType::{Double, Integer, Long, String as Str, Void};

/// The functions.
pub const TABLE: &[Entry] = &[
    entry("current_schema", 0, 0, |c| Ok(schema(c))),
    entry("current_database", 0, 0, |c| Ok(schema(c))),
    entry("current_catalog", 0, 0, |c| {
        let by = Node::string(c.options.catalog.clone());
        Ok(c.replaced(by))
    }),
    entry("current_user", 0, 0, user),
    entry("session_user", 0, 0, user),
    entry("user", 0, 0, user),
    entry("version", 0, 0, |c| {
        let by = Node::string(c.options.version.clone());
        Ok(c.replaced(by))
    }),
    entry("typeof", 1, 1, |c| {
        let by = Node::string(misc::type_name(&c.args[0].ty));
        Ok(c.replaced(by))
    }),
    entry("uuid", 0, 0, |c| {
        let salt = c.options.seed ^ u64::from(c.serial).wrapping_mul(0x9E37_79B9);
        Ok(c.volatile("uuid", misc::uuid, Str, salt))
    }),
    entry("rand", 0, 1, |c| rand(c, "rand", misc::rand)),
    entry("random", 0, 1, |c| {
        rand(c.inner("rand", c.args.clone()), "rand", misc::rand)
    }),
    entry("randn", 0, 1, |c| rand(c, "randn", misc::randn)),
    entry("monotonically_increasing_id", 0, 0, |c| {
        Ok(c.volatile("row_ids", misc::row_ids, Long, 0))
    }),
    entry("spark_partition_id", 0, 0, |c| {
        let by = Node::int(0);
        Ok(super::call::capital(c.replaced(by)))
    }),
    entry("input_file_name", 0, 0, |c| {
        let shown = Shown::Call(c.name.to_owned());
        let imp = Imp::Native(|args| datafusion::functions::core::input_file_name().call(args));
        Ok(Node::new(
            Kind::Call {
                shown,
                args: vec![],
                imp,
            },
            Str,
            false,
        ))
    }),
    entry("assert_true", 1, 2, |c| {
        let message = format!("'{}' is not true!", pretty(&c.args[0], c.options.zone));
        let c = c
            .or_default(2, || Node::string(message))
            .coerced(&[P::Bool, P::Str])?;
        Ok(c.fallible("assert_true", misc::assert_true, Void, Nulls::Always))
    }),
    entry("raise_error", 1, 1, |c| {
        let c = c.coerced(&[P::Str])?;
        let node = c.fallible("raise_error", misc::raise_error, Void, Nulls::Always);
        Ok(super::call::shown_as(
            node,
            Shown::Template("raise_error(USER_RAISED_EXCEPTION, map(errorMessage, {0}))"),
        ))
    }),
    // JSON.
    entry("to_json", 1, 2, |c| {
        let first = c.args[0].clone();
        if first.ty == DataType::Variant {
            let c = c.inner(c.name, vec![first]);
            return Ok(c.kernel("variant_to_json", variant::to_json, Str, Nulls::Args));
        }
        if !matches!(
            first.ty,
            DataType::Struct(_) | DataType::Array(_) | DataType::Map(_)
        ) {
            return Err(DeltaError::new("DATATYPE_MISMATCH.INVALID_JSON_SCHEMA")
                .param("sqlExpr", quoted(c.printed()))
                .param("schema", shown(&first.ty)));
        }
        let c = c.inner(c.name, vec![first]);
        Ok(c.kernel("to_json", json::to_json, Str, Nulls::Args))
    }),
    entry("from_json", 2, 3, |c| {
        let text = c.constant_text(1)?;
        let ty = schema_of(&text)?;
        let c = c.inner(c.name, vec![c.arg(0)]).coerced(&[P::Str])?;
        Ok(c.kernel(
            "from_json",
            json::from_json,
            crate::types::as_nullable(&ty),
            Nulls::Always,
        ))
    }),
    entry("get_json_object", 2, 2, |c| {
        Ok(c.coerced(&[P::Str])?
            .kernel("get_json_object", json::get_object, Str, Nulls::Always))
    }),
    entry("json_array_length", 1, 1, |c| {
        Ok(c.coerced(&[P::Str])?.kernel(
            "json_array_length",
            json::array_length,
            Integer,
            Nulls::Always,
        ))
    }),
    // Variants.
    entry("parse_json", 1, 1, |c| {
        Ok(c.coerced(&[P::Str])?.fallible(
            "parse_json",
            variant::parse_json,
            DataType::Variant,
            Nulls::Args,
        ))
    }),
    entry("try_parse_json", 1, 1, |c| {
        Ok(c.coerced(&[P::Str])?.kernel(
            "try_parse_json",
            variant::try_parse_json,
            DataType::Variant,
            Nulls::Always,
        ))
    }),
    entry("is_variant_null", 1, 1, |c| {
        let c = variants(c)?;
        Ok(c.kernel(
            "is_variant_null",
            variant::is_variant_null,
            DataType::Boolean,
            Nulls::Never,
        ))
    }),
    entry("schema_of_variant", 1, 1, |c| {
        let c = variants(c)?;
        Ok(c.kernel(
            "schema_of_variant",
            variant::schema_of_variant,
            Str,
            Nulls::Args,
        ))
    }),
    entry("to_variant_object", 1, 1, |c| {
        if !matches!(
            c.args[0].ty,
            DataType::Struct(_) | DataType::Array(_) | DataType::Map(_)
        ) {
            return Err(DeltaError::new("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION")
                .param("sqlExpr", quoted(c.printed()))
                .param("srcType", shown(&c.args[0].ty))
                .param("targetType", shown(&DataType::Variant)));
        }
        Ok(c.kernel(
            "to_variant",
            variant::to_variant,
            DataType::Variant,
            Nulls::Args,
        ))
    }),
    entry("variant_get", 2, 3, |c| variant_get(c, true)),
    entry("try_variant_get", 2, 3, |c| variant_get(c, false)),
    // Casts that look like functions.
    entry("boolean", 1, 1, |c| as_cast(c, DataType::Boolean)),
    entry("tinyint", 1, 1, |c| as_cast(c, DataType::Byte)),
    entry("smallint", 1, 1, |c| as_cast(c, DataType::Short)),
    entry("int", 1, 1, |c| as_cast(c, Integer)),
    entry("bigint", 1, 1, |c| as_cast(c, Long)),
    entry("float", 1, 1, |c| as_cast(c, DataType::Float)),
    entry("double", 1, 1, |c| as_cast(c, Double)),
    entry("decimal", 1, 1, |c| {
        as_cast(
            c,
            DataType::Decimal {
                precision: 10,
                scale: 0,
            },
        )
    }),
    entry("date", 1, 1, |c| as_cast(c, DataType::Date)),
    entry("timestamp", 1, 1, |c| as_cast(c, DataType::Timestamp)),
    entry("binary", 1, 1, |c| as_cast(c, DataType::Binary)),
    entry("string", 1, 1, |c| as_cast(c, Str)),
];

/// The call if its first argument is a variant.
fn variants(c: Call<'_>) -> Result<Call<'_>> {
    let first = &c.args[0];
    if matches!(first.ty, DataType::Variant | Void) {
        return Ok(c);
    }
    Err(DeltaError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
        .param("sqlExpr", quoted(c.printed()))
        .param("paramIndex", super::call::ordinal(0))
        .param("requiredType", "\"VARIANT\"")
        .param("inputSql", crate::names::quoted_sql(first, c.options.zone))
        .param("inputType", shown(&first.ty)))
}

/// `variant_get(v, path, type)`; the type is not shown, and VARIANT where it is left out.
fn variant_get(c: Call<'_>, strict: bool) -> Result<Node> {
    let ty = match c.args.len() {
        3 => schema_of(&c.constant_text(2)?)?,
        _ => DataType::Variant,
    };
    let c = variants(c)?;
    let path = c.arg(1);
    if let Some(text) = path.as_str() {
        variant_path::parse(text, c.name)?;
    }
    let c = c
        .inner(c.name, vec![c.arg(0), path])
        .coerced(&[P::Any, P::Str])?;
    let ty = crate::types::as_nullable(&ty);
    Ok(match strict {
        true => c.fallible("variant_get", variant::variant_get, ty, Nulls::Always),
        false => c.kernel(
            "try_variant_get",
            variant::try_variant_get,
            ty,
            Nulls::Always,
        ),
    })
}

fn schema(c: Call<'_>) -> Node {
    let by = Node::string(c.options.schema.clone());
    super::call::shown_as(c.replaced(by), Shown::Call("current_schema".to_owned()))
}

fn user(c: Call<'_>) -> Result<Node> {
    let by = Node::string(c.options.user.clone());
    Ok(c.replaced(by))
}

fn rand(c: Call<'_>, name: &'static str, run: crate::kernel::Run) -> Result<Node> {
    let salt = match c.args.first() {
        Some(seed) => {
            let seed = crate::fold::cast_constant(seed.clone(), &Long, &c.env)?;
            crate::fold::whole(&seed).unwrap_or(0) as u64
        }
        None => c.options.seed ^ c.options.now_us as u64 ^ u64::from(c.serial),
    };
    // The seed stands in the environment; as an argument it would only be evaluated.
    let printed = c.printed();
    let node = c.inner(name, vec![]).volatile(name, run, Double, salt);
    Ok(super::call::shown_as(node, Shown::Text(printed)))
}

fn as_cast(c: Call<'_>, to: DataType) -> Result<Node> {
    let node = c.args[0].clone();
    if !castable::ansi(&node.ty, &to) {
        return Err(cast_error(&node, &to, &pretty(&node, c.options.zone)));
    }
    Ok(cast(node, &to, &c.env))
}

/// The error of a cast that does not exist.
pub fn cast_error(node: &Node, to: &DataType, printed: &str) -> DeltaError {
    use crate::types::{is_numeric, is_timestamp};
    let from = &node.ty;
    let whole = quoted(format!("CAST({printed} AS {})", to.sql()));
    let base = |class: &'static str| {
        DeltaError::new(class)
            .param("sqlExpr", whole.clone())
            .param("srcType", shown(from))
            .param("targetType", shown(to))
    };
    let function = match (from, to) {
        (DataType::Date, _) if is_numeric(to) => Some("`UNIX_DATE`"),
        (_, DataType::Date) if is_numeric(from) => Some("`DATE_FROM_UNIX_DATE`"),
        _ => None,
    };
    if let Some(name) = function {
        return base("DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION").param("functionNames", name);
    }
    if castable::legacy(from, to) && !is_timestamp(to)
        || matches!((from, to), (DataType::Boolean, DataType::Timestamp))
    {
        return base("DATATYPE_MISMATCH.CAST_WITH_CONF_SUGGESTION")
            .param("config", "\"spark.sql.ansi.enabled\"")
            .param("configVal", "'false'");
    }
    base("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION")
}

/// The type of `from_json`'s schema: a DDL text (`a INT, b STRING`) or a type (`array<int>`).
fn schema_of(text: &str) -> Result<DataType> {
    if let Ok(ty) = deltaic_sql::parse_data_type(text) {
        return Ok(ty);
    }
    match deltaic_sql::parse_schema(text) {
        Ok(schema) => Ok(DataType::Struct(schema)),
        Err(e) => Err(DeltaError::new("INVALID_SCHEMA.PARSE_ERROR")
            .param("inputSchema", quoted(text))
            .param("reason", e.text())),
    }
}
