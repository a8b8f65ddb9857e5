//! Writes deletion vectors: many in one file (protocol section "Deletion Vectors").

use bytes::Bytes;
use deltaic_log::Ids;
use deltaic_protocol::action::Add;
use deltaic_protocol::deletion_vector::{
    DeletionVector, DeletionVectorDescriptor, DeletionVectorFile, DeletionVectorLocation,
};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::statistics::Statistics;
use deltaic_storage::{PutOutcome, TableStore};
use uuid::Uuid;

use crate::write::target::random_prefix;

/// A file of vectors is closed at this size (bytes).
const TARGET_BYTES: usize = 2 << 20;

/// Writes vectors and answers their descriptors in the same order. `prefix` is the length of a random folder name.
pub(crate) async fn write_vectors(
    store: &TableStore,
    ids: &dyn Ids,
    prefix: Option<usize>,
    vectors: &[DeletionVector],
) -> Result<Vec<DeletionVectorDescriptor>> {
    let mut out = Vec::with_capacity(vectors.len());
    let mut rest = vectors;
    while !rest.is_empty() {
        let uuid = Uuid::parse_str(&ids.uuid())
            .map_err(|error| DeltaError::internal("an id that is no UUID").with_source(error))?;
        let folder = prefix
            .map(|length| random_prefix(ids, length))
            .unwrap_or_default();
        let mut file = DeletionVectorFile::default();
        let begun = out.len();
        for vector in rest {
            if out.len() > begun && file.len() >= TARGET_BYTES {
                break;
            }
            let payload = vector.to_payload();
            let Some((offset, size)) = file.push(&payload) else {
                if out.len() == begun {
                    return Err(DeltaError::internal("a deletion vector of more than 2 GiB"));
                }
                break;
            };
            let cardinality = i64::try_from(vector.cardinality()).unwrap_or(i64::MAX);
            out.push(DeletionVectorDescriptor::on_disk(
                &folder,
                uuid,
                offset,
                size,
                cardinality,
            ));
        }
        rest = &vectors[out.len()..];
        let path = match out.last().map(DeletionVectorDescriptor::location) {
            Some(Ok(DeletionVectorLocation::Relative(path))) => path,
            _ => return Err(DeltaError::internal("a deletion vector without a path")),
        };
        match store
            .data()
            .create(&path, Bytes::from(file.into_bytes()))
            .await?
        {
            PutOutcome::Created => {}
            PutOutcome::AlreadyExists => {
                return Err(DeltaError::internal(format!("{path} exists")));
            }
        }
    }
    Ok(out)
}

/// The file with another deletion vector: its bounds are wide from now on.
pub(crate) fn with_vector(add: &Add, vector: DeletionVectorDescriptor, physical_rows: u64) -> Add {
    let mut out = add.clone();
    let mut stats = add
        .stats
        .as_deref()
        .and_then(Statistics::from_json)
        .unwrap_or_default()
        .with_wide_bounds();
    stats.num_records = stats.num_records.or(i64::try_from(physical_rows).ok());
    out.stats = Some(stats.to_json());
    out.deletion_vector = Some(vector);
    out.data_change = true;
    out
}
