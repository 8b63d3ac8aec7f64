//! `cargo xtask dist`.

use std::process::ExitCode;

use clap::Parser;
use pratique_dist::{DistArguments, run};

fn main() -> ExitCode {
    run(&DistArguments::parse())
}
