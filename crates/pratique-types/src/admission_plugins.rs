//! The admission plugins of kube-apiserver: their order, which releases have them, which are on by default, and replacements
//! of removed ones.

use std::fmt::{self, Display, Formatter};

use pratique_gotext::suggest::{did_you_mean, nearest};

/// A plugin that is built into kube-apiserver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// Whether it is on without flags.
    pub by_default: bool,
    /// The first release that has it; `None` for those that all known releases from then on have.
    pub since: Option<(u32, u32)>,
    /// The first release without it.
    pub until: Option<(u32, u32)>,
}

/// The newest release that is not a preview.
pub const LATEST: (u32, u32) = (1, 37);

/// The plugins of kube-apiserver in any release, in the order in which each runs those that it has.
// Upstream: pkg/kubeapiserver/options/plugins.go, AllOrderedPlugins and DefaultOffAdmissionPlugins
pub const BUILT_IN: [BuiltIn; 42] = [
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
    on("PodGroupProtection").since(1, 36),
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
    on("PodGroupWorkloadExists").since(1, 36).until(1, 37),
    on("NodeDeclaredFeatureValidator").since(1, 35),
    on("JobValidation").since(1, 36).until(1, 37),
    on("PodResizeValidator").since(1, 36),
    on("MutatingAdmissionPolicy"),
    on("MutatingAdmissionWebhook"),
    on("ValidatingAdmissionPolicy"),
    on("AuthorizationConditionsEnforcer").since(1, 38),
    on("ValidatingAdmissionWebhook"),
    on("ResourceQuota"),
    off("AlwaysDeny"),
];

impl BuiltIn {
    const fn since(self, major: u32, minor: u32) -> Self {
        BuiltIn {
            since: Some((major, minor)),
            ..self
        }
    }

    const fn until(self, major: u32, minor: u32) -> Self {
        BuiltIn {
            until: Some((major, minor)),
            ..self
        }
    }

    /// Which servers have it, if not all: `since Kubernetes 1.38`.
    pub fn releases(&self) -> Option<String> {
        match (self.since, self.until) {
            (None, None) => None,
            (Some((major, minor)), None) => Some(format!("since Kubernetes {major}.{minor}")),
            (None, Some((major, minor))) => Some(format!("before Kubernetes {major}.{minor}")),
            (Some((major, first)), Some((_, until))) if until == first + 1 => {
                Some(format!("of Kubernetes {major}.{first}"))
            }
            (Some((major, first)), Some((_, until))) => Some(format!(
                "since Kubernetes {major}.{first} and before {major}.{until}"
            )),
        }
    }

    /// Whether a release has it.
    pub fn is_in(&self, release: (u32, u32)) -> bool {
        self.since.is_none_or(|since| since <= release) && self.until.is_none_or(|until| release < until)
    }
}

/// The plugin of a name, which may be one of some releases only.
pub fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|plugin| plugin.name == name)
}

/// A plugin that kube-apiserver had once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedPlugin {
    /// Its name.
    pub name: &'static str,
    /// The first version without it.
    pub since: &'static str,
    /// The replacement.
    pub instead: &'static str,
}

const REFUSED: [RefusedPlugin; 9] = [
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
pub fn refused(name: &str) -> Option<&'static RefusedPlugin> {
    REFUSED.iter().find(|refused| refused.name == name)
}

impl Display for RefusedPlugin {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let RefusedPlugin { name, since, instead } = self;
        write!(
            formatter,
            "admission plugin {name} is gone since Kubernetes {since}; instead there is {instead}"
        )
    }
}

/// Why there is no plugin of a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownPlugin {
    /// kube-apiserver had it once.
    #[error("{0}")]
    Refused(&'static RefusedPlugin),
    /// The release does not have it yet.
    #[error("admission plugin {name} is there since Kubernetes {}.{}", since.0, since.1)]
    Later {
        /// Its name.
        name: &'static str,
        /// The first release that has it.
        since: (u32, u32),
    },
    /// kube-apiserver never had it.
    #[error("kube-apiserver has no admission plugin {0:?}{meant}", meant = meant(.0))]
    Unknown(String),
}

