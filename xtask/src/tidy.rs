//! The shape of the sources: sizes, module documentation, names.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::{Path, PathBuf};

use pratique_harness::Error;

/// The findings about the sources.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Files with their numbers of lines, the longest first.
    pub(crate) files: Vec<(PathBuf, usize)>,
    /// Faults to fix.
    pub(crate) faults: Vec<String>,
}

/// The most lines of a file.
const LONGEST: usize = 700;

/// Checks all Rust files of the source directories.
pub(crate) fn check(root: &Path) -> Result<Report, Error> {
    let mut report = Report::default();
    for directory in ["crates", "tools", "xtask", "benches", "fuzz"] {
        visit(&root.join(directory), &mut report)?;
    }
    report.files.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(report)
}

fn visit(path: &Path, report: &mut Report) -> Result<(), Error> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = fs::read_dir(path)
            .map_err(failed)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        entries.sort();
        return entries.iter().try_for_each(|entry| visit(entry, report));
    }
    if path.extension().is_some_and(|extension| extension == "rs") {
        let text = fs::read_to_string(path).map_err(failed)?;
        check_file(path, &text, report);
    }
    Ok(())
}

fn check_file(path: &Path, text: &str, report: &mut Report) {
    let shown = path.display();
    if !text.starts_with("//!") {
        report
            .faults
            .push(format!("{shown}: no //! that says what the module is for"));
    }
    let lines = text.lines().count();
    if lines > LONGEST {
        let shown = path.display();
        report
            .faults
            .push(format!("{shown}: {lines} lines are too many for one idea"));
    }
    let stem = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    if matches!(stem, "utils" | "util" | "helpers" | "common" | "misc") {
        report
            .faults
            .push(format!("{shown}: a module is named for its concept"));
    }
    report.files.push((path.to_owned(), lines));
}

impl Display for Report {
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
        let report = check(&pratique_harness::workspace::root()).unwrap();
        assert!(report.files.len() > 100, "{} files", report.files.len());
        assert!(report.faults.is_empty(), "{}", report.faults.join("\n"));
    }
}
