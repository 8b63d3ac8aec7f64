//! Policies without a binding, which an API server never evaluates.

use std::collections::HashSet;
use std::sync::Arc;

use pratique_manifest::{Kind, Location, ManifestSet, SourcedObject};
use pratique_policy::{AdmissionPhase, Origin};
use pratique_types::admissionregistration::{
    MutatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBinding,
};

/// A policy without a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyWithoutBinding {
    /// Whether it mutates or validates.
    pub phase: AdmissionPhase,
    /// Its origin: static manifests or the API.
    pub origin: Origin,
    /// Its name.
    pub name: String,
    /// Its location.
    pub location: Location,
}

impl PolicyWithoutBinding {
    /// The kind of the policy.
    pub fn kind(&self) -> Kind {
        kind_of(self.phase)
    }
}

/// The kind of the policies of a phase.
fn kind_of(phase: AdmissionPhase) -> Kind {
    match phase {
        AdmissionPhase::Mutating => Kind::MutatingAdmissionPolicy,
        AdmissionPhase::Validating => Kind::ValidatingAdmissionPolicy,
    }
}

/// The policies without a binding. Bindings of one set can name policies of another set of the same origin.
pub fn unbound(sets: &[(Origin, ManifestSet)]) -> Vec<PolicyWithoutBinding> {
    let bound: HashSet<(Kind, Origin, &str)> = sets
        .iter()
        .flat_map(|(origin, set)| set.bindings().map(move |binding| (*origin, binding)))
        .filter_map(|(origin, (binding, policy))| Some((binding.kind.bound_kind()?, origin, policy)))
        .collect();
    let mut unbound = Vec::new();
    for (origin, set) in sets {
        for phase in [AdmissionPhase::Mutating, AdmissionPhase::Validating] {
            let policies = set.objects().filter(|object| object.kind == kind_of(phase));
            let policies = policies.filter(|policy| !bound.contains(&(policy.kind, *origin, policy.name)));
            unbound.extend(policies.map(|policy| PolicyWithoutBinding {
                phase,
                origin: *origin,
                name: policy.name.to_owned(),
                location: policy.source.locate(&[]),
            }));
        }
    }
    unbound
}

/// A binding whose policy is not there, which an API server takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrphanBinding {
    /// The kind of the binding.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// The name of the policy.
    pub policy: String,
    /// The location of the binding.
    pub location: Location,
}

/// The bindings whose policies are in no set of the same origin.
pub fn orphans(sets: &[(Origin, ManifestSet)]) -> Vec<OrphanBinding> {
    let is_there = |binding: Kind, of: Origin, policy: &str| {
        let mut sets = sets.iter().filter(|(origin, _)| *origin == of);
        sets.any(|(_, set)| {
            let mut objects = set.objects();
            objects.any(|object| Some(object.kind) == binding.bound_kind() && object.name == policy)
        })
    };
    let bindings = sets
        .iter()
        .flat_map(|(origin, set)| set.bindings().map(move |binding| (*origin, binding)));
    bindings
        .filter(|(origin, (binding, policy))| !is_there(binding.kind, *origin, policy))
        .map(|(_, (binding, policy))| OrphanBinding {
            kind: binding.kind,
            name: binding.name.to_owned(),
            policy: policy.to_owned(),
            location: binding.source.locate(&[]),
        })
        .collect()
}

/// Adds a binding without constraints for each policy that has none, with its name; bindings of validating policies
/// deny.
pub fn bind(sets: &mut [(Origin, ManifestSet)]) {
    for policy in unbound(sets) {
        let of_origin = sets.iter_mut().filter(|(origin, _)| *origin == policy.origin);
        for (_, set) in of_origin {
            let objects = set.objects();
            let policy_objects =
                objects.filter(|object| object.kind == policy.kind() && object.name == policy.name);
            let Some(source) = policy_objects.last().map(|object| object.source.clone()) else {
                continue;
            };
            match policy.phase {
                AdmissionPhase::Validating => set.validating_bindings.push(SourcedObject {
                    object: Arc::new(validating(&policy.name)),
                    source,
                }),
                AdmissionPhase::Mutating => set.mutating_bindings.push(SourcedObject {
                    object: Arc::new(mutating(&policy.name)),
                    source,
                }),
            }
        }
    }
}

fn validating(policy: &str) -> ValidatingAdmissionPolicyBinding {
    let mut binding = ValidatingAdmissionPolicyBinding::default();
    binding.metadata.name = Some(policy.to_owned());
    binding.spec.policy_name = policy.to_owned();
    binding.spec.validation_actions = vec!["Deny".to_owned()];
    binding
}

fn mutating(policy: &str) -> MutatingAdmissionPolicyBinding {
    let mut binding = MutatingAdmissionPolicyBinding::default();
    binding.metadata.name = Some(policy.to_owned());
    binding.spec.get_or_insert_default().policy_name = Some(policy.to_owned());
    binding
}
