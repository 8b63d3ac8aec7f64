//! `cargo xtask field`.

use std::process::ExitCode;

use clap::Parser;
use pratique_field::{Arguments, run};

fn main() -> ExitCode {
    run(&Arguments::parse())
}
