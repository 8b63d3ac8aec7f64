//! Does `pratique check` agree with the server's start? Each case is a directory of manifests, good or bad.
//!
//! Where the server starts, the hash in its metrics must be the one that `check --hash-only` prints; where it does not,
//! `check` must give the same error and exit code.

use std::fs;
use std::path::{Path, PathBuf};

use pratique_harness::{StepTranscript, ToolError, workspace};
use serde_json::Value;

use super::PartEnvironment;
use super::answers::in_order;
use super::apiserver::{ServerStart, StartRefusal};
use super::case_files::read_all;
use super::etcd::EtcdServer;

/// The file of a case that replaces the usual admission configuration.
const CONFIGURATION: &str = "admission.yaml";

/// A plugin and manifests to start with.
struct StartCase {
    name: String,
    plugin: String,
    /// Relative paths and contents.
    files: Vec<(String, String)>,
}

/// Runs all cases.
pub(super) fn run(environment: &PartEnvironment, transcript: &mut StepTranscript) -> Result<(), ToolError> {
    transcript.part("pratique check and the server's start");
    let etcd = EtcdServer::start(&environment.programs, &environment.state)?;
    for case in cases(&workspace::root().join("testdata/e2e/starts"))? {
        let outcome = compare(environment, &etcd, &case);
        transcript.step(&case.name, outcome);
    }
    Ok(())
}

fn compare(environment: &PartEnvironment, etcd: &EtcdServer, case: &StartCase) -> Result<String, ToolError> {
    let directory = environment.state.join(&case.name);
    let admission = case.write(&directory)?;
    let start = ServerStart {
        admission: Some(&admission),
        with: &case.other_plugin(),
        ..ServerStart::new(&environment.programs, etcd, &environment.state)
    };
    let started = start.run()?;
    let checked = check_start(environment, case, &admission)?;
    match started {
        Ok(mut server) if !case.other_plugin().is_empty() => {
            server.stop()?;
            agree_on_start(&checked)
        }
        Ok(mut server) => {
            let metrics = server.kubectl().raw("/metrics");
            server.stop()?;
            agree_on_hash(environment, &admission, &metrics?, &checked)
        }
        Err(refusal) => agree_on_refusal(&refusal, &checked),
    }
}

/// The result of `pratique check` for an admission configuration.
fn check_start(
    environment: &PartEnvironment,
    case: &StartCase,
    admission: &Path,
) -> Result<Value, ToolError> {
    let mut command = environment.programs.pratique();
    command.arg("check");
    for plugin in case.other_plugin() {
        command.args(["--enable-admission-plugins", plugin]);
    }
    let output = command
        .args(["--output", "json"])
        .arg(admission)
        .output()
        .map_err(|error| format!("pratique: {error}"))?;
    let mut answer: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!(
            "pratique check: {error}: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    })?;
    answer
        .pointer_mut("/results/0")
        .map(Value::take)
        .ok_or_else(|| ToolError::from("pratique check: no result".to_owned()))
}

fn agree_on_hash(
    environment: &PartEnvironment,
    admission: &Path,
    metrics: &str,
    checked: &Value,
) -> Result<String, ToolError> {
    if checked["valid"] != true {
        return Err(format!("the server starts; check says {}", checked["error"]).into());
    }
    let printed = environment
        .programs
        .pratique()
        .args(["check", "--hash-only"])
        .arg(admission)
        .output()
        .map_err(|error| format!("pratique: {error}"))?;
    let printed = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
    let known = metrics
        .lines()
        .filter(|line| line.contains("_last_config_info{"))
        .filter_map(|line| line.split_once(",hash=\"")?.1.split_once('"'))
        .any(|(hash, _)| printed.contains(hash));
    if known {
        Ok(format!("both load it: {printed}"))
    } else {
        Err(format!("the server's metrics do not show {printed:?}").into())
    }
}

fn agree_on_start(checked: &Value) -> Result<String, ToolError> {
    match &checked["valid"] {
        Value::Bool(true) => Ok(format!("both start: {}", checked["configured"])),
        _ => Err(format!("the server starts; check says {}", checked["error"]).into()),
    }
}

fn agree_on_refusal(refusal: &StartRefusal, checked: &Value) -> Result<String, ToolError> {
    let error = checked["error"].as_str().unwrap_or("nothing");
    let code = checked["exitCode"].as_i64();
    // EventRateLimit lists its types in the random order of a Go map; elsewhere the order is the contract.
    let is_same = error == refusal.text
        || (error.contains("supported values: ") && in_order(error) == in_order(&refusal.text));
    if is_same && code == refusal.exit_code.map(i64::from) {
        Ok(format!("both: {error}"))
    } else {
        Err(format!(
            "the server ({:?}): {}\ncheck ({code:?}): {error}",
            refusal.exit_code, refusal.text
        )
        .into())
    }
}

impl StartCase {
    /// Its plugin, if that is not one for policies or webhooks.
    fn other_plugin(&self) -> Vec<&str> {
        let name = self.plugin.as_str();
        if name.starts_with("Mutating") || name.starts_with("Validating") {
            Vec::new()
        } else {
            vec![name]
        }
    }

    /// Writes its files, and the admission configuration, whose path it gives.
    fn write(&self, directory: &Path) -> Result<PathBuf, ToolError> {
        let manifests = directory.join("manifests");
        let write = |path: &Path, text: &str| fs::write(path, text).map_err(ToolError::file(&path));
        fs::create_dir_all(&manifests).map_err(ToolError::file(&manifests))?;
        let admission = directory.join(CONFIGURATION);
        write(&admission, &configuration(&self.plugin, &manifests))?;
        for (name, content) in &self.files {
            match name.as_str() {
                CONFIGURATION => {
                    let placed = content.replace("$DIR", &manifests.display().to_string());
                    write(&admission, &placed)?;
                }
                name => write(&manifests.join(name), content)?,
            }
        }
        Ok(admission)
    }
}

/// The usual admission configuration: one plugin with one directory.
pub(super) fn configuration(plugin: &str, manifests: &Path) -> String {
    let (version, kind) = if plugin.ends_with("Webhook") {
        ("v1", "WebhookAdmissionConfiguration".to_owned())
    } else {
        ("v1", format!("{plugin}Configuration"))
    };
    format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: {plugin}\n  \
         configuration:\n    apiVersion: apiserver.config.k8s.io/{version}\n    kind: {kind}\n    \
         staticManifestsDir: {}\n",
        manifests.display()
    )
}

/// The cases of a folder, by name.
fn cases(folder: &Path) -> Result<Vec<StartCase>, ToolError> {
    read_all(folder, "case", parse)
}

/// `plugin: NAME`, and then files, each after a line `=== NAME`.
fn parse(name: &str, text: &str) -> Option<StartCase> {
    let mut parts = text.split("=== ");
    let plugin = parts.next()?.strip_prefix("plugin: ")?.trim().to_owned();
    let files = parts.map(|part| {
        let (name, content) = part.split_once('\n')?;
        Some((name.to_owned(), content.to_owned()))
    });
    Some(StartCase {
        name: name.to_owned(),
        plugin,
        files: files.collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_cases_can_be_read() {
        let cases = cases(&workspace::root().join("testdata/e2e/starts")).unwrap();
        assert!(cases.len() >= 20, "{}", cases.len());
        for case in &cases {
            let has_configuration = case.files.iter().any(|(name, _)| name == CONFIGURATION);
            assert!(
                has_configuration || case.other_plugin().is_empty(),
                "{}",
                case.name
            );
        }
    }
}
