//! What the log of a table that tracks rows must say: each file has its ids, no two files the same, none beyond the mark.

use std::collections::BTreeMap;

use proptest::test_runner::TestCaseError;
use serde_json::Value as Json;

use super::world::{Checked, World};

/// The ids of a file's rows that have none of their own: the first one and the first after them.
type Range = (i64, i64);

/// Looks at a table whose newest version tracks rows.
pub fn check(world: &World, at: usize) -> Checked {
    let table = &world.tables[at];
    if !table.now().is("delta.enableRowTracking") {
        return Ok(());
    }
    let mut live: BTreeMap<String, Option<Range>> = BTreeMap::new();
    let mut mark = -1;
    for version in 0..=table.version() {
        for action in actions(world, &table.name, version)? {
            if let Some(path) = action["remove"]["path"].as_str() {
                live.remove(path);
            }
            if action["domainMetadata"]["domain"] == "delta.rowTracking" {
                let text = action["domainMetadata"]["configuration"]
                    .as_str()
                    .unwrap_or("{}");
                let domain: Json = serde_json::from_str(text).unwrap();
                mark = domain["rowIdHighWaterMark"].as_i64().unwrap_or(mark);
            }
        }
        // A file that gets another deletion vector is removed and added in one commit.
        for action in actions(world, &table.name, version)? {
            if let Some(path) = action["add"]["path"].as_str() {
                live.insert(path.to_owned(), range(&action["add"]));
            }
        }
    }
    let mut ranges: Vec<(Range, &String)> = Vec::new();
    for (path, range) in &live {
        let range = range
            .ok_or_else(|| world.failed(&format!("{path} of {} has no row ids", table.name)))?;
        ranges.push((range, path));
    }
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        if pair[0].0.1 > pair[1].0.0 {
            return Err(world.failed(&format!("two files have the same row ids: {pair:?}")));
        }
    }
    match ranges.last() {
        Some(((_, end), path)) if *end > mark + 1 => Err(world.failed(&format!(
            "{path} has row ids up to {end}, the mark is {mark}"
        ))),
        _ => Ok(()),
    }
}

fn actions(world: &World, table: &str, version: usize) -> Result<Vec<Json>, TestCaseError> {
    let name = format!("{table}/_delta_log/{version:020}.json");
    let text = std::fs::read_to_string(world.folder.path().join(&name))
        .map_err(|error| world.failed(&format!("{name}: {error}")))?;
    Ok(text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect())
}

fn range(add: &Json) -> Option<Range> {
    let first = add["baseRowId"].as_i64()?;
    add["defaultRowCommitVersion"].as_i64()?;
    let stats: Json = serde_json::from_str(add["stats"].as_str()?).ok()?;
    Some((first, first + stats["numRecords"].as_i64()?))
}
