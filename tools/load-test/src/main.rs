//! `cargo xtask load-test`.

use std::process::ExitCode;

use clap::Parser;
use pratique_load_test::{LoadArguments, run};

fn main() -> ExitCode {
    run(&LoadArguments::parse())
}
