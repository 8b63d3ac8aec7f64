//! The request by which a controller creates the Pod of a workload.

use pratique_expansion::ExpandedPod;
use pratique_json::Value;
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation};

use crate::{options, user};

/// The request for the Pod that the controller of a workload creates, whose own request is `of`: in its namespace, by the
/// controller.
pub fn pod_request<'v>(made: ExpandedPod<'v>, of: &AdmissionRequest<'_>) -> AdmissionRequest<'v> {
    let kind = GroupVersionKind::new("", "v1", "Pod");
    let resource = GroupVersionResource::new("", "v1", "pods");
    let mut pod = made.pod;
    if let (Value::Object(fields), false) = (&mut pod, of.namespace.is_empty())
        && let Some(Value::Object(metadata)) = fields.get_mut("metadata")
    {
        metadata.insert("namespace", of.namespace.clone());
    }
    let name = pod.at(&["metadata", "name"]).and_then(Value::as_str);
    AdmissionRequest {
        // The uid of the workload's request, with another part.
        uid: of.uid.replacen("0000-0000", "0000-0001", 1),
        request_kind: Some(kind.clone()),
        request_resource: Some(resource.clone()),
        kind,
        resource,
        name: name.unwrap_or_default().to_owned(),
        namespace: of.namespace.clone(),
        operation: Operation::Create,
        user_info: user(made.user, &[]),
        dry_run: of.dry_run,
        options: options(Operation::Create, of.dry_run == Some(true)),
        object: pod,
        ..AdmissionRequest::default()
    }
}
