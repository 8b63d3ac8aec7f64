//! The errors of an API server, with its messages.
// Upstream: apimachinery/pkg/api/errors/errors.go

use pratique_gotext::strconv::quote;

use super::{Reason, Status, StatusCause, StatusDetails};
use crate::field::{self, Error};
use crate::group_version::{GroupKind, GroupResource};

/// `pods "web" is forbidden: …`; the resource and the name are left out where they are empty.
// Upstream: NewForbidden
pub fn forbidden(resource: impl Into<GroupResource>, name: &str, error: &str) -> Status {
    let resource = resource.into();
    // Row `plugins-pss-no` of `benches/`: joined, as formatting takes three times as long.
    let message = match (resource.resource.as_str(), name) {
        ("", _) => ["forbidden: ", error].concat(),
        (_, "") => [&resource.to_string(), " is forbidden: ", error].concat(),
        _ => [&resource.to_string(), " ", &quote(name), " is forbidden: ", error].concat(),
    };
    about_resource(Reason::Forbidden, resource, name, message)
}

/// `pods "web" not found`
// Upstream: NewNotFound
pub fn not_found(resource: impl Into<GroupResource>, name: &str) -> Status {
    let resource = resource.into();
    let message = format!("{resource} {} not found", quote(name));
    about_resource(Reason::NotFound, resource, name, message)
}

/// `pods "web" already exists`
// Upstream: NewAlreadyExists
pub fn already_exists(resource: impl Into<GroupResource>, name: &str) -> Status {
    let resource = resource.into();
    let message = format!("{resource} {} already exists", quote(name));
    about_resource(Reason::AlreadyExists, resource, name, message)
}

/// `Operation cannot be fulfilled on pods "web": …`
// Upstream: NewConflict
pub fn conflict(resource: impl Into<GroupResource>, name: &str, error: &str) -> Status {
    let resource = resource.into();
    let message = format!(
        "Operation cannot be fulfilled on {resource} {}: {error}",
        quote(name)
    );
    about_resource(Reason::Conflict, resource, name, message)
}

/// A request that does not make sense.
// Upstream: NewBadRequest
pub fn bad_request(message: impl Into<String>) -> Status {
    Status::failure(Reason::BadRequest, message)
}

/// `Pod "web" is invalid: …`, with the errors as causes.
// Upstream: NewInvalid
pub fn invalid(kind: impl Into<GroupKind>, name: &str, errors: impl Into<Vec<Error>>) -> Status {
    let (kind, errors) = (kind.into(), errors.into());
    let mut message = format!("{kind} {} is invalid", quote(name));
    if !errors.is_empty() {
        message.push_str(": ");
        message.push_str(&field::aggregate(&errors));
    }
    Status {
        details: Some(StatusDetails {
            name: name.to_owned(),
            group: kind.group,
            kind: kind.kind,
            causes: errors.into_iter().map(Error::into_cause).collect(),
            ..StatusDetails::default()
        }),
        ..Status::failure(Reason::Invalid, message)
    }
}

/// `Internal error occurred: …`
// Upstream: NewInternalError
pub fn internal_error(error: &str) -> Status {
    Status {
        details: Some(StatusDetails {
            causes: vec![StatusCause {
                message: error.to_owned(),
                ..StatusCause::default()
            }],
            ..StatusDetails::default()
        }),
        ..Status::failure(Reason::InternalError, format!("Internal error occurred: {error}"))
    }
}

/// `create is not supported on resources of kind "pods"`
// Upstream: NewMethodNotSupported
pub fn method_not_supported(resource: impl Into<GroupResource>, action: &str) -> Status {
    let resource = resource.into();
    let kind = quote(&resource.to_string());
    let message = format!("{action} is not supported on resources of kind {kind}");
    // No answer of admission has this reason, so that `Reason` does not know it.
    Status {
        reason: "MethodNotAllowed".to_owned(),
        code: 405,
        ..about_resource(Reason::BadRequest, resource, "", message)
    }
}

/// A body of a format that is not accepted.
// Upstream: apiserver/pkg/endpoints/handlers/negotiation/errors.go, NewUnsupportedMediaTypeError
pub fn unsupported_media_type(accepted: &[&str]) -> Status {
    let accepted = accepted.join(", ");
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: {accepted}"
    );
    // No answer of admission has this reason, so that `Reason` does not know it.
    Status {
        reason: "UnsupportedMediaType".to_owned(),
        code: 415,
        ..Status::failure(Reason::BadRequest, message)
    }
}

/// The deadline of a request has passed.
// Upstream: NewTimeoutError; apiserver/pkg/server/filters/timeout.go
pub fn timeout() -> Status {
    Status {
        details: Some(StatusDetails::default()),
        ..Status::failure(
            Reason::Timeout,
            "Timeout: request did not complete within requested timeout",
        )
    }
}

/// A failure about an object of a resource.
fn about_resource(reason: Reason, resource: GroupResource, name: &str, message: String) -> Status {
    Status {
        details: Some(StatusDetails {
            name: name.to_owned(),
            group: resource.group,
            kind: resource.resource,
            ..StatusDetails::default()
        }),
        ..Status::failure(reason, message)
    }
}
