//! Credentials from a command that a kubeconfig names: exec plugins of `client.authentication.k8s.io`.
//!
//! The command is run when the client is made, when what it gave has expired, and when the API server does not take it
//! any more. A server has no terminal, so the command is never interactive.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Config;
use kube::config::{ExecConfig, ExecInteractiveMode};
use pratique::json::base64;
use serde::Deserialize;
use serde_json::json;

/// The versions of the protocol.
const VERSIONS: [&str; 2] = [
    "client.authentication.k8s.io/v1",
    "client.authentication.k8s.io/v1beta1",
];
/// The variable with the request for the command.
const INFO: &str = "KUBERNETES_EXEC_INFO";
/// How long the command may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often to look whether it has ended.
const PAUSE: Duration = Duration::from_millis(5);
/// How much the command may write, in bytes. Output beyond that is read, so that the command can end, and dropped.
const MAX_OUTPUT: u64 = 1 << 20;
/// The maximum length of the command's error output in a message, in characters.
const LONGEST: usize = 400;

/// An exec credential plugin: a command that prints credentials.
#[derive(Clone, Debug)]
pub(super) struct ExecPlugin {
    command: String,
    arguments: Vec<String>,
    variables: BTreeMap<String, String>,
    version: String,
    hint: String,
}

/// The credentials that a command printed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CommandOutput {
    token: Option<String>,
    /// A certificate and its key, as PEM.
    certificate: Option<(String, String)>,
    /// Until when it may be used; `None` until the API server refuses it.
    pub(super) expires: Option<SystemTime>,
}

/// Why a command has no credentials.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExecError {
    #[error("exec plugin: the kubeconfig names no command")]
    NoCommand,
    #[error("exec plugin: apiVersion {0:?} is not supported: {first} and {second} are", first = VERSIONS[0], second = VERSIONS[1])]
    Version(String),
    #[error("exec plugin {0:?} wants a terminal (interactiveMode: Always), which a server does not have")]
    Interactive(String),
    #[error("exec plugin {0:?} wants to be told of the cluster (provideClusterInfo), which is not known")]
    NoCluster(String),
    #[error("exec plugin {command:?} cannot be run: {error}{hint}")]
    Start {
        command: String,
        error: io::Error,
        hint: String,
    },
    #[error("exec plugin {0:?} took longer than {PATIENCE:?}")]
    Slow(String),
    #[error("exec plugin {command:?} failed, {status}{error_output}")]
    Failed {
        command: String,
        status: ExitStatus,
        error_output: String,
    },
    #[error("exec plugin {command:?}: {error}")]
    Output { command: String, error: OutputError },
}

/// Why the output of a command is no credential. Nothing of it is shown, as it may contain secrets.
#[derive(Debug, thiserror::Error)]
pub(super) enum OutputError {
    #[error("its output is larger than {} MiB", MAX_OUTPUT >> 20)]
    TooLarge,
    #[error("its output is no ExecCredential: line {line}")]
    Syntax { line: usize },
    #[error("it is configured to use {configured}, and returned kind {kind:?} of {version:?}")]
    Kind {
        configured: String,
        kind: String,
        version: String,
    },
    #[error("it returned no status")]
    NoStatus,
    #[error("it returned only one of certificate and key")]
    HalfAPair,
    #[error("it returned neither a token nor a certificate and its key")]
    Nothing,
}

/// The output of a command.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecCredential {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    api_version: String,
    status: Option<ExecStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecStatus {
    #[serde(default)]
    token: String,
    #[serde(default)]
    client_certificate_data: String,
    #[serde(default)]
    client_key_data: String,
    expiration_timestamp: Option<Time>,
}

impl ExecPlugin {
    /// The command that a configuration needs; `None` if it has other credentials, or none.
    pub(super) fn from_config(config: &Config) -> Result<Option<Self>, ExecError> {
        let user = &config.auth_info;
        let is_static = user.token.is_some() || user.token_file.is_some() || user.username.is_some();
        match &user.exec {
            Some(exec) if !is_static => Self::new(exec).map(Some),
            _ => Ok(None),
        }
    }

