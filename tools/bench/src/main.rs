//! `cargo xtask bench`.

use std::process::ExitCode;

use clap::Parser;
use pratique_bench::{BenchArguments, run};

fn main() -> ExitCode {
    run(&BenchArguments::parse())
}
