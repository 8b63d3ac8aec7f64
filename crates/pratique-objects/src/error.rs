//! Why an object is refused.

use pratique_gotext::strconv::quote;
use pratique_types::GroupVersionKind;

/// Why an API server answers 400 to an object that it is sent. The texts are its own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// It is not text of its media type, or its kind and version cannot be read.
    #[error("the object provided is unrecognized (must be of type {kind}): {cause} ({summary})")]
    Unrecognized {
        /// The kind that the endpoint takes.
        kind: String,
        /// What is wrong.
        cause: String,
        /// The beginning of the bytes.
        summary: String,
    },
    /// It is not an object of its kind, or of a kind that the endpoint does not take.
    #[error("{found} in version {version} cannot be handled as a {kind}: {cause}")]
    Undecodable {
        /// The kind that it states.
        found: String,
        /// The version that it states, quoted.
        version: String,
        /// The kind that the endpoint takes.
        kind: String,
        /// What is wrong.
        cause: String,
    },
    /// It is of another version than the endpoint.
    #[error("the API version in the data ({found}) does not match the expected API version ({expected})")]
    OtherVersion {
        /// The version that it states.
        found: String,
        /// The version of the endpoint.
        expected: String,
    },
    /// The endpoint's kind is not built in.
    #[error("{0} is not a built-in kind")]
    UnknownKind(GroupVersionKind),
    /// It nests deeper than is evaluated here; an API server may take it.
    #[error("the object nests deeper than {0} levels")]
    TooDeep(usize),
    /// Its values would take far more memory than its text does; an API server may take it.
    #[error("{0}")]
    TooLarge(String),
}

impl DecodeError {
    pub(crate) fn unrecognized(endpoint: &GroupVersionKind, cause: impl ToString, bytes: &[u8]) -> Self {
        DecodeError::Unrecognized {
            kind: endpoint.kind.clone(),
            cause: cause.to_string(),
            summary: summary(bytes),
        }
    }

    /// An object that states a kind, and cannot be handled as the kind of the endpoint.
    pub fn undecodable(endpoint: &GroupVersionKind, actual: &GroupVersionKind, cause: impl ToString) -> Self {
        DecodeError::Undecodable {
            found: actual.kind.clone(),
            version: quote(&actual.version),
            kind: endpoint.kind.clone(),
            cause: cause.to_string(),
        }
    }
}

/// Unknown and duplicate fields, which a server refuses where [validation](crate::FieldValidation) is strict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("strict decoding error: {}", .0.join(", "))]
pub struct StrictError(pub(crate) Vec<String>);

/// How many bytes are shown.
const SHOWN: usize = 30;

/// The beginning of some bytes: as text, if it may be JSON.
// Upstream: apiserver/pkg/endpoints/handlers/rest.go, summarizeData
fn summary(bytes: &[u8]) -> String {
    let start = bytes.get(..SHOWN).unwrap_or(bytes);
    let more = if bytes.len() > SHOWN { " ..." } else { "" };
    match bytes.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(start)),
        Some(_) => {
            let digits: String = start.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{digits}{more}")
        }
    }
}
