//! Rules of roles, and what they match.

use pratique_cel::library::authz::{Check, Target};
use pratique_json::Value;

/// A rule of a role. An empty list matches nothing, but for `resource_names`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct PolicyRule {
    verbs: Vec<String>,
    api_groups: Vec<String>,
    resources: Vec<String>,
    resource_names: Vec<String>,
    non_resource_urls: Vec<String>,
}

/// A wildcard for verbs, groups, resources and URLs.
const ALL: &str = "*";

/// The rules of a role.
pub(crate) fn rules(role: &Value<'_>) -> Vec<PolicyRule> {
    let rules = role.get("rules").and_then(Value::as_array).unwrap_or_default();
    rules.iter().map(PolicyRule::read).collect()
}

/// The texts of a list.
fn texts(object: &Value<'_>, field: &str) -> Vec<String> {
    let list = object.get(field).and_then(Value::as_array).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

impl PolicyRule {
    fn read(rule: &Value<'_>) -> Self {
        PolicyRule {
            verbs: texts(rule, "verbs"),
            api_groups: texts(rule, "apiGroups"),
            resources: texts(rule, "resources"),
            resource_names: texts(rule, "resourceNames"),
            non_resource_urls: texts(rule, "nonResourceURLs"),
        }
    }

    /// Whether the rule allows the access of a check.
    // Upstream: kubernetes/plugin/pkg/auth/authorizer/rbac/rbac.go, RuleAllows
    pub(crate) fn allows(&self, check: &Check<'_>) -> bool {
        if !has(&self.verbs, check.verb) {
            return false;
        }
        match check.target {
            Target::Path(path) => self.non_resource_urls.iter().any(|url| is_url(url, path)),
            Target::Resource(resource) => {
                let names = &self.resource_names;
                has(&self.api_groups, &resource.group)
                    && self.has_resource(&resource.resource, &resource.subresource)
                    && (names.is_empty() || names.contains(&resource.name))
            }
        }
    }

    fn has_resource(&self, resource: &str, subresource: &str) -> bool {
        self.resources.iter().any(|rule| match rule.strip_prefix("*/") {
            _ if rule == ALL => true,
            Some(part) if !subresource.is_empty() && part == subresource => true,
            _ if subresource.is_empty() => rule == resource,
            _ => {
                rule.strip_prefix(resource)
                    .and_then(|rest| rest.strip_prefix('/'))
                    == Some(subresource)
            }
        })
    }
}

/// Whether a list contains a name or the wildcard.
fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known == ALL || known == name)
}

/// Whether a URL of a rule, which may end with wildcards, matches a path.
// Upstream: kubernetes/pkg/apis/rbac/v1/evaluation_helpers.go, NonResourceURLMatches
fn is_url(url: &str, path: &str) -> bool {
    url == ALL || url == path || (url.ends_with('*') && path.starts_with(url.trim_end_matches('*')))
}
