//! Our side of the contests that `cargo xtask bench` holds: `pratique-benches <contest>`, with orders on stdin.

mod cel;

use std::io::{stdin, stdout};
use std::process::ExitCode;

use pratique_benches::contest;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let ended = match name.as_str() {
        "cel" => contest::serve(stdin().lock(), stdout(), cel::Expressions::new),
        _ => Err(format!("no contest is named {name:?}")),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
