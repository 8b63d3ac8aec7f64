//! kube-apiserver, with tokens of an administrator, of a developer, and of a server that asks it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pratique_harness::{RunningProcess, ToolError, free_port};

use super::etcd::EtcdServer;
use super::kubectl::KubectlUser;
use super::programs::ProgramPaths;

/// The tokens; the administrator belongs to the group that may do everything.
const TOKENS: &str = "admin-token,admin,admin,\"system:masters\"\ndev-token,dev,dev,\"developers\"\n\
    serve-token,serve,serve\n";

/// The network of Services. There are none; what is sent to one stays on this machine.
pub(super) const SERVICE_NETWORK: &str = "127.200.0.0/24";

const AUDIT_LOG: &str = "audit.log";

/// Options to start an API server.
pub(super) struct ServerStart<'a> {
    pub(super) programs: &'a ProgramPaths,
    pub(super) etcd: &'a EtcdServer,
    pub(super) state: &'a Path,
    /// An AdmissionConfiguration file.
    pub(super) admission: Option<&'a Path>,
    /// Admission plugins to enable in addition to the default ones.
    pub(super) with: &'a [&'a str],
    /// Admission plugins that it is to do without.
    pub(super) without: &'a [&'a str],
    /// The audit level.
    pub(super) audit_level: &'a str,
    /// Additional flags.
    pub(super) flags: &'a [&'a str],
}

/// An API server that was started.
pub(super) struct ApiServer {
    process: RunningProcess,
    kubectl: KubectlUser,
    audit_log: PathBuf,
}

/// An API server that did not start: why, and how it ended.
#[derive(Debug)]
pub(super) struct StartRefusal {
    pub(super) text: String,
    pub(super) exit_code: Option<i32>,
}

impl<'a> ServerStart<'a> {
    /// A server as it is without arguments, whose audit log has the metadata of everything.
    pub(super) fn new(programs: &'a ProgramPaths, etcd: &'a EtcdServer, state: &'a Path) -> Self {
        ServerStart {
            programs,
            etcd,
            state,
            admission: None,
            with: &[],
            without: &[],
            audit_level: "Metadata",
            flags: &[],
        }
    }

    /// Starts it, and waits until it is ready.
    pub(super) fn ready(&self) -> Result<ApiServer, ToolError> {
        let failed =
            |refusal: StartRefusal| format!("the API server does not start: {}", refusal.text).into();
        self.run()?.map_err(failed)
    }

    /// Starts it and waits until it is ready, or until it ends; the outer error is ours.
    pub(super) fn run(&self) -> Result<Result<ApiServer, StartRefusal>, ToolError> {
        let port = free_port()?;
        let log = self.state.join(format!("apiserver-{port}.log"));
        let mut process = RunningProcess::start(self.command(port)?, &log)?;
        let kubectl = KubectlUser::new(self.programs, port, self.state);
        let up = process.wait_until("ready", |_| {
            Ok(kubectl.raw("/readyz").is_ok_and(|body| body == "ok"))
        });
        match (up, process.ended()?) {
            (Ok(()), _) => Ok(Ok(ApiServer {
                process,
                kubectl,
                audit_log: self.state.join(AUDIT_LOG),
            })),
            (Err(_), Some(status)) => Ok(Err(StartRefusal {
                text: refusal(&process.log()?),
                exit_code: status.code(),
            })),
            (Err(error), None) => Err(error),
        }
    }

