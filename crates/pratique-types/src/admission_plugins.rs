//! The admission plugins of kube-apiserver 1.36: their order, which are on, and what became of those that are gone.

use std::fmt::{self, Display, Formatter};

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

/// The plugin of a name.
pub fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|plugin| plugin.name == name)
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
    fn what_is_gone_is_not_built_in() {
        assert!(REFUSED.iter().all(|gone| built_in(gone.name).is_none()));
        let policy = refused("PodSecurityPolicy").unwrap().to_string();
        assert_eq!(
            policy,
            "admission plugin PodSecurityPolicy is gone since Kubernetes 1.25; instead there is PodSecurity, or \
             policies of your own"
        );
    }
}
