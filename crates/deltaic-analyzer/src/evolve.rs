//! The column types that a table would have after an INSERT whose values hold more than its columns do: fields of structs that it
//! lacks, and wider types where it lets them grow.

use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::{DeltaError, Result};

/// How far the types of a table's columns may grow: whether a column of the first type may become one of the second.
pub type Widening = fn(&DataType, &DataType) -> bool;

/// How the fields of structs meet those of the table.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// By name; by position if not.
    pub by_name: bool,
    /// None where types stay.
    pub widening: Option<Widening>,
}

impl Meeting {
    /// The type of a column after values of `source` have come to it.
    ///
    /// # Errors
    /// A new field has the name of one that is there.
    pub fn evolved(&self, table: &DataType, source: &DataType) -> Result<DataType> {
        Ok(match (table, source) {
            (DataType::Struct(own), DataType::Struct(new)) => {
                DataType::Struct(self.evolved_struct(own, new)?)
            }
            (DataType::Array(own), DataType::Array(new))
                if self.by_name || own.contains_null == new.contains_null =>
            {
                DataType::array(
                    self.evolved(&own.element_type, &new.element_type)?,
                    own.contains_null,
                )
            }
            (DataType::Map(own), DataType::Map(new)) => DataType::map(
                self.evolved(&own.key_type, &new.key_type)?,
                self.evolved(&own.value_type, &new.value_type)?,
                own.value_contains_null,
            ),
            (own, new) if self.widening.is_some_and(|widens| widens(own, new)) => new.clone(),
            (own, _) => own.clone(),
        })
    }

    fn evolved_struct(&self, own: &StructType, new: &StructType) -> Result<StructType> {
        if !self.by_name && new.len() < own.len() {
            return Ok(own.clone());
        }
        let mut fields = Vec::with_capacity(new.len());
        for (at, field) in own.iter().enumerate() {
            let given = match self.by_name {
                true => new.field(&field.name),
                false => new.fields.get(at),
            };
            let data_type = match given {
                Some(given) => self.evolved(&field.data_type, &given.data_type)?,
                None => field.data_type.clone(),
            };
            fields.push(StructField {
                data_type,
                ..field.clone()
            });
        }
        let known = |name: &str| own.field(name).is_some();
        for (at, field) in new.iter().enumerate() {
            let is_new = match self.by_name {
                true => !known(&field.name),
                false => at >= own.len(),
            };
            if is_new && known(&field.name) {
                return Err(DeltaError::new("COLUMN_ALREADY_EXISTS")
                    .param("columnName", format!("`{}`", field.name.to_lowercase())));
            }
            if is_new {
                fields.push(StructField::nullable(
                    &field.name,
                    field.data_type.as_nullable(),
                ));
            }
        }
        Ok(StructType::new(fields))
    }
}

/// Whether a table of these columns can read values of those as they are: each name is there in the same letters, with a type that
/// reads alike. Fields that the table lacks do not matter.
pub fn reads_alike(
    table: &StructType,
    source: &[(&str, &DataType)],
    widening: Option<Widening>,
) -> bool {
    let all = table.iter().all(|own| {
        source
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(&own.name))
    });
    all && source.iter().all(|(name, ty)| {
        table
            .field(name)
            .is_none_or(|own| own.name == *name && type_reads_alike(&own.data_type, ty, widening))
    })
}

fn type_reads_alike(table: &DataType, source: &DataType, widening: Option<Widening>) -> bool {
    match (table, source) {
        (DataType::Struct(own), DataType::Struct(new)) => {
            let fields: Vec<(&str, &DataType)> = new
                .iter()
                .map(|field| (field.name.as_str(), &field.data_type))
                .collect();
            reads_alike(own, &fields, widening)
        }
        // A type that holds no NULL cannot read one that does, but what is written is made nullable first.
        (DataType::Array(own), DataType::Array(new)) => {
            type_reads_alike(&own.element_type, &new.element_type, widening)
        }
        (DataType::Map(own), DataType::Map(new)) => {
            type_reads_alike(&own.key_type, &new.key_type, widening)
                && type_reads_alike(&own.value_type, &new.value_type, widening)
        }
        (own, new) => own == new || widening.is_some_and(|widens| widens(own, new)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn record(fields: &[(&str, DataType)]) -> StructType {
        StructType::new(
            fields
                .iter()
                .map(|(name, ty)| StructField::nullable(*name, ty.clone())),
        )
    }

    #[test]
    fn fields_meet_by_position_or_name_and_new_ones_come_last() {
        let own = DataType::Struct(record(&[("a", DataType::Integer), ("b", DataType::String)]));
        let new = DataType::Struct(record(&[
            ("c", DataType::Long),
            ("b", DataType::String),
            ("a", DataType::Integer),
        ]));
        let meeting = |by_name| Meeting {
            by_name,
            widening: None,
        };
        assert_eq!(
            meeting(true).evolved(&own, &new).unwrap().simple_string(),
            "struct<a:int,b:string,c:bigint>"
        );
        // The third field would be another `a`.
        assert!(meeting(false).evolved(&own, &new).is_err());
        let list = |ty: &DataType| DataType::array(ty.clone(), true);
        let third = DataType::Struct(record(&[
            ("x", DataType::Long),
            ("y", DataType::Long),
            ("z", DataType::Long),
        ]));
        assert_eq!(
            meeting(false)
                .evolved(&list(&own), &list(&third))
                .unwrap()
                .simple_string(),
            "array<struct<a:int,b:string,z:bigint>>"
        );
    }

    #[test]
    fn what_reads_alike_has_all_names_and_types() {
        let own = record(&[("a", DataType::Integer), ("b", DataType::String)]);
        let (int, text, long) = (&DataType::Integer, &DataType::String, &DataType::Long);
        assert!(reads_alike(
            &own,
            &[("b", text), ("a", int), ("c", int)],
            None
        ));
        assert!(!reads_alike(&own, &[("a", int)], None));
        assert!(!reads_alike(&own, &[("A", int), ("b", text)], None));
        assert!(!reads_alike(&own, &[("a", long), ("b", text)], None));
        assert!(reads_alike(
            &own,
            &[("a", long), ("b", text)],
            Some(|_, _| true)
        ));
    }
}
