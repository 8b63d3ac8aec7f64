//! The module of WebAssembly.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use pratique_harness::{ToolError, cargo, workspace};

/// The profile of modules that are small.
pub(crate) const SMALL: &str = "wasm";

const TARGET: &str = "wasm32-unknown-unknown";

/// The most that the module may have, compressed.
const MOST: usize = 3 << 20;

/// The linker's arguments: a stack for the nesting that the engine allows, and a bound for memory.
const LINKED: [&str; 2] = [
    "link-arg=-zstack-size=8388608",
    "link-arg=--max-memory=2147483648",
];

/// Builds the module, and gives its path.
pub(crate) fn build(profile: &str) -> Result<PathBuf, ToolError> {
    let mut command = cargo::command();
    command
        .current_dir(workspace::root())
        .args(["rustc", "--locked", "--package", "pratique-wasm", "--lib"])
        .args(["--crate-type", "cdylib", "--target", TARGET, "--profile", profile])
        .args(["--", "-C", LINKED[0], "-C", LINKED[1]]);
    run(&mut command, "the module does not build")?;
    let directory = if profile == "dev" { "debug" } else { profile };
    Ok(workspace::target()
        .join(TARGET)
        .join(directory)
        .join("pratique_wasm.wasm"))
}

/// Runs a program that says itself what is wrong.
fn run(command: &mut Command, otherwise: &str) -> Result<(), ToolError> {
    let status = command
        .status()
        .map_err(ToolError::program(command.get_program().display()))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{otherwise}: {status}").into())
    }
}

/// How large the module is; an error if it is too large and has to be small.
pub(crate) fn size(module: &Path, bounded: bool) -> Result<String, ToolError> {
    let content = fs::read(module).map_err(ToolError::file(&module))?;
    let packed = compressed(&content)?.len();
    let size_text = format!("{} bytes, {packed} with gzip -9 (at most {MOST})", content.len());
    if bounded && packed > MOST {
        Err(format!("too large: {size_text}").into())
    } else {
        Ok(size_text)
    }
}

/// A content, compressed as well as gzip can.
pub(crate) fn compressed(content: &[u8]) -> Result<Vec<u8>, ToolError> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    Ok(encoder.finish()?)
}