    fn new(exec: &ExecConfig) -> Result<Self, ExecError> {
        let command = exec.command.clone().filter(|command| !command.is_empty());
        let command = command.ok_or(ExecError::NoCommand)?;
        let version = exec.api_version.clone().unwrap_or_default();
        if !VERSIONS.contains(&&*version) {
            return Err(ExecError::Version(version));
        }
        if matches!(exec.interactive_mode, Some(ExecInteractiveMode::Always)) {
            return Err(ExecError::Interactive(command));
        }
        let spec = match (exec.provide_cluster_info, &exec.cluster) {
            (false, _) => json!({"interactive": false}),
            (true, Some(cluster)) => json!({"interactive": false, "cluster": cluster}),
            (true, None) => return Err(ExecError::NoCluster(command)),
        };
        let info = json!({"apiVersion": version, "kind": "ExecCredential", "spec": spec});
        let declared = exec.env.iter().flatten();
        let mut variables: BTreeMap<String, String> = declared
            .filter_map(|variable| Some((variable.get("name")?.clone(), variable.get("value")?.clone())))
            .collect();
        variables.insert(INFO.to_owned(), info.to_string());
        let hint = exec
            .install_hint
            .as_deref()
            .map(|hint| format!(": {}", hint.trim()));
        Ok(ExecPlugin {
            command,
            arguments: exec.args.clone().unwrap_or_default(),
            variables,
            version,
            hint: hint.unwrap_or_default(),
        })
    }

    /// Runs the command.
    pub(super) async fn run(&self) -> Result<CommandOutput, ExecError> {
        let plugin = self.clone();
        let running = tokio::task::spawn_blocking(move || plugin.execute());
        let output = running
            .await
            .unwrap_or_else(|_| Err(self.start_error(io::Error::other("the runtime ended"))))?;
        if !output.status.success() {
            // Standard output may have a secret in it.
            return Err(ExecError::Failed {
                command: self.command.clone(),
                status: output.status,
                error_output: error_output(&output.stderr),
            });
        }
        let credentials = match u64::try_from(output.stdout.len()) {
            Ok(length) if length <= MAX_OUTPUT => self.read(&output.stdout),
            _ => Err(OutputError::TooLarge),
        };
        credentials.map_err(|error| ExecError::Output {
            command: self.command.clone(),
            error,
        })
    }

    /// Runs the command to its end, or to the end of its time. This blocks the thread.
    fn execute(&self) -> Result<Output, ExecError> {
        let failed = |error| self.start_error(error);
        let mut child = Command::new(&self.command)
            .args(&self.arguments)
            .envs(&self.variables)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let until = Instant::now() + PATIENCE;
        let (stdout, stderr) = (read_all(child.stdout.take()), read_all(child.stderr.take()));
        let status = loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                break status;
            }
            if Instant::now() >= until {
                // It may have ended by now; there is no need to wait longer.
                let _ = child.kill();
                let _ = child.wait();
                return Err(ExecError::Slow(self.command.clone()));
            }
            thread::sleep(PAUSE);
        };
        // Something that it started may still hold the pipes.
        let rest =
            |output: Receiver<Vec<u8>>| output.recv_timeout(until.saturating_duration_since(Instant::now()));
        Ok(Output {
            status,
            stdout: rest(stdout).map_err(|_| ExecError::Slow(self.command.clone()))?,
            stderr: rest(stderr).unwrap_or_default(),
        })
    }

    fn start_error(&self, error: io::Error) -> ExecError {
        ExecError::Start {
            command: self.command.clone(),
            error,
            hint: self.hint.clone(),
        }
    }

    fn read(&self, output: &[u8]) -> Result<CommandOutput, OutputError> {
        let credential: ExecCredential =
            serde_json::from_slice(output).map_err(|error| OutputError::Syntax { line: error.line() })?;
        let ExecCredential {
            kind,
            api_version,
            status,
        } = credential;
        if kind != "ExecCredential" || api_version != self.version {
            return Err(OutputError::Kind {
                configured: self.version.clone(),
                kind,
                version: api_version,
            });
        }
        let status = status.ok_or(OutputError::NoStatus)?;
        let (certificate, key) = (status.client_certificate_data, status.client_key_data);
        if certificate.is_empty() != key.is_empty() {
            return Err(OutputError::HalfAPair);
        }
        if status.token.is_empty() && key.is_empty() {
            return Err(OutputError::Nothing);
        }
        Ok(CommandOutput {
            token: (!status.token.is_empty()).then_some(status.token),
            certificate: (!key.is_empty()).then_some((certificate, key)),
            expires: status.expiration_timestamp.map(|time| time.0.into()),
        })
    }
}

impl CommandOutput {
    /// The configuration with these credentials instead of the command.
    pub(super) fn fill(self, config: &Config) -> Config {
        let mut config = config.clone();
        let user = &mut config.auth_info;
        user.exec = None;
        user.token = self.token.map(Into::into);
        if let Some((certificate, key)) = self.certificate {
            (user.client_certificate, user.client_key) = (None, None);
            user.client_certificate_data = Some(base64::encode(certificate.as_bytes()));
            user.client_key_data = Some(base64::encode(key.as_bytes()).into());
        }
        config
    }
}

