//! One method for each event that is counted.

use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pratique_gotext::hex::encode_to_string;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use sha2::{Digest, Sha256};

use crate::encode::encode;
use crate::families::MetricFamilies;
use crate::format::Format;
use crate::labels::{Action, ConditionOwner, Operation, PolicyError, StepType, WebhookError, WebhookType};
use crate::snapshot::MetricFamily;

/// All metrics of a server. Clones share their values.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<SharedMetrics>);

#[derive(Debug)]
struct SharedMetrics {
    families: MetricFamilies,
    identity: String,
}

/// The highest value of a code label. Higher codes are truncated to it.
// Upstream: pkg/admission/metrics/metrics.go, ObserveWebhook
const HIGHEST_CODE: u16 = 600;

impl Metrics {
    /// Empty metrics. Metrics of reloads have a hash of the server's identity as a label.
    #[must_use]
    pub fn new(identity: &str) -> Self {
        Metrics(Arc::new(SharedMetrics {
            families: MetricFamilies::new(),
            identity: identity_hash(identity),
        }))
    }

    /// Observes a phase of admission.
    pub fn step(&self, step: StepType, operation: Operation, rejected: bool, elapsed: Duration) {
        let labels = [operation.as_str(), truth(rejected), step.as_str()];
        self.families().steps.observe(labels, elapsed);
        self.families().recent_steps.observe(labels, elapsed);
    }

    /// Observes an admission plugin, such as `ValidatingAdmissionPolicy`, for one request.
    pub fn controller(
        &self,
        name: &str,
        step: StepType,
        operation: Operation,
        rejected: bool,
        elapsed: Duration,
    ) {
        let labels = [name, operation.as_str(), truth(rejected), step.as_str()];
        self.families().controllers.observe(labels, elapsed);
    }

    /// Observes a webhook call, with the status code of the response, or 0.
    pub fn webhook_call(
        &self,
        name: &str,
        webhook: WebhookType,
        operation: Operation,
        (rejected, code): (bool, u16),
        elapsed: Duration,
    ) {
        let (operation, rejected, webhook) = (operation.as_str(), truth(rejected), webhook.as_str());
        let code = CodeLabel::new(code);
        self.families()
            .requests
            .inc([code.as_str(), name, operation, rejected, webhook]);
        self.families()
            .calls
            .observe([name, operation, rejected, webhook], elapsed);
    }

    /// Counts a rejection by a webhook or by a failed call, with the status code of the response, or 0.
    pub fn webhook_rejection(
        &self,
        name: &str,
        webhook: WebhookType,
        operation: Operation,
        error: WebhookError,
        code: u16,
    ) {
        let code = CodeLabel::new(code);
        let labels = [
            error.as_str(),
            name,
            operation.as_str(),
            code.as_str(),
            webhook.as_str(),
        ];
        self.families().rejections.inc(labels);
    }

    /// Counts a failed webhook call that the failure policy ignored.
    pub fn webhook_failed_open(&self, name: &str, webhook: WebhookType) {
        self.families().failed_open.inc([name, webhook.as_str()]);
    }

    /// Observes the evaluation of match conditions.
    pub fn match_conditions(
        &self,
        name: &str,
        owner: ConditionOwner,
        operation: Operation,
        elapsed: Duration,
    ) {
        let (kind, step) = owner.kind_and_type();
        self.families()
            .conditions
            .observe([kind, name, operation.as_str(), step], elapsed);
    }

    /// Counts an evaluation error of a match condition.
    pub fn match_condition_error(&self, name: &str, owner: ConditionOwner, operation: Operation) {
        let (kind, step) = owner.kind_and_type();
        self.families()
            .condition_errors
            .inc([kind, name, operation.as_str(), step]);
    }

    /// Counts a webhook that was excluded by a match condition. Exclusions of policies are not counted.
    pub fn match_condition_exclusion(&self, name: &str, webhook: WebhookType, operation: Operation) {
        let labels = ["webhook", name, operation.as_str(), webhook.exclusion_type()];
        self.families().condition_exclusions.inc(labels);
    }

