//! Problems and warnings as plain data, for programs that show them beside texts.

use pratique_manifest::convert::items;
use pratique_manifest::{Location, ManifestFile, Problem, Rule, read_contents};
use serde::Serialize;

use crate::dropped_field::DroppedField;
use crate::field_path::FieldPath;
use crate::invalid_cause::InvalidCause;

/// A problem or a warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlainFinding {
    /// The stable name of the rule.
    pub rule: &'static str,
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

impl PlainFinding {
    /// A problem of which only the message is known.
    pub fn new(rule: &'static str, message: impl Into<String>) -> Self {
        PlainFinding {
            rule,
            severity: "error",
            message: message.into(),
            summary: None,
            field: None,
            object: None,
            location: None,
            help: None,
        }
    }
}

impl From<&Problem> for PlainFinding {
    fn from(problem: &Problem) -> Self {
        let object = problem.object.as_ref();
        PlainFinding {
            summary: problem.summary.clone(),
            field: problem.field.clone(),
            object: object.map(|object| [object.kind.name().to_owned(), object.name.clone()]),
            location: problem.location.clone(),
            help: problem.help.as_ref().map(|help| help.text.clone()),
            ..PlainFinding::new(problem.rule.name(), &problem.message)
        }
    }
}

/// A cause, which is nowhere yet.
impl From<&InvalidCause> for PlainFinding {
    fn from(cause: &InvalidCause) -> Self {
        PlainFinding {
            field: Some(cause.field.clone()),
            help: cause.help.clone(),
            ..PlainFinding::new(Rule::InvalidField.name(), cause.told())
        }
    }
}

/// A field that the server drops, which is nowhere yet.
impl From<&DroppedField> for PlainFinding {
    fn from(dropped: &DroppedField) -> Self {
        PlainFinding {
            severity: "warning",
            field: Some(dropped.field.clone()),
            help: dropped.help.clone(),
            ..PlainFinding::new(DroppedField::RULE, &dropped.message)
        }
    }
}

/// Finds the fields of findings in the text of their object.
pub(crate) fn locate_findings<'f>(
    findings: impl IntoIterator<Item = &'f mut PlainFinding>,
    file: &ManifestFile,
) {
    let mut findings = findings.into_iter().peekable();
    if findings.peek().is_none() {
        return;
    }
    let documents = read_contents(file).documents;
    let objects = documents.iter().flat_map(|document| {
        let objects = items(&document.source).objects;
        objects.into_iter().map(|item| (&document.source, item.node))
    });
    let Some((source, object)) = objects.into_iter().next() else {
        return;
    };
    for finding in findings {
        let path = FieldPath::parse(finding.field.as_deref().unwrap_or_default());
        finding.location = Some(path.locate(source, object));
    }
}
