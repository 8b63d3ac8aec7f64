//! Rules: operations, groups, versions, resources and a scope.

use k8s_openapi::api::admissionregistration::v1::{NamedRuleWithOperations, RuleWithOperations};
use pratique_json::same_name;
use pratique_types::{GroupVersionResource, Operation};

use crate::equivalents::{Equivalent, Equivalents};
use crate::request::Target;
use crate::resources::MatchError;

/// One compiled rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    pub(crate) operations: Vec<Operation>,
    pub(crate) groups: NameSet,
    pub(crate) versions: NameSet,
    pub(crate) resources: Vec<ResourcePattern>,
    scope: RuleScope,
    names: Vec<String>,
}

/// Rules of which one has to match, with or without equivalents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rules {
    /// The rules in their order.
    pub(crate) rules: Vec<Rule>,
    /// Whether equivalent resources are tried.
    pub(crate) equivalent: bool,
}

/// A set of names; `None` for any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NameSet(pub(crate) Option<Vec<String>>);

/// `pods`, `pods/*`, `*/status`; `None` stands for `*`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ResourcePattern {
    pub(crate) resource: Option<String>,
    subresource: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum RuleScope {
    All,
    Namespaced,
    Cluster,
    /// A scope that no API server accepts; it matches nothing.
    Unknown,
}

impl Rule {
    /// Whether a request matches, seen as one for `resource`.
    pub fn matches(&self, target: &Target<'_>, resource: &GroupVersionResource) -> bool {
        self.in_scope(target, resource)
            && self.operations.contains(&target.operation)
            && self.groups.contain(&resource.group)
            && self.versions.contain(&resource.version)
            && self
                .resources
                .iter()
                .any(|pattern| pattern.matches(&resource.resource, target.subresource))
    }

    /// Whether a request whose resource is not known matches; with `equivalent`, another version of the resource may.
    fn matches_assumed(
        &self,
        target: &Target<'_>,
        equivalents: &Equivalents,
        equivalent: bool,
    ) -> AssumedMatch {
        let resource = target.resource;
        if !self.operations.contains(&target.operation)
            || !self.groups.contain(&resource.group)
            || self.scope == RuleScope::Unknown
        {
            return AssumedMatch::Excluded;
        }
        // A rule for all groups that names a known resource is about that one.
        let group = self.groups.0.as_ref().map(|_| resource.group.as_str());
        let of_pattern = |pattern: &ResourcePattern| match &pattern.resource {
            _ if !pattern.matches_subresource(target.subresource) => AssumedMatch::Excluded,
            None => AssumedMatch::Sure,
            // In a version that is not known, the kind may have the resource that it has in others.
            Some(name) if equivalents.know_as_another(group, name, &target.kind.kind) => {
                AssumedMatch::Excluded
            }
            Some(_) => AssumedMatch::Possible,
        };
        let best = self.resources.iter().map(of_pattern).max();
        match best.unwrap_or(AssumedMatch::Excluded) {
            AssumedMatch::Excluded => AssumedMatch::Excluded,
            _ if !self.versions.contain(&resource.version) => {
                if equivalent {
                    AssumedMatch::Possible
                } else {
                    AssumedMatch::Excluded
                }
            }
            AssumedMatch::Sure if self.scope != RuleScope::All => AssumedMatch::Possible,
            best => best,
        }
    }

    fn names_match(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|known| known == name)
    }

    /// Namespaces themselves are cluster-scoped, though requests for them carry a namespace.
    // Upstream: apiserver/pkg/admission/plugin/webhook/predicates/rules/rules.go, Matcher.scope
    pub(crate) fn in_scope(&self, target: &Target<'_>, resource: &GroupVersionResource) -> bool {
        let of_cluster = target.namespace.is_empty()
            || (resource.resource == "namespaces" && resource.group.is_empty() && resource.version == "v1");
        match self.scope {
            RuleScope::All => true,
            RuleScope::Namespaced => !of_cluster,
            RuleScope::Cluster => of_cluster,
            RuleScope::Unknown => false,
        }
    }
}

