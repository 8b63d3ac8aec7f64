//! What became of an expression, on either side, and how two outcomes differ.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What became of an expression.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Outcome {
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
    /// What it cost.
    pub(super) cost: i64,
    /// How it crashed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) crash: String,
}

/// In what two outcomes differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// One crashed.
    Crash,
    /// One compiles.
    Compiles,
    /// The text of a fault of compiling.
    CompileText,
    /// The type of the result.
    Type,
    /// One gives a value, the other an error.
    Fails,
    /// The text of an error.
    ErrorText,
    /// The value.
    Value,
    /// The cost.
    Cost,
}

impl Outcome {
    /// In what it differs from what is expected.
    pub(super) fn differs(&self, expected: &Outcome) -> Option<Kind> {
        let compiles = |outcome: &Outcome| outcome.compile.is_empty();
        let checks = [
            (self.crash == expected.crash, Kind::Crash),
            (compiles(self) == compiles(expected), Kind::Compiles),
            (self.compile == expected.compile, Kind::CompileText),
            (self.of == expected.of, Kind::Type),
            (self.value.is_some() == expected.value.is_some(), Kind::Fails),
            (self.error == expected.error, Kind::ErrorText),
            (self.value == expected.value, Kind::Value),
            (self.cost == expected.cost, Kind::Cost),
        ];
        checks.into_iter().find(|(same, _)| !same).map(|(_, kind)| kind)
    }
}
