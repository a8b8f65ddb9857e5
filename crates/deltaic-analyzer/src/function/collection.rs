//! Functions of arrays, maps and structs.

use datafusion::common::ScalarValue;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use super::call::{Call, Entry, MANY, Nulls, P, cast, entry, implicit};
use crate::error::quoted;
use crate::kernel::Run;
use crate::kernels::{arrays, collections, misc};
use crate::names::{column_name, quoted_sql};
use crate::node::{Kind, Node};
use crate::types::{array_of, map_of, same_type, shown, struct_of, widen};

use DataType::{Boolean, Integer, Long, String as Str};

fn element(ty: &DataType) -> (DataType, bool) {
    match ty {
        DataType::Array(a) => (a.element_type.clone(), a.contains_null),
        _ => (DataType::Void, true),
    }
}

fn of_array(c: Call<'_>, name: &'static str, run: Run) -> Result<Node> {
    let c = c.coerced(&[P::Array, P::Any])?;
    let ty = c.args[0].ty.clone();
    Ok(c.kernel(name, run, ty, Nulls::Args))
}

/// The functions.
pub const TABLE: &[Entry] = &[
    entry("array", 0, MANY, |c| {
        let c = c.unified()?;
        let nullable = c.args.iter().any(|a| a.nullable);
        let item = c.args.first().map_or(DataType::Void, |a| a.ty.clone());
        Ok(c.kernel(
            "array",
            arrays::make,
            array_of(item, nullable),
            Nulls::Never,
        ))
    }),
    entry("map", 0, MANY, make_map),
    entry("struct", 1, MANY, make_struct),
    entry("named_struct", 2, MANY, named_struct),
    entry("map_from_arrays", 2, 2, |c| {
        let c = c.coerced(&[P::Array, P::Array])?;
        let ((k, _), (v, n)) = (element(&c.args[0].ty), element(&c.args[1].ty));
        Ok(c.fallible(
            "map_from_arrays",
            collections::from_arrays,
            map_of(k, v, n),
            Nulls::Args,
        ))
    }),
    entry("map_from_entries", 1, 1, |c| {
        let c = c.coerced(&[P::Array])?;
        let ty = match element(&c.args[0].ty).0 {
            DataType::Struct(s) if s.fields.len() == 2 => map_of(
                s.fields[0].data_type.clone(),
                s.fields[1].data_type.clone(),
                s.fields[1].nullable,
            ),
            _ => return Err(unexpected(&c, 0, "\"ARRAY\" of pair \"STRUCT\"")),
        };
        Ok(c.fallible(
            "map_from_entries",
            collections::from_entries,
            ty,
            Nulls::Always,
        ))
    }),
    entry("map_concat", 0, MANY, |c| {
        if c.args.is_empty() {
            return make_map(c);
        }
        let c = c.unified()?.coerced(&[P::Map])?;
        let ty = c.args[0].ty.clone();
        Ok(c.fallible("map_concat", collections::concatenate, ty, Nulls::Args))
    }),
    entry("map_keys", 1, 1, |c| {
        let c = c.coerced(&[P::Map])?;
        let ty = map_parts(&c.args[0].ty).0;
        Ok(c.kernel(
            "map_keys",
            collections::keys,
            array_of(ty, false),
            Nulls::Args,
        ))
    }),
    entry("map_values", 1, 1, |c| {
        let c = c.coerced(&[P::Map])?;
        let (_, ty, nullable) = map_parts(&c.args[0].ty);
        Ok(c.kernel(
            "map_values",
            collections::values,
            array_of(ty, nullable),
            Nulls::Args,
        ))
    }),
    entry("map_entries", 1, 1, |c| {
        let c = c.coerced(&[P::Map])?;
        let (k, v, nullable) = map_parts(&c.args[0].ty);
        let ty = array_of(
            struct_of(vec![("key", k, false), ("value", v, nullable)]),
            false,
        );
        Ok(c.kernel("map_entries", collections::entries, ty, Nulls::Args))
    }),
    entry("map_contains_key", 2, 2, |c| {
        let c = key_coerced(c.coerced(&[P::Map, P::Any])?)?;
        Ok(c.kernel(
            "map_contains_key",
            collections::contains_key,
            Boolean,
            Nulls::Args,
        ))
    }),
    entry("element_at", 2, 2, |c| element_at(c, 0)),
    entry("try_element_at", 2, 2, |c| element_at(c, 1)),
    entry("get", 2, 2, |c| {
        let c = c.coerced(&[P::Array, P::Int])?;
        let ty = element(&c.args[0].ty).0;
        Ok(c.salted("array_item", arrays::item, 1, ty, Nulls::Always, false))
    }),
    entry("size", 1, 1, size),
    entry("cardinality", 1, 1, size),
    entry("array_size", 1, 1, |c| {
        Ok(c.coerced(&[P::Array])?
            .kernel("size", arrays::size, Integer, Nulls::Args))
    }),
    entry("array_contains", 2, 2, |c| {
        let c = element_coerced(c)?;
        Ok(c.kernel("array_contains", arrays::contains, Boolean, Nulls::Args))
    }),
    entry("array_position", 2, 2, |c| {
        Ok(element_coerced(c)?.kernel("array_position", arrays::position, Long, Nulls::Args))
    }),
    entry("array_remove", 2, 2, |c| {
        of_array(element_coerced(c)?, "array_remove", arrays::remove)
    }),
    entry("array_append", 2, 2, |c| append(c, 0)),
    entry("array_prepend", 2, 2, |c| append(c, 1)),
    entry("array_distinct", 1, 1, |c| {
        of_array(c, "array_distinct", arrays::distinct)
    }),
    entry("array_compact", 1, 1, |c| {
        let c = c.coerced(&[P::Array])?;
        let ty = array_of(element(&c.args[0].ty).0, false);
        Ok(c.kernel("array_compact", arrays::compact, ty, Nulls::Args))
    }),
    entry("array_union", 2, 2, |c| {
        of_array(c.unified()?, "array_union", arrays::union)
    }),
    entry("array_intersect", 2, 2, |c| {
        of_array(c.unified()?, "array_intersect", arrays::intersect)
    }),
    entry("array_except", 2, 2, |c| {
        of_array(c.unified()?, "array_except", arrays::except)
    }),
    entry("arrays_overlap", 2, 2, |c| {
        Ok(c.unified()?.coerced(&[P::Array])?.kernel(
            "arrays_overlap",
            arrays::overlap,
            Boolean,
            Nulls::Args,
        ))
    }),
    entry("arrays_zip", 0, MANY, |c| {
        let zone = c.options.zone;
        let c = c.coerced(&[P::Array])?;
        let fields = c
            .args
            .iter()
            .enumerate()
            .map(|(n, a)| {
                let name = match &a.kind {
                    Kind::Attr(_) | Kind::Field { .. } => column_name(a, zone),
                    _ => n.to_string(),
                };
                (name, element(&a.ty).0, true)
            })
            .collect();
        Ok(c.kernel(
            "arrays_zip",
            arrays::zip,
            array_of(struct_of(fields), false),
            Nulls::Args,
        ))
    }),
    entry("array_join", 2, 3, |c| {
        Ok(c.coerced(&[P::Array, P::Str, P::Str])?.kernel(
            "array_join",
            arrays::join,
            Str,
            Nulls::Args,
        ))
    }),
    entry("array_min", 1, 1, |c| {
        let c = c.coerced(&[P::Array])?;
        let ty = element(&c.args[0].ty).0;
        Ok(c.kernel("array_min", arrays::minimum, ty, Nulls::Always))
    }),
    entry("array_max", 1, 1, |c| {
        let c = c.coerced(&[P::Array])?;
        let ty = element(&c.args[0].ty).0;
        Ok(c.kernel("array_max", arrays::maximum, ty, Nulls::Always))
    }),
    entry("array_repeat", 2, 2, |c| {
        let c = c.coerced(&[P::Any, P::Int])?;
        let (ty, nullable, maybe) = (c.args[0].ty.clone(), c.args[0].nullable, c.args[1].nullable);
        let nulls = if maybe { Nulls::Always } else { Nulls::Never };
        Ok(c.kernel(
            "array_repeat",
            arrays::repeat,
            array_of(ty, nullable),
            nulls,
        ))
    }),
    entry("array_sort", 1, 1, |c| {
        of_array(c, "array_sort_plain", arrays::sort_nulls_last)
    }),
    entry("sort_array", 1, 2, |c| {
        let c = c
            .or_default(2, || Node::boolean(true))
            .coerced(&[P::Array, P::Bool])?;
        of_array(c, "sort_array", arrays::sort)
    }),
    entry("slice", 3, 3, |c| {
        let c = c.coerced(&[P::Array, P::Int, P::Int])?;
        let ty = c.args[0].ty.clone();
        Ok(c.fallible("slice", arrays::slice, ty, Nulls::Args))
    }),
    entry("flatten", 1, 1, |c| {
        let c = c.coerced(&[P::Array])?;
        let (inner, _) = element(&c.args[0].ty);
        if !matches!(inner, DataType::Array(_)) {
            return Err(unexpected(&c, 0, "\"ARRAY\" of \"ARRAY\""));
        }
        Ok(c.kernel("flatten", arrays::flatten, inner, Nulls::Always))
    }),
    entry("shuffle", 1, 1, |c| {
        let c = c.coerced(&[P::Array])?;
        let (ty, salt) = (c.args[0].ty.clone(), c.options.seed ^ u64::from(c.serial));
        Ok(c.volatile("shuffle", arrays::shuffle, ty, salt))
    }),
    entry("sequence", 2, 3, sequence),
];

