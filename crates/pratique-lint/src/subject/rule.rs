//! Rules, and the built-in resources that they match.

use k8s_openapi::api::admissionregistration::v1::{
    MatchResources, NamedRuleWithOperations, RuleWithOperations,
};
use pratique_manifest::PathStep;
use pratique_schema::Release;
use pratique_types::builtin::ServedResource;
use pratique_types::{GroupVersionResource, Operation};

use super::origin::item;

/// A rule of a policy, a binding or a webhook.
#[derive(Clone, Debug)]
pub(crate) struct RuleView<'m> {
    /// The release of the server whose resources it matches.
    pub(crate) release: &'static Release,
    pub(crate) path: Vec<PathStep>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) groups: &'m [String],
    pub(crate) versions: &'m [String],
    pub(crate) resources: &'m [String],
    pub(crate) names: &'m [String],
    pub(crate) scope: &'m str,
}

impl<'m> RuleView<'m> {
    /// The rules of a policy or a binding.
    pub(crate) fn included(
        release: &'static Release,
        of: Option<&'m MatchResources>,
        at: &[PathStep],
    ) -> Vec<Self> {
        let rules = of.and_then(|of| of.resource_rules.as_deref());
        Self::named(release, rules.unwrap_or_default(), at, "resourceRules")
    }

    /// The exclude rules of a policy or a binding.
    pub(crate) fn excluded(
        release: &'static Release,
        of: Option<&'m MatchResources>,
        at: &[PathStep],
    ) -> Vec<Self> {
        let rules = of.and_then(|of| of.exclude_resource_rules.as_deref());
        Self::named(release, rules.unwrap_or_default(), at, "excludeResourceRules")
    }

    fn named(
        release: &'static Release,
        rules: &'m [NamedRuleWithOperations],
        at: &[PathStep],
        list: &str,
    ) -> Vec<Self> {
        let mut list_path = at.to_vec();
        list_path.push(PathStep::Field(list.to_owned()));
        let view = |(index, rule): (usize, &'m NamedRuleWithOperations)| RuleView {
            release,
            path: item(&list_path, index, ""),
            operations: operations(&rule.operations),
            groups: slice(&rule.api_groups),
            versions: slice(&rule.api_versions),
            resources: slice(&rule.resources),
            names: slice(&rule.resource_names),
            scope: rule.scope.as_deref().unwrap_or("*"),
        };
        rules.iter().enumerate().map(view).collect()
    }

    /// The rules of a webhook.
    pub(crate) fn of_webhook(
        release: &'static Release,
        rules: &'m Option<Vec<RuleWithOperations>>,
        list: &[PathStep],
    ) -> Vec<Self> {
        let view = |(index, rule): (usize, &'m RuleWithOperations)| RuleView {
            release,
            path: item(list, index, ""),
            operations: operations(&rule.operations),
            groups: slice(&rule.api_groups),
            versions: slice(&rule.api_versions),
            resources: slice(&rule.resources),
            names: &[],
            scope: rule.scope.as_deref().unwrap_or("*"),
        };
        rules.iter().flatten().enumerate().map(view).collect()
    }

    /// The path of one of its resources.
    pub(crate) fn resource_path(&self, index: usize) -> Vec<PathStep> {
        let mut list = self.path.clone();
        list.push(PathStep::Field("resources".to_owned()));
        item(&list, index, "")
    }

