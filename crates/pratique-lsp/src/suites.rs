//! The suites of tests that are open: their problems, and the outcomes of the last run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use lsp_types::{InlayHint, InlayHintTooltip};
use pratique_foreign::READER;
use pratique_manifest::{Location, ManifestFile, Problem};
use pratique_suite::{Case, CaseResult, Policies, Roots, Suite, SuiteGates};

use crate::text::IndexedText;

/// How long the tests of a file may take; the rest is not run.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// The open suites, by file.
#[derive(Debug, Default)]
pub(crate) struct SuiteFiles {
    files: BTreeMap<String, SuiteFile>,
    /// The files whose tests are due, as soon as the files can be read.
    waiting: BTreeSet<String>,
    /// The release of the server, and the feature gates of all.
    gates: SuiteGates,
}

#[derive(Debug, Default)]
struct SuiteFile {
    /// The tests as they are now; none while the file cannot be read.
    tests: Vec<(TestName, Location)>,
    outcomes: BTreeMap<TestName, TestOutcome>,
}

/// The result of checking a file.
#[derive(Debug, Default)]
pub(crate) struct CheckedSuite {
    /// What `pratique test` reports before it runs anything.
    pub(crate) problems: Vec<Problem>,
    /// Whether the tests have run.
    pub(crate) have_run: bool,
}

/// The names of the suite and of the test.
type TestName = (String, String);

/// A test with its outcome.
type NamedOutcome<'a> = (&'a TestName, &'a TestOutcome);

