//! What every cluster has: objects that an API server and its controllers create by themselves, which nobody writes down as the
//! state of a cluster.

use pratique::Objects;
use pratique::cluster::Cluster as _;
use pratique_json::{Object, Value, text_at};
use pratique_types::{GroupVersionKind, ObjectPlace};

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

/// Adds what every cluster has to objects that are all of a cluster otherwise, and what each namespace has to each of theirs. Those
/// that are there already count.
pub fn add_missing(objects: &mut Objects) {
    for object in self::objects() {
        insert_missing(objects, object);
    }
    let kind = GroupVersionKind::new("", "v1", "Namespace");
    let names: Vec<String> = objects
        .params(&kind, "")
        .into_iter()
        .map(|namespace| text_at(namespace, &["metadata", "name"]).to_owned())
        .collect();
    for name in &names {
        for object in namespace_objects(name) {
            insert_missing(objects, object);
        }
    }
}

/// The objects that are in no namespace.
pub fn objects() -> impl Iterator<Item = Value<'static>> {
    namespaces().chain(cluster_objects())
}

/// Adds an object unless there is one of its kind and name.
fn insert_missing(objects: &mut Objects, object: Value<'static>) {
    let place = ObjectPlace::of_object(&object);
    let is_missing = |place: ObjectPlace| {
        objects
            .param(&place.kind, &place.namespace, &place.name)
            .is_none()
    };
    if place.is_ok_and(is_missing) {
        // It has a kind and a name.
        drop(objects.insert(object));
    }
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
fn namespace_objects(namespace: &str) -> [Value<'static>; 2] {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(given: &[&str]) -> Objects {
        let mut objects = Objects::new();
        for json in given {
            let object = pratique_json::parse(json.as_bytes()).unwrap().into_owned();
            objects.insert(object).unwrap();
        }
        add_missing(&mut objects);
        objects
    }

    fn names(objects: &Objects, kind: (&str, &str, &str), namespace: &str) -> Vec<String> {
        let kind = GroupVersionKind::new(kind.0, kind.1, kind.2);
        let all = objects.params(&kind, namespace).into_iter();
        all.map(|object| text_at(object, &["metadata", "name"]).to_owned())
            .collect()
    }

    #[test]
    fn clusters_without_any_object_have_them() {
        let objects = objects(&[]);
        assert_eq!(
            names(&objects, ("", "v1", "Namespace"), ""),
            ["default", "kube-node-lease", "kube-public", "kube-system"]
        );
        assert_eq!(
            names(&objects, ("scheduling.k8s.io", "v1", "PriorityClass"), ""),
            ["system-cluster-critical", "system-node-critical"]
        );
        for namespace in NAMESPACES {
            assert_eq!(
                names(&objects, ("", "v1", "ServiceAccount"), namespace),
                ["default"]
            );
            assert_eq!(
                names(&objects, ("", "v1", "ConfigMap"), namespace),
                ["kube-root-ca.crt"]
            );
        }
        assert_eq!(names(&objects, ("", "v1", "ConfigMap"), "shop"), [""; 0]);
    }

    #[test]
    fn what_is_there_counts() {
        let objects = objects(&[
            r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}"#,
            r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default","labels":{"stage":"prod"}}}"#,
            r#"{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default","namespace":"shop"},"secrets":[]}"#,
        ]);
        let kind = |kind| GroupVersionKind::new("", "v1", kind);
        let namespace = objects.param(&kind("Namespace"), "", "default").unwrap();
        assert_eq!(text_at(namespace, &["metadata", "labels", "stage"]), "prod");
        let account = objects.param(&kind("ServiceAccount"), "shop", "default").unwrap();
        assert!(account.get("secrets").is_some());
        assert_eq!(
            names(&objects, ("", "v1", "ConfigMap"), "shop"),
            ["kube-root-ca.crt"]
        );
    }
}