    /// The built-in resources that the rule matches: those that are always served, and others that it names with their
    /// version.
    pub(crate) fn served(&self) -> impl Iterator<Item = &'static ServedResource> {
        let resources = self.release.resources();
        let named = resources.optional().iter().filter(|served| self.names(served));
        resources
            .served()
            .iter()
            .chain(named)
            .filter(|served| self.matches(served))
    }

    /// The resources that the rule names without wildcards, in each of its groups and versions.
    pub(crate) fn named_resources(&self) -> impl Iterator<Item = GroupVersionResource> {
        let is_named = |name: &&String| !name.contains(['*', '/']);
        let groups = self.groups.iter().filter(is_named);
        groups.flat_map(move |group| {
            let versions = self.versions.iter().filter(is_named);
            versions.flat_map(move |version| {
                let resources = self.resources.iter().filter(is_named);
                resources.map(move |resource| GroupVersionResource::new(group, version, resource))
            })
        })
    }

    /// Whether the rule names a resource and its version without wildcards.
    fn names(&self, served: &ServedResource) -> bool {
        let resource = |pattern: &String| pattern.split('/').next() == Some(&served.resource.resource);
        self.versions.contains(&served.resource.version) && self.resources.iter().any(resource)
    }

    /// Whether the rule matches a resource.
    pub(crate) fn matches(&self, served: &ServedResource) -> bool {
        self.in_scope(served) && self.matches_in_any_scope(served)
    }

    /// Whether the rule matches a resource, regardless of its scope.
    pub(crate) fn matches_in_any_scope(&self, served: &ServedResource) -> bool {
        contains(self.groups, &served.resource.group)
            && contains(self.versions, &served.resource.version)
            && self.resources.iter().any(|pattern| names(pattern, served))
    }

    /// Whether one of the patterns of the rule's resources names a resource of its groups, whatever the versions and the scope.
    pub(crate) fn names_in_any_version(&self, pattern: &str, served: &ServedResource) -> bool {
        contains(self.groups, &served.resource.group) && names(pattern, served)
    }

    fn in_scope(&self, served: &ServedResource) -> bool {
        match self.scope {
            "Namespaced" => served.namespaced,
            "Cluster" => !served.namespaced,
            _ => true,
        }
    }

    /// Whether the rule matches built-in resources only: no group is a wildcard or that of custom resources.
    pub(crate) fn is_builtin_only(&self) -> bool {
        self.groups.iter().all(|group| {
            let mut served = self.release.resources().served().iter();
            served.any(|served| served.resource.group == *group)
        })
    }
}

/// The operations that some of the rules match.
pub(crate) fn matched_operations<'r, 'm: 'r>(
    rules: impl IntoIterator<Item = &'r RuleView<'m>>,
) -> Vec<Operation> {
    let matched: Vec<Operation> = rules
        .into_iter()
        .flat_map(|rule| rule.operations.iter().copied())
        .collect();
    let mut all = Operation::ALL.to_vec();
    all.retain(|operation| matched.contains(operation));
    all
}

/// Whether a pattern (`pods`, `pods/*`, `*/status`) names a resource.
fn names(pattern: &str, served: &ServedResource) -> bool {
    let (resource, part) = pattern.split_once('/').unwrap_or((pattern, ""));
    (resource == "*" || resource == served.resource.resource) && (part == "*" || part == served.subresource)
}

fn contains(names: &[String], name: &str) -> bool {
    names.iter().any(|pattern| pattern == "*" || pattern == name)
}

fn slice(names: &Option<Vec<String>>) -> &[String] {
    names.as_deref().unwrap_or_default()
}

fn operations(names: &Option<Vec<String>>) -> Vec<Operation> {
    let named = |operation: &Operation| {
        slice(names)
            .iter()
            .any(|name| name == "*" || name == operation.as_str())
    };
    Operation::ALL.into_iter().filter(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(version: &str, resource: &str, expected: &[&str]) {
        let [groups, versions, resources] =
            ["resource.k8s.io", version, resource].map(|name| [name.to_owned()]);
        let rule = RuleView {
            release: Release::latest(),
            path: Vec::new(),
            operations: Vec::new(),
            groups: &groups,
            versions: &versions,
            resources: &resources,
            names: &[],
            scope: "*",
        };
        let served: Vec<String> = rule.served().map(|served| served.kind.to_string()).collect();
        assert_eq!(served, expected, "{version} {resource}");
    }

    #[test]
    fn what_few_servers_serve_has_to_be_named() {
        let first = "resource.k8s.io/v1beta1, Kind=ResourceClaim";
        let stable = "resource.k8s.io/v1, Kind=ResourceClaim";
        check("v1beta1", "resourceclaims", &[first]);
        check("v1beta1", "resourceclaims/*", &[first, first]);
        check("v1", "resourceclaims", &[stable]);
        check("*", "resourceclaims", &[stable]);
        check("v1beta1", "*", &[]);
    }
}
