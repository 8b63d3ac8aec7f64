//! What an object is a part of, and which one it is.

use pratique_json::Value;

/// The label by which a Deployment distinguishes the Pods of its ReplicaSets, whose names end with its value.
const TEMPLATE_HASH: &str = "pod-template-hash";

/// What controls an object, as in `StatefulSet/db`; empty if nothing does. Of the ReplicaSet of a Deployment, it is the
/// Deployment: one rollout has another ReplicaSet than the next.
pub fn owner_of(object: &Value<'_>) -> String {
    let owners = object
        .at(&["metadata", "ownerReferences"])
        .and_then(Value::as_array);
    let is_controller = |owner: &&Value<'_>| owner.get("controller") == Some(&Value::Bool(true));
    let Some(owner) = owners.unwrap_or_default().iter().find(is_controller) else {
        return String::new();
    };
    let text = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or_default();
    let (kind, name) = (text("kind"), text("name"));
    let hash = object
        .at(&["metadata", "labels", TEMPLATE_HASH])
        .and_then(Value::as_str);
    let deployment = hash
        .filter(|hash| kind == "ReplicaSet" && !hash.is_empty())
        .and_then(|hash| name.strip_suffix(hash)?.strip_suffix('-'));
    match deployment {
        Some(deployment) => format!("Deployment/{deployment}"),
        None => format!("{kind}/{name}"),
    }
}

/// The uid of an object, which only one that was stored has; empty if there is none.
pub fn uid_of<'v>(object: &'v Value<'_>) -> &'v str {
    let uid = object.at(&["metadata", "uid"]).and_then(Value::as_str);
    uid.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(metadata: &str, expected: &str) {
        let text = format!("{{\"metadata\":{metadata}}}");
        let object = pratique_json::parse(text.as_bytes()).unwrap();
        assert_eq!(owner_of(&object), expected);
    }

    #[test]
    fn controllers_are_owners() {
        check("{}", "");
        check("null", "");
        let set = r#""ownerReferences":[{"kind":"Node","name":"n"},{"kind":"ReplicaSet","name":"web-5f","controller":true}]"#;
        check(&format!("{{{set}}}"), "ReplicaSet/web-5f");
        check(
            &format!("{{{set},\"labels\":{{\"pod-template-hash\":\"5f\"}}}}"),
            "Deployment/web",
        );
        check(
            &format!("{{{set},\"labels\":{{\"pod-template-hash\":\"6a\"}}}}"),
            "ReplicaSet/web-5f",
        );
        check(r#"{"ownerReferences":[{"kind":"Node","name":"n"}]}"#, "");
    }
}
