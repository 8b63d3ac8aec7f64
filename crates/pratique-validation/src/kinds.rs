//! The rules of the kinds, by API group.

mod apps;
mod autoscaling;
mod batch;
mod configuration;
mod namespaces;
mod networking;
mod pods;
mod policy;
mod quotas;
mod rbac;
mod replication;
mod services;
mod small;
mod storage;

use pratique_types::GroupVersionKind;

use crate::errors::Errors;
use crate::node::Node;

/// A request as the rules of a kind see it.
pub(crate) struct Request<'r> {
    /// The object.
    pub(crate) object: Node<'static, 'r>,
    /// The stored object; absent where the object is new.
    pub(crate) old: Node<'static, 'r>,
}

/// The rules for one way to write an object.
pub(crate) type Rule = fn(&Request<'_>, &mut Errors);

/// The rules of a kind: what its strategy validates.
pub(crate) struct KindRules {
    pub(crate) group: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) is_namespaced: bool,
    pub(crate) create: Rule,
    pub(crate) update: Rule,
    /// The subresources that can be updated.
    pub(crate) subresources: &'static [(&'static str, Rule)],
}

const GROUPS: &[&[KindRules]] = &[
    apps::KINDS,
    autoscaling::KINDS,
    batch::KINDS,
    configuration::KINDS,
    namespaces::KINDS,
    networking::KINDS,
    pods::KINDS,
    policy::KINDS,
    quotas::KINDS,
    rbac::KINDS,
    replication::KINDS,
    services::KINDS,
    small::KINDS,
    storage::KINDS,
];

/// The rules of a kind, if there are any here.
pub(crate) fn rules_of(kind: &GroupVersionKind) -> Option<&'static KindRules> {
    // Its internal form is that of the other version, which is not made here.
    if kind.group == "autoscaling" && kind.version == "v1" {
        return None;
    }
    let mut all = GROUPS.iter().flat_map(|group| group.iter());
    all.find(|rules| rules.kind == kind.kind && rules.group == kind.group)
}
