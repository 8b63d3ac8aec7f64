//! Requests that the server itself refuses.

use pratique_gotext::strconv::quote;
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

/// A name that no object has: what is looked up by it is not found.
// Upstream: apiserver/pkg/registry/generic/registry/store.go, NamespaceKeyFunc; apimachinery/pkg/api/validation/path/name.go
pub(crate) fn refuse_name(name: &str) -> Option<Status> {
    if name.is_empty() {
        return Some(status::bad_request("Name parameter required."));
    }
    let contained = ["/", "%"].into_iter().filter(|part| name.contains(part));
    let faults: Vec<String> = match name {
        "." | ".." => vec![format!("may not be '{name}'")],
        _ => contained
            .map(|part| format!("may not contain '{part}'"))
            .collect(),
    };
    let faults = Some(faults.join(";")).filter(|faults| !faults.is_empty())?;
    let message = format!("Name parameter invalid: {}: {faults}", quote(name));
    Some(status::bad_request(message))
}
