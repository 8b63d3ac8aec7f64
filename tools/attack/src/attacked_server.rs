//! The server that is attacked.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pratique_benches::memory::{kib, processor_time};

use super::confined_program::{ControlGroup, FILES, MEMORY};
use pratique_harness::{RunningProcess, TestCertificates, ToolError, free_port, outcome};
use pratique_load_test::client::{ClientTrust, LoadAnswer, LoadClient};

use super::namespace::seen_by;

const VALIDATING: &str = include_str!("policies.yaml");
const MUTATING: &str = include_str!("mutations.yaml");

/// Options to start the server.
pub(super) struct ServeOptions<'a> {
    pub(super) program: &'a Path,
    /// A directory of its own, which it may fill.
    pub(super) state: &'a Path,
    /// Arguments in addition to those for policies and listening.
    pub(super) arguments: &'a [&'a str],
    /// The limit of open files.
    pub(super) files: u64,
    /// ValidatingAdmissionPolicies and MutatingAdmissionPolicies, with their bindings.
    pub(super) validating: &'a str,
    pub(super) mutating: &'a str,
    /// A MutatingWebhookConfiguration in addition to the policies.
    pub(super) webhooks: Option<&'a str>,
}

impl<'a> ServeOptions<'a> {
    pub(super) fn new(program: &'a Path, state: &'a Path) -> Self {
        ServeOptions {
            program,
            state,
            arguments: &[],
            files: FILES,
            validating: VALIDATING,
            mutating: MUTATING,
            webhooks: None,
        }
    }
}

/// The ports of a server.
#[derive(Clone, Copy)]
struct ServerPorts {
    reviews: u16,
    health: u16,
}

/// A `pratique serve` with the policies of this directory, in a control group with little memory.
pub(super) struct ServedProgram {
    process: RunningProcess,
    group: ControlGroup,
    ports: ServerPorts,
    state: PathBuf,
    pub(super) certificates: TestCertificates,
}

impl ServedProgram {
    /// Starts the server in an emptied directory.
    pub(super) fn start(options: &ServeOptions<'_>) -> Result<Self, ToolError> {
        let state = options.state.to_owned();
        let config = prepare(&state, options).map_err(ToolError::file(&state))?;
        let tls = state.join("tls");
        if tls.exists() {
            fs::remove_dir_all(&tls).map_err(ToolError::file(&tls))?;
        }
        let certificates = TestCertificates::new(&tls)?;
        let ports = ServerPorts {
            reviews: free_port()?,
            health: free_port()?,
        };
        let group = ControlGroup::new();
        let process = start(options, &group, &config, &certificates, ports)?;
        Ok(ServedProgram {
            process,
            group,
            ports,
            state,
            certificates,
        })
    }

