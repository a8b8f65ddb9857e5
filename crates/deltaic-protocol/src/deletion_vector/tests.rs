//! Deletion vectors: texts, payloads, framing and damage.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use proptest::prelude::*;
use uuid::Uuid;

fn sample() -> DeletionVector {
    [3, 4, 7, 11, 18, 29].into_iter().collect()
}

#[test]
fn a_uuid_path_is_decoded() {
    let dv = DeletionVectorDescriptor {
        storage_type: "u".into(),
        path_or_inline_dv: "ab^-aqEH.-t@S}K{vb[*k^".into(),
        offset: Some(4),
        size_in_bytes: 40,
        cardinality: 6,
    };
    let path = "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin";
    assert_eq!(
        dv.location().unwrap(),
        DeletionVectorLocation::Relative(path.into())
    );
    assert_eq!(dv.unique_id(), "uab^-aqEH.-t@S}K{vb[*k^@4");
    let uuid = Uuid::parse_str("d2c639aa-8816-431a-aaf6-d3fe2512ff61").unwrap();
    assert_eq!(DeletionVectorDescriptor::on_disk("ab", uuid, 4, 40, 6), dv);
}

#[test]
fn an_inline_vector_is_read_and_written() {
    let dv = DeletionVectorDescriptor::inline(&sample());
    assert_eq!(
        dv.path_or_inline_dv,
        "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"
    );
    assert_eq!((dv.size_in_bytes, dv.cardinality, dv.offset), (44, 6, None));
    let DeletionVectorLocation::Inline(payload) = dv.location().unwrap() else {
        panic!()
    };
    assert_eq!(
        DeletionVector::from_described(&payload, &dv).unwrap(),
        sample()
    );
}

#[test]
fn the_older_payload_is_read_too() {
    let mut bytes = MAGIC_NATIVE.to_le_bytes().to_vec();
    bytes.extend(2i32.to_le_bytes());
    for rows in [vec![1u32, 5], vec![7]] {
        let map: RoaringBitmap = rows.into_iter().collect();
        let mut body = Vec::new();
        map.serialize_into(&mut body).unwrap();
        bytes.extend(i32::try_from(body.len()).unwrap().to_le_bytes());
        bytes.extend(body);
    }
    let vector = DeletionVector::from_payload(&bytes).unwrap();
    assert_eq!(
        vector.rows.iter().collect::<Vec<_>>(),
        [1, 5, (1 << 32) + 7]
    );
}

#[test]
fn a_group_above_32_bits_wraps_as_in_the_reference() {
    let dv = DeletionVectorDescriptor {
        storage_type: "i".into(),
        path_or_inline_dv: "^Bg9^0rr910000000000iXQKl0rr91000005c8Xg##093".into(),
        offset: None,
        size_in_bytes: 34,
        cardinality: 1,
    };
    let DeletionVectorLocation::Inline(payload) = dv.location().unwrap() else {
        panic!()
    };
    let vector = DeletionVector::from_described(&payload, &dv).unwrap();
    assert_eq!(vector.rows.iter().collect::<Vec<_>>(), [0x6e08]);
}

#[test]
fn frames_follow_each_other_from_byte_one() {
    let mut file = DeletionVectorFile::default();
    assert!(file.is_empty());
    let payload = sample().to_payload();
    assert_eq!(file.push(&payload), Some((1, 44)));
    assert_eq!(file.push(&payload), Some((53, 44)));
    let bytes = file.into_bytes();
    let dv = DeletionVectorDescriptor::on_disk("", Uuid::nil(), 53, 44, 6);
    let range = dv.frame_range();
    let frame = &bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
    let payload = read_frame(frame, &dv).unwrap();
    assert_eq!(
        DeletionVector::from_described(payload, &dv).unwrap(),
        sample()
    );
}

#[test]
fn damage_is_told_by_class() {
    let mut file = DeletionVectorFile::default();
    file.push(&sample().to_payload());
    let mut bytes = file.into_bytes();
    let dv = DeletionVectorDescriptor::on_disk("", Uuid::nil(), 1, 44, 6);
    let class = |frame: &[u8], dv: &DeletionVectorDescriptor| {
        let result =
            read_frame(frame, dv).and_then(|payload| DeletionVector::from_described(payload, dv));
        result.unwrap_err().class().unwrap().to_owned()
    };
    assert_eq!(
        class(
            &bytes[1..],
            &DeletionVectorDescriptor {
                size_in_bytes: 43,
                ..dv.clone()
            }
        ),
        "DELTA_DELETION_VECTOR_SIZE_MISMATCH"
    );
    assert_eq!(
        class(&bytes[1..20], &dv),
        "DELTA_DELETION_VECTOR_SIZE_MISMATCH"
    );
    assert_eq!(
        class(
            &bytes[1..],
            &DeletionVectorDescriptor {
                cardinality: 7,
                ..dv.clone()
            }
        ),
        "DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH"
    );
    bytes[20] ^= 1;
    assert_eq!(
        class(&bytes[1..], &dv),
        "DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH"
    );
}

#[test]
fn text_that_is_no_descriptor_is_refused() {
    for (storage, text) in [
        ("x", "abc"),
        ("u", "short"),
        ("u", "~~~~~~~~~~~~~~~~~~~~"),
        ("u", "ä234567890123456789"),
    ] {
        let dv = DeletionVectorDescriptor {
            storage_type: storage.into(),
            path_or_inline_dv: text.into(),
            ..Default::default()
        };
        assert!(dv.location().is_err(), "{storage} {text}");
    }
    assert!(DeletionVector::from_payload(b"abcdefgh").is_err());
    assert!(DeletionVector::from_payload(b"ab").is_err());
}

/// Ends are inclusive: a file of n rows has the rows 0 to n - 1, none more.
#[test]
fn b121_whole_files_and_their_first_and_last_rows_are_deleted_exactly() {
    let wrap = 1u64 << 32;
    for rows in [
        vec![0],
        vec![9],
        (0..10).collect(),
        (0..1 << 16).collect(),
        (0..(1 << 16) + 1).collect(),
        (1..200_000).collect(),
        vec![0, wrap - 1, wrap, wrap + 1, (1 << 34) + 5],
    ] {
        let vector: DeletionVector = rows.iter().copied().collect();
        let read = DeletionVector::from_payload(&vector.to_payload()).unwrap();
        assert_eq!(read.cardinality(), rows.len() as u64);
        let (first, last) = (rows[0], rows[rows.len() - 1]);
        assert!(read.contains(first) && read.contains(last) && !read.contains(last + 1));
        assert!(first == 0 || !read.contains(first - 1));
    }
}

proptest! {
    #[test]
    fn z85_gives_the_bytes_back(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let back = z85::decode(&z85::encode(&bytes)).unwrap();
        prop_assert_eq!(&back[..bytes.len()], &bytes[..]);
        prop_assert!(back[bytes.len()..].iter().all(|b| *b == 0));
    }

    #[test]
    fn payloads_give_the_rows_back(rows in prop::collection::btree_set(0u64..1 << 34, 0..60)) {
        let vector: DeletionVector = rows.iter().copied().collect();
        prop_assert_eq!(DeletionVector::from_payload(&vector.to_payload()).unwrap(), vector);
    }

    #[test]
    fn reading_any_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = DeletionVector::from_payload(&bytes);
        let mut with_magic = MAGIC_NATIVE.to_le_bytes().to_vec();
        with_magic.extend(&bytes);
        let _ = DeletionVector::from_payload(&with_magic);
        let _ = z85::decode(&String::from_utf8_lossy(&bytes));
    }
}
