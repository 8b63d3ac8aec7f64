//! The differences between expected and actual results.

mod chain;

use std::fmt::Display;

use pratique_gotext::regexp::Regex;
use pratique_json::Value;
use serde::Serialize;

use crate::actual::ActualResult;
use crate::policy_outcome::{PolicyOutcome, PolicyOutcomes};
use crate::suite::{ExpectedResult, ExpectedViolations, ViolationCount};
use pratique_review::Decision;

/// A difference between the expected and the actual result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The field of the expectation, or the path in an object.
    pub field: String,
    /// The expected value.
    pub expected: String,
    /// The actual value.
    pub actual: String,
    /// A hint how to fix it, where one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'static str>,
}

impl Display for Difference {
    /// `decision: expected denied, actual allowed`
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Difference {
            field,
            expected,
            actual,
            ..
        } = self;
        write!(formatter, "{field}: expected {expected}, actual {actual}")
    }
}

impl Difference {
    fn new(field: impl Into<String>, expected: impl Display, actual: impl Display) -> Self {
        Difference {
            field: field.into(),
            expected: expected.to_string(),
            actual: actual.to_string(),
            help: None,
        }
    }

    fn with_help(self, help: &'static str) -> Self {
        Difference {
            help: Some(help),
            ..self
        }
    }

    /// The difference of a test without an expectation.
    pub(crate) fn nothing_expected() -> Self {
        Difference::new("expect", "something: --update writes what is", "nothing")
    }
}

/// The maximum number of differences of an object that are reported.
const MOST: usize = 20;

/// Compares an actual result with the expected one.
pub(crate) fn compare(expected: &ExpectedResult, actual: &ActualResult) -> Vec<Difference> {
    let mut differences = Vec::new();
    let unmet = expected.decision.filter(|_| !decision_matches(expected, actual));
    if let Some(decision) = unmet {
        let decision_text = match actual.message.as_str() {
            "" => actual.decision.as_str().to_owned(),
            message => format!("{}: {message}", actual.decision.as_str()),
        };
        let difference = Difference::new("verdict", decision.as_str(), decision_text);
        differences.push(match (decision, actual.decision) {
            (Decision::Denied, Decision::Error) => difference.with_help(ERROR),
            _ => difference,
        });
        // The other fields follow from the decision; policies may say why.
        differences.extend(outcomes(expected, actual));
        differences.extend(chain::plugins(expected, actual));
        return differences;
    }
    differences.extend(denial(expected, actual));
    if let Some(warnings) = expected
        .warnings
        .as_ref()
        .filter(|warnings| **warnings != actual.warnings)
    {
        let listed = |texts: &[String]| {
            if texts.is_empty() {
                "none".to_owned()
            } else {
                texts.join("\n")
            }
        };
        differences.push(Difference::new(
            "warnings",
            listed(warnings),
            listed(&actual.warnings),
        ));
    }
    for (key, value) in &expected.audit_annotations {
        let actual_value = actual.audit_annotations.get(key);
        if actual_value != Some(value) {
            let value_text = actual_value.map_or("none", String::as_str);
            differences.push(Difference::new(
                format!("auditAnnotations[{key}]"),
                value,
                value_text,
            ));
        }
    }
    differences.extend(outcomes(expected, actual));
    differences.extend(chain::plugins(expected, actual));
    differences.extend(chain::changes(expected, actual));
    differences.extend(chain::quotas(expected, actual));
    differences.extend(object(expected, actual));
    differences
}

