//! The first minute: how long README's two commands take from an empty target directory, downloads aside, and beside those of
//! another checkout.
//!
//! Time on processors decides, since what else a machine does hardly changes it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use pratique_harness::{ToolError, cargo, workspace};
use serde_json::json;

use super::table::{digits, factor};
use super::{BenchArguments, print};

/// By how much the time on processors may grow over that of another checkout.
const GROWTH: f64 = 1.1;
/// README's commands, each with the exit code that it has there.
const COMMANDS: [(&str, &[&str], i32); 2] = [
    (
        "cargo run",
        &["run", "--locked", "--quiet", "--", "review", "examples/pods"],
        1,
    ),
    ("cargo test", &["test", "--locked", "--quiet", "--workspace"], 0),
];

/// The time that a command took.
#[derive(Clone, Copy)]
struct ElapsedTime {
    clock: Duration,
    /// On all processors, of the command and all that it started.
    processors: Duration,
}

/// Measures this checkout, and another one if there is one.
pub(super) fn run(arguments: &BenchArguments) -> Result<(), ToolError> {
    let ours = measure(&workspace::root())?;
    let theirs = arguments.beside.as_deref().map(measure).transpose()?;
    let mut text = format!("{:12}{:>12}{:>14}{:>12}\n", "", "clock", "processors", "beside");
    let sums = |times: &[ElapsedTime]| {
        times
            .iter()
            .map(|time| time.processors.as_secs_f64())
            .sum::<f64>()
    };
    for (at, (name, _, _)) in COMMANDS.iter().enumerate() {
        let (Some(time), other) = (ours.get(at), theirs.as_ref().and_then(|theirs| theirs.get(at))) else {
            continue;
        };
        let ratio = other.map(|other| time.processors.as_secs_f64() / other.processors.as_secs_f64());
        text += &format!(
            "{name:12}{:>12}{:>14}{:>12}\n",
            minutes(time.clock),
            minutes(time.processors),
            ratio.map(factor).unwrap_or_default()
        );
    }
    let rows = COMMANDS.iter().zip(&ours).map(|((name, _, _), time)| {
        json!({"command": name, "seconds": time.clock.as_secs_f64(), "processorSeconds": time.processors.as_secs_f64()})
    });
    let growth = theirs.as_deref().map(|theirs| sums(&ours) / sums(theirs));
    print(
        arguments,
        &text,
        &json!({"bench": "build", "rows": rows.collect::<Vec<_>>(), "growth": growth}),
    )?;
    match growth {
        Some(growth) if growth > GROWTH => Err(format!(
            "the two commands need {} of the processors' time of the other checkout; {} is allowed",
            factor(growth),
            factor(GROWTH)
        )
        .into()),
        _ => Ok(()),
    }
}

/// Runs the commands of a checkout one after the other, as a reader of its README does.
fn measure(checkout: &Path) -> Result<Vec<ElapsedTime>, ToolError> {
    let fetched = cargo::command()
        .current_dir(checkout)
        .args(["fetch", "--locked", "--quiet"])
        .status()
        .map_err(ToolError::program("cargo"))?;
    if !fetched.success() {
        return Err(format!("cargo fetch in {}: {fetched}", checkout.display()).into());
    }
    let target = EmptyTarget::new(checkout)?;
    COMMANDS
        .iter()
        .map(|(_, words, code)| time(checkout, &target.0, words, *code))
        .collect()
}

fn time(checkout: &Path, target: &Path, words: &[&str], code: i32) -> Result<ElapsedTime, ToolError> {
    let (began, spent) = (Instant::now(), children_time()?);
    let status = cargo::command()
        .current_dir(checkout)
        .env("CARGO_TARGET_DIR", target)
        .args(words)
        .stdout(Stdio::null())
        .status()
        .map_err(ToolError::program("cargo"))?;
    if status.code() != Some(code) {
        return Err(format!("cargo {} in {}: {status}", words.join(" "), checkout.display()).into());
    }
    Ok(ElapsedTime {
        clock: began.elapsed(),
        processors: children_time()?.saturating_sub(spent),
    })
}

/// The time that processors spent on processes that this one started and waited for, and on theirs.
fn children_time() -> Result<Duration, ToolError> {
    let stat = fs::read_to_string("/proc/self/stat").map_err(|error| format!("/proc/self/stat: {error}"))?;
    // The name of the program, in brackets, may have spaces: fields are counted after it. See proc_pid_stat(5).
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let mut ticks = fields.split_whitespace().skip(13).map(str::parse::<u64>);
    match (ticks.next(), ticks.next()) {
        (Some(Ok(user)), Some(Ok(system))) => Ok(Duration::from_secs(user + system)
            / u32::try_from(rustix::param::clock_ticks_per_second()).unwrap_or(100)),
        _ => Err("/proc/self/stat does not say how long children ran".into()),
    }
}

fn minutes(time: Duration) -> String {
    format!("{} min", digits(time.as_secs_f64() / 60.0))
}

/// A directory for a build from nothing, which goes with this value.
struct EmptyTarget(PathBuf);

impl EmptyTarget {
    fn new(checkout: &Path) -> Result<Self, ToolError> {
        let path = checkout.join("target/first-minute");
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(format!("{}: {error}", path.display()).into())
            }
            _ => Ok(Self(path)),
        }
    }
}

impl Drop for EmptyTarget {
    fn drop(&mut self) {
        // What is left is removed by the next measurement.
        let _ = fs::remove_dir_all(&self.0);
    }
}
