//! Converts audit events to admission requests.

mod connect;
mod delete;
mod details;
mod options;
mod patch;
mod write;

use pratique_json::Value;
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation};

use self::details::needs_details;
use crate::event::{AuditEvent, EventLevel, EventStage, ObjectReference};
use crate::recent_objects::RecentObjects;
use crate::recorded_outcome::RecordedOutcome;
use crate::replay_result::{
    EventRequests, NotSubject, ObjectKnowledge, ReplayRequest, ReplayResult, RequestApproximation,
    UnknownRequest,
};
use crate::replayer::LogReplayer;
use crate::uri::RequestUri;

/// The admission requests of an event.
pub(crate) fn event<'e>(
    replayer: &LogReplayer,
    event: AuditEvent<'e>,
    remembered: Option<&mut RecentObjects>,
) -> ReplayResult<'e> {
    let id = event.audit_id.clone();
    let at = event.request_received_timestamp.clone();
    let then = RecordedOutcome::from_event(&event);
    let uri = RequestUri::parse(&event.request_uri);
    let about = event.object_ref.clone();
    let requests = match (&about, event.stage) {
        (_, EventStage::RequestReceived | EventStage::ResponseStarted | EventStage::Panic) => {
            EventRequests::NotSubject(NotSubject::Stage)
        }
        (None, EventStage::ResponseComplete) => EventRequests::NotSubject(NotSubject::NonResource),
        (Some(about), EventStage::ResponseComplete) => {
            let mut old = None;
            if let Some(remembered) = remembered {
                old = remembered.get(about).cloned();
                remembered.learn(&event, about, &uri);
            }
            let source = RequestSource {
                replayer,
                old: old.as_ref(),
                uri: &uri,
                about,
            };
            source.convert(event)
        }
    };
    ReplayResult {
        id,
        at,
        then,
        what: requests,
    }
}

/// What a request is made of besides the event: the address, and the object that it is about.
struct RequestSource<'s> {
    replayer: &'s LogReplayer,
    /// The object that it is about, if that is remembered.
    old: Option<&'s Value<'static>>,
    uri: &'s RequestUri,
    about: &'s ObjectReference,
}

impl RequestSource<'_> {
    fn convert<'e>(&self, event: AuditEvent<'e>) -> EventRequests<'e> {
        let kind = self.replayer.kind(self.about);
        let connects = kind.as_ref().filter(|kind| connect::is_connected(kind));
        let operation = match (event.verb.as_str(), connects) {
            (_, Some(_)) | ("connect", _) => Operation::Connect,
            ("create", None) => Operation::Create,
            ("update" | "patch", None) => {
                if self.is_created(&event) {
                    Operation::Create
                } else {
                    Operation::Update
                }
            }
            ("delete" | "deletecollection", None) => Operation::Delete,
            ("get" | "list" | "watch" | "head" | "options", None) => {
                return EventRequests::NotSubject(NotSubject::ReadOnly);
            }
            _ => {
                return EventRequests::Unknown(
                    UnknownRequest::Verb,
                    Box::new(self.request(&event, Operation::None, kind)),
                );
            }
        };
        if let Some(why) = not_reached(&event, operation) {
            return EventRequests::NotSubject(why);
        }
        let request = self.request(&event, operation, kind);
        if event.lacks_details && needs_details(&event, self.about, operation) {
            return EventRequests::Unknown(UnknownRequest::Details, Box::new(request));
        }
        let converted = match (event.verb.as_str(), operation) {
            (_, Operation::Connect) => Ok(vec![connect::request(self, request.clone())]),
            ("patch", _) => patch::request(self, &event, request.clone()).map(|request| vec![request]),
            ("deletecollection", _) => delete::collection(self, &event, &request),
            (_, Operation::Delete) => Ok(vec![delete::request(self, &event, request.clone())]),
            _ => write::request(self, event, request.clone()).map(|request| vec![request]),
        };
        match converted {
            Ok(requests) => EventRequests::Requests(requests),
            Err(why) => EventRequests::Unknown(why, Box::new(request)),
        }
    }

    /// Whether an update or a patch created the object.
    // Upstream: apiserver/pkg/endpoints/handlers/{update,patch}.go, which answer 201 then
    fn is_created(&self, event: &AuditEvent<'_>) -> bool {
        event
            .response_status
            .as_ref()
            .is_some_and(|status| status.code == 201)
    }

    /// The request without its objects.
    fn request(
        &self,
        event: &AuditEvent<'_>,
        operation: Operation,
        kind: Option<GroupVersionKind>,
    ) -> AdmissionRequest<'static> {
        let about = self.about;
        let kind = kind
            .or_else(|| {
                kind_of(&event.request_object).filter(|_| event.verb != "patch" && event.verb != "delete")
            })
            .or_else(|| {
                kind_of(&event.response_object)
                    .filter(|kind| kind.group == about.api_group && kind.kind != "Status")
            })
            // Of other custom resources no more is known.
            .unwrap_or_else(|| GroupVersionKind::new(&about.api_group, &about.api_version, ""));
        let resource = GroupVersionResource::new(&about.api_group, &about.api_version, &about.resource);
        let is_namespace = about.api_group.is_empty() && about.resource == "namespaces";
        AdmissionRequest {
            uid: event.audit_id.clone(),
            request_kind: Some(kind.clone()),
            request_resource: Some(resource.clone()),
            request_sub_resource: about.subresource.clone(),
            kind,
            resource,
            sub_resource: about.subresource.clone(),
            name: about.name.clone(),
            namespace: if is_namespace {
                about.name.clone()
            } else {
                about.namespace.clone()
            },
            operation,
            user_info: event.effective_user().clone(),
            dry_run: Some(operation != Operation::Connect && self.uri.is_dry_run()),
            options: options::of_write(operation, self.uri),
            lacks_details: event.lacks_details,
            ..AdmissionRequest::default()
        }
    }
}

