//! Audit events.

use std::collections::BTreeMap;

use pratique_json::{Object, Value};
use pratique_types::UserInfo;

/// The `apiVersion` of audit events.
pub const API_VERSION: &str = "audit.k8s.io/v1";

/// An `audit.k8s.io/v1` `Event`, as far as it matters to admission. Its objects borrow from its text.
// Upstream: apiserver/pkg/apis/audit/v1/types.go, Event
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEvent<'e> {
    /// How much of the request is in the event.
    pub level: EventLevel,
    /// When it was written.
    pub stage: EventStage,
    /// Identifies the request.
    pub audit_id: String,
    /// The path and the query, as the client sent them.
    pub request_uri: String,
    /// `create`, `patch`, `get`, …; of requests that are not about a resource, the HTTP method.
    pub verb: String,
    /// Who was authenticated.
    pub user: UserInfo,
    /// The user that was impersonated.
    pub impersonated_user: Option<UserInfo>,
    /// The client, as it calls itself.
    pub user_agent: String,
    /// The object of the request.
    pub object_ref: Option<ObjectReference>,
    /// The status of the response.
    pub response_status: Option<ResponseStatus>,
    /// The object, patch or options of the request; null where the event has none.
    pub request_object: Value<'e>,
    /// The object of the answer; null where the event has none.
    pub response_object: Value<'e>,
    /// When the request arrived, as the event writes it.
    pub request_received_timestamp: String,
    /// The annotations of plugins.
    pub annotations: BTreeMap<String, String>,
    /// Whether it comes from a log that leaves out the groups of users and the parameters of addresses, which are not known
    /// then.
    pub lacks_details: bool,
}

/// How much of a request an event has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventLevel {
    /// The user, the resource and the result.
    Metadata,
    /// Also the object of the request.
    Request,
    /// Also the object of the answer.
    RequestResponse,
}

/// When an event was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventStage {
    /// The request arrived.
    RequestReceived,
    /// The answer of a long request began.
    ResponseStarted,
    /// The answer is complete.
    ResponseComplete,
    /// The server panicked.
    Panic,
}

/// The object, or the collection, of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectReference {
    /// The resource: `pods`.
    pub resource: String,
    /// The namespace; empty outside of namespaces.
    pub namespace: String,
    /// The name; empty where the server generates it, and of collections.
    pub name: String,
    /// The group of the resource.
    pub api_group: String,
    /// The version of the resource.
    pub api_version: String,
    /// The version of the object that the request names.
    pub resource_version: String,
    /// The part of the resource, such as `status`.
    pub subresource: String,
}

/// The status of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseStatus {
    /// The HTTP code.
    pub code: i64,
    /// Why, for programs.
    pub reason: String,
    /// Why, for people.
    pub message: String,
}

/// Why something is not an audit event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// It is of another kind.
    #[error("expected an Event of {API_VERSION}, and it is a {kind} of {api_version}")]
    OtherKind {
        /// Its kind.
        kind: String,
        /// Its version.
        api_version: String,
    },
    /// It has no kind.
    #[error("expected an Event of {API_VERSION}, and it has no kind")]
    NoKind,
    /// A field has another type.
    #[error("{field} of the audit event is no {expected}")]
    Field {
        /// The field.
        field: &'static str,
        /// The expected type.
        expected: &'static str,
    },
    /// A field has a value that there is none of.
    #[error("{field} of the audit event is {found:?}, which is not known")]
    Unknown {
        /// The field.
        field: &'static str,
        /// Its value.
        found: String,
    },
}