    /// Observes a validation of a policy that was false ([`PolicyError::Invalid`]) or failed, with the evaluation time of
    /// its expression. Validations that pass are not counted.
    pub fn validation(
        &self,
        policy: &str,
        binding: &str,
        action: Action,
        error: PolicyError,
        elapsed: Duration,
    ) {
        let labels = [action.as_str(), error.as_str(), policy, binding];
        self.families().validations.inc(labels);
        self.families().validation_times.observe(labels, elapsed);
    }

    /// Observes a mutation of a policy.
    pub fn mutation(&self, policy: &str, binding: &str, error: PolicyError, elapsed: Duration) {
        let labels = [error.as_str(), policy, binding];
        self.families().mutations.inc(labels);
        self.families().mutation_times.observe(labels, elapsed);
    }

    /// Counts an evaluation by the plugin PodSecurity. The labels are the decision, the mode, the level and version of the
    /// policy, and the operation, resource and subresource of the request.
    pub fn pod_security_evaluation(&self, labels: [&str; 7]) {
        self.families().pod_security_evaluations.inc(labels);
    }

    /// Counts a request that the plugin PodSecurity exempts. The labels are its operation, resource and subresource.
    pub fn pod_security_exemption(&self, labels: [&str; 3]) {
        self.families().pod_security_exemptions.inc(labels);
    }

    /// Counts an error of the plugin PodSecurity. The labels are the operation, resource and subresource of the request.
    pub fn pod_security_error(&self, is_fatal: bool, [operation, resource, subresource]: [&str; 3]) {
        let labels = [truth(is_fatal), operation, resource, subresource];
        self.families().pod_security_errors.inc(labels);
    }

    /// Counts a decision of a policy or webhook that depended on unknown state.
    pub fn undecided(&self, name: &str, plugin: &str, reason: &str) {
        self.families().undecided.inc([name, plugin, reason]);
    }

    /// Counts a successful load or reload of manifests. The hash is empty without manifests.
    pub fn reload_succeeded(&self, plugin: &str, hash: &str, at: SystemTime) {
        self.reloaded(plugin, "success", at);
        // An API server without an identity has no configuration info.
        if self.0.identity.is_empty() {
            return;
        }
        self.families()
            .configurations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(plugin.to_owned(), (self.0.identity.clone(), hash.to_owned()));
    }

    /// Counts a failed reload of manifests.
    pub fn reload_failed(&self, plugin: &str, at: SystemTime) {
        self.reloaded(plugin, "failure", at);
    }

    /// Observes the compilation of an expression.
    pub fn compilation(&self, elapsed: Duration) {
        self.families().compilations.observe([], elapsed);
    }

