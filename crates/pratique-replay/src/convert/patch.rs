//! Patches: the event has the patch, and perhaps the result.

use pratique_json::Value;
use pratique_registry::{Registry, Request, Store, Target, Verb};
use pratique_types::{AdmissionRequest, Operation};

use super::{RequestSource, admitted, approximations, decoded, no_object};
use crate::event::AuditEvent;
use crate::replay_result::{ReplayRequest, RequestApproximation, UnknownRequest};

/// The request of an event that patches an object.
///
/// The object is known where the one that was patched is, and else where the event has the result.
// Upstream: apiserver/pkg/endpoints/handlers/patch.go, PatchResource
pub(super) fn request<'e>(
    source: &RequestSource<'_>,
    event: &AuditEvent<'e>,
    request: AdmissionRequest<'e>,
) -> Result<ReplayRequest<'e>, UnknownRequest> {
    if event.request_object.is_null() {
        return Err(no_object(event));
    }
    // The type is among the details, and with which manager and force a configuration is applied.
    if event.lacks_details {
        return result(event, request).ok_or(UnknownRequest::PatchType);
    }
    let creates = request.operation == Operation::Create;
    let old = if creates {
        Some(Value::Null)
    } else {
        source.old.cloned()
    };
    let why = match old {
        None => UnknownRequest::PatchedObject,
        Some(old) => match patched(source, event, &old) {
            Ok(PatchedObject { object, old_object }) => {
                let more: &[RequestApproximation] = if creates {
                    &[]
                } else {
                    &[RequestApproximation::LastSeen]
                };
                let approximations = approximations(event, &request, more);
                let request = AdmissionRequest {
                    object,
                    old_object,
                    ..request
                };
                return Ok(decoded(request, approximations));
            }
            Err(why) => why,
        },
    };
    result(event, request).ok_or(why)
}

/// The request with the object that was stored in the end.
fn result<'e>(event: &AuditEvent<'e>, request: AdmissionRequest<'e>) -> Option<ReplayRequest<'e>> {
    let status = event.response_status.as_ref()?;
    let object = &event.response_object;
    let named = object.at(&["metadata", "name"]).and_then(Value::as_str);
    let is_object = (200..300).contains(&status.code)
        && named == Some(&request.name)
        && object.get("kind").and_then(Value::as_str) == Some(&request.kind.kind);
    is_object.then(|| {
        let request = AdmissionRequest {
            object: object.clone(),
            lacks_old_object: request.operation != Operation::Create,
            ..request
        };
        admitted(request, vec![RequestApproximation::Stored])
    })
}

/// The object that a patch gives, and the one that it changed: of a scale, that of the workload that is stored.
struct PatchedObject {
    object: Value<'static>,
    old_object: Value<'static>,
}

/// The object that the patch gives. The event does not say of which type the patch is: all types that it may be of have to give
/// the same.
fn patched(
    source: &RequestSource<'_>,
    event: &AuditEvent<'_>,
    old: &Value<'static>,
) -> Result<PatchedObject, UnknownRequest> {
    let path = &source.uri.path;
    let target = Target::parse(path).or_else(|| source.replayer.custom().target(path));
    let target = target.ok_or(UnknownRequest::Patch)?;
    let mut results = Vec::new();
    for verb in verbs(source, event, &target, old) {
        results.extend(apply(source, event, verb, &target, old));
    }
    let mut results = results.into_iter();
    let first = results.next().ok_or(UnknownRequest::Patch)?;
    let bare = without_managed_fields(&first.object);
    if results.all(|other| without_managed_fields(&other.object) == bare) {
        Ok(first)
    } else {
        Err(UnknownRequest::PatchType)
    }
}

/// The types that a patch may be of.
fn verbs(
    source: &RequestSource<'_>,
    event: &AuditEvent<'_>,
    target: &Target,
    old: &Value<'static>,
) -> Vec<Verb> {
    let patch = &event.request_object;
    if patch.as_array().is_some() {
        return vec![Verb::JsonPatch];
    }
    let mut verbs = Vec::new();
    let says = |name: &str| {
        patch
            .get(name)
            .and_then(Value::as_str)
            .is_some_and(|text| !text.is_empty())
    };
    // A configuration that is applied has a manager, and says what it is.
    if says("apiVersion") && says("kind") && !source.uri.value("fieldManager").is_empty() {
        let force = source.uri.value("force");
        verbs.push(Verb::Apply {
            force: !matches!(force, "" | "0") && !force.eq_ignore_ascii_case("false"),
        });
    }
    // Only a configuration creates an object.
    if !old.is_null() {
        if target.custom.is_none() {
            verbs.push(Verb::StrategicMergePatch);
        }
        verbs.push(Verb::MergePatch);
    }
    verbs
}

fn apply(
    source: &RequestSource<'_>,
    event: &AuditEvent<'_>,
    verb: Verb,
    target: &Target,
    old: &Value<'static>,
) -> Option<PatchedObject> {
    let body = event.request_object.to_string();
    let kinds = source.replayer.kinds();
    let store = SingleObjectStore(old);
    let registry = Registry {
        scheme: &kinds,
        store: &store,
        placeholders: &source.replayer.placeholders,
        release: None,
    };
    let manager = match source.uri.value("fieldManager") {
        "" => event.user_agent.split('/').next().unwrap_or_default(),
        manager => manager,
    };
    let received = registry.receive(Request {
        verb,
        target: target.clone(),
        body: body.as_bytes(),
        user: event.effective_user().clone(),
        field_manager: manager.to_owned(),
        dry_run: source.uri.is_dry_run(),
        ..Request::default()
    });
    let attributes = received.ok()?.attributes;
    Some(PatchedObject {
        object: attributes.object,
        old_object: attributes.old_object,
    })
}

fn without_managed_fields(object: &Value<'static>) -> Value<'static> {
    let mut object = object.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    object
}

/// The object that is patched; null where there is none.
struct SingleObjectStore<'o>(&'o Value<'static>);

impl Store for SingleObjectStore<'_> {
    fn get(&self, _: &str, _: &str, _: &str, _: &str) -> Option<Value<'static>> {
        (!self.0.is_null()).then(|| self.0.clone())
    }
}
