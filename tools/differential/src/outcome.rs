//! The outcome of an expression on either side, and how two outcomes differ.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The outcome of an expression.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ExpressionOutcome {
    /// Why it does not compile.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) compile: String,
    /// The type that the checker found.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub(super) of: String,
    /// The value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<Value>,
    /// Why it has no value.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) error: String,
    /// The cost.
    pub(super) cost: i64,
    /// How it crashed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) crash: String,
}

impl ExpressionOutcome {
    /// Reads an outcome from JSON.
    pub(super) fn read(written: &Value) -> Self {
        ExpressionOutcome::deserialize(written).unwrap_or_default()
    }

    /// In what it differs from what is expected.
    pub(super) fn differs(&self, expected: &ExpressionOutcome) -> Option<&'static str> {
        let compiles = |outcome: &ExpressionOutcome| outcome.compile.is_empty();
        let checks = [
            ("Crash", self.crash == expected.crash),
            ("Compiles", compiles(self) == compiles(expected)),
            ("CompileText", self.compile == expected.compile),
            ("Type", self.of == expected.of),
            ("Fails", self.value.is_some() == expected.value.is_some()),
            ("ErrorText", self.error == expected.error),
            ("Value", self.value == expected.value),
            ("Cost", self.cost == expected.cost),
        ];
        checks.into_iter().find(|(_, same)| !same).map(|(kind, _)| kind)
    }
}
