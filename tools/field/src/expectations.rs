//! The expectations of the repositories themselves: suites of tests as `pratique test` reads them, and those of kubescape's
//! library, which are converted.

mod kubescape;

use std::collections::BTreeSet;
use std::path::Path;

use pratique_harness::Error;
use pratique_suite::{Roots, Suite, may_be_suite, read_file, read_suites_at};

use crate::manifests::{Repository, entries, is_manifest_name};

/// What the tests of a repository come to.
#[derive(Debug, Default)]
pub struct Expectations {
    /// The policies that tests are about.
    pub policies: BTreeSet<String>,
    /// Tests whose result is as expected.
    pub equal: usize,
    /// Tests whose result is not, each with what differs.
    pub differing: Vec<String>,
    /// Suites that do not load, each with its first problem.
    pub refused: Vec<String>,
    /// Tests that are not evaluated, being of other kinds of policies.
    pub not_evaluated: usize,
}

impl Expectations {
    /// How many tests there are that were run.
    pub fn tests(&self) -> usize {
        self.equal + self.differing.len()
    }
}

/// Runs the tests of a repository.
pub fn expectations(repository: &Repository) -> Result<Expectations, Error> {
    let mut found = Expectations::default();
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
            kubescape::run(&path, &mut found)?;
        } else if is_manifest_name(&name) {
            suites(&path, &roots, &mut found);
        }
    }
    found.differing.sort();
    found.refused.sort();
    Ok(found)
}

/// Runs the suites of a file, if there are any.
fn suites(path: &Path, roots: &Roots, found: &mut Expectations) {
    let Ok(file) = read_file(path) else { return };
    if !may_be_suite(&file.content) {
        return;
    }
    match read_suites_at(path, &file, roots) {
        Ok(suites) => suites.iter().for_each(|suite| run(suite, found)),
        // Only what is a suite is reported.
        Err(problems) => found.refused.extend(problems.first().map(|problem| {
            let name = path.display();
            format!("{name}: {}", problem.message)
        })),
    }
}

fn run(suite: &Suite, found: &mut Expectations) {
    found.not_evaluated += suite.not_evaluated.len();
    if suite.cases.is_empty() {
        return;
    }
    let policies = match suite.policies() {
        Ok(policies) => policies,
        Err(problems) => {
            let first = problems.first().map(|problem| problem.message.as_str());
            let tests = suite.cases.len();
            found.refused.push(format!(
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
        found
            .policies
            .extend(all.map(|name| format!("{}: {name}", suite.file)));
    }
    for case in &suite.cases {
        let result = suite.test(case, &policies, None);
        if result.passed() {
            found.equal += 1;
            continue;
        }
        let why = result.actual.err().into_iter();
        let differences = result.differences.into_iter();
        let differences = differences.map(|difference| {
            let actual = difference.actual.lines().take(3).collect::<Vec<_>>().join(" ");
            format!(
                "{}: expected {}, actual {actual}",
                difference.field, difference.expected
            )
        });
        let all: Vec<String> = why.chain(differences).collect();
        found.differing.push(format!(
            "{}: {} / {}: {}",
            suite.file,
            suite.name,
            case.name,
            all.join("; ")
        ));
    }
}
