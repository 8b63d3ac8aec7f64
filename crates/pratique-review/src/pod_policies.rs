//! Policies, webhooks and plugins that decide about the Pods of workloads.

use std::collections::BTreeSet;

use k8s_openapi::api::admissionregistration::v1::{NamedRuleWithOperations, RuleWithOperations};
use pratique::Configurations;
use pratique_manifest::ManifestSet;
use pratique_types::{GroupResource, Operation};

use crate::resource_rules::{resource_rules, stored_rules};

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
///
/// It says of which workloads the Pods are to be looked at as well: a policy on Pods never sees a Deployment.
#[derive(Clone, Debug)]
pub struct PodPolicies<'a> {
    policies: Vec<(&'a str, &'a [NamedRuleWithOperations])>,
    /// Whether the policies are the built-in ones, which find the Pod template in each workload that they match.
    is_builtin: bool,
    /// Whether a webhook that is called, or a plugin, is about Pods.
    has_others: bool,
}

impl<'a> PodPolicies<'a> {
    /// The policies of some manifests, which are evaluated; `is_builtin` is whether they are the built-in ones.
    pub fn new(sets: impl Iterator<Item = &'a ManifestSet>, is_builtin: bool) -> Self {
        let policies = sets.flat_map(resource_rules);
        PodPolicies {
            policies: policies
                .filter(|(_, rules)| rules.iter().any(creates_pods))
                .collect(),
            is_builtin,
            has_others: false,
        }
    }

    /// With the policies among objects of the API.
    #[must_use]
    pub fn with_stored(self, stored: &'a Configurations) -> Self {
        let mut all = self.policies;
        all.extend(stored_rules(stored).filter(|(_, rules)| rules.iter().any(creates_pods)));
        PodPolicies {
            policies: all,
            ..self
        }
    }

    /// With the webhooks of some manifests, which are called.
    #[must_use]
    pub fn with_webhooks(self, mut sets: impl Iterator<Item = &'a ManifestSet>) -> Self {
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
    #[must_use]
    pub fn with_plugins<'n>(self, mut names: impl Iterator<Item = &'n str>) -> Self {
        PodPolicies {
            has_others: self.has_others || names.any(|name| PLUGINS.contains(&name)),
            ..self
        }
    }

    /// Whether something decides about the Pods of workloads of a resource and not, with the same rule, about these.
    ///
    /// What a policy of the user says of a workload that it matches may be about the workload itself, so its Pods are looked at
    /// as well.
    pub fn decide_about_pods_of(&self, workload: &GroupResource) -> bool {
        let is_blind = |rules: &[NamedRuleWithOperations]| !self.is_builtin || !has(rules, workload);
        self.has_others || self.policies.iter().any(|(_, rules)| is_blind(rules))
    }

    /// The policies, by name, that match Pods and not all of some workloads: each once.
    pub fn not_matching<'r>(
        &self,
        workloads: impl Iterator<Item = &'r GroupResource> + Clone,
    ) -> Vec<&'a str> {
        let is_blind = |rules: &[NamedRuleWithOperations]| !workloads.clone().all(|of| has(rules, of));
        let blind = self.policies.iter().filter(|(_, rules)| is_blind(rules));
        let mut seen = BTreeSet::new();
        // Sets that are compared have policies of the same names.
        let names = blind.map(|(name, _)| *name);
        names.filter(|name| seen.insert(*name)).collect()
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
