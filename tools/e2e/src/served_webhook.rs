//! `pratique serve` as the webhook of an API server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pratique_harness::{RunningProcess, TestCertificates, ToolError, free_port, workspace};
use serde_json::Value;

use super::PartEnvironment;
use super::apiserver::{ApiServer, ServerStart};
use super::etcd::EtcdServer;
use super::kubectl::KubectlUser;
use super::programs::succeeds;
use super::requests;
use super::starts::configuration;

/// An API server that asks a `pratique serve`, which evaluates by the manifests of a folder.
pub(super) struct ServedApi {
    etcd: EtcdServer,
    api: ApiServer,
    pratique: Option<RunningProcess>,
    pub(super) certificates: TestCertificates,
    port: u16,
    /// The AdmissionConfiguration of `serve`.
    admission: PathBuf,
    /// The kubeconfig of `serve`, if it follows the API server.
    kubeconfig: Option<PathBuf>,
    state: PathBuf,
}

/// Plugins that an API server does without which leaves policies to `serve`.
const LEFT_TO_SERVE: [&str; 2] = ["MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"];

impl ServedApi {
    /// Starts all of it, and registers the webhooks that `serve` asks for.
    pub(super) fn start(environment: &PartEnvironment) -> Result<Self, ToolError> {
        let mut served = Self::before_serve(environment, &[])?;
        served.serve(environment)?;
        served.register(environment)?;
        Ok(served)
    }

    /// Starts an API server that leaves policies to a `serve` which follows it; that was started, but may do nothing yet.
    pub(super) fn following(environment: &PartEnvironment) -> Result<Self, ToolError> {
        let mut served = Self::before_serve(environment, &LEFT_TO_SERVE)?;
        let path = served.state.join("kubeconfig");
        served.kubeconfig = Some(served.kubectl().kubeconfig(path, "serve-token")?);
        served.pratique = Some(served.spawn(environment)?);
        Ok(served)
    }

    fn before_serve(environment: &PartEnvironment, without: &[&str]) -> Result<Self, ToolError> {
        let state = environment.state.clone();
        let admission = place_manifests(&state.join("manifests"))?;
        let etcd = EtcdServer::start(&environment.programs, &state)?;
        let api = start_api(environment, &etcd, without)?;
        requests::create_fixtures(api.kubectl())?;
        Ok(ServedApi {
            etcd,
            api,
            pratique: None,
            certificates: TestCertificates::new(&state.join("tls"))?,
            port: free_port()?,
            admission,
            kubeconfig: None,
            state,
        })
    }

    /// Registers the webhooks that `serve` asks for.
    pub(super) fn register(&self, environment: &PartEnvironment) -> Result<(), ToolError> {
        let registration = self.registration(environment)?;
        self.kubectl().must(&["apply"], &registration).map(drop)
    }

    /// Ends the API server and starts it again, with what is in etcd.
    pub(super) fn restart_api(&mut self, environment: &PartEnvironment) -> Result<(), ToolError> {
        self.api.stop()?;
        self.api = start_api(environment, &self.etcd, &[])?;
        Ok(())
    }

    /// The administrator's kubectl.
    pub(super) fn kubectl(&self) -> &KubectlUser {
        self.api.kubectl()
    }

    /// The audit log of the API server.
    pub(super) fn audit_log(&self) -> Result<String, ToolError> {
        self.api.audit_log()
    }

    /// The folder of validating policies that `serve` reads.
    pub(super) fn manifests(&self) -> PathBuf {
        self.state.join("manifests/ValidatingAdmissionPolicy")
    }

    /// Starts `serve`, and waits until it is ready.
    pub(super) fn serve(&mut self, environment: &PartEnvironment) -> Result<(), ToolError> {
        let mut process = self.spawn(environment)?;
        process.wait_until("ready", |_| Ok(self.get("/readyz").is_ok()))?;
        self.pratique = Some(process);
        Ok(())
    }

