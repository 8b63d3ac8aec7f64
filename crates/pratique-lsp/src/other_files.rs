//! Files other than those of policies: plain manifests, suites of tests, and kinds that the embedding program knows.

use pratique_lint::Warning;
use pratique_manifest::{Location, ManifestFile, Position, Problem};

/// A kind of files that a program knows and this library does not, as a file of its own settings.
pub trait FileKind {
    /// Checks a file; `None` if it is not of this kind.
    fn check_file(&self, file: &ManifestFile) -> Option<Findings>;
}

/// The findings in a file.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The errors in it, or in files that it names.
    pub problems: Vec<Problem>,
    /// The warnings.
    pub warnings: Vec<Warning>,
    /// What a server accepts with a warning, or never sees.
    pub cautions: Vec<Problem>,
}

impl Findings {
    /// Moves problems of other files to the beginning of the file that names them.
    pub(crate) fn located_in(mut self, file: &str) -> Self {
        for problem in self.problems.iter_mut().chain(&mut self.cautions) {
            let location = problem.location.as_ref();
            if location.is_some_and(|location| *location.file == *file) {
                continue;
            }
            if let Some(elsewhere) = location {
                let (file, start) = (&elsewhere.file, elsewhere.start);
                problem.message = format!("{file}:{}:{}: {}", start.line, start.column, problem.message);
                problem.summary = None;
                problem.help = None;
            }
            problem.location = Some(beginning(file));
        }
        self
    }
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
