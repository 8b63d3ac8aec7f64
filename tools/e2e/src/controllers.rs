//! kube-controller-manager, with the controllers that Jobs, their accounts and their Pods need.

use std::path::Path;

use pratique_harness::{RunningProcess, ToolError, free_port};

use super::kubectl::KubectlUser;
use super::programs::ProgramPaths;

/// The controllers that are needed.
const CONTROLLERS: [&str; 5] = [
    "cronjob-controller",
    "garbage-collector-controller",
    "job-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
];

/// Starts it for the API server that an administrator's kubectl asks.
pub(super) fn start(
    programs: &ProgramPaths,
    state: &Path,
    kubectl: &KubectlUser,
) -> Result<RunningProcess, ToolError> {
    let kubeconfig = kubectl.kubeconfig(state.join("controllers.kubeconfig"), "admin-token")?;
    let port = free_port()?;
    let mut command = programs.cluster("controller-manager");
    command
        .arg(format!("--kubeconfig={}", kubeconfig.display()))
        .arg(format!("--root-ca-file={}", kubectl.authority().display()))
        .arg(format!("--controllers={}", CONTROLLERS.join(",")))
        .arg(format!("--cert-dir={}", state.join("controllers").display()))
        .arg(format!("--secure-port={port}"))
        .args(["--bind-address=127.0.0.1", "--leader-elect=false"]);
    RunningProcess::start(command, &state.join("controllers.log"))
}
