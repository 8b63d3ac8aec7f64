//! Webhooks that together may take longer than a request.
//!
//! # What
//!
//! Mutating webhooks are called one after the other, and a write request ends after 34 seconds. The timeouts of all
//! webhooks that match a request add up to more. Webhooks with `reinvocationPolicy: IfNeeded` count twice.
//!
//! # Why
//!
//! If they are slow, the request fails, although each of them answers within its `timeoutSeconds`, and although their
//! failures are ignored (`failurePolicy: Ignore`).
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: MutatingWebhookConfiguration
//! metadata: {name: slow}
//! webhooks:
//! - name: first.example.com
//!   clientConfig: {url: "https://first.example.com"}
//!   admissionReviewVersions: [v1]
//!   sideEffects: None
//!   timeoutSeconds: 20
//!   rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//! - name: second.example.com
//!   clientConfig: {url: "https://second.example.com"}
//!   admissionReviewVersions: [v1]
//!   sideEffects: None
//!   timeoutSeconds: 20
//!   rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//! ```
//!
//! Lower `timeoutSeconds`.

use pratique_exclusion::is_virtual;
use pratique_types::Operation;
use pratique_types::builtin::{ServedResource, resources};

use crate::lint::{Lint, LintContext, LintSubject};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::subject::{ManifestView, RuleView, WebhookView};

/// The lint `webhook-timeout`.
pub(crate) struct WebhookTimeout;

impl Lint for WebhookTimeout {
    const META: &'static LintMeta = &LintMeta {
        name: "webhook-timeout",
        summary: "Mutating webhooks are called one after the other: together their timeouts exceed a request's.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let LintSubject::Manifests { manifests, .. } = context.subject {
            check_chains(manifests, report);
        }
    }
}

/// How long an API server lets a request that changes something take, in seconds.
const DEADLINE: u32 = 34;

/// Follows the webhook calls of each kind of request. Each webhook is reported once.
fn check_chains(manifests: &ManifestView<'_>, report: &mut LintReport) {
    let mut mutating: Vec<&WebhookView<'_>> = manifests
        .webhooks
        .iter()
        .filter(|webhook| webhook.is_mutating())
        .collect();
    mutating.sort_by_key(|webhook| &webhook.origin.name.name);
    let mut overruns: Vec<(usize, &'static ServedResource, Operation, u32)> = Vec::new();
    for served in resources()
        .iter()
        .filter(|served| !is_virtual(&served.resource.group, &served.resource.resource))
    {
        for operation in Operation::ALL {
            if let Some((index, sum)) = overrun(&mutating, served, operation)
                && !overruns.iter().any(|(known, ..)| *known == index)
            {
                overruns.push((index, served, operation, sum));
            }
        }
    }
    for (index, served, operation, sum) in overruns {
        let Some(webhook) = mutating.get(index) else {
            continue;
        };
        let resource = match served.subresource.as_str() {
            "" => served.resource.resource.clone(),
            part => format!("{}/{part}", served.resource.resource),
        };
        let message = format!(
            "a request ends after {DEADLINE} s: the mutating webhooks for {} {resource} up to {:?} may take {sum} s, one \
             after the other",
            operation.as_str(),
            webhook.name
        );
        let finding = LintFinding::new(WebhookTimeout::META, message)
            .help("lower their timeoutSeconds: failurePolicy Ignore does not help here");
        let mut field = webhook.path.clone();
        field.push(pratique_manifest::Step::Field("timeoutSeconds".to_owned()));
        report.add(&webhook.origin, &field, finding);
    }
}

/// The first webhook whose timeout is beyond the request's, and the time until then; reinvoked webhooks are called
/// after all others.
fn overrun(
    webhooks: &[&WebhookView<'_>],
    served: &ServedResource,
    operation: Operation,
) -> Option<(usize, u32)> {
    let takes = |rule: &RuleView<'_>| rule.operations.contains(&operation) && rule.matches(served);
    let called: Vec<(usize, &&WebhookView<'_>)> = webhooks
        .iter()
        .enumerate()
        .filter(|(_, webhook)| webhook.rules.iter().any(takes))
        .collect();
    let again = called
        .iter()
        .filter(|(_, webhook)| webhook.reinvoked && called.len() > 1);
    let mut sum = 0u32;
    for (index, webhook) in called.iter().chain(again) {
        sum = sum.saturating_add(webhook.timeout);
        if sum > DEADLINE {
            return Some((*index, sum));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::check;

    fn webhooks(kind: &str, webhooks: &[(&str, u32, &str)]) -> String {
        let webhook = |(name, timeout, resource): &(&str, u32, &str)| {
            format!(
                "- name: {name}.example.com
  clientConfig: {{url: 'https://example.com'}}
  admissionReviewVersions: [v1]
  sideEffects: None
  timeoutSeconds: {timeout}
  rules: [{{apiGroups: [''], apiVersions: [v1], resources: [{resource}], operations: [CREATE]}}]
"
            )
        };
        let webhooks: String = webhooks.iter().map(webhook).collect();
        format!(
            "apiVersion: admissionregistration.k8s.io/v1
kind: {kind}WebhookConfiguration
metadata: {{name: w.static.k8s.io}}
webhooks:
{webhooks}"
        )
    }

    #[test]
    fn long_chains() {
        let chain = webhooks(
            "Mutating",
            &[
                ("a.b", 20, "pods"),
                ("b.b", 5, "'*'"),
                ("c.b", 11, "pods"),
                ("d.b", 1, "pods"),
            ],
        );
        check(
            WebhookTimeout::META,
            &chain,
            &[("11", "CREATE pods up to \"c.b.example.com\" may take 36 s")],
        );
    }

    #[test]
    fn short_chains() {
        check(
            WebhookTimeout::META,
            &webhooks("Mutating", &[("a.b", 30, "pods"), ("b.b", 30, "services")]),
            &[],
        );
        check(
            WebhookTimeout::META,
            &webhooks("Mutating", &[("a.b", 30, "pods"), ("b.b", 4, "pods")]),
            &[],
        );
        check(
            WebhookTimeout::META,
            &webhooks("Validating", &[("a.b", 30, "pods"), ("b.b", 30, "pods")]),
            &[],
        );
    }

    #[test]
    fn second_calls_count() {
        let chain = webhooks("Mutating", &[("a.b", 12, "pods"), ("b.b", 11, "pods")]);
        check(WebhookTimeout::META, &chain, &[]);
        let again = chain.replacen(
            "  sideEffects",
            "  reinvocationPolicy: IfNeeded\n  sideEffects",
            1,
        );
        check(WebhookTimeout::META, &again, &[("12", "35 s")]);
    }
}
