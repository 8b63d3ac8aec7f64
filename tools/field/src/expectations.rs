//! The expectations of the repositories themselves: suites of tests as `pratique test` reads them, and those of kubescape's
//! library, which are converted.

mod kubescape;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pratique_foreign::READER;
use pratique_harness::ToolError;
use pratique_review::Decision;
use pratique_suite::{ActualResult, Case, Policies, Roots, Suite, read_file};

use crate::manifests::{RepositoryCheckout, entries, is_manifest_name};
use crate::reference::{OurDecision, QuestionSet};

/// The results of the tests of a repository.
#[derive(Debug, Default)]
pub struct TestExpectations {
    /// The policies that tests are about.
    pub policies: BTreeSet<String>,
    /// Tests whose result is as expected.
    pub equal: usize,
    /// Tests whose result is not, each with what differs.
    pub differing: Vec<String>,
    /// Suites that do not load, each with its first problem.
    pub refused: Vec<String>,
    /// Tests that are not evaluated, by why.
    pub not_evaluated: BTreeMap<String, usize>,
    /// Files that are templates of another program.
    pub templates: usize,
    /// The tests' requests, for the reference.
    pub questions: Vec<QuestionSet>,
}

impl TestExpectations {
    /// How many tests there are that were run.
    pub fn tests(&self) -> usize {
        self.equal + self.differing.len()
    }

    /// Keeps the request of a case for the reference.
    fn ask(&mut self, suite: &Suite, case: &Case, policies: &Policies, actual: &ActualResult) {
        // Other fields of a case are not sent to the reference.
        let Ok(of_case) = suite.request(case, policies) else {
            return;
        };
        if of_case.has_more || actual.decision == Decision::Undecided {
            return;
        }
        let objects = of_case
            .objects
            .iter()
            .map(|object| serde_json::to_value(object).unwrap_or_default());
        let mut question_set = QuestionSet::new(policies.sets.iter().map(|(_, set)| set), objects);
        let decided = OurDecision {
            place: format!("{} / {}", suite.name, case.name),
            allowed: !actual.decision.denies(),
            // Where a suite evaluates objects as they are written, errors are others.
            message: None,
        };
        question_set.add(&of_case.request, decided);
        self.questions.push(question_set);
    }
}

/// Runs the tests of a repository.
pub fn expectations(repository: &RepositoryCheckout) -> Result<TestExpectations, ToolError> {
    let mut expectations = TestExpectations::default();
    let roots = Roots::new([repository.path.clone()])
        .map_err(|error| format!("{}: {error}", repository.path.display()))?;
    let mut open = vec![repository.path.clone()];
    while let Some(path) = open.pop() {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            if name != ".git" {
                open.extend(entries(&path)?);
            }
        } else if name == kubescape::TESTS {
            kubescape::run(&path, &mut expectations)?;
        } else if is_manifest_name(&name) {
            suites(&path, &roots, &mut expectations);
        }
    }
    expectations.differing.sort();
    expectations.refused.sort();
    Ok(expectations)
}

/// Whether a file looks like a template, of which only the rendered text is YAML.
fn is_template(content: &[u8]) -> bool {
    content.windows(2).any(|pair| pair == b"{{")
}

/// Runs the suites of a file, if there are any.
fn suites(path: &Path, roots: &Roots, expectations: &mut TestExpectations) {
    let Ok(file) = read_file(path) else { return };
    if !READER.may_be_suite(&file.content) {
        return;
    }
    if is_template(&file.content) {
        expectations.templates += 1;
        return;
    }
    match READER.read(path, &file, roots) {
        Ok(suites) => suites.iter().for_each(|suite| run(suite, expectations)),
        // Only what is a suite is reported.
        Err(problems) => expectations.refused.extend(problems.first().map(|problem| {
            let name = path.display();
            format!("{name}: {}", problem.message)
        })),
    }
}

fn run(suite: &Suite, expectations: &mut TestExpectations) {
    for left in &suite.not_evaluated {
        *expectations.not_evaluated.entry(left.why.clone()).or_default() += 1;
    }
    if suite.cases.is_empty() {
        return;
    }
    let policies = match suite.policies() {
        Ok(policies) => policies,
        Err(problems) => {
            let first = problems.first().map(|problem| problem.message.as_str());
            let tests = suite.cases.len();
            expectations.refused.push(format!(
                "{} ({}, {tests} tests): {}",
                suite.file,
                suite.name,
                first.unwrap_or_default()
            ));
            return;
        }
    };
    for (_, set) in &policies.sets {
        let names = set
            .validating_policies
            .iter()
            .map(|loaded| &loaded.object.metadata.name);
        let mutating = set
            .mutating_policies
            .iter()
            .map(|loaded| &loaded.object.metadata.name);
        let all = names.chain(mutating).flatten();
        expectations
            .policies
            .extend(all.map(|name| format!("{}: {name}", suite.file)));
    }
    for case in &suite.cases {
        let result = suite.test(case, &policies, None);
        if let Ok(actual) = &result.actual {
            expectations.ask(suite, case, &policies, actual);
        }
        if result.passed() {
            expectations.equal += 1;
            continue;
        }
        let why = result.actual.err().map(|error| error.to_string()).into_iter();
        let differences = result.differences.into_iter();
        let differences = differences.map(|difference| {
            let actual = difference.actual.lines().take(3).collect::<Vec<_>>().join(" ");
            format!(
                "{}: expected {}, actual {actual}",
                difference.field, difference.expected
            )
        });
        let all: Vec<String> = why.chain(differences).collect();
        expectations.differing.push(format!(
            "{}: {} / {}: {}",
            suite.file,
            suite.name,
            case.name,
            all.join("; ")
        ));
    }
}
