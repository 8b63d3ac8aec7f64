//! The metrics of the server, with their labels.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use pratique_manifest::ManifestPlugin;
use pratique_metrics::{
    Action, ConditionOwner, MetricFamily, MetricKind, Metrics, Operation, PolicyError, StepType,
    WebhookError, WebhookType,
};

/// Labels that Prometheus and its operator add.
const ADDED: [&str; 7] = [
    "container",
    "endpoint",
    "instance",
    "job",
    "namespace",
    "pod",
    "service",
];

/// Names of samples, with the labels that they have and the values of these, as far as these are known.
#[derive(Debug)]
pub(super) struct KnownSamples(BTreeMap<String, BTreeMap<String, BTreeSet<String>>>);

impl KnownSamples {
    /// The metrics of a server after all kinds of events.
    pub(super) fn new() -> Self {
        let mut known = BTreeMap::new();
        for family in everything().gather() {
            let labels = labels(&family);
            for suffix in suffixes(family.kind) {
                let mut labels = labels.clone();
                if *suffix == "_bucket" {
                    labels.insert("le".to_owned(), BTreeSet::new());
                }
                known.insert(format!("{}{suffix}", family.name), labels);
            }
        }
        KnownSamples(known)
    }

    /// Names of families, without what is said of distributions.
    pub(super) fn has(&self, sample: &str) -> bool {
        self.0.contains_key(sample)
    }

    /// Whether a sample may have this label with this value.
    pub(super) fn may_have(&self, sample: &str, label: &str, value: Option<&str>) -> bool {
        if ADDED.contains(&label) {
            return true;
        }
        let values = self.0.get(sample).and_then(|labels| labels.get(label));
        let is_open = ["hash", "le", "name", "policy", "policy_binding"].contains(&label);
        values.is_some_and(|values| is_open || value.is_none_or(|value| values.contains(value)))
    }
}

fn suffixes(kind: MetricKind) -> &'static [&'static str] {
    match kind {
        MetricKind::Counter | MetricKind::Gauge | MetricKind::Info => &[""],
        MetricKind::Histogram => &["_bucket", "_count", "_sum"],
        MetricKind::Summary => &["", "_count", "_sum"],
    }
}

fn labels(family: &MetricFamily) -> BTreeMap<String, BTreeSet<String>> {
    let mut labels: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, value) in family.series.iter().flat_map(|series| &series.labels) {
        labels
            .entry((*name).to_owned())
            .or_default()
            .insert(value.clone());
    }
    labels
}

/// Metrics in which each family has each of its labels' values.
fn everything() -> Metrics {
    let (metrics, at, now) = (Metrics::new("server"), Duration::ZERO, SystemTime::now());
    let errors = [
        PolicyError::None,
        PolicyError::Compile,
        PolicyError::Invalid,
        PolicyError::OutOfBudget,
    ];
    let operations = [
        Operation::Create,
        Operation::Update,
        Operation::Delete,
        Operation::Connect,
    ];
    for (operation, rejected) in operations
        .iter()
        .flat_map(|operation| [(*operation, false), (*operation, true)])
    {
        for phase in [StepType::Admit, StepType::Validate] {
            metrics.step(phase, operation, rejected, at);
            for plugin in ManifestPlugin::START_ORDER {
                metrics.controller(plugin.name(), phase, operation, rejected, at);
            }
        }
        for webhook in [WebhookType::Mutating, WebhookType::Validating] {
            metrics.webhook_call("hook", webhook, operation, (rejected, 200), at);
            for error in [WebhookError::None, WebhookError::Calling, WebhookError::Internal] {
                metrics.webhook_rejection("hook", webhook, operation, error, 400);
            }
            metrics.webhook_failed_open("hook", webhook);
            metrics.match_condition_exclusion("hook", webhook, operation);
        }
        for owner in [ConditionOwner::MutatingWebhook, ConditionOwner::ValidatingWebhook] {
            metrics.match_conditions("hook", owner, operation, at);
            metrics.match_condition_error("hook", owner, operation);
        }
    }
    for error in errors {
        metrics.mutation("policy", "binding", error, at);
        for action in [Action::Allow, Action::Deny, Action::Audit, Action::Warn] {
            metrics.validation("policy", "binding", action, error, at);
        }
    }
    for plugin in ManifestPlugin::START_ORDER {
        metrics.reload_succeeded(plugin.name(), "sha256:", now);
        metrics.reload_failed(plugin.name(), now);
    }
    metrics.compilation(at);
    metrics.evaluations(1, at);
    metrics.pod_security_evaluation(["deny", "enforce", "baseline", "latest", "create", "pod", ""]);
    metrics.pod_security_exemption(["create", "controller", ""]);
    metrics.pod_security_error(true, ["update", "namespace", ""]);
    metrics.audit_event();
    metrics.audit_errors("log", 1);
    metrics.audit_write_failures(1);
    for (code, reason) in [
        (413, "RequestEntityTooLarge"),
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
    ] {
        metrics.reviews_refused(code, reason, 1);
    }
    metrics.log_lines_dropped(1);
    for task in ["watch", "reload", "cluster", "certificates", "audit"] {
        metrics.background_tasks_ended(task, 1);
    }
    metrics.certificates_loaded();
    metrics.certificates_failed();
    for certificate in ["serving", "client-ca"] {
        metrics.certificate_expires(certificate, now);
    }
    metrics
}
