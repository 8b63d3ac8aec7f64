//! Errors of fields, with the messages of the API's validation.

use std::fmt::Write as _;

use pratique_gotext::suggest::{did_you_mean, nearest};
use pratique_json::escape_html;
use pratique_types::field::{BadValue, Error, ErrorKind};
use serde_json::Value as Json;

use super::view::View;
use crate::expression::{ExpressionError, ExpressionErrorKind, ExpressionIssue};
use crate::problem::Rule;
use crate::tree::Step;

/// An error of a field.
#[derive(Debug)]
pub(crate) struct FieldError {
    pub(crate) path: Vec<Step>,
    pub(crate) rule: Rule,
    /// `spec.failurePolicy: Required value`, with what follows.
    pub(crate) text: String,
    /// The errors within an expression, each with its offset in the field's text.
    pub(crate) issues: Vec<ExpressionIssue>,
    /// Whether it is an error of an expression that uses `variables`.
    pub(crate) uses_variables: bool,
    /// How to fix it, if known.
    pub(crate) help: Option<String>,
    /// The value that was probably meant.
    pub(crate) meant: Option<String>,
}

/// The errors of an object, in the order in which they were found.
#[derive(Default)]
pub(super) struct FieldErrors {
    errors: Vec<FieldError>,
    /// The length of their texts together.
    length: usize,
    /// How many more were found but not kept.
    more: usize,
}

/// Errors of one object beyond this number or length are only counted. The server has no bound.
const MAX_ERRORS: usize = 10_000;
const MAX_LENGTH: usize = 16 << 20;

impl FieldError {
    fn new(path: Vec<Step>, text: String) -> Self {
        FieldError {
            path,
            rule: Rule::InvalidField,
            text,
            issues: Vec::new(),
            uses_variables: false,
            help: None,
            meant: None,
        }
    }
}

impl FieldErrors {
    pub(super) fn into_vec(mut self) -> Vec<FieldError> {
        if self.more > 0 {
            let text = format!("and {} more errors of this object", self.more);
            self.errors.push(FieldError::new(Vec::new(), text));
        }
        self.errors
    }

    /// The value is missing or empty.
    pub(super) fn required(&mut self, field: &View<'_>, detail: &str) {
        self.push(field, |path| Error::required(path, detail));
    }

    /// The value, a string, is malformed.
    pub(super) fn invalid(&mut self, field: &View<'_>, value: &str, detail: &str) {
        self.push(field, |path| Error::invalid(path, value, detail));
    }

    /// The value is not one of an enumeration's values.
    pub(super) fn invalid_enum(&mut self, field: &View<'_>, value: &str, detail: &str) {
        self.push(field, |path| {
            Error::invalid(path, BadValue::Named(value.into()), detail)
        });
    }

    /// The value, not a string, is malformed.
    pub(super) fn invalid_json(&mut self, field: &View<'_>, value: &Json, detail: &str) {
        let text = value.to_string();
        self.invalid_text(field, &escape_html(&text), detail);
    }

    /// The value, shown as it is given, is malformed.
    pub(super) fn invalid_text(&mut self, field: &View<'_>, shown: &str, detail: &str) {
        self.push(field, |path| {
            Error::invalid(path, BadValue::Prepared(shown.into()), detail)
        });
    }

    /// The value is not allowed here.
    pub(super) fn forbidden(&mut self, field: &View<'_>, detail: &str) {
        self.push(field, |path| Error::forbidden(path, detail));
    }

    /// The value is given twice.
    pub(super) fn duplicate(&mut self, field: &View<'_>) {
        self.push(field, |path| Error::duplicate(path, field.text()));
    }

    /// A value of an enumeration is given twice.
    pub(super) fn duplicate_enum(&mut self, field: &View<'_>) {
        self.push(field, |path| {
            Error::duplicate(path, BadValue::Named(field.text().into()))
        });
    }

    /// The value is not one of the supported ones, which are given in order.
    pub(super) fn not_supported(&mut self, field: &View<'_>, value: &str, supported: &[&str]) {
        self.push(field, |path| {
            Error::not_supported(path, BadValue::Named(value.into()), supported)
        });
        let meant = nearest(value, supported.iter().copied());
        if let (Some(meant), Some(error)) = (meant, self.last()) {
            error.help = Some(did_you_mean(meant));
            error.meant = Some(meant.to_owned());
        }
    }

    /// A list has too many items.
    pub(super) fn too_many(&mut self, field: &View<'_>, max: usize) {
        self.push(field, |path| {
            Error::too_many(path, field.len() as i64, max as i64)
        });
    }

    /// The value is too long.
    pub(super) fn too_long(&mut self, field: &View<'_>, max: usize) {
        self.push(field, |path| Error::too_long(path, max as i64));
    }

    /// An expression, shown as it is given, is refused.
    pub(super) fn expression(&mut self, field: &View<'_>, shown: &str, refused: ExpressionError) {
        let kind = match refused.kind {
            ExpressionErrorKind::Required => ErrorKind::Required,
            ExpressionErrorKind::Invalid => ErrorKind::Invalid,
            ExpressionErrorKind::Internal => ErrorKind::Internal,
        };
        self.push(field, |path| {
            Error::new(kind, path, &shown.into(), &refused.detail)
        });
        if let Some(error) = self.last() {
            error.rule = Rule::InvalidExpression;
            error.issues = refused.issues;
            error.uses_variables = field.text().contains("variables.");
            error.help = refused.help;
        }
    }

    /// The last error, if it was kept.
    fn last(&mut self) -> Option<&mut FieldError> {
        self.errors.last_mut().filter(|_| self.more == 0)
    }

    fn push(&mut self, field: &View<'_>, error: impl FnOnce(String) -> Error) {
        if self.errors.len() >= MAX_ERRORS || self.length >= MAX_LENGTH {
            self.more += 1;
            return;
        }
        let path = field.path();
        let text = error(path_text(&path)).to_string();
        self.length = self.length.saturating_add(text.len());
        self.errors.push(FieldError::new(path, text));
    }
}

/// A path as messages write it: `spec.validations[0].expression`.
pub(crate) fn path_text(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Field(name) if text.is_empty() => text.push_str(name),
            Step::Field(name) => {
                text.push('.');
                text.push_str(name);
            }
            Step::Index(index) => {
                // Writing to a String cannot fail.
                let _ = write!(text, "[{index}]");
            }
        }
    }
    text
}
