//! Problems of inputs, and warnings.

use pratique_lint::Warning;
use pratique_manifest::{Location, Position, Problem};
use serde::Serialize;

/// A problem or a warning.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The stable name of the rule.
    pub rule: String,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// The message.
    pub message: String,
    /// A short form of it, for where the text is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The field that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The kind and the name of the object that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<[String; 2]>,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// How to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Finding {
    /// A problem of which only the message is known.
    pub(crate) fn plain(rule: &str, message: impl Into<String>) -> Self {
        Finding {
            rule: rule.to_owned(),
            severity: "error",
            message: message.into(),
            summary: None,
            field: None,
            object: None,
            location: None,
            help: None,
        }
    }

    /// The same, in a text.
    pub(crate) fn within(self, file: &str) -> Self {
        let start = Position {
            line: 1,
            column: 1,
            offset: 0,
        };
        let place = Location {
            file: file.into(),
            document: 0,
            start,
            end: start,
        };
        Finding {
            location: Some(place),
            ..self
        }
    }
}

impl From<&Problem> for Finding {
    fn from(problem: &Problem) -> Self {
        let object = problem.object.as_ref();
        Finding {
            summary: problem.summary.clone(),
            field: problem.field.clone(),
            object: object.map(|object| [object.kind.name().to_owned(), object.name.clone()]),
            location: problem.location.clone(),
            help: problem.help.as_ref().map(|help| help.text.clone()),
            ..Finding::plain(problem.rule.name(), &problem.message)
        }
    }
}

impl From<&Warning> for Finding {
    fn from(warning: &Warning) -> Self {
        let object = warning.object.as_ref();
        Finding {
            severity: "warning",
            field: Some(warning.field.clone()),
            object: object.map(|object| [object.kind.name().to_owned(), object.name.clone()]),
            location: Some(warning.location.clone()),
            help: warning.help.as_ref().map(|help| help.text.clone()),
            ..Finding::plain(warning.lint.name, &warning.message)
        }
    }
}
