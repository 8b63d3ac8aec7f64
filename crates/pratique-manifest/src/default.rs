//! The defaults of built-in types, as the tables have them.

use pratique_schema::{Given, Schema, Shape, TypeId, given};
use serde_json::{Map, Value as Json};

use crate::kind::Kind;

/// Fills in what a decoded object leaves out.
// Upstream: k8s.io/kubernetes/pkg/apis/admissionregistration/v1/defaults.go
pub(crate) fn apply(kind: Kind, object: &mut Json) {
    let schema = Schema::builtin();
    let of = schema.named(&format!("admissionregistration/v1.{kind}"));
    if let (Some(of), Some(object)) = (of, object.as_object_mut()) {
        structure(schema, of, object);
    }
}

fn structure(schema: &Schema, of: TypeId, object: &mut Map<String, Json>) {
    let of = schema.get(of);
    for (field, given) in given(of.name) {
        if let Given::Default(Some(value)) = given
            && !object.contains_key(*field)
        {
            let value = serde_json::from_str(value).ok();
            object.extend(value.map(|value| ((*field).to_owned(), value)));
        }
    }
    for (name, value) in object {
        if let Some(field) = of.field(name) {
            nested(schema, &field.shape, value);
        }
    }
}

fn nested(schema: &Schema, shape: &Shape, value: &mut Json) {
    match (shape, value) {
        (Shape::Struct(of), Json::Object(object)) => structure(schema, *of, object),
        (Shape::List(element), Json::Array(elements)) => {
            elements
                .iter_mut()
                .for_each(|value| nested(schema, element, value));
        }
        (Shape::Map(of), Json::Object(object)) => {
            object.values_mut().for_each(|value| nested(schema, of, value));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(kind: Kind, mut object: Json, expected: Json) {
        apply(kind, &mut object);
        assert_eq!(object, expected);
    }

    #[test]
    fn policies_and_bindings() {
        check(
            Kind::ValidatingAdmissionPolicy,
            json!({"spec": {"matchConstraints": {"resourceRules": [{}, {"scope": "Cluster"}]}}}),
            json!({"spec": {"failurePolicy": "Fail", "matchConstraints": {
                "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {},
                "resourceRules": [{"scope": "*"}, {"scope": "Cluster"}]}}}),
        );
        check(
            Kind::MutatingAdmissionPolicyBinding,
            json!({"spec": {}}),
            json!({"spec": {}}),
        );
    }

    #[test]
    fn webhooks() {
        check(
            Kind::MutatingWebhookConfiguration,
            json!({"webhooks": [{"clientConfig": {"service": {}}, "timeoutSeconds": 3, "failurePolicy": "Ignore"}]}),
            json!({"webhooks": [{
                "clientConfig": {"service": {"port": 443}}, "timeoutSeconds": 3, "failurePolicy": "Ignore",
                "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {},
                "reinvocationPolicy": "Never"}]}),
        );
    }
}
