//! Reloading a watched directory: the time from a file's rename to the new decision, and the effect of reloads on requests.
//!
//! The program evaluates by policies that follow a directory, as a server does; see `benches/src/reload`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use pratique_harness::ToolError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::table::{factor, time};
use super::{BenchArguments, build, print, shot};

/// Each measure with its description and number of policies.
const MEASURES: [(&str, &str, usize); 4] = [
    ("change", "one of 100 policies", 100),
    ("change", "one of 1,000 policies", 1_000),
    ("swap", "100 policies at once", 100),
    ("swap", "1,000 policies at once", 1_000),
];
/// Changes in a round.
const CHANGES: usize = 20;
/// Reloads under load.
const RELOADS: usize = 1_000;

#[derive(Deserialize)]
struct ChangeTimes {
    nanos: Vec<u64>,
}

/// Requests while nothing changes, and while reloads go on.
#[derive(Deserialize)]
struct RequestTimes {
    calm: Vec<u64>,
    reloading: Vec<u64>,
    #[serde(rename = "seen")]
    changes: usize,
}

/// Builds our side, and measures.
pub(super) fn run(arguments: &BenchArguments) -> Result<(), ToolError> {
    let program = build::ours()?;
    let mut text = String::from("from the rename to the new decision\n");
    let mut results = Vec::new();
    row(&mut text, ["", "median", "90 %", "99 %", "longest"]);
    for (what, title, policies) in MEASURES {
        let rounds = arguments.rounds.max(1) * CHANGES;
        let numbers = [policies, rounds].map(|number| number.to_string());
        let changes: ChangeTimes = measure(&program, what, &numbers)?;
        let of = TimePercentiles::new(changes.nanos);
        of.print(&mut text, title, &time(of.max));
        results.push(json!({"what": what, "policies": policies, "nanoseconds": of.to_json()}));
    }
    let requests: RequestTimes = measure(&program, "alternate", &[RELOADS.to_string()])?;
    let changes = requests.changes;
    let [calm, reloading] =
        [requests.calm, requests.reloading].map(|nanos| (nanos.len(), TimePercentiles::new(nanos)));
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "\na request before 100 policies, while 2 sets and a broken one take turns {RELOADS} times; {changes} sets were seen"
    );
    row(&mut text, ["", "median", "90 %", "99 %", "requests"]);
    for (title, (count, of)) in [("without reloads", &calm), ("with reloads", &reloading)] {
        of.print(&mut text, title, &count.to_string());
    }
    let [p50, p90, p99] = [
        reloading.1.p50 / calm.1.p50,
        reloading.1.p90 / calm.1.p90,
        reloading.1.p99 / calm.1.p99,
    ];
    row(&mut text, ["", &factor(p50), &factor(p90), &factor(p99), ""]);
    let results = json!({
        "bench": "reload",
        "changes": results,
        "requests": {"calm": calm.1.to_json(), "reloading": reloading.1.to_json(), "ratio": p99, "seen": changes},
    });
    print(arguments, &text, &results)
}

/// Runs a measurement in an empty directory.
fn measure<T: for<'de> Deserialize<'de>>(
    program: &Path,
    what: &str,
    numbers: &[String],
) -> Result<T, ToolError> {
    let directory = program.with_file_name("bench-reload");
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).map_err(failed)?;
    let directory = directory.display().to_string();
    let mut arguments = vec!["reload", what, &directory];
    arguments.extend(numbers.iter().map(String::as_str));
    shot::run(program, &arguments)
}

/// The median, the 90th and the 99th percentile, and the maximum.
struct TimePercentiles {
    p50: f64,
    p90: f64,
    p99: f64,
    max: f64,
}

impl TimePercentiles {
    fn new(mut nanos: Vec<u64>) -> Self {
        nanos.sort_unstable();
        let last = nanos.len().saturating_sub(1);
        let at = |share: usize| nanos.get(last * share / 100).copied().unwrap_or_default() as f64;
        TimePercentiles {
            p50: at(50),
            p90: at(90),
            p99: at(99),
            max: at(100),
        }
    }

    /// Writes a row of percentiles and a last cell.
    fn print(&self, text: &mut String, title: &str, last: &str) {
        row(
            text,
            [title, &time(self.p50), &time(self.p90), &time(self.p99), last],
        );
    }

    fn to_json(&self) -> Value {
        json!({"p50": self.p50, "p90": self.p90, "p99": self.p99, "max": self.max})
    }
}

fn row(text: &mut String, [title, cells @ ..]: [&str; 5]) {
    let _ = write!(text, "  {title:24}");
    for cell in cells {
        let _ = write!(text, "{cell:>12}");
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_all() {
        let of = TimePercentiles::new((1..=101).rev().collect());
        assert_eq!((of.p50, of.p90, of.p99, of.max), (51.0, 91.0, 100.0, 101.0));
        assert_eq!(TimePercentiles::new(Vec::new()).p50, 0.0);
    }
}
