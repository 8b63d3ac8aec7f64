//! The messages of Go's `encoding/json` for values that do not fit, as in the API server's copy of it.

use std::fmt::{self, Display, Formatter};

/// A JSON value that cannot be read into a Go type.
///
/// ```
/// use pratique_gotext::json::UnmarshalTypeError;
///
/// let error = UnmarshalTypeError::of_value("array", "string");
/// assert_eq!(error.to_string(), "json: cannot unmarshal array into Go value of type string");
/// let error = UnmarshalTypeError::of_field("number", "PodSpec", "spec.nodeName", "string");
/// assert_eq!(
///     error.to_string(),
///     "json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type string",
/// );
/// ```
// Upstream: encoding/json/decode.go, UnmarshalTypeError
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnmarshalTypeError<'e> {
    value: &'e str,
    field: Option<(&'e str, &'e str)>,
    go_type: &'e str,
}

impl<'e> UnmarshalTypeError<'e> {
    /// A value that is no field of a struct. `value` describes it as `object`, `number`, `number 1.5`.
    pub fn of_value(value: &'e str, go_type: &'e str) -> Self {
        UnmarshalTypeError {
            value,
            field: None,
            go_type,
        }
    }

    /// The value of a struct's field at a path from the whole. Structs without a name have the empty one.
    pub fn of_field(value: &'e str, of: &'e str, path: &'e str, go_type: &'e str) -> Self {
        UnmarshalTypeError {
            field: Some((of, path)),
            ..Self::of_value(value, go_type)
        }
    }
}

impl Display for UnmarshalTypeError<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "json: cannot unmarshal {} into Go ", self.value)?;
        match self.field {
            Some((of, path)) => write!(formatter, "struct field {of}.{path}")?,
            None => formatter.write_str("value")?,
        }
        write!(formatter, " of type {}", self.go_type)
    }
}

impl std::error::Error for UnmarshalTypeError<'_> {}

/// The type that documents are read into before their kind is known.
// Upstream: apimachinery/pkg/runtime/serializer/json/meta.go, SimpleMetaFactory.Interpret
pub const TYPE_META: &str =
    r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

/// The API server's message for a document whose kind it cannot find out.
///
/// ```
/// use pratique_gotext::json::unknown_kind;
///
/// assert_eq!(
///     unknown_kind("unexpected end of JSON input"),
///     "couldn't get version/kind; json parse error: unexpected end of JSON input",
/// );
/// ```
// Upstream: apimachinery/pkg/runtime/serializer/json/meta.go, SimpleMetaFactory.Interpret
pub fn unknown_kind(error: impl Display) -> String {
    format!("couldn't get version/kind; json parse error: {error}")
}
