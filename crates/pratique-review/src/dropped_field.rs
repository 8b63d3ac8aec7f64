//! Fields of an object that a server drops without a word, as their features are off.

use pratique::api_objects::GatedDrop;
use pratique_schema::{FeatureGates, GateStage, Release};
use serde::Serialize;

/// A field that is not stored though it was sent, and no server says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DroppedField {
    /// The field, as a server writes its path.
    pub field: String,
    /// The feature gate that is off.
    pub gate: String,
    /// What is said: the field, the gate, and the release.
    pub message: String,
    /// What keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl DroppedField {
    /// The rule of such fields, which stands for a policy where findings are counted.
    pub const RULE: &str = "dropped-field";

    /// A field that a server with these gates dropped.
    pub(crate) fn new(dropped: GatedDrop, gates: FeatureGates) -> Self {
        let GatedDrop { path, gate } = dropped;
        let release = gates.release();
        let (why, help) = match release.gates().get(gate) {
            Some(known) => {
                let why = format!(
                    "the feature gate {gate} is off in Kubernetes {release} ({})",
                    stage_name(known.stage)
                );
                let keeps = format!(
                    "a server with --feature-gates={} keeps it",
                    flag(known.name, gates)
                );
                let help = match first_with(gate, release) {
                    Some(later) => format!("{keeps}; the gate is on by default in {later}"),
                    None => keeps,
                };
                (why, Some(help))
            }
            None => (format!("Kubernetes {release} has no feature gate {gate}"), None),
        };
        DroppedField {
            message: format!("{path} is dropped without a word: {why}"),
            field: path,
            gate: gate.to_owned(),
            help,
        }
    }

    /// All of it in one line.
    pub fn told(&self) -> String {
        match &self.help {
            Some(help) => format!("{}: {help}", self.message),
            None => self.message.clone(),
        }
    }
}

fn stage_name(stage: GateStage) -> &'static str {
    match stage {
        GateStage::Deprecated => "deprecated",
        GateStage::Alpha => "alpha",
        GateStage::Beta => "beta",
        GateStage::Stable => "stable",
    }
}

/// What switches a gate on, with those that it needs and that are off.
fn flag(gate: &'static str, gates: FeatureGates) -> String {
    let table = gates.release().gates();
    let (mut off, mut next) = (vec![gate], 0);
    while let Some(name) = off.get(next).copied() {
        next += 1;
        for need in table
            .get(name)
            .map(|gate| gate.needs.as_slice())
            .unwrap_or_default()
        {
            if !gates.is_on(need) && !off.contains(need) {
                off.push(need);
            }
        }
    }
    let pairs: Vec<String> = off.iter().map(|name| format!("{name}=true")).collect();
    pairs.join(",")
}

/// The first later release that has a gate on.
fn first_with(gate: &str, release: &'static Release) -> Option<&'static Release> {
    let later = Release::list()
        .iter()
        .copied()
        .filter(|other| other.version() > release.version());
    later
        .filter(|other| FeatureGates::new(other).is_on(gate))
        .min_by_key(|other| other.version())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(release: &str, gate: &'static str) -> String {
        let gates = FeatureGates::new(Release::by_version(release).unwrap());
        let path = "spec.a".to_owned();
        DroppedField::new(GatedDrop { path, gate }, gates).told()
    }

    #[test]
    fn the_gate_and_the_release_are_told() {
        assert_eq!(
            told("1.37", "GenericWorkload"),
            "spec.a is dropped without a word: the feature gate GenericWorkload is off in Kubernetes 1.37 (beta): a server with \
             --feature-gates=GenericWorkload=true keeps it"
        );
        let needs = "--feature-gates=WorkloadWithJob=true,GenericWorkload=true keeps it";
        assert!(told("1.37", "WorkloadWithJob").ends_with(needs));
        assert_eq!(
            told("1.37", "Nonsense"),
            "spec.a is dropped without a word: Kubernetes 1.37 has no feature gate Nonsense"
        );
    }

    #[test]
    fn a_later_release_may_have_it_on() {
        let of_later = |gate: &'static str| {
            let [old, new] =
                ["1.36", "1.37"].map(|version| FeatureGates::new(Release::by_version(version).unwrap()));
            !old.is_on(gate) && old.release().gates().get(gate).is_some() && new.is_on(gate)
        };
        let gates = Release::by_version("1.36").unwrap().gates();
        let gate = gates
            .iter()
            .map(|gate| gate.name)
            .find(|gate| of_later(gate))
            .unwrap();
        assert!(
            told("1.36", gate).ends_with("; the gate is on by default in 1.37"),
            "{gate}"
        );
    }
}
