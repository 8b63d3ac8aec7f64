//! What can be known of a request whose log leaves out the parameters of its address, its content type and the code of its answer.

use pratique_gotext::time::Timestamp;
use pratique_json::Value;
use pratique_types::Operation;

use crate::event::{AuditEvent, ObjectReference};

/// How long a request takes at most: what was created earlier than that was not created by it.
// Upstream: apiserver/pkg/server/config.go, RequestTimeout
const LONGEST_SECONDS: i64 = 60;

/// Whether it depends on what a log leaves out which request it was: on the parameters of a connection, on the groups of who asks
/// for a certificate, and on whether the object was there, which the code of the answer says elsewhere.
pub(super) fn needs_details(event: &AuditEvent<'_>, about: &ObjectReference, operation: Operation) -> bool {
    if operation == Operation::Create && names_user(about) {
        return true;
    }
    let may_create = match event.verb.as_str() {
        _ if operation == Operation::Connect => return true,
        "patch" => true,
        // What replaces a version replaces an object.
        "update" => {
            let version = event.request_object.at(&["metadata", "resourceVersion"]);
            version.and_then(Value::as_str).is_none_or(str::is_empty)
        }
        _ => false,
    };
    may_create && about.subresource.is_empty() && !was_there(event)
}

/// Whether the server writes into a new object who created it, with all groups.
// Upstream: pkg/registry/certificates/certificates/strategy.go, PrepareForCreate
fn names_user(about: &ObjectReference) -> bool {
    let resource = (about.api_group.as_str(), about.resource.as_str());
    resource == ("certificates.k8s.io", "certificatesigningrequests") && about.subresource.is_empty()
}

/// Whether the answer has an object that was created before the request came.
fn was_there(event: &AuditEvent<'_>) -> bool {
    let created = event.response_object.at(&["metadata", "creationTimestamp"]);
    let created = created.and_then(Value::as_str).map(Timestamp::parse);
    let received = Timestamp::parse(&event.request_received_timestamp);
    match (created, received) {
        (Some(Ok(created)), Ok(received)) => {
            received.seconds().saturating_sub(created.seconds()) > LONGEST_SECONDS
        }
        _ => false,
    }
}
