//! The table, as text and as JSON.

use std::fmt::{self, Display, Formatter};

use serde_json::{Value, json};

use super::MeasuredRow;
use super::rows::{BoardRow, RowWork};
use crate::table::{bytes, factor, time};
use pratique_harness::{SampleSpread, geometric_mean};

/// A row that was measured.
#[derive(Clone, Debug)]
pub(super) struct BoardLine {
    row: BoardRow,
    ours: SampleSpread,
    theirs: Option<SampleSpread>,
    ratio: Option<SideRatio>,
    /// The ratio to the control.
    control: Option<SideRatio>,
    note: Option<String>,
}

/// The ratio of theirs to ours.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SideRatio {
    /// The geometric mean of the rounds.
    mean: f64,
    /// Of all rounds.
    spread: SampleSpread,
}

impl SideRatio {
    /// The ratio of measurements of the same rounds.
    fn new(some: &[f64], other: &[f64]) -> Option<Self> {
        let ratios: Vec<f64> = some.iter().zip(other).map(|(some, other)| some / other).collect();
        let mean = geometric_mean(ratios.iter().copied())?;
        SampleSpread::from_numbers(ratios).map(|spread| SideRatio { mean, spread })
    }

    fn to_json(self) -> Value {
        json!({"geometricMean": self.mean, "lowest": self.spread.lowest, "highest": self.spread.highest})
    }
}

/// All rows.
#[derive(Clone, Debug, Default)]
pub(super) struct BoardReport {
    pub(super) lines: Vec<BoardLine>,
    pub(super) seed: u64,
}

impl BoardLine {
    /// `None` if nothing was measured.
    pub(super) fn new(row: BoardRow, measured: MeasuredRow) -> Option<Self> {
        Some(BoardLine {
            ratio: SideRatio::new(&measured.theirs, &measured.ours),
            control: SideRatio::new(&measured.ours, &measured.control),
            ours: SampleSpread::from_numbers(measured.ours)?,
            theirs: SampleSpread::from_numbers(measured.theirs),
            row,
            note: measured.note,
        })
    }

    fn amount(&self, of: f64) -> String {
        match self.row.work {
            RowWork::Keep(_) => bytes(of),
            _ => time(of),
        }
    }

    /// Whether the targets are reached; `None` without targets or measurements.
    fn reaches(&self) -> Option<bool> {
        let fast = self
            .ratio
            .zip(self.row.target)
            .map(|(ratio, target)| ratio.mean >= target);
        let even = self
            .control
            .zip(self.row.control.as_ref())
            .map(|(ratio, control)| ratio.mean <= control.at_most);
        match (fast, even) {
            (Some(fast), Some(even)) => Some(fast && even),
            (fast, even) => fast.or(even),
        }
    }

    /// Remarks after the figures.
    fn notes(&self) -> String {
        let mut notes = String::new();
        if let (Some(ratio), Some(control)) = (self.control, &self.row.control) {
            notes = format!(
                "  {} of {} (at most {})",
                factor(ratio.mean),
                control.title(),
                factor(control.at_most)
            );
        }
        if self.reaches() == Some(false) {
            notes.push_str("  missed");
        }
        if let Some(note) = &self.note {
            notes.push_str(&format!("  {note}"));
        }
        notes
    }

    fn print(&self, formatter: &mut Formatter<'_>, against: bool) -> fmt::Result {
        let amount = |of: f64| self.amount(of);
        let spread = match self.ratio {
            Some(SideRatio { spread, .. }) => {
                format!("{}–{}", factor(spread.lowest), factor(spread.highest))
            }
            None => format!("{}–{}", amount(self.ours.lowest), amount(self.ours.highest)),
        };
        let row = [
            amount(self.ours.median),
            self.theirs
                .map(|theirs| amount(theirs.median))
                .unwrap_or_default(),
            self.ratio.map(|ratio| factor(ratio.mean)).unwrap_or_default(),
            self.row.target.map(factor).unwrap_or_default(),
            format!("{spread}{}", self.notes()),
        ];
        cells(
            formatter,
            &self.row.name,
            &self.row.title,
            &row.each_ref().map(String::as_str),
            against,
        )
    }

    fn to_json(&self) -> Value {
        let spread =
            |of: &SampleSpread| json!({"lowest": of.lowest, "median": of.median, "highest": of.highest});
        let unit = match self.row.work {
            RowWork::Keep(_) => "bytes",
            _ => "ns",
        };
        json!({
            "name": self.row.name, "title": self.row.title, "unit": unit,
            "ours": spread(&self.ours), "theirs": self.theirs.as_ref().map(spread), "ratio": self.ratio.map(SideRatio::to_json),
            "target": self.row.target, "beside": self.control.map(SideRatio::to_json), "reached": self.reaches(), "note": self.note,
        })
    }
}

