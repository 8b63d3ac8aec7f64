//! Versions of kinds that are deprecated.

use pratique_schema::Release;
use pratique_types::GroupVersionKind;

/// The warning to every request for a version of a kind that a release knows to be deprecated: in a version of the server, or
/// in any where that is unknown.
// Upstream: apiserver/pkg/endpoints/deprecation/deprecation.go, IsDeprecated, WarningMessage
pub(crate) fn warning(
    kind: &GroupVersionKind,
    release: &'static Release,
    version: Option<(u32, u32)>,
) -> Option<String> {
    let deprecation = release.deprecations().find(kind)?;
    if version.is_some_and(|version| !deprecation.is_in(version)) {
        return None;
    }
    let replacement = match deprecation.replacement {
        "" => String::new(),
        kind => format!("; use {kind}"),
    };
    let removed = match deprecation.removed {
        None => String::new(),
        Some(version) => format!(", unavailable in v{version}+"),
    };
    Some(format!(
        "{} {} is deprecated in v{}+{removed}{replacement}",
        kind.api_version(),
        kind.kind,
        deprecation.deprecated
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deprecated_versions_are_told() {
        let check = |kind: &GroupVersionKind, version| warning(kind, Release::latest(), version);
        let kind = GroupVersionKind::new("resource.k8s.io", "v1beta1", "ResourceClaim");
        assert_eq!(
            check(&kind, None).as_deref(),
            Some("resource.k8s.io/v1beta1 ResourceClaim is deprecated in v1.35+, unavailable in v1.38+")
        );
        assert_eq!(check(&kind, Some((1, 34))), None);
        assert!(check(&kind, Some((1, 35))).is_some());
        assert_eq!(check(&GroupVersionKind::new("", "v1", "Pod"), None), None);
    }
}
