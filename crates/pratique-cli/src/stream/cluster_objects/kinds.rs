//! The kinds of a cluster's objects that policies may match.

use k8s_openapi::api::admissionregistration::v1::{MatchResources, NamedRuleWithOperations};
use pratique_json::Value;
use pratique_kube::ApiDiscovery;
use pratique_match::{Equivalents, Rules, Target};
use pratique_policy::Origin;
use pratique_types::builtin::ServedResource;
use pratique_types::{GroupVersion, Operation};

use crate::policies::OriginSets;

/// What is asked of a cluster: objects of the kinds that something looks at.
pub(crate) struct MatchedObjects<'a> {
    /// Policies with bindings, in requests of the operation.
    pub(crate) sets: &'a [&'a OriginSets],
    pub(crate) operation: Operation,
    /// Whether something else looks at objects of a kind.
    pub(crate) by_others: &'a dyn Fn(&ServedResource) -> bool,
}

/// The kinds whose objects are listed.
pub(super) struct ListedKinds {
    /// Their resources, each in one version.
    pub(super) listed: Vec<ServedResource>,
    /// The versions of groups of which it is not known what they serve, and why.
    pub(super) unavailable: Vec<(GroupVersion, String)>,
}

/// A policy with a binding, as far as they say which kinds they match.
struct KindMatcher {
    origin: Origin,
    policy: Rules,
    excluded: Rules,
    /// The groups that the policy names.
    groups: Vec<String>,
    /// Of the binding; `None` if it names none.
    binding: Option<Rules>,
}

impl ListedKinds {
    /// The kinds that are matched. Of the versions of a kind, it is the server's first one that a policy matches.
    pub(super) fn new(discovered: &ApiDiscovery, matched: &MatchedObjects<'_>) -> Self {
        let matchers: Vec<KindMatcher> = matched.sets.iter().flat_map(|sets| matchers(sets)).collect();
        let is_matched = |served: &ServedResource, equivalents: &Equivalents| {
            let mut matchers = matchers.iter();
            (matched.by_others)(served)
                || matchers.any(|matcher| matcher.matches(served, matched.operation, equivalents))
        };
        let resources = || {
            let objects = discovered.resources.iter();
            objects.filter(|(served, _)| served.subresource.is_empty())
        };
        let mut equivalents = Equivalents::new();
        for (served, _) in resources() {
            equivalents.register(served.resource.clone(), "", served.kind.clone());
        }
        let mut listed: Vec<ServedResource> = Vec::new();
        for (served, verbs) in resources() {
            // What cannot be written is no subject of admission.
            let is_candidate = verbs.list && verbs.write;
            let views = equivalents.list(&served.resource, "");
            let is_listed = || {
                let mut listed = listed.iter();
                listed.any(|listed| views.iter().any(|view| view.resource == listed.resource))
            };
            if is_candidate && !is_listed() && is_matched(served, &equivalents) {
                listed.push(served.clone());
            }
        }
        let may_match = |version: &GroupVersion| {
            let mut groups = matchers.iter().flat_map(|matcher| &matcher.groups);
            groups.any(|group| group == "*" || *group == version.group)
        };
        let unavailable = discovered.unavailable.iter();
        ListedKinds {
            listed,
            unavailable: unavailable
                .filter(|(version, _)| may_match(version))
                .cloned()
                .collect(),
        }
    }
}

