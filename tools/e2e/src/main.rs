//! `cargo xtask e2e`.

use std::process::ExitCode;

use clap::Parser;
use pratique_e2e::{E2eArguments, run};

fn main() -> ExitCode {
    run(&E2eArguments::parse())
}
