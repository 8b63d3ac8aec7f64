//! `cargo xtask differential`.

use std::process::ExitCode;

use clap::Parser;
use pratique_differential::{Arguments, run};

fn main() -> ExitCode {
    run(&Arguments::parse())
}
