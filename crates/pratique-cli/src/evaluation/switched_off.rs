//! Policies that no server of a release evaluates, as the feature gate of their kind is off: reports them.

use pratique_manifest::{Kind, Location};
use pratique_review::unbound;
use pratique_schema::FeatureGates;

use crate::arguments::are_mutations_on;
use crate::output::counted_nouns::{counted, first_names};
use crate::output::notice::{InputNotice, NOT_EVALUATED};
use crate::output::problems;
use crate::policies::OriginSets;

/// Up to how many have a notice each.
const MAX_APART: usize = 3;

/// The kind of policies that a server may not evaluate, which is the name of the gate.
const KIND: Kind = Kind::MutatingAdmissionPolicy;

/// Policies with a binding whose feature gate is off.
pub(crate) struct SwitchedOffPolicies {
    gates: FeatureGates,
    policies: Vec<(String, Location)>,
}

impl SwitchedOffPolicies {
    pub(crate) fn new(sets: &OriginSets, gates: FeatureGates) -> Self {
        let mut policies = Vec::new();
        if !are_mutations_on(gates) {
            let unbound = unbound(sets);
            let objects = sets.iter().flat_map(|(_, set)| set.objects());
            let objects = objects.filter(|object| object.kind == KIND);
            let all = objects.map(|object| (object.name.to_owned(), object.source.locate(&[])));
            policies.extend(all.filter(|(_, at)| !unbound.iter().any(|policy| policy.location == *at)));
        }
        SwitchedOffPolicies { gates, policies }
    }

    pub(crate) fn count(&self) -> usize {
        self.policies.len()
    }

    /// The message with their number; `None` if there are none.
    pub(crate) fn counted(&self) -> Option<String> {
        let policies = counted(self.count(), "policy", "policies");
        (self.count() > 0).then(|| format!("{policies} not evaluated: {}", self.why()))
    }

    /// A notice for each of them, or for all.
    pub(crate) fn notices(&self) -> Vec<InputNotice> {
        let why = self.why();
        match self.policies.as_slice() {
            [(_, first), ..] if self.count() > MAX_APART => {
                let names: Vec<&str> = self.policies.iter().map(|(name, _)| name.as_str()).collect();
                let message = format!(
                    "{} are not evaluated, as {why}: {}",
                    counted(self.count(), "policy", "policies"),
                    first_names(&names, MAX_APART)
                );
                vec![InputNotice::new(NOT_EVALUATED, problems::place(first), message)]
            }
            policies => policies
                .iter()
                .map(|(name, at)| {
                    let message = format!("{KIND} {name} is not evaluated: {why}");
                    InputNotice::new(NOT_EVALUATED, problems::place(at), message)
                })
                .collect(),
        }
    }

    fn why(&self) -> String {
        format!(
            "the feature gate {KIND} is off in Kubernetes {}",
            self.gates.release()
        )
    }
}