/// The plugin of a name in any release that is known: whether a server has it depends on its own, see [`known_in`].
///
/// # Errors
/// There is none; the error names the plugin that was meant, or the replacement.
pub fn known(name: &str) -> Result<&'static BuiltIn, UnknownPlugin> {
    built_in(name).map_or_else(|| known_in(name, LATEST), Ok)
}

/// The plugin of a name in a release.
///
/// # Errors
/// There is none; the error names the plugin that was meant, or the replacement.
pub fn known_in(name: &str, release: (u32, u32)) -> Result<&'static BuiltIn, UnknownPlugin> {
    let known_plugin = built_in(name);
    match (known_plugin, refused(name)) {
        (Some(plugin), _) if plugin.is_in(release) => Ok(plugin),
        (
            Some(BuiltIn {
                name,
                since: Some(since),
                ..
            }),
            _,
        ) if release < *since => Err(UnknownPlugin::Later { name, since: *since }),
        (_, Some(refused)) => Err(UnknownPlugin::Refused(refused)),
        (_, None) => Err(UnknownPlugin::Unknown(name.to_owned())),
    }
}

fn meant(name: &str) -> String {
    let meant = nearest(name, BUILT_IN.map(|plugin| plugin.name)).map(did_you_mean);
    meant.map(|meant| format!(": {meant}")).unwrap_or_default()
}

/// Which plugins an API server runs, as its flags say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginSwitches {
    /// The release of the server.
    pub release: (u32, u32),
    /// Those of `--enable-admission-plugins`, which are on besides those that are on by default. `None`: those that an
    /// AdmissionConfiguration configures.
    pub enabled: Option<Vec<&'static BuiltIn>>,
    /// Those of `--disable-admission-plugins`, which are off.
    pub disabled: Vec<&'static BuiltIn>,
}

/// Why a server does not start with its switches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SwitchesError {
    /// The release has no such plugin.
    #[error("{flag} plugin {name:?} is unknown: {error}")]
    Unknown {
        /// The flag that names it.
        flag: &'static str,
        /// The plugin's name.
        name: &'static str,
        /// Why there is none.
        error: UnknownPlugin,
    },
    /// The plugin is named, and what it does is not evaluated.
    #[error("admission plugin {name} is not evaluated: its feature gate ConditionalAuthorization is alpha")]
    Alpha {
        /// The plugin's name.
        name: &'static str,
    },
    /// Plugins are both on and off.
    #[error("[{names}] in enable-admission-plugins and disable-admission-plugins overlapped")]
    Overlap {
        /// Their names, separated by blanks.
        names: String,
    },
}

impl Default for PluginSwitches {
    fn default() -> Self {
        PluginSwitches {
            release: LATEST,
            enabled: None,
            disabled: Vec::new(),
        }
    }
}

impl PluginSwitches {
    /// The same for a server of another release.
    #[must_use]
    pub fn of_release(self, release: (u32, u32)) -> Self {
        PluginSwitches { release, ..self }
    }

    /// Checks that the server has the plugins that are named, and that none is both on and off.
    ///
    /// # Errors
    /// It would not start.
    // Upstream: apiserver/pkg/server/options/admission.go, AdmissionOptions.Validate
    pub fn validate(&self) -> Result<(), SwitchesError> {
        let enabled = self.enabled.as_deref().unwrap_or_default();
        for (flag, named) in [
            ("enable-admission-plugins", enabled),
            ("disable-admission-plugins", &*self.disabled),
        ] {
            for plugin in named {
                let name = plugin.name;
                known_in(name, self.release).map_err(|error| SwitchesError::Unknown { flag, name, error })?;
            }
        }
        if let Some(plugin) = enabled
            .iter()
            .find(|plugin| plugin.name == "AuthorizationConditionsEnforcer")
        {
            return Err(SwitchesError::Alpha { name: plugin.name });
        }
        let both = self.disabled.iter().filter(|plugin| enabled.contains(plugin));
        let mut both: Vec<&str> = both.map(|plugin| plugin.name).collect();
        both.sort_unstable();
        both.dedup();
        if both.is_empty() {
            Ok(())
        } else {
            Err(SwitchesError::Overlap {
                names: both.join(" "),
            })
        }
    }

