//! The rules of policies, webhooks and plugins in one phase.

use pratique::Configurations;
use pratique_types::admissionregistration::{MatchResources, RuleWithOperations};

use super::cells::{self, CellSet, RuleCell};
use crate::webhook_plugins::{PluginRequests, PluginRule, WebhookPlugin};

/// The rules of one phase.
#[derive(Debug, Default)]
pub(super) struct PhaseRules {
    /// Rules with the failure policy `Fail`.
    pub(super) fail: CellSet,
    /// Rules with the failure policy `Ignore`.
    pub(super) ignore: CellSet,
    /// Rules of plugins that count requests for exactly these resources, and not for views of them.
    pub(super) counted: CellSet,
    /// Whether requests that change the owners of any object are asked about.
    pub(super) owners: bool,
    /// Whether any policy, webhook or plugin has to be reinvoked.
    pub(super) reinvoke: bool,
}

impl PhaseRules {
    fn add(&mut self, failure_policy: &Option<String>, cells: impl Iterator<Item = RuleCell>) {
        match failure_policy.as_deref() {
            Some("Ignore") => self.ignore.extend(cells),
            _ => self.fail.extend(cells),
        }
    }

    /// Plugins have no failure policy: requests are refused while nothing answers for them.
    fn add_plugin(&mut self, plugin: &WebhookPlugin) {
        match plugin.requests {
            PluginRequests::For(rules) => self.fail.extend(rules.iter().flat_map(of_plugin)),
            PluginRequests::Exactly(rules) => self.counted.extend(rules.iter().flat_map(of_plugin)),
            PluginRequests::ChangingOwners => self.owners = true,
        }
    }
}

/// The rules of bound mutating policies, of mutating webhooks, and of plugins that mutate.
pub(super) fn mutating(all: &[Configurations], plugins: &[&WebhookPlugin]) -> PhaseRules {
    let mut rules = PhaseRules::default();
    for set in all {
        let bindings = set.mutating_bindings.iter();
        let specs = bindings.filter_map(|binding| binding.spec.as_ref());
        let bound: Vec<_> = specs.filter_map(|spec| spec.policy_name.as_deref()).collect();
        for policy in &set.mutating_policies {
            if let Some(spec) = &policy.spec
                && is_bound(&policy.metadata.name, &bound)
            {
                rules.add(&spec.failure_policy, of_policy(spec.match_constraints.as_ref()));
                rules.reinvoke |= spec.reinvocation_policy.as_deref() == Some("IfNeeded");
            }
        }
        let configurations = set.mutating_webhooks.iter();
        for webhook in configurations.flat_map(|configuration| configuration.webhooks.iter().flatten()) {
            rules.add(&webhook.failure_policy, of_webhook(webhook.rules.as_deref()));
            rules.reinvoke |= webhook.reinvocation_policy.as_deref() == Some("IfNeeded");
        }
    }
    for plugin in plugins.iter().filter(|plugin| plugin.mutates) {
        rules.add_plugin(plugin);
        // An API server runs its plugins again whenever a policy or a webhook changed the object.
        rules.reinvoke = true;
    }
    rules
}

/// The rules of bound validating policies, of validating webhooks, and of plugins that validate.
pub(super) fn validating(all: &[Configurations], plugins: &[&WebhookPlugin]) -> PhaseRules {
    let mut rules = PhaseRules::default();
    for set in all {
        let bindings = set.validating_bindings.iter();
        let bound: Vec<_> = bindings.map(|binding| &*binding.spec.policy_name).collect();
        for policy in &set.validating_policies {
            if let Some(spec) = &policy.spec
                && is_bound(&policy.metadata.name, &bound)
            {
                rules.add(&spec.failure_policy, of_policy(spec.match_constraints.as_ref()));
            }
        }
        let configurations = set.validating_webhooks.iter();
        for webhook in configurations.flat_map(|configuration| configuration.webhooks.iter().flatten()) {
            rules.add(&webhook.failure_policy, of_webhook(webhook.rules.as_deref()));
        }
    }
    for plugin in plugins.iter().filter(|plugin| plugin.validates) {
        rules.add_plugin(plugin);
    }
    rules
}

/// Whether a policy has a binding.
fn is_bound(name: &Option<String>, bound: &[&str]) -> bool {
    bound.contains(&name.as_deref().unwrap_or_default())
}

fn of_policy(constraints: Option<&MatchResources>) -> impl Iterator<Item = RuleCell> {
    let rules = constraints.and_then(|constraints| constraints.resource_rules.as_deref());
    rules.unwrap_or_default().iter().flat_map(|rule| {
        let parts = [
            &rule.api_groups,
            &rule.api_versions,
            &rule.operations,
            &rule.resources,
        ];
        cells::of_rule(parts, &rule.scope)
    })
}

fn of_webhook(rules: Option<&[RuleWithOperations]>) -> impl Iterator<Item = RuleCell> {
    rules.unwrap_or_default().iter().flat_map(|rule| {
        let parts = [
            &rule.api_groups,
            &rule.api_versions,
            &rule.operations,
            &rule.resources,
        ];
        cells::of_rule(parts, &rule.scope)
    })
}

fn of_plugin(rule: &PluginRule) -> Vec<RuleCell> {
    let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
    let parts = [
        &texts(&[rule.group]),
        &texts(&[rule.version]),
        &texts(rule.operations),
        &texts(rule.resources),
    ];
    cells::of_rule(parts, &None)
}
