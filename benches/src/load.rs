//! Loading a directory of static manifests: `pratique-load [-n TIMES] DIRECTORY`, a program of its own because what a
//! program maps of itself is part of its memory, as it is of the other side's loader.
//!
//! Reads, decodes, defaults, validates and compiles every expression, as an API server does before it starts and like it on
//! one thread, and prints one line of JSON: the nanoseconds of each time, how many objects there were, and the peak of the
//! process's memory.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use pratique::expressions::{Cache, Expressions};
use pratique::manifest::{LoadOptions, Loader, ManifestPlugin, ManifestSet};
use pratique_benches::BenchError;
use serde_json::json;

use pratique_benches::memory::kib;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Loads as often as the arguments say.
fn run(arguments: &[String]) -> Result<(), BenchError> {
    let (times, directory) = match arguments {
        [directory] => (1, directory),
        [flag, times, directory] if flag == "-n" => {
            (times.parse().map_err(|error| format!("-n: {error}"))?, directory)
        }
        _ => return Err("usage: pratique-load [-n TIMES] DIRECTORY".into()),
    };
    let mut nanos = Vec::new();
    let mut objects = 0;
    for _ in 0..times {
        let start = Instant::now();
        objects = load(directory)?;
        nanos.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    println!(
        "{}",
        json!({"nanos": nanos, "objects": objects, "peak_kib": kib("self", "VmHWM")?})
    );
    Ok(())
}

/// Each time with a new cache, so that nothing is known of the expressions.
fn load(directory: &str) -> Result<usize, BenchError> {
    let expressions = Expressions::new(Arc::new(Cache::new()));
    let options = LoadOptions::new(&expressions);
    let set: ManifestSet = Loader::for_plugin(ManifestPlugin::ValidatingAdmissionPolicy, &options)
        .without_texts()
        .load_directory(directory)
        .map_err(|errors| errors.to_string())?;
    Ok(set.validating_policies.len() + set.validating_bindings.len())
}
