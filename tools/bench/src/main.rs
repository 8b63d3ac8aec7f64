//! `cargo xtask bench`.

use std::process::ExitCode;

use clap::Parser;
use pratique_bench::{Arguments, run};

fn main() -> ExitCode {
    run(&Arguments::parse())
}