/// Reads a pipe to its end on a separate thread. Of output past the limit one byte is kept, so that it is noticed.
fn read_all(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (done, read) = sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // After a failure, the bytes read before it count.
            let _ = pipe.by_ref().take(MAX_OUTPUT + 1).read_to_end(&mut bytes);
            let _ = io::copy(&mut pipe, &mut io::sink());
        }
        // It may not be waited for any more.
        let _ = done.send(bytes);
    });
    read
}

/// The error output of a command, on one line.
fn error_output(errors: &[u8]) -> String {
    let text = String::from_utf8_lossy(errors);
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(LONGEST).collect();
    if line.is_empty() {
        line
    } else {
        format!(": {line}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn plugin(version: &str) -> ExecPlugin {
        ExecPlugin::new(&ExecConfig {
            api_version: Some(version.to_owned()),
            command: Some("plugin".to_owned()),
            ..ExecConfig::default()
        })
        .unwrap()
    }

    #[test]
    fn what_a_command_prints_is_checked() {
        let check = |output: Value, expected: Result<CommandOutput, &str>| {
            let found = plugin(VERSIONS[0]).read(output.to_string().as_bytes());
            let found = found.map_err(|error| error.to_string());
            assert_eq!(found, expected.map_err(str::to_owned), "{output}");
        };
        let of =
            |status: Value| json!({"kind": "ExecCredential", "apiVersion": VERSIONS[0], "status": status});
        check(
            of(json!({"token": "t", "expirationTimestamp": "1970-01-01T00:01:00Z"})),
            Ok(CommandOutput {
                token: Some("t".to_owned()),
                certificate: None,
                expires: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(60)),
            }),
        );
        check(
            of(json!({"clientCertificateData": "c", "clientKeyData": "k"})),
            Ok(CommandOutput {
                certificate: Some(("c".to_owned(), "k".to_owned())),
                ..CommandOutput::default()
            }),
        );
        check(
            of(json!({"clientCertificateData": "c"})),
            Err("it returned only one of certificate and key"),
        );
        check(
            of(json!({})),
            Err("it returned neither a token nor a certificate and its key"),
        );
        check(of(Value::Null), Err("it returned no status"));
        let older = json!({"kind": "ExecCredential", "apiVersion": VERSIONS[1], "status": {"token": "t"}});
        check(
            older.clone(),
            Err(
                "it is configured to use client.authentication.k8s.io/v1, and returned kind \"ExecCredential\" of \
                 \"client.authentication.k8s.io/v1beta1\"",
            ),
        );
        assert!(plugin(VERSIONS[1]).read(older.to_string().as_bytes()).is_ok());
        check(json!("secret"), Err("its output is no ExecCredential: line 1"));
    }

    #[test]
    #[cfg(unix)]
    fn what_a_command_prints_is_bounded() {
        let exec = ExecConfig {
            api_version: Some(VERSIONS[0].to_owned()),
            command: Some("head".to_owned()),
            args: Some(["-c", "3000000", "/dev/zero"].map(str::to_owned).to_vec()),
            ..ExecConfig::default()
        };
        let plugin = ExecPlugin::new(&exec).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let error = runtime.block_on(plugin.run()).unwrap_err().to_string();
        assert!(error.ends_with("its output is larger than 1 MiB"), "{error}");
        assert_eq!(plugin.execute().unwrap().stdout.len(), (1 << 20) + 1);
    }

    #[test]
    fn what_cannot_be_run_is_refused() {
        let check = |exec: ExecConfig, expected: &str| {
            assert_eq!(ExecPlugin::new(&exec).unwrap_err().to_string(), expected);
        };
        let exec = ExecConfig {
            api_version: Some(VERSIONS[0].to_owned()),
            command: Some("plugin".to_owned()),
            ..ExecConfig::default()
        };
        check(
            ExecConfig {
                command: None,
                ..exec.clone()
            },
            "exec plugin: the kubeconfig names no command",
        );
        check(
            ExecConfig {
                api_version: Some("client.authentication.k8s.io/v1alpha1".to_owned()),
                ..exec.clone()
            },
            "exec plugin: apiVersion \"client.authentication.k8s.io/v1alpha1\" is not supported: \
             client.authentication.k8s.io/v1 and client.authentication.k8s.io/v1beta1 are",
        );
        check(
            ExecConfig {
                interactive_mode: Some(ExecInteractiveMode::Always),
                ..exec.clone()
            },
            "exec plugin \"plugin\" wants a terminal (interactiveMode: Always), which a server does not have",
        );
        check(
            ExecConfig {
                provide_cluster_info: true,
                ..exec
            },
            "exec plugin \"plugin\" wants to be told of the cluster (provideClusterInfo), which is not known",
        );
    }
}
