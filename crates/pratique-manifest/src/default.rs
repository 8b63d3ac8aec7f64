//! The defaults of built-in types, as the tables have them.

use pratique_schema::{FieldPresence, Release, Shape, TypeId};
use serde_json::{Map, Value as Json};

use crate::decode::registry::ApiVersion;
use crate::kind::Kind;

/// Sets the fields that a decoded object leaves out to the defaults of its version in a release; returns those that v1 would have
/// left out or set to another value.
// Upstream: k8s.io/kubernetes/pkg/apis/admissionregistration/v1/defaults.go
pub(crate) fn apply(
    release: &'static Release,
    kind: Kind,
    version: ApiVersion,
    object: &mut Json,
) -> Vec<String> {
    let mut as_stable = match version {
        ApiVersion::V1 => None,
        ApiVersion::V1beta1 | ApiVersion::V1alpha1 => Some(object.clone()),
    };
    apply_version(release, kind, version, object);
    let mut differing = Vec::new();
    if let Some(stable) = &mut as_stable {
        apply_version(release, kind, ApiVersion::V1, stable);
        differences("", object, stable, &mut differing);
    }
    differing
}

fn apply_version(release: &'static Release, kind: Kind, version: ApiVersion, object: &mut Json) {
    let of = release
        .schema()
        .named(&format!("admissionregistration/{version}.{kind}"));
    if let (Some(of), Some(object)) = (of, object.as_object_mut()) {
        structure(release, of, object);
    }
}

/// The paths of the fields that differ. Recursion follows the nesting of documents, which is bounded.
fn differences(path: &str, one: &Json, other: &Json, paths: &mut Vec<String>) {
    match (one, other) {
        (Json::Object(one), Json::Object(other)) => {
            for (name, value) in one {
                let dot = if path.is_empty() { "" } else { "." };
                let path = format!("{path}{dot}{name}");
                differences(&path, value, other.get(name).unwrap_or(&Json::Null), paths);
            }
        }
        (Json::Array(one), Json::Array(other)) => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                differences(&format!("{path}[{index}]"), one, other, paths);
            }
        }
        _ if one != other => paths.push(path.to_owned()),
        _ => {}
    }
}

fn structure(release: &'static Release, of: TypeId, object: &mut Map<String, Json>) {
    let of = release.schema().get(of);
    for (field, given) in release.given().for_type(of.name) {
        if let FieldPresence::Default(Some(value)) = given
            && !object.contains_key(*field)
        {
            let value = serde_json::from_str(value).ok();
            object.extend(value.map(|value| ((*field).to_owned(), value)));
        }
    }
    for (name, value) in object {
        if let Some(field) = of.field(name) {
            nested(release, &field.shape, value);
        }
    }
}

fn nested(release: &'static Release, shape: &Shape, value: &mut Json) {
    match (shape, value) {
        (Shape::Struct(of), Json::Object(object)) => structure(release, *of, object),
        (Shape::List(element), Json::Array(elements)) => {
            elements
                .iter_mut()
                .for_each(|value| nested(release, element, value));
        }
        (Shape::Map(of), Json::Object(object)) => {
            object.values_mut().for_each(|value| nested(release, of, value));
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
        assert_eq!(
            apply(Release::latest(), kind, ApiVersion::V1, &mut object),
            [""; 0]
        );
        assert_eq!(object, expected);
    }

    #[test]
    fn older_versions_have_other_defaults() {
        let kind = Kind::ValidatingAdmissionPolicyBinding;
        let mut object = json!({"spec": {"paramRef": {"name": "p"}}});
        let other = apply(Release::latest(), kind, ApiVersion::V1alpha1, &mut object);
        assert_eq!(other, ["spec.paramRef.parameterNotFoundAction"]);
        assert_eq!(object["spec"]["paramRef"]["parameterNotFoundAction"], "Deny");
        let mut object = json!({"spec": {"paramRef": {"name": "p"}}});
        assert_eq!(
            apply(Release::latest(), kind, ApiVersion::V1beta1, &mut object),
            [""; 0]
        );
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
