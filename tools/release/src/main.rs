//! `cargo xtask release`.

use std::process::ExitCode;

use clap::Parser;
use pratique_release::{Arguments, run};

fn main() -> ExitCode {
    run(&Arguments::parse())
}
