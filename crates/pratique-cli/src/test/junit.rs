//! Results as `JUnit` XML, which CI servers show.

use crate::check::levels::WarningLevels;
use crate::check::report::{case, notice_suite};
use crate::output::finding::OutputFinding;
use crate::output::junit::{self, CaseOutcome, JunitCase, JunitSuite, XmlDocument};
use crate::output::problems;
use crate::project;
use crate::unbound;

use super::run::{CaseRun, SuiteRun, TestRun};

/// A test suite for each suite, and one of warnings about policies; suites that could not run have an error.
pub(super) fn junit(run: &TestRun, lints: &[OutputFinding<'_>], levels: &WarningLevels<'_>) -> XmlDocument {
    let mut suites: Vec<JunitSuite> = run.suites.iter().map(of_suite).collect();
    if !lints.is_empty() {
        suites.push(JunitSuite {
            name: "warnings".to_owned(),
            properties: Vec::new(),
            cases: lints.iter().map(case).collect(),
        });
    }
    let notices = run.notices.iter().cloned();
    let notices: Vec<_> = notices.chain(project::notices("test")).collect();
    suites.extend(notice_suite(&notices, levels));
    junit::xml("pratique test", &suites)
}

fn of_suite(run: &SuiteRun) -> JunitSuite {
    let problems = run.problems.iter().map(|problem| JunitCase {
        name: "suite".to_owned(),
        file: run.file.clone(),
        line: problem.location.as_ref().map(|location| location.start.line),
        seconds: 0.0,
        output: String::new(),
        outcome: CaseOutcome::Error {
            message: problem.message.clone(),
            text: problem.location.as_ref().map(problems::place).unwrap_or_default(),
        },
    });
    // What was not evaluated did not pass.
    let not_evaluated = run.not_evaluated.iter().map(|test| JunitCase {
        name: test.name.clone(),
        file: test.location.file.to_string(),
        line: Some(test.location.start.line),
        seconds: 0.0,
        output: String::new(),
        outcome: if test.skipped {
            CaseOutcome::Skipped {
                message: test.why.clone(),
            }
        } else {
            CaseOutcome::Error {
                message: format!("not evaluated: {}", test.why),
                text: String::new(),
            }
        },
    });
    let unbound = run.unbound.iter().map(|policy| JunitCase {
        name: policy.name.clone(),
        file: policy.location.file.to_string(),
        line: Some(policy.location.start.line),
        seconds: 0.0,
        output: String::new(),
        outcome: CaseOutcome::Skipped {
            message: unbound::message(policy),
        },
    });
    JunitSuite {
        name: run.name.clone(),
        properties: vec![("kubernetesVersion", run.releases())],
        cases: problems
            .chain(unbound)
            .chain(not_evaluated)
            .chain(run.cases.iter().map(of_case))
            .collect(),
    }
}

fn of_case(run: &CaseRun) -> JunitCase {
    JunitCase {
        name: run.case.name.clone(),
        file: run.case.location.file.to_string(),
        line: Some(run.case.location.start.line),
        seconds: run.duration.as_secs_f64(),
        outcome: outcome(run),
        output: run.warnings.join("\n"),
    }
}

fn outcome(run: &CaseRun) -> CaseOutcome {
    if let Err(error) = &run.tested.actual {
        return CaseOutcome::Error {
            message: error.to_string(),
            text: String::new(),
        };
    }
    let messages: Vec<String> = run.tested.differences.iter().map(ToString::to_string).collect();
    let Some(first) = messages.first() else {
        return CaseOutcome::Passed;
    };
    CaseOutcome::Failed {
        message: first.clone(),
        text: format!("{}\n{}", messages.join("\n"), run.excerpt.as_str()),
    }
}