    /// Observes the evaluation of `count` policies, each with this duration.
    pub fn evaluations(&self, count: usize, each: Duration) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        if count > 0 {
            self.families()
                .evaluations
                .with([], |durations| durations.observe_each(each, count));
        }
    }

    /// Counts an audit event.
    pub fn audit_event(&self) {
        self.families().audit_events.inc([]);
    }

    /// Counts lost audit events of a backend. With 0, initialises the counter.
    pub fn audit_errors(&self, backend: &str, lost: u64) {
        self.families().audit_errors.add([backend], lost);
    }

    /// Counts failed writes of audit events, which are retried. With 0, initialises the counter.
    pub fn audit_write_failures(&self, count: u64) {
        self.families().audit_write_failures.add([], count);
    }

    /// Counts AdmissionReviews that got an HTTP error with this code and reason, such as `RequestEntityTooLarge`, instead
    /// of a decision. With 0, initialises the counter.
    pub fn reviews_refused(&self, code: u16, reason: &str, count: u64) {
        let code = CodeLabel::new(code);
        self.families()
            .reviews_refused
            .add([code.as_str(), reason], count);
    }

    /// Counts log lines that were dropped because standard error was not read. With 0, initialises the counter.
    pub fn log_lines_dropped(&self, count: u64) {
        self.families().log_lines.add([], count);
    }

    /// Counts background tasks that ended before the server. With 0, initialises the counter.
    pub fn background_tasks_ended(&self, task: &str, count: u64) {
        self.families().background_tasks.add([task], count);
    }

    /// Sets whether a directory of manifests is watched.
    pub fn directory_watched(&self, plugin: &str, directory: &str, is_watched: bool) {
        self.families()
            .directories_watched
            .set([directory, plugin], f64::from(u8::from(is_watched)));
    }

    /// Counts a successful load or reload of the server's certificates.
    pub fn certificates_loaded(&self) {
        self.families().certificate_loads.inc(["success"]);
        self.families().certificate_loads.add(["failure"], 0);
    }

    /// Counts a failed reload of the server's certificates.
    pub fn certificates_failed(&self) {
        self.families().certificate_loads.inc(["failure"]);
    }

    /// Sets the earliest expiry of the certificates with this purpose.
    pub fn certificate_expires(&self, certificate: &str, at: SystemTime) {
        let seconds = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        self.families()
            .certificate_expirations
            .set([certificate], seconds);
    }

    /// All families with data, sorted by name.
    #[must_use]
    pub fn gather(&self) -> Vec<MetricFamily> {
        let mut families = self.described();
        families.retain(|family| !family.series.is_empty());
        families
    }

    /// All families, sorted by name, also those without data.
    #[must_use]
    pub fn described(&self) -> Vec<MetricFamily> {
        self.families().all()
    }

    /// All families in the given format.
    #[must_use]
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Text => self.to_text(),
            Format::OpenMetrics => self.openmetrics(),
        }
    }

    /// All families in the Prometheus text format, as an API server writes them.
    #[must_use]
    pub fn to_text(&self) -> String {
        crate::text::write(&self.gather())
    }

    /// All families as OpenMetrics. The two counters whose names do not end in `_total` have the type `unknown`, so that
    /// their samples keep the names of an API server.
    #[must_use]
    pub fn openmetrics(&self) -> String {
        crate::openmetrics::write(&self.gather())
    }

    fn families(&self) -> &MetricFamilies {
        &self.0.families
    }

    fn reloaded(&self, plugin: &str, status: &str, at: SystemTime) {
        let labels = [&*self.0.identity, plugin, status];
        self.families().reloads.inc(labels);
        let seconds = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        self.families().reload_times.set(labels, seconds);
    }
}

/// Summaries are left out: `prometheus-client` does not support them.
impl Collector for Metrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        self.gather()
            .iter()
            .try_for_each(|family| encode(family, &mut encoder))
    }
}

/// The digits of a code, formatted without allocation.
struct CodeLabel([u8; 3], usize);

impl CodeLabel {
    fn new(code: u16) -> Self {
        let code = code.min(HIGHEST_CODE);
        let digit = |unit: u16| b'0' + u8::try_from(code / unit % 10).unwrap_or(0);
        let start = match code {
            100.. => 0,
            10.. => 1,
            _ => 2,
        };
        CodeLabel([digit(100), digit(10), digit(1)], start)
    }

    fn as_str(&self) -> &str {
        let digits = self.0.get(self.1..).unwrap_or_default();
        std::str::from_utf8(digits).unwrap_or_default()
    }
}

fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

fn identity_hash(identity: &str) -> String {
    if identity.is_empty() {
        return String::new();
    }
    format!("sha256:{}", encode_to_string(Sha256::digest(identity.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::{CodeLabel, identity_hash};

    #[test]
    fn codes_are_bounded() {
        let check = |code, expected| assert_eq!(CodeLabel::new(code).as_str(), expected);
        check(0, "0");
        check(7, "7");
        check(42, "42");
        check(200, "200");
        check(600, "600");
        check(601, "600");
        check(u16::MAX, "600");
    }

    #[test]
    fn identities_are_hashed() {
        assert_eq!(identity_hash(""), "");
        let expected = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(identity_hash("abc"), expected);
    }
}
