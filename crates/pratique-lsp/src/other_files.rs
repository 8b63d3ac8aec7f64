//! Files that are no manifests: suites of tests, and what the program that runs the server knows.

use pratique_lint::Warning;
use pratique_manifest::{Location, ManifestFile, Position, Problem};
use pratique_suite::{may_be_suite, read_suites};

/// A kind of files that a program knows and this library does not, as a file of its own settings.
pub trait FileKind {
    /// What is wrong in a file; `None` if it is not of this kind.
    fn check(&self, file: &ManifestFile) -> Option<Findings>;
}

/// What is wrong in a file.
#[derive(Debug, Default)]
pub struct Findings {
    /// What makes it invalid, in it or in files that it names.
    pub problems: Vec<Problem>,
    /// What may not be as it is meant.
    pub warnings: Vec<Warning>,
}

/// Looks at a file that is open: what is wrong in other files that it names is told where it begins.
pub(crate) fn check(file: &ManifestFile, kinds: &[&dyn FileKind]) -> Findings {
    let known = kinds.iter().find_map(|kind| kind.check(file));
    let mut findings = known.unwrap_or_else(|| Findings {
        problems: suite_problems(file),
        warnings: Vec::new(),
    });
    for problem in &mut findings.problems {
        let location = problem.location.as_ref();
        if location.is_some_and(|location| *location.file == *file.path) {
            continue;
        }
        if let Some(elsewhere) = location {
            let (file, start) = (&elsewhere.file, elsewhere.start);
            problem.message = format!("{file}:{}:{}: {}", start.line, start.column, problem.message);
            problem.summary = None;
            problem.help = None;
        }
        problem.location = Some(beginning(&file.path));
    }
    findings
}

/// What `pratique test` reports before it runs anything.
fn suite_problems(file: &ManifestFile) -> Vec<Problem> {
    if !may_be_suite(&file.content) {
        return Vec::new();
    }
    let suites = match read_suites(file) {
        Ok(suites) => suites,
        Err(problems) => return problems,
    };
    let refused = suites.iter().filter_map(|suite| suite.policies().err());
    refused.flatten().collect()
}

/// The first character of a file.
fn beginning(file: &str) -> Location {
    let at = |column| Position {
        line: 1,
        column,
        offset: column as usize - 1,
    };
    Location {
        file: file.into(),
        document: 0,
        start: at(1),
        end: at(2),
    }
}
