//! Entries of an AdmissionConfiguration that the server ignores silently.

use pratique_types::configuration::AdmissionPluginConfiguration;

use super::open::OpenedConfiguration;
use crate::position::Location;
use crate::tree::Step;

/// An entry without effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredPlugin {
    /// The plugin's name, as it is written.
    pub name: String,
    /// The place of the name.
    pub location: Location,
    /// Whether an earlier entry has the same name; otherwise no plugin has it.
    pub is_duplicate: bool,
}

/// The entries that have no effect.
pub(super) fn find(opened: &OpenedConfiguration) -> Vec<IgnoredPlugin> {
    let Some(parsed) = &opened.parsed else {
        return Vec::new();
    };
    let plugins = &opened.configuration.plugins;
    let entry = |(index, plugin): (usize, &AdmissionPluginConfiguration)| {
        let is_duplicate = plugins
            .iter()
            .take(index)
            .any(|before| before.name == plugin.name);
        if !is_duplicate && KNOWN.contains(&plugin.name.as_str()) {
            return None;
        }
        let field = |name: &str| Step::Field(name.to_owned());
        let path = [field("plugins"), Step::Index(index), field("name")];
        let span = parsed.tree().nearest_span(parsed.root, &path);
        Some(IgnoredPlugin {
            name: plugin.name.clone(),
            location: parsed.document.source.location(span),
            is_duplicate,
        })
    };
    plugins.iter().enumerate().filter_map(entry).collect()
}

/// The admission plugins of an API server.
const KNOWN: [&str; 41] = [
    "AlwaysAdmit",
    "AlwaysDeny",
    "AlwaysPullImages",
    "CertificateApproval",
    "CertificateSigning",
    "CertificateSubjectRestriction",
    "ClusterTrustBundleAttest",
    "DefaultIngressClass",
    "DefaultStorageClass",
    "DefaultTolerationSeconds",
    "DenyServiceExternalIPs",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "ImagePolicyWebhook",
    "JobValidation",
    "LimitPodHardAntiAffinityTopology",
    "LimitRanger",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    "NamespaceAutoProvision",
    "NamespaceExists",
    "NamespaceLifecycle",
    "NodeDeclaredFeatureValidator",
    "NodeRestriction",
    "OwnerReferencesPermissionEnforcement",
    "PersistentVolumeClaimResize",
    "PodGroupProtection",
    "PodGroupWorkloadExists",
    "PodNodeSelector",
    "PodResizeValidator",
    "PodSecurity",
    "PodTolerationRestriction",
    "PodTopologyLabels",
    "Priority",
    "ResourceQuota",
    "RuntimeClass",
    "ServiceAccount",
    "StorageObjectInUseProtection",
    "TaintNodesByCondition",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
];