fn kind_of(object: &Value<'_>) -> Option<GroupVersionKind> {
    let text = |name| {
        object
            .get(name)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let version = pratique_types::GroupVersion::parse(text("apiVersion")?).ok()?;
    Some(version.with_kind(text("kind")?))
}

/// Why a request did not come as far as admission, if it did not.
fn not_reached(event: &AuditEvent<'_>, operation: Operation) -> Option<NotSubject> {
    let status = event.response_status.as_ref()?;
    let decision = event
        .annotations
        .get("authorization.k8s.io/decision")
        .map(String::as_str);
    let has_object = !event.request_object.is_null();
    match status.code {
        401 => Some(NotSubject::Unauthorized),
        403 if decision == Some("forbid") => Some(NotSubject::Unauthorized),
        // A log without decisions of the authorizer has its message.
        403 if decision.is_none() && status.message.contains("\" cannot ") => Some(NotSubject::Unauthorized),
        // A namespace that is not found is an answer of admission to what is created in it.
        404 if operation != Operation::Create => Some(NotSubject::NotFound),
        400..
            if matches!(operation, Operation::Create | Operation::Update)
                && event.level >= EventLevel::Request
                && !has_object
                && !event.is_truncated() =>
        {
            Some(NotSubject::NotDecoded)
        }
        _ => None,
    }
}

/// Why an event has no object.
fn no_object(event: &AuditEvent<'_>) -> UnknownRequest {
    match event.level {
        EventLevel::Metadata => UnknownRequest::Level,
        _ if event.is_truncated() => UnknownRequest::Truncated,
        _ => UnknownRequest::NoObject,
    }
}

/// Whether webhooks changed the object.
// Upstream: apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go, webhookAnnotator
fn webhooks_changed(event: &AuditEvent<'_>) -> bool {
    let mut annotations = event.annotations.iter();
    annotations.any(|(key, value)| {
        key.starts_with("mutation.webhook.admission.k8s.io/") && value.contains("\"mutated\":true")
    })
}

/// Whether built-in plugins change new objects of a resource, before policies see them.
// Upstream: pkg/kubeapiserver/options/plugins.go, DefaultOffAdmissionPlugins, and what each of them mutates
fn plugins_change(request: &AdmissionRequest<'_>) -> bool {
    let resource = &request.resource;
    request.operation == Operation::Create
        && request.sub_resource.is_empty()
        && matches!(
            (resource.group.as_str(), resource.resource.as_str()),
            ("", "pods" | "persistentvolumeclaims" | "persistentvolumes")
                | ("networking.k8s.io", "ingresses")
        )
}

fn approximations(
    event: &AuditEvent<'_>,
    request: &AdmissionRequest<'_>,
    more: &[RequestApproximation],
) -> Vec<RequestApproximation> {
    let mut approximations = more.to_vec();
    if approximations.contains(&RequestApproximation::Stored) {
        return approximations;
    }
    if webhooks_changed(event) {
        approximations.push(RequestApproximation::Webhooks);
    }
    if plugins_change(request) {
        approximations.push(RequestApproximation::Plugins);
    }
    approximations
}

fn decoded<'e>(
    request: AdmissionRequest<'e>,
    approximations: Vec<RequestApproximation>,
) -> ReplayRequest<'e> {
    ReplayRequest {
        request,
        seen: ObjectKnowledge::Decoded,
        approximations,
    }
}

fn admitted<'e>(
    request: AdmissionRequest<'e>,
    approximations: Vec<RequestApproximation>,
) -> ReplayRequest<'e> {
    ReplayRequest {
        request,
        seen: ObjectKnowledge::Admitted,
        approximations,
    }
}

#[cfg(test)]
mod tests;