fn unexpected(c: &Call<'_>, n: usize, wanted: &str) -> DeltaError {
    DeltaError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
        .param("sqlExpr", quoted(c.printed()))
        .param("paramIndex", super::call::ordinal(n))
        .param("requiredType", wanted)
        .param("inputSql", quoted_sql(&c.args[n], c.options.zone))
        .param("inputType", shown(&c.args[n].ty))
}

fn map_parts(ty: &DataType) -> (DataType, DataType, bool) {
    match ty {
        DataType::Map(m) => (
            m.key_type.clone(),
            m.value_type.clone(),
            m.value_contains_null,
        ),
        _ => (DataType::Void, DataType::Void, true),
    }
}

/// The second argument in the type of the elements of the first, or both in a wider one.
fn element_coerced(c: Call<'_>) -> Result<Call<'_>> {
    let mut c = c.coerced(&[P::Array, P::Any])?;
    let (item, nullable) = element(&c.args[0].ty);
    let Some(common) =
        widen::tightest(&item, &c.args[1].ty).or_else(|| widen::wider(&item, &c.args[1].ty))
    else {
        return Err(
            DeltaError::new("DATATYPE_MISMATCH.ARRAY_FUNCTION_DIFF_TYPES")
                .param("sqlExpr", quoted(c.printed()))
                .param("functionName", format!("`{}`", c.name))
                .param("dataType", "\"ARRAY\"")
                .param("leftType", shown(&c.args[0].ty))
                .param("rightType", shown(&c.args[1].ty)),
        );
    };
    let env = c.env.clone();
    let (b, a) = (c.args.remove(1), c.args.remove(0));
    c.args = vec![
        cast(a, &array_of(common.clone(), nullable), &env),
        cast(b, &common, &env),
    ];
    Ok(c)
}

fn key_coerced(mut c: Call<'_>) -> Result<Call<'_>> {
    let key = map_parts(&c.args[0].ty).0;
    let given = c.args.remove(1);
    match implicit(given, &key, &c.env) {
        Ok(k) => c.args.push(k),
        Err(k) => {
            c.args.push(*k);
            return Err(DeltaError::new("DATATYPE_MISMATCH.MAP_FUNCTION_DIFF_TYPES")
                .param("sqlExpr", quoted(c.printed()))
                .param("functionName", format!("`{}`", c.name))
                .param("dataType", "\"MAP\"")
                .param("leftType", shown(&c.args[0].ty))
                .param("rightType", shown(&c.args[1].ty)));
        }
    }
    Ok(c)
}

fn element_at(c: Call<'_>, salt: u64) -> Result<Node> {
    if matches!(c.args[0].ty, DataType::Map(_)) {
        let c = key_coerced(c)?;
        let ty = map_parts(&c.args[0].ty).1;
        return Ok(c.kernel("map_value", collections::value, ty, Nulls::Always));
    }
    let c = c.coerced(&[P::Array, P::Int])?;
    let ty = element(&c.args[0].ty).0;
    Ok(c.salted(
        "element_at",
        arrays::element_at,
        salt,
        ty,
        Nulls::Always,
        true,
    ))
}

fn size(c: Call<'_>) -> Result<Node> {
    if !matches!(c.args[0].ty, DataType::Array(_) | DataType::Map(_)) {
        return Err(unexpected(&c, 0, "(\"ARRAY\" or \"MAP\")"));
    }
    Ok(c.kernel("size", arrays::size, Integer, Nulls::Args))
}

fn append(c: Call<'_>, salt: u64) -> Result<Node> {
    let c = element_coerced(c)?;
    let (item, nullable) = element(&c.args[0].ty);
    let ty = array_of(item, nullable || c.args[1].nullable);
    let nulls = if c.args[0].nullable {
        Nulls::Always
    } else {
        Nulls::Never
    };
    Ok(c.salted("array_append", arrays::append, salt, ty, nulls, false))
}

fn make_map(mut c: Call<'_>) -> Result<Node> {
    if !c.args.len().is_multiple_of(2) {
        return Err(super::call::wrong_arguments(c.name, 2, MANY, c.args.len())
            .param("expectedNum", "2n (n > 0)"));
    }
    let side = |c: &Call<'_>, n: usize, subclass: &'static str| -> Result<DataType> {
        let types: Vec<&DataType> = c.args.iter().skip(n).step_by(2).map(|a| &a.ty).collect();
        widen::common(types.iter().copied()).ok_or_else(|| {
            let all: Vec<String> = types.iter().map(|t| shown(t)).collect();
            DeltaError::new(subclass)
                .param("sqlExpr", quoted(c.printed()))
                .param("functionName", "`map`")
                .param("dataType", format!("[{}]", all.join(", ")))
        })
    };
    let key = side(&c, 0, "DATATYPE_MISMATCH.CREATE_MAP_KEY_DIFF_TYPES")?;
    let value = side(&c, 1, "DATATYPE_MISMATCH.CREATE_MAP_VALUE_DIFF_TYPES")?;
    let nullable = c.args.iter().skip(1).step_by(2).any(|a| a.nullable);
    let env = c.env.clone();
    let args = std::mem::take(&mut c.args);
    c.args = args
        .into_iter()
        .enumerate()
        .map(|(n, a)| cast(a, if n % 2 == 0 { &key } else { &value }, &env))
        .collect();
    Ok(c.fallible(
        "map",
        collections::make,
        map_of(key, value, nullable),
        Nulls::Never,
    ))
}

fn make_struct(c: Call<'_>) -> Result<Node> {
    let zone = c.options.zone;
    let fields = c
        .args
        .iter()
        .enumerate()
        .map(|(n, a)| {
            let name = match &a.kind {
                Kind::Attr(_) | Kind::Outer(_) | Kind::Field { .. } | Kind::Alias { .. } => {
                    column_name(a, zone)
                }
                _ => format!("col{}", n + 1),
            };
            (name, a.ty.clone(), a.nullable)
        })
        .collect();
    Ok(c.kernel("struct", misc::make_struct, struct_of(fields), Nulls::Never))
}

/// `named_struct('a', 1, …)`: printed with its names, computed without.
fn named_struct(c: Call<'_>) -> Result<Node> {
    if !c.args.len().is_multiple_of(2) {
        return Err(super::call::wrong_arguments(c.name, 2, MANY, c.args.len())
            .param("expectedNum", "2n (n > 0)"));
    }
    let mut fields = Vec::new();
    for pair in c.args.chunks_exact(2) {
        let name = match crate::fold::evaluate(&pair[0]).ok() {
            Some(ScalarValue::Utf8(Some(name))) => name,
            _ => {
                return Err(DeltaError::new(
                    "DATATYPE_MISMATCH.CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING",
                )
                .param("sqlExpr", quoted(c.printed()))
                .param(
                    "inputExprs",
                    format!("[{}]", quoted_sql(&pair[0], c.options.zone)),
                ));
            }
        };
        fields.push((name, pair[1].ty.clone(), pair[1].nullable));
    }
    let values = c.args.iter().skip(1).step_by(2).cloned().collect();
    let by = c.inner("struct", values).kernel(
        "struct",
        misc::make_struct,
        struct_of(fields),
        Nulls::Never,
    );
    Ok(c.replaced(by))
}

fn sequence(mut c: Call<'_>) -> Result<Node> {
    let env = c.env.clone();
    let Some(mut common) = widen::common([&c.args[0].ty, &c.args[1].ty]) else {
        return Err(unexpected(&c, 1, "\"INTEGRAL\""));
    };
    let stepped_by_whole = c
        .args
        .get(2)
        .is_none_or(|s| crate::types::is_integral(&s.ty));
    if crate::types::is_integral(&common) {
        if let Some(step) = c.args.get(2).filter(|s| crate::types::is_integral(&s.ty)) {
            common = widen::tightest(&common, &step.ty).unwrap_or(Long);
        }
        let args = std::mem::take(&mut c.args);
        c.args = args.into_iter().map(|a| cast(a, &common, &env)).collect();
    } else {
        if common == Str {
            common = DataType::Timestamp;
        }
        if !crate::types::is_datetime(&common) || (stepped_by_whole && c.args.len() > 2) {
            return Err(unexpected(
                &c,
                0,
                "(\"INTEGRAL\" or \"TIMESTAMP\" or \"DATE\")",
            ));
        }
        let args = std::mem::take(&mut c.args);
        c.args = args
            .into_iter()
            .enumerate()
            .map(|(n, a)| if n < 2 { cast(a, &common, &env) } else { a })
            .collect();
        if let Some(step) = c.args.get(2)
            && !crate::types::is_ansi_interval(&step.ty)
        {
            return Err(unexpected(
                &c,
                2,
                "(\"INTERVAL YEAR TO MONTH\" or \"INTERVAL DAY TO SECOND\")",
            ));
        }
    }
    if !same_type(&c.args[0].ty, &c.args[1].ty) {
        return Err(unexpected(&c, 1, "\"INTEGRAL\""));
    }
    Ok(c.fallible(
        "sequence",
        arrays::sequence,
        array_of(common, false),
        Nulls::Args,
    ))
}
