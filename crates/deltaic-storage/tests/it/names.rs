//! Random file names round-trip on both backends.

use deltaic_storage::{
    StorageFactory, contract::names::round_trip, decode_uri_path, encode_uri_path,
    from_object_path, to_object_path,
};
use proptest::prelude::*;

/// A segment that a file system accepts.
fn segment() -> impl Strategy<Value = String> {
    let hostile = "[ %#?&=+~*'\"<>|\\\\^`{}\\[\\]();:,.@!$_\\-a-z0-9A-F\\t\\n\u{f8ff}äß日🙂]{1,20}";
    hostile.prop_filter("not a special segment", |name| name != "." && name != "..")
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(segment(), 1..4).prop_map(|parts| parts.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_name_round_trips_on_disk_and_in_memory(path in path()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let factory = StorageFactory::default();
        for location in [format!("{}/t", folder.path().display()), "memory:/t".to_string()] {
            let table = factory.open(&location).unwrap();
            runtime.block_on(round_trip(&table, &path)).map_err(|violation| TestCaseError::fail(violation.to_string()))?;
        }
    }

    #[test]
    fn uri_encoding_and_object_paths_can_be_undone(path in path()) {
        prop_assert_eq!(decode_uri_path(&encode_uri_path(&path)).unwrap(), path.clone());
        let absolute = format!("/{path}");
        prop_assert_eq!(from_object_path(&to_object_path(&absolute)), absolute);
    }
}
