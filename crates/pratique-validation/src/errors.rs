//! The errors of an object while it is validated.

use pratique_json::Value;
use pratique_types::field::{BadValue, Error, ErrorKind, ErrorList};

use crate::node::Node;

/// The errors so far; each method adds one.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    list: ErrorList,
}

impl Errors {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn into_list(self) -> ErrorList {
        self.list
    }

    pub(crate) fn push(&mut self, error: Error) {
        self.list.push(error);
    }

    /// Keeps the first of equal errors.
    pub(crate) fn remove_duplicates(&mut self) {
        self.list.remove_duplicates();
    }

    pub(crate) fn extend(&mut self, other: Errors) {
        self.list.extend(other.list.into_vec());
    }

    pub(crate) fn required(&mut self, field: impl Into<String>, detail: &str) {
        self.list.push(Error::required(field, detail));
    }

    pub(crate) fn forbidden(&mut self, field: impl Into<String>, detail: &str) {
        self.list.push(Error::forbidden(field, detail));
    }

    pub(crate) fn invalid<'a>(
        &mut self,
        field: impl Into<String>,
        value: impl Into<BadValue<'a>>,
        detail: &str,
    ) {
        self.list.push(Error::invalid(field, value, detail));
    }

    /// An error for each message about a value.
    pub(crate) fn invalid_each(&mut self, field: &Node<'_, '_>, messages: &[String]) {
        for message in messages {
            self.list
                .push(Error::invalid(field, plain(field.value()), message));
        }
    }

    /// An error about the value itself, printed as a plain one.
    pub(crate) fn invalid_value(&mut self, field: &Node<'_, '_>, detail: &str) {
        self.list
            .push(Error::invalid(field, plain(field.value()), detail));
    }

    /// An error about a text, printed as the empty one where it is absent.
    pub(crate) fn invalid_or_empty(&mut self, field: &Node<'_, '_>, detail: &str) {
        self.list.push(Error::invalid(field, field.text(), detail));
    }

    /// An error about the value itself, a string of a type of its own or behind a pointer.
    pub(crate) fn invalid_name(&mut self, field: &Node<'_, '_>, detail: &str) {
        self.list.push(Error::invalid(field, named(field.text()), detail));
    }

    pub(crate) fn duplicate<'a>(&mut self, field: impl Into<String>, value: impl Into<BadValue<'a>>) {
        self.list.push(Error::duplicate(field, value));
    }

    pub(crate) fn not_found<'a>(&mut self, field: impl Into<String>, value: impl Into<BadValue<'a>>) {
        self.list.push(Error::not_found(field, value));
    }

    /// The value, a string of a type of its own, is none of the supported ones.
    pub(crate) fn not_supported(&mut self, field: &Node<'_, '_>, supported: &[&str]) {
        self.list
            .push(Error::not_supported(field, named(field.text()), supported));
    }

    /// The value, a plain string, is none of the supported ones.
    pub(crate) fn unsupported_text(&mut self, field: &Node<'_, '_>, supported: &[&str]) {
        self.list
            .push(Error::not_supported(field, field.text(), supported));
    }

    pub(crate) fn too_long(&mut self, field: impl Into<String>, max: i64) {
        self.list.push(Error::too_long(field, max));
    }

    pub(crate) fn too_many(&mut self, field: &Node<'_, '_>, max: i64) {
        let actual = i64::try_from(field.len()).unwrap_or(i64::MAX);
        self.list.push(Error::too_many(field, actual, max));
    }

    /// The value of a field is not one of an enumeration, or is missing.
    pub(crate) fn required_enum(&mut self, field: &Node<'_, '_>, supported: &[&str]) {
        if field.text().is_empty() {
            self.required(field, "");
        } else if !supported.contains(&field.text()) {
            self.not_supported(field, supported);
        }
    }

    /// The value of a field that changed and may not.
    // Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateImmutableField
    pub(crate) fn immutable(&mut self, new: &Node<'_, '_>, old: &Node<'_, '_>) {
        if !new.is_same(old) {
            let value = plain(new.value());
            let kind = ErrorKind::Invalid;
            self.list.push(Error::new(kind, new, &value, IMMUTABLE));
        }
    }

    // Upstream: apimachinery/pkg/api/validation/generic.go, ValidateNonnegativeField
    pub(crate) fn nonnegative(&mut self, field: &Node<'_, '_>) {
        if field.int() < 0 {
            self.invalid(field, field.int(), NEGATIVE);
        }
    }

    // Upstream: pkg/apis/core/validation/validation.go, ValidatePositiveField
    pub(crate) fn positive(&mut self, field: &Node<'_, '_>) {
        if field.int() <= 0 {
            self.invalid(field, field.int(), "must be greater than zero");
        }
    }
}

pub(crate) const IMMUTABLE: &str = "field is immutable";
pub(crate) const NEGATIVE: &str = "must be greater than or equal to 0";

/// A string as a message quotes those of types of their own.
pub(crate) fn named(text: &str) -> BadValue<'_> {
    BadValue::Named(text.into())
}

fn plain<'a>(value: &'a Value<'a>) -> BadValue<'a> {
    BadValue::Json(value)
}
