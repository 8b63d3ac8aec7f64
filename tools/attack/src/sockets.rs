//! Clients that want the server's open files, and clients that only look.

use std::fs;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use super::AttackScale;
use super::attacked_server::ServedProgram;
use super::confined_program::FILES;
use pratique_harness::{ToolError, eventually, outcome};

/// More connections than the server may have files.
const CONNECTIONS: u64 = FILES + 100;
/// How many lines the log may grow by.
const LINES: usize = 100;
/// The metric of changes that took effect, or did not.
pub(super) const RELOADS: &str = "apiserver_manifest_admission_config_controller_automatic_reloads_total";
/// A policy that changes nothing, put among the others to see whether changes are noticed.
pub(super) const MARKER: &str = include_str!("marker.yaml");

/// Connections that do nothing: others get in, changes of manifests take effect, and the log does not run over.
pub(super) fn idle(served: &ServedProgram, scale: AttackScale) -> Result<String, ToolError> {
    let lines = served.log()?.lines().count();
    let mut idle = Vec::new();
    for _ in 0..CONNECTIONS {
        // Those that are not taken wait in the system's queue, and are none of the server's.
        if let Ok(stream) = TcpStream::connect_timeout(&served.address(), Duration::from_secs(1)) {
            idle.push(stream);
        }
    }
    let took = takes_effect(served)?;
    thread::sleep(scale.time);
    let lines = served.log()?.lines().count().saturating_sub(lines);
    let text = format!(
        "{} connections; a new manifest took effect in {took:.1?}; {lines} lines in the log",
        idle.len()
    );
    outcome(lines <= LINES, text)
}

/// Whether a change of manifests is noticed, and how long that takes.
pub(super) fn takes_effect(served: &ServedProgram) -> Result<Duration, ToolError> {
    let count = || served.metric(RELOADS, "success");
    let previous_count = count()?;
    let path = served.manifests().join("marker.yaml");
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let took = if path.exists() {
        fs::remove_file(&path).map_err(failed)?;
        eventually("noticed that a manifest went", || Ok(count()? > previous_count))?
    } else {
        fs::write(path.with_extension("new"), MARKER).map_err(failed)?;
        fs::rename(path.with_extension("new"), &path).map_err(failed)?;
        eventually("noticed a new manifest", || Ok(count()? > previous_count))?
    };
    Ok(took)
}

/// Metrics and health, as often as one connection gets them.
pub(super) fn looks(served: &ServedProgram, scale: AttackScale) -> Result<String, ToolError> {
    let end = Instant::now() + scale.time;
    let mut count = 0;
    let mut client = served.connect()?;
    while Instant::now() < end {
        for path in ["/metrics", "/readyz", "/configz", "/nowhere"] {
            let answer = client.get(path)?;
            if answer.last {
                client = served.connect()?;
            }
            count += 1;
        }
    }
    Ok(format!("{count} looks"))
}
