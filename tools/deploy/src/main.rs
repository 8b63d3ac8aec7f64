//! `cargo xtask deploy`.

use std::process::ExitCode;

use clap::Parser;
use pratique_deploy::{DeployArguments, run};

fn main() -> ExitCode {
    run(&DeployArguments::parse())
}
