//! Loading static manifests: how long it takes, how much memory, and whether ten times the policies take ten times as
//! long.
//!
//! Every load is a process of its own, so that its peak memory is that of one load. Both sides read, decode, default,
//! validate and compile every expression; ours keeps what the server's loader keeps: the objects.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use pratique_benches::policy;
use pratique_harness::ToolError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::table::{factor, time};
use super::{BenchArguments, build, print, shot};
use pratique_harness::SampleSpread;

/// The policies of the small directory; the large one has ten times as many in as many files.
const POLICIES: usize = 1_000;

/// The output of a process that loads manifests.
#[derive(Debug, Deserialize)]
struct LoadOutput {
    nanos: Vec<u64>,
    objects: usize,
    peak_kib: u64,
}

/// The loads of one kind.
#[derive(Default)]
struct LoadTimes {
    nanos: Vec<f64>,
    peaks: Vec<f64>,
}

/// Builds both sides, writes the directories, and measures the sides alternately.
pub(super) fn run(arguments: &BenchArguments) -> Result<(), ToolError> {
    let program = build::release("pratique-load")?;
    let other = build::other(arguments, "load", &program)?;
    let small = write(&program.with_file_name("bench-load-small"), POLICIES)?;
    let large = write(&program.with_file_name("bench-load-large"), 10 * POLICIES)?;
    let [mut ours, mut theirs, mut more] = [LoadTimes::default(), LoadTimes::default(), LoadTimes::default()];
    for round in 0..arguments.rounds.max(1) {
        eprint!("\rload: round {} of {}", round + 1, arguments.rounds.max(1));
        ours.add(&program, &small, 2 * POLICIES)?;
        if let Some(other) = &other {
            theirs.add(other, &small, 2 * POLICIES)?;
        }
        more.add(&program, &large, 20 * POLICIES)?;
    }
    eprintln!();
    show(arguments, &ours, &theirs, &more)
}

impl LoadTimes {
    fn add(&mut self, program: &Path, directory: &Path, objects: usize) -> Result<(), ToolError> {
        let load: LoadOutput = shot::run(program, &[directory])?;
        if load.objects != objects {
            let name = program.display();
            return Err(format!("{name}: loaded {} objects, not {objects}", load.objects).into());
        }
        self.nanos.extend(load.nanos.iter().map(|nanos| *nanos as f64));
        self.peaks.push(load.peak_kib as f64);
        Ok(())
    }

    fn time(&self) -> Option<SampleSpread> {
        SampleSpread::from_numbers(self.nanos.iter().copied())
    }

    fn peak(&self) -> Option<SampleSpread> {
        SampleSpread::from_numbers(self.peaks.iter().copied())
    }
}

/// The ratios of measurements of the same rounds.
fn ratio(of: &[f64], to: &[f64]) -> Option<SampleSpread> {
    SampleSpread::from_numbers(of.iter().zip(to).map(|(of, to)| of / to))
}

fn show(
    arguments: &BenchArguments,
    ours: &LoadTimes,
    theirs: &LoadTimes,
    more: &LoadTimes,
) -> Result<(), ToolError> {
    let faster = ratio(&theirs.nanos, &ours.nanos);
    let smaller = ratio(&theirs.peaks, &ours.peaks);
    let longer = ratio(&more.nanos, &ours.nanos);
    let results = json!({
        "bench": "load",
        "policies": POLICIES,
        "nanoseconds": {"ours": spread(ours.time()), "theirs": spread(theirs.time()), "ratio": spread(faster)},
        "peakKiB": {"ours": spread(ours.peak()), "theirs": spread(theirs.peak()), "ratio": spread(smaller)},
        "tenTimes": {"nanoseconds": spread(more.time()), "peakKiB": spread(more.peak()), "ratio": spread(longer)},
    });
    print(arguments, &table(ours, theirs, more), &results)
}

fn spread(of: Option<SampleSpread>) -> Value {
    match of {
        Some(of) => json!({"lowest": of.lowest, "median": of.median, "highest": of.highest}),
        None => Value::Null,
    }
}

/// The medians, with the lowest and highest ratio of a round.
fn table(ours: &LoadTimes, theirs: &LoadTimes, more: &LoadTimes) -> String {
    let mut text = String::from("1,000 policies and bindings in 1,000 files\n");
    let mib = |kib: f64| format!("{:.1} MiB", kib / 1024.0);
    let of_ratio = |of: Option<SampleSpread>| match of {
        Some(of) => format!(
            "{} ({}–{})",
            factor(of.median),
            factor(of.lowest),
            factor(of.highest)
        ),
        None => String::new(),
    };
    let mut row = |name: &str, cells: [String; 3]| {
        let [ours, other, ratio] = cells;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {name:16}{ours:>12}{other:>12}  {ratio}");
    };
    let median = |of: Option<SampleSpread>, show: &dyn Fn(f64) -> String| {
        of.map_or_else(String::new, |of| show(of.median))
    };
    row("", ["ours", "theirs", "ratio"].map(str::to_owned));
    row(
        "time",
        [
            median(ours.time(), &time),
            median(theirs.time(), &time),
            of_ratio(ratio(&theirs.nanos, &ours.nanos)),
        ],
    );
    row(
        "peak memory",
        [
            median(ours.peak(), &mib),
            median(theirs.peak(), &mib),
            of_ratio(ratio(&theirs.peaks, &ours.peaks)),
        ],
    );
    row(
        "10,000 policies",
        [
            median(more.time(), &time),
            median(more.peak(), &mib),
            of_ratio(ratio(&more.nanos, &ours.nanos)),
        ],
    );
    text
}

/// Writes a directory of policies, each with its binding and its own expressions.
fn write(directory: &Path, policies: usize) -> Result<PathBuf, ToolError> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory).map_err(failed)?;
    let each = policies.div_ceil(POLICIES);
    for file in 0..policies.div_ceil(each) {
        let documents: Vec<String> = (file * each..policies.min((file + 1) * each))
            .map(policy)
            .collect();
        let path = directory.join(format!("policies-{file:04}.yaml"));
        fs::write(path, documents.join("---\n")).map_err(failed)?;
    }
    Ok(directory.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_rounds() {
        let loads = |nanos: &[f64], peaks: &[f64]| LoadTimes {
            nanos: nanos.to_vec(),
            peaks: peaks.to_vec(),
        };
        let ours = loads(&[1e6, 2e6, 1e6], &[1024.0, 2048.0, 1024.0]);
        let theirs = loads(&[2e7, 6e7, 1e7], &[10240.0, 10240.0, 10240.0]);
        let text = table(
            &ours,
            &theirs,
            &loads(&[1e7, 2e7, 1.1e7], &[2048.0, 2048.0, 2048.0]),
        );
        for part in [
            "20.0× (10.0×–30.0×)",
            "10.0× (5.00×–10.0×)",
            "10.0× (10.0×–11.0×)",
            "1.0 MiB",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn policies_have_expressions_of_their_own() {
        let (one, other) = (policy(7), policy(8));
        assert_ne!(one, other);
        assert!(one.contains("name: policy-7.static.k8s.io"), "{one}");
        let expressions = one.lines().filter(|line| line.contains("xpression:"));
        let shared: Vec<&str> = expressions.filter(|line| other.contains(line)).collect();
        assert_eq!(shared, Vec::<&str>::new());
    }
}
