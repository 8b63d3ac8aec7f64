//! The cases of the CEL specification, from a checkout of it: those that need no protocol buffers.

mod case;
mod textproto;
mod value;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::stem;
use case::{CaseResult, run_case};
use pratique_harness::{ToolError, entries};

/// The arguments of `cargo xtask conformance spec`.
#[derive(Clone, Debug, clap::Args)]
pub struct SpecArguments {
    /// A checkout of github.com/google/cel-spec.
    pub directory: PathBuf,
    /// Run the file of this name only: `lists`.
    #[arg(long)]
    pub file: Option<String>,
}

/// The outcomes of the cases of a file.
#[derive(Default)]
struct SpecTally {
    passed: usize,
    /// Failed cases, with their actual results.
    failed: Vec<(String, String)>,
    /// How many cases were skipped for each reason.
    skipped: BTreeMap<String, usize>,
}

/// Runs and prints; the exit code is 1 when a case failed, 2 when the cases cannot be read.
pub fn run(arguments: &SpecArguments) -> ExitCode {
    match report(arguments) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints the outcomes of each file; returns how many cases failed.
fn report(arguments: &SpecArguments) -> Result<usize, ToolError> {
    let mut total = SpecTally::default();
    println!("{:<16} {:>6} {:>6} {:>7}", "file", "passed", "failed", "skipped");
    let folder = arguments.directory.join("tests/simple/testdata");
    for path in entries(&folder)? {
        let is_case = path.extension().is_some_and(|extension| extension == "textproto");
        if !is_case || arguments.file.as_ref().is_some_and(|only| *only != stem(&path)) {
            continue;
        }
        let tally = tally(&path)?;
        tally.print(&stem(&path));
        total.add(tally);
    }
    total.print("all");
    for (reason, count) in &total.skipped {
        println!("  {count} skipped: {reason}");
    }
    Ok(total.failed.len())
}

fn tally(path: &Path) -> Result<SpecTally, ToolError> {
    let text = fs::read_to_string(path).map_err(ToolError::file(path))?;
    let file = textproto::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut tally = SpecTally::default();
    for section in file.messages("section") {
        for test in section.messages("test") {
            match run_case(test) {
                CaseResult::Passed => tally.passed += 1,
                CaseResult::Skipped(reason) => *tally.skipped.entry(reason).or_default() += 1,
                CaseResult::Failed(failure) => {
                    let name = format!("{}/{}", section.read_text("name"), test.read_text("name"));
                    tally
                        .failed
                        .push((format!("{name}: {}", test.read_text("expr")), failure));
                }
            }
        }
    }
    Ok(tally)
}

impl SpecTally {
    fn add(&mut self, other: SpecTally) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        for (reason, count) in other.skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
    }

    fn print(&self, name: &str) {
        let skipped: usize = self.skipped.values().sum();
        println!(
            "{name:<16} {:>6} {:>6} {skipped:>7}",
            self.passed,
            self.failed.len()
        );
        if name != "all" {
            for (case, failure) in &self.failed {
                println!("  {case}\n    {}", failure.replace('\n', "\n    "));
            }
        }
    }
}
