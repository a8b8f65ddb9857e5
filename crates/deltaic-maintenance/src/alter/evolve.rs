//! Columns of a table that grow with what is inserted: new fields of structs, wider types.

use deltaic_protocol::schema::{DataType, StructField, StructType};

use super::types::record_change;

/// The schema with its columns in these types, which hold all fields of theirs and perhaps more; nothing where that changes nothing.
/// What is known of the columns and their fields stays; new fields may be NULL, and changed types are noted.
pub fn with_types<'a>(
    schema: &StructType,
    types: impl Iterator<Item = &'a DataType>,
) -> Option<StructType> {
    let mut out = schema.clone();
    for (field, to) in out.fields.iter_mut().zip(types) {
        evolve(field, to);
    }
    (out != *schema).then_some(out)
}

fn evolve(field: &mut StructField, to: &DataType) {
    let new = evolved_type(&field.data_type, to);
    record_change(&mut field.metadata, &field.data_type, &new);
    field.data_type = new;
}

fn evolved_type(from: &DataType, to: &DataType) -> DataType {
    match (from, to) {
        (DataType::Struct(from), DataType::Struct(to)) => {
            let mut out = from.clone();
            for field in to {
                match out.index_of(&field.name) {
                    Some(at) => evolve(&mut out.fields[at], &field.data_type),
                    None => out.fields.push(StructField::nullable(
                        &field.name,
                        field.data_type.as_nullable(),
                    )),
                }
            }
            DataType::Struct(out)
        }
        (DataType::Array(from), DataType::Array(to)) => DataType::array(
            evolved_type(&from.element_type, &to.element_type),
            from.contains_null,
        ),
        (DataType::Map(from), DataType::Map(to)) => DataType::map(
            evolved_type(&from.key_type, &to.key_type),
            evolved_type(&from.value_type, &to.value_type),
            from.value_contains_null,
        ),
        (DataType::Struct(_) | DataType::Array(_) | DataType::Map(_), _) => from.clone(),
        (_, to) => to.clone(),
    }
}
