//! Versions of kinds that are deprecated in the new release, or that it does not have any more.

use std::collections::BTreeSet;

use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::builtin::{Removal, removal};
use pratique_types::{GroupVersion, GroupVersionKind, GroupVersionResource};

use super::finding::{UpgradeFinding, UpgradeRule};

/// Where kubectl keeps the object as it was applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A finding for the version of an object itself, if it is deprecated, and for each version in which clients wrote it.
pub(super) fn findings(
    kind: &GroupVersionKind,
    object: &Value<'_>,
    release: &'static Release,
) -> Vec<UpgradeFinding> {
    let mut findings: Vec<UpgradeFinding> = deprecation(kind, release).into_iter().collect();
    for (client, version) in written(kind, object) {
        let of_client = |finding: UpgradeFinding| UpgradeFinding {
            message: format!("{client} wrote it in another version: {}", finding.message),
            ..finding
        };
        let finding = match removal_in(&version, release) {
            Some(removal) => Some(removed_version(&version, removal)),
            None => deprecation(&version, release),
        };
        findings.extend(finding.map(of_client));
    }
    findings
}

/// The finding for a version of a kind that is deprecated in a release.
pub(super) fn deprecation(kind: &GroupVersionKind, release: &'static Release) -> Option<UpgradeFinding> {
    let deprecation = release.deprecations().find(kind)?;
    // What the release does not serve is told by the server's answer.
    let is_gone = deprecation
        .removed
        .and_then(Release::parse_version)
        .is_some_and(|removed| removed <= release.version());
    if !deprecation.is_in(release.version()) || is_gone {
        return None;
    }
    let until = match deprecation.removed {
        Some(removed) => format!("{removed} does not serve it any more"),
        None => "no release is named that does not serve it".to_owned(),
    };
    let instead = match deprecation.replacement {
        "" => String::new(),
        kind => format!(": use {kind}"),
    };
    let about = named(kind);
    let message = format!(
        "{about} is deprecated since Kubernetes {}, and {until}{instead}",
        deprecation.deprecated
    );
    Some(UpgradeRule::DeprecatedVersion.about(about, message))
}

fn removed_version(kind: &GroupVersionKind, removal: &Removal) -> UpgradeFinding {
    let about = named(kind);
    let instead = match &removal.replacement {
        None => String::new(),
        Some(kind) => format!(": use {}", named(kind)),
    };
    let message = format!(
        "{about} is not served since Kubernetes {}{instead}",
        removal.release
    );
    UpgradeRule::RemovedVersion.about(about, message)
}

/// Whether a release does not serve a version of a kind any more, whatever is switched on.
pub(super) fn is_gone(kind: &GroupVersionKind, release: &Release) -> bool {
    removal_in(kind, release).is_some()
}

/// The kind of the objects of a resource, of which only the name is known, among those that a release has.
pub(super) fn kind_of_resource(
    resource: &GroupVersionResource,
    release: &'static Release,
) -> Option<GroupVersionKind> {
    let is_plural = |kind: &str| {
        let singular = kind.to_lowercase();
        let of_y = singular.strip_suffix('y').map(|stem| format!("{stem}ies"));
        let plurals = [format!("{singular}s"), format!("{singular}es"), singular.clone()];
        plurals.contains(&resource.resource) || of_y.is_some_and(|plural| plural == resource.resource)
    };
    let mut kinds = release.schema().kinds();
    kinds
        .find(|kind| {
            (&kind.group, &kind.version) == (&resource.group, &resource.version) && is_plural(&kind.kind)
        })
        .cloned()
}

/// The removal of a version of a kind from a release, which may give it more time than the lifecycle of an earlier one says.
fn removal_in(kind: &GroupVersionKind, release: &Release) -> Option<&'static Removal> {
    removal(kind).filter(|removal| {
        let version = Release::parse_version(removal.release);
        let is_past = version.is_some_and(|version| version <= release.version());
        is_past && release.resources().resource_of(kind).is_none()
    })
}

