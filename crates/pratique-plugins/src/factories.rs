//! All plugins that are built in, but those for policies and webhooks.

use std::collections::BTreeSet;

use pratique_plugin::{Handler, MakePlugin, PluginFactory, StateKind, gates};
use pratique_types::Operation;

use crate::built_in::{HandledRequests, handled};
use crate::{always, events, identity, namespaces, nodes, pods, scheduling, storage};

const ALL: &[Operation] = &Operation::ALL;
const CREATE: &[Operation] = &[Operation::Create];
const UPDATE: &[Operation] = &[Operation::Update];
const WRITES: &[Operation] = &[Operation::Create, Operation::Update];
const CHANGES: &[Operation] = &[Operation::Create, Operation::Update, Operation::Delete];

const ANY: HandledRequests = HandledRequests::Any;
const PODS: HandledRequests = HandledRequests::new("", "pods");
const RESIZES: HandledRequests = HandledRequests::to("", "pods", "resize");
const NODES: HandledRequests = HandledRequests::new("", "nodes");
const CLAIMS: HandledRequests = HandledRequests::new("", "persistentvolumeclaims");
const SERVICES: HandledRequests = HandledRequests::new("", "services");
const INGRESSES: HandledRequests = HandledRequests::new("networking.k8s.io", "ingresses");
const JOBS: HandledRequests = HandledRequests::new("batch", "jobs");
const GROUPS: HandledRequests = HandledRequests::new("scheduling.k8s.io", "podgroups");
const CSRS: HandledRequests = HandledRequests::new(identity::CERTIFICATES, "certificatesigningrequests");
const APPROVALS: HandledRequests =
    HandledRequests::to(identity::CERTIFICATES, "certificatesigningrequests", "approval");
const STATUSES: HandledRequests =
    HandledRequests::to(identity::CERTIFICATES, "certificatesigningrequests", "status");

/// Either of them is enough.
const GATES_OF_JOBS: &[&str] = &[gates::GENERIC_WORKLOAD, gates::WORKLOAD_WITH_JOB];

/// The kinds that nodes refer to.
const OF_NODES: &[StateKind] = &[
    StateKind::POD,
    StateKind::NODE,
    StateKind::SERVICE_ACCOUNT,
    StateKind::CSI_DRIVER,
    StateKind::PERSISTENT_VOLUME,
    StateKind::PERSISTENT_VOLUME_CLAIM,
];

