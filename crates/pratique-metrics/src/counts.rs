//! What can happen, as methods that count it.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus_client::metrics::counter::Counter;
use sha2::{Digest, Sha256};

use crate::families::Families;
use crate::format::Format;
use crate::labels::{
    Action, ConditionOwner, Operation, Phase, Plugin, PolicyError, WebhookError, WebhookType,
};
use crate::snapshot::Family;

/// All metrics of one server. Clones count in the same place.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    families: Families,
    identity: String,
}

/// The highest code of an answer that counts as itself.
const HIGHEST_CODE: u16 = 600;

impl Metrics {
    /// Metrics with nothing counted, of the server with this identity; reloads have its hash as a label.
    #[must_use]
    pub fn new(identity: &str) -> Self {
        Metrics(Arc::new(Inner {
            families: Families::new(),
            identity: identity_hash(identity),
        }))
    }

    /// A half of admission is over.
    pub fn step(&self, phase: Phase, operation: Operation, rejected: bool, elapsed: Duration) {
        let labels = [operation.as_str(), truth(rejected), phase.as_str()];
        self.0.families.steps.at(labels, |own| own.observe(elapsed));
        self.0
            .families
            .recent_steps
            .at(labels, |own| own.observe(elapsed));
    }

    /// An admission plugin, such as `ValidatingAdmissionPolicy`, is done with a request.
    pub fn controller(
        &self,
        name: &str,
        phase: Phase,
        operation: Operation,
        rejected: bool,
        elapsed: Duration,
    ) {
        let labels = [name, operation.as_str(), truth(rejected), phase.as_str()];
        self.0.families.controllers.at(labels, |own| own.observe(elapsed));
    }

    /// A webhook was called: with the code of its answer, 0 for none.
    pub fn webhook_call(
        &self,
        name: &str,
        webhook: WebhookType,
        operation: Operation,
        (rejected, code): (bool, u16),
        elapsed: Duration,
    ) {
        let (operation, rejected, webhook) = (operation.as_str(), truth(rejected), webhook.as_str());
        let code = Code::new(code);
        self.0
            .families
            .requests
            .at([code.as_str(), name, operation, rejected, webhook], Counter::inc);
        self.0
            .families
            .calls
            .at([name, operation, rejected, webhook], |own| own.observe(elapsed));
    }

    /// A webhook, or the failure to call it, led to a rejection: with the code of its answer, 0 for none.
    pub fn webhook_rejection(
        &self,
        name: &str,
        webhook: WebhookType,
        operation: Operation,
        error: WebhookError,
        code: u16,
    ) {
        let code = Code::new(code);
        let labels = [
            error.as_str(),
            name,
            operation.as_str(),
            code.as_str(),
            webhook.as_str(),
        ];
        self.0.families.rejections.at(labels, Counter::inc);
    }

    /// The failure to call a webhook was ignored.
    pub fn webhook_failed_open(&self, name: &str, webhook: WebhookType) {
        self.0
            .families
            .failed_open
            .at([name, webhook.as_str()], Counter::inc);
    }

    /// The match conditions of something were evaluated.
    pub fn match_conditions(
        &self,
        name: &str,
        owner: ConditionOwner,
        operation: Operation,
        elapsed: Duration,
    ) {
        let (kind, step) = owner.kind_and_type();
        self.0
            .families
            .conditions
            .at([kind, name, operation.as_str(), step], |own| own.observe(elapsed));
    }

    /// A match condition of something failed.
    pub fn match_condition_error(&self, name: &str, owner: ConditionOwner, operation: Operation) {
        let (kind, step) = owner.kind_and_type();
        self.0
            .families
            .condition_errors
            .at([kind, name, operation.as_str(), step], Counter::inc);
    }

    /// A match condition kept a webhook from being called. Policies do not count these.
    pub fn match_condition_exclusion(&self, name: &str, webhook: WebhookType, operation: Operation) {
        let labels = ["webhook", name, operation.as_str(), webhook.of_exclusion()];
        self.0.families.condition_exclusions.at(labels, Counter::inc);
    }

    /// A validation of a policy had an effect. One that is false has [`PolicyError::Invalid`]; one that passes is not
    /// counted. The time is that of its expression.
    pub fn validation(
        &self,
        policy: &str,
        binding: &str,
        action: Action,
        error: PolicyError,
        elapsed: Duration,
    ) {
        let labels = [action.as_str(), error.as_str(), policy, binding];
        self.0.families.validations.at(labels, Counter::inc);
        self.0
            .families
            .validation_times
            .at(labels, |own| own.observe(elapsed));
    }

    /// A mutation of a policy was tried.
    pub fn mutation(&self, policy: &str, binding: &str, error: PolicyError, elapsed: Duration) {
        let labels = [error.as_str(), policy, binding];
        self.0.families.mutations.at(labels, Counter::inc);
        self.0
            .families
            .mutation_times
            .at(labels, |own| own.observe(elapsed));
    }

    /// The decision of a policy or webhook of an admission plugin depended on what was not given, for this reason.
    pub fn undecided(&self, name: &str, plugin: &str, reason: &str) {
        self.0.families.undecided.at([name, plugin, reason], Counter::inc);
    }

