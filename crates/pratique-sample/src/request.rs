//! A request about an object.

use pratique_json::Value;
use pratique_types::builtin::ServedResource;
use pratique_types::{AdmissionRequest, Operation, UserInfo};

use crate::generate::{NAMESPACE, OBJECT_NAME};

/// The user of samples of whose user nothing is required.
pub const SAMPLE_USER: &str = "a";

/// The request for an operation on an object, which has the name and the namespace of the object.
pub(crate) fn build_request<'v>(
    served: &ServedResource,
    operation: Operation,
    object: Value<'v>,
    old_object: Value<'v>,
) -> AdmissionRequest<'v> {
    let present = if object.is_null() { &old_object } else { &object };
    let metadata = |field, default: &str| {
        let text = present.at(&["metadata", field]).and_then(Value::as_str);
        text.unwrap_or(default).to_owned()
    };
    let (name, namespace) = (metadata("name", OBJECT_NAME), metadata("namespace", NAMESPACE));
    let is_namespace = served.kind.is_core("Namespace");
    AdmissionRequest {
        uid: "a".to_owned(),
        kind: served.kind.clone(),
        resource: served.resource.clone(),
        sub_resource: served.subresource.clone(),
        namespace: match (served.namespaced, is_namespace) {
            (true, _) => namespace,
            // Upstream: pkg/endpoints/handlers/create.go: the namespace of a Namespace is itself.
            (false, true) => name.clone(),
            (false, false) => String::new(),
        },
        name,
        operation,
        user_info: UserInfo {
            username: SAMPLE_USER.to_owned(),
            groups: vec!["system:authenticated".to_owned()],
            ..UserInfo::default()
        },
        object,
        old_object,
        ..AdmissionRequest::default()
    }
}
