//! The package for JavaScript, as npm publishes it.

use std::fs;
use std::path::Path;
use std::process::Command;

use pratique_harness::ToolError;

use crate::source;

/// The files of the package, without the module.
const FILES: [&str; 8] = [
    "package.json",
    "README.md",
    "engine.js",
    "engine.d.ts",
    "index.js",
    "index.d.ts",
    "test/engine.test.js",
    "test/types.test.js",
];

/// Installs what the tests need, and nothing that runs.
const INSTALL: [&str; 5] = [
    "install",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--no-package-lock",
];

/// Writes the package, and runs its tests.
pub(crate) fn write(module: &Path, directory: &Path) -> Result<String, ToolError> {
    fs::create_dir_all(directory.join("test")).map_err(ToolError::file(&directory))?;
    for name in FILES {
        let from = source("bindings/javascript").join(name);
        fs::copy(&from, directory.join(name)).map_err(ToolError::file(&from))?;
    }
    fs::copy(source("LICENSE"), directory.join("LICENSE")).map_err(ToolError::file(&directory))?;
    fs::copy(module, directory.join("pratique.wasm")).map_err(ToolError::file(&module))?;
    // TypeScript, which the tests look at the types with.
    run(directory, "npm", &INSTALL)?;
    let stdout = run(directory, "node", &["--test", "test/"])?;
    let counts = stdout
        .lines()
        .filter(|line| line.contains(" pass ") || line.contains(" fail ") || line.contains(" skipped "));
    Ok(counts.collect::<Vec<_>>().join("\n"))
}

/// Runs a program in a directory, and returns its output.
fn run(directory: &Path, program: &str, arguments: &[&str]) -> Result<String, ToolError> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .output()
        .map_err(ToolError::program(program))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        Ok(stdout)
    } else {
        Err(format!("{program}: {stdout}{}", String::from_utf8_lossy(&output.stderr)).into())
    }
}
