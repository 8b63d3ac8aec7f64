//! Fields that objects have in a cluster and policies cannot see.

use pratique_json::Value;
use pratique_request::kind_of;
use pratique_schema::Release;
use pratique_types::ADMISSION_GROUP;

/// Kinds whose status is dropped, unless they are params: group and kind.
const WITHOUT_STATUS: [(&str, &str); 6] = [
    ("", "Node"),
    (ADMISSION_GROUP, "MutatingAdmissionPolicy"),
    (ADMISSION_GROUP, "MutatingAdmissionPolicyBinding"),
    (ADMISSION_GROUP, "ValidatingAdmissionPolicy"),
    (ADMISSION_GROUP, "ValidatingAdmissionPolicyBinding"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
];

/// Descriptions of the dropped fields, for the index of a snapshot.
pub(super) fn described() -> Vec<String> {
    vec![
        "metadata.managedFields of the kinds of Kubernetes: API servers keep it from policies".to_owned(),
        "status of CustomResourceDefinitions, policies and Nodes that are no params; definitions that are not established"
            .to_owned(),
    ]
}

/// An object of a server of a release without what policies cannot see of it; as params, they see its status.
pub(super) fn stored(release: &Release, object: Value<'static>, is_param: bool) -> Value<'static> {
    let Ok(kind) = kind_of(&object) else {
        return object;
    };
    let mut object = object;
    let is_builtin = release.resources().resource_of(&kind).is_some();
    let without_status = WITHOUT_STATUS.contains(&(kind.group.as_str(), kind.kind.as_str()));
    if let Value::Object(members) = &mut object {
        if without_status && !is_param {
            members.remove("status");
        }
        if let (true, Some(Value::Object(metadata))) = (is_builtin, members.get_mut("metadata")) {
            metadata.remove("managedFields");
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(object: &str, is_param: bool, expected: &str) {
        let object = pratique_json::parse(object.as_bytes()).unwrap().into_owned();
        assert_eq!(stored(Release::latest(), object, is_param).to_string(), expected);
    }

    #[test]
    fn what_policies_see_stays() {
        let namespace = |fields: &str| {
            format!(
                r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{{fields}"name":"a"}},"status":{{}}}}"#
            )
        };
        check(&namespace(r#""managedFields":[],"#), false, &namespace(""));
        let custom = r#"{"apiVersion":"a.b/v1","kind":"A","metadata":{"managedFields":[]},"status":{}}"#;
        check(custom, true, custom);
        let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{},"status":{}}"#;
        check(node, true, node);
        check(node, false, r#"{"apiVersion":"v1","kind":"Node","metadata":{}}"#);
    }
}
