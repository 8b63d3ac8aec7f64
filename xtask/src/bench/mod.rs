//! Benchmarks side by side with the reference: `cargo xtask bench <what>`.
//!
//! Two programs, ours and one in Go that imports the reference, do the same work on the same inputs in rounds that
//! alternate, so that what else the machine does falls on both. Each benchmark is a [`Contest`]; a further one needs
//! its module here, its side in `benches/` and its side in `go/`.

mod build;
mod cel;
mod contest;
mod load;
mod reload;
mod side;
mod statistics;
mod table;
mod webhook;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;

pub use contest::{Contest, Measure, Results};
pub use side::{Program, Sample, Side};
pub use statistics::{Spread, geometric_mean};

/// The arguments of `cargo xtask bench`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// What to measure.
    #[arg(value_enum)]
    pub what: What,
    /// Whom to measure beside ours.
    #[arg(long, value_enum)]
    pub against: Option<Against>,
    /// How often each side has its turn.
    #[arg(long, default_value_t = 7)]
    pub rounds: usize,
    /// How long a turn is, in milliseconds.
    #[arg(long, default_value_t = 40)]
    pub turn: u64,
    /// Measure what has this in its name only.
    #[arg(long)]
    pub only: Option<String>,
    /// Write the results to this file, or to stdout instead of the tables.
    #[arg(long, num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
}

/// The benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Expressions over a Pod: parsing, checking, planning, evaluating.
    Cel,
    /// A thousand static policies: time, memory, and ten times as many.
    Load,
    /// A watched directory: from a file's rename to the new verdict, and requests while reloads go on.
    Reload,
    /// Requests before one webhook and ten: latency, and throughput at sixteen at once.
    Webhook,
}

/// The peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Against {
    /// The API server's own code, run by Go programs of this repository.
    Go,
}

/// Runs and prints; the exit code is 2 when something cannot be built or run, or the sides do not agree.
pub fn run(arguments: &Arguments) -> ExitCode {
    let ended = match arguments.what {
        What::Cel => cel::contest(arguments).and_then(|results| show(arguments, &results)),
        What::Load => load::run(arguments),
        What::Reload => reload::run(arguments),
        What::Webhook => webhook::contest(arguments).and_then(|results| show(arguments, &results)),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

impl Arguments {
    /// The length of a turn.
    pub fn length(&self) -> Duration {
        Duration::from_millis(self.turn)
    }
}

fn show(arguments: &Arguments, results: &Results) -> Result<(), String> {
    let Some(path) = &arguments.json else {
        print!("{results}");
        return Ok(());
    };
    let text = format!("{:#}\n", results.to_json());
    if path.as_os_str() == "-" {
        print!("{text}");
        return Ok(());
    }
    print!("{results}");
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