impl KindMatcher {
    fn new(origin: Origin, policy: Option<&MatchResources>, binding: Option<&MatchResources>) -> Self {
        let rules = |resources: Option<&MatchResources>| {
            let match_policy = resources.and_then(|resources| resources.match_policy.as_deref());
            let rules = resources.and_then(|resources| resources.resource_rules.as_deref());
            of_kinds(rules.unwrap_or_default(), match_policy)
        };
        // What excludes some names does not exclude a kind.
        let excluded = policy.and_then(|resources| resources.exclude_resource_rules.as_deref());
        let excluded = excluded.unwrap_or_default().iter();
        let whole = excluded.filter(|rule| rule.resource_names.as_deref().unwrap_or_default().is_empty());
        let match_policy = policy.and_then(|resources| resources.match_policy.as_deref());
        let named = policy.and_then(|resources| resources.resource_rules.as_deref());
        let groups = named
            .unwrap_or_default()
            .iter()
            .flat_map(|rule| rule.api_groups.iter().flatten());
        KindMatcher {
            origin,
            policy: rules(policy),
            excluded: of_kinds(&whole.cloned().collect::<Vec<_>>(), match_policy),
            groups: groups.cloned().collect(),
            binding: Some(rules(binding)).filter(|rules| !rules.is_empty()),
        }
    }

    fn matches(&self, served: &ServedResource, operation: Operation, equivalents: &Equivalents) -> bool {
        let target = Target {
            operation,
            kind: &served.kind,
            resource: &served.resource,
            subresource: "",
            name: "",
            namespace: if served.namespaced { "default" } else { "" },
            object: &Value::Null,
            old_object: &Value::Null,
            lacks_old_object: false,
            assumes_resource: false,
            types_objects: false,
        };
        // A kind that cannot be converted is an error of the policy, which is reported when it is evaluated.
        let matches = |rules: &Rules| !matches!(rules.find(&target, equivalents), Ok(None));
        pratique_exclusion::intercepts(
            pratique_exclusion::Interceptor::Policy,
            self.origin,
            &served.resource,
            &served.kind,
        ) && matches(&self.policy)
            && !matches(&self.excluded)
            && self.binding.as_ref().is_none_or(matches)
    }
}

/// Rules that match objects of any name.
fn of_kinds(rules: &[NamedRuleWithOperations], match_policy: Option<&str>) -> Rules {
    let rules = rules.iter().map(|rule| NamedRuleWithOperations {
        resource_names: None,
        ..rule.clone()
    });
    Rules::named(&rules.collect::<Vec<_>>(), match_policy)
}

/// The name of a policy, and what it or a binding of it matches.
type NamedMatch<'s> = (Option<&'s str>, Option<&'s MatchResources>);

/// Each policy with each of its bindings.
fn matchers(sets: &OriginSets) -> Vec<KindMatcher> {
    let mut matchers = Vec::new();
    for (origin, set) in sets {
        let validating = set.validating_policies.iter().map(|loaded| {
            let spec = loaded.object.spec.as_ref();
            let constraints = spec.and_then(|spec| spec.match_constraints.as_ref());
            (loaded.object.metadata.name.as_deref(), constraints)
        });
        let validating_bindings = set.validating_bindings.iter().map(|loaded| {
            let spec = &loaded.object.spec;
            (Some(spec.policy_name.as_str()), spec.match_resources.as_ref())
        });
        let mutating = set.mutating_policies.iter().map(|loaded| {
            let spec = loaded.object.spec.as_ref();
            let constraints = spec.and_then(|spec| spec.match_constraints.as_ref());
            (loaded.object.metadata.name.as_deref(), constraints)
        });
        let mutating_bindings = set.mutating_bindings.iter().filter_map(|loaded| {
            let spec = loaded.object.spec.as_ref()?;
            Some((spec.policy_name.as_deref(), spec.match_resources.as_ref()))
        });
        matchers.extend(bound(
            *origin,
            validating,
            &validating_bindings.collect::<Vec<_>>(),
        ));
        matchers.extend(bound(*origin, mutating, &mutating_bindings.collect::<Vec<_>>()));
    }
    matchers
}

fn bound<'s>(
    origin: Origin,
    policies: impl Iterator<Item = NamedMatch<'s>>,
    bindings: &[NamedMatch<'s>],
) -> Vec<KindMatcher> {
    let pairs = policies.flat_map(|(name, constraints)| {
        let of_policy = bindings.iter().filter(move |(policy, _)| *policy == name);
        of_policy.map(move |(_, resources)| KindMatcher::new(origin, constraints, *resources))
    });
    pairs.collect()
}
