//! The kinds that the server's loaders know, including those that they refuse, and those that its API serves.

use std::fmt;

use pratique_gotext::strconv::quote;
use pratique_schema::Release;
use pratique_types::builtin::ServedResource;
use pratique_types::{ADMISSION_GROUP, GroupVersionKind};

use crate::kind::Kind;

/// A kind that a server knows.
pub(crate) enum RegisteredKind {
    /// A static manifest.
    Object(Kind),
    /// A typed list of static manifests.
    TypedList(Kind),
    /// A list of anything.
    List,
    /// Another kind, which decodes and is then refused.
    Other {
        /// The name of its type in the error.
        type_name: String,
        /// The type that it is decoded into; `None` if it is not decoded here.
        decoded_as: Option<String>,
    },
}

const UNVERSIONED: [&str; 5] = [
    "Status",
    "APIVersions",
    "APIGroupList",
    "APIGroup",
    "APIResourceList",
];
const OPTIONS: [&str; 6] = [
    "ListOptions",
    "GetOptions",
    "DeleteOptions",
    "CreateOptions",
    "UpdateOptions",
    "PatchOptions",
];
const ALPHA_KINDS: [Kind; 4] = [
    Kind::ValidatingAdmissionPolicy,
    Kind::ValidatingAdmissionPolicyBinding,
    Kind::MutatingAdmissionPolicy,
    Kind::MutatingAdmissionPolicyBinding,
];

/// A version of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApiVersion {
    V1,
    V1beta1,
    V1alpha1,
}

impl ApiVersion {
    /// The version of this name.
    fn from_name(name: &str) -> Option<Self> {
        let all = [ApiVersion::V1, ApiVersion::V1beta1, ApiVersion::V1alpha1];
        all.into_iter().find(|version| version.name() == name)
    }

    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            ApiVersion::V1 => "v1",
            ApiVersion::V1beta1 => "v1beta1",
            ApiVersion::V1alpha1 => "v1alpha1",
        }
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Finds the kind of a static manifest, if a release has it; its objects are those of v1.
pub(crate) fn find_static(
    gvk: &GroupVersionKind,
    release: &'static Release,
) -> Option<(RegisteredKind, ApiVersion)> {
    let is_known = kind_or_list(&gvk.kind).is_none_or(|(kind, _)| {
        let kind = kind.name().to_owned();
        gvk.version == "__internal" || has_type(&GroupVersionKind { kind, ..gvk.clone() }, release)
    });
    let registered = find(gvk).filter(|_| is_known)?;
    Some((registered, ApiVersion::V1))
}

/// The versions that an API serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServedVersions {
    /// Those that a server of the release has, also if it serves them only where `--runtime-config` says so.
    OfRelease,
    /// Older ones of policies and bindings as well, as the server of an earlier release.
    Older,
}

impl ServedVersions {
    // Upstream: pkg/controlplane/instance.go, DefaultAPIResourceConfigSource
    fn has(self, gvk: &GroupVersionKind, release: &'static Release) -> bool {
        let is_older = self == ServedVersions::Older && has_type(gvk, release);
        is_older || release.resources().resource_of(gvk).is_some()
    }
}

/// Whether a release has a version of a kind of the group at all.
fn has_type(gvk: &GroupVersionKind, release: &'static Release) -> bool {
    let type_name = format!("admissionregistration/{}.{}", gvk.version, gvk.kind);
    release.schema().named(&type_name).is_some()
}

/// Whether a server of a release serves a kind in a version only where `--runtime-config` says so.
pub(crate) fn is_optional(kind: Kind, version: ApiVersion, release: &Release) -> bool {
    let gvk = GroupVersionKind::new(ADMISSION_GROUP, version.name(), kind.name());
    let is = |served: &ServedResource| served.subresource.is_empty() && served.kind == gvk;
    release.resources().optional().iter().any(is)
}

