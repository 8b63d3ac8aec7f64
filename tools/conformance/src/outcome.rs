//! The outcome of a case.

use serde_json::Value;

/// The outcome of a case. A field is `None` if the case has no expectation of it.
#[derive(Clone, Debug)]
pub struct CaseOutcome {
    /// Whether the decision is right.
    pub decision: bool,
    /// Whether the text is the same, for a case that has one.
    pub text: Option<bool>,
    /// Whether the cost is the same, for a case that has one.
    pub cost: Option<bool>,
    /// Whether the case depends on behaviour that is not simulated, and the rest of it is right.
    pub skipped: bool,
    /// The expectation of the case.
    pub expected: Value,
    /// The actual outcome.
    pub actual: Value,
}

impl CaseOutcome {
    /// Compares decisions; messages and costs are added by [`CaseOutcome::text`] and [`CaseOutcome::cost`].
    pub fn new(decision: bool, expected: &Value, actual: Value) -> Self {
        CaseOutcome {
            decision,
            text: None,
            cost: None,
            skipped: false,
            expected: expected.clone(),
            actual,
        }
    }

    /// The outcome of a case that cannot be run: every expectation of it failed.
    pub fn failed(case: &Value, reason: &str) -> Self {
        let expected = case.get("expect").cloned().unwrap_or_default();
        let text = texts(&expected).then_some(false);
        let cost = expected.get("cost").is_some().then_some(false);
        CaseOutcome {
            decision: false,
            text,
            cost,
            skipped: false,
            expected,
            actual: Value::String(reason.to_owned()),
        }
    }

    /// Compares the texts of a case that has one.
    pub fn compare_texts(self, expected: Option<&str>, actual: Option<&str>) -> Self {
        let text = expected.map(|expected| actual == Some(expected));
        CaseOutcome { text, ..self }
    }

    /// Compares the costs of a case that has one.
    pub fn cost(self, expected: Option<u64>, actual: Option<u64>) -> Self {
        let cost = expected.map(|expected| actual == Some(expected));
        CaseOutcome { cost, ..self }
    }

    /// Counts the case as skipped.
    pub fn skipped(self) -> Self {
        CaseOutcome {
            skipped: true,
            ..self
        }
    }

    /// Whether all is as expected.
    pub fn is_exact(&self) -> bool {
        self.decision && self.text != Some(false) && self.cost != Some(false)
    }
}

fn texts(expected: &Value) -> bool {
    ["error", "compileError"]
        .iter()
        .any(|field| expected.get(field).is_some())
        || expected.pointer("/status/message").is_some()
}
