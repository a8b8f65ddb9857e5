//! Partition values as typed values.

use std::collections::BTreeMap;

use deltaic_protocol::action::PartitionValues;
use deltaic_protocol::partition::Scalar;
use deltaic_protocol::timestamp::Zone;

use super::{Column, Value};

/// The typed values of the partition columns in a file, by physical name. A timestamp without zone is read in `zone`; a value that
/// is not of its column's type is left out, which counts as unknown.
pub fn partition_values(
    values: &PartitionValues,
    columns: &[Column],
    zone: &Zone,
) -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    for column in columns {
        let [name] = column.path.as_slice() else {
            continue;
        };
        let Some(text) = values.get(name) else {
            continue;
        };
        if let Ok(scalar) = Scalar::from_partition_text(text.as_deref(), &column.data_type, zone) {
            out.insert(name.clone(), Value::from(scalar));
        }
    }
    out
}
