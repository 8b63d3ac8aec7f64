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
/// let error = UnmarshalTypeError::of_element("number", "Patch.0", "jsonpatch.Operation");
/// assert_eq!(error.to_string(), "json: cannot unmarshal number into Patch.0 of type jsonpatch.Operation");
/// ```
// Upstream: encoding/json/decode.go, UnmarshalTypeError
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnmarshalTypeError<'e> {
    value: &'e str,
    place: ValuePlace<'e>,
    go_type: &'e str,
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValuePlace<'e> {
    Whole,
    /// The name of the struct, and the path.
    Field(&'e str, &'e str),
    /// The name of the list's type, if it has one, and the place in it.
    Element(&'e str),
}

impl<'e> UnmarshalTypeError<'e> {
    /// A value that is no field of a struct. `value` describes it as `object`, `number`, `number 1.5`.
    pub fn of_value(value: &'e str, go_type: &'e str) -> Self {
        UnmarshalTypeError {
            value,
            place: ValuePlace::Whole,
            go_type,
        }
    }

    /// The value of a struct's field at a path from the whole. Structs without a name have the empty one.
    pub fn of_field(value: &'e str, of: &'e str, path: &'e str, go_type: &'e str) -> Self {
        UnmarshalTypeError {
            place: ValuePlace::Field(of, path),
            ..Self::of_value(value, go_type)
        }
    }

    /// An element of a list at a path such as `.0`, as Go names it since 1.27.
    // Upstream: encoding/json/v2_decode.go, UnmarshalTypeError
    pub fn of_element(value: &'e str, path: &'e str, go_type: &'e str) -> Self {
        UnmarshalTypeError {
            place: ValuePlace::Element(path),
            ..Self::of_value(value, go_type)
        }
    }
}

impl Display for UnmarshalTypeError<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "json: cannot unmarshal {} into ", self.value)?;
        match self.place {
            ValuePlace::Whole => formatter.write_str("Go value")?,
            ValuePlace::Field(of, path) => write!(formatter, "Go struct field {of}.{path}")?,
            ValuePlace::Element(path) => formatter.write_str(path)?,
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
