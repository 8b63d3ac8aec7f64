//! Errors of fields, with what is known of them beyond the messages of the API's validation.

use pratique_gotext::suggest::{did_you_mean, nearest};
use pratique_schema::Release;
use pratique_types::field::{Error, ErrorKind};
use pratique_validation::rules::{Errors, Node, named};

use super::guidance::{HelpKind, guidance};
use crate::expression::{ExpressionError, ExpressionErrorKind, ExpressionIssue};
use crate::problem::Rule;
use crate::tree::PathStep;

/// An error of a field.
#[derive(Debug)]
pub(crate) struct FieldError {
    /// `spec.validations[0].expression`; empty for the object itself.
    pub(crate) field: String,
    pub(crate) rule: Rule,
    /// `spec.failurePolicy: Required value`, with what follows.
    pub(crate) text: String,
    pub(crate) remark: ErrorRemark,
}

/// What is known of an error beyond its text.
#[derive(Debug, Default)]
pub(crate) struct ErrorRemark {
    /// The errors within an expression, each with its offset in the field's text.
    pub(crate) issues: Vec<ExpressionIssue>,
    /// Whether it is an error of an expression that uses `variables`.
    pub(crate) uses_variables: bool,
    /// How to fix it, if known.
    pub(crate) help: Option<String>,
    /// The value that was probably meant.
    pub(crate) meant: Option<String>,
}

/// Which declarative rules an object is subject to, besides those by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeclarativeRules {
    /// None.
    Absent,
    /// Those of its kind, which are told with the rules by hand.
    Told,
    /// Those of its kind, which the validator of requests applies after the rules by hand.
    Following,
}

/// The errors of an object, in the order in which they were found.
pub(super) struct FieldErrors {
    /// The errors, as the server has them.
    pub(super) list: Errors,
    pub(super) declarative: DeclarativeRules,
    /// Remarks on some of them, each with the number of errors before.
    remarks: Vec<(usize, Rule, ErrorRemark)>,
}

impl FieldErrors {
    /// None yet, of a server of a release.
    pub(super) fn of_release(release: &'static Release, declarative: DeclarativeRules) -> Self {
        FieldErrors {
            list: Errors::of_release(release),
            declarative,
            remarks: Vec::new(),
        }
    }

    pub(super) fn into_vec(self) -> Vec<FieldError> {
        let list = self.list.into_list();
        let kept = list.iter().count();
        // Errors that are only counted have no place in the list.
        let mut remarks = self.remarks.into_iter().filter(|(at, ..)| *at < kept).peekable();
        let errors = list.into_vec().into_iter().enumerate();
        let errors = errors.map(|(at, error)| {
            let remark = remarks.next_if(|(of, ..)| *of == at);
            let (rule, remark) = remark.map_or(
                (Rule::InvalidField, ErrorRemark::default()),
                |(_, rule, remark)| (rule, remark),
            );
            let help = remark.help.or_else(|| match guidance(&error) {
                HelpKind::Help(help) if rule == Rule::InvalidField => Some(help.to_owned()),
                _ => None,
            });
            let remark = ErrorRemark { help, ..remark };
            FieldError {
                text: error.to_string(),
                field: if error.field == WHOLE {
                    String::new()
                } else {
                    error.field
                },
                rule,
                remark,
            }
        });
        errors.collect()
    }

    /// The value is none of the supported ones, which are given in order.
    pub(super) fn not_supported(&mut self, field: &Node<'_, '_>, supported: &[&str]) {
        self.not_supported_at(field, field.as_text(), supported);
    }

    /// A value within a field is none of the supported ones.
    pub(super) fn not_supported_at(&mut self, field: &Node<'_, '_>, value: &str, supported: &[&str]) {
        if let Some(meant) = nearest(value, supported.iter().copied()) {
            let remark = ErrorRemark {
                help: Some(did_you_mean(meant)),
                meant: Some(meant.to_owned()),
                ..ErrorRemark::default()
            };
            self.remarks.push((self.list.len(), Rule::InvalidField, remark));
        }
        self.list
            .push(Error::not_supported(field, named(value), supported));
    }

    /// An expression, shown as it is given, is refused.
    pub(super) fn expression(
        &mut self,
        field: &Node<'_, '_>,
        expression_text: &str,
        refused: ExpressionError,
    ) {
        let kind = match refused.kind {
            ExpressionErrorKind::Required => ErrorKind::Required,
            ExpressionErrorKind::Invalid => ErrorKind::Invalid,
            ExpressionErrorKind::Internal => ErrorKind::Internal,
        };
        let remark = ErrorRemark {
            issues: refused.issues,
            uses_variables: field.as_text().contains("variables."),
            help: refused.help,
            meant: None,
        };
        self.remarks
            .push((self.list.len(), Rule::InvalidExpression, remark));
        self.list
            .push(Error::new(kind, field, &expression_text.into(), &refused.detail));
    }
}

/// How an error names the object itself.
const WHOLE: &str = "<nil>";

/// The steps of a path, as messages write it: `spec.validations[0].expression`.
pub(crate) fn parse_path(text: &str) -> Vec<PathStep> {
    let mut steps = Vec::new();
    for part in text.split('.').filter(|part| !part.is_empty()) {
        let (name, indexes) = part.split_once('[').unwrap_or((part, ""));
        steps.push(PathStep::Field(name.to_owned()));
        let numbers = indexes.split(['[', ']']).filter_map(|number| number.parse().ok());
        steps.extend(numbers.map(PathStep::Index));
    }
    steps
}

/// A path as messages write it.
pub(crate) fn path_text(path: &[PathStep]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            PathStep::Field(name) if text.is_empty() => text.push_str(name),
            PathStep::Field(name) => {
                text.push('.');
                text.push_str(name);
            }
            PathStep::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_they_are_written() {
        for text in [
            "",
            "spec.validations[10].expression",
            "webhooks[0]",
            "metadata.name",
        ] {
            assert_eq!(path_text(&parse_path(text)), text);
        }
    }
}
