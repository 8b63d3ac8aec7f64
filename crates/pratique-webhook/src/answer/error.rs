//! Why an answer does not count, with the reference's messages.

use pratique_gotext::strconv::quote;
use pratique_types::{GroupVersionKind, InvalidGroupVersion};

use crate::fields::FieldError;
use crate::wire::WireError;

/// Why an answer cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnswerError {
    /// It is no document with a kind.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// It is no JSON.
    #[error(transparent)]
    Json(#[from] pratique_json::Error),
    /// Its `apiVersion` has too many parts.
    #[error(transparent)]
    ApiVersion(#[from] InvalidGroupVersion),
    /// A value does not fit the type of its field.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// It has no kind, or no version.
    #[error("unable to decode {0}")]
    NoKind(GroupVersionKind),
    /// It is an object of a known kind other than a review.
    #[error("converting ({package}.{kind}) to ({wanted}.AdmissionReview): unknown conversion")]
    OtherKind {
        /// The version of the kind's Go type.
        package: String,
        /// The kind.
        kind: String,
        /// The version of the review.
        wanted: &'static str,
    },
    /// The client does not know its kind.
    #[error(
        "no kind {} is registered for version {} in scheme {registry:?}",
        quote(&.kind.kind),
        quote(&.kind.api_version())
    )]
    UnknownKind {
        /// The kind.
        kind: GroupVersionKind,
        /// The name of the registry of the client's types.
        registry: &'static str,
    },
}

/// Why a review does not answer the one that was sent.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReviewError {
    /// It has no response.
    #[error("webhook response was absent")]
    NoResponse,
    /// It answers another request.
    #[error("expected response.uid={}, got {}", quote(.expected), quote(.found))]
    Uid {
        /// The uid of the request.
        expected: String,
        /// The uid of the response.
        found: String,
    },
    /// Its `apiVersion` and `kind` are not those of a review of the version.
    #[error("expected webhook response of {expected}, got {found}")]
    Kind {
        /// The kind of the review that was sent.
        expected: Box<GroupVersionKind>,
        /// The kind of the answer.
        found: Box<GroupVersionKind>,
    },
    /// A patch has no type.
    #[error("webhook returned response.patch but not response.patchType")]
    PatchWithoutType,
    /// There is a type, and no patch.
    #[error("webhook returned response.patchType but not response.patch")]
    TypeWithoutPatch,
    /// The type of the patch is empty.
    #[error("webhook returned invalid response.patchType of \"\"")]
    EmptyType,
    /// A validating webhook cannot patch.
    #[error("validating webhook may not return response.patch")]
    Patch,
    /// A validating webhook cannot patch.
    #[error("validating webhook may not return response.patchType")]
    Type,
}
