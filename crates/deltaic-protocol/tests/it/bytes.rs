//! Bytes: lines of commits and deletion vectors, whole and damaged.

use deltaic_protocol::Action;
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::deletion_vector::{
    DeletionVector, DeletionVectorDescriptor, DeletionVectorFile, read_frame, z85,
};
use deltaic_protocol::statistics::Statistics;
use proptest::prelude::*;
use uuid::Uuid;

/// Lines as they stand in logs.
const LINES: [&str; 9] = [
    r#"{"commitInfo":{"timestamp":1767225600000,"operation":"WRITE","operationParameters":{"mode":"Append","partitionBy":"[]"},"readVersion":3,"isolationLevel":"Serializable","isBlindAppend":true,"operationMetrics":{"numFiles":"1"},"engineInfo":"x","txnId":"0"}}"#,
    r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","appendOnly"]}}"#,
    r#"{"metaData":{"id":"a","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"a\",\"type\":{\"type\":\"array\",\"elementType\":\"decimal(10,2)\",\"containsNull\":true},\"nullable\":true,\"metadata\":{}}]}","partitionColumns":["id"],"configuration":{"delta.logRetentionDuration":"interval 30 days"},"createdTime":1}}"#,
    r#"{"add":{"path":"p=1/a%20b.parquet","partitionValues":{"p":"1","q":null},"size":100,"modificationTime":5,"dataChange":true,"stats":"{\"numRecords\":3,\"minValues\":{\"id\":1},\"maxValues\":{\"id\":3},\"nullCount\":{\"id\":0}}","tags":{"a":"b"},"deletionVector":{"storageType":"u","pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^","offset":4,"sizeInBytes":40,"cardinality":6},"baseRowId":4,"defaultRowCommitVersion":2}}"#,
    r#"{"remove":{"path":"a.parquet","deletionTimestamp":9,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{},"size":4}}"#,
    r#"{"cdc":{"path":"_change_data/a.parquet","partitionValues":{},"size":4,"dataChange":false}}"#,
    r#"{"txn":{"appId":"a","version":7,"lastUpdated":8}}"#,
    r#"{"domainMetadata":{"domain":"delta.clustering","configuration":"{}","removed":false}}"#,
    r#"{"sidecar":{"path":"a.parquet","sizeInBytes":9,"modificationTime":4,"tags":null}}"#,
];

/// What may stand where something else stood.
const PIECES: [&str; 24] = [
    "",
    "{",
    "}",
    "[",
    "\"",
    ":",
    ",",
    "null",
    "true",
    "0",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "1e400",
    "0.1",
    "\\u0000",
    "\\ud800",
    "%zz",
    "%00",
    "../",
    "/",
    "日",
    "{\"a\":{\"b\":[[[]]]}}",
    "\"\\\"\"",
];

/// A change of one place: from there, so many bytes go and a piece comes.
pub type Edit = (prop::sample::Index, usize, prop::sample::Index);

pub fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = (
        any::<prop::sample::Index>(),
        0usize..12,
        any::<prop::sample::Index>(),
    );
    prop::collection::vec(edit, 0..5)
}

pub fn edited(text: &str, edits: &[Edit]) -> Vec<u8> {
    let mut out = text.as_bytes().to_vec();
    for (at, gone, piece) in edits {
        let at = at.index(out.len() + 1);
        let end = (at + gone).min(out.len());
        out.splice(at..end, piece.get(&PIECES).bytes());
    }
    out
}

/// All that is asked of an action once it is read.
fn look_at(action: &Action) {
    assert!(Action::from_json_line(&action.to_json_line()).is_ok());
    let _ = action.key();
    match action {
        Action::Add(add) => {
            let _ = add.to_remove(0, true);
            if let Some(vector) = &add.deletion_vector {
                let _ = (vector.location(), vector.unique_id(), vector.frame_range());
            }
            if let Some(statistics) = add.stats.as_deref().and_then(Statistics::from_json) {
                let _ = statistics.to_json();
            }
        }
        Action::Metadata(metadata) => {
            if let Ok(schema) = metadata.schema() {
                let _ = schema.leaves();
                let _ = schema.to_json();
            }
            let config =
                TableConfig::new(metadata, &deltaic_protocol::action::Protocol::legacy(1, 2));
            let _ = (config.log_retention(), config.deleted_file_retention());
            let _ = (config.checkpoint_interval(), config.is_append_only());
        }
        _ => {}
    }
}

