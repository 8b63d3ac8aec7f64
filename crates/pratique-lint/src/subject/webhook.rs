//! Webhooks of both kinds.

use k8s_openapi::api::admissionregistration::v1::{
    MatchCondition, ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec, Validation,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use pratique_expression::{Declarations, ExpressionPurpose};
use pratique_manifest::{Kind, ManifestSet, PathStep};
use pratique_sample::{ExpressionId, Policy};
use pratique_schema::Release;

use super::ExpressionGroup;
use super::origin::{ObjectOrigin, path};
use super::policy::PolicyView;
use super::rule::RuleView;
use super::site::ExpressionSite;

/// A webhook.
pub(crate) struct WebhookView<'m> {
    /// The release of the server.
    release: &'static Release,
    pub(crate) origin: ObjectOrigin<'m>,
    /// The path in its configuration.
    pub(crate) path: Vec<PathStep>,
    pub(crate) name: &'m str,
    pub(crate) rules: Vec<RuleView<'m>>,
    pub(crate) conditions: Vec<ExpressionSite<'m>>,
    /// A policy with the same match conditions.
    policy: ValidatingAdmissionPolicy,
    /// Whether the failure policy is `Ignore`.
    ignores_errors: bool,
    pub(crate) namespace_selector: Option<&'m LabelSelector>,
    pub(crate) object_selector: Option<&'m LabelSelector>,
    /// The certificate authorities of its certificate, which should be PEM.
    pub(crate) ca_bundle: Option<&'m [u8]>,
    /// Whether a program in the cluster writes the bundle, by an annotation of the configuration.
    pub(crate) has_injected_bundle: bool,
    /// The timeout in seconds.
    pub(crate) timeout: u32,
    /// Whether it is reinvoked after others changed the object.
    pub(crate) reinvoked: bool,
}

impl<'m> WebhookView<'m> {
    /// Its match conditions, which are checked together.
    pub(crate) fn expression_group(&self) -> ExpressionGroup<'_, 'm> {
        ExpressionGroup {
            release: self.release,
            origin: &self.origin,
            sites: &self.conditions,
            rules: &self.rules,
        }
    }

    /// Its match conditions as those of a policy: both are compiled and evaluated alike.
    pub(crate) fn policy_view(&self) -> PolicyView<'_> {
        PolicyView {
            release: self.release,
            manifest: Policy::Validating(&self.policy),
            origin: self.origin.clone(),
            constraints: None,
            object_selector: self.object_selector,
            rules: self.rules.clone(),
            excluded: Vec::new(),
            sites: self.conditions.clone(),
            validations: &[],
            ignores_errors: self.ignores_errors,
            is_mutating: self.is_mutating(),
            is_webhook: true,
            bindings: Vec::new(),
        }
    }

    pub(crate) fn is_mutating(&self) -> bool {
        self.origin.name.kind == Kind::MutatingWebhookConfiguration
    }
}

/// Reads the fields that both kinds of webhooks have.
macro_rules! webhook {
    ($release:expr, $loaded:expr, $webhook:expr, $origin:expr, $index:expr, $reinvoked:expr) => {{
        let at = format!("webhooks[{}]", $index);
        WebhookView {
            release: $release,
            rules: RuleView::of_webhook($release, &$webhook.rules, &path(&format!("{at}.rules"))),
            conditions: condition_sites(&$webhook.match_conditions, &at),
            policy: condition_policy(&$webhook.match_conditions),
            ignores_errors: $webhook.failure_policy.as_deref() == Some("Ignore"),
            namespace_selector: $webhook.namespace_selector.as_ref(),
            object_selector: $webhook.object_selector.as_ref(),
            ca_bundle: $webhook
                .client_config
                .ca_bundle
                .as_ref()
                .map(|bytes| bytes.0.as_slice()),
            has_injected_bundle: has_injected_bundle(&$loaded.object.metadata),
            timeout: $webhook
                .timeout_seconds
                .and_then(|seconds| u32::try_from(seconds).ok())
                .unwrap_or(10),
            reinvoked: $reinvoked,
            name: &$webhook.name,
            path: path(&at),
            origin: $origin,
        }
    }};
}

pub(super) fn collect<'m>(
    release: &'static Release,
    set: &'m ManifestSet,
    webhooks: &mut Vec<WebhookView<'m>>,
) {
    for loaded in &set.mutating_webhooks {
        let (kind, name) = (Kind::MutatingWebhookConfiguration, &loaded.object.metadata.name);
        for (index, webhook) in loaded.object.webhooks.iter().flatten().enumerate() {
            let reinvoked = webhook.reinvocation_policy.as_deref() == Some("IfNeeded");
            webhooks.push(webhook!(
                release,
                loaded,
                webhook,
                ObjectOrigin::new(kind, name, &loaded.source),
                index,
                reinvoked
            ));
        }
    }
    for loaded in &set.validating_webhooks {
        let (kind, name) = (Kind::ValidatingWebhookConfiguration, &loaded.object.metadata.name);
        for (index, webhook) in loaded.object.webhooks.iter().flatten().enumerate() {
            webhooks.push(webhook!(
                release,
                loaded,
                webhook,
                ObjectOrigin::new(kind, name, &loaded.source),
                index,
                false
            ));
        }
    }
}

/// Annotations by which programs in a cluster write the `caBundle` of a configuration's webhooks: those of cert-manager's
/// cainjector, which had another group before 2019, and of the service CA operator of OpenShift.
const INJECTING: [&str; 7] = [
    "cert-manager.io/inject-ca-from",
    "cert-manager.io/inject-ca-from-secret",
    "cert-manager.io/inject-apiserver-ca",
    "certmanager.k8s.io/inject-ca-from",
    "certmanager.k8s.io/inject-apiserver-ca",
    "service.beta.openshift.io/inject-cabundle",
    "service.alpha.openshift.io/inject-cabundle",
];

/// Whether an annotation has a program write the bundles. `false` and an empty value do not.
fn has_injected_bundle(metadata: &ObjectMeta) -> bool {
    let mut annotations = metadata.annotations.iter().flatten();
    annotations
        .any(|(name, value)| INJECTING.contains(&name.as_str()) && !matches!(value.as_str(), "" | "false"))
}

/// A policy with match conditions, and nothing else that could fail.
fn condition_policy(conditions: &Option<Vec<MatchCondition>>) -> ValidatingAdmissionPolicy {
    let holds = Validation {
        expression: "true".to_owned(),
        ..Validation::default()
    };
    ValidatingAdmissionPolicy {
        spec: Some(ValidatingAdmissionPolicySpec {
            match_conditions: conditions.clone(),
            validations: Some(vec![holds]),
            ..ValidatingAdmissionPolicySpec::default()
        }),
        ..ValidatingAdmissionPolicy::default()
    }
}

fn condition_sites<'m>(conditions: &'m Option<Vec<MatchCondition>>, at: &str) -> Vec<ExpressionSite<'m>> {
    let conditions = conditions.iter().flatten().enumerate();
    conditions
        .map(|(index, condition)| ExpressionSite {
            path: path(&format!("{at}.matchConditions[{index}].expression")),
            text: &condition.expression,
            id: ExpressionId::Condition(index),
            usage: ExpressionPurpose::MatchCondition,
            declarations: Declarations {
                authorizer: true,
                ..Declarations::default()
            },
        })
        .collect()
}
