//! `cargo xtask playground`.

use std::process::ExitCode;

use clap::Parser;
use pratique_playground::{PlaygroundArguments, run};

fn main() -> ExitCode {
    run(&PlaygroundArguments::parse())
}
