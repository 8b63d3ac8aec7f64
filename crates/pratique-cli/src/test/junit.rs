//! Results as `JUnit` XML, which CI servers show.

use crate::output::junit::{self, Case, Outcome, Suite, Xml};
use crate::output::problems;

use super::run::{CaseRun, Run, SuiteRun};

/// A test suite for each suite; suites that could not run have an error.
pub(super) fn junit(run: &Run) -> Xml {
    let suites: Vec<Suite> = run.suites.iter().map(of_suite).collect();
    junit::xml("pratique test", &suites)
}

fn of_suite(run: &SuiteRun) -> Suite {
    let problems = run.problems.iter().map(|problem| Case {
        name: "suite".to_owned(),
        file: run.file.clone(),
        line: problem.location.as_ref().map(|location| location.start.line),
        seconds: 0.0,
        outcome: Outcome::Error {
            message: problem.message.clone(),
            text: problem.location.as_ref().map(problems::place).unwrap_or_default(),
        },
    });
    // What was not evaluated did not pass.
    let not_evaluated = run.not_evaluated.iter().map(|test| Case {
        name: test.name.clone(),
        file: test.location.file.to_string(),
        line: Some(test.location.start.line),
        seconds: 0.0,
        outcome: Outcome::Error {
            message: format!("not evaluated: {}", test.why),
            text: String::new(),
        },
    });
    Suite {
        name: run.name.clone(),
        cases: problems
            .chain(not_evaluated)
            .chain(run.cases.iter().map(of_case))
            .collect(),
    }
}

fn of_case(run: &CaseRun) -> Case {
    Case {
        name: run.case.name.clone(),
        file: run.case.location.file.to_string(),
        line: Some(run.case.location.start.line),
        seconds: run.duration.as_secs_f64(),
        outcome: outcome(run),
    }
}

fn outcome(run: &CaseRun) -> Outcome {
    if let Err(error) = &run.tested.actual {
        return Outcome::Error {
            message: error.to_string(),
            text: String::new(),
        };
    }
    let differences = run.tested.differences.iter();
    let messages = differences.map(|difference| {
        format!(
            "{}: expected {}, actual {}",
            difference.field, difference.expected, difference.actual
        )
    });
    let messages: Vec<String> = messages.collect();
    let Some(first) = messages.first() else {
        return Outcome::Passed;
    };
    Outcome::Failed {
        message: first.clone(),
        text: format!("{}\n{}", messages.join("\n"), run.explained.as_str()),
    }
}
