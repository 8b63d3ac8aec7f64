//! `pratique review` over a file of Pods as people write them, from bytes to decisions: the time on processors of each Pod, and the
//! memory, also of twice as many; and how long a review of one Pod takes that reads a hundred policies first.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pratique_harness::ToolError;
use serde_json::{Value, json};

use super::measured_program::{self, MeasuredProgram};
use super::scan::policies;
use super::table::{bytes, factor, time};
use super::{BenchArguments, build, print};

/// How many Pods there are unless it is said.
const PODS: usize = 10_000;

/// How many policies the review of one Pod reads.
const POLICIES: usize = 100;

/// Without the chain, the policies are those that are built in.
const ROWS: [ReviewRow; 7] = [
    ReviewRow::new("review-text", &[]),
    ReviewRow::new("review-quiet", &["--quiet"]),
    ReviewRow::new("review-ndjson", &["-o", "ndjson"]),
    ReviewRow::new("chain-text", &[]),
    ReviewRow::new("chain-quiet", &["--quiet"]),
    ReviewRow::new("chain-summary", &["--summary"]),
    ReviewRow::new("chain-ndjson", &["-o", "ndjson"]),
];

/// What is measured.
struct ReviewRow {
    name: &'static str,
    arguments: &'static [&'static str],
}

impl ReviewRow {
    const fn new(name: &'static str, arguments: &'static [&'static str]) -> Self {
        ReviewRow { name, arguments }
    }

    /// Whether the whole chain is run.
    fn is_chain(&self) -> bool {
        self.name.starts_with("chain")
    }
}

/// The best of several runs: what else the machine does only adds to it.
#[derive(Clone, Copy)]
struct BestRun {
    elapsed: Duration,
    processor: Duration,
    peak_kib: u64,
}

impl BestRun {
    fn from_runs(runs: &[MeasuredProgram]) -> Self {
        let least = |of: fn(&MeasuredProgram) -> Duration| runs.iter().map(of).min().unwrap_or_default();
        BestRun {
            elapsed: least(|run| run.elapsed),
            processor: least(|run| run.processor),
            peak_kib: runs.iter().map(|run| run.peak_kib).min().unwrap_or_default(),
        }
    }
}

/// The program, the directory of its inputs, and how often each is reviewed.
struct ReviewBench {
    program: PathBuf,
    directory: PathBuf,
    rounds: usize,
}

/// Measures all rows, or those that are selected.
pub(super) fn run(arguments: &BenchArguments) -> Result<(), ToolError> {
    let program = match &arguments.ours {
        Some(program) => program.with_file_name("pratique"),
        None => build::release("pratique")?,
    };
    let directory = pratique_harness::workspace::target().join("bench-review");
    fs::create_dir_all(&directory).map_err(ToolError::file(&directory))?;
    let reviews = ReviewBench {
        program,
        directory,
        rounds: arguments.rounds.max(1),
    };
    let count = arguments.objects.unwrap_or(PODS).max(1);
    reviews.prepare(arguments.seed, count)?;
    let is_selected = |name: &str| {
        arguments
            .only
            .as_ref()
            .is_none_or(|part| name.contains(part.as_str()))
    };
    let mut text = format!(
        "{count} Pods\n  {:16}{:>14}{:>14}{:>12}{:>12}{:>12}\n",
        "", "clock, a Pod", "processor", "of plain", "peak", "of twice"
    );
    let mut rows = Vec::new();
    let mut plain: Option<f64> = None;
    for row in ROWS.iter().filter(|row| is_selected(row.name)) {
        eprintln!("{}", row.name);
        let once = reviews.measure(row, "pods.ndjson")?;
        let twice = reviews.measure(row, "twice.ndjson")?;
        let each = |of: Duration| of.as_nanos() as f64 / count as f64;
        let processor = each(once.processor);
        if row.name == "review-text" {
            plain = Some(processor);
        }
        let ratio = plain.map(|plain| processor / plain);
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "  {:16}{:>14}{:>14}{:>12}{:>12}{:>12}",
            row.name,
            time(each(once.elapsed)),
            time(processor),
            ratio.map(factor).unwrap_or_default(),
            bytes(once.peak_kib as f64 * 1024.0),
            bytes(twice.peak_kib as f64 * 1024.0),
        );
        rows.push(json!({
            "row": row.name, "objects": count, "nanoseconds": each(once.elapsed), "processorNanoseconds": processor,
            "peakKiB": once.peak_kib, "peakKiBOfTwice": twice.peak_kib,
        }));
    }
    if is_selected("review-start") {
        let start = reviews.start()?;
        let _ = writeln!(
            text,
            "  {:16}{:>14}  one Pod, {POLICIES} policies",
            "review-start",
            time(start.elapsed.as_nanos() as f64)
        );
        rows.push(json!({"row": "review-start", "nanoseconds": start.elapsed.as_nanos() as f64, "policies": POLICIES}));
    }
    print(arguments, &text, &json!({"bench": "review", "rows": rows}))
}

