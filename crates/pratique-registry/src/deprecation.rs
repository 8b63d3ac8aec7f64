//! Versions of kinds that are deprecated.

use pratique_types::GroupVersionKind;

/// `resource.k8s.io/v1beta1 ResourceClaim 1.35 1.38`, perhaps with the kind that replaces it.
const TABLE: &str = include_str!("../data/deprecations.txt");

/// What every request for a version of a kind is told that is deprecated in a release; of an unknown release it may be.
// Upstream: apiserver/pkg/endpoints/deprecation/deprecation.go, IsDeprecated, WarningMessage
pub(crate) fn warning(kind: &GroupVersionKind, release: Option<(u32, u32)>) -> Option<String> {
    let named = format!("{} {}", kind.api_version(), kind.kind);
    let line = TABLE.lines().find(|line| {
        let rest = line.strip_prefix(named.as_str());
        rest.is_some_and(|rest| rest.starts_with(' '))
    })?;
    let mut columns = line.split(' ').skip(2);
    let (deprecated, removed) = (columns.next()?, columns.next()?);
    if release.is_some_and(|release| version(deprecated).is_some_and(|deprecated| deprecated > release)) {
        return None;
    }
    let replacement: Vec<&str> = columns.collect();
    let replacement = match replacement.as_slice() {
        [] => String::new(),
        kind => format!("; use {}", kind.join(" ")),
    };
    let removed = match removed {
        "-" => String::new(),
        version => format!(", unavailable in v{version}+"),
    };
    Some(format!(
        "{named} is deprecated in v{deprecated}+{removed}{replacement}"
    ))
}

fn version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deprecated_versions_are_told() {
        let kind = GroupVersionKind::new("resource.k8s.io", "v1beta1", "ResourceClaim");
        assert_eq!(
            warning(&kind, None).as_deref(),
            Some("resource.k8s.io/v1beta1 ResourceClaim is deprecated in v1.35+, unavailable in v1.38+")
        );
        assert_eq!(warning(&kind, Some((1, 34))), None);
        assert!(warning(&kind, Some((1, 35))).is_some());
        assert_eq!(warning(&GroupVersionKind::new("", "v1", "Pod"), None), None);
    }
}
