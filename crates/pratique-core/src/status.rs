//! Statuses that policies and webhooks refuse requests with.

use pratique_cel::OutOfMemory;
use pratique_gotext::strconv::quote;
use pratique_types::{GroupVersionResource, Reason, Status, StatusCause, StatusDetails};

/// An error of the server itself.
// Upstream: apimachinery/pkg/api/errors/errors.go, NewInternalError
pub fn internal_error(error: &str) -> Status {
    let mut status = Status::failure(Reason::InternalError, format!("Internal error occurred: {error}"));
    status.details = Some(StatusDetails {
        causes: vec![StatusCause {
            message: error.to_owned(),
            ..StatusCause::default()
        }],
        ..StatusDetails::default()
    });
    status
}

/// The namespace of a request does not exist.
// Upstream: apimachinery/pkg/api/errors/errors.go, NewNotFound
pub fn namespace_not_found(name: &str) -> Status {
    let mut status = Status::failure(Reason::NotFound, format!("namespaces {} not found", quote(name)));
    status.details = Some(StatusDetails {
        name: name.to_owned(),
        kind: "namespaces".to_owned(),
        ..StatusDetails::default()
    });
    status
}

/// `pods "p" is forbidden: …`; the name is left out of the message where it is empty.
// Upstream: apimachinery/pkg/api/errors/errors.go, NewForbidden
pub fn forbidden(resource: &GroupVersionResource, name: &str, error: &str) -> Status {
    let resource = resource.group_resource();
    let message = match (resource.resource.as_str(), name) {
        ("", _) => format!("forbidden: {error}"),
        (_, "") => format!("{resource} is forbidden: {error}"),
        _ => format!("{resource} {} is forbidden: {error}", quote(name)),
    };
    let mut status = Status::failure(Reason::Forbidden, message);
    status.details = Some(StatusDetails {
        name: name.to_owned(),
        group: resource.group,
        kind: resource.resource,
        ..StatusDetails::default()
    });
    status
}

/// The reason of a request that is refused for lack of memory.
pub fn out_of_memory_reason(error: OutOfMemory) -> Reason {
    match error {
        OutOfMemory::Limit => Reason::RequestEntityTooLarge,
        OutOfMemory::Budget => Reason::TooManyRequests,
    }
}
