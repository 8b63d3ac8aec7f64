//! All plugins that are built in, but those for policies and webhooks.

use std::collections::BTreeSet;

use pratique_plugin::{Handler, PluginFactory, StateKind};

use crate::{always, events, identity, namespaces, nodes, pods, scheduling, storage};

/// The plugins that are built into kube-apiserver, but those for policies and webhooks, in the order of the server.
pub const FACTORIES: &[PluginFactory] = &[
    always::ALWAYS_ADMIT,
    namespaces::NAMESPACE_AUTO_PROVISION,
    namespaces::NAMESPACE_LIFECYCLE,
    namespaces::NAMESPACE_EXISTS,
    pods::LIMIT_POD_HARD_ANTI_AFFINITY_TOPOLOGY,
    pods::LIMIT_RANGER,
    pods::SERVICE_ACCOUNT,
    nodes::NODE_RESTRICTION,
    nodes::TAINT_NODES_BY_CONDITION,
    pods::ALWAYS_PULL_IMAGES,
    pods::IMAGE_POLICY_WEBHOOK,
    pratique_pod_security::FACTORY,
    pods::POD_NODE_SELECTOR,
    pods::PRIORITY,
    pods::DEFAULT_TOLERATION_SECONDS,
    pods::POD_TOLERATION_RESTRICTION,
    events::FACTORY,
    pods::EXTENDED_RESOURCE_TOLERATION,
    storage::DEFAULT_STORAGE_CLASS,
    storage::STORAGE_OBJECT_IN_USE_PROTECTION,
    storage::POD_GROUP_PROTECTION,
    identity::OWNER_REFERENCES_PERMISSION_ENFORCEMENT,
    storage::PERSISTENT_VOLUME_CLAIM_RESIZE,
    pods::RUNTIME_CLASS,
    identity::CERTIFICATE_APPROVAL,
    identity::CERTIFICATE_SIGNING,
    identity::CLUSTER_TRUST_BUNDLE_ATTEST,
    identity::CERTIFICATE_SUBJECT_RESTRICTION,
    storage::DEFAULT_INGRESS_CLASS,
    storage::DENY_SERVICE_EXTERNAL_IPS,
    pods::POD_TOPOLOGY_LABELS,
    scheduling::POD_GROUP_WORKLOAD_EXISTS,
    nodes::NODE_DECLARED_FEATURE_VALIDATOR,
    scheduling::JOB_VALIDATION,
    pods::POD_RESIZE_VALIDATOR,
    pratique_quota::FACTORY,
    always::ALWAYS_DENY,
];

/// The plugin with a name.
pub fn factory(name: &str) -> Option<&'static PluginFactory> {
    FACTORIES.iter().find(|factory| factory.handler.name == name)
}

/// The kinds of objects that plugins may look up in the cluster. `is_on` chooses the plugins by name.
pub fn state_kinds(is_on: impl Fn(&str) -> bool) -> BTreeSet<StateKind> {
    handlers(is_on)
        .flat_map(|handler| handler.needs.iter().copied())
        .collect()
}

/// Whether decisions of plugins may depend on permissions. `is_on` chooses the plugins by name.
pub fn ask_authorizer(is_on: impl Fn(&str) -> bool) -> bool {
    handlers(is_on).any(|handler| handler.asks_authorizer)
}

fn handlers(is_on: impl Fn(&str) -> bool) -> impl Iterator<Item = Handler> {
    let handlers = FACTORIES.iter().map(|factory| factory.handler);
    handlers.filter(move |handler| is_on(handler.name))
}

#[cfg(test)]
mod tests {
    use pratique_types::admission_plugins::BUILT_IN;

    use super::*;

    #[test]
    fn plugins_stand_in_the_order_of_the_server() {
        let place = |factory: &PluginFactory| {
            let place = BUILT_IN
                .iter()
                .position(|plugin| plugin.name == factory.handler.name);
            place.unwrap_or_else(|| panic!("{} is not built in", factory.handler.name))
        };
        assert!(FACTORIES.iter().map(place).is_sorted());
    }

    #[test]
    fn kinds_that_plugins_look_up() {
        assert_eq!(
            state_kinds(|name| name == "LimitRanger"),
            [StateKind::LIMIT_RANGE].into()
        );
        let all = state_kinds(|_| true);
        assert!(all.contains(&StateKind::RESOURCE_QUOTA) && all.contains(&StateKind::PRIORITY_CLASS));
    }

    #[test]
    fn some_plugins_ask_for_permissions() {
        let asking = FACTORIES
            .iter()
            .filter(|factory| ask_authorizer(|name| name == factory.handler.name));
        let names: Vec<&str> = asking.map(|factory| factory.handler.name).collect();
        let expected = [
            "NodeRestriction",
            "OwnerReferencesPermissionEnforcement",
            "CertificateApproval",
            "CertificateSigning",
            "ClusterTrustBundleAttest",
        ];
        assert_eq!(names, expected);
    }
}
