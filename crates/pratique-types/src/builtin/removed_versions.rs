//! Versions of kinds that Kubernetes served once.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::{GroupVersion, GroupVersionKind};

/// Since when a version of a kind is no longer served, and what took its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// The first release that did not serve it: `1.22`
    pub release: &'static str,
    /// The version and kind in its place, if Kubernetes names one.
    pub replacement: Option<GroupVersionKind>,
}

/// The removal of a version of a kind, in a release of the past or, for what is still served, of the future.
pub fn removal(kind: &GroupVersionKind) -> Option<&'static Removal> {
    removals().get(kind)
}

/// Whether a version of a group was served once.
pub(super) fn had_group(group: &str) -> bool {
    removals().keys().any(|kind| kind.group == group)
}

const TABLE: &str = include_str!("../../data/removed.txt");

fn removals() -> &'static HashMap<GroupVersionKind, Removal> {
    static REMOVALS: OnceLock<HashMap<GroupVersionKind, Removal>> = OnceLock::new();
    REMOVALS.get_or_init(|| TABLE.lines().filter_map(parse_line).collect())
}

/// `extensions/v1beta1 Ingress 1.22 networking.k8s.io/v1 Ingress`; `None` for a comment.
fn parse_line(line: &'static str) -> Option<(GroupVersionKind, Removal)> {
    let mut columns = line.split(' ').filter(|_| !line.starts_with('#'));
    let mut kind = || {
        Some(
            GroupVersion::parse(columns.next()?)
                .ok()?
                .with_kind(columns.next()?),
        )
    };
    let removed = kind()?;
    let release = line.split(' ').nth(2)?;
    let mut columns = line.split(' ').skip(3);
    let replacement = columns.next().and_then(|version| {
        let version = GroupVersion::parse(version).ok()?;
        Some(version.with_kind(columns.next()?))
    });
    Some((removed, Removal { release, replacement }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        assert_eq!(removals().len() + 1, TABLE.lines().count());
    }

    #[test]
    fn removals_have_replacements() {
        let check = |group, version, kind, expected: Option<(&str, Option<&str>)>| {
            let removal = removal(&GroupVersionKind::new(group, version, kind));
            let found = removal.map(|removal| {
                let replacement = removal.replacement.as_ref();
                let replacement = replacement.map(|kind| format!("{} {}", kind.api_version(), kind.kind));
                (removal.release, replacement)
            });
            let expected = expected.map(|(release, replacement)| (release, replacement.map(str::to_owned)));
            assert_eq!(found, expected, "{group}/{version} {kind}");
        };
        check(
            "extensions",
            "v1beta1",
            "Ingress",
            Some(("1.22", Some("networking.k8s.io/v1 Ingress"))),
        );
        check(
            "autoscaling",
            "v2beta2",
            "HorizontalPodAutoscaler",
            Some(("1.26", Some("autoscaling/v2 HorizontalPodAutoscaler"))),
        );
        check("policy", "v1beta1", "PodSecurityPolicy", Some(("1.25", None)));
        // Their groups are gone as well.
        check("settings.k8s.io", "v1alpha1", "PodPreset", Some(("1.20", None)));
        check(
            "auditregistration.k8s.io",
            "v1alpha1",
            "AuditSink",
            Some(("1.19", None)),
        );
        check("apps", "v1", "Deployment", None);
    }
}
