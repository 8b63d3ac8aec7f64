//! `cargo xtask conformance`.

use std::process::ExitCode;

use clap::Parser;
use pratique_conformance::{ConformanceArguments, run, spec};

/// Runs a directory of conformance cases and compares decisions and messages.
#[derive(Parser)]
#[command(
    bin_name = "cargo xtask conformance",
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
struct ConformanceCommand {
    #[command(subcommand)]
    other: Option<CaseSource>,
    #[command(flatten)]
    recorded: Option<ConformanceArguments>,
}

/// Cases that others have written.
#[derive(clap::Subcommand)]
enum CaseSource {
    /// Run the cases of the CEL specification that need no protocol buffers.
    Spec(spec::SpecArguments),
}

fn main() -> ExitCode {
    match ConformanceCommand::parse() {
        ConformanceCommand {
            other: Some(CaseSource::Spec(arguments)),
            ..
        } => spec::run(&arguments),
        ConformanceCommand { recorded, .. } => run(&recorded.unwrap_or_default()),
    }
}
