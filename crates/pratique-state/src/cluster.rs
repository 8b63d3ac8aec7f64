//! The cluster of a request: its objects, and namespaces that are assumed to exist.

use pratique::Objects;
use pratique_json::{Object, Value};

use pratique_json::text_at;

/// The label that an API server sets on every namespace.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// A cluster with some objects. If `namespaces`, those of requests, is not empty, all other namespaces are assumed to
/// exist, and only their names are known.
pub fn cluster<'v>(
    objects: impl IntoIterator<Item = &'v Value<'static>>,
    namespaces: impl IntoIterator<Item = &'v str>,
) -> Objects {
    let mut cluster = Objects::new();
    for object in objects {
        // What has no name is no object of a cluster.
        drop(cluster.insert(with_name_label(object.clone())));
    }
    if namespaces.into_iter().next().is_some() {
        cluster.assume_namespaces();
    }
    cluster
}

/// Adds the label with its name to an object that is a namespace, as an API server does.
pub fn with_name_label(object: Value<'static>) -> Value<'static> {
    if !is_namespace(&object) {
        return object;
    }
    let name = text_at(&object, &["metadata", "name"]).to_owned();
    labelled(object, &name)
}

/// Whether an object is a namespace.
pub fn is_namespace(object: &Value<'_>) -> bool {
    text_at(object, &["apiVersion"]) == "v1" && text_at(object, &["kind"]) == "Namespace"
}

/// A namespace with a name and labels; null stands for none.
pub fn namespace(name: &str, labels: Value<'static>) -> Value<'static> {
    let mut metadata = Object::new();
    metadata.insert("name", name.to_owned());
    if !labels.is_null() {
        metadata.insert("labels", labels);
    }
    let mut namespace = Object::new();
    namespace.insert("apiVersion", "v1");
    namespace.insert("kind", "Namespace");
    namespace.insert("metadata", metadata);
    Value::Object(namespace)
}

/// Adds the label with its name to a namespace.
fn labelled(namespace: Value<'static>, name: &str) -> Value<'static> {
    let mut namespace = namespace;
    let Value::Object(object) = &mut namespace else {
        return namespace;
    };
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else {
        return namespace;
    };
    if !matches!(metadata.get("labels"), Some(Value::Object(_))) {
        metadata.insert("labels", Object::new());
    }
    if let Some(Value::Object(labels)) = metadata.get_mut("labels") {
        labels.insert(NAME_LABEL, name.to_owned());
    }
    namespace
}

#[cfg(test)]
mod tests {
    use pratique::cluster::{Namespace, Namespaces as _};

    use super::*;

    #[track_caller]
    fn check(namespace: &str, expected: &str) {
        let namespace = pratique_json::parse(namespace.as_bytes()).unwrap().into_owned();
        assert_eq!(labelled(namespace, "shop").to_string(), expected);
    }

    #[test]
    fn namespaces_are_labelled() {
        check(
            r#"{"metadata":{"name":"shop"}}"#,
            r#"{"metadata":{"labels":{"kubernetes.io/metadata.name":"shop"},"name":"shop"}}"#,
        );
        check(
            r#"{"metadata":{"labels":{"a":"b"}}}"#,
            r#"{"metadata":{"labels":{"a":"b","kubernetes.io/metadata.name":"shop"}}}"#,
        );
    }

    #[test]
    fn namespaces_of_requests_are_assumed() {
        let shop = namespace("shop", Value::Null);
        let assuming = cluster([&shop], ["shop", "other"]);
        assert!(assuming.namespace("shop").stored().is_some());
        assert_eq!(assuming.namespace("other"), Namespace::Named);
        assert_eq!(cluster([&shop], []).namespace("other"), Namespace::Absent);
    }
}
