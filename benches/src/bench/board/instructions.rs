//! The instructions that our side executes: a figure without noise, for which valgrind runs the program.
//!
//! A request is counted as all that is executed from when `evaluate_counted` or `run_counted` begins, on whatever thread, by the number of
//! requests; a load as all that the program executes on one thread. Counts depend a little on the seeds of hash tables, which are random.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::baseline::BoardBaseline;
use super::counted_run::CountedRun;
use super::material::BoardMaterial;
use super::rows::{self, BoardRow};
use crate::{BenchArguments, build, table};
use pratique_harness::ToolError;

/// Counts the selected rows, and compares them with the baseline or writes them into it.
/// Returns whether none is worse.
pub(super) fn run(arguments: &BenchArguments) -> Result<bool, ToolError> {
    let ours = match &arguments.ours {
        Some(built) => built.clone(),
        None => build::ours()?,
    };
    let material = BoardMaterial::new(&ours.with_file_name("bench-policies"), arguments.seed)?;
    let mut counts = BTreeMap::new();
    for row in rows::wanted(&arguments.what)? {
        eprint!("\r{:40}\r{} …", "", row.name);
        if let Some(count) = count(&row, &ours, &material)? {
            counts.insert(row.name.to_owned(), count);
        }
    }
    eprint!("\r{:40}\r", "");
    let mut baseline = BoardBaseline::read()?;
    if arguments.bless {
        baseline.take(counts);
        return baseline.write().map(|()| true);
    }
    let compared = baseline.compare(&counts);
    super::super::print(arguments, &compared, &compared.to_json())?;
    Ok(!compared.is_worse())
}

/// `None` where there is nothing to count.
fn count(row: &BoardRow, program: &Path, material: &BoardMaterial) -> Result<Option<u64>, ToolError> {
    let Some(run) = CountedRun::new(row, material, 1)? else {
        return Ok(None);
    };
    let options = run
        .begins_with
        .map(|function| format!("--zero-before=*{function}*"));
    let all = callgrind(program, options.as_deref(), &run.arguments)?;
    Ok(Some(all / run.times))
}

/// Runs a program under callgrind and reads how many instructions it has executed.
fn callgrind(program: &Path, option: Option<&str>, arguments: &[String]) -> Result<u64, ToolError> {
    let file = program.with_file_name("bench-instructions");
    let mut out = std::ffi::OsString::from("--callgrind-out-file=");
    out.push(&file);
    let ran = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind"])
        .args(option)
        .arg(out)
        .arg(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .status()
        .map_err(|error| format!("valgrind: {error}"))?;
    if !ran.success() {
        return Err(format!("valgrind ended with {ran}").into());
    }
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    let text = fs::read_to_string(&file).map_err(failed)?;
    totals(&text).ok_or_else(|| ToolError::from(format!("{} has no totals", file.display())))
}

/// The sum of a dump.
fn totals(dump: &str) -> Option<u64> {
    let totals = dump.lines().find_map(|line| line.strip_prefix("totals:"))?;
    totals.split_whitespace().next()?.parse().ok()
}

/// A count in the unit that suits it, with three digits.
pub(super) fn amount(instructions: u64) -> String {
    let instructions = instructions as f64;
    match instructions {
        few if few < 1e6 => format!("{} k", table::digits(few / 1e3)),
        some if some < 1e9 => format!("{} M", table::digits(some / 1e6)),
        many => format!("{} G", table::digits(many / 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps_have_totals() {
        assert_eq!(totals("version: 1\nsummary: 12\n\ntotals: 4711\n"), Some(4711));
        assert_eq!(totals("version: 1\n"), None);
    }

    #[test]
    fn amounts_have_three_digits() {
        for (count, expected) in [
            (950, "0.95 k"),
            (123_456, "123 k"),
            (45_600_000, "45.6 M"),
            (3_000_000_000, "3.00 G"),
        ] {
            assert_eq!(amount(count), expected);
        }
    }
}