impl BoardReport {
    /// All numbers.
    pub(super) fn to_json(&self) -> Value {
        let rows: Vec<Value> = self.lines.iter().map(BoardLine::to_json).collect();
        json!({"bench": "all", "seed": self.seed, "rows": rows, "geometricMean": self.mean()})
    }

    /// The geometric mean of the rows' ratios, those of times; `None` without a reference.
    fn mean(&self) -> Option<f64> {
        let timed = self
            .lines
            .iter()
            .filter(|line| matches!(line.row.work, RowWork::Evaluate { .. } | RowWork::Plugins(_)));
        geometric_mean(timed.filter_map(|line| Some(line.ratio?.mean)))
    }
}

impl Display for BoardReport {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let against = self.lines.iter().any(|line| line.theirs.is_some());
        cells(
            formatter,
            "",
            "",
            &["ours", "theirs", "ratio", "at least", ""],
            against,
        )?;
        for line in &self.lines {
            line.print(formatter, against)?;
        }
        match self.mean() {
            Some(mean) => writeln!(formatter, "geometric mean of requests: {}", factor(mean)),
            None => Ok(()),
        }
    }
}

fn cells(
    formatter: &mut Formatter<'_>,
    name: &str,
    title: &str,
    [ours, theirs, ratio, target, rest]: &[&str; 5],
    against: bool,
) -> fmt::Result {
    write!(formatter, "{name:15} {title:31}{ours:>9}")?;
    if against {
        write!(formatter, "{theirs:>10}{ratio:>8}{target:>9}")?;
    }
    writeln!(formatter, "  {rest}")
}

#[cfg(test)]
mod tests {
    use super::super::rows::ROWS;
    use super::*;

    fn line(name: &str, ours: &[f64], theirs: &[f64]) -> BoardLine {
        let row = ROWS.iter().find(|row| row.name == name).unwrap().clone();
        let measured = MeasuredRow {
            ours: ours.to_vec(),
            theirs: theirs.to_vec(),
            ..MeasuredRow::default()
        };
        BoardLine::new(row, measured).unwrap()
    }

    #[test]
    fn ratios_are_geometric_means_of_rounds() {
        let fast = line(
            "match-1",
            &[1_000.0, 1_000.0, 1_000.0],
            &[10_000.0, 20_000.0, 40_000.0],
        );
        let ratio = fast.ratio.unwrap();
        assert!((ratio.mean - 20.0).abs() < 1e-9, "{ratio:?}");
        assert_eq!((ratio.spread.lowest, ratio.spread.highest), (10.0, 40.0));
        assert_eq!(line("match-1", &[1.0], &[19.0]).reaches(), Some(false));
        assert_eq!(line("match-1", &[1.0], &[]).reaches(), None);
        assert_eq!(line("serve-100", &[1.0], &[]).reaches(), None);
    }

    #[test]
    fn what_is_measured_beside_counts_too() {
        let check = |ours: f64, control: f64, theirs: f64, expected: bool| {
            let row = ROWS.iter().find(|row| row.name == "few-1000").unwrap().clone();
            let measured = MeasuredRow {
                ours: vec![ours],
                theirs: vec![theirs],
                control: vec![control],
                ..MeasuredRow::default()
            };
            assert_eq!(
                BoardLine::new(row, measured).unwrap().reaches(),
                Some(expected),
                "{ours} {control}"
            );
        };
        check(1.1, 1.0, 110.0, true);
        check(1.3, 1.0, 130.0, false);
        check(1.1, 1.0, 11.0, false);
    }

    #[test]
    fn the_table_says_what_is_missed() {
        let lines = vec![
            line("match-1", &[1_000.0], &[10_000.0]),
            line("keep-1000", &[1_048_576.0], &[52_428_800.0]),
        ];
        let text = BoardReport { lines, seed: 1 }.to_string();
        for part in [
            "1.00 µs",
            "10.0 µs",
            "10.0×",
            "missed",
            "1.00 MiB",
            "50.0 MiB",
            "50.0×–50.0×",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert_eq!(text.matches("missed").count(), 1, "{text}");
    }

    #[test]
    fn ours_alone_has_its_own_spread() {
        let text = BoardReport {
            lines: vec![line("match-1", &[1_000.0, 2_000.0], &[])],
            seed: 1,
        };
        let text = text.to_string();
        assert!(text.contains("1.00 µs–2.00 µs") && !text.contains('×'), "{text}");
    }
}