impl ReviewBench {
    /// Writes what is reviewed.
    fn prepare(&self, seed: u64, count: usize) -> Result<(), ToolError> {
        let write = |name: &str, count: usize| {
            let path = self.directory.join(name);
            fs::write(&path, pods(count)).map_err(ToolError::file(&path))
        };
        write("pods.ndjson", count)?;
        write("twice.ndjson", 2 * count)?;
        write("one.ndjson", 1)?;
        let path = self.directory.join("state.ndjson");
        fs::write(&path, STATE).map_err(ToolError::file(&path))?;
        policies::write(&self.directory.join("policies"), seed, POLICIES)
    }

    fn measure(&self, row: &ReviewRow, objects: &str) -> Result<BestRun, ToolError> {
        let mut arguments = row.arguments.to_vec();
        if row.is_chain() {
            arguments.extend(["--chain", "--objects", "state.ndjson", "--objects-complete"]);
        }
        arguments.push(objects);
        self.best(&arguments, self.rounds, &[0])
    }

    /// A review of one Pod that reads a hundred policies first.
    fn start(&self) -> Result<BestRun, ToolError> {
        let arguments = ["--manifests", "policies", "--quiet", "one.ndjson"];
        self.best(&arguments, 5 * self.rounds, &[0, 1])
    }

    fn best(&self, arguments: &[&str], rounds: usize, codes: &[i32]) -> Result<BestRun, ToolError> {
        let output: &Path = &self.directory.join("output");
        let runs = (0..rounds).map(|_| {
            let mut command = Command::new(&self.program);
            command
                .current_dir(&self.directory)
                .args(["--no-project-file", "review"])
                .args(arguments);
            measured_program::run_text(&mut command, output, codes)
        });
        Ok(BestRun::from_runs(&runs.collect::<Result<Vec<_>, _>>()?))
    }
}

/// So many Pods, as JSON lines, which differ in their names.
fn pods(count: usize) -> String {
    // The text is a constant of ours, which is JSON.
    let mut pod: Value = serde_json::from_str(pratique_benches::WRITTEN_POD).unwrap_or_default();
    let mut text = String::new();
    for number in 0..count {
        if let Some(name) = pod.pointer_mut("/metadata/name") {
            *name = format!("orders-{number:06}").into();
        }
        text.push_str(&pod.to_string());
        text.push('\n');
    }
    text
}

/// What plugins look up for such a Pod, as JSON lines.
const STATE: &str = concat!(
    r#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}"#,
    "\n",
    r#"{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "orders", "namespace": "shop"}}"#,
    "\n",
    r#"{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "customer-facing"}, "value": 1000}"#,
    "\n",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_differ_in_their_names() {
        let text = pods(3);
        let names: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["metadata"]["name"].take())
            .collect();
        assert_eq!(names, ["orders-000000", "orders-000001", "orders-000002"]);
    }
}
