//! Kustomize and Helm, built from their modules.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pratique_harness::{ToolError, go, workspace};

/// The namespace that the chart is released into.
pub const RELEASED_INTO: &str = "admission";

/// The programs that render.
#[derive(Debug)]
pub struct RenderTools {
    helm: PathBuf,
    kustomize: PathBuf,
}

/// Why there is nothing to render with.
#[derive(Debug)]
pub struct AbsentTools(pub String);

impl RenderTools {
    /// Uses the given programs, and builds the others.
    pub fn find(helm: Option<&Path>, kustomize: Option<&Path>) -> Result<Self, AbsentTools> {
        let folder = workspace::target().join("deploy");
        let find = |given: Option<&Path>, package| match given {
            Some(path) => Ok(path.to_owned()),
            None => {
                go::build_changed("deploy", package, &folder).map_err(|error| AbsentTools(error.to_string()))
            }
        };
        Ok(RenderTools {
            helm: find(helm, "helm.sh/helm/v4/cmd/helm")?,
            kustomize: find(kustomize, "sigs.k8s.io/kustomize/kustomize/v5")?,
        })
    }

    /// Renders a kustomization.
    pub fn kustomize(&self, directory: &Path) -> Result<String, ToolError> {
        output(Command::new(&self.kustomize).arg("build").arg(directory))
    }

    /// Packs a chart as a release does, into a directory; gives the archive.
    pub fn package(&self, chart: &Path, version: &str, into: &Path) -> Result<PathBuf, ToolError> {
        output(
            Command::new(&self.helm)
                .args([
                    "package",
                    "--version",
                    version,
                    "--app-version",
                    version,
                    "--destination",
                ])
                .arg(into)
                .arg(chart),
        )?;
        Ok(into.join(format!("pratique-{version}.tgz")))
    }

    /// Renders a chart with values; faults of its linter are errors.
    pub fn helm(&self, chart: &Path, values: &Path) -> Result<String, ToolError> {
        output(
            Command::new(&self.helm)
                .args(["lint", "--strict", "--values"])
                .arg(values)
                .arg(chart),
        )?;
        output(
            Command::new(&self.helm)
                .args(["template", "gate", "--namespace", RELEASED_INTO, "--values"])
                .arg(values)
                .arg(chart),
        )
    }
}

fn output(command: &mut Command) -> Result<String, ToolError> {
    let command_line = format!("{command:?}");
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{command_line}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!(
            "{command_line}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
        .into())
    }
}
