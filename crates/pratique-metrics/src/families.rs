//! All metric families, with the names, help texts and labels of an API server.
// Upstream: pkg/admission/metrics/metrics.go, newAdmissionMetrics

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use prometheus_client::metrics::counter::Counter;

use crate::family::{FloatGauge, Table};
use crate::histogram::{CEL, CONDITION, Histogram, POLICY, STEP, WEBHOOK};
use crate::snapshot::{Family, Kind, Series, Value};
use crate::summary::Summary;

/// The labels of what is known of a configuration.
const CONFIGURATION: [&str; 3] = ["apiserver_id_hash", "hash", "plugin"];

/// The values of all families.
#[derive(Debug)]
pub(crate) struct Families {
    pub(crate) steps: Table<Histogram, 3>,
    pub(crate) recent_steps: Table<Summary, 3>,
    pub(crate) controllers: Table<Histogram, 4>,
    pub(crate) calls: Table<Histogram, 4>,
    pub(crate) requests: Table<Counter, 5>,
    pub(crate) rejections: Table<Counter, 5>,
    pub(crate) failed_open: Table<Counter, 2>,
    pub(crate) condition_errors: Table<Counter, 4>,
    pub(crate) condition_exclusions: Table<Counter, 4>,
    pub(crate) conditions: Table<Histogram, 4>,
    pub(crate) validations: Table<Counter, 4>,
    pub(crate) validation_times: Table<Histogram, 4>,
    pub(crate) mutations: Table<Counter, 3>,
    pub(crate) mutation_times: Table<Histogram, 3>,
    pub(crate) reloads: Table<Counter, 3>,
    pub(crate) reload_times: Table<FloatGauge, 3>,
    /// The identity of the server and the hash of the configuration, for each plugin.
    pub(crate) configurations: Mutex<BTreeMap<String, (String, String)>>,
    pub(crate) compilations: Table<Histogram, 0>,
    pub(crate) evaluations: Table<Histogram, 0>,
    pub(crate) undecided: Table<Counter, 3>,
    pub(crate) pod_security_evaluations: Table<Counter, 7>,
    pub(crate) pod_security_exemptions: Table<Counter, 3>,
    pub(crate) pod_security_errors: Table<Counter, 4>,
    pub(crate) audit_events: Table<Counter, 0>,
    pub(crate) audit_errors: Table<Counter, 1>,
    pub(crate) audit_write_failures: Table<Counter, 0>,
    pub(crate) reviews_refused: Table<Counter, 2>,
    pub(crate) log_lines: Table<Counter, 0>,
    pub(crate) background_tasks: Table<Counter, 1>,
    pub(crate) directories_watched: Table<FloatGauge, 2>,
    pub(crate) certificate_loads: Table<Counter, 1>,
    pub(crate) certificate_expirations: Table<FloatGauge, 1>,
}

