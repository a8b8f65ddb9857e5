//! Texts and bytes that claim or nest more than there can be.

use std::time::{Duration, Instant};

use deltaic_protocol::Action;
use deltaic_protocol::deletion_vector::DeletionVector;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::statistics::Statistics;

const DEEP: usize = 10_000;

fn nested(open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(DEEP), close.repeat(DEEP))
}

#[test]
fn a_schema_that_is_nested_without_end_is_refused() {
    let field = r#"{"type":"struct","fields":[{"name":"a","nullable":true,"metadata":{},"type":"#;
    assert!(StructType::from_json(&nested(field, "\"long\"", "}]}")).is_err());
    let array = r#"{"type":"array","containsNull":true,"elementType":"#;
    let column = format!(r#"{field}{}}}]}}"#, nested(array, "\"long\"", "}"));
    assert!(StructType::from_json(&column).is_err());
    let map = r#"{"type":"map","keyType":"string","valueContainsNull":true,"valueType":"#;
    let column = format!(r#"{field}{}}}]}}"#, nested(map, "\"long\"", "}"));
    assert!(StructType::from_json(&column).is_err());
}

#[test]
fn a_line_that_is_nested_without_end_is_refused() {
    for inner in [nested("[", "", "]"), nested("{\"a\":", "1", "}")] {
        for kind in ["add", "metaData", "commitInfo", "unknown"] {
            assert!(Action::from_json_line(&format!("{{\"{kind}\":{inner}}}")).is_err());
        }
        assert_eq!(
            Statistics::from_json(&format!("{{\"numRecords\":1,\"minValues\":{inner}}}")),
            None
        );
    }
}

/// Vectors whose counts speak of more than their bytes can hold; nothing is reserved for what is only claimed.
#[test]
fn a_vector_that_claims_a_thousand_million_entries_is_refused() {
    let portable = 1_681_511_377_u32.to_le_bytes();
    let native = 1_681_511_376_u32.to_le_bytes();
    let mut claims: Vec<Vec<u8>> = Vec::new();
    for count in [1_000_000_000_u64, u64::MAX] {
        claims.push([&portable[..], &count.to_le_bytes()].concat());
    }
    for count in [1_000_000_000_i32, i32::MAX, -1] {
        claims.push([&native[..], &count.to_le_bytes()].concat());
        claims.push([&native[..], &1_i32.to_le_bytes(), &count.to_le_bytes()].concat());
    }
    // One bitmap with as many containers as its head can say.
    for containers in [65_536_u32, u32::MAX] {
        let bitmap = [12346_u32.to_le_bytes(), containers.to_le_bytes()].concat();
        claims.push(
            [
                &portable[..],
                &1_u64.to_le_bytes(),
                &0_u32.to_le_bytes(),
                &bitmap,
            ]
            .concat(),
        );
    }
    let start = Instant::now();
    for claim in &claims {
        assert!(DeletionVector::from_payload(claim).is_err());
    }
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// A few bytes can stand for all rows of a large file. They are read, and are held as the runs that they are.
#[test]
fn a_vector_of_a_thousand_million_rows_in_runs_stays_small() {
    let containers: u16 = 16_384;
    let mut bitmap = (u32::from(containers - 1) << 16 | 12_347)
        .to_le_bytes()
        .to_vec();
    bitmap.extend(vec![0xff_u8; usize::from(containers) / 8]);
    for key in 0..containers {
        bitmap.extend([key.to_le_bytes(), u16::MAX.to_le_bytes()].concat());
    }
    bitmap.extend(vec![0_u8; usize::from(containers) * 4]);
    for _ in 0..containers {
        bitmap.extend(
            [
                1_u16.to_le_bytes(),
                0_u16.to_le_bytes(),
                u16::MAX.to_le_bytes(),
            ]
            .concat(),
        );
    }
    let payload = [
        &1_681_511_377_u32.to_le_bytes()[..],
        &1_u64.to_le_bytes(),
        &0_u32.to_le_bytes(),
        &bitmap,
    ]
    .concat();
    let before = peak_kib();
    let vector = DeletionVector::from_payload(&payload).unwrap();
    assert_eq!(vector.cardinality(), u64::from(containers) * 65_536);
    assert!(vector.contains(5) && !vector.contains(u64::from(containers) * 65_536));
    assert!(
        peak_kib() - before < 100 << 10,
        "{} KiB more",
        peak_kib() - before
    );
}

/// The most memory that this process has held.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse().ok())
        .unwrap_or(0)
}

#[test]
fn statistics_of_many_megabytes_are_read_in_no_time() {
    let columns: Vec<String> = (0..100_000)
        .map(|n| format!("\"c{n}\":\"{}\"", "x".repeat(50)))
        .collect();
    let text = format!(
        "{{\"numRecords\":1,\"minValues\":{{{}}}}}",
        columns.join(",")
    );
    let start = Instant::now();
    let statistics = Statistics::from_json(&text).unwrap();
    assert!(statistics.to_json().len() > 5_000_000);
    assert!(start.elapsed() < Duration::from_secs(20));
}
