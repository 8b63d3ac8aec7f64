//! `cargo xtask fuzz`.

use std::process::ExitCode;

use clap::Parser;
use pratique_fuzz_run::{FuzzArguments, run};

fn main() -> ExitCode {
    run(&FuzzArguments::parse())
}
