//! `cargo xtask attack`.

use std::process::ExitCode;

use clap::Parser;
use pratique_attack::{Arguments, run};

fn main() -> ExitCode {
    run(&Arguments::parse())
}
