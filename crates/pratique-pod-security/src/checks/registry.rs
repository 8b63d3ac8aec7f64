//! Which checks apply at which version.

use crate::pod::Pod;
use crate::violation::Violation;
use crate::{Level, LevelVersion, Version};

use super::{capabilities, host, privileges, profiles, run_as, sysctls, volumes};

/// A check at one version: why a pod does not pass it.
type CheckFn = fn(&Pod<'_>) -> Option<Violation>;

/// The pods that a check does not apply to.
#[derive(Clone, Copy, Debug)]
enum CheckExemption {
    None,
    Windows,
    /// Those with a user namespace of their own.
    UserNamespace,
}

/// A check, and the pods that it does not apply to.
type CheckedPods = (CheckFn, CheckExemption);

/// A check in all its versions.
struct VersionedCheck {
    id: &'static str,
    level: Level,
    /// By the first minor version that they apply to.
    versions: &'static [(u8, CheckFn)],
    /// The pods that it does not apply to from a minor version on.
    except: (u8, CheckExemption),
    /// The baseline check that a restricted one is run in place of.
    overrides: Option<&'static str>,
}

/// The newest version that changed a check. Later versions are as this one.
const NEWEST: u8 = 37;

/// The checks of one level for each minor version.
type ByVersion = Vec<Vec<CheckedPods>>;

/// Evaluates pods against the Pod Security Standards.
// Upstream: pod-security-admission/policy/registry.go, checkRegistry
#[derive(Debug)]
pub struct Evaluator {
    baseline: ByVersion,
    restricted: ByVersion,
    newest: u8,
}

impl Default for Evaluator {
    fn default() -> Self {
        Evaluator::new()
    }
}

impl Evaluator {
    /// The checks of the newest release of kube-apiserver.
    pub fn new() -> Self {
        Evaluator::emulating(Version::Latest)
    }

    /// The checks of a server that emulates an older version: later versions are as that one.
    pub fn emulating(version: Version) -> Self {
        Evaluator::with_checks(version.minor_up_to(NEWEST), false)
    }

    /// The same where pods with a user namespace of their own are relaxed at every version, not only since 1.35: a server of 1.34
    /// with the feature gate `UserNamespacesPodSecurityStandards`.
    // Upstream: pod-security-admission/policy/helpers.go, RelaxPolicyForUserNamespacePods, until 1.34
    #[must_use]
    pub fn relaxing_user_namespaces(self) -> Self {
        Evaluator::with_checks(self.newest, true)
    }

    fn with_checks(newest: u8, relaxes: bool) -> Self {
        let versions = |level| (0..=NEWEST).map(|minor| at(level, minor, relaxes)).collect();
        Evaluator {
            baseline: versions(Level::Baseline),
            restricted: versions(Level::Restricted),
            newest,
        }
    }

    /// The violations of a pod, in the order of messages; empty if it is allowed.
    // Upstream: pod-security-admission/policy/registry.go, checkRegistry.EvaluatePod
    pub fn violations(&self, policy: LevelVersion, pod: &Pod<'_>) -> Vec<Violation> {
        let by_version = match policy.level {
            Level::Privileged => return Vec::new(),
            Level::Baseline => &self.baseline,
            Level::Restricted => &self.restricted,
        };
        let minor = policy.version.minor_up_to(self.newest);
        let checks = by_version
            .get(usize::from(minor))
            .map_or(&[] as &[_], Vec::as_slice);
        let applying = checks.iter().filter(|(_, except)| !except.covers(pod));
        applying.filter_map(|(check, _)| check(pod)).collect()
    }
}

impl Version {
    /// The minor version, or the newest where it is later.
    fn minor_up_to(self, newest: u8) -> u8 {
        match self {
            Version::Minor(minor) => u8::try_from(minor).unwrap_or(newest).min(newest),
            Version::Latest => newest,
        }
    }
}

impl CheckExemption {
    fn covers(self, pod: &Pod<'_>) -> bool {
        match self {
            CheckExemption::None => false,
            CheckExemption::Windows => pod.is_windows,
            CheckExemption::UserNamespace => pod.has_user_namespace,
        }
    }
}

/// The checks of a level at a version, perhaps without pods that have a user namespace.
fn at(level: Level, minor: u8, relaxes: bool) -> Vec<CheckedPods> {
    let version = |check: &VersionedCheck| {
        let versions = check.versions.iter().rev();
        let applying = versions.copied().find(|(first, _)| *first <= minor);
        let (since, except) = check.except;
        let is_excepted = minor >= since || (relaxes && matches!(except, CheckExemption::UserNamespace));
        applying.map(|(_, run)| (run, if is_excepted { except } else { CheckExemption::None }))
    };
    let overridden = |id: &str| {
        let mut overriding = CHECKS.iter().filter(|check| check.overrides == Some(id));
        level == Level::Restricted && overriding.any(|check| version(check).is_some())
    };
    let included = CHECKS
        .iter()
        .filter(|check| check.level <= level && !overridden(check.id));
    included.filter_map(version).collect()
}

const fn baseline(id: &'static str, versions: &'static [(u8, CheckFn)]) -> VersionedCheck {
    VersionedCheck {
        id,
        level: Level::Baseline,
        versions,
        except: (0, CheckExemption::None),
        overrides: None,
    }
}

const fn restricted(id: &'static str, versions: &'static [(u8, CheckFn)]) -> VersionedCheck {
    VersionedCheck {
        level: Level::Restricted,
        ..baseline(id, versions)
    }
}

impl VersionedCheck {
    /// A restricted check in place of a baseline one.
    const fn in_place_of(self, id: &'static str) -> Self {
        VersionedCheck {
            overrides: Some(id),
            ..self
        }
    }

    /// Without some pods from a minor version on.
    const fn unless(self, minor: u8, except: CheckExemption) -> Self {
        VersionedCheck {
            except: (minor, except),
            ..self
        }
    }
}

/// All checks in the order of messages: those of the baseline level first, by their names.
const CHECKS: &[VersionedCheck] = &[
    baseline("appArmorProfile", &[(0, profiles::app_armor)]),
    baseline("capabilities_baseline", &[(0, capabilities::baseline)]),
    baseline("hostNamespaces", &[(0, host::namespaces)]),
    baseline("hostPathVolumes", &[(0, volumes::host_path)]),
    baseline("hostPorts", &[(0, host::ports)]),
    baseline("hostProbesAndHostLifecycle", &[(34, host::probes_and_lifecycle)]),
    baseline("privileged", &[(0, privileges::privileged)]),
    baseline("procMount", &[(0, privileges::proc_mount)]).unless(35, CheckExemption::UserNamespace),
    baseline(
        "seLinuxOptions",
        &[
            (0, profiles::se_linux_since::<0>),
            (31, profiles::se_linux_since::<31>),
        ],
    ),
    baseline(
        "seccompProfile_baseline",
        &[(0, profiles::seccomp_annotations), (19, profiles::seccomp)],
    ),
    baseline(
        "sysctls",
        &[
            (0, sysctls::since::<0>),
            (27, sysctls::since::<27>),
            (29, sysctls::since::<29>),
            (32, sysctls::since::<32>),
            (37, sysctls::since::<37>),
        ],
    ),
    baseline("windowsHostProcess", &[(0, host::windows_process)]),
    restricted("allowPrivilegeEscalation", &[(8, privileges::escalation)])
        .unless(25, CheckExemption::Windows),
    restricted("capabilities_restricted", &[(22, capabilities::restricted)])
        .in_place_of("capabilities_baseline")
        .unless(25, CheckExemption::Windows),
    restricted("procMount_restricted", &[(35, privileges::proc_mount)]).in_place_of("procMount"),
    restricted("restrictedVolumes", &[(0, volumes::restricted)]).in_place_of("hostPathVolumes"),
    restricted("runAsNonRoot", &[(0, run_as::non_root)]).unless(35, CheckExemption::UserNamespace),
    restricted("runAsUser", &[(23, run_as::user)]).unless(35, CheckExemption::UserNamespace),
    restricted("seccompProfile_restricted", &[(19, profiles::seccomp_required)])
        .in_place_of("seccompProfile_baseline")
        .unless(25, CheckExemption::Windows),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_in_the_order_of_messages() {
        assert!(CHECKS.is_sorted_by_key(|check| (check.level, check.id)));
        let versions = |check: &VersionedCheck| check.versions.is_sorted_by_key(|(first, _)| *first);
        assert!(CHECKS.iter().all(versions));
        let newest = CHECKS
            .iter()
            .flat_map(|check| check.versions)
            .map(|(first, _)| *first);
        assert_eq!(newest.max(), Some(NEWEST));
    }

    #[test]
    fn restricted_checks_replace_weaker_ones() {
        assert_eq!(at(Level::Baseline, 0, false).len(), 11);
        assert_eq!(at(Level::Baseline, 34, false).len(), 12);
        // Without hostPathVolumes; restrictedVolumes and runAsNonRoot are added.
        assert_eq!(at(Level::Restricted, 0, false).len(), 12);
        assert_eq!(at(Level::Restricted, 35, false).len(), 12 - 4 + 7);
    }
}
