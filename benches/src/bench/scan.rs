//! A scan of very many objects: its rate and memory, compared with the reference's own plugin in a loop, and whether two
//! processes over two halves give the same report.

mod objects;
pub(super) mod policies;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pratique_harness::{ToolError, workspace};
use serde_json::{Value, json};

use super::measured_program::{self, MeasuredProgram};
use super::table::factor;
use super::{BenchArguments, build, print};

/// How many objects there are unless it is said.
const DEFAULT_OBJECTS: usize = 1_000_000;

/// How many policies there are.
const POLICIES: usize = 100;

/// How many objects the comparison with the reference has, which is slow.
const COMPARED_OBJECTS: usize = 20_000;

/// The program and the directory of scans.
struct ScanBench {
    program: PathBuf,
    directory: PathBuf,
}

/// Measures a scan, and beside it the reference.
pub(super) fn run(arguments: &BenchArguments) -> Result<(), ToolError> {
    let program = match &arguments.ours {
        Some(program) => program.with_file_name("pratique"),
        None => build::release("pratique")?,
    };
    let directory = workspace::target().join("bench-scan");
    fs::create_dir_all(&directory).map_err(ToolError::file(&directory))?;
    let count = arguments.objects.unwrap_or(DEFAULT_OBJECTS).max(2);
    let scan = ScanBench { program, directory };
    scan.prepare(arguments.seed, count)?;
    let other = build::other(arguments, "policy", &scan.directory.join("ours"))?;
    eprintln!("scanning {count} objects");
    let whole = scan.ours(&["objects.ndjson"], "whole.json")?;
    let unvalidated = scan.ours(&["--validation", "off", "objects.ndjson"], "unvalidated.json")?;
    let halves = scan.halves()?;
    if halves != whole.answer {
        return Err("two halves do not give the report of the whole".into());
    }
    let comparison = match other {
        Some(other) => {
            eprintln!(
                "scanning {} objects beside the reference",
                count.min(COMPARED_OBJECTS)
            );
            Some(scan.compare(&other)?)
        }
        None => None,
    };
    let results = ScanResults {
        count,
        whole,
        unvalidated,
        comparison,
    };
    print(arguments, &results.table(), &results.json())
}

impl ScanBench {
    /// Writes what is scanned.
    fn prepare(&self, seed: u64, count: usize) -> Result<(), ToolError> {
        eprintln!("making {count} objects");
        let at = |name: &str| self.directory.join(name);
        objects::write(&at("objects.ndjson"), seed, count)?;
        objects::write(&at("compared.ndjson"), seed, count.min(COMPARED_OBJECTS))?;
        policies::write(&at("policies"), seed, POLICIES)?;
        fs::write(at("namespaces.ndjson"), objects::namespaces())
            .map_err(ToolError::file(&at("namespaces.ndjson")))
    }

    /// Ours; its answer is the report.
    fn ours(&self, arguments: &[&str], output: &str) -> Result<MeasuredProgram, ToolError> {
        let mut command = Command::new(&self.program);
        command
            .current_dir(&self.directory)
            .args(["--no-project-file", "scan", "--manifests", "policies"])
            .args([
                "--objects",
                "namespaces.ndjson",
                "-o",
                "json",
                "--fail-on",
                "error",
            ])
            .args(arguments);
        measured_program::run(&mut command, &self.directory.join(output), &[0])
    }

    /// The report of two processes over two halves.
    fn halves(&self) -> Result<Value, ToolError> {
        for (shard, output) in [("0/2", "first.json"), ("1/2", "second.json")] {
            self.ours(&["--shard", shard, "objects.ndjson"], output)?;
        }
        let mut command = Command::new(&self.program);
        command
            .current_dir(&self.directory)
            .args(["report", "merge", "-o", "json", "--fail-on", "error"])
            .args(["first.json", "second.json"]);
        Ok(measured_program::run(&mut command, &self.directory.join("merged.json"), &[0])?.answer)
    }

