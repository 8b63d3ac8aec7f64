//! `cargo xtask load-test`.

use std::process::ExitCode;

use clap::Parser;
use pratique_load_test::{Arguments, run};

fn main() -> ExitCode {
    run(&Arguments::parse())
}
