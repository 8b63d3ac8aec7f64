//! Programs of the Go modules below `tools/go`, which run the reference's own code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::error::Error;

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

/// Builds a package of a module, such as `./bench`. Go's cache makes this quick when nothing changed.
///
/// # Errors
/// When Go does not start, or the package does not build.
pub fn build(module: &str, package: &str, program: &Path) -> Result<(), Error> {
    let status = command(module)
        .args(["build", "-o"])
        .arg(program)
        .arg(package)
        .status()
        .map_err(|error| format!("go, which builds {package}, does not start: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{package} of the Go module {module} does not build").into()),
    }
}

/// Builds a package of a module into a directory unless the program is newer than its sources: linking the largest takes
/// long even when nothing changed.
///
/// # Errors
/// As for [`build`].
pub fn build_changed(module: &str, package: &str, folder: &Path) -> Result<(), Error> {
    let program = folder.join(package);
    let sources = ["go.mod", "go.sum", package].map(|name| directory(module).join(name));
    if modified(&program).is_some_and(|built| sources.iter().all(|source| newest(source) < Some(built))) {
        return Ok(());
    }
    eprintln!("building {package}");
    build(module, &format!("./{package}"), &program)
}

/// The directory that Go keeps a dependency of a module in.
///
/// # Errors
/// When Go does not start.
pub fn dependency(module: &str, name: &str) -> Result<PathBuf, Error> {
    let listed = command(module)
        .args(["list", "-m", "-f", "{{.Dir}}", name])
        .output()
        .map_err(Error::program("go"))?;
    Ok(PathBuf::from(String::from_utf8_lossy(&listed.stdout).trim()))
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
