//! `cargo xtask differential`.

use std::process::ExitCode;

use clap::Parser;
use pratique_differential::{DifferentialArguments, run};

fn main() -> ExitCode {
    run(&DifferentialArguments::parse())
}
