//! The errors of an object while it is validated.

use std::collections::HashSet;

use pratique_gotext::validation::words_before_1_35;
use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::Status;
use pratique_types::field::{BadValue, Error, ErrorKind, ErrorList};

use crate::declarative::CoveredError;
use crate::gates::FeatureSet;
use crate::node::Node;
use crate::open_question::OpenQuestion;

/// The errors so far; each method adds one.
#[derive(Debug, Default)]
pub struct Errors {
    /// The features of the server; those of the latest release, unless they are named.
    gates: Option<FeatureSet>,
    list: ErrorList,
    /// Those of rules that have a declarative twin.
    covered: Vec<CoveredError>,
    /// What could not be validated here.
    left_open: Option<OpenQuestion>,
    /// Whether the object is namespaced by whose metadata, but for the name, nothing was found.
    pub(crate) valid_metadata: Option<bool>,
    /// The answer that is about no field, instead of all errors.
    refusal: Option<Box<Status>>,
}

impl Errors {
    /// None yet, of a server of a release.
    pub fn of_release(release: &'static Release) -> Self {
        Errors::of_gates(FeatureSet::of_release(release))
    }

    /// None yet, of a server with some features.
    pub(crate) fn of_gates(gates: FeatureSet) -> Self {
        Errors {
            gates: Some(gates),
            ..Errors::default()
        }
    }

