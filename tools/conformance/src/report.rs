//! The outcomes of a run, and how they are printed.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde_json::{Value, json};

use super::CaseOutcome;

/// The outcomes of a run, by suite and area.
#[derive(Debug, Default)]
pub struct RunReport {
    suites: BTreeMap<String, BTreeMap<String, Vec<(String, CaseOutcome)>>>,
}

#[derive(Clone, Copy, Default)]
struct AreaTally {
    passed: usize,
    total: usize,
}

#[derive(Clone, Copy, Default)]
struct SuiteTallies {
    skipped: usize,
    decision: AreaTally,
    text: AreaTally,
    cost: AreaTally,
}

impl RunReport {
    pub(super) fn add(&mut self, suite: &str, area: &str, name: String, outcome: CaseOutcome) {
        let areas = self.suites.entry(suite.to_owned()).or_default();
        areas.entry(area.to_owned()).or_default().push((name, outcome));
    }

    /// Whether every decision is right.
    pub fn passed_all(&self) -> bool {
        self.outcomes().all(|(_, outcome)| outcome.decision)
    }

    /// Whether every decision, text and cost is right.
    pub fn is_exact(&self) -> bool {
        self.outcomes().all(|(_, outcome)| outcome.is_exact())
    }

    /// How many cases were run.
    pub fn len(&self) -> usize {
        self.outcomes().count()
    }

    /// Whether no case was run.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every case with its outcome.
    pub fn to_json(&self) -> Value {
        let mut rows = Vec::new();
        for (suite, areas) in &self.suites {
            for (area, cases) in areas {
                rows.extend(cases.iter().map(|(name, outcome)| {
                    json!({"suite": suite, "area": area, "name": name, "verdict": outcome.decision,
                        "text": outcome.text, "cost": outcome.cost, "skipped": outcome.skipped,
                        "expected": outcome.expected, "actual": outcome.actual})
                }));
            }
        }
        Value::Array(rows)
    }

    fn outcomes(&self) -> impl Iterator<Item = &(String, CaseOutcome)> {
        self.suites.values().flat_map(BTreeMap::values).flatten()
    }
}

/// Prints the cases that are not exact with expected and actual outcomes, then a line for each area and suite, then the sum.
impl Display for RunReport {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for (name, outcome) in self.outcomes().filter(|(_, outcome)| !outcome.is_exact()) {
            let what = match (outcome.decision, outcome.text) {
                (false, _) => "FAIL",
                (true, Some(false)) => "TEXT",
                (true, _) => "COST",
            };
            writeln!(formatter, "{what} {name}")?;
            writeln!(formatter, "  expected {}", outcome.expected)?;
            writeln!(formatter, "  actual   {}", outcome.actual)?;
        }
        for (suite, areas) in &self.suites {
            let mut sum = SuiteTallies::default();
            for (area, cases) in areas {
                let tallies = tally(cases);
                sum.add(tallies);
                write_line(formatter, &format!("{suite}/{area}"), tallies, suite == "cel")?;
            }
            write_line(formatter, suite, sum, suite == "cel")?;
        }
        let skipped = self.outcomes().filter(|(_, outcome)| outcome.skipped).count();
        let passed = self.outcomes().filter(|(_, outcome)| outcome.decision).count() - skipped;
        let failed = self.len() - passed - skipped;
        match skipped {
            0 => writeln!(formatter, "{passed} passed, {failed} failed"),
            _ => writeln!(formatter, "{passed} passed, {failed} failed, {skipped} skipped"),
        }
    }
}

impl AreaTally {
    fn count(&mut self, passed: Option<bool>) {
        if let Some(passed) = passed {
            self.total += 1;
            self.passed += usize::from(passed);
        }
    }

    fn add(&mut self, other: AreaTally) {
        self.total += other.total;
        self.passed += other.passed;
    }
}

impl SuiteTallies {
    fn add(&mut self, other: SuiteTallies) {
        self.skipped += other.skipped;
        self.decision.add(other.decision);
        self.text.add(other.text);
        self.cost.add(other.cost);
    }
}

impl Display for AreaTally {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.passed, self.total)
    }
}

fn tally(cases: &[(String, CaseOutcome)]) -> SuiteTallies {
    let mut tallies = SuiteTallies::default();
    for (_, outcome) in cases {
        if outcome.skipped {
            tallies.skipped += 1;
            continue;
        }
        tallies.decision.count(Some(outcome.decision));
        tallies.text.count(outcome.text);
        tallies.cost.count(outcome.cost);
    }
    tallies
}

fn write_line(formatter: &mut Formatter<'_>, name: &str, tallies: SuiteTallies, cost: bool) -> fmt::Result {
    write!(
        formatter,
        "{name} verdict {} text {}",
        tallies.decision, tallies.text
    )?;
    if cost {
        write!(formatter, " cost {}", tallies.cost)?;
    }
    if tallies.skipped > 0 {
        write!(formatter, " skipped {}", tallies.skipped)?;
    }
    writeln!(formatter)
}
