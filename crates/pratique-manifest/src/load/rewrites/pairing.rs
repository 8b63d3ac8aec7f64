//! Which policies have a binding, and which bindings a policy: a change of several files is seen in the middle where some
//! have lost theirs.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};

use crate::kind::Kind;
use crate::load::set::ManifestSet;
use crate::parse::source::ObjectSource;
use crate::problem::ObjectName;

/// A kind and a name.
type PairingKey = (Kind, Box<str>);

/// The policies that have an effect, and the objects that have none because their counterpart is missing.
#[derive(Debug, Default)]
pub(super) struct PolicyPairing {
    /// Policies with a binding.
    effective: HashSet<PairingKey>,
    /// Policies without a binding and bindings without a policy, with their files.
    unpaired: BTreeMap<PairingKey, String>,
}

impl PolicyPairing {
    pub(super) fn new(sets: &[&ManifestSet]) -> Self {
        let mut effective = HashSet::default();
        let mut unpaired = HashMap::default();
        let objects = sets.iter().flat_map(|set| set.objects());
        // Each policy has none, until its binding is found.
        for policy in objects.filter(|object| object.kind.is_policy()) {
            unpaired.insert((policy.kind, policy.name), policy.source);
        }
        for (binding, policy) in sets.iter().flat_map(|set| set.bindings()) {
            let Some(kind) = binding.kind.bound_kind() else {
                continue;
            };
            let policy = (kind, policy);
            if unpaired.remove(&policy).is_some() {
                effective.insert(policy);
            } else if !effective.contains(&policy) {
                unpaired.insert((binding.kind, binding.name), binding.source);
            }
        }
        let key = |(kind, name): (Kind, &str)| (kind, Box::from(name));
        let with_file =
            |(object, source): (_, &ObjectSource)| (key(object), source.document().file().to_string());
        PolicyPairing {
            effective: effective.into_iter().map(key).collect(),
            unpaired: unpaired.into_iter().map(with_file).collect(),
        }
    }

    /// The first object that has lost its counterpart in these, with its file; none while every policy that was in effect
    /// still is. A policy that was removed together with its binding leaves no such object.
    pub(super) fn broken_by(&self, next: &Self) -> Option<(ObjectName, String)> {
        let is_lost = |policy: &PairingKey| !next.effective.contains(policy);
        if !self.effective.iter().any(is_lost) {
            return None;
        }
        let mut unpaired = next.unpaired.iter();
        let (key, file) = unpaired.find(|(key, _)| !self.unpaired.contains_key(*key))?;
        Some((object_name(key), file.clone()))
    }

    /// The first object without its counterpart.
    pub(super) fn first_unpaired(&self) -> Option<ObjectName> {
        self.unpaired.keys().next().map(object_name)
    }
}

fn object_name((kind, name): &PairingKey) -> ObjectName {
    ObjectName {
        kind: *kind,
        name: name.to_string(),
    }
}