/// The outcome of a test.
#[derive(Clone, Debug)]
enum TestOutcome {
    /// The decision, which was expected.
    Passed(&'static str),
    /// The decision, and what is different.
    Failed(&'static str, String),
    /// It could not be evaluated, or there was no time.
    NotEvaluated(String),
}

impl SuiteFiles {
    /// Suites of which a server with some feature gates gets the requests, where they say no release.
    pub(crate) fn new(gates: SuiteGates) -> Self {
        SuiteFiles {
            gates,
            ..SuiteFiles::default()
        }
    }

    /// Marks the tests of a file as due: they run when it is checked next.
    pub(crate) fn run(&mut self, file: &str) {
        self.waiting.insert(file.to_owned());
    }

    pub(crate) fn close(&mut self, file: &str) {
        self.files.remove(file);
        self.waiting.remove(file);
    }

    /// Whether a file was one of suites when it was checked last.
    pub(crate) fn has(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }

    /// Checks a file, and runs its tests if they are due. `None` if it is not a file of suites, and never was.
    pub(crate) fn check_suite(&mut self, file: &ManifestFile, roots: &Roots) -> Option<CheckedSuite> {
        if !READER.may_be_suite(&file.content) {
            return self.files.remove(&file.path).map(|_| CheckedSuite::default());
        }
        let suite_file = self.files.entry(file.path.clone()).or_default();
        let suites = match read(file, roots, &self.gates) {
            Ok(suites) => suites,
            Err(problems) => {
                suite_file.tests.clear();
                return Some(CheckedSuite {
                    problems,
                    have_run: false,
                });
            }
        };
        suite_file.tests = suites.iter().flat_map(|(suite, _)| tests(suite)).collect();
        let have_run = self.waiting.remove(&file.path);
        if have_run {
            suite_file.outcomes = run(&suites);
        }
        Some(CheckedSuite {
            problems: Vec::new(),
            have_run,
        })
    }

    /// The last outcomes, behind the names of the tests.
    pub(crate) fn hints(&self, file: &str, text: &IndexedText) -> Vec<InlayHint> {
        let Some(suite_file) = self.files.get(file) else {
            return Vec::new();
        };
        // Tests of several objects have one name in the file.
        let mut by_place: BTreeMap<(u32, u32), (&Location, Vec<NamedOutcome<'_>>)> = BTreeMap::new();
        for (name, location) in &suite_file.tests {
            let Some(outcome) = suite_file.outcomes.get(name) else {
                continue;
            };
            let place = (location.end.line, location.end.column);
            let (_, outcomes) = by_place.entry(place).or_insert_with(|| (location, Vec::new()));
            outcomes.push((name, outcome));
        }
        let hint = |(location, outcomes): &(&Location, Vec<NamedOutcome<'_>>)| hint(text, location, outcomes);
        by_place.values().map(hint).collect()
    }
}

/// The suites of a file with their policies, or all that is wrong.
fn read(
    file: &ManifestFile,
    roots: &Roots,
    gates: &SuiteGates,
) -> Result<Vec<(Suite, Policies)>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut loaded = Vec::new();
    for mut suite in READER.read(file.path.as_ref(), file, roots)? {
        suite.gates.clone_from(gates);
        match suite.policies() {
            Ok(policies) => loaded.push((suite, policies)),
            Err(refused) => problems.extend(refused),
        }
    }
    if problems.is_empty() {
        Ok(loaded)
    } else {
        Err(problems)
    }
}

fn tests(suite: &Suite) -> Vec<(TestName, Location)> {
    let cases = suite.cases.iter().map(|case| (&case.name, &case.location));
    let not_evaluated = suite.not_evaluated.iter();
    let not_evaluated = not_evaluated.map(|test| (&test.name, &test.location));
    let named = cases.chain(not_evaluated);
    named
        .map(|(name, location)| ((suite.name.clone(), name.clone()), location.clone()))
        .collect()
}

fn run(suites: &[(Suite, Policies)]) -> BTreeMap<TestName, TestOutcome> {
    let start = Instant::now();
    let mut outcomes = BTreeMap::new();
    for (suite, policies) in suites {
        let mut runner = suite.runner(policies);
        for case in &suite.cases {
            let outcome = if start.elapsed() > TIME_LIMIT {
                TestOutcome::NotEvaluated("the tests before it took too long".to_owned())
            } else {
                outcome(case, &runner.test(case, None))
            };
            outcomes.insert((suite.name.clone(), case.name.clone()), outcome);
        }
        for test in &suite.not_evaluated {
            let outcome = TestOutcome::NotEvaluated(test.why.clone());
            outcomes.insert((suite.name.clone(), test.name.clone()), outcome);
        }
    }
    outcomes
}

fn outcome(case: &Case, result: &CaseResult) -> TestOutcome {
    let actual = match &result.actual {
        Ok(actual) => actual,
        Err(error) => return TestOutcome::NotEvaluated(error.to_string()),
    };
    let decision = actual.decision.as_str();
    if result.passed() && case.expected.is_some() {
        return TestOutcome::Passed(decision);
    }
    let differences: Vec<String> = result.differences.iter().map(ToString::to_string).collect();
    TestOutcome::Failed(decision, differences.join("\n"))
}

/// The hint for the tests at one place.
fn hint(text: &IndexedText, location: &Location, outcomes: &[NamedOutcome<'_>]) -> InlayHint {
    let label = match outcomes {
        [(_, TestOutcome::Passed(decision))] => format!("✓ {decision}"),
        [(_, TestOutcome::Failed(decision, _))] => format!("✗ {decision}"),
        [(_, TestOutcome::NotEvaluated(_))] => "? not evaluated".to_owned(),
        several => counted(several),
    };
    let details = outcomes.iter().filter_map(|((_, name), outcome)| {
        let why = match outcome {
            TestOutcome::Passed(_) => return None,
            TestOutcome::Failed(_, why) | TestOutcome::NotEvaluated(why) => why,
        };
        Some(match outcomes.len() {
            1 => why.clone(),
            _ => format!("{name}: {why}"),
        })
    });
    let details: Vec<String> = details
        .chain(["As the files were when one was last saved.".to_owned()])
        .collect();
    InlayHint {
        position: text.range(location).end,
        label: label.into(),
        kind: None,
        text_edits: None,
        tooltip: Some(InlayHintTooltip::String(details.join("\n"))),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }
}

/// How many of several tests passed, failed, and were not evaluated.
fn counted(outcomes: &[NamedOutcome<'_>]) -> String {
    let count = |is: fn(&TestOutcome) -> bool| outcomes.iter().filter(|(_, outcome)| is(outcome)).count();
    let passed = count(|outcome| matches!(outcome, TestOutcome::Passed(_)));
    let failed = count(|outcome| matches!(outcome, TestOutcome::Failed(..)));
    let all = outcomes.len();
    match (failed, all - passed - failed) {
        (0, 0) => format!("✓ {passed} of {all}"),
        (0, others) => format!("? {passed} of {all}, {others} not evaluated"),
        (_, 0) => format!("✗ {passed} of {all}"),
        (_, others) => format!("✗ {passed} of {all}, {others} not evaluated"),
    }
}
