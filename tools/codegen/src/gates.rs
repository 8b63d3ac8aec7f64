//! The table of feature gates, from what `tools/go/objects/featuregates` writes.

use std::fmt::Write as _;
use std::path::Path;

use pratique_harness::ToolError;
use serde::Deserialize;

use super::within;

const HEAD: &str = "\
# The feature gates of kube-apiserver. Made by `cargo xtask codegen`; do not edit.
# NAME alpha|beta|stable|deprecated on|off [locked] [needs NAME…]: the state is that by default; a gate that is locked has
# no other; where a gate is on, those that it needs have to be.
";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GateRecord {
    name: String,
    stage: String,
    default: bool,
    locked: bool,
    #[serde(default)]
    depends_on: Vec<String>,
}

/// Writes `gates.txt` into the directory `data`.
pub(super) fn run(file: &Path, data: &Path) -> Result<(), ToolError> {
    let text = std::fs::read(file).map_err(ToolError::file(file))?;
    let gates: Vec<GateRecord> = serde_json::from_slice(&text).map_err(within(file.display()))?;
    let mut lines = String::from(HEAD);
    for gate in &gates {
        let stage = match gate.stage.as_str() {
            "GA" => "stable".to_owned(),
            stage => stage.to_ascii_lowercase(),
        };
        let state = if gate.default { "on" } else { "off" };
        let _ = write!(lines, "{} {stage} {state}", gate.name);
        if gate.locked {
            lines.push_str(" locked");
        }
        if !gate.depends_on.is_empty() {
            let _ = write!(lines, " needs {}", gate.depends_on.join(" "));
        }
        lines.push('\n');
    }
    let table = data.join("gates.txt");
    std::fs::write(&table, lines).map_err(ToolError::file(&table))
}
