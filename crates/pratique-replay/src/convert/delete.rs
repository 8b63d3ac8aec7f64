//! Deletions: the event has the options, and perhaps an answer with the object.

use pratique_json::Value;
use pratique_types::AdmissionRequest;

use super::{RequestSource, admitted, no_object, options};
use crate::event::{AuditEvent, EventLevel};
use crate::replay_result::{ReplayRequest, RequestApproximation, UnknownRequest};

/// The request of an event that deletes an object.
// Upstream: apiserver/pkg/endpoints/handlers/delete.go, DeleteResource
pub(super) fn request<'e>(
    source: &RequestSource<'_>,
    event: &AuditEvent<'e>,
    request: AdmissionRequest<'e>,
) -> ReplayRequest<'e> {
    let (request, mut approximations) = with_options(source, event, request);
    let old = match (source.old, deleted(&event.response_object, &request.name)) {
        (Some(old), _) => {
            approximations.push(RequestApproximation::LastSeen);
            Some(old.clone())
        }
        (None, Some(deleted)) => {
            approximations.push(RequestApproximation::Deleted);
            Some(deleted)
        }
        (None, None) => None,
    };
    let request = AdmissionRequest {
        lacks_old_object: old.is_none(),
        old_object: old.unwrap_or_default(),
        ..request
    };
    admitted(request, approximations)
}

/// The requests of an event that deletes a collection: one for each object.
// Upstream: apiserver/pkg/registry/generic/registry/store.go, DeleteCollection
pub(super) fn collection<'e>(
    source: &RequestSource<'_>,
    event: &AuditEvent<'e>,
    request: &AdmissionRequest<'e>,
) -> Result<Vec<ReplayRequest<'e>>, UnknownRequest> {
    let Some(items) = event.response_object.get("items").and_then(Value::as_array) else {
        return Err(match event.level {
            EventLevel::RequestResponse if !event.is_truncated() => UnknownRequest::Collection,
            EventLevel::RequestResponse | EventLevel::Metadata => no_object(event),
            EventLevel::Request => UnknownRequest::Collection,
        });
    };
    let (request, approximations) = with_options(source, event, request.clone());
    let of = |item: &Value<'e>| {
        let mut approximations = approximations.clone();
        approximations.push(RequestApproximation::Deleted);
        let request = AdmissionRequest {
            // The request is one for the collection, and names no object.
            name: String::new(),
            old_object: unmarked(typed(item.clone().into_owned(), &request)),
            ..request.clone()
        };
        admitted(request, approximations)
    };
    Ok(items.iter().map(of).collect())
}

fn with_options<'e>(
    source: &RequestSource<'_>,
    event: &AuditEvent<'e>,
    request: AdmissionRequest<'e>,
) -> (AdmissionRequest<'e>, Vec<RequestApproximation>) {
    let is_known = event.level >= EventLevel::Request && !event.is_truncated();
    let options = options::of_deletion(source.replayer.release(), &event.request_object, source.uri);
    let dry_run = options.get("dryRun").is_some_and(|of| !of.is_empty());
    let approximations = if is_known {
        Vec::new()
    } else {
        vec![RequestApproximation::Options]
    };
    let request = AdmissionRequest {
        options,
        dry_run: Some(dry_run),
        ..request
    };
    (request, approximations)
}

/// The object that a deletion answered with, as it was before.
fn deleted(answer: &Value<'_>, name: &str) -> Option<Value<'static>> {
    let is_status = answer.get("kind").and_then(Value::as_str) == Some("Status");
    let named = answer.at(&["metadata", "name"]).and_then(Value::as_str);
    let is_object = !is_status && !name.is_empty() && named == Some(name);
    is_object.then(|| unmarked(answer.clone().into_owned()))
}

/// An object without the marks of a deletion.
fn unmarked(object: Value<'static>) -> Value<'static> {
    let mut object = object;
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("deletionTimestamp");
        metadata.remove("deletionGracePeriodSeconds");
    }
    object
}

/// An item of a list, which does not say of which kind it is.
fn typed(item: Value<'static>, request: &AdmissionRequest<'_>) -> Value<'static> {
    let mut item = item;
    if let Value::Object(members) = &mut item
        && !members.contains_key("kind")
    {
        members.insert("kind", request.kind.kind.clone());
        members.insert("apiVersion", request.kind.api_version());
    }
    item
}
