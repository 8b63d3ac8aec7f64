//! Audit events.

use std::collections::BTreeMap;
use std::io;
use std::time::SystemTime;

use jiff::Timestamp;
use pratique_json::Value;
use pratique_types::{AdmissionRequest, AdmissionResponse, Operation, StatusDetails, UserInfo};
use serde::Serialize;

use crate::secrets::{self, RedactedObject, SecretPaths};

/// The level of detail of an event, as in audit policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Level {
    /// No event.
    None,
    /// The user, the resource and the result.
    #[default]
    Metadata,
    /// Also the object of the request; without the data of Secrets, and tokens, unless requested.
    Request,
    /// Also the object after admission.
    RequestResponse,
}

/// An `audit.k8s.io/v1` `Event` of the stage `ResponseComplete`.
///
/// Its `auditID` is the uid of the admission request, and its `requestURI` the path of the request's resource without a
/// query: an admission request does not have the original ones.
// Upstream: pkg/apis/audit/v1/types.go, Event
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event<'a> {
    kind: &'static str,
    api_version: &'static str,
    level: Level,
    #[serde(rename = "auditID")]
    audit_id: &'a str,
    stage: &'static str,
    #[serde(rename = "requestURI")]
    request_uri: String,
    verb: &'static str,
    user: &'a UserInfo,
    object_ref: ObjectReference<'a>,
    response_status: ResponseStatus<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_object: Option<RedactedObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_object: Option<RedactedObject<'a>>,
    request_received_timestamp: String,
    stage_timestamp: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: &'a BTreeMap<String, String>,
    /// The members that are left out of the objects.
    #[serde(skip)]
    secrets: SecretPaths,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ObjectReference<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    resource: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    uid: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    api_group: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    api_version: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    resource_version: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    subresource: &'a str,
}

/// A `Status` as in audit logs: with metadata that is always empty.
#[derive(Clone, Debug, Serialize)]
struct ResponseStatus<'a> {
    metadata: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    status: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a StatusDetails>,
    code: i32,
}

impl<'a> Event<'a> {
    /// The event of a request and its response, with the times of both.
    #[must_use]
    pub fn new(
        level: Level,
        request: &'a AdmissionRequest<'a>,
        response: &'a AdmissionResponse,
        (received, answered): (SystemTime, SystemTime),
    ) -> Self {
        let secrets = secrets::find_secret_paths(request);
        let has_object = level >= Level::Request && request.object != Value::Null;
        Event {
            kind: "Event",
            api_version: "audit.k8s.io/v1",
            level,
            audit_id: &request.uid,
            stage: "ResponseComplete",
            request_uri: path(request),
            verb: verb(request.operation),
            user: &request.user_info,
            object_ref: object_reference(request),
            response_status: response_status(response),
            request_object: has_object.then_some(RedactedObject {
                object: &request.object,
                paths: secrets,
            }),
            response_object: None,
            request_received_timestamp: timestamp(received),
            stage_timestamp: timestamp(answered),
            annotations: &response.audit_annotations,
            secrets,
        }
    }

    /// Adds the object after admission, if the level is [`Level::RequestResponse`].
    #[must_use]
    pub fn with_response_object(mut self, object: &'a Value<'a>) -> Self {
        let paths = self.secrets;
        self.response_object =
            (self.level >= Level::RequestResponse).then_some(RedactedObject { object, paths });
        self
    }

    /// Includes the data of Secrets, and tokens.
    #[must_use]
    pub fn with_secrets(mut self) -> Self {
        self.secrets = &[];
        let objects = [&mut self.request_object, &mut self.response_object];
        for object in objects.into_iter().flatten() {
            object.paths = &[];
        }
        self
    }

    /// The level of detail.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Writes the event as one line, without a line feed.
    ///
    /// # Errors
    /// If the writer fails; and those of [`to_line`](Self::to_line).
    pub fn write_to(&self, writer: impl io::Write) -> Result<(), serde_json::Error> {
        serde_json::to_writer(writer, self)
    }

    /// The event as one line, without a line feed.
    ///
    /// # Errors
    /// Only for values that JSON cannot represent, which a request that was parsed from JSON does not have.
    pub fn to_line(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }
}

fn verb(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "create",
        Operation::Update => "update",
        Operation::Delete => "delete",
        Operation::Connect => "connect",
        Operation::None => "",
    }
}

fn object_reference<'a>(request: &'a AdmissionRequest<'a>) -> ObjectReference<'a> {
    let resource = request.request_resource.as_ref().unwrap_or(&request.resource);
    let stored = if request.old_object == Value::Null {
        &request.object
    } else {
        &request.old_object
    };
    let metadata = |name: &str| stored.get("metadata")?.get(name)?.as_str();
    ObjectReference {
        resource: &resource.resource,
        namespace: &request.namespace,
        name: &request.name,
        uid: metadata("uid").unwrap_or_default(),
        api_group: &resource.group,
        api_version: &resource.version,
        resource_version: metadata("resourceVersion").unwrap_or_default(),
        subresource: subresource(request),
    }
}

fn subresource<'a>(request: &'a AdmissionRequest<'_>) -> &'a str {
    if request.request_resource.is_some() {
        &request.request_sub_resource
    } else {
        &request.sub_resource
    }
}

fn response_status(response: &AdmissionResponse) -> ResponseStatus<'_> {
    let code = if response.allowed { 200 } else { 403 };
    let metadata = BTreeMap::new();
    let Some(result) = &response.result else {
        return ResponseStatus {
            metadata,
            status: "",
            message: "",
            reason: "",
            details: None,
            code,
        };
    };
    ResponseStatus {
        metadata,
        status: if response.allowed {
            &result.status
        } else {
            "Failure"
        },
        message: &result.message,
        reason: &result.reason,
        details: result.details.as_ref(),
        code: if result.code == 0 { code } else { result.code },
    }
}

/// The path of the resource in the API.
fn path(request: &AdmissionRequest<'_>) -> String {
    let resource = request.request_resource.as_ref().unwrap_or(&request.resource);
    let mut path = match &*resource.group {
        "" => format!("/api/{}", resource.version),
        group => format!("/apis/{group}/{}", resource.version),
    };
    let is_namespace = resource.group.is_empty() && resource.resource == "namespaces";
    let namespace = if is_namespace || request.namespace.is_empty() {
        ["", ""]
    } else {
        ["namespaces", &request.namespace]
    };
    let subresource = subresource(request);
    // Objects are created at the path of their list; subresources at the path of their object.
    let has_name = request.operation != Operation::Create || !subresource.is_empty();
    let name = if has_name { &*request.name } else { "" };
    let parts = namespace
        .into_iter()
        .chain([&*resource.resource, name, subresource]);
    for part in parts.filter(|part| !part.is_empty()) {
        path.push('/');
        path.push_str(part);
    }
    path
}

/// A time in microseconds, as in audit logs.
fn timestamp(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.6}")
}
