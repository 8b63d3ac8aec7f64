//! Requests that the server itself refuses.

use pratique_apiextensions::{FieldError, invalid_message};
use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_types::{
    GroupVersion, GroupVersionKind, GroupVersionResource, Reason, Status, StatusCause, StatusDetails,
};

use crate::object;

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

// Upstream: apimachinery/pkg/api/errors/errors.go, NewBadRequest
pub(crate) fn bad_request(message: impl Into<String>) -> Box<Status> {
    Box::new(Status::failure(Reason::BadRequest, message))
}

// Upstream: apimachinery/pkg/api/errors/errors.go, NewNotFound
pub(crate) fn not_found(resource: &GroupVersionResource, name: &str) -> Box<Status> {
    let message = format!("{} {} not found", resource.group_resource(), quote(name));
    about_resource(Reason::NotFound, resource, name, message)
}

// Upstream: apimachinery/pkg/api/errors/errors.go, NewAlreadyExists
pub(crate) fn already_exists(resource: &GroupVersionResource, name: &str) -> Box<Status> {
    let message = format!("{} {} already exists", resource.group_resource(), quote(name));
    about_resource(Reason::AlreadyExists, resource, name, message)
}

// Upstream: apimachinery/pkg/api/errors/errors.go, NewConflict
pub(crate) fn conflict(resource: &GroupVersionResource, name: &str, why: &str) -> Box<Status> {
    let message = format!(
        "Operation cannot be fulfilled on {} {}: {why}",
        resource.group_resource(),
        quote(name)
    );
    about_resource(Reason::Conflict, resource, name, message)
}

/// An object that is not valid, with all its errors.
// Upstream: apimachinery/pkg/api/errors/errors.go, NewInvalid
pub(crate) fn invalid_object(object: &Value<'static>, errors: &[FieldError]) -> Box<Status> {
    let version = GroupVersion::parse(object::text(object, &["apiVersion"])).unwrap_or_default();
    let kind = version.with_kind(object::text(object, &["kind"]));
    let name = object::text(object, &["metadata", "name"]);
    let causes = errors.iter().map(|error| StatusCause {
        reason: error.cause.reason().to_owned(),
        message: error.message.clone(),
        field: error.field.clone(),
    });
    Box::new(Status {
        details: Some(StatusDetails {
            name: name.to_owned(),
            group: kind.group.clone(),
            kind: kind.kind.clone(),
            causes: causes.collect(),
            ..StatusDetails::default()
        }),
        ..Status::failure(
            Reason::Invalid,
            invalid_message(&kind.group, &kind.kind, name, errors),
        )
    })
}

// Upstream: apimachinery/pkg/api/errors/errors.go, NewInternalError
pub(crate) fn internal(why: &str) -> Box<Status> {
    Box::new(Status {
        details: Some(StatusDetails {
            causes: vec![StatusCause {
                message: why.to_owned(),
                ..StatusCause::default()
            }],
            ..StatusDetails::default()
        }),
        ..Status::failure(Reason::InternalError, format!("Internal error occurred: {why}"))
    })
}

// Upstream: apimachinery/pkg/api/errors/errors.go, NewMethodNotSupported
pub(crate) fn method_not_supported(resource: &GroupVersionResource, action: &str) -> Box<Status> {
    let kind = quote(&resource.group_resource().to_string());
    let message = format!("{action} is not supported on resources of kind {kind}");
    // No answer of admission has this reason, so that `Reason` does not know it.
    Box::new(Status {
        reason: "MethodNotAllowed".to_owned(),
        code: 405,
        details: details(resource, ""),
        ..Status::failure(Reason::BadRequest, message)
    })
}

// Upstream: apiserver/pkg/endpoints/handlers/negotiation/errors.go, NewUnsupportedMediaTypeError
pub(crate) fn unsupported_media_type(accepted: &[&str]) -> Box<Status> {
    let accepted = accepted.join(", ");
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: {accepted}"
    );
    // No answer of admission has this reason, so that `Reason` does not know it.
    Box::new(Status {
        reason: "UnsupportedMediaType".to_owned(),
        code: 415,
        ..Status::failure(Reason::BadRequest, message)
    })
}

/// An object without a name, and without the start of one that is generated.
// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateObjectMetaAccessor
pub fn no_name(kind: &GroupVersionKind) -> Box<Status> {
    let (field, message) = (
        "metadata.name",
        "Required value: name or generateName is required",
    );
    let mut status = invalid(&kind.group, &kind.kind, "", field, message);
    let causes = status.details.iter_mut().flat_map(|details| &mut details.causes);
    causes.for_each(|cause| cause.reason = "FieldValueRequired".to_owned());
    status
}

/// A value of a field that is refused. `kind` is the object's kind as the message shows it.
// Upstream: apimachinery/pkg/api/errors/errors.go, NewInvalid
pub(crate) fn invalid(group: &str, kind: &str, name: &str, field: &str, message: &str) -> Box<Status> {
    let called = match group.is_empty() {
        true => kind.to_owned(),
        false => format!("{kind}.{group}"),
    };
    Box::new(Status {
        details: Some(StatusDetails {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            causes: vec![StatusCause {
                reason: "FieldValueInvalid".to_owned(),
                message: message.to_owned(),
                field: field.to_owned(),
            }],
            ..StatusDetails::default()
        }),
        ..Status::failure(
            Reason::Invalid,
            format!("{called} {} is invalid: {field}: {message}", quote(name)),
        )
    })
}

/// A failure about an object of a resource.
fn about_resource(
    reason: Reason,
    resource: &GroupVersionResource,
    name: &str,
    message: String,
) -> Box<Status> {
    Box::new(Status {
        details: details(resource, name),
        ..Status::failure(reason, message)
    })
}

fn details(resource: &GroupVersionResource, name: &str) -> Option<StatusDetails> {
    Some(StatusDetails {
        name: name.to_owned(),
        group: resource.group.clone(),
        kind: resource.resource.clone(),
        ..StatusDetails::default()
    })
}
