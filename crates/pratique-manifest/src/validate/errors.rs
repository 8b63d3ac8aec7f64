//! Errors of fields, with the messages of the API's validation.

use std::fmt::Write as _;

use pratique_gotext::strconv::quote;
use pratique_gotext::suggest::{did_you_mean, nearest};
use serde_json::Value as Json;

use super::view::View;
use crate::expression::{ExpressionError, ExpressionIssue};
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
        self.push(field, "Required value", detail);
    }

    /// The value, a string, is malformed.
    pub(super) fn invalid(&mut self, field: &View<'_>, value: &str, detail: &str) {
        self.push(field, &format!("Invalid value: {}", quote(value)), detail);
    }

    /// The value is not one of an enumeration's values.
    pub(super) fn invalid_enum(&mut self, field: &View<'_>, value: &str, detail: &str) {
        self.invalid_json(field, &value.into(), detail);
    }

    /// The value, not a string, is malformed.
    pub(super) fn invalid_json(&mut self, field: &View<'_>, value: &Json, detail: &str) {
        self.invalid_text(field, &json_text(value), detail);
    }

    /// The value, shown as it is given, is malformed.
    pub(super) fn invalid_text(&mut self, field: &View<'_>, shown: &str, detail: &str) {
        self.push(field, &format!("Invalid value: {shown}"), detail);
    }

    /// The value is not allowed here.
    pub(super) fn forbidden(&mut self, field: &View<'_>, detail: &str) {
        self.push(field, "Forbidden", detail);
    }

    /// The value is given twice.
    pub(super) fn duplicate(&mut self, field: &View<'_>) {
        self.push(field, &format!("Duplicate value: {}", quote(field.text())), "");
    }

    /// A value of an enumeration is given twice.
    pub(super) fn duplicate_enum(&mut self, field: &View<'_>) {
        let shown = json_text(&field.text().into());
        self.push(field, &format!("Duplicate value: {shown}"), "");
    }

    /// The value is not one of the supported ones, which are given in order.
    pub(super) fn not_supported(&mut self, field: &View<'_>, value: &str, supported: &[&str]) {
        let quoted: Vec<String> = supported.iter().map(|value| quote(value)).collect();
        let detail = format!("supported values: {}", quoted.join(", "));
        self.push(
            field,
            &format!("Unsupported value: {}", json_text(&value.into())),
            &detail,
        );
        let meant = nearest(value, supported.iter().copied());
        if let (Some(meant), Some(error)) = (meant, self.last()) {
            error.help = Some(did_you_mean(meant));
            error.meant = Some(meant.to_owned());
        }
    }

    /// A list has too many items.
    pub(super) fn too_many(&mut self, field: &View<'_>, max: usize) {
        self.push(
            field,
            &format!("Too many: {}", field.len()),
            &format!("must have at most {max} items"),
        );
    }

    /// The value is too long.
    pub(super) fn too_long(&mut self, field: &View<'_>, max: usize) {
        self.push(field, "Too long", &format!("may not be more than {max} bytes"));
    }

    /// An expression is refused; `kind` is the kind of error with the value.
    pub(super) fn expression(&mut self, field: &View<'_>, kind: &str, refused: ExpressionError) {
        self.push(field, kind, &refused.detail);
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

    fn push(&mut self, field: &View<'_>, kind: &str, detail: &str) {
        if self.errors.len() >= MAX_ERRORS || self.length >= MAX_LENGTH {
            self.more += 1;
            return;
        }
        let path = field.path();
        let mut text = format!("{}: {kind}", path_text(&path));
        if !detail.is_empty() {
            text.push_str(": ");
            text.push_str(detail);
        }
        self.length = self.length.saturating_add(text.len());
        self.errors.push(FieldError::new(path, text));
    }
}

/// A value that is not a plain string, as messages write it.
fn json_text(value: &Json) -> String {
    pratique_json::escape_html(&value.to_string()).into_owned()
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
