//! What a commit costs does not depend on how many commits there were before it.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_log::{CommitContext, Snapshot};
use deltaic_storage::hook::{Area, OpKind, RequestCounter};

use crate::{append, create, memory_store};

#[tokio::test]
async fn a_held_table_takes_the_same_requests_for_its_first_and_its_last_append() {
    let counter = Arc::new(RequestCounter::new());
    let store = memory_store().hooked(counter.clone());
    let context = CommitContext {
        write_checkpoint: false,
        ..CommitContext::default()
    };
    let mut snapshot: Snapshot = create(&store, &[], &context).await.unwrap().snapshot;
    let mut requests: Vec<BTreeMap<(Area, OpKind), u64>> = Vec::new();
    for number in 0..300 {
        counter.reset();
        snapshot = snapshot.update().await.unwrap();
        snapshot = append(&snapshot, &format!("f{number}.parquet"), &context)
            .await
            .unwrap()
            .snapshot;
        requests.push(counter.snapshot());
    }
    assert_eq!(requests[1], requests[299]);
    let last = &requests[299];
    let of = |kind| {
        last.iter()
            .filter(|((_, k), _)| *k == kind)
            .map(|(_, n)| n)
            .sum::<u64>()
    };
    // One look at the known commit, one for a newer one, the commit, its checksum.
    assert_eq!(
        (of(OpKind::Read), of(OpKind::Write), of(OpKind::List)),
        (1, 2, 0),
        "{last:?}"
    );
}
