//! The answers of plugins, with the messages of the server.

use pratique_core::Attributes;
use pratique_json::Value;
use pratique_plugin::Rejection;
pub(crate) use pratique_types::aggregate;
use pratique_types::{
    AdmissionRequest, GroupResource, GroupVersionKind, GroupVersionResource, Status, status,
};

use crate::object::text;

/// `pods "web" is forbidden: …`
// Upstream: apiserver/pkg/admission/errors.go, NewForbidden
pub(crate) fn forbidden(attributes: &Attributes<'_>, error: impl AsRef<str>) -> Rejection {
    forbidden_status(attributes, error.as_ref()).into()
}

/// The status of [`forbidden`].
pub(crate) fn forbidden_status(attributes: &Attributes<'_>, error: &str) -> Status {
    let request = attributes.request;
    status::forbidden(&request.resource, resource_name(attributes), error)
}

/// The rejection of a request for an object that the message calls by another name.
pub(crate) fn forbidden_as(resource: &GroupVersionResource, name: &str, error: &str) -> Rejection {
    status::forbidden(resource, name, error).into()
}

/// `nodes "a" not found`
pub(crate) fn not_found(group: &str, resource: &str, name: &str) -> Rejection {
    status::not_found(GroupResource::new(group, resource), name).into()
}

/// The message of [`not_found`].
pub(crate) fn not_found_text(group: &str, resource: &str, name: &str) -> String {
    status::not_found(GroupResource::new(group, resource), name).message
}

/// A request that does not make sense.
pub(crate) fn bad_request(message: impl Into<String>) -> Rejection {
    status::bad_request(message).into()
}

/// `Internal error occurred: …`
pub(crate) fn internal(error: &str) -> Rejection {
    status::internal_error(error).into()
}

/// `Internal error occurred: Expected Service resource, got: …`
// Upstream: apimachinery/pkg/runtime/schema/group_version.go, GroupVersionKind.String
pub(crate) fn expected_resource(expected: &str, request: &AdmissionRequest<'_>) -> Rejection {
    let GroupVersionKind { group, version, kind } = &request.kind;
    internal(&format!(
        "Expected {expected} resource, got: {group}/{version}, Kind={kind}"
    ))
}

// Upstream: apiserver/pkg/admission/errors.go, extractResourceName
fn resource_name<'a>(attributes: &Attributes<'a>) -> &'a str {
    if !attributes.request.name.is_empty() {
        return &attributes.request.name;
    }
    let object: &'a Value<'a> = attributes.object;
    if object.is_null() {
        return "Unknown";
    }
    if WITHOUT_METADATA.contains(&text(object, &["kind"])) {
        return "Unknown/errorGettingName";
    }
    match (
        text(object, &["metadata", "name"]),
        text(object, &["metadata", "generateName"]),
    ) {
        ("", "") => "Unknown",
        ("", prefix) => prefix,
        (name, _) => name,
    }
}

/// The kinds of the core group that have no metadata.
const WITHOUT_METADATA: [&str; 6] = [
    "NodeProxyOptions",
    "PodAttachOptions",
    "PodExecOptions",
    "PodPortForwardOptions",
    "PodProxyOptions",
    "ServiceProxyOptions",
];
