//! `cargo xtask deploy`.

use std::process::ExitCode;

use clap::Parser;
use pratique_deploy::{Arguments, run};

fn main() -> ExitCode {
    run(&Arguments::parse())
}
