//! Webhooks that together may take longer than a request.
//!
//! # What
//!
//! Mutating webhooks are called one after the other, and a write request ends after 34 seconds. The timeouts of all
//! webhooks that match a request add up to more. Webhooks with `reinvocationPolicy: IfNeeded` count twice. Those whose selectors
//! contradict each other, such as the revisions of a service mesh, do not add up.
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

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use pratique_exclusion::is_virtual;
use pratique_types::Operation;
use pratique_types::builtin::ServedResource;

use crate::lint::{Lint, LintContext, LintSubject};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::selectors::contradiction;
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

/// How many webhooks are compared with each other; of more, all are taken to be called for the same requests.
const MOST_COMPARED: usize = 200;

/// Follows the webhook calls of each kind of request. Each webhook is reported once.
fn check_chains(manifests: &ManifestView<'_>, report: &mut LintReport) {
    let mut mutating: Vec<&WebhookView<'_>> = manifests
        .webhooks
        .iter()
        .filter(|webhook| webhook.is_mutating())
        .collect();
    mutating.sort_by_key(|webhook| &webhook.origin.name.name);
    let exclusions = ExclusionTable::new(&mutating);
    let mut overruns: Vec<(usize, &'static ServedResource, Operation, u32)> = Vec::new();
    for served in manifests
        .release
        .resources()
        .served()
        .iter()
        .filter(|served| !is_virtual(&served.resource.group, &served.resource.resource))
    {
        for operation in Operation::ALL {
            if let Some((index, sum)) = overrun(&mutating, &exclusions, served, operation)
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
        field.push(pratique_manifest::PathStep::Field("timeoutSeconds".to_owned()));
        report.add(&webhook.origin, &field, finding);
    }
}

/// Which webhooks are never called for the same request, as their selectors contradict each other: such are those of several
/// revisions of a service mesh.
struct ExclusionTable {
    by_namespace: Vec<Vec<bool>>,
    by_object: Vec<Vec<bool>>,
}

impl ExclusionTable {
    fn new(webhooks: &[&WebhookView<'_>]) -> Self {
        ExclusionTable {
            by_namespace: contradictions(webhooks, |webhook| webhook.namespace_selector),
            by_object: contradictions(webhooks, |webhook| webhook.object_selector),
        }
    }

    /// Whether one of two webhooks at most is called.
    fn excludes(&self, (one, other): (usize, usize), served: &ServedResource, operation: Operation) -> bool {
        let is_in =
            |table: &[Vec<bool>]| table.get(one).and_then(|row| row.get(other)).copied() == Some(true);
        let is_namespace = served.resource.group.is_empty() && served.resource.resource == "namespaces";
        let has_namespace = served.namespaced || is_namespace;
        // An update is selected by the new object or by the old one.
        let has_one_object = operation != Operation::Update;
        (has_namespace && is_in(&self.by_namespace)) || (has_one_object && is_in(&self.by_object))
    }
}

fn contradictions<'w, 'm>(
    webhooks: &[&'w WebhookView<'m>],
    selector: impl Fn(&'w WebhookView<'m>) -> Option<&'m LabelSelector>,
) -> Vec<Vec<bool>> {
    if webhooks.len() > MOST_COMPARED {
        return Vec::new();
    }
    let selectors: Vec<Option<&LabelSelector>> = webhooks.iter().map(|webhook| selector(webhook)).collect();
    let contradicts = |one: Option<&LabelSelector>, other: Option<&LabelSelector>| {
        let both = one.zip(other);
        both.is_some_and(|(one, other)| contradiction(&[one, other]).is_some())
    };
    let row = |one: &Option<&LabelSelector>| {
        let others = selectors.iter();
        others.map(|other| contradicts(*one, *other)).collect()
    };
    selectors.iter().map(row).collect()
}

/// The first webhook whose timeout is beyond the request's, and the time until then; reinvoked webhooks are called
/// after all others.
fn overrun(
    webhooks: &[&WebhookView<'_>],
    exclusions: &ExclusionTable,
    served: &ServedResource,
    operation: Operation,
) -> Option<(usize, u32)> {
    let takes = |rule: &RuleView<'_>| rule.operations.contains(&operation) && rule.matches(served);
    let excludes = |one: usize, other: usize| exclusions.excludes((one, other), served, operation);
    let called: Vec<(usize, &&WebhookView<'_>)> = webhooks
        .iter()
        .enumerate()
        .filter(|(_, webhook)| webhook.rules.iter().any(takes))
        .collect();
    let has_company = |index: usize| {
        let mut others = called.iter().filter(|(other, _)| *other != index);
        others.any(|(other, _)| !excludes(index, *other))
    };
    let again = called
        .iter()
        .filter(|(index, webhook)| webhook.reinvoked && has_company(*index));
    let calls: Vec<&(usize, &&WebhookView<'_>)> = called.iter().chain(again).collect();
    for (at, (last, webhook)) in calls.iter().enumerate() {
        // Those before it that are called for the same request. There may be a longer chain, never a shorter one.
        let mut chain = vec![*last];
        let mut sum = webhook.timeout;
        for (index, webhook) in calls.iter().take(at) {
            if !chain.iter().any(|other| excludes(*index, *other)) {
                chain.push(*index);
                sum = sum.saturating_add(webhook.timeout);
            }
        }
        if sum > DEADLINE {
            return Some((*last, sum));
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

    #[test]
    fn webhooks_of_different_objects_do_not_add_up() {
        let selected = |selectors: &[&str]| {
            let webhook = |(at, selector): (usize, &&str)| {
                format!(
                    "- name: w{at}.b.example.com
  clientConfig: {{url: 'https://example.com'}}
  admissionReviewVersions: [v1]
  sideEffects: None
  timeoutSeconds: 20
  {selector}
  rules: [{{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}}]
"
                )
            };
            let webhooks: String = selectors.iter().enumerate().map(webhook).collect();
            format!(
                "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration
metadata: {{name: w.static.k8s.io}}\nwebhooks:\n{webhooks}"
            )
        };
        let on = "namespaceSelector: {matchLabels: {injection: enabled}}";
        let off = "namespaceSelector: {matchExpressions: [{key: injection, operator: DoesNotExist}]}";
        let revision = "objectSelector: {matchLabels: {injection: enabled}}";
        let other = "objectSelector: {matchLabels: {injection: other}}";
        check(WebhookTimeout::META, &selected(&[on, off]), &[]);
        check(WebhookTimeout::META, &selected(&[revision, other]), &[]);
        check(
            WebhookTimeout::META,
            &selected(&[on, revision]),
            &[("20", "may take 40 s")],
        );
        check(
            WebhookTimeout::META,
            &selected(&[on, off, on]),
            &[("20", "up to \"w2.b.example.com\" may take 40 s")],
        );
        // An update is selected by either of its objects.
        let update = selected(&[revision, other]).replace("CREATE", "UPDATE");
        check(WebhookTimeout::META, &update, &[("20", "may take 40 s")]);
        let update = selected(&[on, off]).replace("CREATE", "UPDATE");
        check(WebhookTimeout::META, &update, &[]);
    }
}
