//! Many requests at once, by curl.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use pratique_harness::ToolError;
use serde_json::Value;

use super::kubectl::KubectlUser;

/// How many requests curl makes at a time.
const AT_ONCE: &str = "16";

/// Requests of a user, to be made at once.
pub(super) struct BulkRequests<'k> {
    kubectl: &'k KubectlUser,
    config: String,
    count: usize,
}

impl<'k> BulkRequests<'k> {
    pub(super) fn new(kubectl: &'k KubectlUser) -> Self {
        BulkRequests {
            kubectl,
            config: String::new(),
            count: 0,
        }
    }

    /// Adds the creation of an object in a collection.
    pub(super) fn create(&mut self, path: &str, object: &Value) {
        self.add(path, "POST", "application/json", &object.to_string());
    }

    /// Adds a patch of an object.
    pub(super) fn merge(&mut self, path: &str, patch: &Value) {
        self.add(path, "PATCH", "application/merge-patch+json", &patch.to_string());
    }

    /// Adds a deletion.
    pub(super) fn delete(&mut self, path: &str) {
        self.add(path, "DELETE", "application/json", "{}");
    }

    fn add(&mut self, path: &str, method: &str, content_type: &str, body: &str) {
        let mut lines = self.kubectl.curl(path);
        lines.extend([
            ("request", method.to_owned()),
            ("header", format!("Content-Type: {content_type}")),
            ("data", body.to_owned()),
            ("write-out", "%{http_code}\n".to_owned()),
            ("output", "/dev/null".to_owned()),
        ]);
        self.config.push_str("next\ninsecure\n");
        for (name, value) in lines {
            let value = value
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n");
            // Writing to a String cannot fail.
            let _ = writeln!(self.config, "{name} = \"{value}\"");
        }
        self.count += 1;
    }

    /// Makes all of them; each has to succeed.
    pub(super) fn send(self, state: &Path, name: &str) -> Result<(), ToolError> {
        let path = state.join(format!("{name}.curl"));
        fs::write(&path, &self.config).map_err(ToolError::file(&path))?;
        let output = Command::new("curl")
            .args([
                "--silent",
                "--show-error",
                "--parallel",
                "--parallel-max",
                AT_ONCE,
            ])
            .arg("--config")
            .arg(&path)
            .output()
            .map_err(ToolError::program("curl"))?;
        let answers = String::from_utf8_lossy(&output.stdout);
        let good = answers.lines().filter(|code| code.starts_with('2')).count();
        if good == self.count {
            Ok(())
        } else {
            let bad = answers.lines().find(|code| !code.starts_with('2'));
            let errors = String::from_utf8_lossy(&output.stderr);
            let errors: String = errors.lines().take(3).collect();
            let count = self.count;
            Err(format!(
                "of {count} requests, {good} succeed: {} {errors}",
                bad.unwrap_or_default()
            )
            .into())
        }
    }
}