/// `apps/v1 Deployment`
pub(super) fn named(kind: &GroupVersionKind) -> String {
    format!("{} {}", kind.api_version(), kind.kind)
}

/// The other versions in which clients wrote an object, with the clients.
fn written(kind: &GroupVersionKind, object: &Value<'_>) -> BTreeSet<(String, GroupVersionKind)> {
    let managers = object
        .at(&["metadata", "managedFields"])
        .and_then(Value::as_array);
    let managers = managers.unwrap_or_default().iter().filter_map(|entry| {
        let manager = entry.get("manager").and_then(Value::as_str)?;
        let version = entry.get("apiVersion").and_then(Value::as_str)?;
        // Statuses are written by controllers, which come with the release.
        let is_status = entry.get("subresource").and_then(Value::as_str) == Some("status");
        (!is_status).then(|| (manager.to_owned(), version.to_owned()))
    });
    let applied = object
        .at(&["metadata", "annotations", LAST_APPLIED])
        .and_then(Value::as_str)
        .and_then(|text| {
            let applied = pratique_json::parse(text.as_bytes()).ok()?;
            let version = applied.get("apiVersion").and_then(Value::as_str)?;
            Some(("kubectl apply".to_owned(), version.to_owned()))
        });
    let all = managers.chain(applied).filter_map(|(client, version)| {
        let version = GroupVersion::parse(&version).ok()?.with_kind(&kind.kind);
        (version != *kind).then_some((client, version))
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(version: &str, kind: &str, object: &str) -> Vec<String> {
        let kind = GroupVersion::parse(version).unwrap().with_kind(kind);
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let release = Release::by_version("1.37").unwrap();
        let findings = findings(&kind, &object, release).into_iter();
        findings
            .map(|finding| format!("{}: {}", finding.rule.name(), finding.message))
            .collect()
    }

    #[test]
    fn deprecated_versions_are_told_with_their_end() {
        assert_eq!(
            texts("resource.k8s.io/v1beta1", "ResourceClaim", "{}"),
            [
                "deprecated-version: resource.k8s.io/v1beta1 ResourceClaim is deprecated since Kubernetes 1.35, and 1.38 does not \
                 serve it any more"
            ]
        );
        assert_eq!(texts("v1", "Pod", "{}"), [""; 0]);
    }

    #[test]
    fn a_release_may_give_a_version_more_time() {
        let is_gone = |group: &str, version: &str, kind: &str, release: &str| {
            let kind = GroupVersionKind::new(group, version, kind);
            is_gone(&kind, Release::by_version(release).unwrap())
        };
        let (group, policy) = ("admissionregistration.k8s.io", "MutatingAdmissionPolicy");
        assert!(!is_gone(group, "v1alpha1", policy, "1.38"));
        assert!(is_gone(
            "storage.k8s.io",
            "v1beta1",
            "VolumeAttributesClass",
            "1.38"
        ));
    }

    #[test]
    fn clients_that_write_other_versions_are_told() {
        let object = r#"{"metadata":{"managedFields":[{"manager":"helm","apiVersion":"resource.k8s.io/v1beta1"},
            {"manager":"helm","apiVersion":"resource.k8s.io/v1beta1"},{"manager":"kubelet","apiVersion":"resource.k8s.io/v1"}],
            "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"resource.k8s.io/v1alpha3\"}"}}}"#;
        assert_eq!(
            texts("resource.k8s.io/v1", "ResourceClaim", object),
            [
                "deprecated-version: helm wrote it in another version: resource.k8s.io/v1beta1 ResourceClaim is deprecated since \
                 Kubernetes 1.35, and 1.38 does not serve it any more",
                "removed-version: kubectl apply wrote it in another version: resource.k8s.io/v1alpha3 ResourceClaim is not served \
                 since Kubernetes 1.37: use resource.k8s.io/v1beta1 ResourceClaim",
            ]
        );
    }
}
