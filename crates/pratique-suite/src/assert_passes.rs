//! Suites as tests of a Rust program: all that `pratique test` fails over is a failure here.

use std::fmt::{self, Display, Formatter, Write as _};
use std::io;
use std::path::{Path, PathBuf};

use pratique_manifest::{Problem, path_text};

use crate::case_error::CaseError;
use crate::compare::Difference;
use crate::reader::SuiteReader;
use crate::roots::Roots;
use crate::suite::{NotEvaluated, Suite};
use crate::{files, load::Policies};

/// The suites of a file or a directory, which all passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PassedSuites {
    /// How many suites there are.
    pub suites: usize,
    /// How many tests they have, counting each row.
    pub cases: usize,
}

/// Why the suites of a file or a directory did not all pass. There is at least one reason.
#[derive(Debug)]
pub struct SuiteFailures(Vec<SuiteFailure>);

/// A reason for which suites did not pass.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteFailure {
    /// Something cannot be read.
    #[error("{}: {}", path_text(.path), files::plain(.error))]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// There is no suite.
    #[error("{}: there is no test suite", path_text(.0))]
    NoSuite(PathBuf),
    /// A suite has no tests.
    #[error("{file}: the suite {suite:?} has no tests")]
    NoTest {
        /// Its file.
        file: String,
        /// Its name.
        suite: String,
    },
    /// A suite, or what it names, is invalid; or it names no policies.
    #[error(transparent)]
    Invalid(#[from] Box<Problem>),
    /// A test of another program that cannot be evaluated.
    #[error("{}:{}: {} is not evaluated: {}", .0.location.file, .0.location.start.line, .0.name, .0.why)]
    NotEvaluated(Box<NotEvaluated>),
    /// The request of a test could not be evaluated.
    #[error("{case}: {error}")]
    CaseError {
        /// The place and the name of the test.
        case: String,
        /// Why.
        error: Box<CaseError>,
    },
    /// A test has another result than it expects.
    #[error("{case}:{}", show_differences(.differences))]
    Different {
        /// The place and the name of the test.
        case: String,
        /// The differences.
        differences: Vec<Difference>,
    },
}

fn show_differences(differences: &[Difference]) -> String {
    let mut text = String::new();
    for difference in differences {
        // Writing to a text does not fail.
        let _ = write!(text, "\n  {difference}");
    }
    text
}

impl SuiteFailures {
    /// The reasons, in the order of files.
    pub fn iter(&self) -> impl Iterator<Item = &SuiteFailure> {
        self.0.iter()
    }
}

impl std::error::Error for SuiteFailures {}

impl Display for SuiteFailures {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for (at, failure) in self.0.iter().enumerate() {
            if at > 0 {
                formatter.write_char('\n')?;
            }
            write!(formatter, "{failure}")?;
        }
        Ok(())
    }
}

/// Asserts that all test suites of a file, or of the files below a directory, pass: for `#[test]` functions.
///
/// ```no_run
/// #[test]
/// fn policies() {
///     pratique_suite::assert_passes("tests/");
/// }
/// ```
///
/// # Panics
/// [`run_suites`] fails; the message has all reasons.
#[track_caller]
pub fn assert_passes(path: impl AsRef<Path>) {
    SuiteReader::default().assert_passes(path);
}

/// Runs all test suites of a file, or of the files below a directory. Suites can name files below the top of their Git
/// repository, see [`Roots`]. Tests of other programs are run by a [`SuiteReader`] that has their formats.
///
/// # Errors
/// A test does not pass, or cannot be evaluated; a suite is invalid, has no tests, or names no policies; there is no suite.
pub fn run_suites(path: impl AsRef<Path>) -> Result<PassedSuites, SuiteFailures> {
    SuiteReader::default().run(path)
}

