//! Entries of Google Cloud Logging: the fields of an audit event under other names.
//!
//! What an entry does not have is not known: the groups of the user, the address with its parameters, and the type of a patch.

use pratique_json::{Object, Value};
use pratique_types::UserInfo;

use crate::entries::{EntryError, LogEntry};
use crate::event::{AuditEvent, EventLevel, EventStage, ObjectReference, ResponseStatus};

/// The service that a cluster's entries name.
const SERVICE: &str = "k8s.io";

/// The type of a payload of audit logs.
const AUDIT_LOG: &str = "type.googleapis.com/google.cloud.audit.AuditLog";

/// The name of the type in objects, which no object of a cluster has.
const TYPE: &str = "@type";

/// The event of an entry.
pub(super) fn event(mut members: Object<'_>) -> Result<LogEntry<'_>, EntryError> {
    let Some(Value::Object(mut payload)) = members.remove("protoPayload") else {
        return Err(EntryError::OtherLog);
    };
    let is_audit_log = matches!(member_text(&payload, TYPE).as_str(), "" | AUDIT_LOG);
    if !is_audit_log || member_text(&payload, "serviceName") != SERVICE {
        return Err(EntryError::OtherLog);
    }
    let method = member_text(&payload, "methodName");
    let verb = method.rsplit('.').next().unwrap_or_default().to_owned();
    let object_ref = reference(&member_text(&payload, "resourceName"));
    let request_object = object(payload.remove("request"));
    let response = object(payload.remove("response"));
    let response_status = status(&payload, &response);
    let is_status = response.get("kind").and_then(Value::as_str) == Some("Status");
    let response_object = if is_status { Value::Null } else { response };
    let operation = members.remove("operation").unwrap_or_default();
    let is_last = operation.is_null() || operation.get("last") == Some(&Value::Bool(true));
    let id = operation.get("id").and_then(Value::as_str);
    let audit_id = id.map_or_else(|| member_text(&members, "insertId"), str::to_owned);
    let labels = match members.remove("labels") {
        Some(Value::Object(labels)) => labels,
        _ => Object::new(),
    };
    let annotations = labels.into_iter().filter_map(|(key, value)| match value {
        Value::String(text) => Some((key.into_owned(), text.into_owned())),
        _ => None,
    });
    let in_payload = |part: &str, name: &str| {
        let text = payload.get(part)?.get(name)?.as_str();
        text.map(str::to_owned)
    };
    let user_agent = in_payload("requestMetadata", "callerSuppliedUserAgent");
    let username = in_payload("authenticationInfo", "principalEmail");
    Ok(LogEntry::Event(Box::new(AuditEvent {
        level: match (request_object.is_null(), response_object.is_null()) {
            (true, true) => EventLevel::Metadata,
            (false, true) => EventLevel::Request,
            (_, false) => EventLevel::RequestResponse,
        },
        stage: if is_last {
            EventStage::ResponseComplete
        } else {
            EventStage::RequestReceived
        },
        audit_id,
        request_uri: object_ref.as_ref().map(address).unwrap_or_default(),
        verb,
        user: UserInfo {
            username: username.unwrap_or_default(),
            ..UserInfo::default()
        },
        impersonated_user: None,
        user_agent: user_agent.unwrap_or_default(),
        object_ref,
        response_status: Some(response_status),
        request_object,
        response_object,
        request_received_timestamp: member_text(&members, "timestamp"),
        annotations: annotations.collect(),
        lacks_details: true,
    })))
}

fn member_text(members: &Object<'_>, name: &str) -> String {
    let text = members.get(name).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

/// An object without the type that the service adds; null if there is none.
fn object(value: Option<Value<'_>>) -> Value<'_> {
    match value {
        Some(Value::Object(mut members)) => {
            members.remove(TYPE);
            Value::Object(members)
        }
        _ => Value::Null,
    }
}

/// The object of a request: `apps/v1/namespaces/shop/deployments/web/scale`, where `core` is the group without a name.
fn reference(name: &str) -> Option<ObjectReference> {
    let parts: Vec<&str> = name.split('/').collect();
    let [group, version, rest @ ..] = parts.as_slice() else {
        return None;
    };
    // A namespace is an object itself, with parts of its own.
    let (namespace, rest) = match rest {
        ["namespaces", _] | ["namespaces", _, "finalize" | "status"] => ("", rest),
        ["namespaces", namespace, of @ ..] => (*namespace, of),
        rest => ("", rest),
    };
    let [resource, rest @ ..] = rest else { return None };
    let (name, subresource) = match rest {
        [] => ("", String::new()),
        [name, subresource @ ..] => (*name, subresource.join("/")),
    };
    Some(ObjectReference {
        resource: (*resource).to_owned(),
        // As an API server has it, which names the namespace of a namespace.
        namespace: if *resource == "namespaces" {
            name
        } else {
            namespace
        }
        .to_owned(),
        name: name.to_owned(),
        api_group: if *group == "core" { "" } else { group }.to_owned(),
        api_version: (*version).to_owned(),
        resource_version: String::new(),
        subresource,
    })
}

/// The path of an object, without the parameters of the request.
fn address(about: &ObjectReference) -> String {
    let root = match about.api_group.as_str() {
        "" => format!("/api/{}", about.api_version),
        group => format!("/apis/{group}/{}", about.api_version),
    };
    let namespace = match about.namespace.as_str() {
        namespace if !namespace.is_empty() && about.resource != "namespaces" => {
            format!("/namespaces/{namespace}")
        }
        _ => String::new(),
    };
    let parts = [&about.name, &about.subresource];
    let parts = parts.iter().filter(|part| !part.is_empty());
    let parts: String = parts.map(|part| format!("/{part}")).collect();
    format!("{root}{namespace}/{}{parts}", about.resource)
}

/// The status of the answer: that of a `Status`, or else by the code of the service.
fn status(payload: &Object<'_>, response: &Value<'_>) -> ResponseStatus {
    let status = payload.get("status");
    let text = |value: Option<&Value<'_>>, name: &str| {
        let text = value.and_then(|value| value.get(name)).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let message = text(status, "message");
    let code = |value: Option<&Value<'_>>| match value.and_then(|value| value.get("code")) {
        Some(Value::Int(code)) => Some(*code),
        _ => None,
    };
    if let Some(code) = code(Some(response)) {
        let told = text(Some(response), "message");
        return ResponseStatus {
            code,
            reason: text(Some(response), "reason"),
            message: if told.is_empty() { message } else { told },
        };
    }
    ResponseStatus {
        code: http_code(code(status).unwrap_or_default()),
        reason: String::new(),
        message,
    }
}

/// The HTTP code for a code of the service.
// Upstream: google/rpc/code.proto, which maps them to HTTP
fn http_code(code: i64) -> i64 {
    match code {
        0 => 200,
        3 | 9 | 11 => 400,
        4 => 504,
        5 => 404,
        6 | 10 => 409,
        7 => 403,
        8 => 429,
        12 => 501,
        14 => 503,
        16 => 401,
        _ => 500,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_resources_are_read() {
        for (name, path, namespace) in [
            (
                "core/v1/namespaces/shop/pods/web",
                "/api/v1/namespaces/shop/pods/web",
                "shop",
            ),
            (
                "apps/v1/namespaces/shop/deployments/web/scale",
                "/apis/apps/v1/namespaces/shop/deployments/web/scale",
                "shop",
            ),
            ("core/v1/namespaces/shop", "/api/v1/namespaces/shop", "shop"),
            (
                "core/v1/namespaces/shop/finalize",
                "/api/v1/namespaces/shop/finalize",
                "shop",
            ),
            (
                "rbac.authorization.k8s.io/v1/clusterroles/a",
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/a",
                "",
            ),
            (
                "core/v1/namespaces/shop/pods",
                "/api/v1/namespaces/shop/pods",
                "shop",
            ),
        ] {
            let about = reference(name).unwrap();
            assert_eq!(
                (address(&about).as_str(), about.namespace.as_str()),
                (path, namespace)
            );
        }
        assert_eq!(reference("projects/a"), None);
        assert_eq!(reference(""), None);
    }
}
