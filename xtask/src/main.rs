//! Maintenance tasks: `cargo xtask <task>`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::conformance;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Maintenance tasks of the workspace")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run a directory of conformance cases and compare verdicts and texts.
    Conformance(conformance::Arguments),
}

fn main() -> ExitCode {
    match Arguments::parse().task {
        Task::Conformance(arguments) => conformance::run(&arguments),
    }
}
