//! Why a value cannot be decoded into its type.

use pratique_gotext::json::UnmarshalTypeError;

/// Why a value cannot be decoded, with the message of an API server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// It is not of its Go type.
    #[error("{}", unmarshal_type_error(.found, .field.as_ref(), .go_type))]
    Type {
        /// Go's name of the value: `object`, `number 1.5`.
        found: String,
        /// The field that it is the value of; none for a whole document.
        field: Option<StructField>,
        /// The type of the value.
        go_type: String,
    },
    /// It is of the right type, and its content is not: this is the message of that type's own decoder.
    #[error("{0}")]
    Content(String),
}

/// A field, as errors of Go's decoder name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructField {
    /// The name of the innermost struct.
    pub of: String,
    /// The names of the fields that lead to the value: `spec.containers.image`.
    pub path: String,
}

impl ValueError {
    /// The error of a whole document of the wrong type.
    pub(super) fn of_type(description: String, go_type: String) -> Self {
        ValueError::Type {
            found: description,
            field: None,
            go_type,
        }
    }
}

fn unmarshal_type_error(description: &str, field: Option<&StructField>, go_type: &str) -> String {
    match field {
        Some(StructField { of, path }) => {
            UnmarshalTypeError::of_field(description, of, path, go_type).to_string()
        }
        None => UnmarshalTypeError::of_value(description, go_type).to_string(),
    }
}
