//! kubectl, pointed at one API server.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::programs::ProgramPaths;
use pratique_harness::{RunningProcess, ToolError};
use serde_json::Value;

/// kubectl as some user.
#[derive(Clone)]
pub(super) struct KubectlUser {
    programs: ProgramPaths,
    port: u16,
    token: &'static str,
    /// The API server's state.
    state: PathBuf,
}

/// The output of a kubectl command.
#[derive(Debug)]
pub(super) struct KubectlOutput {
    pub(super) ok: bool,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl KubectlUser {
    /// The administrator's.
    pub(super) fn new(programs: &ProgramPaths, port: u16, state: &Path) -> Self {
        KubectlUser {
            programs: programs.clone(),
            port,
            token: "admin-token",
            state: state.to_owned(),
        }
    }

    /// The developer's.
    pub(super) fn developer(&self) -> Self {
        KubectlUser {
            token: "dev-token",
            ..self.clone()
        }
    }

    fn server(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// The port of the server, at the loopback address.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The certificate by which the server is trusted.
    pub(super) fn authority(&self) -> PathBuf {
        self.state.join("certificates/apiserver.crt")
    }

    /// Writes a kubeconfig for the server with a token.
    pub(super) fn kubeconfig(&self, path: PathBuf, token: &str) -> Result<PathBuf, ToolError> {
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: e2e\ncontexts: [{{name: e2e, context: {{cluster: e2e, user: e2e}}}}]\n\
             clusters: [{{name: e2e, cluster: {{server: '{}', certificate-authority: '{}'}}}}]\n\
             users: [{{name: e2e, user: {{token: {token}}}}}]\n",
            self.server(),
            self.authority().display()
        );
        fs::write(&path, text).map_err(ToolError::file(&path))?;
        Ok(path)
    }

    /// The arguments by which curl asks the server as this user.
    pub(super) fn curl(&self, path: &str) -> Vec<(&'static str, String)> {
        vec![
            ("url", format!("{}{path}", self.server())),
            ("header", format!("Authorization: Bearer {}", self.token)),
        ]
    }

    /// Runs a command.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<KubectlOutput, ToolError> {
        let output = self.command(arguments).output();
        output
            .map(KubectlOutput::new)
            .map_err(|error| ToolError::from(format!("kubectl: {error}")))
    }

    /// Starts a command that goes on.
    pub(super) fn start(&self, arguments: &[&str], log: &str) -> Result<RunningProcess, ToolError> {
        let log = self.state.join(format!("{log}-{}.log", self.token));
        RunningProcess::start(self.command(arguments), &log)
    }

    /// Runs a command that reads manifests.
    pub(super) fn feed(&self, arguments: &[&str], manifests: &str) -> Result<KubectlOutput, ToolError> {
        let failed = ToolError::program("kubectl");
        let mut child = self
            .command(arguments)
            .args(["-f", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(&failed)?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(manifests.as_bytes()).map_err(&failed)?;
        }
        child.wait_with_output().map(KubectlOutput::new).map_err(&failed)
    }

    /// Runs a command that must succeed, and returns its output.
    pub(super) fn must(&self, arguments: &[&str], manifests: &str) -> Result<String, ToolError> {
        let result = match manifests {
            "" => self.run(arguments)?,
            manifests => self.feed(arguments, manifests)?,
        };
        if result.ok {
            Ok(result.stdout)
        } else {
            Err(format!("kubectl {}: {}", arguments.join(" "), result.stderr).into())
        }
    }

    /// The output of a command as JSON.
    pub(super) fn json(&self, arguments: &[&str]) -> Result<Value, ToolError> {
        let result = self.must(&[arguments, &["-o", "json"]].concat(), "")?;
        serde_json::from_str(&result).map_err(|error| format!("{error}: {result}").into())
    }

    /// The response of a path of the server.
    pub(super) fn raw(&self, path: &str) -> Result<String, ToolError> {
        self.must(&["get", "--raw", path], "")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.programs.cluster("kubectl");
        command
            // Instead of the user's home directory.
            .env("HOME", self.state.join("home"))
            .env_remove("KUBECONFIG")
            .args(["--server", &self.server(), "--token", self.token])
            .arg("--insecure-skip-tls-verify")
            .args(arguments);
        command
    }
}

impl KubectlOutput {
    fn new(output: Output) -> Self {
        KubectlOutput {
            ok: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
