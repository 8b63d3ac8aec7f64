//! Servers that would count the requests of everyone.

use std::path::Path;

use super::{AttackScale, run, write};
use pratique_harness::{ToolError, outcome};

/// Whoever reaches a server with EventRateLimit could send reviews until the events of others are refused: it does not
/// start without the authority of its clients.
pub(super) fn anonymous(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    let configuration = serde_json::json!({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration",
        "plugins": [{"name": "EventRateLimit", "configuration": {
            "apiVersion": "eventratelimit.admission.k8s.io/v1alpha1", "kind": "Configuration",
            "limits": [{"type": "Namespace", "qps": 1, "burst": 10}]}}]});
    write(folder, "admission.yaml", &configuration.to_string())?;
    let result = run(
        program,
        folder,
        &[
            "serve",
            "--plain-http",
            "--listen",
            "127.0.0.1:0",
            "--plugins",
            "EventRateLimit",
            "--admission-control-config-file",
            "admission.yaml",
        ],
    )?;
    let is_refused = result.status.code() == Some(2) && result.stderr.contains("--client-ca-file");
    outcome(is_refused, result.summary())
}
