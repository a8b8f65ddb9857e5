//! Row ids for new files (protocol section "Row Tracking"): each file without a base id gets the next free range, and the domain
//! remembers the highest id given out.

use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, DomainMetadata};
use deltaic_protocol::error::{DeltaError, Result};
use serde_json::{Value, json};

use crate::Version;
use crate::snapshot::Snapshot;

/// The domain of the high-water mark.
const DOMAIN: &str = "delta.rowTracking";

/// Gives ids to the files that have none and states the new mark. `base` is the version that the commit follows.
///
/// # Errors
/// A file whose number of rows is not recorded.
pub(super) fn assign(
    actions: &mut Vec<Action>,
    base: Option<&Snapshot>,
    version: Version,
) -> Result<()> {
    let before = high_water_mark(base.and_then(|s| s.domain(DOMAIN)));
    let mut mark = staged_mark(actions).unwrap_or(-1).max(before);
    let start = mark;
    for action in actions.iter_mut() {
        let Action::Add(add) = action else { continue };
        if add.base_row_id.is_none() {
            let rows = num_records(add)?;
            add.base_row_id = Some(mark + 1);
            mark += rows;
        }
        add.default_row_commit_version.get_or_insert(version);
    }
    if mark != start || mark > before {
        actions.retain(|a| !matches!(a, Action::DomainMetadata(d) if d.domain == DOMAIN));
        let configuration = json!({"rowIdHighWaterMark": mark, "domainName": DOMAIN}).to_string();
        actions.push(Action::DomainMetadata(DomainMetadata {
            domain: DOMAIN.to_owned(),
            configuration,
            removed: false,
        }));
    }
    Ok(())
}

fn high_water_mark(domain: Option<&DomainMetadata>) -> i64 {
    let parsed: Option<Value> = domain.and_then(|d| serde_json::from_str(&d.configuration).ok());
    parsed
        .and_then(|v| v.get("rowIdHighWaterMark")?.as_i64())
        .unwrap_or(-1)
}

fn staged_mark(actions: &[Action]) -> Option<i64> {
    actions.iter().find_map(|a| match a {
        Action::DomainMetadata(d) if d.domain == DOMAIN => Some(high_water_mark(Some(d))),
        _ => None,
    })
}

fn num_records(add: &Add) -> Result<i64> {
    let stats: Option<Value> = add
        .stats
        .as_deref()
        .and_then(|s| serde_json::from_str(s).ok());
    stats
        .and_then(|s| s.get("numRecords")?.as_i64())
        .ok_or_else(|| {
            DeltaError::new("DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS").with_path(&add.path)
        })
}