impl Families {
    pub(crate) fn new() -> Self {
        let step = || Histogram::new(STEP);
        let policy = || Histogram::new(POLICY);
        Families {
            steps: Table::new(["operation", "rejected", "type"], step),
            recent_steps: Table::new(["operation", "rejected", "type"], Summary::new),
            controllers: Table::new(["name", "operation", "rejected", "type"], step),
            calls: Table::new(["name", "operation", "rejected", "type"], || {
                Histogram::new(WEBHOOK)
            }),
            requests: Table::new(
                ["code", "name", "operation", "rejected", "type"],
                Counter::default,
            ),
            rejections: Table::new(
                ["error_type", "name", "operation", "rejection_code", "type"],
                Counter::default,
            ),
            failed_open: Table::new(["name", "type"], Counter::default),
            condition_errors: Table::new(["kind", "name", "operation", "type"], Counter::default),
            condition_exclusions: Table::new(["kind", "name", "operation", "type"], Counter::default),
            conditions: Table::new(["kind", "name", "operation", "type"], || {
                Histogram::new(CONDITION)
            }),
            validations: Table::new(
                ["enforcement_action", "error_type", "policy", "policy_binding"],
                Counter::default,
            ),
            validation_times: Table::new(
                ["enforcement_action", "error_type", "policy", "policy_binding"],
                policy,
            ),
            mutations: Table::new(["error_type", "policy", "policy_binding"], Counter::default),
            mutation_times: Table::new(["error_type", "policy", "policy_binding"], policy),
            reloads: Table::new(["apiserver_id_hash", "plugin", "status"], Counter::default),
            reload_times: Table::new(["apiserver_id_hash", "plugin", "status"], FloatGauge::default),
            configurations: Mutex::default(),
            compilations: Table::new([], || Histogram::new(CEL)),
            evaluations: Table::new([], || Histogram::new(CEL)),
            undecided: Table::new(["name", "plugin", "reason"], Counter::default),
            pod_security_evaluations: Table::new(
                [
                    "decision",
                    "mode",
                    "policy_level",
                    "policy_version",
                    "request_operation",
                    "resource",
                    "subresource",
                ],
                Counter::default,
            ),
            pod_security_exemptions: Table::new(
                ["request_operation", "resource", "subresource"],
                Counter::default,
            ),
            pod_security_errors: Table::new(
                ["fatal", "request_operation", "resource", "subresource"],
                Counter::default,
            ),
            audit_events: Table::new([], Counter::default),
            audit_errors: Table::new(["plugin"], Counter::default),
            audit_write_failures: Table::new([], Counter::default),
            reviews_refused: Table::new(["code", "reason"], Counter::default),
            log_lines: Table::new([], Counter::default),
            background_tasks: Table::new(["task"], Counter::default),
            directories_watched: Table::new(["directory", "plugin"], FloatGauge::default),
            certificate_loads: Table::new(["status"], Counter::default),
            certificate_expirations: Table::new(["certificate"], FloatGauge::default),
        }
    }

    /// All families, sorted by name, with data or without.
    pub(crate) fn all(&self) -> Vec<Family> {
        let mut all = self.of_steps();
        all.extend(self.of_webhooks());
        all.extend(self.of_conditions());
        all.extend(self.of_policies());
        all.extend(self.of_pod_security());
        all.extend(self.of_manifests());
        all.extend(self.of_audit());
        all.push(counter(
            "pratique_undecided_total",
            "Number of times that the decision of a policy or webhook depended on what was not given, identified by its name and broken out for each plugin and what was missing.",
            &self.undecided,
        ));
        all.extend(self.of_server());
        all.sort_by_key(|family| family.name);
        all
    }

    fn of_steps(&self) -> Vec<Family> {
        vec![
            histogram(
                "apiserver_admission_step_admission_duration_seconds",
                "[STABLE] Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step type (validate or admit).",
                &self.steps,
            ),
            Family {
                name: "apiserver_admission_step_admission_duration_seconds_summary",
                help: "[ALPHA] Admission sub-step latency summary in seconds, broken out for each operation and API resource and step type (validate or admit).",
                kind: Kind::Summary,
                labels: self.recent_steps.labels(),
                series: series(&self.recent_steps, |summary| Value::Summary(summary.read())),
            },
            histogram(
                "apiserver_admission_controller_admission_duration_seconds",
                "[STABLE] Admission controller latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).",
                &self.controllers,
            ),
        ]
    }

    fn of_webhooks(&self) -> Vec<Family> {
        vec![
            histogram(
                "apiserver_admission_webhook_admission_duration_seconds",
                "[STABLE] Admission webhook latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).",
                &self.calls,
            ),
            counter(
                "apiserver_admission_webhook_request_total",
                "[ALPHA] Admission webhook request total, identified by name and broken out for each admission type (validating or admit) and operation. Additional labels specify whether the request was rejected or not and an HTTP status code. Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.",
                &self.requests,
            ),
            counter(
                "apiserver_admission_webhook_rejection_count",
                "[ALPHA] Admission webhook rejection count, identified by name and broken out for each admission type (validating or admit) and operation. Additional labels specify an error type (calling_webhook_error or apiserver_internal_error if an error occurred; no_error otherwise) and optionally a non-zero rejection code if the webhook rejects the request with an HTTP status code (honored by the apiserver when the code is greater or equal to 400). Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.",
                &self.rejections,
            ),
            counter(
                "apiserver_admission_webhook_fail_open_count",
                "[ALPHA] Admission webhook fail open count, identified by name and broken out for each admission type (validating or admit).",
                &self.failed_open,
            ),
        ]
    }