impl SuiteReader {
    /// Asserts as [`assert_passes`] that all tests pass, in whatever format that it reads.
    ///
    /// # Panics
    /// [`run`](Self::run) fails; the message has all reasons.
    #[track_caller]
    #[allow(clippy::panic, reason = "an assertion")]
    pub fn assert_passes(self, path: impl AsRef<Path>) {
        if let Err(failures) = self.run(path) {
            panic!("suites fail:\n{failures}");
        }
    }

    /// Runs all tests of a file, or of the files below a directory, as [`run_suites`] does, in whatever format that it reads.
    ///
    /// # Errors
    /// As for [`run_suites`].
    pub fn run(self, path: impl AsRef<Path>) -> Result<PassedSuites, SuiteFailures> {
        let path = path.as_ref();
        let mut run = SuiteRun {
            reader: self,
            passed: PassedSuites::default(),
            failures: Vec::new(),
        };
        match suite_files(path) {
            Ok(files) => files.iter().for_each(|file| run.file(file, path != file)),
            Err(error) => run.unreadable(path, error),
        }
        if run.passed.suites == 0 && run.failures.is_empty() {
            run.failures.push(SuiteFailure::NoSuite(path.to_owned()));
        }
        if run.failures.is_empty() {
            Ok(run.passed)
        } else {
            Err(SuiteFailures(run.failures))
        }
    }
}

fn suite_files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if path.is_dir() {
        files::below_hidden(path)
    } else {
        Ok(vec![path.to_owned()])
    }
}

struct SuiteRun {
    reader: SuiteReader,
    passed: PassedSuites,
    failures: Vec<SuiteFailure>,
}

impl SuiteRun {
    fn unreadable(&mut self, path: &Path, error: io::Error) {
        let path = path.to_owned();
        self.failures.push(SuiteFailure::Unreadable { path, error });
    }

    fn problems(&mut self, problems: impl IntoIterator<Item = Problem>) {
        let problems = problems.into_iter();
        self.failures
            .extend(problems.map(|problem| SuiteFailure::Invalid(Box::new(problem))));
    }

    /// Runs the suites of a file. One that was found in a directory may be something else.
    fn file(&mut self, path: &Path, is_found: bool) {
        let file = match files::read(path) {
            Ok(file) => file,
            Err(error) => return self.unreadable(path, error),
        };
        if is_found && !self.reader.may_be_suite(&file.content) {
            return;
        }
        match self.reader.read(path, &file, &Roots::default()) {
            Ok(suites) if suites.is_empty() && !is_found => {
                self.failures.push(SuiteFailure::NoSuite(path.to_owned()));
            }
            Ok(suites) => suites.iter().for_each(|suite| self.suite(suite)),
            Err(problems) => self.problems(problems),
        }
    }

    fn suite(&mut self, suite: &Suite) {
        self.passed.suites += 1;
        let not_evaluated = suite.not_evaluated.iter().cloned();
        self.failures
            .extend(not_evaluated.map(|test| SuiteFailure::NotEvaluated(Box::new(test))));
        if suite.cases.is_empty() {
            if suite.not_evaluated.is_empty() {
                self.failures.push(SuiteFailure::NoTest {
                    file: suite.file.clone(),
                    suite: suite.name.clone(),
                });
            }
            return;
        }
        if let Some(problem) = suite.evaluates_nothing() {
            return self.problems([problem]);
        }
        match suite.policies() {
            Ok(policies) => self.cases(suite, &policies),
            Err(problems) => self.problems(problems),
        }
    }

    fn cases(&mut self, suite: &Suite, policies: &Policies) {
        let mut runner = suite.runner(policies);
        for case in &suite.cases {
            self.passed.cases += 1;
            let result = runner.test(case, None);
            let location = &case.location;
            let name = || format!("{}:{}: {}", location.file, location.start.line, case.name);
            match result.actual {
                Err(error) => self.failures.push(SuiteFailure::CaseError {
                    case: name(),
                    error: Box::new(error),
                }),
                Ok(_) if result.differences.is_empty() => {}
                Ok(_) => self.failures.push(SuiteFailure::Different {
                    case: name(),
                    differences: result.differences,
                }),
            }
        }
    }
}
