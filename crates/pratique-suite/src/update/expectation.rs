//! Expectations that match an actual result.

use pratique_json::{Object, Value};

use crate::actual::ActualResult;
use pratique_review::Decision;
use pratique_state::yaml;

/// A new expectation: its fields, in reading order.
pub(super) struct NewExpectation(Vec<(&'static str, Value<'static>)>);

impl NewExpectation {
    pub(super) fn new(actual: &ActualResult) -> Self {
        let mut fields = vec![("verdict", Value::from(actual.decision.as_str()))];
        if actual.decision.denies() {
            fields.push(("code", Value::Int(actual.code.into())));
            fields.push(("reason", actual.reason.clone().into()));
            fields.push(("message", actual.message.clone().into()));
        }
        if !actual.warnings.is_empty() {
            fields.push(("warnings", texts(&actual.warnings)));
        }
        if !actual.audit_annotations.is_empty() {
            let names: Vec<String> = actual.audit_annotations.keys().cloned().collect();
            fields.push(("auditAnnotations", annotations(actual, &names)));
        }
        if actual.changed && actual.decision == Decision::Allowed {
            fields.push(("object", actual.object.clone()));
        }
        NewExpectation(fields)
    }

    /// The decision, if it is the only field.
    pub(super) fn decision_only(&self) -> Option<&Value<'static>> {
        match self.0.as_slice() {
            [(_, decision)] => Some(decision),
            _ => None,
        }
    }

    /// The expectation in flow style.
    pub(super) fn flow(&self) -> String {
        if let Some(decision) = self.decision_only() {
            return yaml::flow(decision);
        }
        let field = |(name, value): &(&str, Value<'_>)| format!("{name}: {}", yaml::flow(value));
        let fields: Vec<String> = self.0.iter().map(field).collect();
        format!("{{{}}}", fields.join(", "))
    }

    /// The expectation in block style, indented by `indent` blanks.
    pub(super) fn block(&self, indent: usize) -> String {
        let field = |(name, value): &(&'static str, Value<'static>)| {
            let mut field = Object::new();
            field.insert(*name, value.clone());
            yaml::block(&Value::Object(field), indent)
        };
        self.0.iter().map(field).collect()
    }
}

/// A list of strings.
pub(super) fn texts(texts: &[String]) -> Value<'static> {
    Value::Array(texts.iter().map(|text| text.clone().into()).collect())
}

/// The annotations with some names.
pub(super) fn annotations(actual: &ActualResult, names: &[String]) -> Value<'static> {
    let named = actual
        .audit_annotations
        .iter()
        .filter(|(name, _)| names.contains(name));
    Value::Object(
        named
            .map(|(name, value)| (name.clone().into(), value.clone().into()))
            .collect(),
    )
}

/// The part of an object with the same fields as another one. Recursion is safe: the depth of documents is bounded.
pub(super) fn part(expected: &Value<'static>, actual: &Value<'static>) -> Value<'static> {
    let (Value::Object(expected), Value::Object(actual)) = (expected, actual) else {
        return actual.clone();
    };
    let fields = expected
        .iter()
        .filter_map(|(key, value)| Some((key.to_owned().into(), part(value, actual.get(key)?))));
    Value::Object(fields.collect())
}
