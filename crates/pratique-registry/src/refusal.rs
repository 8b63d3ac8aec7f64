//! Requests that the server itself refuses.

use pratique_types::field::Error;
use pratique_types::{GroupVersionKind, Status, status};

/// A request that the server itself refuses before it is stored, rather than admission.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .status.message)]
pub struct Refusal {
    /// The answer.
    pub status: Box<Status>,
    /// The warnings with the answer.
    pub warnings: Vec<String>,
}

impl From<Box<Status>> for Refusal {
    fn from(status: Box<Status>) -> Self {
        Refusal {
            status,
            warnings: Vec::new(),
        }
    }
}

/// An object without a name, and without the start of one that is generated.
// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateObjectMetaAccessor
pub fn no_name(kind: &GroupVersionKind) -> Box<Status> {
    let error = Error::required("metadata.name", "name or generateName is required");
    Box::new(status::invalid(kind, "", [error]))
}