/// Compares the outcomes of the request in policies and bindings.
fn outcomes(expected: &ExpectedResult, actual: &ActualResult) -> Vec<Difference> {
    let actual_outcomes = &actual.outcomes;
    let both = [
        ("policies", &expected.policies, &actual_outcomes.policies),
        ("bindings", &expected.bindings, &actual_outcomes.bindings),
    ];
    let mut differences = Vec::new();
    for (field, expected, actual_by_name) in both {
        for (name, expected) in expected {
            let actual = actual_by_name.get(name);
            if !actual.is_some_and(|actual| expected.contains(actual)) {
                let actual = actual.map_or("no such name", |outcome| outcome.name());
                let names: Vec<&str> = expected.iter().map(|outcome| outcome.name()).collect();
                differences.push(Difference::new(
                    format!("{field}[{name}]"),
                    names.join(" or "),
                    actual,
                ));
            }
        }
    }
    differences.extend(
        expected
            .violations
            .iter()
            .filter_map(|wanted| violations(wanted, actual_outcomes)),
    );
    differences
}

/// Compares the number of validations that deny.
fn violations(expected: &ExpectedViolations, actual_outcomes: &PolicyOutcomes) -> Option<Difference> {
    let pattern = expected.message.as_ref().map(|message| Regex::new(message));
    let counts = |message: &&String| match &pattern {
        Some(Ok(pattern)) => pattern.is_match(message),
        Some(Err(_)) => false,
        None => true,
    };
    let count = actual_outcomes.denials.iter().filter(counts).count();
    let (holds, wanted) = match expected.count {
        ViolationCount::Some => (count > 0, "at least one".to_owned()),
        ViolationCount::Exactly(wanted) => (count == wanted, wanted.to_string()),
    };
    let failed = actual_outcomes
        .policies
        .values()
        .any(|outcome| *outcome == PolicyOutcome::Error);
    if holds && !failed && !matches!(pattern, Some(Err(_))) {
        return None;
    }
    let of = expected
        .message
        .as_ref()
        .map(|message| format!(" matching {message}"));
    let mut actual = if failed {
        "an error".to_owned()
    } else {
        count.to_string()
    };
    for message in &actual_outcomes.denials {
        actual += &format!("\n{message}");
    }
    Some(Difference::new(
        "violations",
        wanted + of.as_deref().unwrap_or_default(),
        actual,
    ))
}

/// The help for a request that failed where a denial by a rule was expected.
const ERROR: &str = "no rule denied: something failed, which denies too; if that is meant, expect `error`";

/// Whether a decision is the expected one. An expected denial with the whole message of an error matches the error.
fn decision_matches(expected: &ExpectedResult, actual: &ActualResult) -> bool {
    let names_error = || expected.message.as_ref() == Some(&actual.message);
    match (expected.decision, actual.decision) {
        (None, _) => true,
        (Some(Decision::Denied), Decision::Error) => names_error(),
        (Some(expected), actual) => expected == actual,
    }
}

fn denial(expected: &ExpectedResult, actual: &ActualResult) -> Vec<Difference> {
    let mut differences = Vec::new();
    if let Some(code) = expected.code.filter(|code| *code != actual.code) {
        differences.push(Difference::new("code", code, actual.code));
    }
    let texts = [
        ("reason", &expected.reason, actual.reason.as_str()),
        ("message", &expected.message, actual.message.as_str()),
        (
            "policy",
            &expected.policy,
            actual.policy.as_deref().unwrap_or("none"),
        ),
        (
            "plugin",
            &expected.plugin,
            actual.plugin.as_deref().unwrap_or("none"),
        ),
    ];
    for (field, expected, actual) in texts {
        if let Some(expected) = expected.as_ref().filter(|text| *text != actual) {
            differences.push(Difference::new(field, expected, actual));
        }
    }
    for (field, reason) in &expected.invalid {
        let reasons = actual.invalid.iter().filter(|(name, _)| name == field);
        let reasons: Vec<&str> = reasons.map(|(_, reason)| reason.as_str()).collect();
        if !reasons.contains(&reason.as_str()) {
            let actual = if reasons.is_empty() {
                "valid".to_owned()
            } else {
                reasons.join(", ")
            };
            differences.push(Difference::new(format!("invalid[{field}]"), reason, actual));
        }
    }
    if let Some(part) = &expected.message_contains
        && !actual.message.contains(part.as_str())
    {
        differences.push(Difference::new("messageContains", part, &actual.message));
    }
    differences
}