    /// Runs both sides over the same objects, and ours also with the same work.
    fn compare(&self, other: &Path) -> Result<ScanComparison, ToolError> {
        // Theirs knows no Pods that controllers will create.
        let alone = ["--expand=off", "compared.ndjson"];
        let ours = self.ours(&alone, "ours.json")?;
        let same_work = self.ours(
            &[&["--defaults", "off"][..], &alone].concat(),
            "ours-without-defaults.json",
        )?;
        let mut command = Command::new(other);
        command
            .current_dir(&self.directory)
            .arg("scan")
            // The plugin takes no relative path.
            .arg(self.directory.join("policies"))
            .args(["namespaces.ndjson", "compared.ndjson"]);
        let theirs = measured_program::run(&mut command, &self.directory.join("theirs.json"), &[0])?;
        for (ours, of) in [&ours, &same_work]
            .into_iter()
            .flat_map(|ours| [(ours, "allowed"), (ours, "denied")])
        {
            let one = ours.answer.pointer(&format!("/tally/total/{of}"));
            let other = theirs.answer.get(of);
            if one != other {
                return Err(format!("the sides do not agree: {of}: {one:?}, {other:?}").into());
            }
        }
        Ok(ScanComparison {
            ours,
            same_work,
            theirs,
        })
    }
}

/// The measurements of all scans.
struct ScanResults {
    count: usize,
    whole: MeasuredProgram,
    /// The same without the server's own validation.
    unvalidated: MeasuredProgram,
    comparison: Option<ScanComparison>,
}

/// How many times as long a scan with validation may take.
const MAX_VALIDATION: f64 = 1.3;

/// Both sides over fewer objects.
struct ScanComparison {
    ours: MeasuredProgram,
    /// Ours without defaults and the other steps between decoding and evaluation, which theirs does not do either.
    same_work: MeasuredProgram,
    theirs: MeasuredProgram,
}

impl ScanResults {
    fn json(&self) -> Value {
        let comparison = self.comparison.as_ref().map(|comparison| {
            let ScanComparison {
                ours,
                same_work,
                theirs,
            } = comparison;
            let count = self.count.min(COMPARED_OBJECTS);
            let ratios = |ours: &MeasuredProgram| {
                json!({
                    "elapsed": ratio(theirs.elapsed, ours.elapsed),
                    "processor": ratio(theirs.processor, ours.processor),
                })
            };
            json!({
                "objects": count,
                "ours": figures(ours, count),
                "oursWithoutDefaults": figures(same_work, count),
                "theirs": figures(theirs, count),
                "ratio": ratios(ours),
                "ratioWithoutDefaults": ratios(same_work),
            })
        });
        json!({
            "bench": "scan",
            "objects": self.count,
            "policies": POLICIES,
            "whole": figures(&self.whole, self.count),
            "withoutValidation": figures(&self.unvalidated, self.count),
            "validationTakes": {
                "elapsed": ratio(self.whole.elapsed, self.unvalidated.elapsed),
                "processor": ratio(self.whole.processor, self.unvalidated.processor),
            },
            "halvesAreTheWhole": true,
            "beside": comparison,
        })
    }

    fn table(&self) -> String {
        let mut text = format!("{} objects, {POLICIES} policies\n", self.count);
        let mut row = |name: &str, of: &MeasuredProgram, count: usize, ratio: &str| {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "  {name:24}{:>9.0} objects/s{:>9.0} objects/s of processor{:>8.1} MiB  {ratio}",
                rate(count, of.elapsed),
                rate(count, of.processor),
                of.peak_kib as f64 / 1024.0
            );
        };
        row("ours", &self.whole, self.count, "two halves give the same report");
        let takes = ratio(self.whole.processor, self.unvalidated.processor);
        let missed = if takes > MAX_VALIDATION { "  missed" } else { "" };
        let takes = format!(
            "with it {} of processor (at most {}){missed}",
            factor(takes),
            factor(MAX_VALIDATION)
        );
        row("the same, no validation", &self.unvalidated, self.count, &takes);
        if let Some(comparison) = &self.comparison {
            let theirs = &comparison.theirs;
            let count = self.count.min(COMPARED_OBJECTS);
            let ratios = |ours: &MeasuredProgram| {
                format!(
                    "{} ({} of processor)",
                    factor(ratio(theirs.elapsed, ours.elapsed)),
                    factor(ratio(theirs.processor, ours.processor))
                )
            };
            let (all, same) = (ratios(&comparison.ours), ratios(&comparison.same_work));
            row(&format!("ours, {count}"), &comparison.ours, count, &all);
            row("the same, no defaults", &comparison.same_work, count, &same);
            row(&format!("theirs, {count}"), theirs, count, "no defaults");
        }
        text
    }
}

fn figures(of: &MeasuredProgram, count: usize) -> Value {
    json!({
        "objectsPerSecond": rate(count, of.elapsed),
        "objectsPerProcessorSecond": rate(count, of.processor),
        "seconds": of.elapsed.as_secs_f64(),
        "processorSeconds": of.processor.as_secs_f64(),
        "peakKiB": of.peak_kib,
    })
}

fn rate(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64().max(1e-9)
}

fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64().max(1e-9)
}
