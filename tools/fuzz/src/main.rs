//! `cargo xtask fuzz`.

use std::process::ExitCode;

use clap::Parser;
use pratique_fuzz_run::{Arguments, run};

fn main() -> ExitCode {
    run(&Arguments::parse())
}