/// The version of the group that every server of a release has for a kind.
pub(crate) fn usual_version(kind: Kind, release: &Release) -> Option<&'static str> {
    let gvk = GroupVersionKind::new(ADMISSION_GROUP, "v1", kind.name());
    let has_stable = release.resources().resource_of(&gvk).is_some();
    has_stable.then_some("admissionregistration.k8s.io/v1")
}

/// Finds the kind of an object of the API: policies and bindings are read in older versions, too.
pub(crate) fn find_served(
    gvk: &GroupVersionKind,
    release: &'static Release,
) -> Option<(RegisteredKind, ApiVersion)> {
    let older = || {
        let version = ApiVersion::from_name(&gvk.version).filter(|_| gvk.group == ADMISSION_GROUP)?;
        let (kind, is_list) = kind_or_list(&gvk.kind)?;
        let is_served = kind.is_policy() || kind.is_binding();
        let registered = if is_list {
            RegisteredKind::TypedList(kind)
        } else {
            RegisteredKind::Object(kind)
        };
        is_served.then_some((registered, version))
    };
    older().or_else(|| find_static(gvk, release))
}

/// What clients say of the answer of an API that does not serve a kind of the group in a version; `None` for versions that it
/// serves, and for other kinds.
// Upstream: apimachinery/pkg/api/errors/errors.go, NewGenericServerResponse
pub(crate) fn not_served(
    gvk: &GroupVersionKind,
    versions: ServedVersions,
    release: &'static Release,
) -> Option<String> {
    let (kind, _) = kind_or_list(&gvk.kind).filter(|_| gvk.group == ADMISSION_GROUP)?;
    let is_read = matches!(
        find_served(gvk, release),
        Some((RegisteredKind::Object(_) | RegisteredKind::TypedList(_), _))
    );
    let of_items = GroupVersionKind {
        kind: kind.name().to_owned(),
        ..gvk.clone()
    };
    if is_read && versions.has(&of_items, release) {
        return None;
    }
    Some(no_resource(&regular_plural(kind.name())))
}

/// The same for a kind that the group does not have in any version.
// Upstream: apiserver/pkg/endpoints/handlers/rest.go, transformDecodeError, where the resource of another kind gets it
pub(crate) fn unknown_kind(gvk: &GroupVersionKind) -> Option<String> {
    if gvk.group != ADMISSION_GROUP || find(gvk).is_some() || kind_or_list(&gvk.kind).is_some() {
        return None;
    }
    let resource = regular_plural(&gvk.kind);
    let mut kinds = Kind::ALL.into_iter();
    let endpoint = kinds.find(|kind| gvk.version == "v1" && regular_plural(kind.name()) == resource);
    Some(match endpoint {
        Some(endpoint) => format!(
            "{} in version {} cannot be handled as a {endpoint}: {}",
            gvk.kind,
            quote(&gvk.version),
            not_registered_in(gvk, "pkg/api/legacyscheme/scheme.go:30")
        ),
        None => no_resource(&resource),
    })
}

fn no_resource(resource: &str) -> String {
    format!("the server could not find the requested resource (post {resource}.{ADMISSION_GROUP})")
}

/// The resource that clients take a kind for.
// Upstream: apimachinery/pkg/api/meta/restmapper.go, UnsafeGuessKindToResource
fn regular_plural(kind: &str) -> String {
    let lower = kind.to_ascii_lowercase();
    match lower.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if lower.ends_with('s') => format!("{lower}es"),
        None => format!("{lower}s"),
    }
}

/// Finds a kind that a server's loaders know.
fn find(gvk: &GroupVersionKind) -> Option<RegisteredKind> {
    if gvk.kind == "List" {
        return Some(RegisteredKind::List);
    }
    if UNVERSIONED.contains(&gvk.kind.as_str()) {
        return Some(other(format!("*v1.{}", gvk.kind)));
    }
    if gvk.group != ADMISSION_GROUP {
        return None;
    }
    match gvk.version.as_str() {
        "v1" => of_version(gvk),
        "v1beta1" | "v1alpha1" => older(gvk),
        "__internal" => internal(gvk),
        _ => None,
    }
}

