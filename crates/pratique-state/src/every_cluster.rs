//! What every cluster has: objects that an API server and its controllers create by themselves, which nobody writes down as the
//! state of a cluster.

use pratique_json::{Object, Value};

use crate::cluster::{namespace, with_name_label};

/// The namespaces that an API server creates when it starts.
// Upstream: pkg/controlplane/controller/systemnamespaces, pkg/controlplane/controller/kubernetesservice
const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// The priority classes that it creates, with their values and descriptions.
// Upstream: pkg/apis/scheduling/helpers.go, SystemPriorityClasses
const PRIORITY_CLASSES: [(&str, i64, &str); 2] = [
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
];

/// The service account of Pods that name none; controllers create it in each namespace.
// Upstream: pkg/controller/serviceaccount/serviceaccounts_controller.go
pub const DEFAULT_SERVICE_ACCOUNT: &str = "default";

/// The ConfigMap that controllers create in each namespace.
// Upstream: pkg/controller/certificates/rootcacertpublisher/publisher.go
const ROOT_CERTIFICATES: &str = "kube-root-ca.crt";

/// The certificate in it. Each cluster has its own; what matters to a policy is that there is one.
const ROOT_CERTIFICATE: &str = include_str!("../data/root-ca.crt");

/// The namespaces, with the label that each has.
pub fn namespaces() -> impl Iterator<Item = Value<'static>> {
    let names = NAMESPACES.into_iter();
    names.map(|name| with_name_label(namespace(name, Value::Null)))
}

/// Their names.
pub fn namespace_names() -> impl Iterator<Item = &'static str> {
    NAMESPACES.into_iter()
}

/// The other objects that are in no namespace.
pub fn cluster_objects() -> impl Iterator<Item = Value<'static>> {
    let classes = PRIORITY_CLASSES.into_iter();
    classes.map(|(name, value, description)| {
        let mut class = object("scheduling.k8s.io/v1", "PriorityClass", None, name);
        class.insert("value", value);
        class.insert("description", description);
        class.insert("preemptionPolicy", "PreemptLowerPriority");
        Value::Object(class)
    })
}

/// The service account of Pods that name none.
pub fn default_service_account(namespace: &str) -> Value<'static> {
    let account = object("v1", "ServiceAccount", Some(namespace), DEFAULT_SERVICE_ACCOUNT);
    Value::Object(account)
}

/// The objects of each namespace.
pub fn namespace_objects(namespace: &str) -> [Value<'static>; 2] {
    let mut certificates = object("v1", "ConfigMap", Some(namespace), ROOT_CERTIFICATES);
    let mut data = Object::new();
    data.insert("ca.crt", ROOT_CERTIFICATE);
    certificates.insert("data", data);
    [default_service_account(namespace), Value::Object(certificates)]
}

fn object(
    api_version: &'static str,
    kind: &'static str,
    namespace: Option<&str>,
    name: &str,
) -> Object<'static> {
    let mut metadata = Object::new();
    metadata.insert("name", name.to_owned());
    if let Some(namespace) = namespace {
        metadata.insert("namespace", namespace.to_owned());
    }
    let mut object = Object::new();
    object.insert("apiVersion", api_version);
    object.insert("kind", kind);
    object.insert("metadata", metadata);
    object
}
