//! The programs: the cluster's from their Go modules, and `pratique` as it is shipped.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::tidy::workspace;

/// Where the programs are.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    folder: PathBuf,
    pratique: PathBuf,
}

impl Programs {
    /// Builds all of them.
    pub(super) fn build() -> Result<Self, String> {
        let pratique = pratique()?;
        let folder = pratique
            .parent()
            .and_then(Path::parent)
            .ok_or("cargo builds into no folder")?
            .join("e2e");
        for package in ["etcd", "kubectl", "apiserver"] {
            go(package, &folder.join(package))?;
        }
        Ok(Programs { folder, pratique })
    }

    /// The folder of the cluster's programs.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn pratique(&self) -> Command {
        Command::new(&self.pratique)
    }

    /// etcd, kubectl or apiserver.
    pub(super) fn cluster(&self, name: &str) -> Command {
        Command::new(self.folder.join(name))
    }
}

fn pratique() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .current_dir(workspace())
        .args(["build", "--release", "--package", "pratique-cli"])
        .args(["--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !built.status.success() {
        return Err("pratique does not build".to_owned());
    }
    String::from_utf8_lossy(&built.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?)))
        .find(|program| program.file_stem().is_some_and(|stem| stem == "pratique"))
        .ok_or_else(|| "cargo names no program".to_owned())
}

/// Go's own cache makes this quick when nothing changed.
fn go(package: &str, program: &Path) -> Result<(), String> {
    eprintln!("building {package}");
    let built = Command::new("go")
        .current_dir(workspace().join("xtask/go/e2e"))
        .args(["build", "-o"])
        .arg(program)
        .arg(format!("./{package}"))
        .status()
        .map_err(|error| format!("go: {error}"))?;
    match built.success() {
        true => Ok(()),
        false => Err(format!("{package} does not build")),
    }
}
