//! All plugins of this crate, and names that are no plugins any more.

use std::fmt::{self, Display, Formatter};

use pratique_plugin::PluginFactory;

use crate::{always, events, identity, namespaces, nodes, pods, scheduling, storage};

/// The plugins of this crate, in the order of the server.
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
    always::ALWAYS_DENY,
];

/// The plugin with a name.
pub fn factory(name: &str) -> Option<&'static PluginFactory> {
    FACTORIES.iter().find(|factory| factory.name == name)
}

/// A plugin that kube-apiserver had once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its name.
    pub name: &'static str,
    /// The first version without it.
    pub since: &'static str,
    /// What does its work now.
    pub instead: &'static str,
}

const REFUSED: [Refused; 7] = [
    gone(
        "PodSecurityPolicy",
        "1.25",
        "PodSecurity, or policies of your own",
    ),
    gone(
        "PodPreset",
        "1.20",
        "a MutatingAdmissionPolicy or a mutating webhook",
    ),
    gone(
        "PersistentVolumeLabel",
        "1.31",
        "the cloud provider's own controller",
    ),
    gone(
        "SecurityContextDeny",
        "1.30",
        "PodSecurity at the level \"restricted\"",
    ),
    gone(
        "DenyEscalatingExec",
        "1.21",
        "a ValidatingAdmissionPolicy for pods/exec and pods/attach",
    ),
    gone(
        "DenyExecOnPrivileged",
        "1.21",
        "a ValidatingAdmissionPolicy for pods/exec and pods/attach",
    ),
    gone("Initializers", "1.16", "a mutating webhook"),
];

/// What became of a plugin that there is no more.
pub fn refused(name: &str) -> Option<&'static Refused> {
    REFUSED.iter().find(|refused| refused.name == name)
}

impl Display for Refused {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Refused { name, since, instead } = self;
        write!(
            formatter,
            "admission plugin {name} is gone since Kubernetes {since}; instead there is {instead}"
        )
    }
}

const fn gone(name: &'static str, since: &'static str, instead: &'static str) -> Refused {
    Refused { name, since, instead }
}

#[cfg(test)]
mod tests {
    use pratique_plugin::BUILT_IN;

    use super::*;

    #[test]
    fn plugins_stand_in_the_order_of_the_server() {
        let place = |factory: &PluginFactory| {
            let place = BUILT_IN.iter().position(|plugin| plugin.name == factory.name);
            place.unwrap_or_else(|| panic!("{} is not built in", factory.name))
        };
        assert!(FACTORIES.iter().map(place).is_sorted());
    }

    #[test]
    fn what_is_gone_is_not_built_in() {
        assert!(REFUSED.iter().all(|gone| factory(gone.name).is_none()));
        let policy = refused("PodSecurityPolicy").unwrap().to_string();
        assert_eq!(
            policy,
            "admission plugin PodSecurityPolicy is gone since Kubernetes 1.25; instead there is PodSecurity, or \
             policies of your own"
        );
    }
}
