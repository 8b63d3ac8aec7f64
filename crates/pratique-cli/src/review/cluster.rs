//! The cluster that requests are judged in: what was given of it, and what they take for granted.

use std::collections::HashSet;

use pratique::{Answer, Authorizer, Check, Decision, Objects};
use pratique_json::{Object, Value};

use super::Question;
use crate::input::Given;

/// Has no opinion on anything: what nobody allows is not allowed.
#[derive(Debug)]
pub(super) struct NoOpinion;

impl Authorizer for NoOpinion {
    fn authorize(&self, _: &Check<'_>) -> Answer {
        Answer::Decided(Decision::default())
    }
}

/// The label that an API server puts on every namespace.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// A cluster with the namespaces and the custom resources among some objects. A namespace that a request is in, and
/// that is not among them, is there too, without labels of its own.
pub(super) fn of<'g>(given: impl Iterator<Item = &'g Given>, questions: &[Question]) -> Objects {
    let mut cluster = Objects::new();
    let mut known = HashSet::new();
    for Given { object, .. } in given {
        match (text(object, &["apiVersion"]), text(object, &["kind"])) {
            ("v1", "Namespace") => {
                let name = text(object, &["metadata", "name"]).to_owned();
                cluster.insert(labelled(object.clone(), &name));
                known.insert(name);
            }
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition") => {
                cluster.insert(object.clone());
            }
            _ => {}
        }
    }
    for question in questions {
        let name = &question.request.namespace;
        if !name.is_empty() && known.insert(name.clone()) {
            cluster.insert(made_up(name));
        }
    }
    cluster
}

fn text<'v>(object: &'v Value<'_>, path: &[&str]) -> &'v str {
    object.at(path).and_then(Value::as_str).unwrap_or_default()
}

fn made_up(name: &str) -> Value<'static> {
    let mut metadata = Object::new();
    metadata.insert("name", name.to_owned());
    let mut namespace = Object::new();
    namespace.insert("apiVersion", "v1");
    namespace.insert("kind", "Namespace");
    namespace.insert("metadata", metadata);
    labelled(Value::Object(namespace), name)
}

/// A namespace with the label of its name.
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
    use super::*;

    #[track_caller]
    fn check(namespace: &str, expected: &str) {
        let given = pratique_json::parse(namespace.as_bytes()).unwrap().into_owned();
        assert_eq!(labelled(given, "shop").to_string(), expected);
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
    fn namespaces_of_requests_are_there() {
        assert_eq!(
            made_up("shop").to_string(),
            r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"labels":{"kubernetes.io/metadata.name":"shop"},"name":"shop"}}"#
        );
    }
}
