//! libFuzzer: inputs changed by what they cover.
//!
//! What the compiler has to be told is what `cargo fuzz` tells it, but for a sanitizer, which only nightly Rust has: no
//! crate of the workspace has unsafe code, and arithmetic is checked.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pratique_fuzz::{FuzzTarget, corpus};
use pratique_harness::{ToolError, cargo, workspace};

use super::{artifacts, directory, made};

/// What counts the branches that an input takes, and what it compares.
const FLAGS: [&str; 6] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// The longest time that one input may take, in seconds, and the memory, in MiB.
const BOUNDS: [&str; 3] = ["-timeout=10", "-rss_limit_mb=2048", "-malloc_limit_mb=1024"];

/// Runs each target for a time; returns the kept inputs of those that failed.
pub(super) fn run(targets: &[&FuzzTarget], time: Duration, jobs: usize) -> Result<Vec<PathBuf>, ToolError> {
    let binaries = build()?;
    let mut failed = Vec::new();
    for targets in targets.chunks(jobs.max(1)).filter(|_| jobs > 0) {
        let started: Result<Vec<_>, ToolError> = targets
            .iter()
            .map(|target| Ok((target.name, start(&binaries, target.name, time)?)))
            .collect();
        for (target, mut process) in started? {
            let status = process.wait().map_err(|error| format!("{target}: {error}"))?;
            if !status.success() {
                failed.push(artifacts(target)?);
            }
        }
    }
    Ok(failed)
}

/// Builds the binaries, in a directory of their own; gives that which they are in.
fn build() -> Result<PathBuf, ToolError> {
    let host = cargo::host()?;
    // Naming the platform keeps the flags from build scripts and macros.
    let status = cargo::command()
        .current_dir(workspace::root())
        .env("CARGO_TARGET_DIR", directory())
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"))
        .args(["build", "--locked", "--profile", "checked", "--target", &host])
        .args(["--package", "pratique-fuzz", "--features", "libfuzzer", "--bins"])
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    if status.success() {
        Ok(directory().join(host).join("checked"))
    } else {
        Err("the targets do not build with coverage; --plain does without".into())
    }
}

/// Starts a target; its findings are kept in the target directory.
fn start(binaries: &Path, target: &str, time: Duration) -> Result<Child, ToolError> {
    let corpus_directory = made(directory().join("corpus").join(target))?;
    let mut command = Command::new(binaries.join(target));
    command
        .arg(corpus_directory)
        .arg(corpus::directory(target))
        .args(BOUNDS);
    if let Some(dictionary) = corpus::dictionary(target) {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    command
        .arg(format!("-max_total_time={}", time.as_secs().max(1)))
        .arg(format!("-artifact_prefix={}/", artifacts(target)?.display()))
        .args(["-max_len=4096", "-print_final_stats=1", "-verbosity=1"])
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| ToolError::from(format!("{target}: {error}")))
}
