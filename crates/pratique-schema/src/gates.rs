//! The feature gates of kube-apiserver: which there are, and what is on.

mod feature_gates;

pub use feature_gates::{FeatureGates, FeatureGatesError};

use crate::slots::NameSlots;

/// A feature gate of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureGate {
    /// Its name: `ManifestBasedAdmissionControlConfig`.
    pub name: &'static str,
    /// How far its feature is.
    pub stage: GateStage,
    /// Whether it is on where it is not set.
    pub is_on: bool,
    /// Whether it can only be set to its default.
    pub is_locked: bool,
    /// The gates that have to be on where it is on.
    pub needs: Vec<&'static str>,
}

/// How far the feature of a gate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateStage {
    /// Its gate goes away.
    Deprecated,
    /// `AllAlpha` sets its gate.
    Alpha,
    /// `AllBeta` sets its gate.
    Beta,
    /// It is stable.
    Stable,
}

/// The feature gates of a release, sorted by name.
#[derive(Debug, Default)]
pub struct GateTable {
    gates: Vec<FeatureGate>,
    slots: NameSlots,
}

impl GateTable {
    /// Reads a table as `cargo xtask codegen` writes it.
    pub(crate) fn read(table: &'static str) -> Self {
        let mut gates: Vec<_> = table.lines().filter_map(read_gate).collect();
        gates.sort_by_key(|gate| gate.name);
        GateTable {
            slots: NameSlots::new(gates.iter().map(|gate| gate.name)),
            gates,
        }
    }

    /// A gate by its name.
    pub fn get(&self, name: &str) -> Option<&FeatureGate> {
        self.find(name).map(|(_, gate)| gate)
    }

    /// A gate by its name, with its place among all.
    pub(crate) fn find(&self, name: &str) -> Option<(usize, &FeatureGate)> {
        let named = |at: usize| self.gates.get(at).map(|gate| gate.name);
        let position = self.slots.find(name, named)?;
        Some((position, self.gates.get(position)?))
    }

    /// All gates by name.
    pub fn iter(&self) -> impl Iterator<Item = &FeatureGate> {
        self.gates.iter()
    }
}

/// `CompositePodGroup alpha off needs GenericWorkload TopologyAwareWorkloadScheduling`; `None` for a comment.
fn read_gate(line: &'static str) -> Option<FeatureGate> {
    let (line, needs) = line.split_once(" needs ").unwrap_or((line, ""));
    let mut columns = line.split(' ').filter(|_| !line.starts_with('#'));
    Some(FeatureGate {
        name: columns.next()?,
        stage: match columns.next()? {
            "alpha" => GateStage::Alpha,
            "beta" => GateStage::Beta,
            "stable" => GateStage::Stable,
            _ => GateStage::Deprecated,
        },
        is_on: columns.next()? == "on",
        is_locked: columns.next() == Some("locked"),
        needs: needs.split(' ').filter(|name| !name.is_empty()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Release;

    #[test]
    fn every_line_of_a_table_is_read() {
        for release in Release::list() {
            let lines = release.tables().gates.lines();
            let lines = lines.filter(|line| !line.starts_with('#'));
            assert_eq!(release.gates().iter().count(), lines.count(), "{release}");
        }
    }

    #[test]
    fn gates_depend_on_gates() {
        let gates = Release::latest().gates();
        let composite = gates.get("CompositePodGroup").unwrap();
        assert_eq!(composite.stage, GateStage::Alpha);
        assert!(!composite.is_on && !composite.is_locked);
        assert_eq!(
            composite.needs,
            ["GenericWorkload", "TopologyAwareWorkloadScheduling"]
        );
        assert!(gates.get("NodeDeclaredFeatures").unwrap().is_locked);
        let mut needed = gates.iter().flat_map(|gate| &gate.needs);
        assert!(needed.all(|name| gates.get(name).is_some()));
    }
}
