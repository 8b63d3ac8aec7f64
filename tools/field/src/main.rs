//! `cargo xtask field`.

use std::process::ExitCode;

use clap::Parser;
use pratique_field::{FieldArguments, run};

fn main() -> ExitCode {
    run(&FieldArguments::parse())
}
