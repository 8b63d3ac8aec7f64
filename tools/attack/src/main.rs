//! `cargo xtask attack`.

use std::process::ExitCode;

use clap::Parser;
use pratique_attack::{AttackArguments, run};

fn main() -> ExitCode {
    run(&AttackArguments::parse())
}
