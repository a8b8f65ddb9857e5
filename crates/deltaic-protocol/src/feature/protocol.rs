//! Arithmetic on protocols: which features one supports, its weakest equivalent form, and what metadata makes necessary.

use super::check::twin;
use super::{Enablement, FEATURES, MAX_READER_VERSION, MAX_WRITER_VERSION, TableFeature};
use crate::action::{Metadata, Protocol};
use crate::error::{DeltaError, Result};
use std::collections::BTreeSet;

impl Protocol {
    /// Whether the writer version is the one with feature lists.
    pub fn has_feature_lists(&self) -> bool {
        self.min_writer_version >= MAX_WRITER_VERSION
    }

    /// Names of all features that the protocol supports: listed, or implied by its versions.
    pub fn supported_features(&self) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let mut put = |name: &str| {
            if !out.iter().any(|known| known == name) {
                out.push(name.to_owned());
            }
        };
        if self.has_feature_lists() {
            self.writer_features
                .iter()
                .flatten()
                .for_each(|name| put(name));
            self.reader_features
                .iter()
                .flatten()
                .for_each(|name| put(name));
        } else {
            for feature in FEATURES {
                if self.implies(feature) {
                    put(feature.name);
                }
            }
        }
        out
    }

    fn implies(&self, feature: &TableFeature) -> bool {
        let Some((reader, writer)) = feature.legacy else {
            return false;
        };
        self.min_writer_version >= writer && self.min_reader_version >= reader
    }

    /// Whether a feature is supported.
    pub fn supports(&self, name: &str) -> bool {
        if self.has_feature_lists() {
            let listed = |list: &Option<Vec<String>>| list.iter().flatten().any(|one| one == name);
            listed(&self.writer_features) || listed(&self.reader_features)
        } else {
            TableFeature::find(name).is_some_and(|feature| self.implies(feature))
        }
    }

    /// The weakest protocol that supports exactly these features: versions alone where they say the same, else lists. Unknown
    /// features count as writer features.
    pub fn of_features(names: &[String]) -> Protocol {
        let known: Vec<Option<&TableFeature>> =
            names.iter().map(|name| TableFeature::find(name)).collect();
        let legacy = known
            .iter()
            .map(|feature| feature.and_then(|feature| feature.legacy))
            .collect::<Option<Vec<_>>>();
        let wanted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        if let Some(versions) = legacy {
            let reader = versions
                .iter()
                .map(|(reader, _)| *reader)
                .max()
                .unwrap_or(1);
            let writer = versions
                .iter()
                .map(|(_, writer)| *writer)
                .max()
                .unwrap_or(1);
            let protocol = Protocol::legacy(reader, writer);
            let implied = protocol.supported_features();
            if implied.iter().map(String::as_str).collect::<BTreeSet<_>>() == wanted {
                return protocol;
            }
        }
        let is_reader = |feature: &Option<&TableFeature>| {
            feature.is_some_and(|feature| feature.is_reader_writer())
        };
        let native_reader = known
            .iter()
            .any(|f| is_reader(f) && f.is_some_and(|f| f.legacy.is_none()));
        let reader = if native_reader {
            MAX_READER_VERSION
        } else {
            known
                .iter()
                .flatten()
                .filter_map(|feature| feature.legacy)
                .map(|(reader, _)| reader)
                .max()
                .unwrap_or(1)
        };
        let ordered = in_order(names);
        let readers = ordered
            .iter()
            .filter(|name| is_reader(&TableFeature::find(name)))
            .cloned()
            .collect();
        Protocol {
            min_reader_version: reader,
            min_writer_version: MAX_WRITER_VERSION,
            reader_features: native_reader.then_some(readers),
            writer_features: Some(ordered),
        }
    }

    /// The weakest equivalent form of this protocol.
    pub fn normalized(&self) -> Protocol {
        // A list that names what is not known, or a reader version above what the features need, is left alone.
        let names = self.supported_features();
        let all_known = names.iter().all(|name| TableFeature::find(name).is_some());
        if !all_known || names.is_empty() {
            return self.clone();
        }
        let weakest = Protocol::of_features(&names);
        let same_versions = weakest.min_reader_version == self.min_reader_version
            && weakest.min_writer_version == self.min_writer_version;
        // Lists of the same features in another order are no other protocol.
        if same_versions { self.clone() } else { weakest }
    }

    /// The weakest protocol that supports what both support.
    pub fn merge(&self, other: &Protocol) -> Protocol {
        let mut names = self.supported_features();
        for name in other.supported_features() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Protocol::of_features(&names)
    }

    /// Whether everything that `other` supports is supported here too.
    pub fn covers(&self, other: &Protocol) -> bool {
        other
            .supported_features()
            .iter()
            .all(|name| self.supports(name))
    }
}

