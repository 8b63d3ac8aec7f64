//! All metric families, with the names, help texts and labels of an API server.
// Upstream: pkg/admission/metrics/metrics.go, newAdmissionMetrics

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use prometheus_client::metrics::counter::Counter;

use crate::family::{FloatGauge, SeriesTable};
use crate::histogram::{CEL, CONDITION, DurationHistogram, POLICY, STEP, WEBHOOK};
use crate::snapshot::{MetricFamily, MetricKind, MetricSeries, SeriesValue};
use crate::summary::DurationSummary;

/// The labels of the metrics about a configuration.
const CONFIGURATION: [&str; 3] = ["apiserver_id_hash", "hash", "plugin"];

/// Declares [`MetricFamilies`], with a row for each field: its type, the value of a new series, its labels, name and help text.
macro_rules! families {
    ($($field:ident: $metric:ty = $new:expr, [$($label:literal),*], $name:literal, $help:literal;)*) => {
        /// The values of all families.
        #[derive(Debug)]
        pub(crate) struct MetricFamilies {
            $(pub(crate) $field: SeriesTable<$metric, { <[&str]>::len(&[$($label),*]) }>,)*
            /// The identity of the server and the hash of the configuration, for each plugin.
            pub(crate) configurations: Mutex<BTreeMap<String, (String, String)>>,
        }

        impl MetricFamilies {
            pub(crate) fn new() -> Self {
                MetricFamilies {
                    $($field: SeriesTable::new($name, $help, [$($label),*], $new),)*
                    configurations: Mutex::default(),
                }
            }

            /// All families, sorted by name, with data or without.
            pub(crate) fn all(&self) -> Vec<MetricFamily> {
                let mut all = vec![$(self.$field.family(),)* self.configurations()];
                all.sort_by_key(|family| family.name);
                all
            }
        }
    };
}

