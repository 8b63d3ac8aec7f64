//! `cargo xtask playground`.

use std::process::ExitCode;

use clap::Parser;
use pratique_playground::{Arguments, run};

fn main() -> ExitCode {
    run(&Arguments::parse())
}
