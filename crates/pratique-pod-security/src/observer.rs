//! Observes evaluations, for metrics.

use pratique_types::{AdmissionRequest, Operation};

use crate::{Level, LevelVersion, Mode, Version};

/// Observes evaluations, for metrics.
///
/// An API server counts them as `pod_security_evaluations_total`, `pod_security_exemptions_total` and
/// `pod_security_errors_total`.
// Upstream: pod-security-admission/metrics/metrics.go, Recorder
pub trait PodSecurityObserver: Send + Sync {
    /// A pod or a workload was evaluated in a mode. Auditing and warning are reported only where there are violations.
    fn evaluated(&self, request: &AdmissionRequest<'_>, evaluation: PolicyEvaluation) {
        let _ = (request, evaluation);
    }

    /// A request was exempt.
    fn exempted(&self, request: &AdmissionRequest<'_>) {
        let _ = request;
    }

    /// An error prevented the usual evaluation, or with `is_fatal` every evaluation.
    fn failed(&self, request: &AdmissionRequest<'_>, is_fatal: bool) {
        let _ = (request, is_fatal);
    }
}

impl PodSecurityObserver for () {}

/// The result in one mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyEvaluation {
    /// The mode.
    pub mode: Mode,
    /// The level and the version that it has.
    pub policy: LevelVersion,
    /// Whether there are no violations.
    pub is_allowed: bool,
}

impl PolicyEvaluation {
    /// The label `decision` of the metric.
    pub fn decision(&self) -> &'static str {
        if self.is_allowed { "allow" } else { "deny" }
    }

    /// The label `policy_version` of the metric of a server of a minor version.
    pub fn version_label(&self, server_minor: i64) -> String {
        match self.policy {
            LevelVersion {
                level: Level::Baseline | Level::Restricted,
                version: Version::Minor(minor),
            } if minor > server_minor => "future".to_owned(),
            LevelVersion {
                level: Level::Baseline | Level::Restricted,
                version: version @ Version::Minor(_),
            } => version.to_string(),
            LevelVersion { .. } => Version::Latest.to_string(),
        }
    }
}

/// The label `resource` of the metrics.
pub fn resource_label(request: &AdmissionRequest<'_>) -> &'static str {
    match (
        request.resource.group.as_str(),
        request.resource.resource.as_str(),
    ) {
        ("", "pods") => "pod",
        ("", "namespaces") => "namespace",
        _ => "controller",
    }
}

/// The label `request_operation` of the metrics.
pub fn operation_label(operation: Operation) -> String {
    operation.as_str().to_ascii_lowercase()
}
