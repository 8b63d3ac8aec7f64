//! The package for JavaScript, as npm publishes it.

use std::fs;
use std::path::Path;
use std::process::Command;

use pratique_harness::Error;

use crate::source;

/// What it consists of, besides the module.
const FILES: [&str; 7] = [
    "package.json",
    "README.md",
    "engine.js",
    "engine.d.ts",
    "index.js",
    "index.d.ts",
    "test/engine.test.js",
];

/// Writes the package, and runs its tests.
pub(crate) fn write(module: &Path, directory: &Path) -> Result<String, Error> {
    fs::create_dir_all(directory.join("test")).map_err(Error::file(&directory))?;
    for name in FILES {
        let from = source("bindings/javascript").join(name);
        fs::copy(&from, directory.join(name)).map_err(Error::file(&from))?;
    }
    fs::copy(source("LICENSE"), directory.join("LICENSE")).map_err(Error::file(&directory))?;
    fs::copy(module, directory.join("pratique.wasm")).map_err(Error::file(&module))?;
    let tested = Command::new("node")
        .args(["--test", "test/"])
        .current_dir(directory)
        .output()
        .map_err(Error::program("node"))?;
    let told = String::from_utf8_lossy(&tested.stdout).into_owned();
    match tested.status.success() {
        true => {
            let counts = told.lines().filter(|line| {
                line.contains(" pass ") || line.contains(" fail ") || line.contains(" skipped ")
            });
            Ok(counts.collect::<Vec<_>>().join("\n"))
        }
        false => Err(format!("{told}{}", String::from_utf8_lossy(&tested.stderr)).into()),
    }
}