    fn of_conditions(&self) -> Vec<Family> {
        vec![
            counter(
                "apiserver_admission_match_condition_evaluation_errors_total",
                "[ALPHA] Admission match condition evaluation errors count, identified by name of resource containing the match condition and broken out for each kind containing matchConditions (webhook or policy), operation and admission type (validate or admit).",
                &self.condition_errors,
            ),
            counter(
                "apiserver_admission_match_condition_exclusions_total",
                "[ALPHA] Admission match condition evaluation exclusions count, identified by name of resource containing the match condition and broken out for each kind containing matchConditions (webhook or policy), operation and admission type (validate or admit).",
                &self.condition_exclusions,
            ),
            histogram(
                "apiserver_admission_match_condition_evaluation_seconds",
                "[ALPHA] Admission match condition evaluation time in seconds, identified by name and broken out for each kind containing matchConditions (webhook or policy), operation and type (validate or admit).",
                &self.conditions,
            ),
        ]
    }

    fn of_policies(&self) -> Vec<Family> {
        vec![
            counter(
                "apiserver_validating_admission_policy_check_total",
                "[BETA] Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken.",
                &self.validations,
            ),
            histogram(
                "apiserver_validating_admission_policy_check_duration_seconds",
                "[BETA] Validation admission latency for individual validation expressions in seconds, labeled by policy and further including binding and enforcement action taken.",
                &self.validation_times,
            ),
            counter(
                "apiserver_mutating_admission_policy_check_total",
                "[ALPHA] Mutation admission policy check total, labeled by policy and further identified by binding.",
                &self.mutations,
            ),
            histogram(
                "apiserver_mutating_admission_policy_check_duration_seconds",
                "[ALPHA] Mutation admission latency for individual mutation expressions in seconds, labeled by policy and binding.",
                &self.mutation_times,
            ),
            histogram(
                "apiserver_cel_compilation_duration_seconds",
                "[BETA] CEL compilation time in seconds.",
                &self.compilations,
            ),
            histogram(
                "apiserver_cel_evaluation_duration_seconds",
                "[BETA] CEL evaluation time in seconds.",
                &self.evaluations,
            ),
        ]
    }

    // Upstream: pod-security-admission/metrics/metrics.go, NewPrometheusRecorder
    fn of_pod_security(&self) -> Vec<Family> {
        vec![
            counter(
                "pod_security_evaluations_total",
                "[ALPHA] Number of policy evaluations that occurred, not counting ignored or exempt requests.",
                &self.pod_security_evaluations,
            ),
            counter(
                "pod_security_exemptions_total",
                "[ALPHA] Number of exempt requests, not counting ignored or out of scope requests.",
                &self.pod_security_exemptions,
            ),
            counter(
                "pod_security_errors_total",
                "[ALPHA] Number of errors preventing normal evaluation. Non-fatal errors may result in the latest restricted profile being used for evaluation.",
                &self.pod_security_errors,
            ),
        ]
    }

    fn of_manifests(&self) -> Vec<Family> {
        vec![
            counter(
                "apiserver_manifest_admission_config_controller_automatic_reloads_total",
                "[ALPHA] Total number of automatic reloads of admission manifest configuration split by status, plugin, and apiserver identity.",
                &self.reloads,
            ),
            gauge(
                "apiserver_manifest_admission_config_controller_automatic_reload_last_timestamp_seconds",
                "[ALPHA] Timestamp of the last automatic reload of admission manifest configuration split by status, plugin, and apiserver identity.",
                &self.reload_times,
            ),
            Family {
                name: "apiserver_manifest_admission_config_controller_last_config_info",
                help: "[ALPHA] Information about the last applied admission manifest configuration with hash as label, split by plugin and apiserver identity.",
                kind: Kind::Info,
                labels: CONFIGURATION.to_vec(),
                series: self.configurations(),
            },
        ]
    }