    /// Manifests were loaded, at the start or again, and are in use now. The hash is empty when there are none.
    pub fn reload_succeeded(&self, plugin: Plugin, hash: &str, at: SystemTime) {
        self.reloaded(plugin, "success", at);
        let mut configurations = self
            .0
            .families
            .configurations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let place = Plugin::ALL.iter().position(|own| *own == plugin);
        if let Some(place) = place.and_then(|place| configurations.get_mut(place)) {
            // An API server without identity tells nothing of its configurations.
            *place =
                Some((self.0.identity.clone(), hash.to_owned())).filter(|(identity, _)| !identity.is_empty());
        }
    }

    /// Manifests could not be loaded again; those from before stay.
    pub fn reload_failed(&self, plugin: Plugin, at: SystemTime) {
        self.reloaded(plugin, "failure", at);
    }

    /// An expression was compiled.
    pub fn compilation(&self, elapsed: Duration) {
        self.0.families.compilations.at([], |own| own.observe(elapsed));
    }

    /// Policies were evaluated, each in this time.
    pub fn evaluations(&self, count: usize, each: Duration) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        if count > 0 {
            self.0
                .families
                .evaluations
                .at([], |own| own.observe_each(each, count));
        }
    }

    /// An audit event was made.
    pub fn audit_event(&self) {
        self.0.families.audit_events.at([], Counter::inc);
    }

    /// Audit events were lost in this backend. With 0, that none was is told.
    pub fn audit_errors(&self, backend: &str, lost: u64) {
        self.0.families.audit_errors.at([backend], |own| own.inc_by(lost));
    }

    /// Audit events could not be written, which is tried again. With 0, that this never happened is told.
    pub fn audit_write_failures(&self, count: u64) {
        self.0
            .families
            .audit_write_failures
            .at([], |own| own.inc_by(count));
    }

    /// An AdmissionReview was answered by an HTTP error of this code and reason (`RequestEntityTooLarge`) instead of a
    /// decision. With 0, that none was is told.
    pub fn reviews_refused(&self, code: u16, reason: &str, count: u64) {
        let code = Code::new(code);
        self.0
            .families
            .reviews_refused
            .at([code.as_str(), reason], |own| own.inc_by(count));
    }

    /// Lines of the log were dropped, as standard error was not read. With 0, that none was is told.
    pub fn log_lines_dropped(&self, count: u64) {
        self.0.families.log_lines.at([], |own| own.inc_by(count));
    }

    /// Background tasks of this kind ended before the server did. With 0, that none did is told.
    pub fn background_tasks_ended(&self, task: &str, count: u64) {
        self.0
            .families
            .background_tasks
            .at([task], |own| own.inc_by(count));
    }

    /// Whether the file system tells of changes to a directory of manifests.
    pub fn directory_watched(&self, plugin: Plugin, directory: &str, is_watched: bool) {
        self.0
            .families
            .directories_watched
            .at([directory, plugin.as_str()], |own| {
                own.set(f64::from(u8::from(is_watched)))
            });
    }

    /// The server's certificates were loaded, at the start or again.
    pub fn certificates_loaded(&self) {
        self.0.families.certificate_loads.at(["success"], Counter::inc);
        self.0
            .families
            .certificate_loads
            .at(["failure"], |own| own.inc_by(0));
    }

    /// The server's certificates could not be loaded again; those from before stay.
    pub fn certificates_failed(&self) {
        self.0.families.certificate_loads.at(["failure"], Counter::inc);
    }

    /// When a certificate of the server expires: the first one of several that are used for the same.
    pub fn certificate_expires(&self, certificate: &str, at: SystemTime) {
        let seconds = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        self.0
            .families
            .certificate_expirations
            .at([certificate], |own| own.set(seconds));
    }

    /// All families with data, by name.
    #[must_use]
    pub fn gather(&self) -> Vec<Family> {
        self.0.families.gather()
    }

    /// All families in this format.
    #[must_use]
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Text => self.text(),
            Format::OpenMetrics => self.openmetrics(),
        }
    }

    /// All families in the text format of Prometheus, as an API server writes them.
    #[must_use]
    pub fn text(&self) -> String {
        crate::text::write(&self.gather())
    }

    /// All families as OpenMetrics. The two counters whose names do not end in `_total` are of an unknown type there,
    /// so that their samples keep the names that they have with an API server.
    #[must_use]
    pub fn openmetrics(&self) -> String {
        crate::openmetrics::write(&self.gather())
    }

    fn reloaded(&self, plugin: Plugin, status: &str, at: SystemTime) {
        let labels = [&*self.0.identity, plugin.as_str(), status];
        self.0.families.reloads.at(labels, Counter::inc);
        let seconds = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        self.0.families.reload_times.at(labels, |own| own.set(seconds));
    }
}

/// Digits of a code.
struct Code([u8; 3], usize);

impl Code {
    fn new(code: u16) -> Self {
        let code = code.min(HIGHEST_CODE);
        let digit = |unit: u16| b'0' + u8::try_from(code / unit % 10).unwrap_or(0);
        let start = if code >= 100 {
            0
        } else {
            2 - usize::from(code >= 10)
        };
        Code([digit(100), digit(10), digit(1)], start)
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
    let mut hash = String::from("sha256:");
    for byte in Sha256::digest(identity.as_bytes()) {
        hash.extend([byte >> 4, byte & 15].map(|half| char::from_digit(half.into(), 16).unwrap_or('0')));
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::{Code, identity_hash};

    #[test]
    fn codes_are_bounded() {
        let check = |code, expected| assert_eq!(Code::new(code).as_str(), expected);
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