impl Rules {
    /// Compiles the rules of a policy or a binding.
    pub fn named(rules: &[NamedRuleWithOperations], match_policy: Option<&str>) -> Self {
        let rules = rules.iter().map(|rule| Rule {
            names: rule.resource_names.clone().unwrap_or_default(),
            ..compile(&RuleWithOperations {
                operations: rule.operations.clone(),
                api_groups: rule.api_groups.clone(),
                api_versions: rule.api_versions.clone(),
                resources: rule.resources.clone(),
                scope: rule.scope.clone(),
            })
        });
        Rules::new(rules.collect(), match_policy)
    }

    /// Compiles the rules of a webhook.
    pub fn of_webhook(rules: &[RuleWithOperations], match_policy: Option<&str>) -> Self {
        Rules::new(rules.iter().map(compile).collect(), match_policy)
    }

    fn new(rules: Vec<Rule>, match_policy: Option<&str>) -> Self {
        Rules {
            rules,
            equivalent: match_policy.is_some_and(|policy| policy != "Exact"),
        }
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The resource that the request matches as: its own if a rule matches that, else the first equivalent of the first rule
    /// that has one.
    pub fn find<'r>(
        &self,
        target: &Target<'r>,
        equivalents: &'r Equivalents,
    ) -> Result<Option<MatchedRule<'r>>, MatchError> {
        if self.rules.is_empty() {
            return Ok(None);
        }
        if target.assumes_resource {
            return self.find_assumed(target, equivalents);
        }
        let mut direct = self
            .rules
            .iter()
            .filter(|rule| rule.matches(target, target.resource));
        if direct.any(|rule| rule.names_match(target.name)) {
            return Ok(Some(MatchedRule::Itself));
        }
        if !self.equivalent {
            return Ok(None);
        }
        let others = equivalents.list(target.resource, target.subresource);
        for rule in &self.rules {
            for other in others.iter().filter(|other| other.resource != *target.resource) {
                if !rule.matches(target, &other.resource) {
                    continue;
                }
                if other.kind.is_empty() {
                    return Err(MatchError::UnknownKind(other.resource.clone()));
                }
                if rule.names_match(target.name) {
                    return Ok(Some(MatchedRule::Other(other)));
                }
            }
        }
        Ok(None)
    }

    /// The same for a request whose resource is not known: a rule for all resources matches it whatever it is.
    fn find_assumed<'r>(
        &self,
        target: &Target<'r>,
        equivalents: &'r Equivalents,
    ) -> Result<Option<MatchedRule<'r>>, MatchError> {
        let mut is_possible = false;
        for rule in self.rules.iter().filter(|rule| rule.names_match(target.name)) {
            match rule.matches_assumed(target, equivalents, self.equivalent) {
                AssumedMatch::Sure => return Ok(Some(MatchedRule::Itself)),
                AssumedMatch::Possible => is_possible = true,
                AssumedMatch::Excluded => {}
            }
        }
        if is_possible {
            return Err(MatchError::UnknownResource(target.kind.clone()));
        }
        Ok(None)
    }
}

/// Whether a rule matches a request of which only the group and the version of the resource are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AssumedMatch {
    /// It does not, whatever the resource is.
    Excluded,
    /// It does for some resources.
    Possible,
    /// It does for all resources.
    Sure,
}

/// The resource that a rule matched.
#[derive(Clone, Copy, Debug)]
pub enum MatchedRule<'r> {
    /// The resource of the request.
    Itself,
    /// An equivalent resource.
    Other(&'r Equivalent),
}

impl NameSet {
    fn new(names: Option<&[String]>) -> Self {
        let names = names.unwrap_or_default();
        NameSet((!names.iter().any(|name| name == "*")).then(|| names.to_vec()))
    }

    pub(crate) fn contain(&self, name: &str) -> bool {
        match &self.0 {
            Some(names) => names.iter().any(|known| same_name(known, name)),
            None => true,
        }
    }
}

impl ResourcePattern {
    /// Without a slash, a pattern stands for the resource only; `*` after it stands for the resource and all subresources.
    fn new(text: &str) -> Self {
        let (resource, subresource) = text.split_once('/').unwrap_or((text, ""));
        let name = |text: &str| (text != "*").then(|| text.to_owned());
        ResourcePattern {
            resource: name(resource),
            subresource: name(subresource),
        }
    }

    pub(crate) fn matches(&self, resource: &str, subresource: &str) -> bool {
        let is_resource = self
            .resource
            .as_deref()
            .is_none_or(|known| same_name(known, resource));
        is_resource && self.matches_subresource(subresource)
    }

