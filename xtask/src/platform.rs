//! The platform that this machine's compiler builds for.

use std::process::Command;

/// The platform that this machine's compiler builds for.
pub(crate) fn host() -> Result<String, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let told = Command::new(rustc)
        .arg("-vV")
        .output()
        .map_err(|error| format!("rustc: {error}"))?;
    let told = String::from_utf8_lossy(&told.stdout);
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "rustc names no host".to_owned())
}