impl<'e> AuditEvent<'e> {
    /// Reads an event. Fields that are not known are skipped.
    ///
    /// # Errors
    /// It is none, or a field that matters is not as it should be.
    pub fn decode(members: Object<'e>) -> Result<Self, EventError> {
        let mut fields = ObjectFields(members);
        let (kind, api_version) = (fields.take_text("kind")?, fields.take_text("apiVersion")?);
        match (kind.as_str(), api_version.as_str()) {
            ("Event", API_VERSION) => {}
            ("", _) => return Err(EventError::NoKind),
            _ => return Err(EventError::OtherKind { kind, api_version }),
        }
        let level = fields.take_text("level")?;
        let stage = fields.take_text("stage")?;
        Ok(AuditEvent {
            level: match level.as_str() {
                "Metadata" => EventLevel::Metadata,
                "Request" => EventLevel::Request,
                "RequestResponse" => EventLevel::RequestResponse,
                _ => return Err(unknown("level", level)),
            },
            stage: match stage.as_str() {
                "RequestReceived" => EventStage::RequestReceived,
                "ResponseStarted" => EventStage::ResponseStarted,
                "ResponseComplete" => EventStage::ResponseComplete,
                "Panic" => EventStage::Panic,
                _ => return Err(unknown("stage", stage)),
            },
            audit_id: fields.take_text("auditID")?,
            request_uri: fields.take_text("requestURI")?,
            verb: fields.take_text("verb")?,
            user: fields.object("user")?.map(user).transpose()?.unwrap_or_default(),
            impersonated_user: fields.object("impersonatedUser")?.map(user).transpose()?,
            user_agent: fields.take_text("userAgent")?,
            object_ref: fields.object("objectRef")?.map(reference).transpose()?,
            response_status: fields.object("responseStatus")?.map(status).transpose()?,
            request_object: fields.take("requestObject"),
            response_object: fields.take("responseObject"),
            request_received_timestamp: fields.take_text("requestReceivedTimestamp")?,
            annotations: fields
                .object("annotations")?
                .map(annotations)
                .transpose()?
                .unwrap_or_default(),
            lacks_details: false,
        })
    }

    /// Who admission saw: the impersonated user, if there is one.
    // Upstream: apiserver/pkg/endpoints/filters/impersonation, WithImpersonation
    pub fn effective_user(&self) -> &UserInfo {
        self.impersonated_user.as_ref().unwrap_or(&self.user)
    }

    /// Whether the audit backend dropped the objects because the event was too large.
    // Upstream: apiserver/plugin/pkg/audit/truncate/truncate.go, truncate
    pub fn is_truncated(&self) -> bool {
        self.annotations
            .get("audit.k8s.io/truncated")
            .is_some_and(|value| value == "true")
    }
}

fn unknown(field: &'static str, value: String) -> EventError {
    EventError::Unknown { field, found: value }
}

/// The members of an object, which are taken out one by one.
struct ObjectFields<'e>(Object<'e>);

impl<'e> ObjectFields<'e> {
    fn take(&mut self, field: &str) -> Value<'e> {
        self.0.remove(field).unwrap_or_default()
    }

    /// A text; empty where there is none.
    fn take_text(&mut self, field: &'static str) -> Result<String, EventError> {
        match self.take(field) {
            Value::Null => Ok(String::new()),
            Value::String(text) => Ok(text.into_owned()),
            _ => Err(wrong(field, "text")),
        }
    }

    fn object(&mut self, field: &'static str) -> Result<Option<Object<'e>>, EventError> {
        match self.take(field) {
            Value::Null => Ok(None),
            Value::Object(members) => Ok(Some(members)),
            _ => Err(wrong(field, "object")),
        }
    }

    fn texts(&mut self, field: &'static str) -> Result<Vec<String>, EventError> {
        texts(self.take(field), field)
    }
}

fn wrong(field: &'static str, expected: &'static str) -> EventError {
    EventError::Field { field, expected }
}

fn texts(value: Value<'_>, field: &'static str) -> Result<Vec<String>, EventError> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => {
            let text = |item| match item {
                Value::String(text) => Ok(text.into_owned()),
                _ => Err(wrong(field, "list of texts")),
            };
            items.into_iter().map(text).collect()
        }
        _ => Err(wrong(field, "list of texts")),
    }
}