fn object(expected: &ExpectedResult, actual: &ActualResult) -> Vec<Difference> {
    let mut differences = Vec::new();
    if let Some(unchanged) = expected
        .unchanged
        .filter(|unchanged| *unchanged == actual.changed)
    {
        differences.push(Difference::new("unchanged", unchanged, !actual.changed));
    }
    let mut comparison = ResultComparison {
        differences: Vec::new(),
        whole: true,
    };
    if let Some(object) = &expected.object {
        comparison.values("object", Some(object), Some(&actual.object));
    }
    comparison.whole = false;
    if let Some(object) = &expected.object_contains {
        comparison.values("object", Some(object), Some(&actual.object));
    }
    comparison.differences.truncate(MOST);
    differences.extend(comparison.differences);
    differences
}

struct ResultComparison {
    differences: Vec<Difference>,
    /// Whether fields that are not expected are differences.
    whole: bool,
}

impl ResultComparison {
    /// Recursion is safe: the depth of documents is bounded.
    fn values(&mut self, path: &str, expected: Option<&Value<'_>>, actual: Option<&Value<'_>>) {
        match (expected, actual) {
            (Some(Value::Object(expected)), Some(Value::Object(actual))) => {
                for (key, value) in expected.iter() {
                    self.values(&member(path, key), Some(value), actual.get(key));
                }
                let unexpected = actual
                    .iter()
                    .filter(|(key, _)| self.whole && !expected.contains_key(key));
                let unexpected: Vec<_> = unexpected.collect();
                for (key, value) in unexpected {
                    self.values(&member(path, key), None, Some(value));
                }
            }
            (Some(Value::Array(expected)), Some(Value::Array(actual))) => {
                for index in 0..expected.len().max(actual.len()) {
                    self.values(
                        &format!("{path}[{index}]"),
                        expected.get(index),
                        actual.get(index),
                    );
                }
            }
            (expected, actual) if same(expected, actual) => {}
            (expected, actual) => {
                self.differences
                    .push(Difference::new(path, show_value(expected), show_value(actual)))
            }
        }
    }
}

/// Whether two values are equal; numbers by value, and null equals an absent field.
fn same(a: Option<&Value<'_>>, b: Option<&Value<'_>>) -> bool {
    #[allow(
        clippy::cast_precision_loss,
        reason = "numbers that differ so little are the same to JSON"
    )]
    let number = |value: &Value<'_>| match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    };
    match (
        a.filter(|value| !value.is_null()),
        b.filter(|value| !value.is_null()),
    ) {
        (Some(a), Some(b)) => a == b || (number(a).is_some() && number(a) == number(b)),
        (a, b) => a.is_none() && b.is_none(),
    }
}

fn show_value(value: Option<&Value<'_>>) -> String {
    value.map_or_else(|| "nothing".to_owned(), ToString::to_string)
}

