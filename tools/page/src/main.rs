//! `cargo xtask page`.

use std::process::ExitCode;

use clap::Parser;
use pratique_page::{PageArguments, run};

fn main() -> ExitCode {
    run(&PageArguments::parse())
}
