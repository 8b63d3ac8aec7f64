//! Inputs changed at random, on any machine that builds the workspace.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pratique_fuzz::mutation::InputMutator;
use pratique_fuzz::{FuzzTarget, corpus};
use pratique_harness::ToolError;

/// Runs each target for a time; returns the inputs that failed.
pub(super) fn run(
    targets: &[&FuzzTarget],
    time: Duration,
    seed: Option<u64>,
) -> Result<Vec<PathBuf>, ToolError> {
    let seed = seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(0, |since| since.as_secs())
    });
    println!("seed {seed}");
    let mut failed = Vec::new();
    for target in targets {
        failed.extend(run_one(target, time, seed, &super::artifacts(target.name)?)?);
    }
    Ok(failed)
}

/// Runs a target until the time is over or an input fails, which is kept in a directory.
fn run_one(
    target: &FuzzTarget,
    time: Duration,
    seed: u64,
    artifacts: &Path,
) -> Result<Option<PathBuf>, ToolError> {
    let directory = corpus::directory(target.name);
    let inputs = corpus::inputs(&directory).map_err(ToolError::file(&directory))?;
    let mut pending: Vec<Vec<u8>> = inputs.into_iter().map(|(_, input)| input).collect();
    pending.reverse();
    let seeds = pending.clone();
    let dictionary = corpus::dictionary(target.name).map(std::fs::read_to_string);
    let tokens = dictionary.transpose().map_err(|error| error.to_string())?;
    let tokens = tokens.as_deref().map_or_else(Vec::new, corpus::tokens);
    let mut mutator = InputMutator::new(&seeds, &tokens, seed);
    let (end, mut count) = (Instant::now() + time, 0u64);
    // All existing inputs are run first, however long that takes.
    while !pending.is_empty() || Instant::now() < end {
        let input = pending.pop().unwrap_or_else(|| mutator.next_input());
        count += 1;
        if catch_unwind(AssertUnwindSafe(|| (target.run)(&input))).is_err() {
            let path = artifacts.join(format!("plain-{seed}-{count}"));
            std::fs::write(&path, &input).map_err(ToolError::file(&path))?;
            return Ok(Some(path));
        }
    }
    println!("{}: {count} inputs", target.name);
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_test_target(run: fn(&[u8])) -> (Option<PathBuf>, PathBuf) {
        let directory = super::super::artifacts("test").unwrap();
        let target = FuzzTarget {
            name: "json_patch",
            run,
        };
        let failed = run_one(&target, Duration::from_millis(20), 1, &directory).unwrap();
        (failed, directory)
    }

    #[test]
    fn an_input_that_fails_is_kept() {
        let (failed, directory) = run_test_target(|input| assert!(!input.starts_with(b"{\"a\": {\"b\"")));
        let failed = failed.unwrap();
        assert!(failed.starts_with(directory));
        assert!(std::fs::read(&failed).unwrap().starts_with(b"{\"a\": {\"b\""));
        std::fs::remove_file(failed).unwrap();
    }

    #[test]
    fn inputs_that_hold_leave_nothing() {
        assert_eq!(run_test_target(|_| {}).0, None);
    }
}