    fn spawn(&self, environment: &PartEnvironment) -> Result<RunningProcess, ToolError> {
        let mut command = environment.programs.pratique();
        command
            .args(["serve", "--listen", &format!("127.0.0.1:{}", self.port)])
            .arg("--tls-cert")
            .arg(self.certificates.certificate())
            .arg("--tls-key")
            .arg(self.certificates.key())
            .arg("--config")
            .arg(&self.admission);
        self.know_cluster(&mut command);
        RunningProcess::start(command, &self.state.join("serve.log"))
    }

    /// Adds the flags for the state of the cluster and for the server's own URL.
    fn know_cluster(&self, command: &mut Command) {
        command.args(["--webhook-url", &format!("https://127.0.0.1:{}", self.port)]);
        match &self.kubeconfig {
            Some(path) => command
                .arg("--kubeconfig")
                .arg(path)
                .args(["--follow", "policies,webhooks"]),
            None => command
                .arg("--cluster-objects")
                .arg(workspace::root().join("tools/e2e/src/setting.yaml")),
        };
    }

    /// The running `serve`.
    pub(super) fn pratique(&mut self) -> Result<&mut RunningProcess, ToolError> {
        self.pratique
            .as_mut()
            .ok_or_else(|| ToolError::from("serve does not run".to_owned()))
    }

    /// Gets a path of `serve`, over TLS that only trusts the suite's own authority.
    pub(super) fn get(&self, path: &str) -> Result<String, ToolError> {
        self.curl(path, &[])
    }

    /// The answer of `serve` to a review that the suite sends.
    pub(super) fn review(&self, path: &str, review: &Value) -> Result<Value, ToolError> {
        let text = review.to_string();
        let answer = self.curl(path, &["--json", &text])?;
        serde_json::from_str(&answer).map_err(|error| ToolError::from(format!("{error}: {answer}")))
    }

    fn curl(&self, path: &str, arguments: &[&str]) -> Result<String, ToolError> {
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--fail-with-body", "--cacert"]);
        command.arg(self.certificates.authority());
        command.arg(format!("https://127.0.0.1:{}{path}", self.port));
        succeeds(command.args(arguments))
    }

    /// The serial number of the certificate that it shows.
    pub(super) fn serial(&self) -> Result<String, ToolError> {
        let certificates = self.curl("/livez", &["--output", "/dev/null", "--write-out", "%{certs}"])?;
        if certificates.is_empty() {
            Err("curl shows no certificate".into())
        } else {
            Ok(certificates)
        }
    }

    /// The webhook configurations that `serve` prints.
    pub(super) fn registration(&self, environment: &PartEnvironment) -> Result<String, ToolError> {
        let mut command = environment.programs.pratique();
        command.args(["serve", "--print-webhook-configuration"]);
        self.know_cluster(&mut command);
        command.arg("--webhook-ca").arg(self.certificates.authority());
        succeeds(command.arg("--config").arg(&self.admission))
    }
}

fn start_api(
    environment: &PartEnvironment,
    etcd: &EtcdServer,
    without: &[&str],
) -> Result<ApiServer, ToolError> {
    let start = ServerStart {
        without,
        ..ServerStart::new(&environment.programs, etcd, &environment.state)
    };
    start.ready()
}

/// Puts the suite's manifests into a folder, each plugin's into one of its own, and gives the path of an admission
/// configuration that names them.
pub(super) fn place_manifests(folder: &Path) -> Result<PathBuf, ToolError> {
    let source = workspace::root().join("testdata/e2e/manifests");
    let admission = folder.join("admission.yaml");
    let mut text = String::new();
    for (plugin, file) in [
        ("ValidatingAdmissionPolicy", "validating.yaml"),
        ("MutatingAdmissionPolicy", "mutating.yaml"),
    ] {
        let manifests = folder.join(plugin);
        let place = || -> std::io::Result<()> {
            fs::create_dir_all(&manifests)?;
            fs::copy(source.join(file), manifests.join(file)).map(drop)
        };
        place().map_err(ToolError::file(&manifests))?;
        let one = configuration(plugin, &manifests);
        text.push_str(match one.split_once("plugins:\n") {
            Some((_, more)) if !text.is_empty() => more,
            _ => &one,
        });
    }
    fs::write(&admission, text).map_err(ToolError::file(&admission))?;
    Ok(admission)
}