    /// Whether the server runs a plugin, given whether an AdmissionConfiguration configures it.
    pub fn is_on(&self, plugin: &BuiltIn, is_configured: bool) -> bool {
        let is_among = |plugins: &[&BuiltIn]| plugins.iter().any(|other| other.name == plugin.name);
        if is_among(&self.disabled) || !plugin.is_in(self.release) {
            return false;
        }
        plugin.by_default || self.enabled.as_deref().map_or(is_configured, is_among)
    }
}

const fn removed(name: &'static str, since: &'static str, instead: &'static str) -> RefusedPlugin {
    RefusedPlugin { name, since, instead }
}

const fn on(name: &'static str) -> BuiltIn {
    BuiltIn {
        name,
        by_default: true,
        since: None,
        until: None,
    }
}

const fn off(name: &'static str) -> BuiltIn {
    BuiltIn {
        name,
        by_default: false,
        since: None,
        until: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_is_not_built_in() {
        assert!(
            REFUSED
                .iter()
                .all(|removed| known_in(removed.name, LATEST).is_err())
        );
        let counts = [
            (34, 36, 22),
            (35, 37, 23),
            (36, 41, 27),
            (37, 39, 25),
            (38, 40, 26),
        ];
        for (minor, all, by_default) in counts {
            let plugins = BUILT_IN.iter().filter(|plugin| plugin.is_in((1, minor)));
            let of_release: Vec<_> = plugins.collect();
            let on = of_release.iter().filter(|plugin| plugin.by_default);
            assert_eq!((of_release.len(), on.count()), (all, by_default), "1.{minor}");
        }
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
            ..PluginSwitches::default()
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
            "kube-apiserver has no admission plugin \"EventRateLimits\": did you mean \"EventRateLimit\"?"
        );
        // Some release has it.
        assert_eq!(known("JobValidation").unwrap().until, Some((1, 37)));
        let both = PluginSwitches {
            enabled: Some(vec![known("EventRateLimit").unwrap()]),
            disabled: vec![known("EventRateLimit").unwrap()],
            ..PluginSwitches::default()
        };
        assert_eq!(
            both.validate().unwrap_err().to_string(),
            "[EventRateLimit] in enable-admission-plugins and disable-admission-plugins overlapped"
        );
    }

    #[test]
    fn a_release_has_its_own_plugins() {
        let refused = |name, release| {
            let switches = PluginSwitches {
                disabled: vec![built_in(name).unwrap()],
                ..PluginSwitches::default()
            };
            switches
                .of_release(release)
                .validate()
                .err()
                .map(|error| error.to_string())
        };
        assert_eq!(refused("JobValidation", (1, 36)), None);
        let unknown = "disable-admission-plugins plugin \"JobValidation\" is unknown: admission plugin JobValidation is ";
        let gone = refused("JobValidation", LATEST).unwrap();
        assert!(
            gone.starts_with(&format!("{unknown}gone since Kubernetes 1.37")),
            "{gone}"
        );
        let later = refused("JobValidation", (1, 35)).unwrap();
        assert_eq!(later, format!("{unknown}there since Kubernetes 1.36"));
        let alpha = PluginSwitches {
            enabled: built_in("AuthorizationConditionsEnforcer").map(|plugin| vec![plugin]),
            ..PluginSwitches::default().of_release((1, 38))
        };
        assert!(
            alpha
                .validate()
                .unwrap_err()
                .to_string()
                .contains("is not evaluated")
        );
    }
}
