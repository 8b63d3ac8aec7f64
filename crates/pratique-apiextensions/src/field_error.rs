//! Errors of fields, as an API server's answer lists them.

use std::fmt::{self, Display, Formatter};

use pratique_gotext::strconv::{general_form, quote};
use pratique_json::{Value, escape_html};

use crate::path::Path;

/// Why a field is refused: the reason of a cause in a `Status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// It is missing.
    Required,
    /// Its value is malformed.
    Invalid,
    /// Its value is not of the schema's type.
    TypeInvalid,
    /// Its value is none of those that are allowed.
    NotSupported,
    /// Its text is too long.
    TooLong,
    /// It has too many items.
    TooMany,
    /// It repeats another one.
    Duplicate,
    /// It may not be given.
    Forbidden,
    /// The server's own code failed.
    Internal,
}

impl Cause {
    /// The reason as a `Status` has it: `FieldValueRequired` …
    pub fn reason(self) -> &'static str {
        match self {
            Cause::Required => "FieldValueRequired",
            Cause::Invalid => "FieldValueInvalid",
            Cause::TypeInvalid => "FieldValueTypeInvalid",
            Cause::NotSupported => "FieldValueNotSupported",
            Cause::TooLong => "FieldValueTooLong",
            Cause::TooMany => "FieldValueTooMany",
            Cause::Duplicate => "FieldValueDuplicate",
            Cause::Forbidden => "FieldValueForbidden",
            Cause::Internal => "InternalError",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Cause::Required => "Required value",
            Cause::Invalid | Cause::TypeInvalid => "Invalid value",
            Cause::NotSupported => "Unsupported value",
            Cause::TooLong => "Too long",
            Cause::TooMany => "Too many",
            Cause::Duplicate => "Duplicate value",
            Cause::Forbidden => "Forbidden",
            Cause::Internal => "Internal error",
        }
    }

    /// Whether an error keeps validation rules from being evaluated.
    // Upstream: apiextensions-apiserver/pkg/registry/customresource/strategy.go, hasBlockingErr
    pub(crate) fn is_blocking(self) -> bool {
        matches!(
            self,
            Cause::NotSupported | Cause::Required | Cause::TooLong | Cause::TooMany | Cause::TypeInvalid
        )
    }
}

/// An error of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Why the field is refused.
    pub cause: Cause,
    /// The path of the field: `spec.list[0].name`; `<nil>` for the object itself.
    pub field: String,
    /// The message without the path: `Required value`, `Invalid value: 3: must be …`
    pub message: String,
}

/// `spec.replicas: Required value`
impl Display for FieldError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.field, self.message)
    }
}

// Upstream: apimachinery/pkg/util/validation/field/errors.go
impl FieldError {
    fn new(cause: Cause, field: String, shown: Option<&str>, detail: &str) -> Self {
        let mut message = cause.text().to_owned();
        for part in [shown.unwrap_or_default(), detail] {
            if !part.is_empty() {
                message.push_str(": ");
                message.push_str(part);
            }
        }
        FieldError {
            cause,
            field,
            message,
        }
    }

    pub(crate) fn required(field: String, detail: &str) -> Self {
        FieldError::new(Cause::Required, field, None, detail)
    }

    pub(crate) fn forbidden(field: String, detail: &str) -> Self {
        FieldError::new(Cause::Forbidden, field, None, detail)
    }

    pub(crate) fn invalid(field: String, value: &Value<'_>, detail: &str) -> Self {
        FieldError::new(Cause::Invalid, field, Some(&shown(value)), detail)
    }

    /// An invalid value that is not shown.
    pub(crate) fn invalid_unshown(field: String, detail: &str) -> Self {
        FieldError::new(Cause::Invalid, field, None, detail)
    }

    pub(crate) fn type_invalid(field: String, value: &Value<'_>, detail: &str) -> Self {
        FieldError::new(Cause::TypeInvalid, field, Some(&shown(value)), detail)
    }

    pub(crate) fn not_supported<T: AsRef<str>>(field: String, value: &Value<'_>, supported: &[T]) -> Self {
        let quoted: Vec<String> = supported.iter().map(|text| quote(text.as_ref())).collect();
        let detail = match quoted.is_empty() {
            true => String::new(),
            false => format!("supported values: {}", quoted.join(", ")),
        };
        FieldError::new(Cause::NotSupported, field, Some(&shown(value)), &detail)
    }

    pub(crate) fn too_long(field: String, max: i64) -> Self {
        let unit = if max == 1 { "byte" } else { "bytes" };
        let detail = match max < 0 {
            true => "value is too long".to_owned(),
            false => format!("may not be more than {max} {unit}"),
        };
        FieldError::new(Cause::TooLong, field, None, &detail)
    }