fn other(type_name: String) -> RegisteredKind {
    RegisteredKind::Other {
        type_name,
        decoded_as: None,
    }
}

/// The kind of a name, and whether the name is that of its list.
fn kind_or_list(name: &str) -> Option<(Kind, bool)> {
    let of_list = || {
        name.strip_suffix("List")
            .and_then(Kind::from_name)
            .map(|kind| (kind, true))
    };
    Kind::from_name(name).map(|kind| (kind, false)).or_else(of_list)
}

fn of_version(gvk: &GroupVersionKind) -> Option<RegisteredKind> {
    match kind_or_list(&gvk.kind) {
        Some((kind, false)) => Some(RegisteredKind::Object(kind)),
        Some((kind, true)) => Some(RegisteredKind::TypedList(kind)),
        None => meta_kind(gvk),
    }
}

fn meta_kind(gvk: &GroupVersionKind) -> Option<RegisteredKind> {
    if OPTIONS.contains(&gvk.kind.as_str()) {
        return Some(other(format!("*v1.{}", gvk.kind)));
    }
    (gvk.kind == "WatchEvent").then(|| RegisteredKind::Other {
        type_name: "*v1.WatchEvent".to_owned(),
        decoded_as: Some("meta/v1.WatchEvent".to_owned()),
    })
}

fn older(gvk: &GroupVersionKind) -> Option<RegisteredKind> {
    let Some((kind, _)) = kind_or_list(&gvk.kind) else {
        return meta_kind(gvk);
    };
    if gvk.version == "v1alpha1" && !ALPHA_KINDS.contains(&kind) {
        return None;
    }
    Some(RegisteredKind::Other {
        type_name: format!("*{}.{}", gvk.version, gvk.kind),
        decoded_as: Some(format!("admissionregistration/{}.{}", gvk.version, gvk.kind)),
    })
}

fn internal(gvk: &GroupVersionKind) -> Option<RegisteredKind> {
    kind_or_list(&gvk.kind)?;
    let type_name = format!("*admissionregistration.{}", gvk.kind);
    Some(RegisteredKind::Other {
        type_name,
        decoded_as: Some("meta/v1.TypeMeta".to_owned()),
    })
}

/// The server's message for an unknown kind.
// Upstream: apimachinery/pkg/runtime/error.go, notRegisteredErr.Error
pub(crate) fn not_registered(gvk: &GroupVersionKind, release: &Release) -> String {
    not_registered_in(gvk, release.registry_name())
}