    /// Kills the server, and starts it again at the same port.
    pub(super) fn crash(&mut self, options: &ServeOptions<'_>) -> Result<(), ToolError> {
        self.process.kill()?;
        let config = self.state.join("admission.yaml");
        self.process = start(options, &self.group, &config, &self.certificates, self.ports)?;
        Ok(())
    }

    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.ports.reviews))
    }

    /// The address for probes.
    pub(super) fn health_address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.ports.health))
    }

    /// The certificates that clients trust.
    pub(super) fn trust(&self) -> Result<ClientTrust, ToolError> {
        ClientTrust::from_authority(&self.certificates.authority())
    }

    pub(super) fn connect(&self) -> Result<LoadClient, ToolError> {
        LoadClient::connect(self.address(), &self.trust()?)
    }

    /// Posts a review on a connection of its own.
    pub(super) fn post(&self, path: &str, body: &str) -> Result<LoadAnswer, ToolError> {
        self.connect()?.post(path, body)
    }

    /// The value of a metric, all its series together; 0 if there is none yet.
    pub(super) fn metric(&self, name: &str, label: &str) -> Result<f64, ToolError> {
        let answer = self.connect()?.get("/metrics")?;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let series = text
            .lines()
            .filter(|line| line.starts_with(name) && line.contains(label));
        let values = series.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok());
        // The sum of none is -0.
        Ok(values.fold(0.0, |sum, value| sum + value))
    }

    /// The directory of validating policies in the mount namespace of the server.
    pub(super) fn manifests(&self) -> PathBuf {
        seen_by(self.id(), &self.state.join("manifests/validating"))
    }

    /// The process id.
    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(super) fn log(&self) -> Result<String, ToolError> {
        self.process.log()
    }

    /// The processor time that the server has used.
    pub(super) fn processor_time(&self) -> Result<Duration, ToolError> {
        Ok(processor_time(&self.process.id().to_string())?)
    }

    /// Checks that the server runs and stayed within its memory limit; returns a summary with its peak memory.
    pub(super) fn survived(&mut self) -> Result<String, ToolError> {
        if let Some(status) = self.process.ended()? {
            let log = self.process.log()?;
            let last: Vec<&str> = log.lines().rev().take(5).collect();
            return Err(format!("the server ended with {status}\n{}", last.join("\n")).into());
        }
        let most = kib(&self.process.id().to_string(), "VmHWM")?;
        let enforced = if self.group.is_enforced() {
            "in a control group of 1 GiB"
        } else {
            "looked at, as no control group can be made here"
        };
        let text = format!("the server had {} MiB at most, {enforced}", most >> 10);
        outcome(most << 10 <= MEMORY, text)
    }

    /// Sends SIGTERM; an error if the server does not exit successfully.
    pub(super) fn stop(&mut self) -> Result<(), ToolError> {
        self.stop_by("TERM")
    }

    /// Ends the server by a signal.
    pub(super) fn stop_by(&mut self, signal: &str) -> Result<(), ToolError> {
        let status = self.process.stop_by(signal)?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("it ended with {status}").into())
        }
    }
}

/// Writes the configuration, and the manifests that it names.
fn prepare(state: &Path, options: &ServeOptions<'_>) -> std::io::Result<PathBuf> {
    let plugins = [
        (
            "validating",
            "ValidatingAdmissionPolicy",
            Some(options.validating),
        ),
        ("mutating", "MutatingAdmissionPolicy", Some(options.mutating)),
        ("webhooks", "MutatingAdmissionWebhook", options.webhooks),
    ];
    let mut config =
        String::from("apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n");
    for (folder, plugin, manifests) in plugins {
        let Some(manifests) = manifests else { continue };
        let directory = state.join("manifests").join(folder);
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        fs::create_dir_all(&directory)?;
        fs::write(directory.join("all.yaml"), manifests)?;
        let kind = match plugin {
            "MutatingAdmissionWebhook" => "WebhookAdmissionConfiguration".to_owned(),
            _ => format!("{plugin}Configuration"),
        };
        config += &format!(
            "- name: {plugin}\n  configuration:\n    apiVersion: apiserver.config.k8s.io/v1\n    kind: {kind}\n    \
             staticManifestsDir: {}\n",
            directory.display()
        );
    }
    let path = state.join("admission.yaml");
    fs::write(&path, config)?;
    Ok(path)
}

fn start(
    options: &ServeOptions<'_>,
    group: &ControlGroup,
    config: &Path,
    certificates: &TestCertificates,
    ports: ServerPorts,
) -> Result<RunningProcess, ToolError> {
    let mut command: Command = group.command(options.program, options.files);
    command
        .args(["serve", "--listen", &format!("127.0.0.1:{}", ports.reviews)])
        .args(["--health-listen", &format!("127.0.0.1:{}", ports.health)])
        .arg("--config")
        .arg(config)
        .arg("--tls-cert")
        .arg(certificates.certificate())
        .arg("--tls-key")
        .arg(certificates.key())
        .args(["--drain-delay", "0"])
        // Those that look nothing up, and leave usual requests as they are.
        .args([
            "--plugins",
            "DenyServiceExternalIPs,ExtendedResourceToleration,LimitPodHardAntiAffinityTopology",
        ])
        .args(options.arguments);
    let log = options.state.join("serve.log");
    let previous_length = fs::read_to_string(&log).unwrap_or_default().len();
    let mut process = RunningProcess::start(command, &log)?;
    process.wait_until("serving", |process| {
        Ok(process
            .log()?
            .get(previous_length..)
            .unwrap_or_default()
            .contains("Serving"))
    })?;
    Ok(process)
}
