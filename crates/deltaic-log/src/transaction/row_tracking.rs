//! Row ids for new files (protocol section "Row Tracking"): each file without a base id gets the next free range, and the domain
//! remembers the highest id given out.

use std::collections::BTreeSet;

use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, DomainMetadata};
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use serde_json::{Value, json};

use crate::Version;
use crate::snapshot::Snapshot;

/// The domain of the high-water mark.
const DOMAIN: &str = "delta.rowTracking";

/// Gives ids to the files that have none and states the new mark. `base` is the version that the commit follows.
///
/// # Errors
/// A file whose number of rows is not recorded; a mark that leaves no ids.
pub(super) async fn assign(
    actions: &mut Vec<Action>,
    base: Option<&Snapshot>,
    version: Version,
) -> Result<()> {
    let before = high_water_mark(base.and_then(|s| s.domain(DOMAIN)));
    let mut mark = staged_mark(actions).unwrap_or(-1).max(before);
    let start = mark;
    if let Some(base) = base {
        take_over(actions, base).await?;
    }
    // Files that come back may carry ids from before the mark was forgotten.
    for action in actions.iter() {
        if let Action::Add(add) = action
            && let Some(first) = add.base_row_id
        {
            let rows = num_records(add).unwrap_or(0);
            mark = mark.max(first.saturating_add(rows).saturating_sub(1));
        }
    }
    for action in actions.iter_mut() {
        let Action::Add(add) = action else { continue };
        if add.base_row_id.is_none() {
            let rows = num_records(add)?;
            add.base_row_id = Some(mark.checked_add(1).ok_or_else(used_up)?);
            mark = mark.checked_add(rows).ok_or_else(used_up)?;
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

/// A file that is listed anew (with another deletion vector) by a writer who saw it before it got ids keeps those ids.
async fn take_over(actions: &mut [Action], base: &Snapshot) -> Result<()> {
    let removed: BTreeSet<String> = actions
        .iter()
        .filter_map(|action| match action {
            Action::Remove(remove) => Some(remove.path.clone()),
            _ => None,
        })
        .collect();
    let is_relisted = |add: &Add| add.base_row_id.is_none() && removed.contains(&add.path);
    let any = |action: &Action| matches!(action, Action::Add(add) if is_relisted(add));
    if !actions.iter().any(any) {
        return Ok(());
    }
    let files = base.files().await?;
    for action in actions {
        let Action::Add(add) = action else { continue };
        if is_relisted(add)
            && let Some(known) = files.iter().find(|known| known.path == add.path)
        {
            add.base_row_id = known.base_row_id;
            add.default_row_commit_version = known.default_row_commit_version;
        }
    }
    Ok(())
}

/// The mark that the log has leaves no ids: any further one would be given twice.
fn used_up() -> DeltaError {
    DeltaError::unclassed(
        "java.lang.ArithmeticException",
        "There are no row ids left in this table",
    )
    .with_kind(ErrorKind::Corrupt)
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
