//! The rules of the kinds, by API group.

mod api_services;
mod apps;
mod autoscaling;
mod batch;
mod certificates;
mod configuration;
mod endpoint_slices;
mod endpoints;
mod events;
mod flow_control;
mod leases;
mod namespaces;
mod networking;
mod nodes;
mod pods;
mod policy;
mod quotas;
mod rbac;
mod replication;
mod resource;
mod runtime_classes;
mod services;
mod storage;
mod storage_migrations;
mod storage_versions;

pub use resource::ADMIN_ACCESS_LABEL;

use pratique_types::GroupVersionKind;

use crate::rules::Rule;
pub(crate) use crate::rules::{KindRules, Request};

const GROUPS: &[&[KindRules]] = &[
    // Those that are written most often are found first.
    pods::KINDS,
    apps::KINDS,
    api_services::KINDS,
    autoscaling::KINDS,
    batch::KINDS,
    certificates::KINDS,
    configuration::KINDS,
    flow_control::KINDS,
    endpoint_slices::KINDS,
    endpoints::KINDS,
    events::KINDS,
    leases::KINDS,
    namespaces::KINDS,
    networking::KINDS,
    nodes::KINDS,
    policy::KINDS,
    quotas::KINDS,
    rbac::KINDS,
    replication::KINDS,
    resource::KINDS,
    runtime_classes::KINDS,
    services::KINDS,
    storage::KINDS,
    storage_migrations::KINDS,
    storage_versions::KINDS,
];

/// The rules for what is allocated before an object is prepared. An error of these is the only one.
pub(crate) fn allocation_rule(kind: &GroupVersionKind) -> Option<Rule> {
    kind.is_core("Service").then_some(services::validate_allocation)
}

/// The rules of a kind, if there are any here.
pub(crate) fn rules_of(kind: &GroupVersionKind) -> Option<&'static KindRules> {
    let mut all = GROUPS.iter().flat_map(|group| group.iter());
    all.find(|rules| rules.apply_to(kind))
}
