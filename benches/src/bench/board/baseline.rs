//! The counts of instructions that later ones are compared with.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::PathBuf;

use pratique_harness::{ToolError, workspace};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::instructions::amount;

/// The allowed growth: more than the variation from random seeds of hash tables.
const TOLERANCE: f64 = 1.05;

/// Counts of instructions, by row.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct BoardBaseline {
    instructions: BTreeMap<String, u64>,
}

/// Counts with those of the baseline.
#[derive(Clone, Debug, Default)]
pub(super) struct ComparedCounts(BTreeMap<String, (u64, Option<u64>)>);

impl BoardBaseline {
    /// Reads the baseline of this repository; empty if there is none yet.
    pub(super) fn read() -> Result<Self, ToolError> {
        let path = path();
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| ToolError::from(format!("{}: {error}", path.display()))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BoardBaseline::default()),
            Err(error) => Err(ToolError::file(&path)(error)),
        }
    }

    /// Writes it back.
    pub(super) fn write(&self) -> Result<(), ToolError> {
        let path = path();
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        fs::write(&path, text + "\n").map_err(ToolError::file(&path))
    }

    /// Adds new counts; rows that were not counted keep theirs.
    pub(super) fn take(&mut self, counts: BTreeMap<String, u64>) {
        self.instructions.extend(counts);
    }

    /// Compares counts with those of the baseline.
    pub(super) fn compare(&self, counts: &BTreeMap<String, u64>) -> ComparedCounts {
        let after_baseline = |(name, count): (&String, &u64)| {
            let baseline_count = self.instructions.get(name).copied();
            (name.clone(), (*count, baseline_count))
        };
        ComparedCounts(counts.iter().map(after_baseline).collect())
    }
}

fn path() -> PathBuf {
    workspace::root().join("benches/baseline.json")
}

impl ComparedCounts {
    /// Whether any row grew more than allowed.
    pub(super) fn is_worse(&self) -> bool {
        self.0
            .values()
            .any(|(count, baseline_count)| is_worse(*count, *baseline_count))
    }

    /// All numbers.
    pub(super) fn to_json(&self) -> Value {
        let row = |(name, (count, baseline_count)): (&String, &(u64, Option<u64>))| json!({"name": name, "instructions": count, "before": baseline_count, "worse": is_worse(*count, *baseline_count)});
        json!({"bench": "instructions", "rows": self.0.iter().map(row).collect::<Vec<_>>()})
    }
}

fn is_worse(count: u64, baseline_count: Option<u64>) -> bool {
    baseline_count.is_some_and(|baseline_count| count as f64 > baseline_count as f64 * TOLERANCE)
}

impl Display for ComparedCounts {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{:18}{:>12}{:>12}", "instructions", "now", "before")?;
        for (name, (count, baseline_count)) in &self.0 {
            write!(formatter, "{name:18}{:>12}", amount(*count))?;
            match baseline_count {
                None => writeln!(formatter, "{:>12}", "new")?,
                Some(baseline_count) => {
                    let change = (*count as f64 / (*baseline_count).max(1) as f64 - 1.0) * 100.0;
                    let worse = if is_worse(*count, Some(*baseline_count)) {
                        "  worse"
                    } else {
                        ""
                    };
                    writeln!(
                        formatter,
                        "{:>12}{change:>+8.1} %{worse}",
                        amount(*baseline_count)
                    )?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[(&str, u64)]) -> BTreeMap<String, u64> {
        of.iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect()
    }

    #[test]
    fn more_than_a_twentieth_is_worse() {
        let mut baseline = BoardBaseline::default();
        baseline.take(counts(&[("a", 1_000), ("b", 2_000)]));
        let check = |name: &str, count: u64, expected: bool| {
            let compared = baseline.compare(&counts(&[(name, count)]));
            assert_eq!(compared.is_worse(), expected, "{name} {count}");
        };
        check("a", 500, false);
        check("a", 1_050, false);
        check("a", 1_051, true);
        check("unknown", 1, false);
    }

    #[test]
    fn rows_that_were_not_counted_stay() {
        let mut baseline = BoardBaseline::default();
        baseline.take(counts(&[("a", 1), ("b", 2)]));
        baseline.take(counts(&[("b", 3)]));
        assert_eq!(baseline.instructions, counts(&[("a", 1), ("b", 3)]));
    }

    #[test]
    fn the_table_says_what_changed() {
        let mut baseline = BoardBaseline::default();
        baseline.take(counts(&[("a", 100_000), ("b", 100_000)]));
        let text = baseline
            .compare(&counts(&[("a", 120_000), ("b", 90_000), ("c", 1)]))
            .to_string();
        for part in ["+20.0 %  worse", "-10.0 %\n", "new"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }
}
