//! Edits of a schema by path (pure). Names match in any case; `element`, `key` and `value` step into arrays and maps.

use deltaic_command::ColumnPosition;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, Lengths, StructField, StructType, quote_if_needed};

/// Calls `edit` on the struct that holds the last name of `path`.
///
/// # Errors
/// A name on the way is missing or is no struct; whatever `edit` refuses.
pub(super) fn in_parent<T>(
    schema: &mut StructType,
    path: &[String],
    edit: impl FnOnce(&mut StructType, &str) -> Result<T>,
) -> Result<T> {
    let Some((last, parents)) = path.split_last() else {
        return Err(DeltaError::internal("a column without a name"));
    };
    let mut current = schema;
    let mut steps = parents.iter();
    while let Some(name) = steps.next() {
        let Some(at) = current.index_of(name) else {
            return Err(missing_column(path, current));
        };
        current = inner_struct(&mut current.fields[at].data_type, &mut steps)
            .map_err(|found| parent_not_struct(path, &found))?;
    }
    edit(current, last)
}

/// The struct that a type is or holds; the type itself where there is none.
fn inner_struct<'a>(
    data_type: &'a mut DataType,
    steps: &mut std::slice::Iter<'_, String>,
) -> Result<&'a mut StructType, String> {
    let found = data_type.sql();
    match data_type {
        DataType::Struct(inner) => return Ok(inner),
        DataType::Array(array) if next_is(steps, "element") => {
            return inner_struct(&mut array.element_type, steps);
        }
        DataType::Map(map) => {
            if next_is(steps, "key") {
                return inner_struct(&mut map.key_type, steps);
            }
            if next_is(steps, "value") {
                return inner_struct(&mut map.value_type, steps);
            }
        }
        _ => {}
    }
    Err(found)
}

/// Takes the next step if it has this name.
fn next_is(steps: &mut std::slice::Iter<'_, String>, name: &str) -> bool {
    let is = steps
        .as_slice()
        .first()
        .is_some_and(|step| step.eq_ignore_ascii_case(name));
    if is {
        steps.next();
    }
    is
}

/// The field at a path, if there is one.
pub(super) fn find<'a>(schema: &'a StructType, path: &[String]) -> Option<&'a StructField> {
    let (last, parents) = path.split_last()?;
    let mut current = schema;
    let mut steps = parents.iter();
    while let Some(name) = steps.next() {
        let mut data_type = &current.field(name)?.data_type;
        current = loop {
            data_type = match data_type {
                DataType::Struct(inner) => break inner,
                DataType::Array(array) if next_is(&mut steps, "element") => &array.element_type,
                DataType::Map(map) if next_is(&mut steps, "key") => &map.key_type,
                DataType::Map(map) if next_is(&mut steps, "value") => &map.value_type,
                _ => return None,
            };
        };
    }
    current.field(last)
}

/// Puts a field where it is to stand among its siblings.
///
/// # Errors
/// The sibling is missing.
pub(super) fn insert(
    parent: &mut StructType,
    field: StructField,
    position: Option<&ColumnPosition>,
) -> Result<()> {
    let at = match position {
        None => parent.fields.len(),
        Some(ColumnPosition::First) => 0,
        Some(ColumnPosition::After(sibling)) => match parent.index_of(sibling) {
            Some(at) => at + 1,
            None => return Err(missing_column(std::slice::from_ref(sibling), parent)),
        },
    };
    parent.fields.insert(at, field);
    Ok(())
}

/// The path as an identifier, quoted where needed: `s.c`, `` `a b`.c ``.
pub(super) fn dotted(path: &[String]) -> String {
    path.iter()
        .map(|name| quote_if_needed(name))
        .collect::<Vec<_>>()
        .join(".")
}

/// The path as an identifier, always quoted: `` `s`.`c` ``.
pub(super) fn quoted(path: &[String]) -> String {
    path.iter()
        .map(|name| format!("`{}`", name.replace('`', "``")))
        .collect::<Vec<_>>()
        .join(".")
}

/// A column that is not there, with those that are, in their order.
pub(super) fn missing_column(path: &[String], among: &StructType) -> DeltaError {
    let proposal: Vec<String> = among
        .names()
        .map(|name| quoted(&[name.to_string()]))
        .collect();
    let error = if proposal.is_empty() {
        DeltaError::new("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION")
    } else {
        DeltaError::new("UNRESOLVED_COLUMN.WITH_SUGGESTION")
    };
    let error = error.param("objectName", quoted(path));
    if proposal.is_empty() {
        error
    } else {
        error.param("proposal", proposal.join(", "))
    }
}

fn parent_not_struct(path: &[String], found: &str) -> DeltaError {
    DeltaError::new("DELTA_ADD_COLUMN_PARENT_NOT_STRUCT")
        .param("columnName", path.last().map_or("", String::as_str))
        .param("other", found)
}

/// Lengths of CHAR and VARCHAR at a path, which are noted at the top-level column.
pub(super) fn lengths_at(schema: &StructType, path: &[String]) -> Lengths {
    let top = path.first().and_then(|name| schema.field(name));
    top.map_or(Lengths::Any, |top| Lengths::of(top).at(&path[1..]).clone())
}

/// Notes lengths at a path.
pub(super) fn set_lengths(schema: &mut StructType, path: &[String], new: Lengths) {
    let Some((top, rest)) = path.split_first() else {
        return;
    };
    if let Some(at) = schema.index_of(top) {
        let field = schema.fields[at].clone();
        let mut lengths = Lengths::of(&field);
        lengths.set(&field.data_type, rest, new);
        schema.fields[at] = field.with_lengths(&lengths);
    }
}
