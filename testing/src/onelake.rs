//! OneLake as rules before an emulator of Azure Blob Storage: what it refuses that Azure does not. Each rule names its
//! source.
//!
//! The emulator has an account `onelake`; its containers stand for workspaces, the first folder of a key for an item
//! (`lh.Lakehouse` or a GUID), the second for what Fabric manages (`Tables`, `Files`).

use crate::http::RequestHead;
use crate::rule::{Action, Answer, Rule};

/// What the façade does beside what OneLake always does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Refuse requests that are signed with an account key, of which OneLake has none.
    pub refuse_shared_key: bool,
    /// Answer each n-th request with 429 and `Retry-After: 1`; 0 for none.
    pub throttle_every: u64,
}

/// The rules.
pub fn rules(options: Options) -> Vec<Rule> {
    let mut rules = vec![
        no_batch(),
        no_containers(),
        no_managed_folders(),
        one_kind_of_names(),
    ];
    rules.push(no_access_control());
    rules.push(nothing_from_a_key());
    if options.refuse_shared_key {
        rules.push(no_shared_key());
    }
    if options.throttle_every > 0 {
        rules.push(throttling(options.throttle_every));
    }
    rules
}

/// Batches are addressed to the container, where OneLake knows no item. Status and text as users have reported them:
/// <https://github.com/delta-io/delta-rs/issues/4401>,
/// <https://github.com/apache/arrow-rs-object-store/issues/701>.
pub fn no_batch() -> Rule {
    Rule::on("POST").query("comp=batch").then(Action::Answer(
        Answer::status(400)
            .header("content-type", "application/json")
            .body(
                r#"{"error":{"code":"BadRequest","message":"Either WorkspaceId or ArtifactId are missing in the request"}}"#,
            ),
    ))
}

/// Workspaces are not made, changed or removed through the storage interface:
/// <https://learn.microsoft.com/en-us/fabric/onelake/onelake-api-parity> ("Managed OneLake folders"). Which status it
/// answers is not written there; listing inside a workspace, which is addressed to the container too, works.
pub fn no_containers() -> Rule {
    Rule::any()
        .query("restype=container")
        .when(|head| matches!(head.method.as_str(), "PUT" | "DELETE"))
        .then(refused("workspaces are managed in Fabric"))
}

/// Items and the first level of folders in them are not made or removed, nor is anything put beside them:
/// <https://learn.microsoft.com/en-us/fabric/onelake/onelake-api-parity> ("Managed OneLake folders").
pub fn no_managed_folders() -> Rule {
    Rule::any()
        .when(|head| {
            let inside = key(head).filter(|key| !key.is_empty()).count();
            matches!(head.method.as_str(), "PUT" | "DELETE") && (1..=2).contains(&inside)
        })
        .then(refused(
            "items and their first level of folders are managed in Fabric",
        ))
}

/// Workspace and item are both named by GUID, or both by name with the item's type behind a dot:
/// <https://learn.microsoft.com/en-us/fabric/onelake/onelake-access-api> ("URI syntax").
///
/// Emulators allow no capitals, blanks or dots in the name of a container, so a workspace by GUID with an item by name
/// passes here.
pub fn one_kind_of_names() -> Rule {
    Rule::any()
        .when(|head| {
            let by_guid = segments(head).nth(1).is_some_and(is_guid);
            let named = |item: &str| item.contains('.') || by_guid && is_guid(item);
            key(head)
                .next()
                .is_some_and(|item| !item.is_empty() && !named(item))
        })
        .then(Action::Answer(Answer::azure(
            400,
            "FriendlyNameSupportDisabled",
            "name the workspace and the item both by GUID, or the item with its type",
        )))
}

/// Access control is not set through the storage interface:
/// <https://learn.microsoft.com/en-us/fabric/onelake/onelake-api-parity> ("Disallowed").
pub fn no_access_control() -> Rule {
    Rule::any()
        .query("action=setAccessControl")
        .then(refused("access is managed in Fabric"))
}

/// A listing that is to begin after a key is empty, whatever is there:
/// <https://github.com/apache/arrow-rs-object-store/issues/695>.
pub fn nothing_from_a_key() -> Rule {
    Rule::on("GET")
        .query("startFrom=")
        .then(Action::Answer(Answer::status(200).header("content-type", "application/xml").body(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults><Blobs></Blobs><NextMarker/></EnumerationResults>",
        )))
}

/// OneLake takes Microsoft Entra tokens only:
/// <https://learn.microsoft.com/en-us/fabric/onelake/onelake-access-api> ("Authorization").
pub fn no_shared_key() -> Rule {
    Rule::any()
        .when(|head| {
            head.header("authorization")
                .is_some_and(|value| value.starts_with("SharedKey"))
        })
        .then(Action::Answer(Answer::azure(
            403,
            "AuthenticationFailed",
            "shared keys are not supported",
        )))
}

/// Throttling as Azure Storage does it, with the time after which to ask again:
/// <https://learn.microsoft.com/en-us/fabric/onelake/onelake-consumption> says that a capacity that is used up is throttled.
pub fn throttling(every: u64) -> Rule {
    Rule::any().every(every).then(Action::Answer(
        Answer::azure(429, "TooManyRequests", "the capacity is used up").header("retry-after", "1"),
    ))
}

fn refused(why: &str) -> Action {
    Action::Answer(Answer::azure(403, "OperationNotAllowed", why))
}

/// The parts of a path: account, workspace, and the key's.
fn segments(head: &RequestHead) -> impl Iterator<Item = &str> {
    head.path.trim_start_matches('/').split('/')
}

/// The parts of a key: item, first level, and so on.
fn key(head: &RequestHead) -> impl Iterator<Item = &str> {
    segments(head).skip(2)
}

fn is_guid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}
