//! Why an object is not patched, or not converted.

use pratique_json::Interrupted;
use pratique_merge::json_patch;
use pratique_typed::ConversionError;
use pratique_typed::decode::DecodeError;
use pratique_types::Status;

use crate::statuses::timeout;

/// Why an object is not patched, or not converted. The messages are an API server's.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ObjectError {
    /// The caller interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// A patch cannot be applied.
    #[error("{0}")]
    Patch(json_patch::Error),
    /// An object of a built-in kind cannot be converted, or its kind is unknown.
    #[error("{0}")]
    Conversion(ConversionError),
    /// The patched object cannot be decoded.
    #[error("{0}")]
    Decode(String),
    /// The patched object has no kind; contains the object as JSON.
    #[error("Object 'Kind' is missing in '{0}'")]
    MissingKind(String),
    /// The version of a custom resource is not served.
    #[error("request to convert CR from an invalid group/version: {0}")]
    UnknownVersion(String),
}

impl ObjectError {
    /// The status of a request that is refused for it: a timeout if it was interrupted, else one for its message.
    pub(crate) fn into_status(self, status: impl FnOnce(&str) -> Status) -> Status {
        match self {
            ObjectError::Interrupted => timeout(),
            error => status(&error.to_string()),
        }
    }
}

impl From<Interrupted> for ObjectError {
    fn from(_: Interrupted) -> Self {
        ObjectError::Interrupted
    }
}

impl From<ConversionError> for ObjectError {
    fn from(error: ConversionError) -> Self {
        match error {
            ConversionError::Interrupted(interrupted) => interrupted.into(),
            error => ObjectError::Conversion(error),
        }
    }
}

impl From<DecodeError> for ObjectError {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Interrupted(interrupted) => interrupted.into(),
            DecodeError::Invalid(error) => ObjectError::Decode(error),
        }
    }
}

impl From<json_patch::Error> for ObjectError {
    fn from(error: json_patch::Error) -> Self {
        match error {
            json_patch::Error::Interrupted => ObjectError::Interrupted,
            error => ObjectError::Patch(error),
        }
    }
}
