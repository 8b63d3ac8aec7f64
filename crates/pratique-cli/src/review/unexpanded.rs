//! Workloads whose Pods were not reviewed, and the policies that would have matched these Pods.

use std::collections::BTreeMap;

use k8s_openapi::api::admissionregistration::v1::NamedRuleWithOperations;
use pratique_manifest::ManifestSet;
use pratique_types::GroupResource;

use crate::output;
use crate::output::counted::first_names;
use crate::output::text::{Text, text};
use crate::policies::{NAMED, resource_rules};

/// The policies whose rules match Pods, and what else they match.
pub(super) struct PodPolicies<'a>(Vec<(&'a str, &'a [NamedRuleWithOperations])>);

impl<'a> PodPolicies<'a> {
    /// The policies of some manifests.
    pub(super) fn of(sets: impl Iterator<Item = &'a ManifestSet>) -> Self {
        let policies = sets.flat_map(resource_rules);
        PodPolicies(
            policies
                .filter(|(_, rules)| is_matched(rules, "", "pods"))
                .collect(),
        )
    }

    /// The warning about workloads, which are counted by resource: the policies that match Pods and not all of these.
    pub(super) fn warning(&self, workloads: &BTreeMap<GroupResource, usize>) -> Option<Text> {
        let is_blind = |rules: &[NamedRuleWithOperations]| {
            let mut resources = workloads.keys();
            !resources.all(|of| is_matched(rules, &of.group, &of.resource))
        };
        let blind: Vec<&str> = self
            .0
            .iter()
            .filter(|(_, rules)| is_blind(rules))
            .map(|(name, _)| *name)
            .collect();
        if blind.is_empty() {
            return None;
        }
        let count: usize = workloads.values().sum();
        let (workloads, policies) = match (count, blind.len()) {
            (1, 1) => ("the Pods of 1 workload are", "1 policy for Pods is"),
            (1, _) => ("the Pods of 1 workload are", "policies for Pods are"),
            (_, 1) => ("the Pods of workloads are", "1 policy for Pods is"),
            (_, _) => ("the Pods of workloads are", "policies for Pods are"),
        };
        Some(output::warning(&text!(
            "{} not reviewed, and {} not evaluated for them ({}): --expand does",
            workloads,
            policies,
            first_names(&blind, NAMED)
        )))
    }
}

fn is_matched(rules: &[NamedRuleWithOperations], group: &str, resource: &str) -> bool {
    let has = |list: &Option<Vec<String>>, wanted: &[&str]| {
        let list = list.as_deref().unwrap_or_default();
        list.iter().any(|text| wanted.contains(&text.as_str()))
    };
    rules
        .iter()
        .any(|rule| has(&rule.api_groups, &["*", group]) && has(&rule.resources, &["*", "*/*", resource]))
}
