//! The plugins that are built into kube-apiserver 1.36, in their order.

/// A plugin that is built into kube-apiserver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// Whether it is on without flags.
    pub by_default: bool,
}

/// The plugins of kube-apiserver 1.36, in the order in which it runs them.
// Upstream: pkg/kubeapiserver/options/plugins.go, AllOrderedPlugins and DefaultOffAdmissionPlugins
pub const BUILT_IN: [BuiltIn; 41] = [
    off("AlwaysAdmit"),
    off("NamespaceAutoProvision"),
    on("NamespaceLifecycle"),
    off("NamespaceExists"),
    off("LimitPodHardAntiAffinityTopology"),
    on("LimitRanger"),
    on("ServiceAccount"),
    off("NodeRestriction"),
    on("TaintNodesByCondition"),
    off("AlwaysPullImages"),
    off("ImagePolicyWebhook"),
    on("PodSecurity"),
    off("PodNodeSelector"),
    on("Priority"),
    on("DefaultTolerationSeconds"),
    off("PodTolerationRestriction"),
    off("EventRateLimit"),
    off("ExtendedResourceToleration"),
    on("DefaultStorageClass"),
    on("StorageObjectInUseProtection"),
    on("PodGroupProtection"),
    off("OwnerReferencesPermissionEnforcement"),
    on("PersistentVolumeClaimResize"),
    on("RuntimeClass"),
    on("CertificateApproval"),
    on("CertificateSigning"),
    on("ClusterTrustBundleAttest"),
    on("CertificateSubjectRestriction"),
    on("DefaultIngressClass"),
    off("DenyServiceExternalIPs"),
    on("PodTopologyLabels"),
    on("PodGroupWorkloadExists"),
    on("NodeDeclaredFeatureValidator"),
    on("JobValidation"),
    on("PodResizeValidator"),
    on("MutatingAdmissionPolicy"),
    on("MutatingAdmissionWebhook"),
    on("ValidatingAdmissionPolicy"),
    on("ValidatingAdmissionWebhook"),
    on("ResourceQuota"),
    off("AlwaysDeny"),
];

/// The first plugin for policies; those from it up to [`AFTER_DYNAMIC`] are not in a
/// [`PluginChain`](crate::PluginChain).
const DYNAMIC: &str = "MutatingAdmissionPolicy";

/// The first plugin after those for policies and webhooks.
const AFTER_DYNAMIC: &str = "ResourceQuota";

/// The names of the plugins that run without flags, without those for policies and webhooks, in order.
pub fn default_plugins() -> impl Iterator<Item = &'static str> {
    let on = BUILT_IN.iter().filter(|plugin| plugin.by_default);
    on.map(|plugin| plugin.name)
        .filter(|name| !(place(DYNAMIC)..place(AFTER_DYNAMIC)).contains(&place(name)))
}

/// The place of a plugin among those built in; what is not built in comes before the plugins for policies.
pub(crate) fn place(name: &str) -> usize {
    let found = BUILT_IN.iter().position(|plugin| plugin.name == name);
    found.unwrap_or_else(|| {
        let dynamic = BUILT_IN.iter().position(|plugin| plugin.name == DYNAMIC);
        dynamic.unwrap_or_default()
    })
}

/// Whether a plugin runs after those for policies and webhooks.
pub(crate) fn is_after_dynamic(name: &str) -> bool {
    place(name) >= place(AFTER_DYNAMIC)
}

const fn on(name: &'static str) -> BuiltIn {
    BuiltIn {
        name,
        by_default: true,
    }
}

const fn off(name: &'static str) -> BuiltIn {
    BuiltIn {
        name,
        by_default: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dynamic_plugins_are_left_out() {
        let names: Vec<_> = default_plugins().collect();
        assert_eq!(names.len(), 23);
        assert_eq!(names.first(), Some(&"NamespaceLifecycle"));
        assert_eq!(names.last(), Some(&"ResourceQuota"));
        assert!(
            is_after_dynamic("AlwaysDeny") && !is_after_dynamic("PodSecurity") && !is_after_dynamic("Mine")
        );
    }
}