fn not_registered_in(gvk: &GroupVersionKind, scheme: &str) -> String {
    let kind = quote(&gvk.kind);
    if gvk.version == "__internal" {
        let group = quote(&gvk.group);
        return format!(
            "no kind {kind} is registered for the internal version of group {group} in scheme \"{scheme}\""
        );
    }
    let version = quote(&gvk.api_version());
    format!("no kind {kind} is registered for version {version} in scheme \"{scheme}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(versions: ServedVersions, version: &str, kind: &str, expected: bool) {
        check_in(Release::latest(), versions, version, kind, expected);
    }

    #[track_caller]
    fn check_in(
        release: &'static Release,
        versions: ServedVersions,
        version: &str,
        kind: &str,
        expected: bool,
    ) {
        let found = GroupVersionKind::new(ADMISSION_GROUP, version, kind);
        assert_eq!(
            not_served(&found, versions, release).is_none(),
            expected,
            "{release}: {version} {kind}"
        );
    }

    #[test]
    fn what_is_served_depends_on_the_release() {
        for release in Release::list().iter().copied() {
            let check = |version, kind, expected| {
                check_in(release, ServedVersions::OfRelease, version, kind, expected);
            };
            let has_mutating = release.at_least(1, 36);
            for name in ["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBindingList"] {
                check("v1", name, has_mutating);
                check("v1beta1", name, true);
            }
            let kind = Kind::MutatingAdmissionPolicy;
            assert!(is_optional(kind, ApiVersion::V1beta1, release), "{release}");
            assert!(!is_optional(kind, ApiVersion::V1, release), "{release}");
            assert_eq!(usual_version(kind, release).is_some(), has_mutating, "{release}");
            let kind = Kind::ValidatingAdmissionPolicy;
            assert!(!is_optional(kind, ApiVersion::V1beta1, release), "{release}");
            check("v1", "ValidatingAdmissionPolicy", true);
            check("v1beta1", "ValidatingAdmissionPolicy", false);
            check_in(
                release,
                ServedVersions::Older,
                "v1beta1",
                "MutatingAdmissionPolicy",
                true,
            );
        }
    }

    #[test]
    fn static_manifests_are_of_kinds_of_the_release() {
        for release in Release::list().iter().copied() {
            for (version, kind, expected) in [
                ("v1", "MutatingAdmissionPolicy", release.at_least(1, 36)),
                (
                    "v1",
                    "MutatingAdmissionPolicyBindingList",
                    release.at_least(1, 36),
                ),
                ("v1beta1", "MutatingAdmissionPolicy", true),
                ("v1", "ValidatingAdmissionPolicy", true),
                ("__internal", "ValidatingAdmissionPolicy", true),
                ("v1", "Status", true),
                ("v2", "ValidatingAdmissionPolicy", false),
            ] {
                let gvk = GroupVersionKind::new(ADMISSION_GROUP, version, kind);
                let is_known = find_static(&gvk, release).is_some();
                assert_eq!(is_known, expected, "{release}: {version} {kind}");
                // A cluster has no objects of it either.
                let is_served = not_served(&gvk, ServedVersions::Older, release).is_none();
                let is_object = kind.starts_with("Mutating");
                assert!(!is_object || is_served == expected, "{release}: {version} {kind}");
            }
        }
    }

    #[test]
    fn kinds_that_the_group_does_not_have() {
        for (version, kind, expected) in [
            (
                "v1",
                "ValidatingAdmisionPolicy",
                Some(
                    "the server could not find the requested resource (post validatingadmisionpolicies.admissionregistration.k8s.io)",
                ),
            ),
            (
                "v1",
                "ValidatingAdmissionPolicies",
                Some(
                    "the server could not find the requested resource (post \
                     validatingadmissionpolicieses.admissionregistration.k8s.io)",
                ),
            ),
            (
                "v1",
                "validatingadmissionpolicy",
                Some(
                    "validatingadmissionpolicy in version \"v1\" cannot be handled as a ValidatingAdmissionPolicy: no kind \
                     \"validatingadmissionpolicy\" is registered for version \"admissionregistration.k8s.io/v1\" in scheme \
                     \"pkg/api/legacyscheme/scheme.go:30\"",
                ),
            ),
            ("v1", "ValidatingAdmissionPolicy", None),
            ("v2", "ValidatingAdmissionPolicyList", None),
            ("v1", "List", None),
        ] {
            let gvk = GroupVersionKind::new(ADMISSION_GROUP, version, kind);
            assert_eq!(unknown_kind(&gvk).as_deref(), expected, "{version} {kind}");
        }
        let pod = GroupVersionKind::new("", "v1", "Pods");
        assert_eq!(unknown_kind(&pod), None);
    }

    #[test]
    fn older_versions_are_those_that_the_release_has() {
        for kind in ALPHA_KINDS {
            let is_mutating = kind.name().starts_with("Mutating");
            for name in [kind.name().to_owned(), format!("{kind}List")] {
                check(ServedVersions::OfRelease, "v1", &name, true);
                for version in ["v1beta1", "v1alpha1"] {
                    check(ServedVersions::OfRelease, version, &name, is_mutating);
                    check(ServedVersions::Older, version, &name, true);
                }
                check(ServedVersions::Older, "v2", &name, false);
            }
        }
        check(
            ServedVersions::OfRelease,
            "v1",
            "MutatingWebhookConfiguration",
            true,
        );
        check(
            ServedVersions::Older,
            "v1beta1",
            "MutatingWebhookConfiguration",
            false,
        );
    }
}
