//! Why a request has no answer.

use pratique_types::{InvalidRequest, InvalidReview};

use super::UnavailableReason;

/// Why a request is not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdmitError {
    /// No API server sends the request: policies would pass over it, and allow it.
    #[error("no API server sends this request: {0}")]
    InvalidRequest(#[from] InvalidRequest),
    /// The review has no request to decide about.
    #[error(transparent)]
    InvalidReview(#[from] InvalidReview),
    /// Requests are not evaluated, or the evaluation of this one did not end.
    #[error(transparent)]
    Unavailable(#[from] UnavailableReason),
}