    pub(crate) fn too_many(field: String, actual: i64, max: i64) -> Self {
        let unit = if max == 1 { "item" } else { "items" };
        let detail = match max < 0 {
            true => "has too many items".to_owned(),
            false => format!("must have at most {max} {unit}"),
        };
        FieldError::new(Cause::TooMany, field, Some(&actual.to_string()), &detail)
    }

    pub(crate) fn duplicate(field: String, value: &Value<'_>) -> Self {
        FieldError::new(Cause::Duplicate, field, Some(&shown(value)), "")
    }

    /// A duplicate that is not shown.
    pub(crate) fn duplicate_unshown(field: String) -> Self {
        FieldError::new(Cause::Duplicate, field, None, "")
    }

    pub(crate) fn internal(field: String, detail: &str) -> Self {
        FieldError::new(Cause::Internal, field, None, detail)
    }
}

/// A value as an error shows it.
// Upstream: apimachinery/pkg/util/validation/field/errors.go, ErrorBody
fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Float(number) => general_form(*number),
        Value::String(text) => quote(text),
        other => escape_html(&other.to_string()).into_owned(),
    }
}

/// The errors of one object. Those beyond a number or a length are only counted; the server has no bound.
#[derive(Debug, Default)]
pub(crate) struct FieldErrors {
    errors: Vec<FieldError>,
    bytes: usize,
    more: usize,
}

const MAX_ERRORS: usize = 10_000;
const MAX_BYTES: usize = 16 << 20;

impl FieldErrors {
    pub(crate) fn push(&mut self, error: FieldError) {
        if self.errors.len() >= MAX_ERRORS || self.bytes >= MAX_BYTES {
            self.more += 1;
            return;
        }
        self.bytes += error.field.len() + error.message.len();
        self.errors.push(error);
    }

    pub(crate) fn required(&mut self, path: &Path<'_>, detail: &str) {
        self.push(FieldError::required(path.field(), detail));
    }

    pub(crate) fn forbidden(&mut self, path: &Path<'_>, detail: &str) {
        self.push(FieldError::forbidden(path.field(), detail));
    }

    pub(crate) fn invalid(&mut self, path: &Path<'_>, value: &Value<'_>, detail: &str) {
        self.push(FieldError::invalid(path.field(), value, detail));
    }

    /// An invalid value with a text that is shown for it.
    pub(crate) fn invalid_as(&mut self, path: &Path<'_>, shown: &str, detail: &str) {
        self.push(FieldError::new(Cause::Invalid, path.field(), Some(shown), detail));
    }

    pub(crate) fn type_invalid(&mut self, path: &Path<'_>, value: &Value<'_>, detail: &str) {
        self.push(FieldError::type_invalid(path.field(), value, detail));
    }

    pub(crate) fn not_supported(&mut self, path: &Path<'_>, value: &str, supported: &[&str]) {
        let value = Value::from(value);
        self.push(FieldError::not_supported(path.field(), &value, supported));
    }

    pub(crate) fn too_long(&mut self, path: &Path<'_>, max: i64) {
        self.push(FieldError::too_long(path.field(), max));
    }

    pub(crate) fn extend(&mut self, errors: impl IntoIterator<Item = FieldError>) {
        errors.into_iter().for_each(|error| self.push(error));
    }

    pub(crate) fn len(&self) -> usize {
        self.errors.len() + self.more
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    pub(crate) fn has_blocking(&self) -> bool {
        self.errors.iter().any(|error| error.cause.is_blocking())
    }

    pub(crate) fn into_vec(mut self) -> Vec<FieldError> {
        if self.more > 0 {
            let detail = format!("and {} more errors of this object", self.more);
            self.errors
                .push(FieldError::invalid_unshown("<nil>".to_owned(), &detail));
        }
        self.errors
    }
}

/// The message with which a server refuses an object: `Widget.example.com "w" is invalid: …`
// Upstream: apimachinery/pkg/api/errors/errors.go, NewInvalid
pub fn invalid_message(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> String {
    let dot = if group.is_empty() { "" } else { "." };
    let invalid = format!("{kind}{dot}{group} {} is invalid", quote(name));
    match errors {
        [] => invalid,
        errors => format!("{invalid}: {}", aggregate(errors)),
    }
}

/// The errors as one message: alone, or in brackets, each once.
// Upstream: apimachinery/pkg/util/validation/field/errors.go, ToAggregate
pub(crate) fn aggregate(errors: &[FieldError]) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for error in errors {
        let text = error.to_string();
        if seen.insert(text.clone()) {
            texts.push(text);
        }
    }
    match texts.as_slice() {
        [only] => only.clone(),
        all => format!("[{}]", all.join(", ")),
    }
}
