//! The admission plugins of kube-apiserver 1.37: their order, which are on by default, and replacements of
//! removed ones.

use std::fmt::{self, Display, Formatter};

use pratique_gotext::suggest::{did_you_mean, nearest};

/// A plugin that is built into kube-apiserver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// Whether it is on without flags.
    pub by_default: bool,
}

/// The plugins of kube-apiserver 1.37, in the order in which it runs them. 1.36 has two more: PodGroupWorkloadExists before
/// NodeDeclaredFeatureValidator, and JobValidation after it.
// Upstream: pkg/kubeapiserver/options/plugins.go, AllOrderedPlugins and DefaultOffAdmissionPlugins
pub const BUILT_IN: [BuiltIn; 39] = [
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
    on("NodeDeclaredFeatureValidator"),
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
    /// The replacement.
    pub instead: &'static str,
}

const REFUSED: [Refused; 9] = [
    removed(
        "PodGroupWorkloadExists",
        "1.37",
        "nothing: a PodGroup may come before its Workload",
    ),
    removed(
        "JobValidation",
        "1.37",
        "validation of Jobs, which compares parallelism with the minCount of their gang",
    ),
    removed(
        "PodSecurityPolicy",
        "1.25",
        "PodSecurity, or policies of your own",
    ),
    removed(
        "PodPreset",
        "1.20",
        "a MutatingAdmissionPolicy or a mutating webhook",
    ),
    removed(
        "PersistentVolumeLabel",
        "1.31",
        "the cloud provider's own controller",
    ),
    removed(
        "SecurityContextDeny",
        "1.30",
        "PodSecurity at the level \"restricted\"",
    ),
    removed(
        "DenyEscalatingExec",
        "1.21",
        "a ValidatingAdmissionPolicy for pods/exec and pods/attach",
    ),
    removed(
        "DenyExecOnPrivileged",
        "1.21",
        "a ValidatingAdmissionPolicy for pods/exec and pods/attach",
    ),
    removed("Initializers", "1.16", "a mutating webhook"),
];

/// A plugin that was removed.
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

/// Why there is no plugin of a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownPlugin {
    /// kube-apiserver had it once.
    #[error("{0}")]
    Refused(&'static Refused),
    /// kube-apiserver never had it.
    #[error("kube-apiserver 1.37 has no admission plugin {name:?}{}", meant(name))]
    Unknown {
        /// The name.
        name: String,
    },
}

/// The plugin of a name.
///
/// # Errors
/// There is none; the error names the plugin that was meant, or the replacement.
pub fn known(name: &str) -> Result<&'static BuiltIn, UnknownPlugin> {
    built_in(name).ok_or_else(|| match refused(name) {
        Some(refused) => UnknownPlugin::Refused(refused),
        None => UnknownPlugin::Unknown {
            name: name.to_owned(),
        },
    })
}

fn meant(name: &str) -> String {
    let meant = nearest(name, BUILT_IN.map(|plugin| plugin.name)).map(did_you_mean);
    meant.map(|meant| format!(": {meant}")).unwrap_or_default()
}

/// Which plugins an API server runs, as its flags say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginSwitches {
    /// Those of `--enable-admission-plugins`, which are on besides those that are on by default. `None`: those that an
    /// AdmissionConfiguration configures.
    pub enabled: Option<Vec<&'static BuiltIn>>,
    /// Those of `--disable-admission-plugins`, which are off.
    pub disabled: Vec<&'static BuiltIn>,
}

/// Plugins are both on and off.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("[{names}] in enable-admission-plugins and disable-admission-plugins overlapped")]
pub struct PluginsOverlap {
    /// Their names, separated by blanks.
    pub names: String,
}

impl PluginSwitches {
    /// Checks that no plugin is both on and off.
    ///
    /// # Errors
    /// Some are.
    // Upstream: apiserver/pkg/server/options/admission.go, AdmissionOptions.Validate
    pub fn validate(&self) -> Result<(), PluginsOverlap> {
        let enabled = self.enabled.as_deref().unwrap_or_default();
        let both = self.disabled.iter().filter(|plugin| enabled.contains(plugin));
        let mut both: Vec<&str> = both.map(|plugin| plugin.name).collect();
        both.sort_unstable();
        both.dedup();
        if both.is_empty() {
            Ok(())
        } else {
            Err(PluginsOverlap {
                names: both.join(" "),
            })
        }
    }

    /// Whether the server runs a plugin, given whether an AdmissionConfiguration configures it.
    pub fn is_on(&self, plugin: &BuiltIn, is_configured: bool) -> bool {
        let is_among = |plugins: &[&BuiltIn]| plugins.iter().any(|other| other.name == plugin.name);
        if is_among(&self.disabled) {
            return false;
        }
        plugin.by_default || self.enabled.as_deref().map_or(is_configured, is_among)
    }
}

const fn removed(name: &'static str, since: &'static str, instead: &'static str) -> Refused {
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
        assert!(REFUSED.iter().all(|removed| built_in(removed.name).is_none()));
        assert_eq!(BUILT_IN.iter().filter(|plugin| plugin.by_default).count(), 25);
        let jobs = refused("JobValidation").unwrap().to_string();
        assert!(
            jobs.starts_with(
                "admission plugin JobValidation is gone since Kubernetes 1.37; instead there is"
            )
        );
        let policy = refused("PodSecurityPolicy").unwrap().to_string();
        assert_eq!(
            policy,
            "admission plugin PodSecurityPolicy is gone since Kubernetes 1.25; instead there is PodSecurity, or \
             policies of your own"
        );
    }

    #[test]
    fn flags_decide_what_is_on() {
        let on = |switches: &PluginSwitches, name: &str, is_configured| {
            switches.is_on(known(name).unwrap(), is_configured)
        };
        let none = PluginSwitches::default();
        assert!(on(&none, "PodSecurity", false) && on(&none, "EventRateLimit", true));
        assert!(!on(&none, "EventRateLimit", false));
        let some = PluginSwitches {
            enabled: Some(vec![known("AlwaysPullImages").unwrap()]),
            disabled: vec![known("PodSecurity").unwrap()],
        };
        assert!(on(&some, "AlwaysPullImages", false) && !on(&some, "EventRateLimit", true));
        assert!(!on(&some, "PodSecurity", true));
    }

    #[test]
    fn names_that_are_no_plugins_are_refused() {
        assert_eq!(
            known("SecurityContextDeny").unwrap_err().to_string(),
            "admission plugin SecurityContextDeny is gone since Kubernetes 1.30; instead there is PodSecurity at the level \
             \"restricted\""
        );
        assert_eq!(
            known("EventRateLimits").unwrap_err().to_string(),
            "kube-apiserver 1.37 has no admission plugin \"EventRateLimits\": did you mean \"EventRateLimit\"?"
        );
        let both = PluginSwitches {
            enabled: Some(vec![known("EventRateLimit").unwrap()]),
            disabled: vec![known("EventRateLimit").unwrap()],
        };
        assert_eq!(
            both.validate().unwrap_err().to_string(),
            "[EventRateLimit] in enable-admission-plugins and disable-admission-plugins overlapped"
        );
    }
}
