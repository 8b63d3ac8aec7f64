//! What is wrong with inputs, and what may be.

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
    /// What is wrong.
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
    pub location: Option<Place>,
    /// How to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// A location.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The name of the text.
    pub file: String,
    /// Where it begins.
    pub start: Point,
    /// Where it ends.
    pub end: Point,
}

/// Line and column from 1, the column in characters; the offset in bytes from 0.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Point {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The offset.
    pub offset: usize,
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
        let start = Point {
            line: 1,
            column: 1,
            offset: 0,
        };
        let place = Place {
            file: file.to_owned(),
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
            location: problem.location.as_ref().map(Place::from),
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
            location: Some(Place::from(&warning.location)),
            help: warning.help.as_ref().map(|help| help.text.clone()),
            ..Finding::plain(warning.lint.name, &warning.message)
        }
    }
}

impl From<&Location> for Place {
    fn from(location: &Location) -> Self {
        Place {
            file: location.file.to_string(),
            start: location.start.into(),
            end: location.end.into(),
        }
    }
}

impl From<Position> for Point {
    fn from(position: Position) -> Self {
        Point {
            line: position.line,
            column: position.column,
            offset: position.offset,
        }
    }
}