/// A vector in both of its places, and some of its bytes otherwise.
fn vector() -> impl Strategy<Value = DeletionVector> {
    let row = prop_oneof![0u64..200, 60_000u64..70_000, 0..u64::from(u32::MAX) * 4];
    let run = (row, 1u64..5000).prop_map(|(start, len)| (start..start + len).collect::<Vec<_>>());
    prop::collection::vec(run, 0..4).prop_map(|runs| runs.into_iter().flatten().collect())
}

proptest! {
    #[test]
    fn a_line_of_a_commit_is_read_or_refused(
        line in prop::sample::select(&LINES[..]),
        edits in edits(),
    ) {
        if let Ok(text) = String::from_utf8(edited(line, &edits))
            && let Ok(Some(action)) = Action::from_json_line(&text)
        {
            look_at(&action);
        }
    }

    #[test]
    fn any_text_is_a_line_or_none(text in "\\PC{0,60}") {
        let _ = Action::from_json_line(&text);
        let _ = Action::from_json_line(&format!("{{\"add\":{text}}}"));
    }

    #[test]
    fn a_damaged_vector_is_read_or_refused(
        vector in vector(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        cuts in any::<bool>(),
    ) {
        let mut payload = vector.to_payload();
        prop_assert_eq!(&DeletionVector::from_payload(&payload).unwrap(), &vector);
        for (at, byte) in &flips {
            let at = at.index(payload.len());
            payload[at] = *byte;
        }
        if cuts {
            payload.truncate(cut.index(payload.len()));
        }
        if let Ok(read) = DeletionVector::from_payload(&payload) {
            let _ = (read.cardinality(), read.contains(u64::MAX));
            let inline = DeletionVectorDescriptor {
                cardinality: i64::MAX,
                ..DeletionVectorDescriptor::inline(&read)
            };
            prop_assert!(DeletionVector::from_described(&payload, &inline).is_err());
        }
    }

    #[test]
    fn any_bytes_are_a_vector_or_none(payload in prop::collection::vec(any::<u8>(), 0..200), native in any::<bool>()) {
        let _ = DeletionVector::from_payload(&payload);
        let magic = if native { 1_681_511_376_u32 } else { 1_681_511_377 };
        let mut named = magic.to_le_bytes().to_vec();
        named.extend(&payload);
        let _ = DeletionVector::from_payload(&named);
    }

    #[test]
    fn a_frame_gives_its_payload_or_none(
        payload in prop::collection::vec(any::<u8>(), 0..80),
        flip in prop::option::of((any::<prop::sample::Index>(), 1u8..)),
        size in prop_oneof![Just(None), any::<i32>().prop_map(Some)],
    ) {
        let mut file = DeletionVectorFile::default();
        let (offset, real) = file.push(&payload).unwrap();
        let descriptor = DeletionVectorDescriptor::on_disk("", Uuid::nil(), offset, size.unwrap_or(real), 1);
        let mut bytes = file.into_bytes();
        if let Some((at, bits)) = flip {
            let at = 1 + at.index(bytes.len() - 1);
            bytes[at] ^= bits;
        }
        let range = descriptor.frame_range();
        let end = usize::try_from(range.end).unwrap().min(bytes.len());
        let frame = &bytes[usize::try_from(range.start).unwrap().min(end)..end];
        let whole = flip.is_none() && size.is_none_or(|size| size == real);
        prop_assert_eq!(read_frame(frame, &descriptor).ok(), whole.then_some(&payload[..]));
    }

    #[test]
    fn a_descriptor_has_a_place_or_none(
        kind in prop_oneof![Just("u".to_owned()), Just("i".to_owned()), Just("p".to_owned()), "\\PC{0,2}"],
        text in prop_oneof!["\\PC{0,40}", "[0-9a-zA-Z.:+=^!/*?&<>()\\[\\]{}@%$#-]{0,45}"],
        offset in prop::option::of(any::<i32>()),
        size in any::<i32>(),
        cardinality in any::<i64>(),
    ) {
        let descriptor = DeletionVectorDescriptor {
            storage_type: kind,
            path_or_inline_dv: text,
            offset,
            size_in_bytes: size,
            cardinality,
        };
        let _ = (descriptor.location(), descriptor.unique_id(), descriptor.frame_range());
    }

    #[test]
    fn z85_gives_back_what_it_took(bytes in prop::collection::vec(any::<u8>(), 0..60), text in "\\PC{0,60}") {
        let whole: Vec<u8> = bytes.chunks_exact(4).flatten().copied().collect();
        prop_assert_eq!(z85::decode(&z85::encode(&whole)), Some(whole));
        let _ = z85::decode(&text);
        let _ = z85::encode(&bytes);
    }
}
