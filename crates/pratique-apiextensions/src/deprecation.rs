//! Versions of definitions that are deprecated.

use std::cmp::Ordering;

use pratique_json::Value;

use crate::version::Version;

/// Sets the warnings to requests for deprecated versions.
// Upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go, defaultDeprecationWarning
pub(crate) fn set_warnings(definitions: &[Value<'_>], versions: &mut [Version]) {
    let flag = |of: &Value<'_>, name| of.get(name) == Some(&Value::Bool(true));
    let name = |of: &Value<'_>| {
        of.get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let current = definitions
        .iter()
        .filter(|of| flag(of, "served") && !flag(of, "deprecated"));
    let current: Vec<String> = current.map(name).collect();
    let deprecated = definitions.iter().zip(versions);
    for (definition, version) in deprecated.filter(|(definition, _)| flag(definition, "deprecated")) {
        let custom = definition.get("deprecationWarning").and_then(Value::as_str);
        let warning = custom.map_or_else(|| default_warning(version, &current), str::to_owned);
        version.deprecate(warning);
    }
}

fn default_warning(version: &Version, current: &[String]) -> String {
    let newer = current
        .iter()
        .filter(|other| compare(version.name(), other).is_lt());
    let instead = match newer.max_by(|one, other| compare(one, other)) {
        Some(newest) => format!("; use {}/{newest} {}", version.group(), version.kind()),
        None => String::new(),
    };
    format!(
        "{} {} is deprecated{instead}",
        version.api_version(),
        version.kind()
    )
}

/// Compares versions by how stable they are, then by their numbers.
// Upstream: apimachinery/pkg/version/helpers.go, CompareKubeAwareVersionStrings
fn compare(one: &str, other: &str) -> Ordering {
    match (parsed(one), parsed(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        (None, None) => other.cmp(one),
        (one, other) => one.is_some().cmp(&other.is_some()),
    }
}

/// How stable a version is, and its numbers: `v1beta2` is (1, 1, 2).
fn parsed(version: &str) -> Option<(u8, u64, u64)> {
    let number = |text: &str| {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            text.parse().ok()
        } else {
            None
        }
    };
    let rest = version.strip_prefix('v')?;
    for (stage, name) in [(0, "alpha"), (1, "beta")] {
        if let Some((major, minor)) = rest.split_once(name) {
            return Some((stage, number(major)?, number(minor)?));
        }
    }
    Some((2, number(rest)?, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_come_last() {
        let mut versions = [
            "v1",
            "v10",
            "v2beta1",
            "v2",
            "v11alpha2",
            "v3beta1",
            "foo1",
            "v1beta",
        ];
        versions.sort_by(|one, other| compare(one, other));
        let expected = [
            "v1beta",
            "foo1",
            "v11alpha2",
            "v2beta1",
            "v3beta1",
            "v1",
            "v2",
            "v10",
        ];
        assert_eq!(versions, expected);
    }
}
