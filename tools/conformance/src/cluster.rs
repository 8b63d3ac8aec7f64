//! The cluster that a case describes.

use pratique::Objects;
use pratique::types::builtin::ServedResource;
use pratique::types::{GroupVersionKind, GroupVersionResource};
use serde_json::Value;

use super::fixture::json_value;
use super::release_of;

/// Resources, subresources and kinds of [`served_besides`].
const RETIRED: [(&str, &str, &str, &str, &str); 6] = [
    ("apps", "v1beta2", "deployments", "", "Deployment"),
    ("apps", "v1beta1", "deployments", "", "Deployment"),
    ("extensions", "v1beta1", "deployments", "", "Deployment"),
    ("extensions", "v1beta1", "deployments", "status", "Deployment"),
    ("extensions", "v1beta1", "daemonsets", "", "DaemonSet"),
    ("extensions", "v1beta1", "replicasets", "", "ReplicaSet"),
];

/// Resources that the recording server served and current servers do not, in the order of registration.
pub fn served_besides() -> Vec<ServedResource> {
    let served = RETIRED.map(|(group, version, resource, subresource, kind)| ServedResource {
        resource: GroupVersionResource::new(group, version, resource),
        subresource: subresource.to_owned(),
        kind: GroupVersionKind::new(group, version, kind),
        namespaced: true,
        short_names: Vec::new(),
    });
    served.into()
}

/// The `objects` of a case.
pub(super) fn cluster_of_case(case: &Value) -> Objects {
    let mut objects = Objects::of_release(release_of(case));
    for served in served_besides() {
        objects.serve(served.resource, &served.subresource, served.kind);
    }
    for object in case
        .get("objects")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        // An object without a name is ignored; no case relies on one.
        let _ = objects.insert(json_value(object));
    }
    objects
}