    fn matches_subresource(&self, subresource: &str) -> bool {
        let named = self.subresource.as_deref();
        named.is_none_or(|known| same_name(known, subresource))
    }
}

fn compile(rule: &RuleWithOperations) -> Rule {
    let operations = rule.operations.as_deref().unwrap_or_default();
    let listed = |operation: &Operation| {
        let mut names = operations.iter();
        names.any(|name| name == "*" || name == operation.as_str())
    };
    let resources = rule.resources.iter().flatten();
    Rule {
        operations: Operation::ALL.into_iter().filter(listed).collect(),
        groups: NameSet::new(rule.api_groups.as_deref()),
        versions: NameSet::new(rule.api_versions.as_deref()),
        resources: resources.map(|text| ResourcePattern::new(text)).collect(),
        scope: match rule.scope.as_deref() {
            None | Some("*") => RuleScope::All,
            Some("Namespaced") => RuleScope::Namespaced,
            Some("Cluster") => RuleScope::Cluster,
            Some(_) => RuleScope::Unknown,
        },
        names: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use pratique_types::builtin::BuiltinResources;

    use super::*;
    use pratique_types::{AdmissionRequest, GroupVersionKind};

    fn request(json: &str) -> AdmissionRequest<'_> {
        serde_json::from_str(json).unwrap()
    }

    #[track_caller]
    fn check(rule: &str, request_json: &str, expected: &str) {
        let rule: NamedRuleWithOperations = serde_json::from_str(rule).unwrap();
        let request = request(request_json);
        let equivalents = Equivalents::of_release(BuiltinResources::latest());
        let found = Rules::named(&[rule], Some("Equivalent"))
            .find(&Target::new(&request), &equivalents)
            .unwrap();
        let found = match found {
            None => "none".to_owned(),
            Some(MatchedRule::Itself) => "itself".to_owned(),
            Some(MatchedRule::Other(other)) => other.resource.to_string(),
        };
        assert_eq!(found, expected);
    }

    fn rule(resources: &str, more: &str) -> String {
        format!(
            r#"{{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":[{resources}]{more}}}"#
        )
    }

    const POD: &str = r#"{"resource":{"group":"","version":"v1","resource":"pods"},"namespace":"n","name":"p","operation":"CREATE"}"#;
    const STATUS: &str = r#"{"resource":{"group":"","version":"v1","resource":"pods"},"subResource":"status","namespace":"n","operation":"UPDATE"}"#;
    const NAMESPACE: &str = r#"{"resource":{"group":"","version":"v1","resource":"namespaces"},"namespace":"n","operation":"UPDATE"}"#;

    #[test]
    fn what_other_kinds_have_is_excluded() {
        let check = |group: &str, kind: &str, resource: &str, expected: &str| {
            let mut equivalents = Equivalents::of_release(BuiltinResources::latest());
            equivalents.register(
                GroupVersionResource::new("example.com", "v1", "widgets"),
                "",
                GroupVersionKind::new("example.com", "v1", "Widget"),
            );
            let rule = format!(
                r#"{{"operations":["*"],"apiGroups":["{group}"],"apiVersions":["*"],"resources":["{resource}"]}}"#
            );
            let rule: NamedRuleWithOperations = serde_json::from_str(&rule).unwrap();
            let request = format!(
                r#"{{"kind":{{"group":"example.com","version":"v2","kind":"{kind}"}},"operation":"CREATE",
                    "resource":{{"group":"example.com","version":"v2","resource":"assumed"}}}}"#
            );
            let mut request = self::request(&request);
            request.assumes_resource = true;
            let found =
                match Rules::named(&[rule], Some("Equivalent")).find(&Target::new(&request), &equivalents) {
                    Ok(None) => "none",
                    Ok(Some(_)) => "found",
                    Err(_) => "undecided",
                };
            assert_eq!(found, expected, "{group} {kind} {resource}");
        };
        // The kind is that of the resource, in another version.
        check("example.com", "Widget", "widgets", "undecided");
        check("*", "Widget", "widgets", "undecided");
        check("example.com", "Gadget", "widgets", "none");
        check("*", "Gadget", "widgets", "none");
        check("*", "Widget", "pods", "none");
        // A kind of this name may be another group's.
        check("*", "Pod", "pods", "undecided");
        check("example.com", "Gadget", "gadgets", "undecided");
        check("example.com", "Gadget", "*", "found");
    }

    #[test]
    fn wildcards_and_parts() {
        for (resources, pod, status) in [
            (r#""pods""#, "itself", "none"),
            (r#""pods/status""#, "none", "itself"),
            (r#""pods/*""#, "itself", "itself"),
            (r#""pods/""#, "itself", "none"),
            (r#""*""#, "itself", "none"),
            (r#""*/*""#, "itself", "itself"),
            (r#""*/status""#, "none", "itself"),
            (r#""services","pods""#, "itself", "none"),
        ] {
            check(&rule(resources, ""), POD, pod);
            check(&rule(resources, ""), STATUS, status);
        }
    }

    #[test]
    fn scopes_and_names() {
        check(&rule(r#""*""#, r#","scope":"Namespaced""#), POD, "itself");
        check(&rule(r#""*""#, r#","scope":"Cluster""#), POD, "none");
        check(&rule(r#""*""#, r#","scope":"Namespaced""#), NAMESPACE, "none");
        check(&rule(r#""*""#, r#","scope":"Cluster""#), NAMESPACE, "itself");
        check(&rule(r#""pods""#, r#","resourceNames":["p","q"]"#), POD, "itself");
        check(&rule(r#""pods""#, r#","resourceNames":["q"]"#), POD, "none");
    }

    #[track_caller]
    fn check_assumed(rule: &str, match_policy: &str, request_json: &str, expected: Result<bool, ()>) {
        let named: NamedRuleWithOperations = serde_json::from_str(rule).unwrap();
        let mut request = request(request_json);
        request.assumes_resource = true;
        let mut equivalents = Equivalents::of_release(BuiltinResources::latest());
        equivalents.register(
            GroupVersionResource::new("example.com", "v1", "widgets"),
            "",
            pratique_types::GroupVersionKind::new("example.com", "v1", "Widget"),
        );
        let rules = Rules::named(&[named], Some(match_policy));
        let found = rules.find(&Target::new(&request), &equivalents);
        let found = found.map(|found| found.is_some()).map_err(|_| ());
        assert_eq!(found, expected, "{rule}");
    }

    #[test]
    fn an_assumed_resource_never_decides() {
        let gateway = r#"{"kind":{"group":"example.com","version":"v1","kind":"Gateway"},"name":"g","operation":"CREATE",
            "resource":{"group":"example.com","version":"v1","resource":"gatewaies"}}"#;
        let undecided = Err(());
        for (group, version, resource, more, exact, equivalent) in [
            ("example.com", "v1", "gateways", "", undecided, undecided),
            ("example.com", "v1", "gatewaies", "", undecided, undecided),
            ("*", "*", "gateways", "", undecided, undecided),
            ("example.com", "v1", "*", "", Ok(true), Ok(true)),
            ("*", "*", "*/*", "", Ok(true), Ok(true)),
            ("*", "*", "*/status", "", Ok(false), Ok(false)),
            // They are known to be those of other kinds.
            ("example.com", "v1", "widgets", "", Ok(false), Ok(false)),
            ("*", "*", "pods", "", Ok(false), Ok(false)),
            ("example.com", "v1", "pods", "", undecided, undecided),
            ("other.com", "v1", "gateways", "", Ok(false), Ok(false)),
            ("example.com", "v2", "*", "", Ok(false), undecided),
            (
                "example.com",
                "v1",
                "*",
                r#","scope":"Namespaced""#,
                undecided,
                undecided,
            ),
            (
                "example.com",
                "v1",
                "*",
                r#","resourceNames":["h"]"#,
                Ok(false),
                Ok(false),
            ),
        ] {
            let rule = format!(
                r#"{{"operations":["*"],"apiGroups":["{group}"],"apiVersions":["{version}"],"resources":["{resource}"]{more}}}"#
            );
            check_assumed(&rule, "Exact", gateway, exact);
            check_assumed(&rule, "Equivalent", gateway, equivalent);
        }
    }

    #[test]
    fn equivalents_are_tried_last() {
        let event = r#"{"resource":{"group":"events.k8s.io","version":"v1","resource":"events"},"namespace":"n","operation":"CREATE"}"#;
        check(&rule(r#""events""#, ""), event, "/v1, Resource=events");
        check(&rule(r#""pods""#, ""), event, "none");
    }
}
