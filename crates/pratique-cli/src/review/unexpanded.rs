//! Workloads whose Pods were not reviewed, and the policies that would have matched these Pods.

use std::collections::BTreeMap;

use k8s_openapi::api::admissionregistration::v1::{NamedRuleWithOperations, RuleWithOperations};
use pratique_manifest::ManifestSet;
use pratique_types::{GroupResource, Operation};

use super::input_request::InputRequest;
use crate::output::counted::first_names;
use crate::output::notice::Notice;
use crate::policies::{NAMED, resource_rules};

/// Workloads whose Pods were not reviewed.
#[derive(Clone, Debug, Default)]
pub(super) struct UnexpandedWorkloads {
    /// How many there are of each resource.
    resources: BTreeMap<GroupResource, usize>,
    /// Where the first of them is.
    place: String,
}

impl UnexpandedWorkloads {
    /// Counts the workload of a request.
    pub(super) fn count(&mut self, input: &InputRequest<'_>) {
        if self.resources.is_empty() {
            self.place = input.place();
        }
        let resource = input.request.resource.group_resource();
        *self.resources.entry(resource).or_default() += 1;
    }

    /// Adds those of a later part.
    pub(super) fn add(&mut self, other: UnexpandedWorkloads) {
        if self.resources.is_empty() {
            self.place = other.place;
        }
        for (resource, count) in other.resources {
            *self.resources.entry(resource).or_default() += count;
        }
    }
}

/// The built-in plugins that decide about Pods by what these are, or change them.
const PLUGINS: [&str; 14] = [
    "AlwaysPullImages",
    "DefaultTolerationSeconds",
    "ExtendedResourceToleration",
    "ImagePolicyWebhook",
    "LimitPodHardAntiAffinityTopology",
    "LimitRanger",
    "PodNodeSelector",
    "PodSecurity",
    "PodTolerationRestriction",
    "Priority",
    "ResourceQuota",
    "RuntimeClass",
    "ServiceAccount",
    "TaintNodesByCondition",
];

/// What is evaluated of Pods: policies, webhooks and plugins, and what else the policies match.
pub(super) struct PodPolicies<'a> {
    policies: Vec<(&'a str, &'a [NamedRuleWithOperations])>,
    /// Whether the policies are the built-in ones, which find the Pod template in each workload that they match.
    is_builtin: bool,
    /// Whether a webhook that is called, or a plugin, is about Pods.
    has_others: bool,
}

impl<'a> PodPolicies<'a> {
    /// The policies of some manifests, which are evaluated; `is_builtin` is whether they are the built-in ones.
    pub(super) fn of(sets: impl Iterator<Item = &'a ManifestSet>, is_builtin: bool) -> Self {
        let policies = sets.flat_map(resource_rules);
        PodPolicies {
            policies: policies
                .filter(|(_, rules)| rules.iter().any(creates_pods))
                .collect(),
            is_builtin,
            has_others: false,
        }
    }

    /// With the webhooks of some manifests, which are called.
    pub(super) fn with_webhooks(self, mut sets: impl Iterator<Item = &'a ManifestSet>) -> Self {
        let is_called = sets.any(|set| {
            let mut rules = webhook_rules(set);
            rules.any(|rule| {
                let resources = (rule.api_groups.as_deref(), rule.resources.as_deref());
                is_matched(resources, "", "pods") && is_creation(rule.operations.as_deref())
            })
        });
        PodPolicies {
            has_others: self.has_others || is_called,
            ..self
        }
    }

    /// With the plugins of an API server of these names.
    pub(super) fn with_plugins<'n>(self, mut names: impl Iterator<Item = &'n str>) -> Self {
        PodPolicies {
            has_others: self.has_others || names.any(|name| PLUGINS.contains(&name)),
            ..self
        }
    }

    /// Whether something decides about the Pods of workloads of a resource and not, with the same rule, about these.
    ///
    /// What a policy of the user says of a workload that it matches may be about the workload itself, so its Pods are looked at
    /// as well.
    pub(super) fn decide_about_pods_of(&self, workload: &GroupResource) -> bool {
        let is_blind = |rules: &[NamedRuleWithOperations]| !self.is_builtin || !has(rules, workload);
        self.has_others || self.policies.iter().any(|(_, rules)| is_blind(rules))
    }

    /// The warning about workloads: the policies that match Pods and not all of these. `help` says what looks at them.
    pub(super) fn warning(&self, workloads: &UnexpandedWorkloads, help: &str) -> Option<Notice> {
        let is_blind = |rules: &[NamedRuleWithOperations]| {
            let mut resources = workloads.resources.keys();
            !resources.all(|of| has(rules, of))
        };
        let blind: Vec<&str> = self
            .policies
            .iter()
            .filter(|(_, rules)| is_blind(rules))
            .map(|(name, _)| *name)
            .collect();
        if blind.is_empty() {
            return None;
        }
        let count: usize = workloads.resources.values().sum();
        let (pods, policies) = match (count, blind.len()) {
            (1, 1) => ("the Pods of 1 workload are", "1 policy for Pods is"),
            (1, _) => ("the Pods of 1 workload are", "policies for Pods are"),
            (_, 1) => ("the Pods of workloads are", "1 policy for Pods is"),
            (_, _) => ("the Pods of workloads are", "policies for Pods are"),
        };
        let message = format!(
            "{pods} not reviewed, and {policies} not evaluated for them ({}): {help}",
            first_names(&blind, NAMED)
        );
        Some(Notice::new("not-evaluated", workloads.place.clone(), message))
    }
}

fn has(rules: &[NamedRuleWithOperations], of: &GroupResource) -> bool {
    rules.iter().any(|rule| {
        let resources = (rule.api_groups.as_deref(), rule.resources.as_deref());
        is_matched(resources, &of.group, &of.resource)
    })
}

fn creates_pods(rule: &NamedRuleWithOperations) -> bool {
    let resources = (rule.api_groups.as_deref(), rule.resources.as_deref());
    is_matched(resources, "", "pods") && is_creation(rule.operations.as_deref())
}

fn webhook_rules(set: &ManifestSet) -> impl Iterator<Item = &RuleWithOperations> {
    let validating = set.validating_webhooks.iter();
    let validating = validating.flat_map(|loaded| loaded.object.webhooks.iter().flatten());
    let mutating = set.mutating_webhooks.iter();
    let mutating = mutating.flat_map(|loaded| loaded.object.webhooks.iter().flatten());
    validating
        .flat_map(|webhook| webhook.rules.iter().flatten())
        .chain(mutating.flat_map(|webhook| webhook.rules.iter().flatten()))
}

fn is_creation(operations: Option<&[String]>) -> bool {
    let mut operations = operations.unwrap_or_default().iter();
    operations.any(|operation| operation == "*" || operation == Operation::Create.as_str())
}

fn is_matched(
    (groups, resources): (Option<&[String]>, Option<&[String]>),
    group: &str,
    resource: &str,
) -> bool {
    let has = |list: Option<&[String]>, wanted: &[&str]| {
        let mut list = list.unwrap_or_default().iter();
        list.any(|text| wanted.contains(&text.as_str()))
    };
    has(groups, &["*", group]) && has(resources, &["*", "*/*", resource])
}
