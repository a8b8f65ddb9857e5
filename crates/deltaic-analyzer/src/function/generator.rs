//! Functions that give rows: `explode`, `posexplode`, `inline`, `stack`.

use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use super::call::{Call, MANY, cast, wrong_arguments};
use crate::error::quoted;
use crate::names::quoted_sql;
use crate::node::{Generator, Kind, Node};
use crate::types::{shown, widen};

const NAMES: [&str; 7] = [
    "explode",
    "explode_outer",
    "posexplode",
    "posexplode_outer",
    "inline",
    "inline_outer",
    "stack",
];

/// Is there such a function of this name?
pub fn is_generator(name: &str) -> bool {
    NAMES.contains(&name)
}

/// The call of one.
pub fn generator(c: Call<'_>) -> Result<Node> {
    let (base, outer) = match c.name.strip_suffix("_outer") {
        Some(base) => (base, true),
        None => (c.name, false),
    };
    let (least, most) = if base == "stack" { (2, MANY) } else { (1, 1) };
    if c.args.len() < least || c.args.len() > most {
        return Err(wrong_arguments(c.name, least, most, c.args.len()));
    }
    let mut args = c.args.clone();
    let columns = match (base, &c.args[0].ty) {
        ("explode", DataType::Array(a)) => vec![(
            "col".to_owned(),
            a.element_type.clone(),
            a.contains_null || outer,
        )],
        ("posexplode", DataType::Array(a)) => vec![
            ("pos".to_owned(), DataType::Integer, outer),
            (
                "col".to_owned(),
                a.element_type.clone(),
                a.contains_null || outer,
            ),
        ],
        ("explode", DataType::Map(m)) => vec![
            ("key".to_owned(), m.key_type.clone(), outer),
            (
                "value".to_owned(),
                m.value_type.clone(),
                m.value_contains_null || outer,
            ),
        ],
        ("posexplode", DataType::Map(m)) => vec![
            ("pos".to_owned(), DataType::Integer, outer),
            ("key".to_owned(), m.key_type.clone(), outer),
            (
                "value".to_owned(),
                m.value_type.clone(),
                m.value_contains_null || outer,
            ),
        ],
        ("inline", DataType::Array(a)) => match &a.element_type {
            DataType::Struct(s) => {
                let open = a.contains_null || outer;
                s.fields
                    .iter()
                    .map(|f| (f.name.clone(), f.data_type.clone(), f.nullable || open))
                    .collect()
            }
            _ => return Err(unexpected(&c, "\"ARRAY<STRUCT>\"")),
        },
        ("stack", _) => {
            let rows = crate::fold::evaluate(&c.args[0])
                .ok()
                .and_then(|v| crate::fold::whole(&v))
                .unwrap_or(1)
                .max(1) as usize;
            let values = &c.args[1..];
            let width = values.len().div_ceil(rows);
            let mut columns = Vec::new();
            for n in 0..width {
                let column: Vec<&DataType> = values
                    .iter()
                    .skip(n)
                    .step_by(width)
                    .map(|v| &v.ty)
                    .collect();
                let Some(ty) = widen::common(column) else {
                    return Err(unexpected(&c, "one type for each column"));
                };
                columns.push((format!("col{n}"), ty, true));
            }
            args = values
                .iter()
                .enumerate()
                .map(|(n, v)| cast(v.clone(), &columns[n % width].1, &c.env))
                .collect();
            while args.len() < rows * width {
                let ty = columns[args.len() % width].1.clone();
                args.push(Node::literal(datafusion::common::ScalarValue::Null, ty));
            }
            columns
        }
        _ => return Err(unexpected(&c, "(\"ARRAY\" or \"MAP\")")),
    };
    let function = match base {
        "explode" => "explode",
        "posexplode" => "posexplode",
        "inline" => "inline",
        _ => "stack",
    };
    let ty = columns
        .first()
        .map_or(DataType::Void, |(_, ty, _)| ty.clone());
    let nullable = columns.first().is_none_or(|(_, _, n)| *n);
    let generator = Generator {
        function,
        shown: c.name.to_owned(),
        args,
        outer,
        columns,
    };
    Ok(Node::new(
        Kind::Generator(Box::new(generator)),
        ty,
        nullable,
    ))
}

fn unexpected(c: &Call<'_>, wanted: &str) -> DeltaError {
    DeltaError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
        .param("sqlExpr", quoted(c.printed()))
        .param("paramIndex", "first")
        .param("requiredType", wanted)
        .param("inputSql", quoted_sql(&c.args[0], c.options.zone))
        .param("inputType", shown(&c.args[0].ty))
}