    fn command(&self, port: u16) -> Result<Command, ToolError> {
        let tokens = self.state.join("tokens.csv");
        let audit_policy = self.state.join("audit-policy.yaml");
        let audited = format!(
            "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{{level: {}}}]\n",
            self.audit_level
        );
        for (path, text) in [(&tokens, TOKENS), (&audit_policy, audited.as_str())] {
            fs::write(path, text).map_err(ToolError::file(&path))?;
        }
        let [private, public] = service_account_keys(self.state)?;
        let mut command = self.programs.cluster("apiserver");
        command
            .arg(format!("--etcd-servers={}", self.etcd.url()))
            .arg(format!("--secure-port={port}"))
            .arg(format!(
                "--cert-dir={}",
                self.state.join("certificates").display()
            ))
            .arg(format!("--audit-policy-file={}", audit_policy.display()))
            .arg(format!(
                "--audit-log-path={}",
                self.state.join(AUDIT_LOG).display()
            ))
            .arg(format!("--token-auth-file={}", tokens.display()))
            .arg(format!("--service-account-key-file={}", public.display()))
            .arg(format!(
                "--service-account-signing-key-file={}",
                private.display()
            ))
            .arg(format!("--service-cluster-ip-range={SERVICE_NETWORK}"))
            .args([
                "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1",
                "--endpoint-reconciler-type=none",
                "--service-account-issuer=https://kubernetes.default.svc",
                "--authorization-mode=RBAC",
                "--allow-privileged=true",
            ]);
        if let Some(gate) = self.programs.manifest_gate() {
            command.arg(format!("--feature-gates={gate}"));
        }
        command.args(self.flags);
        // No controller makes the accounts that it asks for.
        let accounts: &[&str] = if self.with.contains(&"ServiceAccount") {
            &[]
        } else {
            &["ServiceAccount"]
        };
        let without = [accounts, self.without].concat();
        if !without.is_empty() {
            command.arg(format!("--disable-admission-plugins={}", without.join(",")));
        }
        if !self.with.is_empty() {
            command.arg(format!("--enable-admission-plugins={}", self.with.join(",")));
        }
        if let Some(admission) = self.admission {
            command.arg(format!("--admission-control-config-file={}", admission.display()));
        }
        Ok(command)
    }
}

impl ApiServer {
    /// The administrator's kubectl.
    pub(super) fn kubectl(&self) -> &KubectlUser {
        &self.kubectl
    }

    /// The audit log.
    pub(super) fn audit_log(&self) -> Result<String, ToolError> {
        fs::read_to_string(&self.audit_log).map_err(ToolError::file(&self.audit_log))
    }

    /// Ends it.
    pub(super) fn stop(&mut self) -> Result<(), ToolError> {
        self.process.stop().map(drop)
    }
}

/// Service accounts are not used, but the server wants to sign and verify their tokens: its private and public key.
fn service_account_keys(state: &Path) -> Result<[PathBuf; 2], ToolError> {
    let paths = ["private", "public"].map(|which| state.join(format!("service-accounts.{which}.pem")));
    let [private, public] = &paths;
    if !private.exists() {
        let key = rcgen::KeyPair::generate().map_err(|error| error.to_string())?;
        let write = |path: &Path, pem: String| fs::write(path, pem).map_err(ToolError::file(&path));
        write(private, key.serialize_pem())?;
        write(public, key.public_key_pem())?;
    }
    Ok(paths)
}

/// The last message of the server: the error of its command, or the last line of a fatal log message.
fn refusal(log: &str) -> String {
    let quoted = log
        .rsplit_once("\"command failed\" err=")
        .and_then(|(_, value)| logged(value));
    let fatal = || {
        let line = log.lines().find(|line| line.starts_with('F'))?;
        Some(line.split_once("] ")?.1.to_owned())
    };
    let text = quoted.or_else(fatal).unwrap_or_else(|| log.to_owned());
    match text.strip_prefix("failed to apply admission: ") {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

/// A value as the logger writes it: quoted as in Go, over several indented lines between `<` and `>`, or as it is. Go's
/// escapes in log lines are those of JSON but for `\x`, which nothing here yields.
fn logged(text: &str) -> Option<String> {
    if let Some(lines) = text.strip_prefix("<\n") {
        let (lines, _) = lines.split_once("\n >")?;
        let lines: Vec<&str> = lines
            .lines()
            .map(|line| line.strip_prefix('\t').unwrap_or(line))
            .collect();
        return Some(lines.join("\n"));
    }
    if text.starts_with('"') {
        serde_json::Deserializer::from_str(text)
            .into_iter::<String>()
            .next()?
            .ok()
    } else {
        text.lines().next().map(|line| line.trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_found_in_logs() {
        let check = |log: &str, expected: &str| assert_eq!(refusal(log), expected);
        check(
            "I1121 x] starting\nE1121 run.go:72] \"command failed\" err=\"failed to apply admission: no \\\"x\\\"\\nhere\"\n",
            "no \"x\"\nhere",
        );
        check(
            "F1121 10:00:00 1 server.go:1] Couldn't open /a: no\n",
            "Couldn't open /a: no",
        );
        check(
            "E1121 run.go:72] \"command failed\" err=<\n\tfailed to apply admission: first\n\t  second\n >\nmore\n",
            "first\n  second",
        );
        check("nothing known", "nothing known");
    }
}
