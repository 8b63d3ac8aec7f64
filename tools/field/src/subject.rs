//! What a warning is about: a policy, or a webhook, whose match conditions are evaluated as those of a policy.

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_lint::Warning;
use pratique_manifest::{Kind, ManifestSet, ObjectSource};
use pratique_sample::Policy;

/// What a warning is about.
pub(crate) struct WarningSubject<'m> {
    policy: OwnedOrLoaded<'m>,
    pub(crate) source: &'m ObjectSource,
    /// The field of the policy that the warning is about: that of a webhook is one of the policy that stands for it.
    pub(crate) field: String,
}

enum OwnedOrLoaded<'m> {
    Loaded(Policy<'m>),
    Owned(Box<api::ValidatingAdmissionPolicy>),
}

impl<'m> WarningSubject<'m> {
    pub(crate) fn find(set: &'m ManifestSet, warning: &Warning) -> Option<Self> {
        let object = warning.object.as_ref()?;
        let is = |name: &Option<String>| name.as_deref() == Some(object.name.as_str());
        match object.kind {
            Kind::ValidatingAdmissionPolicy => {
                let mut all = set.validating_policies.iter();
                let loaded = all.find(|policy| is(&policy.object.metadata.name))?;
                let policy = Policy::Validating(&loaded.object);
                Some(WarningSubject::of_policy(policy, &loaded.source, warning))
            }
            Kind::MutatingAdmissionPolicy => {
                let mut all = set.mutating_policies.iter();
                let loaded = all.find(|policy| is(&policy.object.metadata.name))?;
                let policy = Policy::Mutating(&loaded.object);
                Some(WarningSubject::of_policy(policy, &loaded.source, warning))
            }
            Kind::ValidatingWebhookConfiguration => {
                let mut all = set.validating_webhooks.iter();
                let loaded = all.find(|loaded| is(&loaded.object.metadata.name))?;
                let (index, field) = webhook_field(&warning.field)?;
                let webhook = loaded.object.webhooks.as_ref()?.get(index)?;
                let policy = condition_policy(&webhook.rules, &webhook.match_conditions);
                Some(WarningSubject::of_webhook(policy, &loaded.source, field))
            }
            Kind::MutatingWebhookConfiguration => {
                let mut all = set.mutating_webhooks.iter();
                let loaded = all.find(|loaded| is(&loaded.object.metadata.name))?;
                let (index, field) = webhook_field(&warning.field)?;
                let webhook = loaded.object.webhooks.as_ref()?.get(index)?;
                let policy = condition_policy(&webhook.rules, &webhook.match_conditions);
                Some(WarningSubject::of_webhook(policy, &loaded.source, field))
            }
            _ => None,
        }
    }

    fn of_policy(policy: Policy<'m>, source: &'m ObjectSource, warning: &Warning) -> Self {
        WarningSubject {
            policy: OwnedOrLoaded::Loaded(policy),
            source,
            field: warning.field.clone(),
        }
    }

    /// A webhook, with the policy that has its conditions.
    fn of_webhook(policy: api::ValidatingAdmissionPolicy, source: &'m ObjectSource, field: &str) -> Self {
        WarningSubject {
            policy: OwnedOrLoaded::Owned(Box::new(policy)),
            source,
            field: format!("spec.{field}"),
        }
    }

    pub(crate) fn policy(&self) -> Policy<'_> {
        match &self.policy {
            OwnedOrLoaded::Loaded(policy) => *policy,
            OwnedOrLoaded::Owned(policy) => Policy::Validating(policy),
        }
    }
}

/// The index of a webhook and its field: of `webhooks[1].matchConditions[0].expression`, 1 and what follows the dot.
fn webhook_field(field: &str) -> Option<(usize, &str)> {
    let (index, rest) = field.strip_prefix("webhooks[")?.split_once("].")?;
    Some((index.parse().ok()?, rest))
}

/// A policy with the rules and the match conditions of a webhook.
fn condition_policy(
    rules: &Option<Vec<api::RuleWithOperations>>,
    conditions: &Option<Vec<api::MatchCondition>>,
) -> api::ValidatingAdmissionPolicy {
    let rules = rules.iter().flatten().map(|rule| api::NamedRuleWithOperations {
        api_groups: rule.api_groups.clone(),
        api_versions: rule.api_versions.clone(),
        operations: rule.operations.clone(),
        resources: rule.resources.clone(),
        scope: rule.scope.clone(),
        resource_names: None,
    });
    api::ValidatingAdmissionPolicy {
        spec: Some(api::ValidatingAdmissionPolicySpec {
            match_constraints: Some(api::MatchResources {
                resource_rules: Some(rules.collect()),
                ..api::MatchResources::default()
            }),
            match_conditions: conditions.clone(),
            validations: Some(vec![api::Validation {
                expression: "true".to_owned(),
                ..api::Validation::default()
            }]),
            ..api::ValidatingAdmissionPolicySpec::default()
        }),
        ..api::ValidatingAdmissionPolicy::default()
    }
}
