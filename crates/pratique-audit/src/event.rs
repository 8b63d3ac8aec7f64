//! What is told of a request.

use std::collections::BTreeMap;
use std::io;
use std::time::SystemTime;

use jiff::Timestamp;
use pratique_json::Value;
use pratique_types::{AdmissionRequest, AdmissionResponse, Operation, StatusDetails, UserInfo};
use serde::Serialize;

use crate::secrets::{self, Paths, Without};

/// How much is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Level {
    /// Nothing.
    None,
    /// Who, what and how it went.
    #[default]
    Metadata,
    /// The object of the request, too; without the data of Secrets, and tokens, unless they are asked for.
    Request,
    /// And the object as it goes on.
    RequestResponse,
}

/// An `audit.k8s.io/v1` `Event`, of the stage `ResponseComplete`.
///
/// Its `auditID` is the uid of the admission request, and its `requestURI` the path that the request's resource has,
/// without a query: admission does not see more of either.
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
    request_object: Option<Without<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_object: Option<Without<'a>>,
    request_received_timestamp: String,
    stage_timestamp: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: &'a BTreeMap<String, String>,
    /// What its objects are told without.
    #[serde(skip)]
    secrets: Paths,
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

/// A `Status` as audit logs have it: with metadata that are always empty.
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
    /// What is told of a request and the answer to it, with the times when the request came and the answer was there.
    #[must_use]
    pub fn new(
        level: Level,
        request: &'a AdmissionRequest<'a>,
        response: &'a AdmissionResponse,
        (received, answered): (SystemTime, SystemTime),
    ) -> Self {
        let secrets = secrets::of(request);
        let object = Some(&request.object);
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
            request_object: object
                .filter(|own| level >= Level::Request && **own != Value::Null)
                .map(|object| Without {
                    object,
                    paths: secrets,
                }),
            response_object: None,
            request_received_timestamp: timestamp(received),
            stage_timestamp: timestamp(answered),
            annotations: &response.audit_annotations,
            secrets,
        }
    }

    /// With the object as it goes on, if the level is [`Level::RequestResponse`].
    #[must_use]
    pub fn with_response_object(mut self, object: &'a Value<'a>) -> Self {
        let paths = self.secrets;
        self.response_object =
            Some(Without { object, paths }).filter(|_| self.level >= Level::RequestResponse);
        self
    }

    /// With what its objects hold of secrets: the data of Secrets, and tokens.
    #[must_use]
    pub fn with_secrets(mut self) -> Self {
        self.secrets = &[];
        let objects = [&mut self.request_object, &mut self.response_object];
        for object in objects.into_iter().flatten() {
            object.paths = &[];
        }
        self
    }

    /// How much is told.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Writes the event in one line, without a line feed.
    ///
    /// # Errors
    /// The writer's; and those of [`to_line`](Self::to_line).
    pub fn write_to(&self, writer: impl io::Write) -> Result<(), serde_json::Error> {
        serde_json::to_writer(writer, self)
    }

    /// The event in one line, without a line feed.
    ///
    /// # Errors
    /// Only for values that JSON does not have, which requests that were read from JSON do not have either.
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
    let metadata = |name: &str| {
        stored
            .get("metadata")
            .and_then(|own| own.get(name))
            .and_then(Value::as_str)
    };
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
    let Some(own) = &response.result else {
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
        status: if response.allowed { &own.status } else { "Failure" },
        message: &own.message,
        reason: &own.reason,
        details: own.details.as_ref(),
        code: if own.code == 0 { code } else { own.code },
    }
}

/// The path of the resource, as a client would ask for it.
fn path(request: &AdmissionRequest<'_>) -> String {
    let resource = request.request_resource.as_ref().unwrap_or(&request.resource);
    let mut path = match &*resource.group {
        "" => format!("/api/{}", resource.version),
        group => format!("/apis/{group}/{}", resource.version),
    };
    let whole =
        (resource.group.is_empty() && resource.resource == "namespaces") || request.namespace.is_empty();
    let namespace = if whole {
        None
    } else {
        Some(["namespaces", &request.namespace])
    };
    let subresource = subresource(request);
    // Objects are created where they will be listed, and subresources under their name.
    let named = request.operation != Operation::Create || !subresource.is_empty();
    let name = Some(&*request.name).filter(|_| named);
    let rest = [Some(&*resource.resource), name, Some(subresource)];
    for part in namespace
        .into_iter()
        .flatten()
        .chain(rest.into_iter().flatten())
        .filter(|part| !part.is_empty())
    {
        path.push('/');
        path.push_str(part);
    }
    path
}

/// To the microsecond, as audit logs have it.
fn timestamp(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.6}")
}
