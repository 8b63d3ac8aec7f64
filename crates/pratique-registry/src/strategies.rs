//! The strategies of all built-in kinds, by API group.

mod admission;
mod apiregistration;
mod apps;
mod autoscaling;
mod batch;
mod certificates;
mod core;
mod extensions;
mod lifecycle;
mod networking;
mod persistent_volume_claims;
mod pod_spec;
mod pods;
mod resource;
mod scheduling;
mod service_addresses;
mod services;
mod small;
mod storage;

pub(crate) use pod_spec::drop_disabled;
pub(crate) use pods::app_armor_profile;

use pratique_json::same_name;
use pratique_types::GroupVersionKind;

pub use service_addresses::keep_allocations;
pub(crate) use service_addresses::read_service;

use crate::strategy::ResourceStrategy;

/// The kinds of all groups.
const GROUPS: &[&[ResourceStrategy]] = &[
    admission::STRATEGIES,
    apiregistration::STRATEGIES,
    apps::STRATEGIES,
    autoscaling::STRATEGIES,
    batch::STRATEGIES,
    certificates::STRATEGIES,
    core::STRATEGIES,
    extensions::STRATEGIES,
    lifecycle::STRATEGIES,
    networking::STRATEGIES,
    resource::STRATEGIES,
    scheduling::STRATEGIES,
    small::STRATEGIES,
    storage::STRATEGIES,
];

/// Whether a server stores objects of a kind: of kinds that are built in, some answer a question only.
pub fn is_stored(kind: &GroupVersionKind) -> bool {
    !pratique_objects::is_builtin(kind) || find_strategy(&kind.group, &kind.kind).is_some()
}

/// The strategy of a built-in kind; `None` for kinds that are not stored.
pub(crate) fn find_strategy(group: &str, kind: &str) -> Option<&'static ResourceStrategy> {
    let all = GROUPS.iter().flat_map(|group| group.iter());
    all.into_iter()
        .find(|of| same_name(of.kind, kind) && same_name(of.group, group))
}

#[cfg(test)]
mod tests {

    use pratique_schema::Release;

    use super::*;

    /// Kinds that answer a question and are not stored.
    const VIRTUAL: &[&str] = &[
        "Binding",
        "ComponentStatus",
        "LocalSubjectAccessReview",
        "SelfSubjectAccessReview",
        "SelfSubjectReview",
        "SelfSubjectRulesReview",
        "SubjectAccessReview",
        "TokenReview",
    ];

    #[test]
    fn every_stored_kind_has_a_strategy() {
        let served = Release::latest()
            .resources()
            .served()
            .iter()
            .chain(Release::latest().resources().optional());
        let served = served.filter(|served| served.subresource.is_empty());
        for served in served.filter(|served| pratique_objects::is_builtin(&served.kind)) {
            let kind = &served.kind;
            let has_strategy = find_strategy(&kind.group, &kind.kind).is_some();
            assert_eq!(has_strategy, !VIRTUAL.contains(&kind.kind.as_str()), "{kind}");
        }
    }

    #[test]
    fn every_status_endpoint_is_in_a_strategy() {
        for served in Release::latest()
            .resources()
            .served()
            .iter()
            .filter(|served| served.subresource == "status")
        {
            let kind = &served.kind;
            let strategy = find_strategy(&kind.group, &kind.kind).unwrap();
            assert!(strategy.status_endpoint.is_some(), "{kind}");
        }
    }

    #[test]
    fn no_kind_is_listed_twice() {
        let mut all: Vec<(&str, &str)> = GROUPS
            .iter()
            .flat_map(|group| group.iter())
            .map(|of| (of.group, of.kind))
            .collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
