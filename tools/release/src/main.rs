//! `cargo xtask release`.

use std::process::ExitCode;

use clap::Parser;
use pratique_release::{ReleaseArguments, run};

fn main() -> ExitCode {
    run(&ReleaseArguments::parse())
}
