//! Policies from a directory, apart from requests: how long loading them takes, and how much memory they keep.
//!
//! `pratique-benches start [-processor | -alone] [-n TIMES] PLUGIN DIRECTORY` prints the nanoseconds of each time and the peak
//! of the process's memory, with `-alone` of one thread; `pratique-benches keep PLUGIN SMALL DIRECTORY` how much the anonymous part of the resident set grew when the
//! directory was loaded, after a small one was, and a moment later. That counts whatever loading left behind and the
//! allocator did not return.

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use pratique_benches::BenchError;
use pratique_benches::contest::RunClock;
use pratique_benches::memory::kib;
use serde_json::json;

use crate::admission::{load, load_sequential, plugin};

const USAGE: &str = "usage: pratique-benches start [-processor | -alone] [-n TIMES] PLUGIN DIRECTORY";

/// Loads as often as the arguments say, each time from scratch.
pub(crate) fn start(arguments: &[String]) -> Result<(), BenchError> {
    let (processor, alone, arguments) = match arguments {
        [flag, rest @ ..] if flag == "-processor" => (true, false, rest),
        [flag, rest @ ..] if flag == "-alone" => (false, true, rest),
        rest => (false, false, rest),
    };
    let (times, name, directory) = match arguments {
        [name, directory] => (1, name, directory),
        [flag, times, name, directory] if flag == "-n" => {
            let times = times.parse().map_err(|error| format!("-n: {error}"))?;
            (times, name, directory)
        }
        _ => return Err(USAGE.into()),
    };
    let mut nanos = Vec::new();
    for _ in 0..times {
        let start = RunClock::start(processor);
        let admission = if alone {
            load_sequential(directory, plugin(name)?)?
        } else {
            load(directory, plugin(name)?)?
        };
        nanos.push(start.nanoseconds());
        drop(black_box(admission));
    }
    println!("{}", json!({"nanos": nanos, "peak_kib": kib("self", "VmHWM")?}));
    Ok(())
}

/// How often, and how long, to wait for the allocator to return freed memory.
const TURNS: usize = 15;
const TURN: Duration = Duration::from_millis(100);

/// The size of a large request body, for which servers allocate memory.
const LONG: usize = 1 << 20;

/// Loads a small directory first, so that what every load allocates once does not count, and then another.
pub(crate) fn keep(arguments: &[String]) -> Result<(), BenchError> {
    let [name, small, directory] = arguments else {
        return Err("usage: pratique-benches keep PLUGIN SMALL DIRECTORY".into());
    };
    let first = load(small, plugin(name)?)?;
    let first_memory = kib("self", "RssAnon")?;
    let second = load(directory, plugin(name)?)?;
    // As a server that goes on: the allocator returns unused memory at later allocations.
    for _ in 0..TURNS {
        thread::sleep(TURN);
        drop(black_box(load(small, plugin(name)?)?));
        drop(black_box(vec![1_u8; LONG]));
    }
    let after = kib("self", "RssAnon")?;
    drop(black_box((first, second)));
    println!("{}", json!({"resident_kib": after.saturating_sub(first_memory)}));
    Ok(())
}
