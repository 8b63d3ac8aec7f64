//! Policies without a binding, which an API server never evaluates.

use std::collections::HashSet;
use std::sync::Arc;

use pratique_manifest::{Kind, Loaded, Location, ManifestSet, ObjectSource};
use pratique_policy::{Origin, Phase};
use pratique_types::admissionregistration::{
    MutatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBinding,
};

/// A policy without a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unbound {
    /// Whether it mutates or validates.
    pub phase: Phase,
    /// Its origin: static manifests or the API.
    pub origin: Origin,
    /// Its name.
    pub name: String,
    /// Its location.
    pub location: Location,
}

impl Unbound {
    /// The kind of the policy.
    pub fn kind(&self) -> Kind {
        match self.phase {
            Phase::Mutating => Kind::MutatingAdmissionPolicy,
            Phase::Validating => Kind::ValidatingAdmissionPolicy,
        }
    }
}

/// The policies without a binding. Bindings of one set can name policies of another set of the same origin.
pub fn unbound(sets: &[(Origin, ManifestSet)]) -> Vec<Unbound> {
    let bound: HashSet<(Phase, Origin, &str)> = sets
        .iter()
        .flat_map(|(origin, set)| bound_policies(set).map(|(phase, name)| (phase, *origin, name)))
        .collect();
    let policies = sets.iter().flat_map(|(origin, set)| {
        let validating = set.validating_policies.iter();
        let validating =
            validating.map(|loaded| (Phase::Validating, &loaded.object.metadata, &loaded.source));
        let mutating = set.mutating_policies.iter();
        let mutating = mutating.map(|loaded| (Phase::Mutating, &loaded.object.metadata, &loaded.source));
        mutating
            .chain(validating)
            .map(|(phase, metadata, source)| Unbound {
                phase,
                origin: *origin,
                name: metadata.name.clone().unwrap_or_default(),
                location: source.locate(&[]),
            })
    });
    policies
        .filter(|policy| !bound.contains(&(policy.phase, policy.origin, &policy.name)))
        .collect()
}

/// A binding whose policy is not there, which an API server takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
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
pub fn orphans(sets: &[(Origin, ManifestSet)]) -> Vec<Orphan> {
    let is_there = |phase: Phase, of: Origin, name: &str| {
        let mut sets = sets.iter().filter(|(origin, _)| *origin == of);
        sets.any(|(_, set)| match phase {
            Phase::Mutating => {
                let mut names = set
                    .mutating_policies
                    .iter()
                    .map(|loaded| &loaded.object.metadata.name);
                names.any(|found| found.as_deref() == Some(name))
            }
            Phase::Validating => {
                let mut names = set
                    .validating_policies
                    .iter()
                    .map(|loaded| &loaded.object.metadata.name);
                names.any(|found| found.as_deref() == Some(name))
            }
        })
    };
    let bindings = sets.iter().flat_map(|(origin, set)| {
        bindings(set).map(move |(phase, policy, name, source)| (*origin, phase, policy, name, source))
    });
    bindings
        .filter(|(origin, phase, policy, ..)| !is_there(*phase, *origin, policy))
        .map(|(_, phase, policy, name, source)| Orphan {
            kind: match phase {
                Phase::Mutating => Kind::MutatingAdmissionPolicyBinding,
                Phase::Validating => Kind::ValidatingAdmissionPolicyBinding,
            },
            name: name.unwrap_or_default().to_owned(),
            policy: policy.to_owned(),
            location: source.locate(&[]),
        })
        .collect()
}

/// The policies that the bindings of a set name.
fn bound_policies(set: &ManifestSet) -> impl Iterator<Item = (Phase, &str)> {
    bindings(set).map(|(phase, policy, ..)| (phase, policy))
}

/// The bindings of a set: the policies that they name, and their own names and sources.
fn bindings(set: &ManifestSet) -> impl Iterator<Item = (Phase, &str, Option<&str>, &ObjectSource)> {
    let validating = set.validating_bindings.iter().map(|loaded| {
        let policy = loaded.object.spec.policy_name.as_str();
        let name = loaded.object.metadata.name.as_deref();
        (Phase::Validating, policy, name, &loaded.source)
    });
    let mutating = set.mutating_bindings.iter().filter_map(|loaded| {
        let policy = loaded.object.spec.as_ref()?.policy_name.as_deref()?;
        let name = loaded.object.metadata.name.as_deref();
        Some((Phase::Mutating, policy, name, &loaded.source))
    });
    validating.chain(mutating)
}

/// Adds a binding without constraints for each policy that has none, with its name; bindings of validating policies
/// deny.
pub fn bind(sets: &mut [(Origin, ManifestSet)]) {
    for policy in unbound(sets) {
        let named = |name: &Option<String>| name.as_deref().unwrap_or_default() == policy.name;
        let of_origin = sets.iter_mut().filter(|(origin, _)| *origin == policy.origin);
        for (_, set) in of_origin {
            match policy.phase {
                Phase::Validating => {
                    let mut policies = set.validating_policies.iter();
                    let found = policies.rfind(|loaded| named(&loaded.object.metadata.name));
                    let binding = found.map(|loaded| Loaded {
                        object: Arc::new(validating(&policy.name)),
                        source: loaded.source.clone(),
                    });
                    set.validating_bindings.extend(binding);
                }
                Phase::Mutating => {
                    let mut policies = set.mutating_policies.iter();
                    let found = policies.rfind(|loaded| named(&loaded.object.metadata.name));
                    let binding = found.map(|loaded| Loaded {
                        object: Arc::new(mutating(&policy.name)),
                        source: loaded.source.clone(),
                    });
                    set.mutating_bindings.extend(binding);
                }
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
