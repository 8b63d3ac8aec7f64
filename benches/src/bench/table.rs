//! Results as tables.

use std::fmt::{self, Display, Formatter};

use super::contest::{ContestLine, ContestResults};

/// Nanoseconds in the unit that suits them, with three digits.
pub(super) fn time(nanoseconds: f64) -> String {
    let units = [("ns", 1e3), ("µs", 1e6), ("ms", 1e9)];
    let (unit, scale) = match units.iter().find(|(_, below)| nanoseconds < below * 0.9995) {
        Some((unit, below)) => (*unit, below / 1e3),
        None => ("s", 1e9),
    };
    format!("{} {unit}", digits(nanoseconds / scale))
}

/// Bytes in the unit that suits them, with three digits.
pub(super) fn bytes(bytes: f64) -> String {
    match bytes / 1024.0 {
        kib if kib < 1024.0 => format!("{} KiB", digits(kib)),
        kib if kib < 1024.0 * 1024.0 => format!("{} MiB", digits(kib / 1024.0)),
        kib => format!("{} GiB", digits(kib / 1024.0 / 1024.0)),
    }
}

/// A factor, with three digits.
pub(super) fn factor(ratio: f64) -> String {
    format!("{}×", digits(ratio))
}

/// A number with three digits.
pub(super) fn digits(number: f64) -> String {
    let places = match number {
        number if number >= 99.95 => 0,
        number if number >= 9.995 => 1,
        _ => 2,
    };
    format!("{number:.places$}")
}

impl Display for ContestResults {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for (at, (measure, lines)) in self.measures.iter().enumerate() {
            if at > 0 {
                writeln!(formatter)?;
            }
            let against = lines.iter().any(|line| line.against.is_some());
            let heads: &[&str] = if against {
                &["ours", "theirs", "ratio", "spread"]
            } else {
                &["ours", "spread"]
            };
            writeln!(formatter, "{}", measure.title)?;
            row(formatter, "", heads.iter().map(|head| (*head).to_owned()))?;
            for line in lines {
                row(formatter, &line.case, cells(line))?;
            }
            if let Some(mean) = ContestResults::geometric_mean(lines) {
                let cells = ["", "", &factor(mean)].map(str::to_owned);
                row(formatter, "geometric mean", cells)?;
            }
        }
        Ok(())
    }
}

fn cells(line: &ContestLine) -> Vec<String> {
    match &line.against {
        Some((theirs, ratio)) => vec![
            time(line.ours.median),
            time(theirs.median),
            factor(ratio.median),
            format!("{}–{}", factor(ratio.lowest), factor(ratio.highest)),
        ],
        None => vec![
            time(line.ours.median),
            format!("{}–{}", time(line.ours.lowest), time(line.ours.highest)),
        ],
    }
}

fn row(formatter: &mut Formatter<'_>, name: &str, cells: impl IntoIterator<Item = String>) -> fmt::Result {
    write!(formatter, "  {name:16}")?;
    let cells: Vec<String> = cells.into_iter().collect();
    let last = cells.len().saturating_sub(1);
    for (at, cell) in cells.iter().enumerate() {
        if at == last && cell.contains('–') {
            write!(formatter, "  {cell}")?
        } else {
            write!(formatter, "{cell:>10}")?
        }
    }
    writeln!(formatter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        for (nanoseconds, expected) in [
            (0.0, "0.00 ns"),
            (12.34, "12.3 ns"),
            (999.4, "999 ns"),
            (999.9, "1.00 µs"),
            (45_678.0, "45.7 µs"),
            (2_000_000.0, "2.00 ms"),
            (3.2e9, "3.20 s"),
        ] {
            assert_eq!(time(nanoseconds), expected);
        }
    }

    #[test]
    fn factors_have_three_digits() {
        for (ratio, expected) in [(0.5, "0.50×"), (12.345, "12.3×"), (123.4, "123×")] {
            assert_eq!(factor(ratio), expected);
        }
    }
}
