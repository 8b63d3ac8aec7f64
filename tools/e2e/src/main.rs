//! `cargo xtask e2e`.

use std::process::ExitCode;

use clap::Parser;
use pratique_e2e::{Arguments, run};

fn main() -> ExitCode {
    run(&Arguments::parse())
}
