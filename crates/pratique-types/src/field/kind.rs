//! Why a field is refused.

/// Why a field is refused: the reason of a cause in a `Status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What it names was not found.
    NotFound,
    /// It is missing.
    Required,
    /// It repeats another one.
    Duplicate,
    /// Its value is malformed.
    Invalid,
    /// Its value is none of those that are allowed.
    NotSupported,
    /// It may not be given.
    Forbidden,
    /// Its text is too long.
    TooLong,
    /// Its text is too short.
    TooShort,
    /// It has too many items.
    TooMany,
    /// It has too few items.
    TooFew,
    /// Its value is not of the schema's type.
    TypeInvalid,
    /// The server's own code failed.
    Internal,
}

// Upstream: apimachinery/pkg/util/validation/field/errors.go, ErrorType
impl ErrorKind {
    /// The reason as a `Status` has it: `FieldValueRequired` …
    pub fn reason(self) -> &'static str {
        match self {
            ErrorKind::NotFound => "FieldValueNotFound",
            ErrorKind::Required => "FieldValueRequired",
            ErrorKind::Duplicate => "FieldValueDuplicate",
            ErrorKind::Invalid => "FieldValueInvalid",
            ErrorKind::NotSupported => "FieldValueNotSupported",
            ErrorKind::Forbidden => "FieldValueForbidden",
            ErrorKind::TooLong => "FieldValueTooLong",
            ErrorKind::TooShort => "FieldValueTooShort",
            ErrorKind::TooMany => "FieldValueTooMany",
            ErrorKind::TooFew => "FieldValueTooFew",
            ErrorKind::TypeInvalid => "FieldValueTypeInvalid",
            ErrorKind::Internal => "InternalError",
        }
    }

    /// The words with which a message begins: `Required value` …
    pub fn words(self) -> &'static str {
        match self {
            ErrorKind::NotFound => "Not found",
            ErrorKind::Required => "Required value",
            ErrorKind::Duplicate => "Duplicate value",
            ErrorKind::Invalid | ErrorKind::TypeInvalid => "Invalid value",
            ErrorKind::NotSupported => "Unsupported value",
            ErrorKind::Forbidden => "Forbidden",
            ErrorKind::TooLong => "Too long",
            ErrorKind::TooShort => "Too short",
            ErrorKind::TooMany => "Too many",
            ErrorKind::TooFew => "Too few",
            ErrorKind::Internal => "Internal error",
        }
    }

    /// Whether messages of this kind show the value.
    // Upstream: apimachinery/pkg/util/validation/field/errors.go, ErrorBody
    pub(super) fn prints_value(self) -> bool {
        !matches!(
            self,
            ErrorKind::Required
                | ErrorKind::Forbidden
                | ErrorKind::TooLong
                | ErrorKind::TooShort
                | ErrorKind::Internal
        )
    }

    /// Whether an error keeps the validation rules of a custom resource from being evaluated.
    // Upstream: apiextensions-apiserver/pkg/registry/customresource/strategy.go, hasBlockingErr
    pub fn is_blocking(self) -> bool {
        matches!(
            self,
            ErrorKind::NotSupported
                | ErrorKind::Required
                | ErrorKind::TooLong
                | ErrorKind::TooMany
                | ErrorKind::TypeInvalid
        )
    }
}
