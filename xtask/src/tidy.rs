//! The shape of the sources: sizes, module documentation, names, and habits whose numbers may only fall.

mod baseline;
mod words;

use std::ffi::OsStr;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::{Path, PathBuf};

use pratique_harness::ToolError;

use baseline::{BaselineComparison, HabitOccurrences, TidyBaseline};
use words::{SourceHabit, find_habits};

/// The findings about the sources.
#[derive(Debug, Default)]
pub(crate) struct TidyReport {
    /// Files with their numbers of lines, the longest first.
    pub(crate) files: Vec<(PathBuf, usize)>,
    /// Faults to fix.
    pub(crate) faults: Vec<String>,
    /// Numbers that fell, to be written down.
    pub(crate) falls: Vec<String>,
    occurrences: HabitOccurrences,
}

/// The most lines of a file.
const LONGEST: usize = 700;

/// The numbers that may only fall, below the root.
const BASELINE: &str = "xtask/tidy.txt";

/// Inspects all Rust files of the source directories, and compares them with the baseline.
///
/// # Errors
///
/// A file that cannot be read.
pub(crate) fn inspect_sources(root: &Path) -> Result<TidyReport, ToolError> {
    let mut report = read_sources(root)?;
    let path = root.join(BASELINE);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let BaselineComparison { rises, falls } = TidyBaseline::parse(&text)?.compare(&report.occurrences);
    report.faults.extend(rises);
    report.falls = falls;
    Ok(report)
}

/// Writes the numbers of the sources as the baseline.
///
/// # Errors
///
/// A file that cannot be read or written.
pub(crate) fn write_baseline(root: &Path) -> Result<TidyReport, ToolError> {
    let report = read_sources(root)?;
    let path = root.join(BASELINE);
    let text = TidyBaseline::count(&report.occurrences).to_text();
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(report)
}

fn read_sources(root: &Path) -> Result<TidyReport, ToolError> {
    let mut report = TidyReport::default();
    for directory in ["crates", "tools", "xtask", "benches", "fuzz"] {
        visit_path(root, &root.join(directory), root, &mut report)?;
    }
    report.files.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(report)
}

/// Visits a file or directory of the package in `package`.
fn visit_path(root: &Path, path: &Path, package: &Path, report: &mut TidyReport) -> Result<(), ToolError> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if path.is_dir() {
        let is_package = path.join("Cargo.toml").is_file();
        let package = if is_package { path } else { package };
        let mut entries: Vec<PathBuf> = fs::read_dir(path)
            .map_err(failed)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        entries.sort();
        return entries
            .iter()
            .try_for_each(|entry| visit_path(root, entry, package, report));
    }
    if path.extension().is_some_and(|extension| extension == "rs") {
        let text = fs::read_to_string(path).map_err(failed)?;
        inspect_file(path, &text, report);
        inspect_words(root, path, package, &text, report);
    }
    Ok(())
}

fn inspect_file(path: &Path, text: &str, report: &mut TidyReport) {
    let place = path.display();
    if !text.starts_with("//!") {
        report
            .faults
            .push(format!("{place}: no //! that says what the module is for"));
    }
    let lines = text.lines().count();
    if lines > LONGEST {
        report
            .faults
            .push(format!("{place}: {lines} lines are too many for one idea"));
    }
    let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    if matches!(stem, "utils" | "util" | "helpers" | "common" | "misc") {
        report
            .faults
            .push(format!("{place}: a module is named for its concept"));
    }
    report.files.push((path.to_owned(), lines));
}

fn inspect_words(root: &Path, path: &Path, package: &Path, text: &str, report: &mut TidyReport) {
    let relative = |path: &Path, to: &Path| path.strip_prefix(to).unwrap_or(path).to_owned();
    let name = package.file_name().and_then(OsStr::to_str).unwrap_or_default();
    match find_habits(&relative(path, root), &relative(path, package), name, text) {
        Ok(occurrences) => {
            let directory = relative(package, root).display().to_string();
            let occurrences = occurrences.into_iter();
            report
                .occurrences
                .extend(occurrences.map(|occurrence| (directory.clone(), occurrence)));
        }
        Err(error) => report.faults.push(format!("{}: {error}", path.display())),
    }
}

impl Display for TidyReport {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let size = |share: usize| {
            let at = self.files.len().saturating_sub(1) * (100 - share) / 100;
            self.files.get(at).map_or(0, |(_, lines)| *lines)
        };
        for (path, lines) in self.files.iter().take(10) {
            writeln!(formatter, "{lines:6} {}", path.display())?;
        }
        writeln!(
            formatter,
            "{} files: median {} lines, 90 % under {}",
            self.files.len(),
            size(50),
            size(90)
        )?;
        let counts = TidyBaseline::count(&self.occurrences);
        for habit in SourceHabit::ALL {
            writeln!(formatter, "{:6} {habit}", counts.total(habit))?;
        }
        for fall in &self.falls {
            writeln!(formatter, "{fall}: write that down with BLESS=1 cargo xtask tidy")?;
        }
        self.faults
            .iter()
            .try_for_each(|fault| writeln!(formatter, "{fault}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_tidy() {
        let report = inspect_sources(&pratique_harness::workspace::root()).unwrap();
        assert!(report.files.len() > 100, "{} files", report.files.len());
        assert!(report.faults.is_empty(), "{}", report.faults.join("\n"));
    }
}
