//! `cargo xtask page`.

use std::process::ExitCode;

use clap::Parser;
use pratique_page::{Arguments, run};

fn main() -> ExitCode {
    run(&Arguments::parse())
}