fn user(members: Object<'_>) -> Result<UserInfo, EventError> {
    let mut fields = ObjectFields(members);
    let extra = fields.object("extra")?.unwrap_or_default();
    let extra = extra
        .into_iter()
        .map(|(key, values)| Ok((key.into_owned(), texts(values, "extra")?)));
    Ok(UserInfo {
        username: fields.take_text("username")?,
        uid: fields.take_text("uid")?,
        groups: fields.texts("groups")?,
        extra: extra.collect::<Result<_, EventError>>()?,
    })
}

fn reference(members: Object<'_>) -> Result<ObjectReference, EventError> {
    let mut fields = ObjectFields(members);
    Ok(ObjectReference {
        resource: fields.take_text("resource")?,
        namespace: fields.take_text("namespace")?,
        name: fields.take_text("name")?,
        api_group: fields.take_text("apiGroup")?,
        api_version: fields.take_text("apiVersion")?,
        resource_version: fields.take_text("resourceVersion")?,
        subresource: fields.take_text("subresource")?,
    })
}

fn status(members: Object<'_>) -> Result<ResponseStatus, EventError> {
    let mut fields = ObjectFields(members);
    Ok(ResponseStatus {
        code: match fields.take("code") {
            Value::Null => 0,
            Value::Int(code) => code,
            _ => return Err(wrong("responseStatus.code", "integer")),
        },
        reason: fields.take_text("reason")?,
        message: fields.take_text("message")?,
    })
}

fn annotations(members: Object<'_>) -> Result<BTreeMap<String, String>, EventError> {
    let members = members.into_iter().map(|(key, value)| match value {
        Value::String(text) => Ok((key.into_owned(), text.into_owned())),
        _ => Err(wrong("annotations", "map of texts")),
    });
    members.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(text: &str) -> Result<String, String> {
        let Ok(Value::Object(members)) = pratique_json::parse(text.as_bytes()) else {
            return Err("no object".to_owned());
        };
        let event = AuditEvent::decode(members).map_err(|error| error.to_string())?;
        Ok(format!(
            "{:?} {:?} {}",
            event.level,
            event.stage,
            event.effective_user().username
        ))
    }

    #[test]
    fn what_matters_is_strict_and_the_rest_is_not() {
        let event = |more: &str| {
            decode(&format!(
                r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","stage":"ResponseComplete"{more}}}"#
            ))
        };
        assert_eq!(event(r#","new":[1]"#).as_deref(), Ok("Request ResponseComplete "));
        let impersonates = r#","user":{"username":"a"},"impersonatedUser":{"username":"b","groups":null}"#;
        assert_eq!(event(impersonates).as_deref(), Ok("Request ResponseComplete b"));
        for (more, error) in [
            (r#","verb":1"#, "verb of the audit event is no text"),
            (r#","user":[]"#, "user of the audit event is no object"),
            (
                r#","user":{"groups":"a"}"#,
                "groups of the audit event is no list of texts",
            ),
            (
                r#","responseStatus":{"code":"200"}"#,
                "responseStatus.code of the audit event is no integer",
            ),
            (
                r#","annotations":{"a":1}"#,
                "annotations of the audit event is no map of texts",
            ),
        ] {
            assert_eq!(event(more), Err(error.to_owned()));
        }
    }

    #[test]
    fn other_kinds_are_none() {
        for (text, error) in [
            ("{}", "expected an Event of audit.k8s.io/v1, and it has no kind"),
            (
                r#"{"kind":"Event","apiVersion":"v1"}"#,
                "expected an Event of audit.k8s.io/v1, and it is a Event of v1",
            ),
            (
                r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"All"}"#,
                "level of the audit event is \"All\", which is not known",
            ),
        ] {
            assert_eq!(decode(text), Err(error.to_owned()));
        }
    }
}
