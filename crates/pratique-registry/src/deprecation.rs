//! Versions of kinds that are deprecated.

use std::collections::HashMap;
use std::sync::OnceLock;

use pratique_schema::Release;
use pratique_types::GroupVersionKind;

/// The warning to every request for a version of a kind that is deprecated in a release, or in any where it
/// is unknown.
// Upstream: apiserver/pkg/endpoints/deprecation/deprecation.go, IsDeprecated, WarningMessage
pub(crate) fn warning(kind: &GroupVersionKind, release: Option<(u32, u32)>) -> Option<String> {
    let table: &Table<'_> = table();
    let mut columns = table.get(&(&kind.group, &kind.version, &kind.kind))?.split(' ');
    let named = format!("{} {}", kind.api_version(), kind.kind);
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

/// The columns of the table after the kind, by group, version and kind.
type Table<'t> = HashMap<(&'t str, &'t str, &'t str), &'static str>;

/// The table, read once: nearly no request is for a version in it.
fn table() -> &'static Table<'static> {
    static READ: OnceLock<Table<'static>> = OnceLock::new();
    READ.get_or_init(|| {
        // `resource.k8s.io/v1beta1 ResourceClaim 1.35 1.38`, perhaps with the kind that replaces it.
        let lines = Release::latest()
            .tables()
            .deprecations
            .lines()
            .filter_map(|line| {
                let (api_version, rest) = line.split_once(' ')?;
                let (kind, rest) = rest.split_once(' ')?;
                let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
                Some(((group, version, kind), rest))
            });
        lines.collect()
    })
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
