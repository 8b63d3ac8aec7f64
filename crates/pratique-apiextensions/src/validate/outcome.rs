//! The outcome of validating a value by a schema.

use pratique_types::field::{BadValue, Error, Path};

/// The errors of a value, and how many checks it passed: of alternatives that fail, the one that passed most
/// is reported.
#[derive(Debug, Default)]
pub(super) struct ValueOutcome {
    pub(super) problems: Vec<ValueProblem>,
    pub(super) matches: u64,
}

/// An error, with the text by which equal ones are reported once.
#[derive(Clone, Debug)]
pub(super) struct ValueProblem {
    pub(super) key: String,
    pub(super) error: Error,
}

impl ValueOutcome {
    pub(super) fn new(key: String, error: Error) -> Self {
        ValueOutcome {
            problems: vec![ValueProblem { key, error }],
            matches: 0,
        }
    }

    pub(super) fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn add(&mut self, key: String, error: Error) {
        self.push(ValueProblem { key, error });
    }

    /// An error of the whole object, with only a message.
    pub(super) fn add_message(&mut self, message: String) {
        let error = Error::invalid(Path::ROOT, "", &message);
        self.add(message, error);
    }

    // Upstream: kube-openapi/pkg/validation/validate/result.go, AddErrors
    fn push(&mut self, problem: ValueProblem) {
        if self.problems.iter().any(|reported| reported.key == problem.key) {
            return;
        }
        match self.problems.len() {
            ..MAX_PROBLEMS => self.problems.push(problem),
            MAX_PROBLEMS => {
                let error = Error::invalid(Path::ROOT, BadValue::Omitted, MORE);
                let key = MORE.to_owned();
                self.problems.push(ValueProblem { key, error });
            }
            _ => {}
        }
    }

    pub(super) fn merge(&mut self, other: ValueOutcome) {
        self.matches = self.matches.saturating_add(other.matches);
        if self.problems.is_empty() {
            self.problems = other.problems;
            return;
        }
        for problem in other.problems {
            self.push(problem);
        }
    }
}

/// How many errors of the schema are reported of one object; the server has no bound.
const MAX_PROBLEMS: usize = 1_000;

/// The error that there are more.
const MORE: &str = "and more errors of the schema";