/// The plugins that are built into kube-apiserver in any release, but those for policies and webhooks, in the order of the server: for
/// which operations and requests each is called, the kinds that it may look up, and the function that makes it.
#[rustfmt::skip]
pub const FACTORIES: &[PluginFactory] = &[
    plugin(Handler::new("AlwaysAdmit", ALL).mutating().validating(),
        |handler, _| handled(handler, ANY, always::AlwaysAdmit)),
    plugin(Handler::new("NamespaceAutoProvision", CREATE).mutating().needing(&[StateKind::NAMESPACE]),
        |handler, _| handled(handler, ANY, namespaces::NamespaceAutoProvision)),
    plugin(Handler::new("NamespaceLifecycle", CHANGES).mutating().needing(&[StateKind::NAMESPACE]),
        |handler, settings| handled(handler, ANY, namespaces::NamespaceLifecycle::new(settings))),
    plugin(Handler::new("NamespaceExists", CHANGES).validating().needing(&[StateKind::NAMESPACE]),
        |handler, _| handled(handler, ANY, namespaces::NamespaceExists)),
    plugin(Handler::new("LimitPodHardAntiAffinityTopology", WRITES).validating(),
        |handler, _| handled(handler, PODS, pods::LimitPodHardAntiAffinityTopology)),
    plugin(Handler::new("LimitRanger", WRITES).mutating().validating().needing(&[StateKind::LIMIT_RANGE]),
        |handler, settings| handled(handler, ANY, pods::LimitRanger::new(settings))),
    plugin(Handler::new("ServiceAccount", WRITES).mutating().keeping_form().validating()
        .needing(&[StateKind::SERVICE_ACCOUNT]),
        |handler, _| handled(handler, ANY, pods::ServiceAccount)),
    plugin(Handler::new("NodeRestriction", CHANGES).mutating().needing(OF_NODES).asking_authorizer(),
        |handler, settings| handled(handler, ANY, nodes::NodeRestriction::new(settings))),
    plugin(Handler::new("TaintNodesByCondition", CREATE).mutating().keeping_form(),
        |handler, _| handled(handler, NODES, nodes::TaintNodesByCondition)),
    plugin(Handler::new("AlwaysPullImages", WRITES).mutating().keeping_form().validating(),
        |handler, _| handled(handler, PODS, pods::AlwaysPullImages)),
    plugin(Handler::new("ImagePolicyWebhook", WRITES).validating(),
        |handler, settings| handled(handler, ANY, pods::ImagePolicyWebhook::read(settings)?)),
    pratique_pod_security::FACTORY,
    plugin(Handler::new("PodNodeSelector", CREATE).mutating().validating().needing(&[StateKind::NAMESPACE]),
        |handler, settings| handled(handler, PODS, pods::PodNodeSelector::new(settings))),
    plugin(Handler::new("Priority", CHANGES).mutating().keeping_form().validating().needing(&[StateKind::PRIORITY_CLASS]),
        |handler, settings| handled(handler, ANY, pods::PodPriority::new(settings))),
    plugin(Handler::new("DefaultTolerationSeconds", WRITES).mutating().keeping_form(),
        |handler, settings| handled(handler, PODS, pods::DefaultTolerationSeconds::new(settings))),
    plugin(Handler::new("PodTolerationRestriction", WRITES).mutating().validating()
        .needing(&[StateKind::NAMESPACE]),
        |handler, settings| handled(handler, PODS, pods::PodTolerationRestriction::read(settings)?)),
    plugin(Handler::new("EventRateLimit", WRITES).validating(),
        |handler, settings| handled(handler, ANY, events::EventRateLimit::read(settings)?)),
    plugin(Handler::new("ExtendedResourceToleration", WRITES).mutating(),
        |handler, _| handled(handler, PODS, pods::ExtendedResourceToleration)),
    plugin(Handler::new("DefaultStorageClass", CREATE).mutating().needing(&[StateKind::STORAGE_CLASS]),
        |handler, _| handled(handler, CLAIMS, storage::STORAGE_CLASS)),
    plugin(Handler::new("StorageObjectInUseProtection", CREATE).mutating(),
        |handler, _| handled(handler, ANY, storage::FinalizerProtection { of: &storage::STORAGE })),
    plugin(Handler::new("PodGroupProtection", CREATE).mutating(),
        |handler, settings| handled(handler, ANY.when(settings, &[gates::GENERIC_WORKLOAD]),
            storage::FinalizerProtection { of: &storage::POD_GROUPS })),
    plugin(Handler::new("OwnerReferencesPermissionEnforcement", WRITES).validating()
        .needing(&[StateKind::CUSTOM_RESOURCE_DEFINITION]).asking_authorizer(),
        |handler, settings| handled(handler, ANY, identity::OwnerReferencesPermissionEnforcement::new(settings))),
    plugin(Handler::new("PersistentVolumeClaimResize", UPDATE).validating()
        .needing(&[StateKind::STORAGE_CLASS]),
        |handler, _| handled(handler, CLAIMS, storage::PersistentVolumeClaimResize)),
    plugin(Handler::new("RuntimeClass", CREATE).mutating().validating().needing(&[StateKind::RUNTIME_CLASS]),
        |handler, settings| handled(handler, PODS, pods::RuntimeClass::new(settings))),
    plugin(Handler::new("CertificateApproval", UPDATE).validating().asking_authorizer(),
        |handler, _| handled(handler, APPROVALS, identity::CertificatePermission { verb: "approve" })),
    plugin(Handler::new("CertificateSigning", UPDATE).validating().asking_authorizer(),
        |handler, _| handled(handler, STATUSES, identity::CertificatePermission { verb: "sign" })),
    plugin(Handler::new("ClusterTrustBundleAttest", WRITES).validating().asking_authorizer(),
        |handler, settings| handled(handler, ANY.when(settings, &[gates::CLUSTER_TRUST_BUNDLE]),
            identity::ClusterTrustBundleAttest)),
    plugin(Handler::new("CertificateSubjectRestriction", CREATE).validating(),
        |handler, _| handled(handler, CSRS, identity::CertificateSubjectRestriction)),
    plugin(Handler::new("DefaultIngressClass", CREATE).mutating().needing(&[StateKind::INGRESS_CLASS]),
        |handler, _| handled(handler, INGRESSES, storage::INGRESS_CLASS)),
    plugin(Handler::new("DenyServiceExternalIPs", WRITES).validating(),
        |handler, _| handled(handler, SERVICES, storage::DenyServiceExternalIps)),
    plugin(Handler::new("PodTopologyLabels", CREATE).mutating().needing(&[StateKind::NODE]),
        |handler, settings| handled(handler, ANY.when(settings, &[gates::POD_TOPOLOGY_LABELS]),
            pods::PodTopologyLabels)),
    plugin(Handler::new("PodGroupWorkloadExists", CREATE).validating().needing(&[StateKind::WORKLOAD]),
        |handler, settings| handled(handler, GROUPS.when(settings, &[gates::GENERIC_WORKLOAD]),
            scheduling::PodGroupWorkloadExists)),
    plugin(Handler::new("NodeDeclaredFeatureValidator", WRITES).validating().needing(&[StateKind::NODE]),
        |handler, settings| handled(handler, ANY.when(settings, &[gates::NODE_DECLARED_FEATURES]),
            nodes::NodeDeclaredFeatureValidator::new(settings))),
    plugin(Handler::new("JobValidation", UPDATE).validating().needing(&[StateKind::POD_GROUP]),
        |handler, settings| handled(handler, JOBS.when(settings, GATES_OF_JOBS), scheduling::JobValidation)),
    plugin(Handler::new("PodResizeValidator", UPDATE).validating().needing(&[StateKind::NODE]),
        |handler, _| handled(handler, RESIZES, pods::PodResizeValidator)),
    pratique_quota::FACTORY,
    plugin(Handler::new("AlwaysDeny", ALL).mutating().validating(),
        |handler, _| handled(handler, ANY, always::AlwaysDeny)),
];

const fn plugin(handler: Handler, make: MakePlugin) -> PluginFactory {
    PluginFactory { handler, make }
}

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
