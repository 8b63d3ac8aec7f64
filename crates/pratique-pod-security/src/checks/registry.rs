//! Which checks apply at which version.

use crate::pod::Pod;
use crate::violation::Violation;
use crate::{Level, LevelVersion, Version};

use super::{capabilities, host, privileges, profiles, run_as, sysctls, volumes};

/// A check at one version: why a pod does not pass it.
type CheckFn = fn(&Pod<'_>) -> Option<Violation>;

/// A check in all its versions.
struct Check {
    id: &'static str,
    level: Level,
    /// By the first minor version that they apply to.
    versions: &'static [(u8, CheckFn)],
    /// The baseline check that a restricted one is run in place of.
    overrides: Option<&'static str>,
}

/// The newest version that changed a check. Later versions are as this one.
const NEWEST: u8 = 35;

/// The checks of one level for each minor version.
type ByVersion = Vec<Vec<CheckFn>>;

/// The checks of each level and version, in the order of messages.
// Upstream: pod-security-admission/policy/registry.go, checkRegistry
#[derive(Debug)]
pub(crate) struct Registry {
    baseline: ByVersion,
    restricted: ByVersion,
    newest: u8,
}

impl Registry {
    /// The checks of a server; one that emulates an older minor version does not know later ones.
    pub(crate) fn new(emulated: Option<Version>) -> Self {
        let newest = match emulated {
            Some(Version::Minor(minor)) => u8::try_from(minor).unwrap_or(NEWEST).min(NEWEST),
            Some(Version::Latest) | None => NEWEST,
        };
        let versions = |level| (0..=NEWEST).map(|minor| at(level, minor)).collect();
        Registry {
            baseline: versions(Level::Baseline),
            restricted: versions(Level::Restricted),
            newest,
        }
    }

    /// What a pod violates, in order.
    pub(crate) fn violations(&self, policy: LevelVersion, pod: &Pod<'_>) -> Vec<Violation> {
        let by_version = match policy.level {
            Level::Privileged => return Vec::new(),
            Level::Baseline => &self.baseline,
            Level::Restricted => &self.restricted,
        };
        let minor = match policy.version {
            Version::Minor(minor) => u8::try_from(minor).unwrap_or(self.newest).min(self.newest),
            Version::Latest => self.newest,
        };
        let checks = by_version
            .get(usize::from(minor))
            .map_or(&[] as &[_], Vec::as_slice);
        checks.iter().filter_map(|check| check(pod)).collect()
    }
}

/// The checks of a level at a version.
fn at(level: Level, minor: u8) -> Vec<CheckFn> {
    let version = |check: &Check| {
        let versions = check.versions.iter().rev();
        versions
            .copied()
            .find(|(first, _)| *first <= minor)
            .map(|(_, run)| run)
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

const fn baseline(id: &'static str, versions: &'static [(u8, CheckFn)]) -> Check {
    Check {
        id,
        level: Level::Baseline,
        versions,
        overrides: None,
    }
}

const fn restricted(
    id: &'static str,
    versions: &'static [(u8, CheckFn)],
    overrides: Option<&'static str>,
) -> Check {
    Check {
        id,
        level: Level::Restricted,
        versions,
        overrides,
    }
}

/// All checks in the order of messages: those of the baseline level first, by their names.
const CHECKS: &[Check] = &[
    baseline("appArmorProfile", &[(0, profiles::app_armor)]),
    baseline("capabilities_baseline", &[(0, capabilities::baseline)]),
    baseline("hostNamespaces", &[(0, host::namespaces)]),
    baseline("hostPathVolumes", &[(0, volumes::host_path)]),
    baseline("hostPorts", &[(0, host::ports)]),
    baseline("hostProbesAndHostLifecycle", &[(34, host::probes_and_lifecycle)]),
    baseline("privileged", &[(0, privileges::privileged)]),
    baseline(
        "procMount",
        &[
            (0, privileges::proc_mount),
            (35, privileges::proc_mount_unless_user_namespace),
        ],
    ),
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
        ],
    ),
    baseline("windowsHostProcess", &[(0, host::windows_process)]),
    restricted(
        "allowPrivilegeEscalation",
        &[
            (8, privileges::escalation),
            (25, privileges::escalation_unless_windows),
        ],
        None,
    ),
    restricted(
        "capabilities_restricted",
        &[
            (22, capabilities::restricted),
            (25, capabilities::restricted_unless_windows),
        ],
        Some("capabilities_baseline"),
    ),
    restricted(
        "procMount_restricted",
        &[(35, privileges::proc_mount)],
        Some("procMount"),
    ),
    restricted(
        "restrictedVolumes",
        &[(0, volumes::restricted)],
        Some("hostPathVolumes"),
    ),
    restricted(
        "runAsNonRoot",
        &[
            (0, run_as::non_root),
            (35, run_as::non_root_unless_user_namespace),
        ],
        None,
    ),
    restricted(
        "runAsUser",
        &[(23, run_as::user), (35, run_as::user_unless_user_namespace)],
        None,
    ),
    restricted(
        "seccompProfile_restricted",
        &[
            (19, profiles::seccomp_required),
            (25, profiles::seccomp_required_unless_windows),
        ],
        Some("seccompProfile_baseline"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_in_the_order_of_messages() {
        assert!(CHECKS.is_sorted_by_key(|check| (check.level, check.id)));
        let versions = |check: &Check| check.versions.is_sorted_by_key(|(first, _)| *first);
        assert!(CHECKS.iter().all(versions));
        let newest = CHECKS
            .iter()
            .flat_map(|check| check.versions)
            .map(|(first, _)| *first);
        assert_eq!(newest.max(), Some(NEWEST));
    }

    #[test]
    fn restricted_checks_replace_weaker_ones() {
        assert_eq!(at(Level::Baseline, 0).len(), 11);
        assert_eq!(at(Level::Baseline, 34).len(), 12);
        // Without hostPathVolumes; restrictedVolumes and runAsNonRoot are added.
        assert_eq!(at(Level::Restricted, 0).len(), 12);
        assert_eq!(at(Level::Restricted, 35).len(), 12 - 4 + 7);
    }
}