fn member(path: &str, key: &str) -> String {
    let is_plain = key
        .chars()
        .all(|character| character.is_alphanumeric() || ['-', '_'].contains(&character));
    if is_plain {
        format!("{path}.{key}")
    } else {
        format!("{path}[{key:?}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Option<Value<'static>> {
        Some(pratique_json::parse(json.as_bytes()).unwrap().into_owned())
    }

    #[track_caller]
    fn check(expected: &ExpectedResult, differences: &[(&str, &str, &str)]) {
        let actual = ActualResult {
            decision: Decision::Denied,
            code: 422,
            message: "m".to_owned(),
            invalid: vec![("spec.a".to_owned(), "FieldValueInvalid".to_owned())],
            changed: true,
            object: value(r#"{"a":{"b":[1,{"c":2}],"d/e":1}}"#).unwrap(),
            warnings: vec!["w".to_owned()],
            ..ActualResult::default()
        };
        let found = compare(expected, &actual);
        let found: Vec<_> = found
            .iter()
            .map(|difference| {
                (
                    difference.field.as_str(),
                    difference.expected.as_str(),
                    difference.actual.as_str(),
                )
            })
            .collect();
        assert_eq!(found, differences);
    }

    #[test]
    fn what_is_not_said_may_be_anything() {
        check(&ExpectedResult::default(), &[]);
    }

    #[test]
    fn decisions_and_texts() {
        let allowed = ExpectedResult {
            decision: Some(Decision::Allowed),
            ..ExpectedResult::default()
        };
        check(&allowed, &[("verdict", "allowed", "denied: m")]);
        let undecided = ExpectedResult {
            decision: Some(Decision::Undecided),
            ..ExpectedResult::default()
        };
        check(&undecided, &[("verdict", "undecided", "denied: m")]);
        let texts = ExpectedResult {
            code: Some(403),
            message: Some("n".to_owned()),
            message_contains: Some("x".to_owned()),
            warnings: Some(Vec::new()),
            ..ExpectedResult::default()
        };
        check(
            &texts,
            &[
                ("code", "403", "422"),
                ("message", "n", "m"),
                ("messageContains", "x", "m"),
                ("warnings", "none", "w"),
            ],
        );
    }

    #[test]
    fn fields_of_invalid_objects() {
        let invalid = |field: &str, reason: &str| ExpectedResult {
            invalid: [(field.to_owned(), reason.to_owned())].into(),
            ..ExpectedResult::default()
        };
        check(&invalid("spec.a", "FieldValueInvalid"), &[]);
        check(
            &invalid("spec.a", "FieldValueRequired"),
            &[("invalid[spec.a]", "FieldValueRequired", "FieldValueInvalid")],
        );
        check(
            &invalid("spec.b", "FieldValueRequired"),
            &[("invalid[spec.b]", "FieldValueRequired", "valid")],
        );
    }

    #[test]
    fn an_error_is_no_denial() {
        let failed = |expected: &ExpectedResult| {
            let actual = ActualResult {
                decision: Decision::Error,
                message: "expression 'x' resulted in error: y".to_owned(),
                ..ActualResult::default()
            };
            let found = compare(expected, &actual);
            found
                .into_iter()
                .map(|difference| difference.help.is_some())
                .collect::<Vec<_>>()
        };
        let denied = ExpectedResult {
            decision: Some(Decision::Denied),
            ..ExpectedResult::default()
        };
        assert_eq!(failed(&denied), [true]);
        let part = ExpectedResult {
            message_contains: Some("resulted in error".to_owned()),
            ..denied.clone()
        };
        assert_eq!(failed(&part), [true]);
        let whole = ExpectedResult {
            message: Some("expression 'x' resulted in error: y".to_owned()),
            ..denied.clone()
        };
        assert!(failed(&whole).is_empty());
        let error = |message: &str| ExpectedResult {
            decision: Some(Decision::Error),
            message_contains: Some(message.to_owned()),
            ..ExpectedResult::default()
        };
        assert!(failed(&error("error: y")).is_empty());
        assert_eq!(failed(&error("error: z")), [false]);
    }

    #[test]
    fn objects_whole_and_in_part() {
        let whole = ExpectedResult {
            object: value(r#"{"a":{"b":[1.0]}}"#),
            unchanged: Some(true),
            ..ExpectedResult::default()
        };
        check(
            &whole,
            &[
                ("unchanged", "true", "false"),
                ("object.a.b[1]", "nothing", r#"{"c":2}"#),
                ("object.a[\"d/e\"]", "nothing", "1"),
            ],
        );
        let part = ExpectedResult {
            object_contains: value(r#"{"a":{"b":[1,{"c":3}]}}"#),
            ..ExpectedResult::default()
        };
        check(&part, &[("object.a.b[1].c", "3", "2")]);
    }
}
