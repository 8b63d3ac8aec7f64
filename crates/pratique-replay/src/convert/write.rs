//! Creations and updates: the event has the object as it was decoded and defaulted.

use pratique_json::Value;
use pratique_types::{AdmissionRequest, Operation};

use super::{RequestSource, admitted, approximations, decoded, no_object};
use crate::event::AuditEvent;
use crate::replay_result::{ReplayRequest, RequestApproximation, UnknownRequest};

/// The request of an event that creates or replaces an object.
// Upstream: apiserver/pkg/endpoints/handlers/create.go, createHandler, and update.go, UpdateResource, which log the object after
// it was decoded and before anything is changed in it
pub(super) fn request<'e>(
    source: &RequestSource<'_>,
    event: AuditEvent<'e>,
    request: AdmissionRequest<'e>,
) -> Result<ReplayRequest<'e>, UnknownRequest> {
    if event.request_object.is_null() {
        return Err(no_object(&event));
    }
    if request.operation == Operation::Create {
        let approximations = approximations(&event, &request, &[]);
        let object = event.request_object;
        return Ok(decoded(AdmissionRequest { object, ..request }, approximations));
    }
    Ok(match old(source, &event.request_object) {
        Some((old_object, is_exact)) => {
            let more: &[RequestApproximation] = if is_exact {
                &[]
            } else {
                &[RequestApproximation::LastSeen]
            };
            let approximations = approximations(&event, &request, more);
            let object = event.request_object;
            let request = AdmissionRequest {
                object,
                old_object,
                ..request
            };
            decoded(request, approximations)
        }
        None => {
            let approximations = approximations(&event, &request, &[RequestApproximation::AsSent]);
            let object = event.request_object;
            let request = AdmissionRequest {
                object,
                lacks_old_object: true,
                ..request
            };
            admitted(request, approximations)
        }
    })
}

/// The object that was replaced, and whether it is known to be that: what is replaced has the version that the new object names.
fn old(source: &RequestSource<'_>, new: &Value<'_>) -> Option<(Value<'static>, bool)> {
    // A part of an object that is one of another kind, such as a `Scale`, replaces none that is remembered.
    let old = source.old?;
    let kind = |object: &Value<'_>| object.get("kind").and_then(Value::as_str).map(str::to_owned);
    if kind(old) != kind(new) {
        return None;
    }
    let version = |object: &Value<'_>| {
        let version = object
            .at(&["metadata", "resourceVersion"])
            .and_then(Value::as_str);
        version.unwrap_or_default().to_owned()
    };
    match version(new) {
        named if named.is_empty() => Some((old.clone(), false)),
        named => (named == version(old)).then(|| (old.clone(), true)),
    }
}