families! {
    // Phases and plugins.
    steps: DurationHistogram = || DurationHistogram::new(STEP), ["operation", "rejected", "type"],
        "apiserver_admission_step_admission_duration_seconds",
        "[STABLE] Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step type (validate or admit).";
    recent_steps: DurationSummary = DurationSummary::new, ["operation", "rejected", "type"],
        "apiserver_admission_step_admission_duration_seconds_summary",
        "[ALPHA] Admission sub-step latency summary in seconds, broken out for each operation and API resource and step type (validate or admit).";
    controllers: DurationHistogram = || DurationHistogram::new(STEP), ["name", "operation", "rejected", "type"],
        "apiserver_admission_controller_admission_duration_seconds",
        "[STABLE] Admission controller latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).";
    // Webhooks.
    calls: DurationHistogram = || DurationHistogram::new(WEBHOOK), ["name", "operation", "rejected", "type"],
        "apiserver_admission_webhook_admission_duration_seconds",
        "[STABLE] Admission webhook latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).";
    requests: Counter = Counter::default, ["code", "name", "operation", "rejected", "type"],
        "apiserver_admission_webhook_request_total",
        "[ALPHA] Admission webhook request total, identified by name and broken out for each admission type (validating or admit) and operation. Additional labels specify whether the request was rejected or not and an HTTP status code. Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.";
    rejections: Counter = Counter::default, ["error_type", "name", "operation", "rejection_code", "type"],
        "apiserver_admission_webhook_rejection_count",
        "[ALPHA] Admission webhook rejection count, identified by name and broken out for each admission type (validating or admit) and operation. Additional labels specify an error type (calling_webhook_error or apiserver_internal_error if an error occurred; no_error otherwise) and optionally a non-zero rejection code if the webhook rejects the request with an HTTP status code (honored by the apiserver when the code is greater or equal to 400). Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.";
    failed_open: Counter = Counter::default, ["name", "type"],
        "apiserver_admission_webhook_fail_open_count",
        "[ALPHA] Admission webhook fail open count, identified by name and broken out for each admission type (validating or admit).";
    // Match conditions.
    condition_errors: Counter = Counter::default, ["kind", "name", "operation", "type"],
        "apiserver_admission_match_condition_evaluation_errors_total",
        "[ALPHA] Admission match condition evaluation errors count, identified by name of resource containing the match condition and broken out for each kind containing matchConditions (webhook or policy), operation and admission type (validate or admit).";
    condition_exclusions: Counter = Counter::default, ["kind", "name", "operation", "type"],
        "apiserver_admission_match_condition_exclusions_total",
        "[ALPHA] Admission match condition evaluation exclusions count, identified by name of resource containing the match condition and broken out for each kind containing matchConditions (webhook or policy), operation and admission type (validate or admit).";
    conditions: DurationHistogram = || DurationHistogram::new(CONDITION), ["kind", "name", "operation", "type"],
        "apiserver_admission_match_condition_evaluation_seconds",
        "[ALPHA] Admission match condition evaluation time in seconds, identified by name and broken out for each kind containing matchConditions (webhook or policy), operation and type (validate or admit).";
    // Policies.
    validations: Counter = Counter::default, ["enforcement_action", "error_type", "policy", "policy_binding"],
        "apiserver_validating_admission_policy_check_total",
        "[BETA] Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken.";
    validation_times: DurationHistogram = || DurationHistogram::new(POLICY), [
        "enforcement_action", "error_type", "policy", "policy_binding"
    ],
        "apiserver_validating_admission_policy_check_duration_seconds",
        "[BETA] Validation admission latency for individual validation expressions in seconds, labeled by policy and further including binding and enforcement action taken.";
    mutations: Counter = Counter::default, ["error_type", "policy", "policy_binding"],
        "apiserver_mutating_admission_policy_check_total",
        "[ALPHA] Mutation admission policy check total, labeled by policy and further identified by binding.";
    mutation_times: DurationHistogram = || DurationHistogram::new(POLICY), ["error_type", "policy", "policy_binding"],
        "apiserver_mutating_admission_policy_check_duration_seconds",
        "[ALPHA] Mutation admission latency for individual mutation expressions in seconds, labeled by policy and binding.";
    compilations: DurationHistogram = || DurationHistogram::new(CEL), [],
        "apiserver_cel_compilation_duration_seconds",
        "[BETA] CEL compilation time in seconds.";
    evaluations: DurationHistogram = || DurationHistogram::new(CEL), [],
        "apiserver_cel_evaluation_duration_seconds",
        "[BETA] CEL evaluation time in seconds.";
    // Pod security. Upstream: pod-security-admission/metrics/metrics.go, NewPrometheusRecorder.
    pod_security_evaluations: Counter = Counter::default, [
        "decision", "mode", "policy_level", "policy_version", "request_operation", "resource", "subresource"
    ],
        "pod_security_evaluations_total",
        "[ALPHA] Number of policy evaluations that occurred, not counting ignored or exempt requests.";
    pod_security_exemptions: Counter = Counter::default, ["request_operation", "resource", "subresource"],
        "pod_security_exemptions_total",
        "[ALPHA] Number of exempt requests, not counting ignored or out of scope requests.";
    pod_security_errors: Counter = Counter::default, [
        "fatal", "request_operation", "resource", "subresource"
    ],
        "pod_security_errors_total",
        "[ALPHA] Number of errors preventing normal evaluation. Non-fatal errors may result in the latest restricted profile being used for evaluation.";
    // Reloads.
    reloads: Counter = Counter::default, ["apiserver_id_hash", "plugin", "status"],
        "apiserver_manifest_admission_config_controller_automatic_reloads_total",
        "[ALPHA] Total number of automatic reloads of admission manifest configuration split by status, plugin, and apiserver identity.";
    reload_times: FloatGauge = FloatGauge::default, ["apiserver_id_hash", "plugin", "status"],
        "apiserver_manifest_admission_config_controller_automatic_reload_last_timestamp_seconds",
        "[ALPHA] Timestamp of the last automatic reload of admission manifest configuration split by status, plugin, and apiserver identity.";
    // Audit.
    audit_events: Counter = Counter::default, [],
        "apiserver_audit_event_total",
        "[ALPHA] Counter of audit events generated and sent to the audit backend.";
    audit_errors: Counter = Counter::default, ["plugin"],
        "apiserver_audit_error_total",
        "[ALPHA] Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected by the error.";
    // Families that an API server does not have.
    undecided: Counter = Counter::default, ["name", "plugin", "reason"],
        "pratique_undecided_total",
        "Number of times that the decision of a policy or webhook depended on what was not given, identified by its name and broken out for each plugin and what was missing.";
    audit_write_failures: Counter = Counter::default, [],
        "pratique_audit_write_failures_total",
        "[ALPHA] Number of times that audit events could not be written. They wait, and writing them is tried again.";
    reviews_refused: Counter = Counter::default, ["code", "reason"],
        "pratique_reviews_refused_total",
        "[ALPHA] Number of AdmissionReviews that were answered by an HTTP error instead of a decision, split by status code and reason. The failure policy of the webhook then decides.";
    log_lines: Counter = Counter::default, [],
        "pratique_log_lines_dropped_total",
        "[ALPHA] Number of log lines that were dropped because standard error was not read.";
    background_tasks: Counter = Counter::default, ["task"],
        "pratique_background_tasks_ended_total",
        "[ALPHA] Number of background tasks that ended before the server did, split by task. The server is not ready any more then.";
    directories_watched: FloatGauge = FloatGauge::default, ["directory", "plugin"],
        "pratique_manifest_directory_watched",
        "[ALPHA] Whether the file system tells of changes to a directory of manifests, split by directory and plugin. Where it is 0, changes are seen by the poll only.";
    certificate_loads: Counter = Counter::default, ["status"],
        "pratique_certificate_reloads_total",
        "[ALPHA] Number of times that the server's certificates were loaded, split by status.";
    certificate_expirations: FloatGauge = FloatGauge::default, ["certificate"],
        "pratique_certificate_expiration_timestamp_seconds",
        "[ALPHA] Time at which the first of the certificates expires, split by what they are for: serving, or client-ca.";
}

impl MetricFamilies {
    fn configurations(&self) -> MetricFamily {
        let configurations = self.configurations.lock().unwrap_or_else(PoisonError::into_inner);
        let mut series: Vec<MetricSeries> = configurations
            .iter()
            .map(|(plugin, (identity, hash))| MetricSeries {
                labels: CONFIGURATION
                    .into_iter()
                    .zip([identity.clone(), hash.clone(), plugin.clone()])
                    .collect(),
                value: SeriesValue::Gauge(1.0),
            })
            .collect();
        series.sort_by(|left, right| left.labels.cmp(&right.labels));
        MetricFamily {
            name: "apiserver_manifest_admission_config_controller_last_config_info",
            help: "[ALPHA] Information about the last applied admission manifest configuration with hash as label, split by plugin and apiserver identity.",
            kind: MetricKind::Info,
            labels: CONFIGURATION.to_vec(),
            series,
        }
    }
}