    /// The release of the server, whose words they have.
    pub fn release(&self) -> &'static Release {
        self.gates().release
    }

    /// The features of the server.
    pub(crate) fn gates(&self) -> FeatureSet {
        self.gates.unwrap_or_default()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether something is refused already, by an error or by an answer that is about no field.
    pub(crate) fn is_ended(&self) -> bool {
        !self.is_empty() || self.refusal.is_some()
    }

    /// Refuses the object by an answer that is about no field.
    pub(crate) fn refuse(&mut self, status: Status) {
        self.refusal = Some(Box::new(status));
    }

    /// The answer that is about no field, if there is one.
    pub(crate) fn take_refusal(&mut self) -> Option<Box<Status>> {
        self.refusal.take()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The list of them.
    pub fn into_list(mut self) -> ErrorList {
        // Upstream: apimachinery/pkg/util/validation/validation.go, IsQualifiedName and IsValidLabelValue: reworded in 1.35.
        if !self.release().at_least(1, 35) {
            for error in self.list.iter_mut() {
                if let Some(body) = words_before_1_35(&error.body) {
                    error.body = body;
                }
            }
        }
        self.list
    }

    /// Adds an error.
    pub fn push(&mut self, error: Error) {
        self.list.push(error);
    }

    /// Keeps the first of equal errors.
    pub fn remove_duplicates(&mut self) {
        self.list.remove_duplicates();
    }

    /// Adds those of others.
    pub fn extend(&mut self, other: Errors) {
        self.list.append(other.list);
        self.covered.extend(other.covered);
        self.left_open = self.left_open.or(other.left_open);
        self.valid_metadata = self.valid_metadata.or(other.valid_metadata);
        self.refusal = self.refusal.take().or(other.refusal);
    }

    /// Says that a part of the object could not be validated: without errors, it is unknown whether a server accepts it.
    pub fn leave_open(&mut self, what: OpenQuestion) {
        self.left_open = self.left_open.or(Some(what));
    }

    /// What could not be validated.
    pub(crate) fn left_open(&self) -> Option<OpenQuestion> {
        self.left_open
    }

    /// Says that the errors behind the first `start` ones are of rules with a declarative twin: where that one finds the same,
    /// its error is told instead. The origin is the kind of rule, such as `format=k8s-short-name`; errors that say what is
    /// missing, repeated or not supported have none, but for what only another field requires.
    // Upstream: apimachinery/pkg/util/validation/field/errors.go, MarkCoveredByDeclarative
    pub fn cover_from(&mut self, start: usize, origin: &'static str) {
        for error in self.list.iter().skip(start) {
            let origin = match error.kind {
                _ if origin == DEPENDENT_REQUIRED => origin,
                ErrorKind::Required | ErrorKind::NotSupported | ErrorKind::Duplicate => "",
                _ => origin,
            };
            self.covered.push(CoveredError {
                error: error.clone(),
                origin,
            });
        }
    }

    /// Adds an error that is made only if it is kept: one may say much.
    pub(crate) fn push_with(&mut self, error: impl FnOnce() -> Error) {
        self.list.push_with(error);
    }

    /// A value that a declarative rule requires, too.
    pub fn required_covered(&mut self, field: impl Into<String>, detail: &str) {
        let start = self.len();
        self.required(field, detail);
        self.cover_from(start, "");
    }

    /// The same, which since a minor version only a declarative rule says.
    // Upstream: +k8s:required without a prefix; the rule by hand goes.
    pub fn required_until(&mut self, minor: u32, field: impl Into<String>, detail: &str) {
        if !self.release().at_least(1, minor) {
            self.required_covered(field, detail);
        }
    }

    /// A field that changed and may not: a declarative rule says it since 1.37.
    // Upstream: +k8s:immutable; before, ValidateImmutableField
    pub(crate) fn immutable_by_hand<'a>(&mut self, field: impl Into<String>, value: impl Into<BadValue<'a>>) {
        if !self.release().at_least(1, 37) {
            self.invalid(field, value, IMMUTABLE);
        }
    }

    /// Removes the errors with a declarative twin that `is_told` says of.
    pub(crate) fn remove_covered(&mut self, is_told: impl Fn(&CoveredError) -> bool) {
        let told: HashSet<Error> = std::mem::take(&mut self.covered)
            .into_iter()
            .filter(|covered| is_told(covered))
            .map(|covered| covered.error)
            .collect();
        if !told.is_empty() {
            self.list.retain(|error| !told.contains(error));
        }
    }

    /// A value is missing.
    pub fn required(&mut self, field: impl Into<String>, detail: &str) {
        self.list.push(Error::required(field, detail));
    }

    /// A value may not be there.
    pub fn forbidden(&mut self, field: impl Into<String>, detail: &str) {
        self.list.push(Error::forbidden(field, detail));
    }

    /// A value is invalid.
    pub fn invalid<'a>(&mut self, field: impl Into<String>, value: impl Into<BadValue<'a>>, detail: &str) {
        self.list.push_with(|| Error::invalid(field, value, detail));
    }

    /// An error for each message about a value.
    pub fn invalid_each(&mut self, field: &Node<'_, '_>, messages: &[String]) {
        for message in messages {
            self.list
                .push_with(|| Error::invalid(field, plain(field.value()), message));
        }
    }

    /// An error about the value itself, printed as a plain one.
    pub fn invalid_value(&mut self, field: &Node<'_, '_>, detail: &str) {
        self.list
            .push_with(|| Error::invalid(field, plain(field.value()), detail));
    }

    /// An error about a text, printed as the empty one where it is absent.
    pub fn invalid_or_empty(&mut self, field: &Node<'_, '_>, detail: &str) {
        self.list.push(Error::invalid(field, field.as_text(), detail));
    }

    /// An error about the value itself, a string of a type of its own or behind a pointer.
    pub fn invalid_name(&mut self, field: &Node<'_, '_>, detail: &str) {
        self.list
            .push(Error::invalid(field, named(field.as_text()), detail));
    }

    /// A value is there twice.
    pub fn duplicate<'a>(&mut self, field: impl Into<String>, value: impl Into<BadValue<'a>>) {
        self.list.push_with(|| Error::duplicate(field, value));
    }

    /// A value is there that often besides.
    pub(crate) fn duplicate_times<'a>(
        &mut self,
        count: usize,
        field: impl Into<String>,
        value: impl Into<BadValue<'a>>,
    ) {
        self.list.push_times(count, || Error::duplicate(field, value));
    }

    /// What a value names is not there.
    pub fn not_found<'a>(&mut self, field: impl Into<String>, value: impl Into<BadValue<'a>>) {
        self.list.push(Error::not_found(field, value));
    }

    /// The value, a string of a type of its own, is none of the supported ones.
    pub fn not_supported(&mut self, field: &Node<'_, '_>, supported: &[&str]) {
        self.list
            .push(Error::not_supported(field, named(field.as_text()), supported));
    }

    /// The value, a plain string, is none of the supported ones.
    pub fn unsupported_text(&mut self, field: &Node<'_, '_>, supported: &[&str]) {
        self.list
            .push(Error::not_supported(field, field.as_text(), supported));
    }

    /// Something went wrong in the server.
    pub fn internal(&mut self, field: impl Into<String>, detail: &str) {
        self.list.push(Error::internal(field, detail));
    }

    /// A value is too long, in bytes.
    pub fn too_long(&mut self, field: impl Into<String>, max: i64) {
        self.list.push(Error::too_long(field, max));
    }

    /// A list has too many elements.
    pub fn too_many(&mut self, field: &Node<'_, '_>, max: i64) {
        let actual = i64::try_from(field.len()).unwrap_or(i64::MAX);
        self.list.push(Error::too_many(field, actual, max));
    }

    /// The value of a field is not one of an enumeration, or is missing.
    pub fn required_enum(&mut self, field: &Node<'_, '_>, supported: &[&str]) {
        if field.as_text().is_empty() {
            self.required(field, "");
        } else if !supported.contains(&field.as_text()) {
            self.not_supported(field, supported);
        }
    }

    /// The value of a field that changed and may not.
    // Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateImmutableField
    pub fn immutable(&mut self, new: &Node<'_, '_>, old: &Node<'_, '_>) {
        if !new.is_same(old) {
            let value = plain(new.value());
            let kind = ErrorKind::Invalid;
            self.list.push(Error::new(kind, new, &value, IMMUTABLE));
        }
    }

    /// A number that may not be below zero.
    // Upstream: apimachinery/pkg/api/validation/generic.go, ValidateNonnegativeField
    pub fn nonnegative(&mut self, field: &Node<'_, '_>) {
        if field.int() < 0 {
            self.invalid(field, field.int(), NEGATIVE);
        }
    }

    /// A number that has to be above zero.
    // Upstream: pkg/apis/core/validation/validation.go, ValidatePositiveField
    pub fn positive(&mut self, field: &Node<'_, '_>) {
        if field.int() <= 0 {
            self.invalid(field, field.int(), "must be greater than zero");
        }
    }
}

/// The kind of rule by which one field requires another.
pub(crate) const DEPENDENT_REQUIRED: &str = "dependentRequired";
pub(crate) const IMMUTABLE: &str = "field is immutable";
pub(crate) const NEGATIVE: &str = "must be greater than or equal to 0";

/// A string as a message quotes those of types of their own.
pub fn named(text: &str) -> BadValue<'_> {
    BadValue::Named(text.into())
}

fn plain<'a>(value: &'a Value<'a>) -> BadValue<'a> {
    BadValue::Json(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_refusal_is_kept() {
        let refused = |message: &str| {
            let mut errors = Errors::default();
            errors.refuse(Status {
                message: message.to_owned(),
                ..Status::default()
            });
            errors
        };
        let mut errors = Errors::default();
        for other in [Errors::default(), refused("a"), refused("b"), Errors::default()] {
            errors.extend(other);
        }
        assert_eq!(errors.take_refusal().unwrap().message, "a");
    }
}
