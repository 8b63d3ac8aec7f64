//! The server whose page is looked at, with texts in it that would be markup if they could.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pratique_harness::browser::curl;
use pratique_harness::{RunningProcess, ToolError, eventually, free_port};
use serde_json::{Value, json};

const ADMISSION: &str = include_str!("admission.yaml");
const VALIDATING: &str = include_str!("validating.yaml");
const MUTATING: &str = include_str!("mutating.yaml");

/// A folder's name can be almost anything.
const FOLDER: &str = "<script>document.title = 2<script>";
/// A manifest that does not load, and is quoted in the error.
const BROKEN: &str =
    "apiVersion: v1\nkind: '<img src=x onerror=\"document.title = 3\">'\nmetadata: {name: a}\n";
/// The user of requests.
pub(super) const USER: &str = "<b onclick=\"x\">dev</b>";

/// A `pratique serve` with a certificate of its own.
pub(super) struct ServedProgram {
    _process: RunningProcess,
    pub(super) url: String,
    pub(super) folder: PathBuf,
}

impl ServedProgram {
    /// Starts it with its state in a folder.
    pub(super) fn start(program: &Path, state: &Path) -> Result<Self, ToolError> {
        let folder = state.join(FOLDER);
        for (plugin, text) in [("validating", VALIDATING), ("mutating", MUTATING)] {
            let directory = folder.join(plugin);
            fs::create_dir_all(&directory)
                .and_then(|()| fs::write(directory.join("policies.yaml"), text))
                .map_err(ToolError::file(&directory))?;
        }
        let admission = state.join("admission.yaml");
        fs::write(
            &admission,
            ADMISSION.replace("$DIR", &folder.display().to_string()),
        )
        .map_err(ToolError::file(&admission))?;
        let port = free_port()?;
        let mut command = Command::new(program);
        command
            .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
            .arg("--config")
            .arg(&admission);
        let mut process = RunningProcess::start(command, &state.join("serve.log"))?;
        let url = format!("https://127.0.0.1:{port}");
        process.wait_until("ready", |_| Ok(curl(&format!("{url}/readyz"), None).is_ok()))?;
        Ok(ServedProgram {
            _process: process,
            url,
            folder,
        })
    }

    /// The configuration that `/configz` reports.
    pub(super) fn configuration(&self) -> Result<Value, ToolError> {
        let reported = curl(&format!("{}/configz", self.url), None)?;
        serde_json::from_str(&reported).map_err(|error| ToolError::from(error.to_string()))
    }

    /// Sends a review for the creation of a ConfigMap, and returns the response.
    pub(super) fn evaluate(&self, path: &str, name: &str, labels: &Value) -> Result<Value, ToolError> {
        let review = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {
                "uid": "1", "operation": "CREATE", "name": name, "namespace": "shop",
                "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
                "resource": {"group": "", "version": "v1", "resource": "configmaps"},
                "userInfo": {"username": USER},
                "object": {"apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"name": name, "namespace": "shop", "labels": labels}},
            }
        });
        let answer = curl(&format!("{}{path}", self.url), Some(&review))?;
        serde_json::from_str(&answer).map_err(|error| ToolError::from(format!("{error}: {answer}")))
    }

    /// Puts a file among its manifests that does not load, and waits until it says so.
    pub(super) fn breaks(&self) -> Result<(), ToolError> {
        let path = self.folder.join("validating/broken.yaml");
        fs::write(&path, BROKEN).map_err(ToolError::file(&path))?;
        eventually("told of what does not load", || {
            Ok(self.configuration()?.to_string().contains("onerror"))
        })
        .map(drop)
    }
}
