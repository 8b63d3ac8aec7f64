//! The metrics of the plugin PodSecurity.

use pratique_metrics::Metrics;
use pratique_pod_security::{PodSecurityObserver, PolicyEvaluation, operation_label, resource_label};
use pratique_types::AdmissionRequest;

/// Counts evaluations, exemptions and errors as an API server does.
pub(super) struct PodSecurityMetrics(pub(super) Metrics);

/// The minor version of the API server whose plugin it is.
const SERVER_MINOR: i64 = 36;

impl PodSecurityObserver for PodSecurityMetrics {
    fn evaluated(&self, request: &AdmissionRequest<'_>, evaluation: PolicyEvaluation) {
        self.0.pod_security_evaluation([
            evaluation.decision(),
            evaluation.mode.as_str(),
            evaluation.policy.level.as_str(),
            &evaluation.version_label(SERVER_MINOR),
            &operation_label(request.operation),
            resource_label(request),
            &request.sub_resource,
        ]);
    }

    fn exempted(&self, request: &AdmissionRequest<'_>) {
        let operation = operation_label(request.operation);
        let labels = [&*operation, resource_label(request), &request.sub_resource];
        self.0.pod_security_exemption(labels);
    }

    fn failed(&self, request: &AdmissionRequest<'_>, is_fatal: bool) {
        let operation = operation_label(request.operation);
        let labels = [&*operation, resource_label(request), &request.sub_resource];
        self.0.pod_security_error(is_fatal, labels);
    }
}
