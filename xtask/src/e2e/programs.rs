//! The programs: the cluster's from their Go modules, and `pratique`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use serde_json::Value;

use crate::tidy::workspace;

/// Where the programs are.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    folder: PathBuf,
    pratique: PathBuf,
}

impl Programs {
    /// Builds all of them; `pratique` with a profile of cargo's, unless there is one already.
    pub(super) fn build(pratique: Option<&Path>, profile: &str) -> Result<Self, String> {
        let pratique = pratique.map_or_else(|| build(profile), |path| Ok(path.to_owned()))?;
        let folder = folder();
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
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

/// Beside the folder of this program, which can be thrown away.
fn folder() -> PathBuf {
    let own = std::env::current_exe().ok();
    let target = own.as_deref().and_then(Path::parent).and_then(Path::parent);
    target
        .map_or_else(|| workspace().join("target"), Path::to_owned)
        .join("e2e")
}

/// Builds `pratique` with a profile of cargo's.
pub(crate) fn build(profile: &str) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // What cargo said to this program is not about that one: build scripts would take it for a change.
    for (name, _) in std::env::vars_os() {
        let own = name.to_string_lossy();
        if own.starts_with("CARGO_PKG_") || own.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    let built = command
        .current_dir(workspace())
        .args(["build", "--profile", profile, "--package", "pratique-cli"])
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

/// Builds a package, if the program is older than what it is made of.
fn go(package: &str, program: &Path) -> Result<(), String> {
    let module = workspace().join("xtask/go/e2e");
    let sources = [module.join("go.mod"), module.join("go.sum"), module.join(package)];
    if changed(program).is_some_and(|built| sources.iter().all(|own| newest(own) < Some(built))) {
        return Ok(());
    }
    eprintln!("building {package}");
    let built = Command::new("go")
        .current_dir(module)
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

/// When a file, or the newest of a folder's, was changed.
fn newest(path: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(path).into_iter().flatten();
    let files = entries.filter_map(|entry| changed(&entry.ok()?.path()));
    files.chain(changed(path)).max()
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}
