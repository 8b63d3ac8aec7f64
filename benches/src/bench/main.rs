//! Benchmarks side by side with the reference: `cargo xtask bench [ROW…]`, and `cargo xtask bench <what>` for a closer look.
//!
//! Two programs, ours and one in Go that imports the reference, do the same work on the same inputs in rounds that
//! alternate, so that what else the machine does falls on both. Each benchmark is a [`SideContest`](contest::SideContest); a further one needs
//! its module here, its side beside this directory and its side in `tools/go`.

mod board;
mod build;
mod cel;
mod contest;
mod first_minute;
mod language_server;
mod lint;
mod load;
mod measured_program;
mod objects;
mod reload;
mod review;
mod scan;
mod shot;
mod side;
mod table;
mod webhook;

use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use pratique_harness::ToolError;
use serde_json::Value;

use contest::ContestResults;

/// Measures ours, and beside it the reference.
#[derive(Clone, Debug, Parser)]
#[command(bin_name = "cargo xtask bench")]
pub struct BenchArguments {
    /// Rows of the table, or beginnings of their names; all where none is named. Or one of `build`, `cel`, `lint`, `load`,
    /// `objects`, `reload`, `review`, `scan` and `webhook`, which look closer at one thing.
    #[arg(value_name = "ROW")]
    pub what: Vec<String>,
    /// What the policies of the table are made from.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Whom to measure beside ours.
    #[arg(long, value_enum)]
    pub against: Option<BenchPeer>,
    /// Measure this program as ours instead of building it: a `pratique-benches` that was built before, or otherwise, with
    /// the `pratique` beside it.
    #[arg(long, value_name = "PROGRAM")]
    pub ours: Option<PathBuf>,
    /// Count the instructions of ours instead, under valgrind, and compare them with `benches/baseline.json`.
    #[arg(long, conflicts_with = "against")]
    pub instructions: bool,
    /// Write the instructions that are counted into `benches/baseline.json`.
    #[arg(long, conflicts_with = "against")]
    pub bless: bool,
    /// Do the work of the rows without measuring: for a build that is to learn from it.
    #[arg(long, hide = true, requires = "ours", conflicts_with_all = ["against", "instructions", "bless"])]
    pub train: bool,
    /// How often each side has its turn.
    #[arg(long, default_value_t = 5)]
    pub rounds: usize,
    /// How long a turn is, in milliseconds.
    #[arg(long, default_value_t = 40)]
    pub turn: u64,
    /// Count the time on processors instead of the clock's in the rows of requests and loads: for machines that do other
    /// things too. Ours is that of all threads, theirs without the threads that collect garbage.
    #[arg(long)]
    pub processor_time: bool,
    /// Measure what has this in its name only.
    #[arg(long)]
    pub only: Option<String>,
    /// How many objects `scan` scans, and `review` reviews; a million, and ten thousand, unless it is said.
    #[arg(long)]
    pub objects: Option<usize>,
    /// The directory of policies that `lint` checks and edits, instead of generated ones.
    #[arg(long, value_name = "DIR")]
    pub policies: Option<PathBuf>,
    /// Another checkout of this repository, whose commands `build` measures as well; a tenth more than it needs is an error.
    #[arg(long, value_name = "DIR")]
    pub beside: Option<PathBuf>,
    /// Write the results to this file, or to stdout instead of the tables.
    #[arg(long, num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
}

/// The benchmarks that are not of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OtherBenchmark {
    /// README's two commands from an empty target directory.
    Build,
    /// Expressions over a Pod: parsing, checking, planning, evaluating.
    Cel,
    /// What lints cost: `pratique check` with and without those that try policies, and `pratique lsp` after an edit.
    Lint,
    /// A thousand static policies: time, memory, and ten times as many.
    Load,
    /// Objects as a person writes them: parsing, decoding, defaulting.
    Objects,
    /// A watched directory: from a file's rename to the new decision, and requests while reloads go on.
    Reload,
    /// `pratique review` over a file of many Pods, with and without the whole chain: time, and memory over the number of Pods; and its
    /// start.
    Review,
    /// Very many objects against a hundred policies: how many in a second, and in how much memory.
    Scan,
    /// Requests before one webhook and ten: latency, and throughput at sixteen at once.
    Webhook,
}

/// The peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BenchPeer {
    /// The API server's own code, run by Go programs of this repository.
    Go,
    /// The crate `cel`, in what both do; for `cel` only.
    CelCrate,
}

/// Runs and prints; the exit code is 2 when something cannot be built or run, or the sides do not agree.
fn main() -> ExitCode {
    let arguments = &BenchArguments::parse();
    let one = match arguments.what.as_slice() {
        [one] => OtherBenchmark::from_str(one, false).ok(),
        _ => None,
    };
    let ended = match one {
        _ if arguments.against == Some(BenchPeer::CelCrate) && one != Some(OtherBenchmark::Cel) => {
            Err("only `bench cel` is measured beside the crate `cel`".into())
        }
        Some(OtherBenchmark::Build) => first_minute::run(arguments),
        Some(OtherBenchmark::Cel) => cel::contest(arguments).and_then(|results| show(arguments, &results)),
        Some(OtherBenchmark::Lint) => lint::run(arguments),
        Some(OtherBenchmark::Load) => load::run(arguments),
        Some(OtherBenchmark::Objects) => {
            objects::contest(arguments).and_then(|results| show(arguments, &results))
        }
        Some(OtherBenchmark::Reload) => reload::run(arguments),
        Some(OtherBenchmark::Review) => review::run(arguments),
        Some(OtherBenchmark::Scan) => scan::run(arguments),
        Some(OtherBenchmark::Webhook) => {
            webhook::contest(arguments).and_then(|results| show(arguments, &results))
        }
        None => board::run(arguments),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

impl BenchArguments {
    /// The length of a turn.
    pub fn length(&self) -> Duration {
        Duration::from_millis(self.turn)
    }
}

fn show(arguments: &BenchArguments, results: &ContestResults) -> Result<(), ToolError> {
    print(arguments, results, &results.to_json())
}

/// Prints a table, or all numbers, or the table with the numbers in a file.
fn print(arguments: &BenchArguments, table: &dyn Display, numbers: &Value) -> Result<(), ToolError> {
    let Some(path) = &arguments.json else {
        print!("{table}");
        return Ok(());
    };
    let text = format!("{numbers:#}\n");
    if path.as_os_str() == "-" {
        print!("{text}");
        return Ok(());
    }
    print!("{table}");
    std::fs::write(path, text).map_err(ToolError::file(&path))
}
