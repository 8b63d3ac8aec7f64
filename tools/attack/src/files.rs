//! Hostile and broken manifests and certificates.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime};

use super::AttackScale;
use super::attacked_server::ServedProgram;
use super::sockets::{RELOADS, takes_effect};
use pratique_harness::{ToolError, eventually};

/// A manifest of 850 KB that is 25 GB with its aliases replaced.
pub(super) fn bomb() -> String {
    let scalar = "x".repeat(100_000);
    let aliases = "*a,".repeat(250_000);
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
         metadata:\n  name: bomb.static.k8s.io\n  annotations: {{a: &a {scalar}}}\n  labels: [{aliases}]\n"
    )
}

/// Aliases that are replaced by more than there is memory: refused, and the last good manifests stay in effect.
pub(super) fn aliases(served: &ServedProgram, scale: AttackScale) -> Result<String, ToolError> {
    let path = served.manifests().join("bomb.yaml");
    let failures = || served.metric(RELOADS, "failure");
    for _ in 0..scale.rounds.min(3) {
        let previous_failures = failures()?;
        put(&path, &bomb())?;
        eventually("told of what does not load", || {
            Ok(failures()? > previous_failures)
        })?;
        fs::remove_file(&path).map_err(|error| error.to_string())?;
    }
    let took = takes_effect(served)?;
    Ok(format!(
        "a manifest of 850 KB that expands to 25 GB was refused; a later change took effect in {took:.1?}"
    ))
}

/// The manifests of the policy that usual clients are evaluated by, written in place and slowly: it is in effect all the time.
pub(super) fn rewritten(served: &ServedProgram, scale: AttackScale) -> Result<String, ToolError> {
    let path = served.manifests().join("all.yaml");
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let text = fs::read_to_string(&path).map_err(failed)?;
    let documents: Vec<&str> = text.split_inclusive("---\n").collect();
    for _ in 0..scale.rounds {
        let mut file = File::create(&path).map_err(failed)?;
        for document in &documents {
            thread::sleep(Duration::from_millis(100));
            file.write_all(document.as_bytes()).map_err(failed)?;
            file.flush().map_err(failed)?;
        }
    }
    let took = takes_effect(served)?;
    Ok(format!(
        "{} times written anew, document by document; a change took effect in {took:.1?}",
        scale.rounds
    ))
}

/// Files whose times are wrong by decades, in both directions, as with a clock that jumps.
pub(super) fn future(served: &ServedProgram, _: AttackScale) -> Result<String, ToolError> {
    let path = served.manifests().join("all.yaml");
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let decades = Duration::from_secs(30 * 365 * 24 * 3600);
    let now = SystemTime::now();
    let mut took = Vec::new();
    for time in [now + decades, now - decades, now] {
        let file = File::options().write(true).open(&path).map_err(failed)?;
        file.set_modified(time).map_err(failed)?;
        took.push(takes_effect(served)?);
    }
    Ok(format!("changes took effect in {took:.1?}"))
}

/// A pipe and an endless device where certificates were: the old ones stay, and the next good ones are taken.
pub(super) fn certificates(served: &ServedProgram, _: AttackScale) -> Result<String, ToolError> {
    let folder = served
        .certificates
        .certificate()
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default();
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let count = |status: &str| served.metric("pratique_certificate_reloads_total", status);
    let data = fs::read_link(folder.join("..data")).map_err(failed)?;
    for hostile in ["pipe", "device"] {
        let version = folder.join(format!("..{hostile}"));
        fs::create_dir_all(&version).map_err(failed)?;
        for name in ["tls.crt", "tls.key"] {
            let path = version.join(name);
            match hostile {
                "pipe" => pipe(&path)?,
                _ => symlink("/dev/zero", path).map_err(failed)?,
            }
        }
        let previous_failures = count("failure")?;
        point(&folder, Path::new(&format!("..{hostile}"))).map_err(failed)?;
        eventually("told that certificates cannot be read", || {
            Ok(count("failure")? > previous_failures)
        })?;
    }
    let previous_successes = count("success")?;
    point(&folder, &data).map_err(failed)?;
    // What is as it was before may be noticed without being loaded again.
    thread::sleep(Duration::from_secs(2));
    let loaded = count("success")? - previous_successes;
    served.connect()?.get("/livez")?;
    Ok(format!(
        "pipes and devices were refused; good certificates were loaded {loaded} times after them"
    ))
}

/// Puts a whole file in place at once.
fn put(path: &Path, text: &str) -> Result<(), ToolError> {
    let fresh = path.with_extension("new");
    fs::write(&fresh, text)
        .and_then(|()| fs::rename(&fresh, path))
        .map_err(ToolError::file(&path))
}

/// Points `..data` elsewhere, as the kubelet does.
fn point(folder: &Path, version: &Path) -> std::io::Result<()> {
    symlink(version, folder.join("..next"))?;
    fs::rename(folder.join("..next"), folder.join("..data"))
}

/// Makes a named pipe that no program writes to.
pub(super) fn pipe(path: &Path) -> Result<(), ToolError> {
    let status = Command::new("mkfifo")
        .arg(path)
        .status()
        .map_err(|error| format!("mkfifo: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("mkfifo {}: {status}", path.display()).into())
    }
}
