//! Programs of the Go modules below `tools/go`, which run the reference's own code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use crate::error::ToolError;

/// Whether Go is installed.
pub fn is_installed() -> bool {
    Command::new("go").arg("version").output().is_ok()
}

/// The directory of a module below `tools/go`.
fn directory(module: &str) -> PathBuf {
    super::workspace::root().join("tools/go").join(module)
}

/// Go, in the directory of a module.
pub fn command(module: &str) -> Command {
    let mut command = Command::new("go");
    command.current_dir(directory(module));
    command
}

/// Go with another release of Kubernetes, in the directory of a module: `1.36.3`.
pub fn command_at(version: &str, module: &str) -> Command {
    let mut command = Command::new(directory("at-version.sh"));
    command.args([version, module]);
    command
}

/// Builds a package of a module, such as `./bench`. Go's cache makes this quick when nothing changed.
///
/// # Errors
/// When Go does not start, or the package does not build.
pub fn build(module: &str, package: &str, program: &Path) -> Result<(), ToolError> {
    let mut command = command(module);
    command.arg("build");
    finish_build(command, [module, package], program)
}

/// Builds with a command that has its flags.
fn finish_build(mut command: Command, [module, package]: [&str; 2], program: &Path) -> Result<(), ToolError> {
    let status = command
        .arg("-o")
        .arg(program)
        .arg(package)
        .status()
        .map_err(|error| format!("go, which builds {package}, does not start: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{package} of the Go module {module} does not build").into())
    }
}

/// Builds a package of a module, such as `./etcd`, or of what it depends on, such as `helm.sh/helm/v4/cmd/helm`, into a
/// directory, unless the program is newer than its sources: linking the largest takes long even when nothing changed.
/// Gives the program.
///
/// # Errors
/// As for [`build`].
pub fn build_changed(module: &str, package: &str, folder: &Path) -> Result<PathBuf, ToolError> {
    build_if_changed([module, package], folder, |program| {
        build(module, package, program)
    })
}

/// Builds a program of Kubernetes, such as `./apiserver`, with a release of it, `1.36.3`, as [`build_changed`] does. Like a
/// program that was released, it knows its version: without one, a server warns of all versions that will ever be removed.
///
/// # Errors
/// As for [`build`].
pub fn build_release(
    version: &str,
    module: &str,
    package: &str,
    folder: &Path,
) -> Result<PathBuf, ToolError> {
    build_if_changed([module, package], folder, |program| {
        let mut command = command_at(version, module);
        command.args(["build", "-ldflags", &version_flags(version)]);
        finish_build(command, [module, package], program)
    })
}

/// The flags of the linker that set the version of a program of Kubernetes.
// Upstream: hack/lib/version.sh, kube::version::ldflags
fn version_flags(version: &str) -> String {
    let mut numbers = version.split('.');
    let [major, minor] = [numbers.next(), numbers.next()].map(Option::unwrap_or_default);
    let tag = format!("v{version}");
    let values = [
        ("gitVersion", tag.as_str()),
        ("gitMajor", major),
        ("gitMinor", minor),
    ];
    let packages = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"];
    let flags = packages
        .iter()
        .flat_map(|package| values.map(|(name, value)| format!("-X {package}.{name}={value}")));
    flags.collect::<Vec<_>>().join(" ")
}

/// Builds a package unless its program is newer than what it is made of.
fn build_if_changed(
    [module, package]: [&str; 2],
    folder: &Path,
    build: impl FnOnce(&Path) -> Result<(), ToolError>,
) -> Result<PathBuf, ToolError> {
    fs::create_dir_all(folder).map_err(ToolError::file(folder))?;
    let program = folder.join(name(package));
    // What programs of several modules share is beside them, as is what builds them with another release.
    let shared = ["contest", "gotypes", "at-version.sh"].map(directory);
    let own = ["go.mod", "go.sum", package].map(|name| directory(module).join(name));
    let mut sources = own.iter().chain(&shared);
    if !modified(&program).is_some_and(|built| sources.all(|source| newest(source) < Some(built))) {
        eprintln!("building {}", program.display());
        build(&program)?;
    }
    Ok(program)
}

/// The name of a package's program: the last part of its path that is no version.
fn name(package: &str) -> &str {
    let is_version = |part: &str| {
        let number = part.strip_prefix('v').map(str::parse::<u8>);
        number.is_some_and(|number| number.is_ok())
    };
    let mut parts = package.rsplit('/');
    parts.find(|part| !is_version(part)).unwrap_or(package)
}

/// The directory that Go keeps a dependency of a module in.
///
/// # Errors
/// When Go does not start, or the module has no such dependency.
pub fn dependency(module: &str, name: &str) -> Result<PathBuf, ToolError> {
    find_dependency(command(module), name)
}

/// The same with another release of Kubernetes, `1.36.3`.
///
/// # Errors
/// As for [`dependency`].
pub fn dependency_at(version: &str, module: &str, name: &str) -> Result<PathBuf, ToolError> {
    find_dependency(command_at(version, module), name)
}

fn find_dependency(mut command: Command, name: &str) -> Result<PathBuf, ToolError> {
    let listed = command
        .args(["list", "-m", "-f", "{{.Dir}}", name])
        .stderr(Stdio::inherit())
        .output()
        .map_err(ToolError::program("go"))?;
    let directory = PathBuf::from(String::from_utf8_lossy(&listed.stdout).trim());
    if listed.status.success() && directory.is_dir() {
        Ok(directory)
    } else {
        Err(format!("Go knows no directory of the module {name}").into())
    }
}

/// When a file, or the newest of a directory's, was changed.
fn newest(path: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(path).into_iter().flatten();
    let files = entries.filter_map(|entry| modified(&entry.ok()?.path()));
    files.chain(modified(path)).max()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn programs_are_named_as_go_does() {
        for (package, expected) in [
            ("./etcd", "etcd"),
            ("helm.sh/helm/v4/cmd/helm", "helm"),
            ("sigs.k8s.io/kustomize/kustomize/v5", "kustomize"),
        ] {
            assert_eq!(super::name(package), expected);
        }
    }

    #[test]
    fn programs_know_their_version() {
        let flags = super::version_flags("1.36.3");
        for flag in [
            "-X k8s.io/component-base/version.gitVersion=v1.36.3 ",
            "-X k8s.io/client-go/pkg/version.gitMinor=36",
        ] {
            assert!(flags.contains(flag), "{flags}");
        }
    }
}