/// Lists end with the two features that nearly every table has, as the reference writes them.
fn in_order(names: &[String]) -> Vec<String> {
    let last = ["invariants", "appendOnly"];
    let first = names.iter().filter(|name| !last.contains(&name.as_str()));
    let rest = last
        .iter()
        .filter(|name| names.iter().any(|known| known == *name))
        .map(|name| (*name).to_owned());
    first.cloned().chain(rest).collect()
}

/// What the user asks of the protocol beside the metadata.
#[derive(Debug, Clone, Default)]
pub struct ProtocolUpgrade {
    /// `delta.feature.x = supported`.
    pub features: Vec<&'static TableFeature>,
    pub min_reader_version: Option<i32>,
    pub min_writer_version: Option<i32>,
}

impl ProtocolUpgrade {
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let reader = self.min_reader_version.unwrap_or(1);
        let writer = self.min_writer_version.unwrap_or(1);
        // A version of 3 or 7 alone names no feature, only the way to list them.
        let legacy = Protocol::legacy(
            reader.min(MAX_READER_VERSION - 1),
            writer.min(MAX_WRITER_VERSION - 1),
        );
        for feature in &self.features {
            with_requirements(feature, &mut names);
        }
        if self.min_writer_version.is_some() || self.min_reader_version.is_some() {
            let by_version = if writer >= MAX_WRITER_VERSION {
                Vec::new()
            } else {
                legacy.supported_features()
            };
            for name in by_version {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }
}

fn with_requirements(feature: &TableFeature, names: &mut Vec<String>) {
    for required in feature.requires {
        if let Some(required) = TableFeature::find(required) {
            with_requirements(required, names);
        }
    }
    if !names.iter().any(|name| name == feature.name) {
        names.push(feature.name.to_owned());
    }
}

/// Features that this metadata makes necessary, with what they require.
fn needed_by(metadata: &Metadata) -> Result<Vec<(&'static TableFeature, Vec<String>)>> {
    let schema = metadata.schema()?;
    let enablement = Enablement {
        metadata,
        schema: &schema,
    };
    let enabled = FEATURES
        .iter()
        .filter(|feature| feature.is_enabled_by(&enablement));
    Ok(enabled
        .map(|feature| {
            let mut names = Vec::new();
            with_requirements(feature, &mut names);
            (feature, names)
        })
        .collect())
}

/// Protocol of a new table: (1, 2) unless metadata or the user need more. `defaults` false leaves out what (1, 2) implies.
pub fn protocol_for_new_table(metadata: &Metadata, upgrade: &ProtocolUpgrade) -> Result<Protocol> {
    let mut names: Vec<String> = Vec::new();
    let by_user = upgrade.names();
    for (_, needed) in needed_by(metadata)? {
        add(&mut names, without_twins(needed, &by_user));
    }
    add(&mut names, by_user);
    if upgrade.min_writer_version.unwrap_or(2) >= 2 {
        add(&mut names, Protocol::legacy(1, 2).supported_features());
    }
    Ok(Protocol::of_features(&names))
}

/// Protocol of an existing table after a change of metadata: none where the old one suffices. Fails with
/// `DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT` where a feature is not added by metadata alone.
pub fn upgraded_protocol(
    current: &Protocol,
    metadata: &Metadata,
    upgrade: &ProtocolUpgrade,
) -> Result<Option<Protocol>> {
    let mut names = current.supported_features();
    let by_user = upgrade.names();
    let mut manual = Vec::new();
    let mut added = Vec::new();
    for (feature, needed) in needed_by(metadata)? {
        let known = names
            .iter()
            .chain(&by_user)
            .any(|name| name == feature.name);
        if !known && !feature.updates_existing {
            manual.push(feature.name);
        }
        add(
            &mut added,
            without_twins(without_twins(needed, &names), &by_user),
        );
    }
    if !manual.is_empty() {
        let mut supported: Vec<String> = names.clone();
        supported.sort();
        return Err(DeltaError::new("DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT")
            .param("unsupportedFeatures", manual.join(", "))
            .param("supportedFeatures", supported.join(", ")));
    }
    add(&mut added, by_user);
    add(&mut names, added);
    let wanted = Protocol::of_features(&names);
    let same = current.supported_features().len() == names.len();
    Ok((!same).then_some(wanted))
}

/// Without the features whose preview is there, and the previews whose feature is: clients that know only the one would be
/// shut out.
fn without_twins(needed: Vec<String>, there: &[String]) -> Vec<String> {
    let has_twin = |name: &String| {
        let twin = twin(name);
        there.contains(&twin) && !there.contains(name)
    };
    needed.into_iter().filter(|name| !has_twin(name)).collect()
}

fn add(names: &mut Vec<String>, more: Vec<String>) {
    for name in more {
        if !names.contains(&name) {
            names.push(name);
        }
    }
}