    fn of_audit(&self) -> Vec<Family> {
        vec![
            counter(
                "apiserver_audit_event_total",
                "[ALPHA] Counter of audit events generated and sent to the audit backend.",
                &self.audit_events,
            ),
            counter(
                "apiserver_audit_error_total",
                "[ALPHA] Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected by the error.",
                &self.audit_errors,
            ),
        ]
    }

    /// Families that an API server does not have.
    fn of_server(&self) -> Vec<Family> {
        vec![
            counter(
                "pratique_audit_write_failures_total",
                "[ALPHA] Number of times that audit events could not be written. They wait, and writing them is tried again.",
                &self.audit_write_failures,
            ),
            counter(
                "pratique_reviews_refused_total",
                "[ALPHA] Number of AdmissionReviews that were answered by an HTTP error instead of a decision, split by status code and reason. The failure policy of the webhook then decides.",
                &self.reviews_refused,
            ),
            counter(
                "pratique_log_lines_dropped_total",
                "[ALPHA] Number of log lines that were dropped because standard error was not read.",
                &self.log_lines,
            ),
            counter(
                "pratique_background_tasks_ended_total",
                "[ALPHA] Number of background tasks that ended before the server did, split by task. The server is not ready any more then.",
                &self.background_tasks,
            ),
            gauge(
                "pratique_manifest_directory_watched",
                "[ALPHA] Whether the file system tells of changes to a directory of manifests, split by directory and plugin. Where it is 0, changes are seen by the poll only.",
                &self.directories_watched,
            ),
            counter(
                "pratique_certificate_reloads_total",
                "[ALPHA] Number of times that the server's certificates were loaded, split by status.",
                &self.certificate_loads,
            ),
            gauge(
                "pratique_certificate_expiration_timestamp_seconds",
                "[ALPHA] Time at which the first of the certificates expires, split by what they are for: serving, or client-ca.",
                &self.certificate_expirations,
            ),
        ]
    }

    fn configurations(&self) -> Vec<Series> {
        let configurations = self.configurations.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Series> = configurations
            .iter()
            .map(|(plugin, (identity, hash))| Series {
                labels: CONFIGURATION
                    .into_iter()
                    .zip([identity.clone(), hash.clone(), plugin.clone()])
                    .collect(),
                value: Value::Gauge(1.0),
            })
            .collect();
        all.sort_by(|left, right| left.labels.cmp(&right.labels));
        all
    }
}

fn counter<const N: usize>(name: &'static str, help: &'static str, table: &Table<Counter, N>) -> Family {
    Family {
        name,
        help,
        kind: Kind::Counter,
        labels: table.labels(),
        series: series(table, |counter| Value::Counter(counter.get())),
    }
}

fn histogram<const N: usize>(name: &'static str, help: &'static str, table: &Table<Histogram, N>) -> Family {
    Family {
        name,
        help,
        kind: Kind::Histogram,
        labels: table.labels(),
        series: series(table, |histogram| Value::Histogram(histogram.read())),
    }
}

fn gauge<const N: usize>(name: &'static str, help: &'static str, table: &Table<FloatGauge, N>) -> Family {
    Family {
        name,
        help,
        kind: Kind::Gauge,
        labels: table.labels(),
        series: series(table, |gauge| Value::Gauge(gauge.get())),
    }
}

fn series<T, const N: usize>(table: &Table<T, N>, read: impl Fn(&T) -> Value) -> Vec<Series> {
    table
        .read(read)
        .into_iter()
        .map(|(labels, value)| Series { labels, value })
        .collect()
}
